"""Plain classifiers score as their libraries do, A is class 1 and U class 0; the cross-entropy control."""

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

from prenet import PReNet
from weakly.beyond.classifiers import CatBoost
from weakly.beyond.cross_entropy import CrossEntropy
from weakly.methods import make_detector

# the library's model with the detector's seed, and its score
LIBRARIES = {
    "logistic": (LogisticRegression, {}, lambda model, X: model.decision_function(X)),
    "random-forest": (RandomForestClassifier, {}, lambda model, X: model.predict_proba(X)[:, 1]),
    "xgboost": (XGBClassifier, {"n_jobs": 1}, lambda model, X: model.predict(X, output_margin=True)),
    "xgboost-half": (XGBClassifier, {"n_jobs": 1, "base_score": 0.5},
        lambda model, X: model.predict(X, output_margin=True)),  # its constant is log(0.5 / 0.5) = 0
    "catboost": (CatBoostClassifier,
        {"iterations": 20, "thread_count": 1, "verbose": 0, "allow_writing_files": False},
        lambda model, X: model.predict(X, prediction_type="RawFormulaVal")),
}  # fmt: skip
EACH = pytest.mark.parametrize("name", LIBRARIES)


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


@EACH
def test_scores_are_those_of_the_library(name, data):
    """U comes before A, and the library's seed is the first draw of the detector's."""
    X, _, known = data
    library_class, settings, score = LIBRARIES[name]
    seed = int(np.random.default_rng(3).integers(2**31))
    library = library_class(random_state=seed, **settings)
    library.fit(np.concatenate([X[known == 0], X[known == 1]]), np.sort(known))
    X_new = np.concatenate([X[::-1], 2 * X - 0.5])
    scores = make_detector(name, random_state=3).fit(X, known).decision_function(X_new)
    assert scores.shape == (len(X_new),) and scores.dtype == np.float64 and len(np.unique(scores)) > 15
    np.testing.assert_allclose(scores, score(library, X_new), rtol=1e-5, atol=1e-4)


@EACH
def test_nothing_is_printed_or_written_and_the_labels_decide_the_order(
    name, data, tmp_path, monkeypatch, capfd
):
    """Nor does anybody hear that lbfgs has not converged, as on these features."""
    X, truth, known = data
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = make_detector(name).fit(X * [1, 10, 100, 1e3, 1e4, 1e5], known).decision_function(X)
        # where anomalies are rows of the other cluster, the order is turned round
        turned = make_detector(name).fit(X, (truth == 0) & (np.arange(len(X)) < 50)).decision_function(X)
    assert capfd.readouterr() == ("", "")
    assert list(Path().iterdir()) == []  # CatBoost would leave a folder catboost_info
    assert roc_auc_score(known, turned) < 0.4
    assert np.isfinite(scores).all()


def test_the_shallow_one_has_xgbods_settings():
    """So that XGBOD's added features are all that distinguishes the two."""
    library, xgbod = make_detector("xgboost-shallow").new_classifier(0).get_params(), make_detector("xgbod")
    assert (library["base_score"], library["n_jobs"]) == (0.5, 1)
    assert (library["max_depth"], library["learning_rate"]) == (xgbod.max_depth, xgbod.learning_rate)
    assert library["n_estimators"] in (None, xgbod.n_estimators)  # None: XGBoost's 100


def test_the_cross_entropy_control_is_prenet_but_for_pairs():
    """Settings, psi with its l2 term, optimiser and the epoch that is kept; the relation takes one code."""
    control, prenet = CrossEntropy(), PReNet()
    assert control.get_params().items() <= prenet.get_params().items()
    one, two = control.build(7, seed=0), prenet.build(7, seed=0)
    assert [weights.shape for weights in one.get_weights()] == [(7, 20), (20,), (20, 1), (1,)]
    np.testing.assert_array_equal(one.get_weights()[0], two.get_weights()[0])
    assert [*map(float, one.collected("losses"))] == [*map(float, two.collected("losses"))]
    assert control.optimizer().get_config() == prenet.optimizer().get_config()
    assert type(control.optimizer()) is type(prenet.optimizer()) and control.keeps_last == prenet.keeps_last
