"""detect.py evaluate: measure how well methods work on a labelled table."""

import numpy as np
import pandas as pd
from scipy.stats import t

from weakly.command_line import parse_names, positive, print_line, rate, say
from weakly.errors import DataError
from weakly.loading.splits import TEST_SHARE, Split, contamination_count, split_independent
from weakly.numbers import count_of
from weakly.own_data.arguments import add_table_arguments, add_training_arguments, notation_of
from weakly.own_data.choosing import CANDIDATES, held_out_scores, ranking_quality
from weakly.own_data.labels import columns_to_use, labelled_rows
from weakly.own_data.models import SAVED_METHODS, in_words, short
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
    print_counts(table, labels)
    y = labels.y
    columns, typed = columns_to_use(table, raw, y)
    del raw  # as large as all else together
    figures = []
    for seed in range(args.seed, args.seed + args.runs):
        split = hide_labels(y, args.n_labeled, seed, args.hidden_share)
        if seed == args.seed:
            print_split(y, split)
        train = np.concatenate([split.unlabeled, split.anomalies])
        known = np.repeat([0, 1], [len(split.unlabeled), len(split.anomalies)])
        found = held_out_scores(args.methods, typed, columns, known, train, split.test, seed)
        for method, scores, seconds in found:
            quality = ranking_quality(y[split.test], scores)
            figures.append({"method": method, "seed": seed, "seconds": seconds, **quality})
            words = in_words if seed == args.seed else short
            print_figures(quality, f"{seconds:.1f}", seed, words(method))
    print_summary(pd.DataFrame(figures))


def hide_labels(y, n_labeled, seed, hidden_share=None):
    """The Split of protocol `independent`.

    Anomalies with hidden labels stay among the unlabelled rows until they make up hidden_share of them (None:
    the share of anomalies in the test rows).
    """
    split = split_independent(y, seed, n_labeled, 0)
    hidden = np.setdiff1d(np.flatnonzero(y), np.concatenate([split.anomalies, split.test]))
    share = y[split.test].mean() if hidden_share is None else hidden_share
    if len(hidden) > contamination_count(y[split.unlabeled], share):
        return split_independent(y, seed, n_labeled, share)
    return Split(np.concatenate([split.unlabeled, hidden]), split.anomalies, split.test)


def print_counts(table, labels):
    """Print how many anomalies there are, and what the rows without a label do to the figures."""
    n_anomalies, n_others = labels.y.sum(), (labels.y == 0).sum()
    anomalies, others = count_of(n_anomalies, *ANOMALY), count_of(n_others, "other row")
    if min(n_anomalies, n_others) < FEWEST:
        needed = f"to hold out 20%, evaluate needs at least {FEWEST} of each"
        raise DataError(f"{table.path} has {anomalies} and {others}: {needed}.")
    print(f"{len(labels.y):,} rows of {table.path}: {anomalies}.")
    if labels.unlabeled.any():
        rows = "row without an anomaly label counts", "rows without an anomaly label count"
        say(
            f"The {count_of(labels.unlabeled.sum(), *rows)} as normal. If anomalies hide among them, all "
            "AUC-PR and precisions below are too low; which method is best changes little."
        )


def print_split(y, split):
    """Print the numbers of rows, the heading of the table, and what guessing would give."""
    unlabelled = count_of(len(split.unlabeled), "unlabelled row")
    labelled = count_of(len(split.anomalies), *(f"labelled {words}" for words in ANOMALY))
    truth = y[split.test]
    say(
        f"Held out: {count_of(len(truth), 'row')}, {count_of(truth.sum(), *ANOMALY)} "
        f"(base rate {truth.mean():.4f}). For training: {labelled} and {unlabelled}, "
        f"{y[split.unlabeled].sum():,} of them anomalies with hidden labels. "
        "Top N: precision among the N highest scores."
    )
    guessing = dict.fromkeys(ranking_quality(truth, np.zeros(len(truth))), truth.mean()) | {"AUC-ROC": 0.5}
    print_line("  ".join((*(name.rjust(6) for name in guessing), "seconds", "seed  ")), "method")
    print_figures(guessing, "", "", "guessing")


def print_figures(values, seconds, seed, words):
    cells = [f"{value:{max(6, len(name))}.4f}" for name, value in values.items()]
    print_line("  ".join((*cells, f"{seconds:>7}", f"{seed:>4}  ")), words)


def print_summary(figures):
    """Print means over several runs, and which method to take; figures: a row per run."""
    means = figures.groupby("method", sort=False).mean(numeric_only=True)
    n_runs, best = figures["seed"].nunique(), means[METRIC].idxmax()
    taken = f"{short(best)} (--method {best})"
    if n_runs == 1:
        first = f"Highest {METRIC}: {taken}. " if len(means) > 1 else ""
        say(f"{first}One run says little about other rows and other labels: repeat it with --runs 10.")
        return
    scores = figures.pivot(index="seed", columns="method", values=METRIC)
    others = [method for method in means.index if method != best]
    leads = {method: interval(scores[best] - scores[method], len(others)) for method in others}
    print(f"\nMeans over {n_runs} runs, and how far behind the best, ± half the 95% interval:")
    print_line(f"{METRIC:14}  AUC-ROC  {'behind':14}  seconds  ", "method")
    for method, row in means.iterrows():
        mean = "{:.4f} ±{:.4f}".format(*interval(scores[method]))
        behind = "{:.4f} ±{:.4f}".format(*leads[method]) if method in leads else ""
        print_line(
            f"{mean:14}   {row['AUC-ROC']:.4f}  {behind:14}  {row['seconds']:7.1f}  ", in_words(method)
        )
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
