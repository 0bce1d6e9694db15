"""detect.py evaluate: measure how well methods work on a table whose labels are all known."""

import numpy as np
import pandas as pd

from weakly.command_line import parse_names, positive, rate
from weakly.errors import DataError, printable
from weakly.methods import METHODS
from weakly.own_data.arguments import (
    add_calibrate_argument,
    add_label_arguments,
    add_method_argument,
    add_seed_argument,
    add_table_arguments,
)
from weakly.own_data.calibration import brier_score
from weakly.own_data.choosing import advice, summary_lines
from weakly.own_data.curves import draw_curves
from weakly.own_data.evaluation import hidden_label_runs, quality_of_guessing, ranking_quality
from weakly.own_data.event_model import SAVED_METHODS
from weakly.own_data.labelled_tables import columns_to_use, labeled_numbers
from weakly.own_data.model_info import check_recordable, record_evaluation
from weakly.own_data.time_order import latest_rows, times_of
from weakly.writing import name_of

# a detector without labels shows what the labels are worth
METHODS_TO_COMPARE = [*SAVED_METHODS, *(name for name in METHODS if not METHODS[name].uses_labels)]
DESCRIPTION = (
    "Holds out 20% of the rows, hides the labels of all but --n-labeled training anomalies, fits, and scores "
    "the held-out rows. Anomalies with hidden labels stay among the unlabelled rows, but make up no larger "
    "share there than in the test rows. The paper's experiments use --hidden-share 0.02."
)


def add_arguments(command):
    command.description = DESCRIPTION
    add_table_arguments(command)
    add_label_arguments(command)
    one_or_more = command.add_mutually_exclusive_group()
    add_method_argument(one_or_more, METHODS_TO_COMPARE)
    methods = "compare several methods on the same splits, and say which one to take"
    one_or_more.add_argument(
        "--methods",
        type=lambda text: parse_names(text, METHODS_TO_COMPARE, "method"),
        metavar="A,B",
        help=methods,
    )
    add_seed_argument(command)
    labeled = "training anomalies that stay labelled (default: %(default)s)"
    runs = "number of runs, with seeds counting up from --seed (default: %(default)s)"
    when = (
        "split by this column of numbers or dates instead of at random: the latest 20%% of the rows are the "
        "test rows. The column is then not a feature, because new rows lie beyond its range"
    )
    hidden = "share of hidden anomalies in the unlabelled rows (default: that in the test rows)"
    command.add_argument("--n-labeled", type=positive, default=60, help=labeled)
    command.add_argument("--runs", type=positive, default=1, help=runs)
    command.add_argument("--time", metavar="COLUMN", help=when)
    command.add_argument("--hidden-share", type=rate, metavar="RATE", help=hidden)
    add_calibrate_argument(command, "also test calibrated probabilities; takes about five times as long")
    curves = "PNG file of the curves; - is standard output (default: %(default)s)"
    command.add_argument("--output", default="curves.png", help=curves)
    record = "model file to record the metrics in, for info and report"
    command.add_argument("--record", metavar="MODEL", help=record)
    command.set_defaults(target="output")


def run(args):
    methods = args.methods or [args.method]
    recorded = check_recordable(args.record, methods) if args.record else None
    args.drop = [name for name in args.drop if name != args.time]  # it is read anyway, but is not a feature
    table, texts, y = labeled_numbers(args, args.output)
    n_anomalies = y.sum()
    if min(n_anomalies, len(y) - n_anomalies) < 5:
        raise DataError(
            f"{table.path} has {n_anomalies:,} anomalies and {len(y) - n_anomalies:,} other rows: "
            "to hold out 20%, evaluate needs at least 5 of each."
        )
    print(f"{len(y):,} rows of {table.path}: {n_anomalies:,} anomalies.")
    texts, y, is_test = split_by_time(args, table, texts, y) if args.time else (texts, y, None)
    kinds, columns = columns_to_use(table, texts, y)
    del texts  # as large as all else together
    seeds = range(args.seed, args.seed + args.runs)
    report = Report(methods, y)
    settings = {"n_labeled": args.n_labeled, "hidden_share": args.hidden_share, "is_test": is_test}
    settings |= {"calibrate": args.calibrate, "tell": report.tell_split}
    for one in hidden_label_runs(columns, y, kinds, methods, seeds, **settings):
        report.add(one)
    # a split by time has the same test rows in all runs, so the runs say nothing about other rows
    report.tell_summary(overlap=0.25 if is_test is None else 0.0)
    if args.time and args.runs > 1:
        print("All runs have the same test rows, so the intervals say nothing about other rows.")
    for name in methods:
        if not METHODS[name].uses_labels:
            print(f"{name} uses no labels: it is here for comparison, and fit does not offer it.")
    draw_curves(report.runs, args.output)
    print(f"Wrote {name_of(args.output)}.")
    if recorded:
        record_evaluation(args.record, table, args, report.means_of(recorded))
        print(f"Recorded in {args.record}.")


