"""detect.py evaluate: measure how well methods work on a labelled table. `fit` chooses one by its parts.

    figures = compared(methods, table, columns, y, splits, seeds)           # a row per split and method
    method, why = choose_method(table, columns, y, is_normal, seed)

To choose, the labelled anomalies and at most 10,000 other rows are split into three parts. Each method learns
from two and scores the third, in which rows without a label count as normal. The highest mean AUC-ROC wins:
with few anomalies, and others hidden among the rows, it picks better methods than AUC-PR does.
Candidates and rule were chosen on 14 of ADBench's sets and 6 of the paper's, which flatters them (70/30
splits, at most 5,000 rows, one draw). Mean test AUC-PR with 20 and 60 labels: chosen .742, .827; PReNet .718,
.794; CatBoost .718, .815 (300 trees unless chosen). With 5, PReNet is the best single method: .671. Switches
for balanced classes lowered the mean of every method.
"""

import time

import numpy as np
import pandas as pd
from scipy.stats import t
from sklearn.metrics import average_precision_score, roc_auc_score
from tqdm import tqdm

from weakly.command_line import parse_names, positive, print_line, rate, say
from weakly.errors import DataError
from weakly.loading.files import bounded_memory
from weakly.loading.splits import TEST_SHARE, contamination_count, split_independent
from weakly.methods import METHODS
from weakly.numbers import count_of
from weakly.own_data.arguments import add_table_arguments, add_training_arguments, notation_of
from weakly.own_data.labels import ANOMALY, columns_to_use, labelled_rows, print_labels
from weakly.own_data.models import SAVED_METHODS, in_words, new_pipeline, short, unfit_reported
from weakly.own_data.tables import Table

