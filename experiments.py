"""The paper's experiments from the command line; each run_*.sh driver calls this with its name.

    python experiments.py seen --methods prenet,devnet --datasets thyroid,bac --runs 10
    python experiments.py unseen --datasets 'rec,fuz->dos'
    python experiments.py labels --demo

Prepares the data, runs what is missing in the results directory, writes the tables and figures and compares them with
the paper. Stopping it loses only the runs in flight: the same command goes on where it was.
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from tqdm import tqdm

import compare
import provenance
import theorem
from code_identity import code_hash
from command_line import add_data_arguments, data_set_names, l2_setting, make_finder, parse_names, positive, rate, setting
from data_files import DataError
from data_prep import load_data, prepare_all
from data_registry import DEMO, how_to_get, source_of, with_all_others_seen
from methods import METHODS, make_detector, method_group
from paper_experiments import EXPERIMENTS
from runner import Cell, ClusterError, run_cells
from splits import PROTOCOLS
from tables import (
    SET_UP,
    ResultsError,
    RunsFile,
    describe_settings,
    only_writer,
    repeat_without_labels,
    same_cells,
    same_configuration,
    select_runs,
    table_suffix,
    write_tables,
)  # fmt: skip
from verdicts import comparisons

# ---------------------------------------------------------------------------- what is to be run


def available_data_sets(args, experiment):
    """Prepare the wanted data sets; without --datasets, whatever can be had, the synthetic ones if nothing can.

    Returns their names, and a line for each file that is there but bad.
    """
    wanted = args.datasets or experiment.data_sets()
    if args.theorem and not args.datasets:
        costly = " and ".join(theorem.COSTLY_SETS)
        print(f"--theorem leaves {costly} at the rates of Fig. 4, because higher ones take long; --datasets does not.")
    finder = make_finder(args)
    statuses, errors = prepare_all(dict.fromkeys(map(source_of, wanted)), finder, args.data_dir)
    missing = [name for name, status in statuses.items() if status == "missing"]
    if args.datasets:
        for name in missing:
            print(how_to_get(name, args.data_dir), file=sys.stderr)
        if missing or errors:
            sys.exit(1)
    elif missing:
        print(f"No source files for {', '.join(missing)}: left out. `python data_prep.py` says where to get them.")
    names = [name for name in wanted if source_of(name) not in missing and source_of(name) not in errors]
    if not names:
        print(f"No real data set can be had, so the synthetic set '{DEMO}' is used. Its numbers say nothing about the paper.")
        prepare_all([DEMO], finder, args.data_dir)
        names = list(experiment.demo_sets)
    return names, [f"{name}: {error}" for name, error in errors.items()]


def points(args):
    """What is varied: a list of (parameter, value), or of one empty tuple if nothing is."""
    sweeps = dict(EXPERIMENTS[args.experiment].sweeps)
    if args.theorem:
        sweeps["contamination"] += theorem.RATES
    return [(parameter, value) for parameter, values in sweeps.items() for value in values] or [()]


def make_configured(args, method, point):
    """The detector of a method with --set and a point's value, a whole number as float where the usual value is one."""
    settings = dict(args.set) | ({point[0]: point[1]} if point and point[0] not in SET_UP else {})
    usual = make_detector(method).get_params()
    typed = {name: float(value) if type(value) is int and isinstance(usual[name], float) else value for name, value in settings.items()}
    return make_detector(method, **typed)


def configurations(args, names):
    """What is asked for: per method, data set and point a dict with the columns that all its runs have in common."""
    wanted = []
    detectors = {(method, point): make_configured(args, method, point) for method in args.methods for point in points(args)}
    for name in names:
        for method in args.methods:
            # without labels, the seen classes make no difference: once per unseen class is enough
            dataset = name if METHODS[method].uses_labels or "->" not in name else with_all_others_seen(name)
            data = load_data(dataset, args.data_dir)
            if sparse.issparse(data.X) and (why := why_not_sparse(args, method)):
                print(f"{name}, sparse with {data.X.shape[1]:,} columns, is left out for {METHODS[method].column}, which {why}.")
                continue
            for point in points(args):
                if args.theorem and not args.datasets and name in theorem.COSTLY_SETS and point[1] in theorem.RATES:
                    continue
                common = {
                    "experiment": args.experiment, "method": method, "dataset": dataset, "protocol": args.protocol,
                    "n_labeled": args.n_labeled, "contamination": args.contamination,
                    "data_status": data.status, "rows": data.size, "features": data.X.shape[1],
                    "data_sha256": data.fingerprint, "row_order": data.order, "settings": describe_settings(detectors[method, point]),
                    "code": code_hash(method),
                    "overrides": overrides(method, detectors[method, point]),
                }  # fmt: skip
                if point:
                    common |= {"parameter": point[0], "value": point[1]}
                    common |= {point[0]: point[1]} if point[0] in SET_UP else {}
                if common not in wanted:
                    wanted.append(common)
    return wanted