def split_by_time(args, table, texts, y):
    """The rows that have a time, their labels, and whether each is a test row; prints what was done."""
    if args.time == args.label:
        raise DataError("--time and --label name the same column.")
    table.must_have([args.time], "of --time")
    name = printable(args.time)
    cells = texts.pop(args.time)
    times = times_of(cells, args.time, table.decimal)
    known = ~np.isnan(times)
    if not known.all():
        print(f"Left out: {(~known).sum():,} rows without a time in column {name!r}.")
        texts, y, times, cells = texts[known], y[known], times[known], cells[known]
    is_test = latest_rows(times, args.time)
    first = printable(cells.iloc[np.where(is_test, times, np.inf).argmin()].strip()[:40])
    print(
        f"Split by time: the test rows are the {is_test.mean():.1%} with {name} from {first} on. "
        f"{name} is not a feature."
    )
    return texts, y, is_test


class Report:
    """What evaluate prints: a line for each run as it ends, then a summary."""

    def __init__(self, methods, y):
        self._y, self.runs, self._quality, self._guessing = y, [], [], {}
        self._width = max(map(len, (*methods, "guessing")))

    def tell_split(self, unlabeled, anomalies, test, n_left_out):
        """The numbers of rows, the heading of the table, and what guessing would give."""
        y = self._y
        left_out = (
            f"Left out: the other {n_left_out:,} anomalies."
            if n_left_out
            else "All training anomalies are used."
        )
        print(
            f"Held out: {len(test):,} rows, {y[test].sum():,} of them anomalies "
            f"(base rate {y[test].mean():.4f}). "
            f"For training: {len(anomalies):,} labelled anomalies,\n"
            f"{len(unlabeled):,} unlabelled rows, "
            f"{y[unlabeled].sum():,} of them anomalies with hidden labels. {left_out}"
        )
        self._guessing = quality_of_guessing(y[test])
        print(f"{'method':{self._width}}  seed  " + "  ".join(self._guessing))
        self._print_line("guessing", "", self._guessing)

    def _print_line(self, method, seed, values):
        cells = "  ".join(f"{values[name]:{len(name)}.4f}" for name in self._guessing)
        print(f"{method:{self._width}}  {seed:>4}  {cells}", flush=True)

    def add(self, one):
        quality = ranking_quality(one.y, one.scores)
        self.runs.append(one)
        self._quality.append({"method": one.method, "seed": one.seed, **quality})
        self._print_line(one.method, one.seed, quality)

    def means_of(self, method):
        """{measure: mean over the runs} of one method."""
        quality = pd.DataFrame(self._quality)
        return quality[quality["method"] == method].drop(columns=["method", "seed"]).mean()

    def tell_summary(self, overlap):
        """Means with intervals, the effect of calibration, and which method to take."""
        quality = pd.DataFrame(self._quality)
        if quality["seed"].nunique() > 1:
            print("", *summary_lines(quality, self._guessing, overlap), sep="\n")
        if self.runs[0].calibration:
            self._tell_calibration()
        print(*advice(quality, overlap), sep="\n")

    def _tell_calibration(self):
        """Brier scores before and after, and what the automatic threshold flags: means over the runs."""
        rows = []
        for one in self.runs:
            flagged = one.scores > one.calibration.threshold
            rows.append({
                "method": one.method,
                "scaled": brier_score(one.y, one.scaled),
                "calibrated": brier_score(one.y, one.calibration.probabilities_of(one.scores)),
                "base rate": brier_score(one.y, np.full(len(one.y), one.y.mean())),
                "flagged": flagged.mean(),
                "precision": one.y[flagged].mean() if flagged.any() else 0.0,
                "recall": flagged[one.y == 1].mean(),
            })  # fmt: skip
        means = pd.DataFrame(rows).groupby("method", sort=False).mean()
        print(
            "\nBrier score, lower is better: of the scores scaled to 0-1, of calibrated scores, and of the "
            "base rate for every row.\n"
            "Then the share of test rows that --contamination auto flags, its precision and its recall."
        )
        print(means.rename_axis(None).to_string(float_format="%.4f"))
        print(
            "Calibration counts unlabelled rows as normal: if anomalies hide among them, "
            "probabilities are too low."
        )
