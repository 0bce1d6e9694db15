"""Odd numbers: features of any size, constant columns, and hardly any rows.

Each ends in finite scores or in one sentence that says what is wrong, without warnings on the way.
"""

import functools
import warnings

import numpy as np
import pytest
from scipy import sparse
from toys import two_clusters

from weakly.methods import make_detector, method_group
from weakly.training import keras_detector
from weakly.training.input_checks import UnscaledFeaturesWarning
from weakly.training.keras_detector import KerasDetector

SMALL = {"epochs": 3, "batches_per_epoch": 2, "batch_size": 16}
SETTINGS = {  # of those that have others
    "iforest": {"n_trees": 10},
    "logistic": {},
    "xgboost": {},
    "xgbod": {"n_estimators": 3, "svm_rows": 20},
    "feawad": SMALL | {"pretraining_epochs": 2, "encoder": (4,), "scorer": (4,)},
}
# of today's, one of each kind; cross-entropy is DevNet's network and batches with another loss
DETECTORS = [*method_group("table", "appendix"), "logistic", "xgboost", "rosas"]
NETWORKS = [name for name in DETECTORS if isinstance(make_detector(name), KerasDetector)]
KINDS = [(name, np.asarray) for name in DETECTORS]
KINDS += [(name, sparse.csr_matrix) for name in DETECTORS if make_detector(name).takes_sparse]
EACH = pytest.mark.parametrize("name, matrix", KINDS, ids=[f"{name}-{kind.__name__}" for name, kind in KINDS])
LABELS = np.repeat([0, 1], [110, 10])


@pytest.fixture(autouse=True)
def no_warnings(monkeypatch):
    """A warning fails a test, but for one that is given on purpose; XGBOD has few of its trees."""
    monkeypatch.setattr("xgbod.FOREST_TREES", (2, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UnscaledFeaturesWarning)
        yield


@pytest.fixture(autouse=True, scope="module")
def compiled_once():
    """Every graph is kept: eight, as otherwise, are too few for tests that go through all methods."""
    with pytest.MonkeyPatch.context() as patch:
        compiled = functools.cache(keras_detector._compiled_trainer.__wrapped__)
        patch.setattr("weakly.training.keras_detector._compiled_trainer", compiled)
        yield


def rows():
    """120 rows of 6 features: normals around 0.3, and 10 anomalies around 0.7 at the end."""
    return two_clusters(n_normals=110, n_anomalies=10)[0].astype(np.float64)


def small_detector(name):
    return make_detector(name, **SETTINGS.get(name, SMALL))


def fit_and_score(name, matrix, X, y, X_new):
    """Scores of X_new by a detector fitted on X, after the checks that hold for all of them."""
    detector = small_detector(name).fit(matrix(X), y)
    scores = detector.decision_function(matrix(X_new))
    assert scores.shape == (len(X_new),) and np.isfinite(scores).all() and np.isfinite(detector.offset_)
    return scores


@functools.cache
def usual_detector(name, matrix):
    return small_detector(name).fit(matrix(rows()), LABELS)


# ---------------------------------------------------------------------------- odd rows


def with_column(values):
    return np.column_stack([values, rows()[:, 1:]])


ODD_ROWS = {
    "one feature of range 1e10": with_column(rows()[:, 0] * 1e10),
    "columns of zeros": rows() * [1, 0, 1, 0, 0, 1],
    "equal rows": np.full((120, 6), 0.5),
    "subnormal": rows() * 1e-40,
    "squares vanish": rows() * 1e-30,
    "labelled anomalies among the unlabelled": np.concatenate([rows()[110:], rows()[10:]]),
    "pairs of equal rows": rows()[60:].repeat(2, axis=0),
}


@pytest.mark.parametrize("case", ODD_ROWS)
@EACH
def test_odd_rows_have_finite_scores(name, matrix, case, caplog):
    X = ODD_ROWS[case]
    scores = fit_and_score(name, matrix, X, LABELS, X)
    _, first, groups = np.unique(X, axis=0, return_index=True, return_inverse=True)
    # equal rows, equal scores
    np.testing.assert_allclose(scores, scores[first][groups.ravel()], rtol=1e-4, atol=1e-9)
    if case == "equal rows":
        assert "all 120 training rows have the same score, so it does not" in caplog.text
    elif case == "pairs of equal rows":
        assert not caplog.messages


@pytest.mark.parametrize("n_unlabeled, used, n_features", [
    (119, 120, 6), (2, 120, 6), (1, 2, 6), (20, 120, 1),
], ids=["one labelled anomaly", "two unlabelled rows", "two rows", "one feature"])  # fmt: skip
@EACH
def test_hardly_any_rows_are_enough(uncompiled, name, matrix, n_unlabeled, used, n_features):
    y, X = np.arange(used) >= n_unlabeled, rows()[:, :n_features]
    if name == "repen" and n_unlabeled == 1:  # which needs pairs of unlabelled rows
        with pytest.raises(ValueError, match="at least 2 unlabelled rows, not 1"):
            small_detector(name).fit(X[:used], y)
    else:
        fit_and_score(name, matrix, X[:used], y, X)


# ---------------------------------------------------------------------------- too large numbers


@pytest.mark.parametrize("factor", [[1e37, 1, 1, 1, 1, 1], 1e30], ids=["one feature", "all features"])
@EACH
def test_a_network_refuses_to_learn_from_huge_features(name, matrix, factor):
    X = rows() * factor
    if name not in NETWORKS:
        fit_and_score(name, matrix, X, LABELS, X)  # trees split them
        return
    with pytest.raises(ValueError, match="are the features scaled .to about 0-1") as refused:
        fit_and_score(name, matrix, X, LABELS, X)
    if name != "repen":  # whose first distances overflow before there is an epoch
        largest = f"the largest here is {np.abs(X.astype(np.float32)).max():.3g})"
        assert "in epoch 1 of" in str(refused.value) and largest in str(refused.value)


@pytest.mark.parametrize("value, message", [(np.nan, "NaN"), (np.inf, "infinity"), (-1e39, "too large")])
@EACH
def test_numbers_that_float32_cannot_hold_are_refused(name, matrix, value, message):
    X = rows()
    X[3, 2] = value
    for refuse in (lambda X: small_detector(name).fit(X, LABELS), usual_detector(name, matrix).predict):
        with pytest.raises(ValueError, match=message) as refused:
            refuse(matrix(X))
        assert "\n" not in str(refused.value)


@EACH
def test_a_row_whose_score_overflows_is_named(name, matrix):
    X = rows()
    X[[7, 20]] = [[3e38], [-3e38]]
    detector = usual_detector(name, matrix)
    if name not in NETWORKS:
        assert np.isfinite(detector.decision_function(matrix(X))).all()
        return
    with pytest.raises(ValueError, match="cannot score [12] of 120 rows, the first of them row (7|20) "):
        detector.decision_function(matrix(X))
    assert np.isfinite(detector.decision_function(matrix(X)[:7])).all()
