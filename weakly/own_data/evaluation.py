"""Test detectors on a table whose labels are all known, with most labels hidden from the detectors.

    for one in hidden_label_runs(table, y, kinds, ["prenet", "xgboost"], range(10), n_labeled=60):
        print(one.method, one.seed, ranking_quality(one.y, one.scores))

All methods of one seed have the same split, so their results can be compared pair by pair.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from weakly.errors import DataError
from weakly.loading.splits import Split, contamination_count, split_independent
from weakly.own_data.calibration import scaled_scores
from weakly.own_data.held_out import cross_fitted_calibration, encoded_split, held_out_scores


class Run(NamedTuple):
    """Labels and scores of the test rows for one method and seed and, if requested, their calibration."""

    method: str
    seed: int
    y: np.ndarray
    scores: np.ndarray
    calibration: Any = None
    scaled: np.ndarray | None = None  # scores between 0 and 1 without calibration


def hide_labels(y, n_labeled, seed, hidden_share=None, is_test=None):
    """Positions of unlabelled and labelled training rows and of test rows; how many anomalies are left out.

    The split is that of protocol `independent`, unless is_test (n,) says which rows are test rows. Anomalies
    with hidden labels stay among the unlabelled rows until they make up hidden_share of them (None: the share
    of anomalies in the test rows). The rest is left out.
    """
    given = is_test is not None
    split = labels_hidden(y, is_test, n_labeled, seed) if given else split_independent(y, seed, n_labeled, 0)
    hidden = np.setdiff1d(np.flatnonzero(y), np.concatenate([split.anomalies, split.test]))
    share = y[split.test].mean() if hidden_share is None else hidden_share
    wanted = contamination_count(y[split.unlabeled], share)
    if len(hidden) <= wanted:
        return np.concatenate([split.unlabeled, hidden]), split.anomalies, split.test, 0
    if given:
        kept = np.random.default_rng([seed, 2]).choice(hidden, wanted, replace=False)
        unlabeled = np.concatenate([split.unlabeled, kept])
    else:
        unlabeled = split_independent(y, seed, n_labeled, share).unlabeled
    return unlabeled, split.anomalies, split.test, len(hidden) - wanted


def labels_hidden(y, is_test, n_labeled, seed):
    """The split with these test rows and no hidden anomaly."""
    if not 0 < y[is_test].sum() < is_test.sum() or not 0 < y[~is_test].sum() < (~is_test).sum():
        raise DataError(
            f"{y[is_test].sum():,} of the {is_test.sum():,} latest rows are anomalies, and "
            f"{y[~is_test].sum():,} of the {(~is_test).sum():,} earlier ones: "
            "both parts must have anomalies and other rows."
        )
    rng = np.random.default_rng([seed, 1])
    anomalies = rng.permutation(np.flatnonzero((y == 1) & ~is_test))
    return Split(np.flatnonzero((y == 0) & ~is_test), anomalies[:n_labeled], np.flatnonzero(is_test))


def hidden_label_runs(table, y, kinds, methods, seeds, *, n_labeled, hidden_share=None, is_test=None,
                      calibrate=None, tell=lambda *split: None):  # fmt: skip
    """Fit and score every method on the split of every seed, and yield each Run as it ends.

    table has typed columns; tell is called with the result of hide_labels for the first seed.
    """
    for seed in seeds:
        unlabeled, anomalies, test, n_left_out = hide_labels(y, n_labeled, seed, hidden_share, is_test)
        if seed == seeds[0]:
            tell(unlabeled, anomalies, test, n_left_out)
        train = np.concatenate([unlabeled, anomalies])
        labels = np.repeat([0, 1], [len(unlabeled), len(anomalies)])
        X, X_test = encoded_split(table, kinds, train, test)
        for method in methods:
            scores = held_out_scores(method, X, labels, X_test, seed)
            one = Run(method, seed, y[test], scores)
            if calibrate:
                rows = table.iloc[train]
                calibration, fitted = cross_fitted_calibration(calibrate, method, rows, kinds, labels, seed)
                one = one._replace(calibration=calibration, scaled=scaled_scores(scores, fitted))
            yield one


def ranking_quality(y, scores):
    """AUC-ROC, AUC-PR and the precision among the highest scores."""
    ranked = y[np.argsort(-scores, kind="stable")]
    areas = {"AUC-ROC": roc_auc_score(y, scores), "AUC-PR": average_precision_score(y, scores)}
    counts = sorted({k for k in (10, 50, 100, int(ranked.sum())) if k <= len(ranked)})
    return areas | {f"precision at {k}": ranked[:k].mean() for k in counts}


def quality_of_guessing(y):
    """The same for random scores, on average: the base rate, except for AUC-ROC, which is 0.5."""
    names = ranking_quality(y, np.zeros(len(y)))
    return {name: 0.5 if name == "AUC-ROC" else float(y.mean()) for name in names}