def why_not_sparse(args, method):
    """Why a method is not run on sparse data, None if it is."""
    detector = make_detector(method)
    if not detector.takes_sparse:
        return "takes dense rows only"
    return "takes minutes a run on it: --datasets includes it" if detector.slow_on_sparse and not args.datasets else None


def overrides(method, detector):
    """The parameters of a detector that differ from the method's own, as (name, value) pairs."""
    usual = make_detector(method).get_params()
    return tuple((name, value) for name, value in detector.get_params().items() if value != usual[name])


def plan(args, wanted, done):
    """The cells to run, as {cell: its columns}, without the runs that are in `done`; the longest cells first."""
    everything, cells, others = set(), {}, same_cells(done, wanted)
    for common in wanted:
        where = {name: common[name] for name in ("method", "dataset", *SET_UP)}
        everything.add((*where.values(), common["overrides"]))
        same = same_configuration(done, common)
        others &= ~same
        made = set() if args.force else set(done["run"][same])
        missing = tuple(run for run in range(args.runs) if run not in made)
        if missing:
            cells[Cell(**where, runs=missing, data_dir=args.data_dir, settings=common["overrides"])] = common
    if others.any():
        count, why = np.count_nonzero(others), "from other data, with other settings or by other code"
        print(f"{count} earlier runs were made {why}: they are kept, but not used.")
    n_missing, n_wanted = sum(len(cell.runs) for cell in cells), len(everything) * args.runs
    if n_missing < n_wanted:
        print(f"{n_wanted - n_missing} of {n_wanted} runs were made before and are kept.")
    # long cells first, so that the processes end together
    return dict(sorted(cells.items(), key=lambda item: work_of_run(item[1]) * len(item[0].runs), reverse=True))


def work_of_run(common):
    """About how long a run takes, in units of the shortest: training takes its time on any data, the rest grows with the data."""
    return 1 + common["rows"] * min(common["features"], 100_000) / 3e7


# ---------------------------------------------------------------------------- running


def run_experiment(args):
    """Run what is missing and write the tables; returns what failed, as lines of text."""
    # runs with --set have files of their own, so that the methods of a table all have their usual settings
    label = "_".join([args.experiment, *(f"{name}={value}" for name, value in args.set)])
    runs_file = RunsFile(args.results_dir, label)
    runs_file.open_for_append()
    done = runs_file.read()
    (names, failures), notes = available_data_sets(args, EXPERIMENTS[args.experiment]), []
    wanted = configurations(args, names)
    cells = plan(args, wanted, done)
    made_from = [{common["dataset"]: common[key] for common in wanted} for key in ("data_sha256", "row_order")]
    session = provenance.Session(args.results_dir, label, *made_from)
    try:
        for cell, result, error in with_progress(run_cells(cells, args.jobs, args.cluster), cells):
            if error is None:
                runs_file.append(cells[cell] | result)
                session.count_run()
                notes += [f"{cell}: {result['note']}"] if result["note"] else []
            else:
                failures.append(f"{cell}: {error}")
    finally:  # also if it was stopped
        if session.entry["runs_made"]:
            session.save()
            print(provenance.describe(session.entry))
    for line in notes:
        print(f"NOTE {line}: the detector tells no rows apart.")
    if wanted:
        report(args, label, wanted, names, runs_file.read())
    return failures


def with_progress(outcomes, cells):
    """The outcomes of run_cells, with a progress bar that counts work, not runs: the long ones come first."""
    interval = 0.5 if sys.stderr.isatty() else 30  # in a log file, a line every half minute is enough
    work = {cell: work_of_run(common) for cell, common in cells.items()}
    total, n_runs = sum(work[cell] * len(cell.runs) for cell in cells), sum(len(cell.runs) for cell in cells)
    layout = "{desc}{percentage:3.0f}%|{bar}| {elapsed}, {remaining} left{postfix}"
    with tqdm(total=total, bar_format=layout, smoothing=0, mininterval=interval, dynamic_ncols=True, disable=not cells) as progress:
        for n_ended, outcome in enumerate(outcomes, start=1):
            yield outcome
            cell = outcome[0]
            progress.set_description(f"{cell.dataset} {METHODS[cell.method].column}", refresh=False)
            progress.set_postfix_str(f"{n_ended} of {n_runs} runs", refresh=False)
            progress.update(work[cell])


