"""Compare methods on a user's own table, and which one `fit` takes if none is named: the best of four.

    figures = compared(methods, table, columns, y, splits, seeds)          # a row per split and method
    method, choice = choose_method(table, columns, y, is_normal, seed)      # choice: plain values, with why

To choose, the labelled anomalies and at most 10,000 other rows are split into three parts. Each method learns
from two and scores the third, in which rows without a label count as normal. The highest mean AUC-ROC wins:
with few anomalies, and others hidden among the rows, it picks better methods than AUC-PR does.

Candidates and rule were chosen on 14 of ADBench's sets and 6 of the paper's, which therefore flatter them:
70/30 splits, 5,000 rows of large sets, the other training anomalies without a label, one draw. Test AUC-PR
by number of labels, means over the 20 sets (* CatBoost with 300 trees where it is not the chosen one):

labels             5      10     20     60
chosen             -      .702*  .742   .827
PReNet             .671   .687   .718   .794
CatBoost           .570*  .668*  .718*  .815*
best of the four   .707*  .730*  .767*  .844*

With fewer than 10 labels there is too little to compare, and PReNet is the best single method. Switches for
balanced classes lowered the mean of every method, so none is set.
"""

import time

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score
from tqdm import tqdm

from weakly.command_line import print_line, say
from weakly.errors import DataError
from weakly.loading.files import bounded_memory
from weakly.methods import METHODS
from weakly.numbers import count_of
from weakly.own_data.models import in_words, new_pipeline, short, unfit_reported

CANDIDATES = ("prenet", "logistic-converged", "catboost", "xgbod")
DEFAULT = "prenet"
FEWEST_LABELS = 10  # with which a choice is better than the default
FOLDS, MOST_OTHERS = 3, 10_000


def choose_method(table, columns, y, is_normal, seed):
    """The method with the highest AUC-ROC, and why, as plain values; prints the comparison.

    table is typed; y (n,): 1 for a labelled anomaly; is_normal (n,): whether a row is known to be normal.
    """
    anomalies, others = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    n_others = len(others)
    if len(anomalies) < FEWEST_LABELS or n_others < FOLDS:
        labelled = count_of(len(anomalies), "labelled anomaly is", "labelled anomalies are")
        enough = f"too few to compare methods ({FEWEST_LABELS} are enough)"
        why = f"{labelled} {enough}, so {short(DEFAULT)} was taken, which does best with so few."
        say(f"{why} --method names another one.")
        return DEFAULT, {"why": why, "rows": []}
    rng = np.random.default_rng([seed, 3])
    if n_others > MOST_OTHERS:
        others = rng.choice(others, MOST_OTHERS, replace=False)
    counted = "" if is_normal[others].all() else "; those without a label count as normal"
    say(
        f"Comparing {len(CANDIDATES)} methods by {FOLDS}-fold cross-validation on the {len(anomalies):,} "
        f"labelled anomalies and {len(others):,} of the {n_others:,} other rows{counted}:"
    )
    parts = [np.array_split(rng.permutation(rows), FOLDS) for rows in (anomalies, others)]
    folds = [np.concatenate(rows) for rows in zip(*parts)]
    trains = [np.concatenate(folds[:place] + folds[place + 1 :]) for place in range(FOLDS)]
    splits = [(train, y[train], test) for train, test in zip(trains, folds)]
    means = means_of(compared(CANDIDATES, table, columns, y, splits, [seed] * FOLDS))
    print_figures(means[["AUC-ROC", "AUC-PR", "seconds"]])
    name = means["AUC-ROC"].idxmax()
    rows = [{"method": method, "auc_roc": area} for method, area in means["AUC-ROC"].items()]
    why = f"{short(name)} has the highest AUC-ROC in {FOLDS}-fold cross-validation."
    say(f"{why} Of few anomalies, this is a better guide than AUC-PR. --method names another method.")
    return name, {"why": why, "rows": rows}


def compared(methods, table, columns, y, splits, seeds):
    """A row of figures for each split and method; says which methods cannot be fitted, and leaves them out.

    Splits are (training rows, their labels, test rows), rows as positions, each with the seed of its fits.
    Methods of the same kind share their encoding.
    """
    figures, failed = [], set()
    with tqdm(total=len(splits) * len(methods), unit="fit", disable=None, leave=False) as bar:
        for (train, labels, test), seed in zip(splits, seeds):
            encoded = {}
            for method in methods:
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
                    say(str(error)) if method not in failed else None
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
    """Print a line of figures for each method, which the index names; those that are missing stay empty."""
    decimals = {"seconds": 1}
    texts = {
        name: [f"{value:.{decimals.get(name, 4)}f}" if value == value else "" for value in figures[name]]
        for name in figures
    }
    widths = {name: max(map(len, [name, *cells])) for name, cells in texts.items()}
    print_line("  ".join(name.rjust(width) for name, width in widths.items()) + "  ", "method")
    for place, method in enumerate(figures.index):
        cells = [cells[place].rjust(widths[name]) for name, cells in texts.items()]
        print_line("  ".join(cells) + "  ", in_words(method) if method in METHODS else method)