CANDIDATES = ("prenet", "logistic-converged", "catboost", "xgbod")
DEFAULT = "prenet"
FEWEST_LABELS = 10  # with which a choice is better than the default
FOLDS, MOST_OTHERS = 3, 10_000
FEWEST = 5  # anomalies, and other rows, to evaluate
DESCRIPTION = (
    "Holds out 20% of the rows, hides the labels of all but --n-labeled training anomalies, fits, and scores "
    "the held-out rows. Anomalies with hidden labels stay among the unlabelled rows, but make up no larger "
    f"share there than in the test rows (the paper: 0.02). Methods: {', '.join(SAVED_METHODS)}."
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
    print_labels(table, labels)
    y = (labels == ANOMALY).astype(np.int64)
    if min(y.sum(), (y == 0).sum()) < FEWEST:
        needed = f"at least {FEWEST} anomalies and {FEWEST} other rows"
        raise DataError(f"To hold out 20% of its rows, {table.path} must have {needed}.")
    say(
        "All rows without an anomaly label count as normal. If anomalies hide among them, all AUC-PR and "
        "precisions below are too low; which method is best changes little."
    )
    columns, typed = columns_to_use(table, raw, labels)
    del raw  # as large as all else together
    seeds = range(args.seed, args.seed + args.runs)
    splits = [hide_labels(y, args.n_labeled, seed, args.hidden_share) for seed in seeds]
    train, is_labelled, test = splits[0]
    labelled = count_of(is_labelled.sum(), "labelled anomaly", "labelled anomalies")
    say(
        f"Held out: {count_of(len(test), 'row')}, {y[test].sum():,} of them anomalies (guessing has AUC-PR "
        f"{y[test].mean():.4f}). For training: {labelled} and {(is_labelled == 0).sum():,} unlabelled rows, "
        f"{(y[train] - is_labelled).sum():,} of them anomalies with hidden labels."
    )
    print_summary(compared(args.methods, typed, columns, y, splits, seeds))


def hide_labels(y, n_labeled, seed, hidden_share=None):
    """Training rows, which of them have a label (1), and test rows, split as by protocol `independent`.

    Hidden anomalies make up at most hidden_share of the unlabelled rows (None: their share of the test rows).
    """
    split = split_independent(y, seed, n_labeled, 0)
    hidden = np.setdiff1d(np.flatnonzero(y), np.concatenate([split.anomalies, split.test]))
    share = y[split.test].mean() if hidden_share is None else hidden_share
    if len(hidden) > contamination_count(y[split.unlabeled], share):
        split, hidden = split_independent(y, seed, n_labeled, share), hidden[:0]
    unlabeled = np.concatenate([split.unlabeled, hidden])
    is_labelled = np.repeat([0, 1], [len(unlabeled), len(split.anomalies)])
    return np.concatenate([unlabeled, split.anomalies]), is_labelled, split.test


def print_summary(figures):
    """Print the mean figures of the methods, and which one to take; figures: a row per run and method."""
    means, n_runs = means_of(figures), figures["seed"].nunique()
    best = means["AUC-PR"].idxmax()
    taken = f"{short(best)} (--method {best})"
    if n_runs == 1:
        print_figures(means)
        first = f" Highest AUC-PR: {taken}." if len(means) > 1 else ""
        advice = "One run says little about other rows and other labels: repeat it with --runs 10."
        say(f"Top N: precision among the N highest scores.{first} {advice}")
        return
    scores = figures.pivot(index="seed", columns="method", values="AUC-PR")
    shown = means[["AUC-PR", "AUC-ROC", "seconds"]]
    shown.insert(1, "±", [interval(scores[method])[1] for method in means.index])
    leads = [interval(scores[best] - scores[method], max(1, len(means) - 1)) for method in means.index]
    shown.insert(2, "behind", [lead for lead, _ in leads])
    shown.insert(3, "± ", [half for _, half in leads])
    say(f"Means over {n_runs} runs, and how far behind the best, each with half its 95% interval:")
    print_figures(shown)
    unclear = shown.index[(shown["behind"] <= shown["± "]) & (shown.index != best)]
    if len(unclear):
        say(f"No clear winner: the lead of {taken} over {', '.join(map(short, unclear))} may be chance.")
    elif len(means) > 1:
        say(f"Take {taken}: its AUC-PR is clearly the highest.")


def interval(values, n_intervals=1):
    """Mean and half width of the 95% interval of values from at least two runs.

    Because runs share most of their rows, the variance of a mean over n runs is s^2 (1/n + test rows /
    training rows) (Nadeau and Bengio, 2003). Several intervals hold jointly (Bonferroni).
    """
    n_runs = len(values)
    quantile, overlap = t.ppf(1 - 0.05 / (2 * n_intervals), n_runs - 1), TEST_SHARE / (1 - TEST_SHARE)
    return np.mean(values), quantile * np.std(values, ddof=1) * np.sqrt(1 / n_runs + overlap)


# ---------------------------------------------------------------------------- the choice of fit


def choose_method(table, columns, y, is_normal, seed):
    """The method with the highest AUC-ROC, and why, in words; prints the comparison.

    table is typed; y (n,): 1 for a labelled anomaly; is_normal (n,): whether a row is known to be normal.
    """
    anomalies, others = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    n_others = len(others)
    if not len(anomalies):
        why = "No row is labelled as an anomaly: isolation forest looks for rows that are unlike the others."
        say(f"{why} With labels, fit learns what you look for; `detect.py next` proposes rows to check.")
        return "iforest", why
    if len(anomalies) < FEWEST_LABELS or n_others < FOLDS:
        labelled = count_of(len(anomalies), "labelled anomaly is", "labelled anomalies are")
        why = f"{labelled} too few to compare methods; {short(DEFAULT)} does best with so few."
        say(f"{why} With {FEWEST_LABELS}, fit compares; --method names another one.")
        return DEFAULT, why
    rng = np.random.default_rng([seed, 3])
    if n_others > MOST_OTHERS:
        others = rng.choice(others, MOST_OTHERS, replace=False)
    counted = "" if is_normal[others].all() else "; those without a label count as normal"
    data = f"{len(anomalies):,} labelled anomalies and {len(others):,} of the {n_others:,} other rows"
    say(f"Comparing {len(CANDIDATES)} methods by {FOLDS}-fold cross-validation on {data}{counted}:")
    parts = [np.array_split(rng.permutation(rows), FOLDS) for rows in (anomalies, others)]
    folds = [np.concatenate(rows) for rows in zip(*parts)]
    trains = [np.concatenate(folds[:place] + folds[place + 1 :]) for place in range(FOLDS)]
    splits = [(train, y[train], test) for train, test in zip(trains, folds)]
    means = means_of(compared(CANDIDATES, table, columns, y, splits, [seed] * FOLDS))
    print_figures(means[["AUC-ROC", "AUC-PR", "seconds"]])
    name = means["AUC-ROC"].idxmax()
    areas = ", ".join(f"{in_words(method)} {area:.3f}" for method, area in means["AUC-ROC"].items())
    why = f"{short(name)} has the highest AUC-ROC in {FOLDS}-fold cross-validation."
    say(f"{why} Of few anomalies, this is a better guide than AUC-PR. --method names another method.")
    return name, f"{why} AUC-ROC: {areas}."


# ---------------------------------------------------------------------------- comparisons


def compared(methods, table, columns, y, splits, seeds):
    """A row of figures for each split and method; says which methods cannot be fitted, and leaves them out.

    Splits are (training rows, their labels, test rows), rows as positions, each with the seed of its fits.
    Methods of the same kind share their encoding.
    """
    figures, failed = [], set()
    with tqdm(total=len(splits) * len(methods), unit="fit", disable=None, leave=False) as bar:
        for (train, labels, test), seed in zip(splits, seeds):
            encoded = {}
            for method in [name for name in methods if name not in failed]:
                encoder, detector = new_pipeline(method, columns, len(train), seed).named_steps.values()
                kind = METHODS[method].is_tree
                if kind not in encoded:
                    with bounded_memory("Encoding the table"), np.errstate(over="ignore", invalid="ignore"):
                        X = encoder.fit_transform(table.iloc[train][list(columns)])
                        encoded[kind] = X, encoder.transform(table.iloc[test][list(columns)])
                X, X_test = encoded[kind]
                start = time.perf_counter()
                try:
                    with unfit_reported(method):
                        detector.fit_rows(X, np.flatnonzero(labels == 0), np.flatnonzero(labels == 1))
                        scores = detector.decision_function(X_test)
                except DataError as error:
                    say(str(error))
                    failed.add(method)
                    continue
                seconds = time.perf_counter() - start
                quality = ranking_quality(y[test], scores)
                figures.append({"method": method, "seed": seed, **quality, "seconds": seconds})
                bar.update()
    figures = [row for row in figures if row["method"] not in failed]
    if not figures:
        raise DataError("None of the methods can be fitted to this table.")
    return pd.DataFrame(figures)


def ranking_quality(y, scores):
    """AUC-PR, AUC-ROC and the precision among the highest scores."""
    ranked = y[np.argsort(-scores, kind="stable")]
    areas = {"AUC-PR": average_precision_score(y, scores), "AUC-ROC": roc_auc_score(y, scores)}
    counts = sorted({k for k in (10, 50, 100, int(ranked.sum())) if k <= len(ranked)})
    return areas | {f"top {k}": ranked[:k].mean() for k in counts}


def means_of(figures):
    """The mean figures of each method, as its index, in the order of the methods."""
    return figures.groupby("method", sort=False).mean().drop(columns="seed")


def print_figures(figures):
    """Print a line of figures for each method, which the index names."""
    seconds = {"seconds": "{:.1f}".format}
    cells = figures.to_string(index=False, float_format="{:.4f}".format, formatters=seconds)
    for line, words in zip(cells.splitlines(), ["method", *map(in_words, figures.index)]):
        print_line(f"{line}  ", words)
