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
import sys
from pathlib import Path

import pandas as pd

import compare
from weakly import command_line as types
from weakly.command_line import parse_names, refuse_unknown, stopped_as_by_ctrl_c, user_errors_end
from weakly.errors import UserError
from weakly.judging.cells import comparisons, published_table
from weakly.judging.tables import repeat_without_labels, table_suffix, write_tables
from weakly.loading.options import add_data_arguments, data_set_names, make_finder
from weakly.loading.registry import DEMO, OUTSIDE_SETS, how_to_get, source_of
from weakly.loading.splits import PROTOCOLS
from weakly.loading.store import load_data, manifest_table, prepare_all
from weakly.methods import METHODS, make_detector, method_group
from weakly.reporting import theorem
from weakly.running import provenance
from weakly.running.configuration import PREPARED, code_hash
from weakly.running.paper_experiments import COSTLY_SETS, EXPERIMENTS
from weakly.running.planning import overrides, plan, requested_cells
from weakly.running.processes import run_cells
from weakly.running.progress import with_progress
from weakly.running.runs_file import SET_UP, RunsFile, describe_settings, only_writer, select_runs
from weakly.training.number_scaler import SCALINGS

BEYOND_THE_PAPER = ("today", "scaling", "crosscheck")  # experiments whose tables have their own layout
METHOD_GROUPS = {"all": ("table", "appendix"), "interpretations": ("interpretation",)}  # others by their name


def available_data_sets(args):
    """Prepare the requested data sets; without --datasets, those available, or else the synthetic ones.

    Returns their names, and a line for each file that exists but is bad.
    """
    if args.theorem and not args.datasets:
        what = f"--theorem runs {' and '.join(COSTLY_SETS)} only at the rates of Fig. 4"
        print(f"{what}, because higher rates take long; name them with --datasets to run all rates.")
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
    failures += run_and_append(args, missing, runs_file, provenance.Session(args.results_dir, label, wanted))
    if wanted:
        report(args, label, wanted, names, runs_file.read())
    return failures


def run_and_append(args, missing, runs_file, session):
    """Make the missing runs and append each as it ends; returns what failed, as lines of text."""
    failures, notes, before = [], [], runs_file.count()
    try:
        for cell, measured, error in with_progress(run_cells(missing, args.jobs, args.cluster), missing):
            if error is None:
                runs_file.append(cell.row(measured))
                session.count_run()
                notes += [f"{cell}: {measured['note']}"] if measured["note"] else []
            else:
                failures.append(f"{cell}: {error}")
    finally:  # also when stopped, perhaps between writing a run and counting it
        session.entry["runs_made"] = runs_file.count() - before
        if session.entry["runs_made"]:
            session.save()
            print(provenance.describe(session.entry))
    for line in notes:
        print(f"NOTE {line}: the detector does not distinguish any rows.")
    return failures


# ---------------------------------------------------------------------------- tables and figures


def report(args, label, wanted, names, runs):
    """Write and print the tables and figures of the requested runs."""
    chosen = repeat_without_labels(runs_to_show(args, wanted, runs), names)
    experiment = EXPERIMENTS[args.experiment]
    own_protocol = args.protocol == experiment.protocols[0]
    others = (None if name in experiment.sweeps else getattr(args, name) for name in SET_UP[1:])
    suffix = table_suffix(None if own_protocol else args.protocol, *others)
    for path, table in write_tables(chosen, args.results_dir, label, suffix).items():
        print(f"Wrote {path}")
        is_synthetic = path.name.endswith("_synthetic.csv")
        if args.experiment in BEYOND_THE_PAPER and not (is_synthetic or args.set):
            write_beyond(args)
        elif experiment.sweeps or is_synthetic or suffix or args.set:
            compare.print_table(table)
        else:
            compare.compare(args.results_dir, args.experiment)
            print_unpublished(table, args.experiment)
        if experiment.sweeps and args.experiment not in BEYOND_THE_PAPER:
            part = chosen[(chosen["data_status"] == "synthetic") == is_synthetic]
            write_figures(args, part, path.stem.removeprefix(args.experiment))


