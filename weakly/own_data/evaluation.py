"""Measure methods on rows that they have not seen, with most labels hidden from them.

    unlabeled, anomalies, test, n_left_out = hide_labels(y, n_labeled=60, seed=0)
    train, labels = np.concatenate([unlabeled, anomalies]), np.repeat([0, 1], [len(unlabeled), len(anomalies)])
    for method, scores, seconds in held_out_scores(methods, table, columns, labels, train, test, seed=0):
        print(method, ranking_quality(y[test], scores))

All methods of one seed have the same split, so their results can be compared pair by pair.
"""

import time

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from weakly.errors import DataError
from weakly.loading.files import bounded_memory
from weakly.loading.splits import TEST_SHARE, Split, contamination_count, split_independent
from weakly.methods import METHODS
from weakly.own_data.models import new_pipeline, unfit_reported

CONFIDENCE = 0.95


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


def hide_labels(y, n_labeled, seed, hidden_share=None, is_test=None):
    """Positions of unlabelled and labelled training rows and of test rows; how many anomalies are left out.

    The split is that of protocol `independent`, unless is_test (n,) says which rows are test rows. Anomalies
    with hidden labels stay among the unlabelled rows until they make up hidden_share of them (None: the share
    of anomalies in the test rows). The rest is left out.
    """
    if is_test is None:
        split = split_independent(y, seed, n_labeled, 0)
    else:
        split = split_at(is_test, y, seed, n_labeled)
    hidden = np.setdiff1d(np.flatnonzero(y), np.concatenate([split.anomalies, split.test]))
    share = y[split.test].mean() if hidden_share is None else hidden_share
    wanted = contamination_count(y[split.unlabeled], share)
    n_left_out = max(0, len(hidden) - wanted)
    if n_left_out and is_test is None:
        return split_independent(y, seed, n_labeled, share).unlabeled, split.anomalies, split.test, n_left_out
    if n_left_out:
        hidden = np.random.default_rng([seed, 2]).choice(hidden, wanted, replace=False)
    return np.concatenate([split.unlabeled, hidden]), split.anomalies, split.test, n_left_out


def split_at(is_test, y, seed, n_labeled):
    """The split with these test rows and no hidden anomaly."""
    if any(len(np.unique(y[rows])) < 2 for rows in (is_test, ~is_test)):
        raise DataError(
            f"{y[is_test].sum():,} of the {is_test.sum():,} latest rows are anomalies, and "
            f"{y[~is_test].sum():,} of the {(~is_test).sum():,} earlier ones: both parts must have anomalies "
            "and other rows."
        )
    anomalies = np.random.default_rng([seed, 1]).permutation(np.flatnonzero((y == 1) & ~is_test))
    return Split(np.flatnonzero((y == 0) & ~is_test), anomalies[:n_labeled], np.flatnonzero(is_test))


def latest_rows(times, name):
    """Whether each row is among the latest 20%, as nearly as possible: rows with the same time stay together.

    Of all cuts between different times, the one nearest to 20% is taken.
    """
    ranked = np.sort(times)
    cuts = np.flatnonzero(np.diff(ranked) > 0) + 1  # how many rows come before each cut
    if len(cuts) == 0:
        raise DataError(f"Column {name!r} of --time has the same time in all rows, so it cannot split them.")
    cut = cuts[np.abs(cuts - (1 - TEST_SHARE) * len(ranked)).argmin()]
    return times >= ranked[cut]


def ranking_quality(y, scores):
    """AUC-PR, AUC-ROC and the precision among the highest scores."""
    ranked = y[np.argsort(-scores, kind="stable")]
    areas = {"AUC-PR": average_precision_score(y, scores), "AUC-ROC": roc_auc_score(y, scores)}
    counts = sorted({k for k in (10, 50, 100, int(ranked.sum())) if k <= len(ranked)})
    return areas | {f"top {k}": ranked[:k].mean() for k in counts}


def interval(values, overlap=0.0, n_intervals=1):
    """(mean, low, high) of values from at least two runs; overlap: test rows / training rows.

    Runs share most of their rows, which the usual t interval ignores: with the correction of Nadeau and
    Bengio (2003), the variance of a mean over n runs is s^2 (1/n + overlap). The coverage is 95%, that of
    several intervals jointly (Bonferroni).
    """
    from scipy.stats import t

    values = np.asarray(values, float)
    n_runs = len(values)
    quantile = t.ppf(1 - (1 - CONFIDENCE) / (2 * n_intervals), n_runs - 1)
    half = quantile * values.std(ddof=1) * np.sqrt(1 / n_runs + overlap)
    return values.mean(), values.mean() - half, values.mean() + half
