"""Plain classifiers score as their libraries do, A is class 1 and U class 0; the cross-entropy control."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from catboost import CatBoostClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from toys import two_clusters
from xgboost import XGBClassifier

from prenet import PReNet
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


@pytest.fixture(autouse=True)
def few_iterations(monkeypatch):
    """CatBoost's 1,000 trees take seconds; 20 will do."""
    monkeypatch.setattr("catboost.CatBoostClassifier", partial(CatBoostClassifier, iterations=20))


@pytest.fixture(scope="module")
def data():
    """Two clusters that overlap, so that scores differ within each."""
    X, truth, known = two_clusters()
    return X + np.random.default_rng(5).normal(0, 0.15, X.shape).astype(np.float32), truth, known


@pytest.mark.parametrize("name", LIBRARIES)
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


def test_catboost_prints_and_writes_nothing(data, tmp_path, monkeypatch, capfd):
    X, _, known = data
    monkeypatch.chdir(tmp_path)
    make_detector("catboost").fit(X, known)
    assert capfd.readouterr() == ("", "")
    assert list(Path().iterdir()) == []  # CatBoost would leave a folder catboost_info


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