def print_unpublished(table, experiment):
    """Print the cells of a table that the paper does not have: other data sets, other methods."""
    published = published_table(experiment)
    printed = set(zip(published["dataset"], published["method"]))
    cells = zip(table["dataset"], table["method"])
    own = table[[cell not in printed and not cell[0].startswith("Average") for cell in cells]]
    if len(own):
        print("\nWithout published values:")
        compare.print_table(own)


def runs_to_show(args, wanted, runs):
    """The runs to show in the tables together with the requested ones.

    Methods of earlier starts are included if they have today's settings and code.
    """
    asked_kinds = {cell.data_status == "synthetic" for cell in wanted}
    runs = runs[(runs["data_status"] == "synthetic").isin(asked_kinds)]
    methods = [name for name in METHODS if name in set(runs["method"]) and not lacking(name, args)]
    chosen = []
    for point in dict.fromkeys(cell.point for cell in wanted):
        current = [cell for cell in wanted if cell.point == point]
        codes = {method: code_hash(method, current[0].scaling) for method in methods}
        detectors = {
            method: make_detector(method, **dict(overrides(args, method, point))) for method in methods
        }
        settings = {method: describe_settings(detector) for method, detector in detectors.items()}
        chosen.append(select_runs(runs, current, settings, codes))
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
        if path.suffix == ".md":
            print(path.read_text(encoding="utf-8"))


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
    if text in ("table", "ablation", "today", *METHOD_GROUPS):
        return method_group(*METHOD_GROUPS.get(text, [text]))
    return parse_names(text, METHODS, "method")


def make_parser():
    parser = argparse.ArgumentParser(description="Run an experiment of the paper, or one beyond it.")
    add_what(parser.add_argument)
    add_set_up(parser.add_argument)
    results = "where runs and tables are written (default: %(default)s)"
    parser.add_argument("--results-dir", default="results", help=results)
    again = "repeat runs that the results already contain"
    parser.add_argument("--force", action="store_true", help=again)
    add_data_arguments(parser)
    return parser


def add_what(add):
    """The arguments that select what is run, and where."""
    experiments = "; ".join(f"{name}: {experiment.regenerates}" for name, experiment in EXPERIMENTS.items())
    experiments += "; all: every experiment of the paper in turn"
    add("experiment", choices=[*EXPERIMENTS, "all"], help=experiments)
    names = f"some of {', '.join(method_group('table', 'appendix', 'ablation'))}; or `table`: of Table 2, "
    names += "`all`: also of the appendix; `ablation`, `interpretations`, `today`: see weakly/methods.py "
    add("--methods", type=method_names, metavar="A,B", help=names + "(default: as in the paper)")
    sets = "data sets, such as thyroid,bac or 'rec,fuz->dos' (default: all available sets of the experiment)"
    add("--datasets", type=data_set_names, metavar="A,B", help=sets)
    demo = "one quick run on synthetic data; its numbers say nothing about the paper"
    add("--demo", action="store_true", help=demo)
    runs = "runs per method and data set; run r has seed r (default: 10, crosscheck 3, with --demo 1)"
    add("--runs", type=types.positive, help=runs)
    jobs = "number of processes, with one thread each (default: %(default)s)"
    add("--jobs", type=types.positive, default=min(8, os.cpu_count() or 1), help=jobs)
    cluster = "run on this Dask scheduler, such as tcp://host:8786, instead of in local processes"
    add("--cluster", metavar="ADDRESS", help=cluster)


