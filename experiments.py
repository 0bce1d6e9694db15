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
from data_files import DataError
from data_prep import DATA_SETS, DEMO, PROTOCOLS, add_data_arguments, data_set_names, how_to_get, load_data, make_finder, parse_names, prepare_all
from methods import METHODS, make_detector
from runner import Cell, run_cells
from tables import RunsFile, ResultsError, describe_settings, select_runs, table_suffix, write_tables


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


def plan(args, names, done):
    """The cells to run and, for each, the columns its rows have in common; runs already in `done` are left out."""
    plans, n_wanted, n_done = [], 0, 0
    for name in names:
        data = load_data(name, args.data_dir)
        for method in args.methods:
            detector = make_detector(method)
            if sparse.issparse(data.X) and not detector.takes_sparse:
                print(f"{METHODS[method].column} does not train on sparse data, so {name} is left out for it.")
                continue
            common = {
                "experiment": args.experiment, "method": method, "dataset": name, "protocol": args.protocol,
                "n_labeled": args.n_labeled, "contamination": args.contamination,
                "data_status": data.status, "rows": data.X.shape[0], "features": data.X.shape[1],
                "data_sha256": data.sha256, "settings": describe_settings(detector),
            }  # fmt: skip
            same = done
            for column in ("method", "dataset", "protocol", "n_labeled", "contamination", "data_sha256", "settings"):
                same = same[same[column] == common[column]]
            missing = tuple(run for run in range(args.runs) if args.force or run not in set(same["run"]))
            n_wanted, n_done = n_wanted + args.runs, n_done + args.runs - len(missing)
            if missing:
                cell = Cell(method, name, args.protocol, args.n_labeled, args.contamination, missing, args.data_dir)
                plans.append((data.X.shape[0] * min(data.X.shape[1], 1000) * len(missing), cell, common))
    if n_done:
        print(f"{n_done} of {n_wanted} runs were made before and are kept.")
    plans.sort(key=lambda item: -item[0])  # the longest first, so that the processes end together
    return {cell: common for _, cell, common in plans}


def run_experiment(args):
    """Run what is missing; returns the failures as lines of text."""
    runs_file = RunsFile(args.results_dir, args.experiment)
    runs_file.open_for_append()
    done = runs_file.read()
    names, failures = available_data_sets(args)
    common = plan(args, names, done)
    total = sum(len(cell.runs) for cell in common)
    # in a log file, a line every half minute is enough
    with tqdm(total=total, unit="run", mininterval=0.5 if sys.stderr.isatty() else 30, dynamic_ncols=True, disable=total == 0) as progress:
        for cell, result, error in run_cells(common, args.jobs):
            if error is not None:
                failures.append(f"{cell}: {error}")
                continue
            runs_file.append(common[cell] | result)
            progress.set_description(f"{cell.dataset} {METHODS[cell.method].column}", refresh=False)
            progress.update()
    chosen = select_runs(runs_file.read(), args.protocol, args.n_labeled, args.contamination)
    suffix = table_suffix(args.protocol, args.n_labeled, args.contamination)
    for path in write_tables(chosen, args.results_dir, args.experiment, suffix):
        print(f"Wrote {path}")
    return failures


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def rate(text):
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"must be a number of at least 0 and below 1, not {text!r}")
    return value


def make_parser():
    parser = argparse.ArgumentParser(description="Run an experiment of the paper.")
    add = parser.add_argument
    add("experiment", choices=["seen"], help="seen: Table 2")
    add("--methods", type=lambda text: parse_names(text, METHODS, "method"), default=list(METHODS), metavar="A,B", help=f"of {', '.join(METHODS)} (default: all of them)")
    add("--datasets", type=lambda text: "all" if text == "all" else data_set_names(text), default="all", metavar="A,B", help="data sets (default: all that can be had)")
    add("--runs", type=positive, default=10, help="runs per method and data set; run r has seed r (default: %(default)s)")
    add("--jobs", type=positive, default=min(8, os.cpu_count() or 1), help="processes, of one thread each (default: %(default)s)")
    add("--protocol", choices=PROTOCOLS, default="released", help="how data is split and labels are drawn (default: %(default)s)")
    add("--n-labeled", type=positive, default=60, help="labelled anomalies (default: %(default)s)")
    add("--contamination", type=rate, default=0.02, help="share of anomalies in the unlabelled data (default: %(default)s)")
    add("--results-dir", default="results", help="where runs and tables are written (default: %(default)s)")
    add("--force", action="store_true", help="run again what is in the results already")
    add_data_arguments(parser)
    return parser


def main(argv=None):
    """Run the experiment given by argv followed by the command line's own arguments."""
    parser = make_parser()
    args = parser.parse_args([*(argv or []), *sys.argv[1:]])
    try:
        failures = run_experiment(args)
        if args.protocol == "released" and (args.n_labeled, args.contamination) == (60, 0.02):
            compare.compare(args.results_dir)
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
