"""Does this code still give the committed results? Repeats a random sample of the runs behind them.

    python -m tools.spot_check                         # 40 runs of results/reference, a few minutes
    python -m tools.spot_check --methods prenet --datasets thyroid,campaign
    python -m tools.spot_check --file ablation         # only runs of Table 4

Draws runs at random from every *_runs.csv of the results folder, repeats each with the same data and seed,
and prints both results. On a processor with the same vector instructions as the one that made them, they
should be equal to the last digit. Elsewhere, sums are rounded in another order, and training magnifies that.
Exits with 1 if an AUC differs by more than --tolerance. Says how many runs it leaves out, and why.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

from weakly.command_line import parse_names, positive, user_errors_end
from weakly.errors import UserError
from weakly.loading.arrays import load_data
from weakly.loading.options import add_data_arguments, data_set_names, make_finder
from weakly.loading.store import prepare_all
from weakly.loading.unseen import source_of
from weakly.methods import METHODS, make_detector
from weakly.running.configuration import PLACE, Cell
from weakly.running.processes import run_cells
from weakly.running.runs_file import RunsFile
from weakly.running.single_run import describe_settings
from weakly.writing import written_whole

RESULTS = ["auc_roc", "auc_pr", "code"]  # of a run, and again in columns that end in `_today`


def committed_runs(folder, name):
    """All runs of a results folder or of one of its files, with the file that each is in."""
    labels = [path.name.removesuffix("_runs.csv") for path in sorted(Path(folder).glob(f"{name}_runs.csv"))]
    if not labels:
        raise UserError(f"{folder} has no {name}_runs.csv")
    parts = [RunsFile(folder, label).read().assign(file=label) for label in labels]
    return pd.concat(parts, ignore_index=True)


def repeatable(runs, args):
    """The runs that were asked for and can be repeated here; prints how many are left out, and why."""
    runs = runs[runs["method"].isin(args.methods or runs["method"])]
    runs = runs[runs["dataset"].isin(args.datasets or runs["dataset"])]
    usual = {name: describe_settings(make_detector(name)) for name in set(runs["method"]) & set(METHODS)}
    sources = {name: source_of(name) for name in runs["dataset"].unique()}
    statuses, _ = prepare_all(dict.fromkeys(sources.values()), make_finder(args), args.data_dir)
    available = [name for name in sources if statuses.get(sources[name], "missing") != "missing"]
    hashes = {name: load_data(name, args.data_dir).fingerprint for name in available}
    reasons = {
        "with other settings than the method's": runs["settings"] != runs["method"].map(usual),
        "on data that is not available here": runs["data_sha256"] != runs["dataset"].map(hashes),
        f"of more than {args.longest:g} s": runs["fit_seconds"] + runs["score_seconds"] > args.longest,
    }
    for reason, applies in reasons.items():
        if applies.any():
            print(f"Not sampled: {applies.sum():,} runs {reason}.")
    chosen = runs[~pd.DataFrame(reasons).any(axis=1)]
    if chosen.empty:
        raise UserError("none of these runs can be repeated here")
    return chosen


def repeat(runs, args):
    """The runs with today's results, as far as they succeed, and how many failed."""
    numbers = runs.groupby(PLACE, sort=False)["run"].unique()  # a run may be in two files
    wanted = {
        Cell(**dict(zip(PLACE, place)), data_dir=args.data_dir): list(map(int, of_place))
        for place, of_place in numbers.items()
    }
    made, failed = [], 0
    for cell, run, error in run_cells(wanted, args.jobs):
        if error is not None:
            print(f"FAILED {cell}: {error}", file=sys.stderr)
            failed += 1
            continue
        today = {f"{name}_today": run[name] for name in RESULTS}
        made.append({name: getattr(cell, name) for name in PLACE} | {"run": run["run"]} | today)
    return (runs.merge(pd.DataFrame(made), on=[*PLACE, "run"]) if made else runs[:0]), failed


def check(args):
    """Repeat the sample and print both results; returns the exit code."""
    candidates = repeatable(committed_runs(args.results_dir, args.file), args)
    sample = candidates.sample(min(args.runs, len(candidates)), random_state=args.seed)
    repeated, failed = repeat(sample, args)
    if repeated.empty:
        return 1
    table = repeated[["file", *PLACE, "run", *RESULTS, *(f"{name}_today" for name in RESULTS)]]
    print(table.drop(columns=["scaling", "code", "code_today"]).to_string(index=False, float_format="%.6f"))
    gaps = [(table[f"{name}_today"] - table[name]).abs() for name in ("auc_roc", "auc_pr")]
    difference = pd.concat(gaps, axis=1).max(axis=1)
    too_far = (difference > args.tolerance).sum()
    print(
        f"{(difference == 0).sum()} of {len(table)} runs are equal to the last digit; "
        f"{too_far} differ by more than {args.tolerance:g}. "
        f"Largest difference of an AUC: {difference.max():.2g}, median {difference.median():.2g}. "
        f"{(table['code'] == table['code_today']).sum()} runs were made by exactly this code."
    )
    if args.output:
        with written_whole(args.output) as file:
            table.to_csv(file, index=False)
    return int(failed > 0 or too_far > 0)


def main(argv=None):
    parser = argparse.ArgumentParser("python -m tools.spot_check", description=__doc__.splitlines()[0])
    add, default = parser.add_argument, "(default: %(default)s)"
    add("--results-dir", default="results/reference", help=f"folder of the runs files {default}")
    add("--runs", type=positive, default=40, help=f"how many runs to repeat {default}")
    add("--seed", type=int, default=0, help=f"seed of the sample {default}")
    add("--file", default="*", metavar="NAME", help="only runs of NAME_runs.csv (default: all files)")
    add("--methods", type=lambda text: parse_names(text, METHODS, "method"), metavar="A,B", help="only these")
    add("--datasets", type=data_set_names, metavar="A,B", help="only these")
    add("--longest", type=float, default=10.0, metavar="SECONDS", help=f"leave out longer runs {default}")
    add("--tolerance", type=float, default=0.03, help=f"largest allowed difference of an AUC {default}")
    add("--jobs", type=positive, default=2, help=f"number of processes, with one thread each {default}")
    add("--output", metavar="CSV", help="write the runs with both results to this file")
    add_data_arguments(parser)
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        return check(args)


if __name__ == "__main__":
    sys.exit(main())