def add_set_up(add):
    """The arguments for set-ups other than the paper's."""
    protocol = "how data is split and labels are drawn; redrawn: as released, with new draws in every run; "
    protocol += "redrawn-split, -labels, -contamination: redraw only this, keep all else and the seed fixed "
    protocol += "(default: released; today: independent; draws and crosscheck: each of theirs)"
    add("--protocol", choices=PROTOCOLS, help=protocol)
    add("--n-labeled", type=types.positive, help="labelled anomalies (default: 60)")
    add("--contamination", type=types.rate, help="share of anomalies in the unlabelled data (default: 0.02)")
    changed = "change a parameter of the methods, such as margin=2; repeatable; separate files are written"
    add("--set", type=types.setting, action="append", default=[], metavar="NAME=VALUE", help=changed)
    l2 = {"type": types.l2_setting, "metavar": "VALUE", "help": "short for --set l2=VALUE"}
    add("--lambda", dest="set", action="append", **l2)
    scaling = f"scale features by what the training rows teach: {', '.join(SCALINGS)} (default: {PREPARED}, "
    scaling += "as data_prep.py made them; trees always); the experiment `scaling` takes several"
    scalings = functools.partial(parse_names, known=(PREPARED, *SCALINGS), what="scaling")
    add("--scaling", type=scalings, metavar="A,B", help=scaling)
    rates = "contamination only: rates up to 0.66, with the scores that the theorem of Sec. 4 predicts"
    add("--theorem", action="store_true", help=rates)


def show_only(parser, name):
    """Limit the help to one experiment, so that ./run_seen.sh --help is about Table 2 alone."""
    parser.prog = f"{parser.prog} {name}"
    if name == "all":
        parser.description = (
            "Every table and figure of the paper, then the comparison with it and the report."
        )
        unfit, protocols = {"experiment", "scaling"}, EXPERIMENTS["seen"].protocols
    else:
        experiment = EXPERIMENTS[name]
        methods = "the interpretations" if name == "interpretations" else ", ".join(experiment.methods)
        what, protocols = experiment.regenerates, experiment.protocols
        parser.description = f"{what[0].upper()}{what[1:]}; {experiment.runs} runs of {methods}."
        unfit = {"experiment", *experiment.sweeps, *(() if name == "contamination" else ["theorem"])}
    for action in parser._actions:
        if action.dest in unfit:
            action.help = argparse.SUPPRESS
        elif action.dest == "protocol":
            action.metavar = "{" + ",".join(protocols) + "}"
            action.help = "how data is split and labels are drawn; see docs/drivers.md (default: the first)"
            if name != "all" and experiment.each_protocol:
                action.help = action.help.replace("the first", "each in turn")


def complete(given, name, protocol=None):
    """The arguments of one experiment, with its defaults filled in; UserError if they do not fit it."""
    experiment = EXPERIMENTS[name]
    args = argparse.Namespace(**vars(given) | {"experiment": experiment.adds_to or name})
    args.set = sorted(given.set)
    if args.theorem and name != "contamination":
        if given.experiment != "all":
            raise UserError("--theorem only works with the experiment `contamination`")
        args.theorem = False
    for option, default in (("n_labeled", 60), ("contamination", 0.02)):
        if getattr(args, option) is None:
            setattr(args, option, default)
        elif option in experiment.sweeps:
            raise UserError(f"--{option.replace('_', '-')} cannot be set: the experiment `{name}` varies it")
    if args.demo:
        args.datasets = list(experiment.demo_sets)
    elif args.datasets and given.experiment == "all":
        args.datasets = [data_set for data_set in args.datasets if experiment.has(data_set)]
        if not args.datasets:
            raise UserError("it uses none of the given data sets")
    for data_set in args.datasets or ():
        if not experiment.has(data_set):
            raise UserError(f"{data_set!r} is not a data set of the experiment `{name}`")
    args.data_sets = args.datasets or experiment.data_sets
    args.runs = args.runs or (1 if args.demo else experiment.runs)
    args.protocol = args.protocol or protocol or experiment.protocols[0]
    if args.protocol not in experiment.protocols:
        raise UserError(f"`{name}` needs --protocol {' or '.join(experiment.protocols)}")
    args.scalings = given.scaling or experiment.sweeps.get("scaling", [PREPARED])
    if len(args.scalings) > 1 and "scaling" not in experiment.sweeps:
        raise UserError(f"`{name}` takes one --scaling at a time")
    args.scaling = args.scalings[0]
    args.methods = fitting_methods(args, args.methods or experiment.methods)
    if args.theorem and "prenet" not in args.methods:
        raise UserError("--theorem needs PReNet: add prenet to --methods")
    return args


