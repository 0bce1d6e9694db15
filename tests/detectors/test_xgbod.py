"""XGBOD: the added columns, what they are fitted on, and its margins."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import OneClassSVM
from toys import two_clusters
from xgboost import XGBClassifier

import xgbod
from xgbod import FOREST_TREES, SVM_NUS, XGBOD

X, _, KNOWN = two_clusters()
X_NEW, TRUTH_NEW, _ = two_clusters(seed=1)


@pytest.fixture(scope="module")
def fitted_with_parts():
    """A detector with all its forests, and scikit-learn's forests and XGBoost's classifier of its fit."""
    fits = {IsolationForest: [], XGBClassifier: []}
    with pytest.MonkeyPatch.context() as patch:
        for library_class, of_class in fits.items():

            def noting_fit(self, rows, *labels, fit=library_class.fit, of_class=of_class):
                of_class.append((self, rows))
                return fit(self, rows, *labels)

            patch.setattr(library_class, "fit", noting_fit)
        detector = XGBOD(svm_rows=200).fit(X, KNOWN)
    for _, rows in fits[IsolationForest]:  # they see all training rows, labelled ones included
        np.testing.assert_array_equal(rows, np.concatenate([X[KNOWN == 0], X[KNOWN == 1]]))
    ((classifier, _),) = fits[XGBClassifier]
    return detector, [forest for forest, _ in fits[IsolationForest]], classifier


@pytest.fixture(autouse=True)
def small_forests(monkeypatch):
    monkeypatch.setattr(xgbod, "FOREST_TREES", (5, 10))


def test_raw_features_come_first_then_11_svms_and_7_forests(fitted_with_parts):
    fitted, forests, classifier = fitted_with_parts
    augmented = fitted.add_scores(X_NEW)
    assert augmented.shape == (len(X_NEW), 6 + 11 + 7) and augmented.dtype == np.float32
    np.testing.assert_array_equal(augmented[:, :6], X_NEW)
    assert classifier.n_features_in_ == 24 == fitted.model_.num_features()
    assert [len(forest.estimators_) for forest in forests] == [10, 20, 50, 70, 100, 150, 200]
    assert len({forest.random_state for forest in forests}) == len(FOREST_TREES)
    # every forest gives the outer cluster the higher scores: the sign is the one that the scores of all
    # detectors have
    assert all(roc_auc_score(TRUTH_NEW, column) > 0.9 for column in augmented.T[17:])


def test_fast_scores_are_those_of_the_plain_computation(fitted_with_parts, monkeypatch):
    """The reference: kernel in float64 and score_samples, for rows near, far away and repeated.

    One kernel matrix for all gives what eleven SVMs with gamma = 1 / D give, with the sign turned.
    """
    fitted, forests, _ = fitted_with_parts
    X = np.concatenate(
        [X_NEW, 5 * X_NEW[:50], 1e6 * X_NEW[:5], X_NEW[::-1], np.full((1, 6), 1e30, np.float32)]
    )
    z_scores = (X.astype(np.float64) - fitted.mean_) / fitted.scale_
    assert 50 < np.count_nonzero((z_scores**2).mean(axis=1) > xgbod.FAR) < len(X) - 600  # both kinds of rows
    kernel = rbf_kernel(z_scores, fitted.svm_sample_, gamma=1 / 6)
    svms = -(kernel @ fitted.svm_weights_ + fitted.svm_intercepts_)
    isolation = np.column_stack([-forest.score_samples(X) for forest in forests])
    added = fitted.add_scores(X)[:, 6:]
    monkeypatch.setattr(xgbod, "SCORING_ROWS", 100)  # the rows scored at a time decide nothing
    monkeypatch.setattr(xgbod, "KERNEL_ROWS", 7)
    np.testing.assert_allclose(fitted.add_scores(X)[:, 6:], added, rtol=2e-6, atol=1e-4)
    np.testing.assert_allclose(added[:, :11], svms, rtol=1e-6, atol=1e-6 * 200)  # 200 rows of weight up to 1
    np.testing.assert_allclose(added[:, 11:], isolation, rtol=2e-6)
    for column, nu in zip(added.T, SVM_NUS):
        svm = OneClassSVM(nu=nu, gamma="auto").fit(fitted.svm_sample_)
        np.testing.assert_allclose(column, -svm.decision_function(z_scores), rtol=1e-3, atol=1e-2)


def test_scores_are_margins_that_start_from_one_half(fitted_with_parts):
    """With next to no learning the margins stay at 0, the logit of the original's base_score."""
    fitted, _, classifier = fitted_with_parts
    scores = fitted.decision_function(X)
    probabilities = classifier.predict_proba(fitted.add_scores(X))[:, 1]
    np.testing.assert_allclose(1 / (1 + np.exp(-scores)), probabilities, rtol=1e-4)
    scores = XGBOD(n_estimators=1, learning_rate=1e-6).fit(X, KNOWN).decision_function(X)
    assert np.abs(scores).max() < 1e-4
