"""The detectors as a library: scikit-learn's checks, types, PyOD's names, scaling."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator
from toys import not_compiled, two_clusters

from iforest_baseline import IForest
from prenet import PReNet
from weakly.beyond.classifiers import Logistic, XGBoost
from weakly.methods import make_detector, method_group
from weakly.training import keras_detector
from weakly.training.input_checks import UnscaledFeaturesWarning
from weakly.training.network import tf

X, TRUTH, KNOWN = two_clusters()  # 40 of the 640 unlabelled rows are anomalies
SMALL = {"epochs": 2, "batches_per_epoch": 1, "batch_size": 8}
SETTINGS = {  # of those that have others
    "iforest": {"n_trees": 10},
    "xgboost": {},
    "xgbod": {"n_estimators": 3, "svm_rows": 20},
    "feawad": SMALL | {"pretraining_epochs": 1, "encoder": (2,), "scorer": (2,), "optimizer_name": "rmsprop"},
}
# of those of the experiment today, one with trees; the networks among them are Keras models as the others are
DETECTORS = [*method_group("table", "appendix"), "xgboost"]
EACH = pytest.mark.parametrize("name", DETECTORS, scope="module")

# All checks run on a network, on trees and on the one that needs no labels; on the others those whose outcome
# is not decided by the base class.
ALL_CHECKS = ("prenet", "xgboost", "iforest")
OWN_CHECKS = """check_parameters_default_constructible check_no_attributes_set_in_init check_estimator_repr
    check_estimators_overwrite_params check_dont_overwrite_parameters check_dict_unchanged
    check_estimators_pickle check_readonly_memmap_input check_f_contiguous_array_estimator""".split()
# What a detector that learns from labelled anomalies does not do, and the test that guards the check's aim.
OTHER_LABELS = "has labels 1 and 2, which are refused (test_types_of_rows_and_labels)"
EXPECTED_FAILURES = {
    "check_outliers_train": "fits without y, and expects 1 for normal rows and -1 for outliers from predict: "
    "here it needs labelled anomalies, or, as in PyOD, predict gives 0 and 1 (test_predict_*)",
    "check_outliers_fit_predict": "as check_outliers_train (test_fit_predict_and_score)",
    "check_estimators_dtypes": OTHER_LABELS,
    "check_classifier_data_not_an_array": OTHER_LABELS,
    "check_fit2d_1feature": OTHER_LABELS,
}
# Networks score in float32, where a row alone is rounded otherwise than one among others: whether these pass
# depends on the processor. test_scores_depend_on_the_row_alone stands in.
ROUNDING = ("check_methods_subset_invariance", "check_methods_sample_order_invariance")


def small_detector(name, **settings):
    return make_detector(name, **SETTINGS.get(name, SMALL) | settings)


def checks():
    for name in DETECTORS:
        for detector, check in estimator_checks_generator(small_detector(name), mark=None):
            what = check.func.__name__
            left_out = (
                what in ROUNDING if name == "prenet" else name not in ALL_CHECKS and what not in OWN_CHECKS
            )
            reason = EXPECTED_FAILURES.get(what)
            marks = pytest.mark.xfail(reason=reason, strict=True) if reason else ()
            if not left_out:
                yield pytest.param(detector, check, marks=marks, id=f"{name}-{what}")


@pytest.fixture(autouse=True, scope="module")
def quick():
    """The same steps, not compiled: that takes a second for each new shape of rows. XGBOD with few trees."""
    with pytest.MonkeyPatch.context() as patch, not_compiled():
        patch.setattr("xgbod.FOREST_TREES", (2, 3))
        yield
    keras_detector._compiled_trainer.cache_clear()  # nothing of this for the tests of other files


@pytest.mark.parametrize("estimator, check", checks())
def test_scikit_learn_check(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------------- not covered by the checks


@EACH
def test_scores_depend_on_the_row_alone(name):
    detector = small_detector(name).fit(X, KNOWN)
    together = detector.decision_function(X)
    alone = [detector.decision_function(X[i : i + 1])[0] for i in range(0, len(X), 30)]
    np.testing.assert_allclose(alone, together[::30], rtol=1e-4, atol=1e-5 * np.ptp(together))
    predicted = detector.predict(X)
    np.testing.assert_array_equal(predicted, together > detector.offset_)
    assert set(predicted) <= {0, 1} and predicted.dtype.kind == "i"
    assert predicted[KNOWN == 0].mean() <= 0.1  # PyOD's contamination; less where scores are equal


@pytest.mark.parametrize("name", ALL_CHECKS)
def test_types_of_rows_and_labels(name):
    numbers = np.round(100 * X).astype(np.float32)
    wanted = small_detector(name).fit(numbers, KNOWN).decision_function(numbers)
    for rows, labels in (
        (numbers.astype(int), KNOWN.astype(bool)),
        (numbers.tolist(), KNOWN.tolist()),
        (pd.DataFrame(numbers), pd.Series(KNOWN, dtype="Int64")),
    ):
        np.testing.assert_array_equal(small_detector(name).fit(rows, labels).decision_function(rows), wanted)
    others = ["anomaly", "normal"], [1, 2], [-1, 1], [0, np.nan], pd.array([1, pd.NA], "Int64"), [[0, 1]] * 2
    for labels in others:
        with pytest.raises(ValueError, match="1 .labelled anomaly. and 0 .unlabelled|1d array"):
            small_detector(name).fit(np.zeros((2, 3)), labels)


def test_fit_predict_and_score():
    detector = IForest(n_trees=20)
    predicted = detector.fit_predict(X, KNOWN)
    np.testing.assert_array_equal(predicted, IForest(n_trees=20).fit(X, KNOWN).predict(X))
    others = X[:, 0] > 0.4
    assert detector.score(X, others) == average_precision_score(others, detector.decision_function(X)) < 1
    assert detector.score(X, others, 1 + others) > detector.score(X, others)
    by_default, named = (
        cross_val_score(detector, X, TRUTH, cv=StratifiedKFold(2), scoring=scoring)
        for scoring in (None, "average_precision")
    )
    np.testing.assert_array_equal(by_default, named)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weight'"):
        detector.fit(X, KNOWN, sample_weight=KNOWN + 1.0)


def test_predict_finds_the_anomalies_that_nobody_labelled():
    tf.config.run_functions_eagerly(False)  # a thousand steps are worth compiling
    detector = PReNet().fit(X, KNOWN)
    tf.config.run_functions_eagerly(True)
    assert detector.predict(X[TRUTH == 1]).all() and detector.predict(X[TRUTH == 0]).mean() < 0.05
    detector.set_offset(X[KNOWN == 0], 40 / 640)
    np.testing.assert_array_equal(detector.predict(X), TRUTH)


@pytest.mark.parametrize("factor, label, message", [(1e38, 1, "loss became"), (1, 2, "y must hold")])
def test_a_second_fit_that_fails_leaves_no_detector_behind(factor, label, message):
    detector = PReNet(**SMALL).fit(X, KNOWN)
    with pytest.raises(ValueError, match=message):
        detector.fit(X[:, :3] * factor, KNOWN * label)
    with pytest.raises(NotFittedError):
        detector.decision_function(X)


def test_columns_that_are_no_numbers_are_named():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e", "f"])
    with pytest.raises(ValueError, match="not of a numeric type: colour, day"):
        IForest().fit(frame.assign(colour="red", day=pd.Timestamp("2020-01-01")), KNOWN)


@pytest.mark.parametrize("name", ["prenet", "iforest"])
def test_sparse_formats(name):
    rows = sparse.csr_matrix(np.where(X < 0.3, 0, X))
    wanted = small_detector(name).fit(rows, KNOWN).decision_function(rows)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        detector = small_detector(name).fit(kind(rows), KNOWN)
        np.testing.assert_array_equal(detector.decision_function(kind(rows)), wanted)


# ---------------------------------------------------------------------------- PyOD's names


@pytest.mark.parametrize("detector", [Logistic(), PReNet(**SMALL)], ids=["logistic", "prenet"])
def test_cross_val_predict_and_calibration(detector):
    assert not hasattr(detector, "classes_")
    pipeline = make_pipeline(MinMaxScaler(), detector)
    scores = cross_val_predict(pipeline, X, TRUTH, cv=StratifiedKFold(3), method="decision_function")
    assert scores.shape == TRUTH.shape and average_precision_score(TRUTH, scores) > 0.5
    calibrated = CalibratedClassifierCV(pipeline, cv=StratifiedKFold(3)).fit(X, TRUTH)
    chances = calibrated.predict_proba(X)
    assert chances.shape == (len(X), 2) and calibrated.classes_.tolist() == [0, 1]
    assert chances[:, 1].mean() == pytest.approx(TRUTH.mean(), abs=0.05)


def test_names_of_pyod():
    detector = Logistic(contamination=0.25).fit(X, KNOWN)
    np.testing.assert_array_equal(detector.decision_scores_, detector.decision_function(X))
    assert detector.threshold_ == detector.offset_
    np.testing.assert_array_equal(detector.labels_, detector.predict(X))
    assert detector.labels_[KNOWN == 0].mean() == pytest.approx(0.25, abs=0.01)
    detector.fit_rows(X, np.flatnonzero(KNOWN == 0), np.flatnonzero(KNOWN == 1))
    assert not any(hasattr(detector, name) for name in ("decision_scores_", "labels_", "threshold_"))
    for method in (detector.predict_proba, detector.predict):
        with pytest.raises(NotFittedError):
            method(X)


def test_predict_proba_by_hand():
    detector = Logistic().fit([[0.0], [0.1], [0.2], [1.0]], [0, 0, 0, 1])
    detector.model_.coef_, detector.model_.intercept_ = np.array([[1.0]]), np.array([0.0])
    detector.decision_scores_ = np.array([1.0, 3.0, 5.0])
    # below the lowest, a quarter of the way up, above the highest
    expected = [[1, 0], [0.75, 0.25], [0, 1]]
    np.testing.assert_allclose(detector.predict_proba([[0.0], [2.0], [9.0]]), expected)
    detector.decision_scores_ = np.array([1.0, 1.0])  # all equal
    np.testing.assert_allclose(detector.predict_proba([[1.0], [1.5]]), [[1, 0], [0.5, 0.5]])


# ---------------------------------------------------------------------------- features


def test_parts_of_a_linear_score_by_hand():
    detector = Logistic().fit([[0, 0, 0], [1, 2, 0], [0, 1, 4]], [0, 1, 0])  # medians 0, 1 and 0
    detector.model_.coef_ = np.array([[2.0, -1.0, 3.0]])
    # first row: 2 (1 - 0), then nothing; second: nothing, then -1 (0 - 1) and 3 (1 - 0)
    np.testing.assert_allclose(detector.explain([[1, 1, 0], [0, 0, 1]]), [[2, 0, 0], [0, 1, 3]])
    with pytest.raises(TypeError, match="dense rows only"):
        detector.explain(sparse.csr_matrix((1, 3)))
    with pytest.raises(NotFittedError, match="keeps the medians"):
        Logistic().fit(sparse.csr_matrix(np.eye(3)), [0, 0, 1]).explain(np.eye(3))


@pytest.mark.parametrize("change, found", [
    (lambda X: X * [1, 100, 1, 1, 1, 1], "feature 1 .counted from 0. has values of about 37"),
    (lambda X: X + 10, "has values of about 10"),
    (lambda X: X / 100, "no value is above 0.00"),
])  # fmt: skip
def test_unscaled_features_give_a_warning_that_says_what_to_do(change, found):
    for rows in (change(X), sparse.csr_matrix(change(X))):
        with pytest.warns(UnscaledFeaturesWarning, match=found) as caught:
            PReNet(**SMALL).fit(rows, KNOWN)
        assert "make_pipeline(MinMaxScaler(), PReNet())" in str(caught[0].message)
        assert caught[0].filename == __file__


def test_scaled_features_trees_and_runs_give_no_warning():
    positions = np.flatnonzero(KNOWN == 0), np.flatnonzero(KNOWN == 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PReNet(**SMALL).fit(X, KNOWN)
        make_pipeline(StandardScaler(), PReNet(**SMALL)).fit(1000 * X, KNOWN)
        PReNet(**SMALL).fit_rows(50 * X, *positions)
        for detector in (XGBoost(), IForest(n_trees=5), Logistic()):
            detector.fit(1000 * X, KNOWN)
