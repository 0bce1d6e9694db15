"""Does this code still give the committed results? Repeats a random sample of the runs behind them.

    python -m tools.spot_check                         # 40 runs of results/reference, a few minutes
    python -m tools.spot_check --runs 200 --seed 1     # more runs, and other ones
    python -m tools.spot_check --methods prenet --datasets thyroid,campaign
    python -m tools.spot_check --file ablation         # only runs of Table 4

Draws runs at random from every *_runs.csv of the results folder, repeats each with the same data and seed,
and prints both results. On a processor with the same vector instructions as the one that made them, they
should be equal to the last digit. Elsewhere, sums are rounded in another order, and training magnifies that.
Exits with 1 if an AUC differs by more than --tolerance. Runs are left out, with a message, if their data is
not available, if they used other settings than the method's own, or if they took longer than --longest
seconds.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from weakly.command_line import parse_names, positive, user_errors_end
from weakly.errors import UserError
from weakly.loading.options import add_data_arguments, data_set_names, make_finder
from weakly.loading.registry import source_of
from weakly.loading.store import load_data, prepare_all
from weakly.methods import METHODS, make_detector
from weakly.running.configuration import PLACE, Cell
from weakly.running.processes import run_cells
from weakly.running.runs_file import RunsFile, describe_settings
from weakly.writing import written_whole

MEASURES = ["auc_roc", "auc_pr"]


def committed_runs(folder, name="*"):
    """All runs of a results folder or of one of its files, with the file that each is in."""
    files = sorted(Path(folder).glob(f"{name}_runs.csv"))
    if not files:
        raise UserError(f"{folder} has no {name}_runs.csv")
    labels = [path.name.removesuffix("_runs.csv") for path in files]
    return pd.concat([RunsFile(folder, label).read().assign(file=label) for label in labels])


def repeatable(runs, args):
    """The runs that can be repeated here; prints how many are left out, and why."""
    if args.methods:
        runs = runs[runs["method"].isin(args.methods)]
    if args.datasets:
        runs = runs[runs["dataset"].isin(args.datasets)]
    known = [name for name in runs["method"].unique() if name in METHODS]
    usual = {name: describe_settings(make_detector(name)) for name in known}
    sources = dict.fromkeys(map(source_of, runs["dataset"].unique()))
    statuses, errors = prepare_all(sources, make_finder(args), args.data_dir)
    missing = {name for name, status in statuses.items() if status == "missing"} | set(errors)
    names = [name for name in runs["dataset"].unique() if source_of(name) not in missing]
    hashes = {name: load_data(name, args.data_dir).fingerprint for name in names}
    reasons = {
        "with other settings than the method's": runs["settings"] != runs["method"].map(usual),
        "on data that is not available here": runs["data_sha256"] != runs["dataset"].map(hashes),
        f"of more than {args.longest:g} s": runs["fit_seconds"] + runs["score_seconds"] > args.longest,
    }
    for reason, applies in reasons.items():
        if applies.any():
            print(f"Not sampled: {applies.sum():,} runs {reason}.")
    chosen = runs[~pd.concat(reasons.values(), axis=1).any(axis=1)]
    if chosen.empty:
        raise UserError("none of these runs can be repeated here")
    return chosen


def repeat(runs, args):
    """The runs with today's results in columns that end in `_today`, and what failed."""
    numbers = runs.groupby(PLACE, sort=False)["run"].unique()  # a run may be in two files
    wanted = {
        Cell(**dict(zip(PLACE, place)), data_dir=args.data_dir): list(map(int, of_place))
        for place, of_place in numbers.items()
    }
    today, failures, total = {}, [], sum(map(len, wanted.values()))
    for cell, measured, error in tqdm(run_cells(wanted, args.jobs), total=total, unit=" runs"):
        if error is not None:
            failures.append(f"{cell}: {error}")
            continue
        today[(*cell.place, measured["run"])] = [measured[name] for name in (*MEASURES, "code")]
    columns = [f"{name}_today" for name in (*MEASURES, "code")]
    measured_today = pd.DataFrame.from_dict(today, orient="index", columns=columns)
    measured_today.index = pd.MultiIndex.from_tuples(measured_today.index, names=[*PLACE, "run"])
    return runs.join(measured_today, on=[*PLACE, "run"], how="inner"), failures


def largest_difference(repeated):
    """The larger of the differences in AUC-ROC and AUC-PR, for each run."""
    return pd.concat([(repeated[f"{name}_today"] - repeated[name]).abs() for name in MEASURES], axis=1).max(
        axis=1
    )


def summary(repeated, tolerance):
    """The outcome in words."""
    difference = largest_difference(repeated)
    same_code = (repeated["code"] == repeated["code_today"]).sum()
    return (
        f"{(difference == 0).sum()} of {len(repeated)} runs are equal to the last digit; "
        f"{(difference > tolerance).sum()} differ by more than {tolerance:g}. "
        f"Largest difference of an AUC: {difference.max():.2g}, median {difference.median():.2g}. "
        f"{same_code} runs were made by exactly this code."
    )


def make_parser():
    parser = argparse.ArgumentParser(
        prog="python -m tools.spot_check",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add, default = parser.add_argument, "(default: %(default)s)"
    known = lambda text: parse_names(text, METHODS, "method")  # noqa: E731
    add("--results-dir", default="results/reference", help=f"folder of the runs files {default}")
    add("--runs", type=positive, default=40, help=f"how many runs to repeat {default}")
    add("--seed", type=int, default=0, help=f"seed of the sample {default}")
    add("--file", default="*", metavar="NAME", help="only runs of NAME_runs.csv (default: all files)")
    add("--methods", type=known, metavar="A,B", help="only runs of these methods (default: all)")
    add("--datasets", type=data_set_names, metavar="A,B", help="only runs on these data sets (default: all)")
    add("--longest", type=float, default=10.0, metavar="SECONDS", help=f"leave out longer runs {default}")
    add("--tolerance", type=float, default=0.03, help=f"largest allowed difference of an AUC {default}")
    add("--jobs", type=positive, default=2, help=f"number of processes, with one thread each {default}")
    add("--output", metavar="CSV", help="write the runs with both results to this file")
    add_data_arguments(parser)
    return parser


def check(args):
    """Repeat the sample and print both results; returns the exit code."""
    candidates = repeatable(committed_runs(args.results_dir, args.file), args)
    sample = candidates.sample(min(args.runs, len(candidates)), random_state=args.seed)
    repeated, failures = repeat(sample, args)
    for line in failures:
        print(f"FAILED {line}", file=sys.stderr)
    if repeated.empty:
        return 1
    shown = ["file", *PLACE[:4], "run", *MEASURES, *(f"{name}_today" for name in MEASURES)]
    print(repeated[shown].to_string(index=False, float_format="%.6f"))
    print(summary(repeated, args.tolerance))
    if args.output:
        with written_whole(args.output) as file:
            columns = ["file", *PLACE, "run", *MEASURES, "code"]
            columns += [f"{name}_today" for name in (*MEASURES, "code")]
            repeated[columns].to_csv(file, index=False)
        print(f"Wrote {args.output}")
    return int(bool(failures) or bool((largest_difference(repeated) > args.tolerance).any()))


def main(argv=None):
    parser = make_parser()
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        return check(args)


if __name__ == "__main__":
    sys.exit(main())
