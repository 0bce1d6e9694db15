"""Run the paper's experiments from the command line; each run_*.sh script calls this with its name.

    python experiments.py seen --methods prenet,devnet --datasets thyroid,bac --runs 10
    python experiments.py unseen --datasets 'rec,fuz->dos'
    python experiments.py labels --demo
    python experiments.py today          # beyond the paper; also draws, interpretations, crosscheck, scaling

Prepares the data, makes the runs that the results directory lacks, writes the tables and figures and compares
them with the paper. If it is stopped, only unfinished runs are lost: the same command resumes.
"""

import argparse
import functools
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

import pandas as pd

import compare
from weakly import command_line as types
from weakly.command_line import parse_names, refuse_unknown, user_errors_end
from weakly.errors import UserError
from weakly.judging.cells import comparisons
from weakly.judging.tables import AVERAGE, repeat_without_labels, table_suffix, write_tables
from weakly.loading.arrays import load_data
from weakly.loading.options import add_data_arguments, data_set_names, make_finder
from weakly.loading.registry import OUTSIDE_SETS, how_to_get
from weakly.loading.store import manifest_table, prepare_all
from weakly.loading.unseen import DEMO, source_of
from weakly.methods import METHODS, make_detector, method_group
from weakly.reporting import theorem
from weakly.running.configuration import PREPARED
from weakly.running.paper_experiments import COSTLY_SETS, EXPERIMENTS, THEOREM_RATES
from weakly.running.planning import overrides, plan, requested_cell, requested_cells
from weakly.running.processes import run_cells
from weakly.running.provenance import Session
from weakly.running.runs_file import DATA, SET_UP, RunsFile, only_writer, select_runs
from weakly.training.number_scaler import SCALINGS

BEYOND_THE_PAPER = ("today", "scaling", "crosscheck")  # experiments whose tables have their own layout
MOST_IN_SWEEP = 4  # data sets, of which every point is printed
# what --methods takes instead of names: groups of weakly/methods.py
METHOD_GROUPS = {name: [name] for name in ("table", "ablation", "today")}
METHOD_GROUPS |= {"all": ["table", "appendix"], "interpretations": ["interpretation"]}


def available_data_sets(args):
    """Prepare the requested data sets; without --datasets, those available, or else the synthetic ones.

    Returns their names, and a line for each file that exists but is bad.
    """
    finder = make_finder(args)
    statuses, errors = prepare_all(dict.fromkeys(map(source_of, args.data_sets)), finder, args.data_dir)
    missing = [name for name, status in statuses.items() if status == "missing"]
    if args.datasets and (missing or errors):
        for line in (*finder.problems(), *(how_to_get(name, args.data_dir) for name in missing)):
            print(line, file=sys.stderr)
        sys.exit(1)
    ready = [name for name in statuses if name not in missing]
    names = [name for name in args.data_sets if source_of(name) in ready]
    summary = [f"Running on {', '.join(ready)}."]
    if proved := [name for name in ready if load_data(name, args.data_dir).order.startswith("proved")]:
        summary += [f"Proved to be the authors' rows in their order: {', '.join(proved)}."]
    if not ready:
        no_data = "because no real data set is available: the numbers say nothing about the paper"
        summary = [f"Running on the synthetic set '{DEMO}', {no_data}."]
        prepare_all([DEMO], finder, args.data_dir)
        names = list(EXPERIMENTS[args.experiment].demo_sets)
    if missing:
        summary += [f"Missing: {', '.join(missing)}.", *finder.problems()]
        summary += ["`.venv/bin/python data_prep.py --list` says how to get them."]
    if missing or not ready:
        print(*summary, flush=True)
    return names, [f"{name}: {error}" for name, error in errors.items()]


def run_experiment(args):
    """Make the missing runs and write the tables; returns what failed, as lines of text."""
    # runs with --set have separate files, so that all methods of a table have their default settings
    label = "_".join([args.experiment, *(f"{name}={value}" for name, value in args.set)])
    runs_file = RunsFile(args.results_dir, label)
    runs_file.open_for_append()
    runs_file.read()  # complains now, before any work, if the file is damaged
    names, failures = available_data_sets(args)
    wanted = requested_cells(args, names)
    if not args.force and (n_adopted := runs_file.adopt(wanted)):
        print(f"{n_adopted} runs were taken over from other experiments in {args.results_dir}.")
    missing = plan(args, wanted, runs_file.read())
    failures += run_and_append(args, missing, runs_file, Session(runs_file, wanted))
    if wanted:
        report(args, label, wanted, names, runs_file.read())
    return failures