def fitting_methods(args, methods):
    """The methods that have all parameters given by --set.

    All methods named with --methods must have them; of the default methods, at least one.
    """
    left_out = {method: lacking(method, args) for method in methods if lacking(method, args)}
    unscaled = [method for method in methods if METHODS[method].is_tree and PREPARED not in args.scalings]
    if unscaled and args.methods:
        raise UserError(f"{METHODS[unscaled[0]].column} always gets its features as they are: no --scaling")
    if unscaled:
        print("Skipping methods that always get their features as they are: " + columns(unscaled))
    methods = [method for method in methods if method not in unscaled]
    for name, value in args.set:
        usual = [make_detector(method).get_params()[name] for method in methods if method not in left_out]
        if isinstance(value, str) and usual and not any(isinstance(one, str) for one in usual):
            raise UserError(f"--set {name}={value}: {name} is not a word; its usual value is {usual[0]}")
    if left_out and (args.methods or len(left_out) == len(methods)):
        method, (parameter, *_) = next(iter(left_out.items()))
        raise UserError(f"{METHODS[method].column} has no parameter {parameter!r} to set")
    if left_out:
        print(f"Skipping methods without this parameter: {columns(left_out)}")
    return [method for method in methods if method not in left_out]


def columns(methods):
    return ", ".join(METHODS[method].column for method in methods)


def lacking(method, args):
    """Names of the settings that a method does not have as parameters, or that it fixes."""
    varied = EXPERIMENTS[args.experiment].sweeps
    wanted = [name for name, _ in args.set] + [name for name in varied if name not in SET_UP]
    if not wanted:
        return []
    known = set(make_detector(method).learning_parameters()) - {*dict(METHODS[method].settings)}
    return [name for name in wanted if name not in known]


def complete_all(args):
    """The arguments of all that a command asks for: an experiment, its protocols, or all of the paper."""
    if args.demo and args.datasets:
        raise UserError("--demo uses its own data: do not combine it with --datasets")
    if args.experiment != "all":
        experiment = EXPERIMENTS[args.experiment]
        in_turn = experiment.protocols if experiment.each_protocol and not args.protocol else [args.protocol]
        return [complete(args, args.experiment, protocol) for protocol in in_turn]
    completed = []
    for name in (name for name, experiment in EXPERIMENTS.items() if experiment.in_paper):
        try:
            completed.append(complete(args, name))
        except UserError as error:
            print(f"Skipping {name}: {error}.")
    if not completed:
        raise UserError("none of the experiments fits these options")
    return completed


def run_all(args):
    """Run the requested experiments; returns what failed, as lines of text."""
    failures, starts = [], complete_all(args)
    with only_writer(args.results_dir):
        for start in starts:
            if len(starts) > 1 or args.experiment == "all":
                name = start.experiment if args.experiment == "all" else args.experiment
                protocol = "" if args.experiment == "all" else f", protocol {start.protocol}"
                print(f"\n=== {name}: {EXPERIMENTS[name].regenerates}{protocol}", flush=True)
            failures += run_experiment(start)
        if args.experiment == "all" and comparisons(args.results_dir):
            compare.main(["--results-dir", str(args.results_dir)])
        elif args.experiment == "all":  # only synthetic results: nothing to compare
            from weakly.judging.assessment import Assessment  # these take a moment
            from weakly.reporting.page import build_report

            print(f"Wrote {build_report(Assessment(args.results_dir))}")
    return failures


def main(argv=None):
    words = sys.argv[1:] if argv is None else argv
    parser = make_parser()
    if words and words[0] in (*EXPERIMENTS, "all"):
        show_only(parser, words[0])
    args, unknown = parser.parse_known_args(words)
    refuse_unknown(parser, unknown)
    try:
        with user_errors_end(parser), stopped_as_by_ctrl_c():
            failures = run_all(args)
    except KeyboardInterrupt:
        print("\nStopped. Every finished run is kept; run the same command to resume.", file=sys.stderr)
        return 130
    for line in failures:
        print(f"FAILED {line}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    exit_code = main()
    if exit_code == 130:  # Ctrl-C: exit at once, because Python takes a second or two to unload TensorFlow
        sys.stdout.flush()
        os._exit(exit_code)
    sys.exit(exit_code)
