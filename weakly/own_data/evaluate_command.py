"""detect.py evaluate: measure how well methods work on a labelled table."""

import numpy as np
from scipy.stats import t

from weakly.command_line import parse_names, positive, rate, say
from weakly.errors import DataError
from weakly.loading.splits import TEST_SHARE, contamination_count, split_independent
from weakly.numbers import count_of
from weakly.own_data.arguments import add_table_arguments, add_training_arguments, notation_of
from weakly.own_data.choosing import CANDIDATES, compared, means_of, print_figures
from weakly.own_data.labels import columns_to_use, labelled_rows
from weakly.own_data.models import SAVED_METHODS, short
from weakly.own_data.tables import Table

METRIC = "AUC-PR"
CONFIDENCE = 0.95
OVERLAP = TEST_SHARE / (1 - TEST_SHARE)  # test rows / training rows
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
    hidden = "share of hidden anomalies in the unlabelled rows (default: that in the test rows)"
    add("--n-labeled", type=positive, default=60, metavar="N", help=labeled)
    add("--runs", type=positive, default=1, metavar="N", help=runs)
    add("--hidden-share", type=rate, metavar="RATE", help=hidden)


def run(args):
    table = Table(args.table, notation_of(args))
    raw, labels = labelled_rows(args, table)
    y, n_others = labels.y, int((labels.y == 0).sum())
    if min(y.sum(), n_others) < FEWEST:
        has = f"{count_of(y.sum(), *ANOMALY)} and {count_of(n_others, 'other row')}"
        raise DataError(f"{table.path} has {has}: evaluate needs at least {FEWEST} of each to hold out 20%.")
    print(f"{len(y):,} rows of {table.path}: {count_of(y.sum(), *ANOMALY)}.")
    if labels.unlabeled.any():
        rows = "row without an anomaly label counts", "rows without an anomaly label count"
        say(
            f"The {count_of(labels.unlabeled.sum(), *rows)} as normal. If anomalies hide among them, all "
            "AUC-PR and precisions below are too low; which method is best changes little."
        )
    columns, typed = columns_to_use(table, raw, y)
    del raw  # as large as all else together
    seeds = range(args.seed, args.seed + args.runs)
    splits = [hide_labels(y, args.n_labeled, seed, args.hidden_share) for seed in seeds]
    print_split(y, *splits[0])
    print_summary(compared(args.methods, typed, columns, y, splits, seeds))


def hide_labels(y, n_labeled, seed, hidden_share=None):
    """Training rows, which of them have a label (1), and test rows, split as by protocol `independent`.

    Anomalies with hidden labels stay among the unlabelled rows until they make up hidden_share of them (None:
    the share of anomalies in the test rows).
    """
    split = split_independent(y, seed, n_labeled, 0)
    hidden = np.setdiff1d(np.flatnonzero(y), np.concatenate([split.anomalies, split.test]))
    share = y[split.test].mean() if hidden_share is None else hidden_share
    if len(hidden) > contamination_count(y[split.unlabeled], share):
        split, hidden = split_independent(y, seed, n_labeled, share), hidden[:0]
    unlabeled = np.concatenate([split.unlabeled, hidden])
    is_labelled = np.repeat([0, 1], [len(unlabeled), len(split.anomalies)])
    return np.concatenate([unlabeled, split.anomalies]), is_labelled, split.test


def print_split(y, train, is_labelled, test):
    """Print how many rows of which kind a split has."""
    n_labelled, n_hidden = is_labelled.sum(), y[train].sum() - is_labelled.sum()
    labelled = count_of(n_labelled, *(f"labelled {words}" for words in ANOMALY))
    unlabelled = count_of(len(train) - n_labelled, "unlabelled row")
    say(
        f"Held out: {count_of(len(test), 'row')}, {count_of(y[test].sum(), *ANOMALY)} (guessing has {METRIC} "
        f"{y[test].mean():.4f}). For training: {labelled} and {unlabelled}, {n_hidden:,} of them anomalies "
        "with hidden labels."
    )


def print_summary(figures):
    """Print the mean figures of the methods, and which one to take; figures: a row per run and method."""
    means, n_runs = means_of(figures), figures["seed"].nunique()
    best = means[METRIC].idxmax()
    taken = f"{short(best)} (--method {best})"
    if n_runs == 1:
        print_figures(means)
        first = f" Highest {METRIC}: {taken}." if len(means) > 1 else ""
        advice = "One run says little about other rows and other labels: repeat it with --runs 10."
        say(f"Top N: precision among the N highest scores.{first} {advice}")
        return
    scores = figures.pivot(index="seed", columns="method", values=METRIC)
    leads = {name: interval(scores[best] - scores[name], len(means) - 1) for name in means.index.drop(best)}
    shown = means[[METRIC, "AUC-ROC", "seconds"]]
    shown.insert(1, "±", [interval(scores[method])[1] for method in means.index])
    shown.insert(2, "behind", [leads.get(method, (np.nan, np.nan))[0] for method in means.index])
    shown.insert(3, "± ", [leads.get(method, (np.nan, np.nan))[1] for method in means.index])
    say(f"Means over {n_runs} runs, and how far behind the best, each with half its 95% interval:")
    print_figures(shown)
    unclear = [short(method) for method, (lead, half) in leads.items() if lead <= half]
    if unclear:
        say(f"No clear winner: the lead of {taken} over {', '.join(unclear)} may be chance.")
    elif leads:
        say(f"Take {taken}: its {METRIC} is clearly the highest.")


def interval(values, n_intervals=1):
    """Mean and half width of the 95% interval of values from at least two runs.

    Runs share most of their rows, which the usual t interval ignores: with the correction of Nadeau and
    Bengio (2003), the variance of a mean over n runs is s^2 (1/n + test rows / training rows). Several
    intervals hold jointly (Bonferroni).
    """
    n_runs = len(values)
    quantile = t.ppf(1 - (1 - CONFIDENCE) / (2 * n_intervals), n_runs - 1)
    return np.mean(values), quantile * np.std(values, ddof=1) * np.sqrt(1 / n_runs + OVERLAP)
