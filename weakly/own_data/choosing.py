"""Which method `fit` takes if none is named: the best of a short comparison on the user's own table.

    method, choice = choose_method(table, columns, y, is_normal, seed)      # choice: plain values, with why

The labelled anomalies and at most 10,000 other rows are split into three parts. Each method learns from two
and scores the third, in which rows without a label count as normal. The highest mean AUC-ROC wins: with few
anomalies, and others hidden among the rows, it picks better methods than AUC-PR does.

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
from sklearn.metrics import average_precision_score, roc_auc_score

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
        labelled = "labelled anomaly is", "labelled anomalies are"
        why = (
            f"{count_of(len(anomalies), *labelled)} too few to compare methods ({FEWEST_LABELS} are enough), "
            f"so {short(DEFAULT)} was taken, which does best with so few."
        )
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
    rows = compared(table, columns, y, [np.concatenate(rows) for rows in zip(*parts)], seed)
    name = max(rows, key=lambda row: row["auc_roc"])["method"]
    why = f"{short(name)} has the highest AUC-ROC in {FOLDS}-fold cross-validation."
    say(f"{why} Of few anomalies, this is a better guide than AUC-PR. --method names another method.")
    return name, {"why": why, "rows": rows}


def compared(table, columns, y, folds, seed):
    """A row of figures for each candidate, the means over the folds (positions of rows); prints them."""
    print(heading := "  AUC-ROC  AUC-PR  seconds  method")
    rows = []
    for method in CANDIDATES:
        figures = []
        try:
            for test in folds:
                train = np.concatenate([fold for fold in folds if fold is not test])
                ((_, scores, seconds),) = held_out_scores(
                    [method], table, columns, y[train], train, test, seed
                )
                quality = ranking_quality(y[test], scores)
                figures.append((quality["AUC-ROC"], quality["AUC-PR"], seconds))
        except DataError as error:
            print_line(" " * heading.index("method"), f"{in_words(method)}: {error}")
            continue
        auc_roc, auc_pr, seconds = np.mean(figures, axis=0) * (1, 1, FOLDS)
        rows.append({"method": method, "auc_pr": auc_pr, "auc_roc": auc_roc, "seconds": round(seconds, 2)})
        print_line(f"  {auc_roc:7.4f}  {auc_pr:6.4f}  {seconds:7.1f}  ", in_words(method))
    if not rows:
        raise DataError("None of the methods can be fitted to this table: name one with --method to see why.")
    return rows


def held_out_scores(methods, table, columns, labels, train, test, seed):
    """Yield each method, its scores of the rows `test` and its seconds; labels (n,) are those of `train`.

    train and test are positions of rows. Methods of the same kind share their encoding.
    """
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
        with unfit_reported(method):
            detector.fit_rows(X, np.flatnonzero(labels == 0), np.flatnonzero(labels == 1))
            scores = detector.decision_function(X_test)
        yield method, scores, time.perf_counter() - start


def ranking_quality(y, scores):
    """AUC-PR, AUC-ROC and the precision among the highest scores."""
    ranked = y[np.argsort(-scores, kind="stable")]
    areas = {"AUC-PR": average_precision_score(y, scores), "AUC-ROC": roc_auc_score(y, scores)}
    counts = sorted({k for k in (10, 50, 100, int(ranked.sum())) if k <= len(ranked)})
    return areas | {f"top {k}": ranked[:k].mean() for k in counts}
