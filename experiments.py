"""The paper's experiments from the command line; each run_*.sh driver calls this with its grid.

    python experiments.py seen --methods prenet,devnet --datasets thyroid,bac --runs 10

Prepares the data, runs what is missing in the results directory, writes the tables and compares them with the paper.
Stopping it loses only the runs in flight: the same command goes on where it was.
"""

import argparse
import os
import sys

from scipy import sparse
from tqdm import tqdm

import compare
from command_line import add_data_arguments, data_set_names, make_finder, parse_names, positive, rate, setting
from data_files import DataError
from data_prep import PROTOCOLS, load_data, prepare_all
from data_registry import DATA_SETS, DEMO, how_to_get
from methods import METHODS, make_detector, methods_of_table_2
from runner import Cell, run_cells
from tables import ResultsError, RunsFile, describe_settings, same_configuration, select_runs, table_suffix, write_tables


def available_data_sets(args):
    """Prepare the wanted data sets; with --datasets all, whatever can be had, `demo` if nothing can.

    Returns their names, and a line for each file that is there but bad.
    """
    wanted = list(DATA_SETS) if args.datasets == "all" else args.datasets
    finder = make_finder(args)
    statuses, errors = prepare_all(wanted, finder, args.data_dir)
    missing = [name for name, status in statuses.items() if status == "missing"]
    if args.datasets != "all":
        for name in missing:
            print(how_to_get(name, args.data_dir), file=sys.stderr)
        if missing or errors:
            sys.exit(1)
    elif missing:
        print(f"No source files for {', '.join(missing)}: left out. `python data_prep.py` says where to get them.")
    names = [name for name in wanted if name not in missing and name not in errors]
    if not names:
        print(f"No real data set can be had, so the synthetic set '{DEMO}' is used. Its numbers say nothing about the paper.")
        prepare_all([DEMO], finder, args.data_dir)
        names = [DEMO]
    return names, [f"{name}: {error}" for name, error in errors.items()]


def configurations(args, names):
    """What is asked for: one dict per method and data set, with the columns that all its runs have in common."""
    wanted = []
    for name in names:
        data = load_data(name, args.data_dir)
        for method in args.methods:
            detector = make_detector(method, **dict(args.set))
            if sparse.issparse(data.X) and not detector.takes_sparse:
                columns = f"{data.X.shape[1]:,} columns"
                print(f"{METHODS[method].column} takes dense rows only: {name}, sparse with {columns}, is left out for it.")
                continue
            wanted.append({
                "experiment": args.experiment, "method": method, "dataset": name, "protocol": args.protocol,
                "n_labeled": args.n_labeled, "contamination": args.contamination,
                "data_status": data.status, "rows": data.X.shape[0], "features": data.X.shape[1],
                "data_sha256": data.fingerprint, "settings": describe_settings(detector),
            })  # fmt: skip
    return wanted


def plan(args, wanted, done):
    """The cells to run, as {cell: its columns}, without the runs that are in `done`; the longest cells first."""
    cells = {}
    for common in wanted:
        made = set() if args.force else set(done["run"][same_configuration(done, common)])
        missing = tuple(run for run in range(args.runs) if run not in made)
        if missing:
            where = (common["method"], common["dataset"], args.protocol, args.n_labeled, args.contamination)
            cells[Cell(*where, missing, args.data_dir, tuple(args.set))] = common
    n_missing, n_wanted = sum(len(cell.runs) for cell in cells), len(wanted) * args.runs
    if n_missing < n_wanted:
        print(f"{n_wanted - n_missing} of {n_wanted} runs were made before and are kept.")
    # long cells first, so that the processes end together
    work = lambda item: item[1]["rows"] * min(item[1]["features"], 1000) * len(item[0].runs)  # noqa: E731
    return dict(sorted(cells.items(), key=work, reverse=True))


def run_experiment(args):
    """Run what is missing and write the tables; returns what failed, as lines of text."""
    # runs with --set have files of their own, so that the methods of a table all have their usual settings
    label = "_".join([args.experiment, *(f"{name}={value}" for name, value in args.set)])
    runs_file = RunsFile(args.results_dir, label)
    runs_file.open_for_append()
    names, failures = available_data_sets(args)
    wanted = configurations(args, names)
    cells = plan(args, wanted, runs_file.read())
    total = sum(len(cell.runs) for cell in cells)
    interval = 0.5 if sys.stderr.isatty() else 30  # in a log file, a line every half minute is enough
    with tqdm(total=total, unit="run", mininterval=interval, dynamic_ncols=True, disable=total == 0) as progress:
        for cell, result, error in run_cells(cells, args.jobs):
            if error is None:
                runs_file.append(cells[cell] | result)
            else:
                failures.append(f"{cell}: {error}")
            progress.set_description(f"{cell.dataset} {METHODS[cell.method].column}", refresh=False)
            progress.update()
    if wanted:
        suffix = table_suffix(args.protocol, args.n_labeled, args.contamination)
        tables = write_tables(select_runs(runs_file.read(), wanted), args.results_dir, label, suffix)
        for path, table in tables.items():
            print(f"Wrote {path}")
            if suffix or args.set or path.name.endswith("_synthetic.csv"):  # the paper's own set-up is shown by the comparison
                compare.print_table(table)
    return failures


def method_names(text):
    groups = {"table": methods_of_table_2(), "all": list(METHODS)}
    return groups.get(text) or parse_names(text, METHODS, "method")


def data_sets_or_all(text):
    return text if text == "all" else data_set_names(text)


def make_parser():
    parser = argparse.ArgumentParser(description="Run an experiment of the paper.")
    add = parser.add_argument
    add("experiment", choices=["seen"], help="seen: Table 2")
    names = f"of {', '.join(METHODS)}; or `all`, or `table`: those of Table 2 (default: table)"
    add("--methods", type=method_names, default="table", metavar="A,B", help=names)
    add("--datasets", type=data_sets_or_all, default="all", metavar="A,B", help="data sets (default: all that can be had)")
    add("--runs", type=positive, default=10, help="runs per method and data set; run r has seed r (default: %(default)s)")
    add("--jobs", type=positive, default=min(8, os.cpu_count() or 1), help="processes, of one thread each (default: %(default)s)")
    add("--protocol", choices=PROTOCOLS, default="released", help="how data is split and labels are drawn (default: %(default)s)")
    add("--n-labeled", type=positive, default=60, help="labelled anomalies (default: %(default)s)")
    add("--contamination", type=rate, default=0.02, help="share of anomalies in the unlabelled data (default: %(default)s)")
    set_help = "another value for a parameter of the methods, such as l2=0.1; repeatable; runs and table get files of their own"
    add("--set", type=setting, action="append", default=[], metavar="NAME=VALUE", help=set_help)
    add("--results-dir", default="results", help="where runs and tables are written (default: %(default)s)")
    add("--force", action="store_true", help="run again what is in the results already")
    add_data_arguments(parser)
    return parser


def main(argv=None):
    parser = make_parser()
    args = parser.parse_args(argv)
    for method in args.methods if args.set else ():  # only now, because it imports TensorFlow
        for name, _ in args.set:
            if name not in make_detector(method).get_params() or name == "random_state":
                parser.error(f"{METHODS[method].column} has no parameter {name!r} to set")
    try:
        failures = run_experiment(args)
        if not args.set and not table_suffix(args.protocol, args.n_labeled, args.contamination):
            compare.compare(args.results_dir, args.experiment)
    except (DataError, ResultsError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("\nStopped. Every finished run is kept; the same command goes on from here.", file=sys.stderr)
        return 130
    for line in failures:
        print(f"FAILED {line}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
