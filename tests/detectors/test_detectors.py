"""What every detector must do: order two clusters, repeat itself, score as its network, refuse nonsense."""

import warnings
from functools import lru_cache, partial

import numpy as np
import pytest
from catboost import CatBoostClassifier
from scipy import sparse
from sklearn.metrics import roc_auc_score
from toys import two_clusters

from devnet import DevNet
from dsad import DSAD
from iforest_baseline import IForest
from prenet import PReNet
from pumad import PUMAD
from repen import REPEN
from weakly.methods import make_detector, method_group
from weakly.training.detector import apply_in_chunks
from weakly.training.keras_detector import KerasDetector

X, _, KNOWN = two_clusters()
MAIN = method_group("table", "appendix", "today")
# A2H's 1000 units take seconds: test_prenet.py
VARIANTS = [pytest.param(name, marks=pytest.mark.slow) for name in ("trm", "iprenet", "ldm", "npr")]
INTERPRETATIONS = """fsnet-5-rows devnet-natural repen-none-known repen-supervised dsad-hinge dsad-autoencoder
    dsad-natural""".split()
RANDOM_TREES = ("iforest", "xgbod", "catboost", "random-forest")  # networks have a random part anyway
# Of detectors that take seconds; the same in all tests, because other settings are compiled again. In its
# 200 epochs RoSAS also learns by heart which anomalies have no label.
LESS_TRAINING = {
    "feawad": dict(pretraining_epochs=5, epochs=10, learning_rate=1e-3, encoder=(8,), scorer=(8,)),
    "rosas": dict(epochs=40),
    "xgbod": dict(svm_rows=200),
}
# method by method, so that its graph is compiled once: only a few are kept
EACH = pytest.mark.parametrize("name", [*MAIN, *VARIANTS], scope="module")


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """CatBoost with 100 of its 1,000 trees, XGBOD with small forests."""
    monkeypatch.setattr("xgbod.FOREST_TREES", (10, 20))
    monkeypatch.setattr("catboost.CatBoostClassifier", partial(CatBoostClassifier, iterations=100))


def quick(name, **settings):
    return make_detector(name, **LESS_TRAINING.get(name, {}), **settings)


def fit_quickly(name, rows, positions=None, **settings):
    """Fit to two_clusters, given as `rows`, without the first 50 normal ones, which no fit should use.

    positions: where a row of two_clusters is in `rows`, if not where it was. The shape is always the same, so
    a network is compiled once.
    """
    positions = np.arange(len(KNOWN)) if positions is None else positions
    unlabeled, anomalies = positions[KNOWN == 0][50:], positions[KNOWN == 1]
    return quick(name, **settings).fit_rows(rows, unlabeled, anomalies)


@lru_cache(maxsize=1)
def fitted(name):
    """A detector that several tests look at, and none changes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fit_quickly(name, X)


@pytest.mark.parametrize("name", [*MAIN, *VARIANTS, *INTERPRETATIONS], scope="module")
def test_orders_two_clusters(name):
    X_new, truth_new, _ = two_clusters(seed=1)
    scores = fitted(name).decision_function(X_new)
    assert scores.shape == (len(X_new),) and scores.dtype == np.float64
    assert roc_auc_score(truth_new, scores) > 0.97


@EACH
def test_same_seed_same_scores_wherever_the_rows_are(name):
    """The experiments pass positions in a matrix that has other rows as well."""
    scores = fitted(name).decision_function(X)
    np.testing.assert_array_equal(fit_quickly(name, X).decision_function(X), scores)
    positions = np.random.default_rng(1).permutation(len(X))
    rows = np.empty_like(X)
    rows[positions] = X
    rows[positions[KNOWN == 0][:50]] = 0.9  # not in the training set
    elsewhere = fit_quickly(name, rows, positions)
    np.testing.assert_allclose(elsewhere.decision_function(X), scores, atol=1e-5)
    if isinstance(quick(name), KerasDetector) or name in RANDOM_TREES:
        other = fit_quickly(name, X, random_state=4).decision_function(X)
        assert np.abs(scores - other).max() > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MAIN, "ldm"], scope="module")  # other variants: test_sparse.py
def test_sparse_rows_are_taken_or_refused_in_a_sentence(name):
    if quick(name).takes_sparse:
        scores = fit_quickly(name, sparse.csr_matrix(X)).decision_function(sparse.csr_matrix(X))
        dense = fitted(name).decision_function(X)
        # 1,000 steps magnify the rounding errors of float32; test_sparse.py compares fewer steps, and double
        # precision
        np.testing.assert_allclose(scores, dense, atol=0.01 * np.ptp(dense), rtol=0)
    else:
        with pytest.raises(TypeError, match="[Ss]parse"):
            quick(name).fit(sparse.csr_matrix(X), KNOWN)


@pytest.mark.parametrize("name", ["prenet", "iforest"])
def test_fit_equals_fit_rows_on_the_training_set(name):
    few = {"epochs": 2} if name == "prenet" else {}
    by_position = quick(name, **few).fit_rows(X, np.flatnonzero(KNOWN == 0), np.flatnonzero(KNOWN == 1))
    by_label = quick(name, **few).fit(X, KNOWN)
    np.testing.assert_array_equal(by_position.decision_function(X), by_label.decision_function(X))


def test_iforest_uses_the_unlabelled_rows_only():
    scores = IForest().fit(X, KNOWN).decision_function(X)
    moved = np.where(KNOWN[:, None] == 1, X + 5, X)
    np.testing.assert_array_equal(IForest().fit(moved, KNOWN).decision_function(X), scores)


def scores_by_definition(detector):
    """The scores that follow from the codes or outputs of a detector's Keras model."""
    if isinstance(detector, PReNet) and detector.variant is None:
        return detector.score_by_pairs(X)
    if isinstance(detector, DevNet | PReNet):
        return detector.model_(X).numpy()
    codes = detector.model_.psi(X).numpy().astype(np.float64)
    if isinstance(detector, DSAD):
        return np.square(codes - detector.centre_).sum(axis=1)
    if isinstance(detector, REPEN):
        for reference in detector.references_.reshape(-1, codes.shape[1]):
            assert np.isclose(codes[KNOWN == 0], reference, atol=1e-5).all(axis=1).any()
        distances = np.linalg.norm(codes[:, None, None] - detector.references_, axis=-1)
        return distances.min(axis=2).mean(axis=1)
    if isinstance(detector, PUMAD):
        prototypes = [detector.normal_mean_, detector.anomaly_mean_]
    else:
        prototypes = [codes[label == KNOWN].mean(axis=0) for label in (0, 1)]
    to_unlabeled, to_anomalies = (np.square(codes - prototype).sum(axis=1) for prototype in prototypes)
    return to_unlabeled - to_anomalies