def run_and_append(args, missing, runs_file, session):
    """Make the missing runs and append each as it ends; returns what failed, as lines of text."""
    failures, notes = [], {}  # each note once: it is often the same in all runs
    try:
        for cell, measured, error in run_cells(missing, args.jobs, args.cluster):
            if error is not None:
                failures.append(f"{cell}: {error}")
                continue
            runs_file.append(asdict(cell) | measured)  # which has the code and data that it was made with
            session.save()
            if measured["note"]:
                notes[f"{cell}: {measured['note']}: the detector does not distinguish any rows"] = None
            if (there := measured["labels"]) < cell.n_labeled:
                notes[f"{cell.dataset} has only {there} training anomalies: all of them are labelled"] = None
    finally:
        session.save(is_last=True)
    for note in notes:
        print(f"NOTE {note}.")
    return failures


# ---------------------------------------------------------------------------- tables and figures


def report(args, label, wanted, names, runs):
    """Write the tables and figures of the requested runs, and print what fits on a screen."""
    chosen = repeat_without_labels(runs_to_show(args, wanted, runs), names)
    experiment = EXPERIMENTS[args.experiment]
    protocol = None if args.protocol == experiment.protocols[0] else args.protocol
    suffix = table_suffix(protocol, args.n_labeled, args.contamination, args.scaling)
    for path, table in write_tables(chosen, args.results_dir, label, suffix).items():
        print(f"Wrote {path}")
        is_synthetic = path.name.endswith("_synthetic.csv")
        is_usual = not (is_synthetic or args.set)
        is_papers = is_usual and not (experiment.sweeps or suffix)
        if is_usual and args.experiment in BEYOND_THE_PAPER:
            write_beyond(args)
        elif not (is_papers and compare.compare(args.results_dir, args.experiment, args.methods)):
            compare.print_table(averages_if_long(table))
        if experiment.sweeps and args.experiment not in BEYOND_THE_PAPER:
            part = chosen[(chosen["data_status"] == "synthetic") == is_synthetic]
            write_figures(args, part, path.stem.removeprefix(args.experiment))


def averages_if_long(table):
    """A table, or of a sweep over many data sets only their averages, which fit on a screen."""
    is_average = table["dataset"].str.startswith(AVERAGE)
    return table[is_average] if "parameter" in table and table["dataset"].nunique() > MOST_IN_SWEEP else table


def runs_to_show(args, wanted, runs):
    """The runs to show in the tables together with the requested ones.

    Methods of earlier starts are included if they have today's settings and code.
    """
    asked_kinds = {cell.data_status == "synthetic" for cell in wanted}
    runs = runs[(runs["data_status"] == "synthetic").isin(asked_kinds)]
    methods = [name for name in METHODS if name in set(runs["method"]) and not why_unfit(args, name)]
    chosen = []
    for point in dict.fromkeys(cell.point for cell in wanted):
        current = [cell for cell in wanted if cell.point == point]
        data_set, *version = (getattr(current[0], name) for name in ("dataset", *DATA))
        data = load_data(data_set, args.data_dir, *version)
        todays = [requested_cell(args, method, data, point) for method in methods]
        chosen.append(select_runs(runs, current, todays))
    return pd.concat(chosen)


def write_beyond(args):
    """Write the results of an experiment beyond the paper as tables, text and figures."""
    if args.experiment == "today":
        from weakly.beyond.today_text import write_today as write
    elif args.experiment == "scaling":
        from weakly.beyond.scaling import write_scaling as write
    else:
        from weakly.beyond.crosscheck import write_crosscheck

        # includes data sets of earlier starts: all of them are shown
        prepared = set(manifest_table(args.data_dir)["name"]) & set(OUTSIDE_SETS)
        features = {name: load_data(name, args.data_dir).X for name in prepared}
        in_unit_range = {name: bool(X.min() >= 0 and X.max() <= 1) for name, X in features.items()}
        write = functools.partial(write_crosscheck, in_unit_range=in_unit_range)
    for path in write(args.results_dir):
        print(f"Wrote {path}")


def write_figures(args, runs, set_up):
    """Draw the figures of a sweep, and with --theorem make its table and figure."""
    from weakly.reporting.figures import draw_figures  # matplotlib is slow to import

    if args.theorem:
        margin = make_detector("prenet", **dict(overrides(args, "prenet", ()))).margin
        theorem.report(runs, Path(args.results_dir) / f"theorem{set_up}.csv", margin)
    for experiment in (args.experiment, "theorem") if args.theorem else (args.experiment,):
        for path in draw_figures(args.results_dir, experiment, set_up):
            print(f"Wrote {path}")


# ---------------------------------------------------------------------------- command line