def report(args, label, wanted, names, runs):
    """Write and show the tables and figures of what was asked for."""
    asked_kinds = {common["data_status"] == "synthetic" for common in wanted}
    runs = runs[(runs["data_status"] == "synthetic").isin(asked_kinds)]
    # methods of earlier starts are shown too, with the settings and the code that they would have today
    methods = [name for name in METHODS if name in set(runs["method"]) and not lacking(name, args)]
    by_point = {}
    for common in wanted:
        by_point.setdefault((common["parameter"], common["value"]) if "parameter" in common else (), []).append(common)
    chosen = repeat_without_labels(
        pd.concat([
            select_runs(
                runs, current,
                settings={method: describe_settings(make_configured(args, method, point)) for method in methods},
                codes={method: code_hash(method) for method in methods},
            )
            for point, current in by_point.items()
        ]),
        names,
    )  # fmt: skip
    varied = EXPERIMENTS[args.experiment].sweeps
    suffix = table_suffix(args.protocol, *(None if name in varied else getattr(args, name) for name in ("n_labeled", "contamination")))
    is_papers = not (suffix or args.set)
    tables = write_tables(chosen, args.results_dir, label, suffix)
    for path, table in tables.items():
        print(f"Wrote {path}")
        is_synthetic = path.name.endswith("_synthetic.csv")
        if varied or is_synthetic or not is_papers:
            compare.print_table(table)
        else:
            compare.compare(args.results_dir, args.experiment)
        if varied:
            part = chosen[(chosen["data_status"] == "synthetic") == is_synthetic]
            write_figures(args, part, path.stem.removeprefix(args.experiment))


def write_figures(args, runs, set_up):
    """Draw the figures of a sweep, and with --theorem make its table and figure."""
    from figures import draw_figures  # matplotlib is slow to import

    if args.theorem:
        margin = make_configured(args, "prenet", ()).margin
        theorem.report(runs, Path(args.results_dir) / f"theorem{set_up}.csv", margin)
    for experiment in (args.experiment, "theorem") if args.theorem else (args.experiment,):
        for path in draw_figures(args.results_dir, experiment, set_up):
            print(f"Wrote {path}")


# ---------------------------------------------------------------------------- command line


def method_names(text):
    groups = {"table": ["table"], "all": ["table", "appendix"], "ablation": ["ablation"], "readings": ["reading"]}
    return method_group(*groups[text]) if text in groups else parse_names(text, METHODS, "method")


def make_parser():
    parser = argparse.ArgumentParser(description="Run an experiment of the paper.")
    add = parser.add_argument
    experiments = "; ".join(f"{name}: {experiment.regenerates}" for name, experiment in EXPERIMENTS.items())
    add("experiment", choices=[*EXPERIMENTS, "all"], help=f"{experiments}; all: those of the paper, one after the other")
    names = f"of {', '.join(method_group('table', 'appendix', 'ablation'))}; or `table`: those of Table 2, `all`: those and the "
    names += "appendix's, `ablation`, `readings`: those that methods.py lists as such (default: as in the paper)"
    add("--methods", type=method_names, metavar="A,B", help=names)
    sets = "data sets, such as thyroid,bac or 'rec,fuz->dos' (default: all of the experiment that can be had)"
    add("--datasets", type=data_set_names, metavar="A,B", help=sets)
    add("--demo", action="store_true", help="one run on synthetic data: a quick try; its numbers say nothing about the paper")
    add("--runs", type=positive, help="runs per method and data set; run r has seed r (default: 10, with --demo 1)")
    add("--jobs", type=positive, default=min(8, os.cpu_count() or 1), help="processes, of one thread each (default: %(default)s)")
    add("--cluster", metavar="ADDRESS", help="run on this Dask scheduler, such as tcp://host:8786, instead of on local processes")
    protocol_help = "how data is split and labels are drawn; redrawn: as released, but anew in every run (default: %(default)s)"
    add("--protocol", choices=PROTOCOLS, default="released", help=protocol_help)
    add("--n-labeled", type=positive, help="labelled anomalies (default: 60)")
    add("--contamination", type=rate, help="share of anomalies in the unlabelled data (default: 0.02)")
    set_help = "another value for a parameter of the methods, such as margin=2; repeatable; runs and table get files of their own"
    add("--set", type=setting, action="append", default=[], metavar="NAME=VALUE", help=set_help)
    add("--lambda", dest="set", type=l2_setting, action="append", metavar="VALUE", help="short for --set l2=VALUE")
    add("--theorem", action="store_true", help="contamination only: rates up to 0.66, and the scores that the theorem of Sec. 4 predicts")
    add("--results-dir", default="results", help="where runs and tables are written (default: %(default)s)")
    add("--force", action="store_true", help="run again what is in the results already")
    add_data_arguments(parser)
    return parser


