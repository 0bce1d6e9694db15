"""The names of scikit-learn's classifiers and of PyOD, reasons of a score, scaling, what is refused."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from toys import not_compiled, two_clusters

from iforest_baseline import IForest
from prenet import PReNet
from weakly.beyond.classifiers import Logistic, XGBoost
from weakly.methods import make_detector
from weakly.running.single_run import describe_settings
from weakly.training import keras_detector
from weakly.training.input_checks import UnscaledFeaturesWarning

SMALL = {"epochs": 1, "batches_per_epoch": 1, "batch_size": 8}


@pytest.fixture(autouse=True, scope="module")
def few_steps_not_compiled():
    with not_compiled():
        yield
    keras_detector._compiled_trainer.cache_clear()  # nothing of this for the tests of other files


@pytest.mark.parametrize("detector", [Logistic(), PReNet(**SMALL)], ids=["logistic", "prenet"])
def test_cross_val_predict_and_calibration(detector):
    X, truth, _ = two_clusters()
    assert not hasattr(detector, "classes_")
    pipeline = make_pipeline(MinMaxScaler(), detector)
    scores = cross_val_predict(pipeline, X, truth, cv=StratifiedKFold(3), method="decision_function")
    assert scores.shape == truth.shape and average_precision_score(truth, scores) > 0.5
    calibrated = CalibratedClassifierCV(pipeline, cv=StratifiedKFold(3)).fit(X, truth)
    chances = calibrated.predict_proba(X)
    assert chances.shape == (len(X), 2) and calibrated.classes_.tolist() == [0, 1]
    assert chances[:, 1].mean() == pytest.approx(truth.mean(), abs=0.05)


def test_names_of_pyod():
    X, _, known = two_clusters()
    detector = Logistic(contamination=0.25).fit(X, known)
    np.testing.assert_array_equal(detector.decision_scores_, detector.decision_function(X))
    assert detector.threshold_ == detector.offset_
    np.testing.assert_array_equal(detector.labels_, detector.predict(X))
    assert detector.labels_[known == 0].mean() == pytest.approx(0.25, abs=0.01)
    detector.fit_rows(X, np.flatnonzero(known == 0), np.flatnonzero(known == 1))
    assert not any(hasattr(detector, name) for name in ("decision_scores_", "labels_", "threshold_"))
    with pytest.raises(NotFittedError, match="only fit keeps the scores"):
        detector.predict_proba(X)


def test_predict_proba_by_hand():
    detector = Logistic().fit([[0.0], [0.1], [0.2], [1.0]], [0, 0, 0, 1])
    detector.model_.coef_, detector.model_.intercept_ = np.array([[1.0]]), np.array([0.0])
    detector.decision_scores_ = np.array([1.0, 3.0, 5.0])
    # below the lowest, a quarter of the way up, above the highest
    expected = [[1, 0], [0.75, 0.25], [0, 1]]
    np.testing.assert_allclose(detector.predict_proba([[0.0], [2.0], [9.0]]), expected)
    detector.decision_scores_ = np.array([1.0, 1.0])  # all equal
    np.testing.assert_allclose(detector.predict_proba([[1.0], [1.5]]), [[1, 0], [0.5, 0.5]])


def test_contamination_is_no_setting():
    assert describe_settings(Logistic(contamination=0.3)) == describe_settings(Logistic())
    assert "contamination" not in PReNet().learning_parameters()  # one compiled graph for all of them


def test_a_pickle_holds_no_keras_model():
    X, _, known = two_clusters()
    detector = PReNet(**SMALL).fit(X, known)
    first = detector.model_
    copy = pickle.loads(pickle.dumps(detector))  # noqa: S301 (our own)
    assert "model_" not in vars(copy)
    np.testing.assert_array_equal(copy.decision_function(X), detector.decision_function(X))
    assert detector.fit(X, known).model_ is not first


def test_parts_of_a_linear_score_by_hand():
    detector = Logistic().fit([[0, 0, 0], [1, 2, 0], [0, 1, 4]], [0, 1, 0])  # medians 0, 1 and 0
    detector.model_.coef_ = np.array([[2.0, -1.0, 3.0]])
    # first row: 2 (1 - 0), then nothing; second: nothing, then -1 (0 - 1) and 3 (1 - 0)
    np.testing.assert_allclose(detector.explain([[1, 1, 0], [0, 0, 1]]), [[2, 0, 0], [0, 1, 3]])
    with pytest.raises(TypeError, match="dense rows only"):
        detector.explain(sparse.csr_matrix((1, 3)))
    with pytest.raises(NotFittedError, match="keeps the medians"):
        Logistic().fit(sparse.csr_matrix(np.eye(3)), [0, 0, 1]).explain(np.eye(3))


@pytest.mark.parametrize("name", ["prenet", "xgboost", "npr"])
def test_parts_are_counted_from_the_medians_of_the_training_rows(name):
    X, _, known = two_clusters()
    detector = make_detector(name, **SMALL if name != "xgboost" else {}).fit(X, known)
    rows = np.tile(np.median(X, axis=0), (2, 1))
    rows[0, 2] += 1.0
    score, usual = detector.decision_function(rows)
    expected = [[0, 0, score - usual, 0, 0, 0], [0] * 6]
    np.testing.assert_allclose(detector.explain(rows), expected, atol=1e-6)


@pytest.mark.parametrize("change, found", [
    (lambda X: X * [1, 100, 1, 1, 1, 1], "feature 1 .counted from 0. has values of about 37"),
    (lambda X: X + 10, "has values of about 10"),
    (lambda X: X / 100, "no value is above 0.00"),
])  # fmt: skip
def test_unscaled_features_give_a_warning_that_says_what_to_do(change, found):
    X, _, known = two_clusters()
    for rows in (change(X), sparse.csr_matrix(change(X))):
        with pytest.warns(UnscaledFeaturesWarning, match=found) as caught:
            PReNet(**SMALL).fit(rows, known)
        assert "make_pipeline(MinMaxScaler(), PReNet())" in str(caught[0].message)
        assert caught[0].filename == __file__


def test_scaled_features_trees_and_runs_give_no_warning():
    X, _, known = two_clusters()
    positions = np.flatnonzero(known == 0), np.flatnonzero(known == 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PReNet(**SMALL).fit(X, known)
        make_pipeline(StandardScaler(), PReNet(**SMALL)).fit(1000 * X, known)
        PReNet(**SMALL).fit_rows(50 * X, *positions)
        for detector in (XGBoost(), IForest(n_trees=5), Logistic()):
            detector.fit(1000 * X, known)
