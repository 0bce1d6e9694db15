"""detect.py evaluate: measure how well methods work on a labelled table."""

import numpy as np
import pandas as pd

from weakly.command_line import parse_names, positive, print_line, rate, say
from weakly.errors import DataError, printable
from weakly.numbers import count_of
from weakly.own_data.arguments import add_table_arguments, add_training_arguments, notation_of
from weakly.own_data.choosing import CANDIDATES
from weakly.own_data.columns import column_kind, typed_columns
from weakly.own_data.evaluation import hide_labels, held_out_scores, interval, latest_rows, ranking_quality
from weakly.own_data.labels import columns_to_use, labelled_rows
from weakly.own_data.models import SAVED_METHODS, in_words, short
from weakly.own_data.tables import Table

METRIC = "AUC-PR"
FEWEST = 5  # anomalies, and other rows
ANOMALY = "anomaly", "anomalies"
DESCRIPTION = (
    "Holds out 20% of the rows, hides the labels of all but --n-labeled training anomalies, fits, and scores "
    "the held-out rows. Rows without a label count as normal. Anomalies with hidden labels stay among the "
    "unlabelled rows, but make up no larger share there than in the test rows. The paper's experiments use "
    f"--hidden-share 0.02. Methods: {', '.join(SAVED_METHODS)}."
)


def add_arguments(command):
    command.description = DESCRIPTION
    add_table_arguments(command)
    add_training_arguments(command, label_required=True)
    add = command.add_argument
    methods = f"methods to compare on the same splits (default: those of fit, {','.join(CANDIDATES)})"
    names = {"type": lambda text: parse_names(text, SAVED_METHODS, "method"), "metavar": "A,B"}
    add("--method", "--methods", dest="methods", default=list(CANDIDATES), **names, help=methods)
    labeled = "training anomalies that stay labelled (default: %(default)s)"
    runs = "number of runs, with seeds counting up from --seed (default: %(default)s)"
    when = (
        "split by this column of numbers or dates instead of at random: the latest 20%% of the rows are the "
        "test rows. The column is then not a feature, because new rows lie beyond its range"
    )
    hidden = "share of hidden anomalies in the unlabelled rows (default: that in the test rows)"
    add("--n-labeled", type=positive, default=60, metavar="N", help=labeled)
    add("--runs", type=positive, default=1, metavar="N", help=runs)
    add("--time", metavar="COLUMN", help=when)
    add("--hidden-share", type=rate, metavar="RATE", help=hidden)


def run(args):
    table = Table(args.table, notation_of(args))
    raw, y, is_test = labelled_and_split(args, table)
    columns, typed = columns_to_use(table, raw, y)
    del raw  # as large as all else together
    figures = []
    for seed in range(args.seed, args.seed + args.runs):
        split = hide_labels(y, args.n_labeled, seed, args.hidden_share, is_test)
        if seed == args.seed:
            print_split(y, *split)
        unlabeled, anomalies, test, _ = split
        train, labels = np.concatenate([unlabeled, anomalies]), np.repeat([0, 1], [*map(len, split[:2])])
        for method, scores, seconds in held_out_scores(
            args.methods, typed, columns, labels, train, test, seed
        ):
            quality = ranking_quality(y[test], scores)
            figures.append({"method": method, "seed": seed, "seconds": seconds, **quality})
            words = in_words if seed == args.seed else short
            print_figures(quality, f"{seconds:.1f}", seed, words(method))
    # a split by time has the same test rows in all runs, so the runs say nothing about other rows
    print_summary(pd.DataFrame(figures), overlap=0.25 if is_test is None else 0.0)
    if args.time and args.runs > 1:
        say("All runs have the same test rows, so the intervals say nothing about other rows.")


def labelled_and_split(args, table):
    """The raw rows without their label, y (n,), and whether each is a test row, or None; prints them."""
    if args.time:
        if args.time == args.label:
            raise DataError("--time and --label name the same column.")
        table.must_have([args.time], "of --time")
        args.drop = [name for name in args.drop if name != args.time]  # it is read, but is not a feature
    raw, labels = labelled_rows(args, table)
    y, n_unlabeled = labels.y, int(labels.unlabeled.sum())
    anomalies = count_of(y.sum(), *ANOMALY)
    if min(y.sum(), (y == 0).sum()) < FEWEST:
        raise DataError(
            f"{table.path} has {anomalies} and {count_of((y == 0).sum(), 'other row')}: "
            f"to hold out 20%, evaluate needs at least {FEWEST} of each."
        )
    print(f"{len(y):,} rows of {table.path}: {anomalies}.")
    if n_unlabeled:
        rows, counts = ("row", "counts") if n_unlabeled == 1 else ("rows", "count")
        say(
            f"The {n_unlabeled:,} {rows} without an anomaly label {counts} as normal. If anomalies hide "
            "among them, all AUC-PR and precisions below are too low; which method is best changes little."
        )
    return split_by_time(args, table, raw, y) if args.time else (raw, y, None)


