"""Plain classifiers: they score as their libraries do, A is class 1 and U class 0, and they are silent."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from catboost import CatBoostClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from toys import two_clusters
from xgboost import XGBClassifier

from weakly.beyond.classifiers import CatBoost, Logistic, RandomForest, XGBoost
from weakly.methods import make_detector

ALL = (Logistic, XGBoost, CatBoost, RandomForest)
EACH = pytest.mark.parametrize("detector_class", ALL)


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    """CatBoost's 1,000 trees take seconds; 20 will do."""
    original = CatBoost.new_classifier
    monkeypatch.setattr(
        CatBoost, "new_classifier", lambda self, seed: original(self, seed).set_params(iterations=20)
    )


@pytest.fixture(scope="module")
def data():
    """Two clusters that overlap, so that scores differ within each."""
    X, truth, known = two_clusters()
    return X + np.random.default_rng(5).normal(0, 0.15, X.shape).astype(np.float32), truth, known


def as_the_library_has_it(detector_class, X, known, X_new):
    """Scores that the library gives rows X_new after a fit on X with the detector's seed.

    U comes before A, and the library's seed is the first draw of the detector's.
    """
    seed = int(np.random.default_rng(3).integers(2**31))
    rows, labels = np.concatenate([X[known == 0], X[known == 1]]), np.sort(known)
    if detector_class is Logistic:
        return LogisticRegression(random_state=seed).fit(rows, labels).decision_function(X_new)
    if detector_class is RandomForest:
        return RandomForestClassifier(random_state=seed).fit(rows, labels).predict_proba(X_new)[:, 1]
    if detector_class is XGBoost:
        boosted = XGBClassifier(random_state=seed, n_jobs=1).fit(rows, labels)
        return boosted.predict(X_new, output_margin=True)
    boosted = CatBoostClassifier(20, random_seed=seed, thread_count=1, verbose=0, allow_writing_files=False)
    return boosted.fit(rows, labels).predict(X_new, prediction_type="RawFormulaVal")


@EACH
def test_scores_are_those_of_the_library(detector_class, data):
    X, _, known = data
    X_new = np.concatenate([X[::-1], 2 * X - 0.5])
    scores = detector_class(random_state=3).fit(X, known).decision_function(X_new)
    assert scores.shape == (len(X_new),) and scores.dtype == np.float64 and len(np.unique(scores)) > 15
    expected = as_the_library_has_it(detector_class, X, known, X_new)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-4)


@EACH
def test_labelled_anomalies_are_class_1(detector_class, data):
    X, truth, known = data
    scores = detector_class().fit(X, known).decision_function(X)
    assert roc_auc_score(known, scores) > 0.9
    # where anomalies are the rows of the other cluster, the order is turned round
    turned = detector_class().fit(X, (truth == 0) & (np.arange(len(X)) < 50)).decision_function(X)
    assert roc_auc_score(known, turned) < 0.4


@EACH
def test_nothing_is_printed_and_no_files_are_written(detector_class, data, tmp_path, monkeypatch, capfd):
    """Nor does anybody hear that lbfgs has not converged, as on these features."""
    X, _, known = data
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector = detector_class().fit(X * [1, 10, 100, 1e3, 1e4, 1e5], known)
        detector.decision_function(X)
    assert capfd.readouterr() == ("", "")
    assert list(Path().iterdir()) == []  # CatBoost would leave a folder catboost_info


def test_xgboost_half_is_the_librarys_that_starts_from_one_half(data):
    """The default starts from the share of anomalies, so its trees are others."""
    X, _, known = data
    half, default = (
        make_detector(name, random_state=3).fit(X, known) for name in ("xgboost-half", "xgboost")
    )
    seed = int(np.random.default_rng(3).integers(2**31))
    rows, labels = np.concatenate([X[known == 0], X[known == 1]]), np.sort(known)
    library = XGBClassifier(base_score=0.5, random_state=seed, n_jobs=1).fit(rows, labels)
    expected = library.predict(X, output_margin=True)  # its constant is log(0.5 / 0.5) = 0
    np.testing.assert_allclose(half.decision_function(X), expected, atol=1e-5)
    assert np.abs(default.decision_function(X) - expected).max() > 0.01


def test_the_shallow_one_has_xgbods_settings():
    """So that XGBOD's added features are all that distinguishes the two."""
    shallow, xgbod = make_detector("xgboost-shallow"), make_detector("xgbod")
    library = shallow.new_classifier(0).get_params()
    assert (library["base_score"], library["n_jobs"]) == (0.5, 1)
    assert (shallow.max_depth, shallow.learning_rate) == (xgbod.max_depth, xgbod.learning_rate)
    assert library["n_estimators"] in (None, xgbod.n_estimators)  # None: XGBoost's 100