def complete(given, name):
    """The arguments of one experiment, with its defaults filled in; ValueError if they do not fit it."""
    experiment = EXPERIMENTS[name]
    args = argparse.Namespace(**vars(given) | {"experiment": name, "set": sorted(given.set)})
    if args.theorem and name != "contamination":
        if given.experiment != "all":
            raise ValueError("--theorem belongs to the experiment `contamination`")
        args.theorem = False
    for option, default in (("n_labeled", 60), ("contamination", 0.02)):
        if getattr(args, option) is None:
            setattr(args, option, default)
        elif option in experiment.sweeps:
            raise ValueError(f"--{option.replace('_', '-')} is what the experiment `{name}` varies")
    if args.demo:
        args.datasets = list(experiment.demo_sets)
    elif args.datasets and given.experiment == "all":
        args.datasets = [data_set for data_set in args.datasets if experiment.has(data_set)]
        if not args.datasets:
            raise ValueError("none of the data sets belongs to it")
    for data_set in args.datasets or ():
        if not experiment.has(data_set):
            raise ValueError(f"{data_set!r} is not a data set of the experiment `{name}`")
    args.runs = args.runs or (1 if args.demo else 10)
    args.methods = fitting_methods(args, args.methods or experiment.methods)
    if args.theorem and "prenet" not in args.methods:
        raise ValueError("--theorem is about PReNet: leave it among the methods")
    return args


def fitting_methods(args, methods):
    """The methods that have all parameters to be set; of those asked for by name all must, of the paper's at least one."""
    left_out = {method: lacking(method, args) for method in methods if lacking(method, args)}
    if left_out and (args.methods or len(left_out) == len(methods)):
        method, (parameter, *_) = next(iter(left_out.items()))
        raise ValueError(f"{METHODS[method].column} has no parameter {parameter!r} to set")
    if left_out:
        print(f"Without such a parameter, and left out: {', '.join(METHODS[method].column for method in left_out)}")
    return [method for method in methods if method not in left_out]


def lacking(method, args):
    """Names of the settings that are not parameters of a method, or fixed by it."""
    wanted = [name for name, _ in args.set] + [name for name in EXPERIMENTS[args.experiment].sweeps if name not in SET_UP]
    if not wanted:
        return []
    known = set(make_detector(method).get_params()) - {"random_state", *dict(METHODS[method].settings)}  # imports TensorFlow
    return [name for name in wanted if name not in known]


def complete_all(parser, args):
    """The arguments of the experiment that was asked for, or of all in the paper, those that the options do not fit left out."""
    if args.demo and args.datasets:
        parser.error("--demo has its own data: leave --datasets away")
    completed = []
    of_paper = [name for name, experiment in EXPERIMENTS.items() if experiment.in_paper]
    for name in of_paper if args.experiment == "all" else [args.experiment]:
        try:
            completed.append(complete(args, name))
        except ValueError as error:
            if args.experiment != "all":
                parser.error(str(error))
            print(f"{name} is left out: {error}.")
    if not completed:
        parser.error("no experiment is left")
    return completed


def conclude(results_dir):
    """Compare everything with the paper and build the report; synthetic results alone have only the report."""
    if comparisons(results_dir):
        compare.main(["--results-dir", str(results_dir)])
    else:
        from report import build_report

        print(f"Wrote {build_report(results_dir)}")


def main(argv=None):
    parser = make_parser()
    args = parser.parse_args(argv)
    failures = []
    try:
        asked_for = complete_all(parser, args)
        with only_writer(args.results_dir):
            for completed in asked_for:
                if args.experiment == "all":
                    print(f"\n=== {completed.experiment}: {EXPERIMENTS[completed.experiment].regenerates}", flush=True)
                failures += run_experiment(completed)
            if args.experiment == "all":
                conclude(args.results_dir)
    except (ClusterError, DataError, ResultsError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("\nStopped. Every finished run is kept; the same command goes on from here.", file=sys.stderr)
        return 130
    for line in failures:
        print(f"FAILED {line}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    exit_code = main()
    if exit_code == 130:  # Ctrl-C: at once, because Python takes a second or two to clear TensorFlow away
        sys.stdout.flush()
        os._exit(exit_code)
    sys.exit(exit_code)
