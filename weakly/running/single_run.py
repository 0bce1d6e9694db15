"""One run: what a detector learns from, what it is tested on, and what is measured.

    rows = rows_of_run(data, "released", seed=0, n_labeled=60, contamination=0.02)
    seconds = fit(detector, rows)
    measured = measure(detector, rows)

It contains only what decides the numbers, because every change invalidates all runs (configuration.py).
"""

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import MinMaxScaler

from weakly.loading.splits import NORMAL, ONE_DRAW, OUTSIDE_SCALED, Split


class RowsOfRun(NamedTuple):
    """What one run is trained and tested on."""

    training: Any  # the matrix that the positions of the split refer to
    split: Split
    X_test: Any
    y_test: np.ndarray  # True for anomalies
    weights: Any  # of the test rows, None if they all count the same


def rows_of_run(data, protocol, seed, n_labeled, contamination):
    """The rows of a run on a data set of data_prep.py."""
    split = data.split(protocol, seed, n_labeled, contamination)
    y_test = data.y[split.test] != NORMAL
    weights = paper_weights(y_test, data.paper_odds())
    X = data.X
    if protocol == OUTSIDE_SCALED:
        X = scaled(X, np.concatenate([split.unlabeled, split.anomalies]))
    return RowsOfRun(split.stack(X), split, X[split.test], y_test, weights)


def scaled(X, positions):
    """X (n, D) with every feature mapped to 0-1 by its range in the rows at positions."""
    scaler = MinMaxScaler().fit(X[positions].astype(np.float64))
    return scaler.transform(np.asarray(X, np.float64)).astype(np.float32)


def detector_seed(protocol, seed):
    """The detector's seed in a run: that of the run, or a fixed one where only one draw is varied."""
    return 0 if protocol in ONE_DRAW else seed


def paper_weights(y_test, paper_odds):
    """Weights (n,) that give the test set the paper's share of anomalies; None if it has that already."""
    if paper_odds is None:
        return None
    return np.where(y_test, paper_odds * np.count_nonzero(~y_test) / np.count_nonzero(y_test), 1.0)


def fit(detector, rows):
    """Fit a detector on the training rows; returns the seconds that it took."""
    split = rows.split
    start = time.perf_counter()
    detector.fit_rows(rows.training, split.unlabeled, split.anomalies)
    return time.perf_counter() - start


def measure(detector, rows):
    """Score the test rows with a fitted detector; returns what was measured."""
    y_test, weights = rows.y_test, rows.weights
    start = time.perf_counter()
    scores = detector.decision_function(rows.X_test)
    seconds = time.perf_counter() - start
    weighted = "" if weights is None else average_precision_score(y_test, scores, sample_weight=weights)
    return {
        "auc_roc": roc_auc_score(y_test, scores),
        "auc_pr": average_precision_score(y_test, scores),
        "auc_pr_weighted": weighted,
        "mean_score_anomalies": scores[y_test].mean(),
        "mean_score_normals": scores[~y_test].mean(),
        "score_seconds": seconds,
        "note": f"all {len(scores):,} test scores are {scores[0]:g}" if np.ptp(scores) == 0 else None,
    }