def method_names(text):
    if text in METHOD_GROUPS:
        return method_group(*METHOD_GROUPS[text])
    return parse_names(text, METHODS, "method")


def make_parser():
    """A parser with a command per experiment, which has only the options that fit it."""
    parser = argparse.ArgumentParser(description="Run an experiment of the paper, or one beyond it.")
    commands = parser.add_subparsers(dest="experiment", required=True, metavar="experiment")
    for name, experiment in EXPERIMENTS.items():
        what = f"{experiment.regenerates}; {experiment.runs} runs of {', '.join(experiment.methods)}."
        command = commands.add_parser(name, help=experiment.regenerates, description=what)
        add_arguments(command, experiment)
        add_set_up(command.add_argument, experiment)
        if name == "contamination":
            add_theorem(command)
    what = "every table and figure of the paper, then the comparison with it and the report"
    command = commands.add_parser("all", help=what, description=what)
    add_arguments(command, EXPERIMENTS["seen"])
    add_theorem(command)
    return parser


def add_arguments(parser, experiment):
    """The options of every experiment: what is run, and where."""
    usual = {"n_labeled": 60, "contamination": 0.02, "scalings": [PREPARED]}
    parser.set_defaults(parser=parser, set=[], theorem=False, **usual)
    add = parser.add_argument
    names = f"some of {', '.join(method_group('table', 'appendix', 'ablation'))}; or `table`: of Table 2, "
    names += "`all`: also of the appendix; `ablation`, `interpretations`, `today`: see weakly/methods.py "
    add("--methods", type=method_names, metavar="A,B", help=names + "(default: as in the paper)")
    data = parser.add_mutually_exclusive_group()
    sets = "data sets, such as thyroid,bac or 'rec,fuz->dos' (default: all available sets of the experiment)"
    data.add_argument("--datasets", type=data_set_names, metavar="A,B", help=sets)
    data.add_argument("--demo", action="store_true", help="one run on synthetic data, to see that it works")
    runs = f"runs per method and data set; run r has seed r (default: {experiment.runs}, with --demo 1)"
    add("--runs", type=types.positive, help=runs)
    first = "each in turn" if experiment.each_protocol else experiment.protocols[0]
    protocol = f"how data is split and labels are drawn: see docs/drivers.md (default: {first})"
    add("--protocol", choices=experiment.protocols, help=protocol)
    jobs = "number of processes, with one thread each (default: %(default)s)"
    add("--jobs", type=types.positive, default=min(8, os.cpu_count() or 1), help=jobs)
    add("--cluster", metavar="ADDRESS", help="run on this Dask scheduler, such as tcp://host:8786")
    add("--results-dir", default="results", help="where runs and tables go (default: %(default)s)")
    add("--force", action="store_true", help="repeat runs that the results already contain")
    add_data_arguments(parser)


def add_set_up(add, experiment):
    """The options for set-ups other than the paper's; what the experiment varies is refused."""
    labels = {"type": types.positive, "help": "labelled anomalies (default: %(default)s)"}
    share = {"type": types.rate, "help": "share of anomalies in the unlabelled data (default: %(default)s)"}
    varied = {"type": refuse_varied, "help": argparse.SUPPRESS}
    add("--n-labeled", **(varied if "n_labeled" in experiment.sweeps else labels))
    add("--contamination", **(varied if "contamination" in experiment.sweeps else share))
    changed = "change a parameter of the methods, such as margin=2; repeatable; separate files are written"
    add("--set", type=types.setting, action="append", metavar="NAME=VALUE", help=changed)
    l2 = {"type": lambda text: ("l2", types.rate(text, float("inf"))), "metavar": "VALUE"}
    add("--lambda", dest="set", action="append", help="short for --set l2=VALUE", **l2)
    known, usual = (PREPARED, *SCALINGS), experiment.sweeps.get("scaling", (PREPARED,))
    scaling = "scale features by what the training rows teach, trees never: "
    scaling += f"{'one' if len(usual) == 1 else 'some'} of {', '.join(known)} (default: {','.join(usual)})"
    names = functools.partial(parse_names, known=known, what="scaling")
    add("--scaling", dest="scalings", type=names, default=usual, metavar="NAME", help=scaling)


def refuse_varied(text):
    raise argparse.ArgumentTypeError("this experiment varies it")


def add_theorem(parser):
    rates = "in Fig. 4, rates up to 0.66 too, with the scores that the theorem of Sec. 4 predicts; "
    rates += f"{' and '.join(COSTLY_SETS)}, which take long, only if they are named with --datasets"
    parser.add_argument("--theorem", action="store_true", help=rates)