@pytest.mark.parametrize("hidden_units", [20, (12, 8)], ids=str)
@pytest.mark.parametrize(
    "name", "prenet iprenet devnet fsnet cfsnet repen pumad dsad dsad-linear-code".split()
)
def test_scores_follow_their_definition(uncompiled, name, hidden_units):
    small = {"epochs": 2, "batches_per_epoch": 5, "batch_size": 32, "hidden_units": hidden_units}
    detector = make_detector(name, **small).fit(X, KNOWN)
    scores = detector.decision_function(X)
    assert scores.std() > 1e-3
    np.testing.assert_allclose(scores, scores_by_definition(detector), rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------------------- what cannot work


@pytest.mark.parametrize("name", ["prenet", "xgboost", "iforest"])
@pytest.mark.parametrize("X, y, message", [
    (np.zeros((4, 2)), [0, 1, 2, 0], "1 .labelled anomaly. and 0"),
    (np.zeros((4, 2)), [0, 1], "inconsistent numbers"),
    (np.zeros((4, 2)), [0, 0, 0, 0], "labelled anomalies, got 4 and 0"),
    (np.zeros((4, 2)), None, "requires y"),
], ids=["labels", "length", "no anomaly", "no labels"])  # fmt: skip
def test_bad_input_is_refused(name, X, y, message):
    if name == "iforest" and not np.any(y):
        without, with_labels = (make_detector(name).fit(X, labels) for labels in (None, np.zeros(4)))
        np.testing.assert_array_equal(without.decision_function(X), with_labels.decision_function(X))
        return  # it needs no label
    with pytest.raises(ValueError, match=message):
        make_detector(name).fit(X, y)


REFUSED = [
    ("prenet", {"pair_order": "other"}, "one of released, paper, not 'other'"),
    ("prenet", {"batch_size": 3}, "at least 4, not 3"),
    ("prenet", {"epochs": 2.5}, "a whole number, not 2.5"),
    ("prenet", {"margin": -4.0}, "above 0, not -4"),
    ("prenet", {"hidden_units": (20, 0)}, "at least 1, not "),
    ("dsad", {"distance": "cubed"}, "squared, plain, not"),
    ("fsnet", {"batch_size": 6}, "multiple of 4"),
    ("cfsnet", {"anomaly_cost": -2}, "positive number, not -2"),
    ("repen", {"margin": np.nan}, "above 0, not nan"),
    ("pumad", {"hash_bits": 21}, "one of 1, 2"),
    ("xgbod", {"svm_rows": 0}, "at least 1, not 0"),
    ("a2h", {"hidden_units": (20, 20)}, "in front of a single one"),
    ("iforest", {"contamination": 2}, "between 0 and 1, not 2"),
]


@pytest.mark.parametrize("name, settings, message", REFUSED)
def test_settings_that_cannot_work_are_refused(name, settings, message):
    with pytest.raises(ValueError, match=message) as refused:
        make_detector(name, **settings).fit(X, KNOWN)
    assert "\n" not in str(refused.value) and next(iter(settings)) in str(refused.value)


# ---------------------------------------------------------------------------- parts that several share


def test_chunks_are_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr("weakly.training.detector.CHUNK_BYTES", 400)
    wide, sizes = np.arange(240, dtype=np.float32).reshape(12, 20), []  # 80 bytes a row

    def sums(rows):
        sizes.append(rows.shape[0])
        return np.asarray(rows.sum(axis=1)).ravel()

    positions = np.array([2, 0] * 6)
    for X, where in ((wide, None), (sparse.csr_matrix(wide), None), (wide, positions)):
        expected = wide.sum(axis=1) if where is None else wide.sum(axis=1)[where]
        np.testing.assert_array_equal(apply_in_chunks(sums, X, where), expected)
    assert sizes == [5, 5, 2, 2, 2, 2, 2, 2, 2, 5, 5, 2]  # a value of a sparse row takes 8 bytes


def test_devnets_reference_scores_are_5000_draws():
    mean, std = DevNet().loss_constants(None, None, None, None, np.random.default_rng(0))
    draws = np.random.default_rng(0).standard_normal(5_000)
    assert (mean, std) == pytest.approx((draws.mean(), draws.std()))