def split_by_time(args, table, raw, y):
    """The rows that have a time, their labels, and whether each is a test row; prints what was done."""
    name, cells = printable(args.time), raw.pop(args.time)
    times = times_of(cells, args.time, table.notation)
    known = ~np.isnan(times)
    if not known.all():
        print(f"Left out: {count_of((~known).sum(), 'row')} without a time in column {name!r}.")
        raw, y, times, cells = raw[known], y[known], times[known], cells[known]
    is_test = latest_rows(times, args.time)
    first = printable(str(cells.iloc[np.where(is_test, times, np.inf).argmin()])[:40])
    say(
        f"Split by time: the test rows are the {is_test.mean():.1%} with {name} from {first} on. "
        f"{name} is not a feature."
    )
    return raw, y, is_test


def times_of(cells, name, notation):
    """The raw cells (n,) of a column of numbers, or of dates in one notation, as numbers; NaN: missing."""
    number = {"kind": "number", "decimal": notation.point, "thousands": notation.thousands}
    column = column_kind(name, cells, notation)[0] or number  # it drops whole numbers that count up
    if column["kind"] not in ("number", "date"):
        texts = f"texts such as {cells.dropna().iloc[0][:40]!r}"
        raise DataError(f"Column {name!r} of --time holds {texts}, neither numbers nor dates.")
    times = typed_columns(cells.to_frame(name), {name: column}, notation.missing)[name]
    if column["kind"] == "date":
        times = times.astype("int64").where(times.notna())
    return times.to_numpy(np.float64)


def print_split(y, unlabeled, anomalies, test, n_left_out):
    """Print the numbers of rows, the heading of the table, and what guessing would give."""
    left_out = f" Left out: the other {count_of(n_left_out, *ANOMALY)}." if n_left_out else ""
    unlabelled = count_of(len(unlabeled), "unlabelled row")
    labelled = count_of(len(anomalies), *(f"labelled {words}" for words in ANOMALY))
    say(
        f"Held out: {count_of(len(test), 'row')}, {count_of(y[test].sum(), *ANOMALY)} "
        f"(base rate {y[test].mean():.4f}). For training: {labelled} and {unlabelled}, "
        f"{y[unlabeled].sum():,} of them anomalies with hidden labels.{left_out} "
        "Top N: precision among the N highest scores."
    )
    base_rate = float(y[test].mean())
    guessing = dict.fromkeys(ranking_quality(y[test], np.zeros(len(test))), base_rate) | {"AUC-ROC": 0.5}
    print_line("  ".join((*(name.rjust(6) for name in guessing), "seconds", "seed  ")), "method")
    print_figures(guessing, "", "", "guessing")


def print_figures(values, seconds, seed, words):
    cells = [f"{value:{max(6, len(name))}.4f}" for name, value in values.items()]
    print_line("  ".join((*cells, f"{seconds:>7}", f"{seed:>4}  ")), words)


def print_summary(figures, overlap):
    """Print means with intervals, and which method to take; figures: a row per run."""
    n_runs = figures["seed"].nunique()
    if n_runs > 1:
        print(f"\nMean over {n_runs} runs, ± half the width of its 95% interval:")
        print_line(f"{METRIC:14}  {'AUC-ROC':14}  seconds  ", "method")
        for method, runs in figures.groupby("method", sort=False):
            means = [interval(runs[name], overlap) for name in (METRIC, "AUC-ROC")]
            cells = [f"{mean:.4f} ±{high - mean:.4f}" for mean, _, high in means]
            print_line("  ".join((*cells, f"{runs['seconds'].mean():7.1f}  ")), in_words(method))
    if sentence := advice(figures, overlap):
        say(sentence)


def advice(figures, overlap):
    """Which method to take by AUC-PR, and how certain that is; figures: a row per run."""
    scores = figures.pivot(index="seed", columns="method", values=METRIC)
    best, *others = scores.mean().sort_values(ascending=False, kind="stable").index
    taken, n_runs = f"{short(best)} (--method {best})", len(scores)
    if n_runs == 1:
        first = f"Highest {METRIC} in this run: {taken}. " if others else ""
        apart = "methods apart" if others else "how much the result varies"
        return f"{first}One run cannot tell {apart}: repeat it with --runs 10."
    clear, level = [], []
    for other in others:
        mean, low, high = interval(scores[best] - scores[other], overlap, len(others))
        (clear if low > 0 else level).append(f"{short(other)} by {mean:.3f} [{low:.3f}, {high:.3f}]")
    if level:
        behind = f" Clearly behind: {', '.join(clear)}." if clear else ""
        return (
            f"No clear winner: {taken} has the highest mean {METRIC} over {n_runs} runs, but its lead may be "
            f"chance, above {', '.join(level)}.{behind} A simpler or faster one may do as well."
        )
    lead = f"its {METRIC} is clearly the highest over {n_runs} runs, above {', '.join(clear)}"
    return f"Take {taken}: {lead}." if clear else ""
