"""One run: what a detector learns from, what it is tested on, and what is measured.

    rows = rows_of_run(data, "released", seed=0, n_labeled=60, contamination=0.02)
    seconds = fit(detector, rows)
    measured = measure(detector, rows)

It contains only what decides the numbers, because every change invalidates all runs (code_hash).
"""

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import MinMaxScaler

from weakly.loading.arrays import load_data
from weakly.loading.registry import DATA_SETS
from weakly.loading.splits import NORMAL, ONE_DRAW, OUTSIDE_SCALED, TRAINING_COPIES, Split
from weakly.methods import METHODS, make_detector
from weakly.running.configuration import PREPARED
from weakly.source_code import hash_of_modules
from weakly.training.number_scaler import NumberScaler


class RowsOfRun(NamedTuple):
    """What one run is trained and tested on."""

    training: Any  # the matrix that the positions of the split refer to
    split: Split
    X_test: Any
    y_test: np.ndarray  # True for anomalies
    weights: Any  # of the test rows, None if they all count the same


_kept: dict[tuple, RowsOfRun] = {}  # the rows of the last run, under their key


def rows_of_run(data, protocol, seed, n_labeled, contamination, scaling=PREPARED):
    """The rows of a run on a data set; the last are kept, because `released` has one split for all seeds."""
    seed = None if protocol in ("released", TRAINING_COPIES) else seed
    set_up = (protocol, seed, n_labeled, contamination, scaling)
    key = (data.fingerprint, data.status, data.folder, data.name, *set_up)
    if key not in _kept:
        _kept.clear()  # before the next is made, so that only one is in memory
        split = data.split(protocol, seed, n_labeled, contamination)
        learned_from = np.concatenate([split.unlabeled, split.anomalies])
        X = scaled(data.X, learned_from) if protocol == OUTSIDE_SCALED else data.X
        training, X_test, y_test = split.stack(X), X[split.test], data.y[split.test] != NORMAL
        if scaling != PREPARED:
            scaler = NumberScaler(scaling).fit(training[learned_from])
            training, X_test = scaler.transform(training), scaler.transform(X_test)
        weights = paper_weights(y_test, data.paper_odds())
        _kept[key] = RowsOfRun(training, split, X_test, y_test, weights)
    return _kept[key]


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


# ---------------------------------------------------------------------------- a run of a cell


class CodeChanged(Exception):
    """The code that makes a run is not that with which it was planned."""


def code_hash(method):
    """The hash of what decides the numbers of a method's runs: 16 hexadecimal digits.

    It covers the detector's module, this one, everything of ours that they import, and library versions.
    """
    entry = METHODS[method]
    # what paper_odds reads from the table of data sets
    sizes = [(data_set.name, data_set.rows, data_set.anomalies) for data_set in DATA_SETS.values()]
    return hash_of_modules(entry.module, __name__, title=f"{entry.module}.{entry.class_name} {sizes}")


def describe_settings(detector):
    """The parameters that a detector learns with, except those that are None, in one comparable line.

    So a new option of a detector with the default None keeps earlier results valid.
    """
    parameters = sorted(detector.learning_parameters().items())
    return " ".join(f"{name}={value}" for name, value in parameters if value is not None)


def checked_code(cell):
    """The hash of the code that this process has for a cell; CodeChanged if it is not what was planned."""
    code = code_hash(cell.method)
    settings = describe_settings(make_detector(cell.method, **dict(cell.overrides)))
    if cell.code not in ("", code) or cell.settings not in ("", settings):
        raise CodeChanged("the code, a setting or a library was changed since the plan was made: start again")
    return code


def run_once(cell, run):
    """Fit and score one run of a cell, with seed = run; returns what was measured, with its data and code."""
    code = checked_code(cell)
    data = load_data(cell.dataset, cell.data_dir, cell.data_sha256, cell.data_status)
    rows = rows_of_run(data, cell.protocol, run, cell.n_labeled, cell.contamination, cell.scaling)
    detector, seconds = _fitted(cell, data, rows, detector_seed(cell.protocol, run))
    made_by = {"run": run, "seed": run, "data_sha256": data.fingerprint, "code": code}
    of_data = {"rows": data.size, "features": data.X.shape[1], "labels": len(rows.split.anomalies)}
    return measure(detector, rows) | made_by | of_data | {"fit_seconds": seconds}


_fits: dict[
    tuple, dict
] = {}  # {cell.training: {what a detector learned from: the detector and the seconds of its fit}}


def _fitted(cell, data, rows, seed):
    """A detector fitted to the rows of a run, and the seconds that its fit took.

    Table 3's sets with the same seen classes have the same training rows, so their runs share a fit.
    """
    detector = make_detector(cell.method, random_state=seed, **dict(cell.overrides))
    if "->" not in cell.dataset:
        return detector, fit(detector, rows)
    if cell.training not in _fits:
        _fits.clear()  # a worker is given the cells that share fits one after the other
    fits = _fits.setdefault(cell.training, {})
    arrays = (rows.split.unlabeled, rows.split.anomalies, rows.split.extra)
    learned_from = (data.fingerprint, seed, *(None if part is None else part.tobytes() for part in arrays))
    if learned_from not in fits:
        fits[learned_from] = detector, fit(detector, rows)
    return fits[learned_from]