def complete(given, name, protocol):
    """The arguments of one experiment, with its defaults filled in; UserError if they do not fit it."""
    experiment = EXPERIMENTS[name]
    args = argparse.Namespace(**vars(given) | {"experiment": experiment.adds_to or name})
    args.protocol, args.title = protocol, f"{name}: {experiment.regenerates}, protocol {protocol}"
    args.set = sorted(given.set)
    args.theorem = given.theorem and name == "contamination"
    args.runs = given.runs or (1 if given.demo else experiment.runs)
    if given.demo:
        args.datasets = list(experiment.demo_sets)
    elif given.datasets:
        args.datasets = [data_set for data_set in given.datasets if experiment.has(data_set)]
        others = [data_set for data_set in given.datasets if data_set not in args.datasets]
        if others and (given.experiment != "all" or not args.datasets):
            raise UserError(f"{others[0]!r} is not a data set of the experiment `{name}`")
    args.data_sets = args.datasets or experiment.data_sets
    sweeps = dict(experiment.sweeps)
    if args.theorem:
        sweeps["contamination"] += THEOREM_RATES
    if "scaling" in sweeps:
        sweeps["scaling"] = given.scalings
    elif len(given.scalings) > 1:
        raise UserError(f"the experiment `{name}` takes one --scaling at a time")
    args.scaling = PREPARED if "scaling" in sweeps else given.scalings[0]
    # what is varied, as (parameter, value); one empty tuple if nothing is
    args.points = [(parameter, value) for parameter, values in sweeps.items() for value in values] or [()]
    args.methods = fitting_methods(args, experiment)
    if args.theorem and "prenet" not in args.methods:
        raise UserError("--theorem needs PReNet: add prenet to --methods")
    return args


def fitting_methods(args, experiment):
    """The methods to run: all that are named with --methods must fit; of the default ones, at least one."""
    methods = args.methods or experiment.methods
    reasons = {method: why for method in methods if (why := why_unfit(args, method))}
    if reasons and (args.methods or len(reasons) == len(methods)):
        method, why = next(iter(reasons.items()))
        raise UserError(f"{METHODS[method].column} {why}")
    for method, why in reasons.items():
        print(f"Skipping {METHODS[method].column}, which {why}.")
    return [method for method in methods if method not in reasons]


def why_unfit(args, method):
    """Why a method cannot have the settings that are asked for; None if it can."""
    if METHODS[method].is_tree and PREPARED not in args.scalings:
        return "always gets its features as they are: no --scaling"
    known = make_detector(method).learning_parameters()
    for name, value in (*args.set, *(point for point in args.points if point and point[0] not in SET_UP)):
        if name not in known or name in dict(METHODS[method].settings):
            return f"has no parameter {name!r} to set"
        if isinstance(value, str) and not isinstance(known[name], str):
            return f"takes no word as {name}: its usual value is {known[name]}"
    return None


def complete_all(args):
    """The arguments of all that a command asks for: an experiment, its protocols, or all of the paper."""
    of_paper = [name for name, experiment in EXPERIMENTS.items() if experiment.in_paper]
    completed = []
    for name in of_paper if args.experiment == "all" else [args.experiment]:
        protocols, each = EXPERIMENTS[name].protocols, EXPERIMENTS[name].each_protocol
        chosen = [args.protocol] if args.protocol else protocols if each else protocols[:1]
        try:
            completed += [complete(args, name, protocol) for protocol in chosen]
        except UserError as error:
            if args.experiment != "all":
                raise
            print(f"Skipping {name}: {error}.")
    if not completed:
        raise UserError("none of the experiments fits these options")
    return completed


def run_all(args):
    """Run the requested experiments; returns what failed, as lines of text."""
    failures, starts = [], complete_all(args)
    with only_writer(args.results_dir):
        for start in starts:
            if len(starts) > 1:
                print(f"\n=== {start.title}", flush=True)
            failures += run_experiment(start)
        if args.experiment == "all" and comparisons(args.results_dir):
            compare.main(["--results-dir", str(args.results_dir)])
        elif args.experiment == "all":  # only synthetic results: nothing to compare
            from weakly.judging.assessment import Assessment  # these take a moment
            from weakly.reporting.page import build_report

            print(f"Wrote {build_report(Assessment(args.results_dir))}")
    return failures


def main(argv=None):
    parser = make_parser()
    args, unknown = parser.parse_known_args(argv)
    refuse_unknown(args.parser, unknown)
    # containers and job schedulers stop a program with SIGTERM: as Ctrl-C does
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with user_errors_end(args.parser):
            failures = run_all(args)
    except KeyboardInterrupt:
        print("\nStopped. Every finished run is kept; run the same command to resume.", file=sys.stderr)
        return 130
    for line in failures:
        print(f"FAILED {line}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
