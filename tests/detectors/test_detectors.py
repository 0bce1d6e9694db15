"""What every detector must do, and each one's loss, sampler and scoring by hand-computed values."""

from functools import lru_cache, partial

import numpy as np
import pytest
from catboost import CatBoostClassifier
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from toys import two_clusters

from devnet import DevNet, deviation_loss
from dsad import DSAD, _Autoencoder
from iforest_baseline import IForest
from prenet import PReNet, build_prenet, relation_loss, sample_pairs
from repen import REPEN
from weakly.methods import make_detector, method_group
from weakly.training.batches import sample_balanced
from weakly.training.detector import apply_in_chunks
from weakly.training.keras_detector import KerasDetector
from weakly.training.network import tf

# PReNet's variants: test_variants.py
DETECTORS = method_group("table", "appendix", "today")
RANDOM_TREES = ("iforest", "xgbod", "catboost", "random-forest")  # networks have a random part anyway
# Of detectors that take seconds; the same in all tests, because other settings are compiled again. In its
# 200 epochs RoSAS also learns by heart which anomalies have no label.
LESS_TRAINING = {"feawad": dict(pretraining_epochs=10, epochs=10), "rosas": dict(epochs=40)}
# method by method, so that its graph is compiled once: only a few are kept
EACH = pytest.mark.parametrize("name", DETECTORS, scope="module")


# ---------------------------------------------------------------------------- all detectors


def quick(name, **settings):
    """A detector; one that takes seconds with less training."""
    return make_detector(name, **LESS_TRAINING.get(name, {}), **settings)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """CatBoost with 100 of its 1,000 trees."""
    monkeypatch.setattr("catboost.CatBoostClassifier", partial(CatBoostClassifier, iterations=100))


def fit_quickly(name, rows, positions=None, **settings):
    """Fit to two_clusters, given as `rows`, without the first 50 normal ones, which no fit should use.

    positions: where a row of two_clusters is in `rows`, if not where it was. The shape is always the same, so
    a network is compiled once.
    """
    _, _, known = two_clusters()
    positions = np.arange(len(known)) if positions is None else positions
    unlabeled, anomalies = positions[known == 0][50:], positions[known == 1]
    return quick(name, **settings).fit_rows(rows, unlabeled, anomalies)


@lru_cache(maxsize=1)
def fitted(name):
    """A detector that several tests look at, and none changes."""
    return fit_quickly(name, two_clusters()[0])


@EACH
def test_orders_two_clusters(name):
    X_new, truth_new, _ = two_clusters(seed=1)
    assert roc_auc_score(truth_new, fitted(name).decision_function(X_new)) > 0.97


@EACH
def test_same_seed_same_scores(name):
    X, _, _ = two_clusters()
    again, other = (fit_quickly(name, X, random_state=seed).decision_function(X) for seed in (0, 4))
    scores = fitted(name).decision_function(X)
    np.testing.assert_array_equal(scores, again)
    if isinstance(quick(name), KerasDetector) or name in RANDOM_TREES:
        assert np.abs(scores - other).max() > 1e-6


@EACH
def test_clone_and_params(name):
    detector = make_detector(name, random_state=7)
    assert clone(detector).get_params() == detector.get_params()
    assert detector.get_params()["random_state"] == 7


@EACH
@pytest.mark.parametrize(
    "X, y, message",
    [
        (np.zeros((4, 2)), [0, 1, 2, 0], "1 .labelled anomaly. and 0"),
        (np.zeros((4, 2)), [0, 1], r"inconsistent numbers of samples: \[4, 2\]"),
        (np.zeros((4, 2)), [0, 0, 0, 0], "labelled anomalies, got 4 and 0"),
        (np.full((4, 2), np.nan), [0, 0, 1, 1], "NaN"),
    ],
    ids=["labels", "length", "no anomaly", "nan"],
)
def test_bad_input_is_refused(name, X, y, message):
    if name == "iforest" and not np.any(y):
        make_detector(name).fit(X, y)  # it needs no label
        return
    with pytest.raises(ValueError, match=message):
        make_detector(name).fit(X, y)


@EACH
def test_scoring_other_features_is_refused(name):
    X, _, _ = two_clusters()
    with pytest.raises(ValueError, match="5 features, but .* is expecting 6"):
        fitted(name).decision_function(X[:, :5])


@EACH
def test_sparse_rows_are_taken_or_refused_in_a_sentence(name):
    X, _, known = two_clusters()
    if quick(name).takes_sparse:
        scores = fit_quickly(name, sparse.csr_matrix(X)).decision_function(sparse.csr_matrix(X))
        dense = fitted(name).decision_function(X)
        # 1,000 steps magnify the rounding errors of float32; test_sparse.py compares fewer steps, and double
        # precision
        np.testing.assert_allclose(scores, dense, atol=0.01 * np.ptp(dense), rtol=0)
    else:
        with pytest.raises(TypeError, match="[Ss]parse"):
            quick(name).fit(sparse.csr_matrix(X), known)


@EACH
def test_rows_count_wherever_they_are(name):
    """The experiments pass positions in a matrix that has other rows as well."""
    X, _, known = two_clusters()
    positions = np.random.default_rng(1).permutation(len(X))
    rows = np.empty_like(X)
    rows[positions] = X
    rows[positions[known == 0][:50]] = 0.9  # not in the training set
    elsewhere = fit_quickly(name, rows, positions)
    np.testing.assert_allclose(elsewhere.decision_function(X), fitted(name).decision_function(X), atol=1e-5)


@pytest.mark.parametrize("name", ["prenet", "iforest"])
def test_fit_equals_fit_rows_on_the_training_set(name):
    X, _, known = two_clusters()
    by_position = quick(name).fit_rows(X, np.flatnonzero(known == 0), np.flatnonzero(known == 1))
    by_label = quick(name).fit(X, known)
    np.testing.assert_array_equal(by_position.decision_function(X), by_label.decision_function(X))


# ---------------------------------------------------------------------------- several hidden layers


def scores_by_keras(detector, X, known):
    """The definition of a detector's scores, from the outputs of its Keras model."""
    if isinstance(detector, PReNet):
        return detector.score_by_pairs(X)
    if isinstance(detector, DevNet):
        return detector.model_(X).numpy()
    codes = detector.model_.psi(X).numpy().astype(np.float64)
    if isinstance(detector, DSAD):
        return np.square(codes - detector.centre_).sum(axis=1)
    if isinstance(detector, REPEN):
        distances = np.linalg.norm(codes[:, None, None] - detector.references_, axis=-1)
        return distances.min(axis=2).mean(axis=1)
    prototypes = [codes[known == label].mean(axis=0) for label in (0, 1)]
    to_unlabeled, to_anomalies = (np.square(codes - prototype).sum(axis=1) for prototype in prototypes)
    return to_unlabeled - to_anomalies


@pytest.mark.parametrize(
    "name, settings",
    [
        *((name, {}) for name in ("prenet", "devnet", "fsnet", "cfsnet", "repen", "dsad")),
        ("dsad", {"pretrain": True}),
        ("dsad", {"pretrain": True, "code_layer": "linear"}),
    ],
    ids=str,
)
def test_scores_of_two_layers_equal_those_of_the_keras_model(uncompiled, name, settings):
    X, _, known = two_clusters()
    small = {"epochs": 2, "batches_per_epoch": 5, "batch_size": 32, "hidden_units": (12, 8)}
    detector = make_detector(name, **small, **settings).fit(X, known)
    weights = detector.model_.psi.get_weights()
    assert [w.shape for w in weights if w.ndim == 2] == [(6, 12), (12, 8)]
    scores = detector.decision_function(X)
    assert scores.std() > 0.01
    np.testing.assert_allclose(scores, scores_by_keras(detector, X, known), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("code_layer", ["relu", "linear"])
def test_pre_training_hands_all_layers_on(uncompiled, code_layer):
    """Of the autoencoder 6-12-8-6 the model gets the first two kernels, which have been trained."""
    X, _, known = two_clusters()
    small = {"epochs": 2, "batches_per_epoch": 5, "batch_size": 32, "code_layer": code_layer}
    detector = DSAD(pretrain=True, hidden_units=(12, 8), **small)
    unlabeled, anomalies = np.flatnonzero(known == 0), np.flatnonzero(known == 1)
    autoencoder = _Autoencoder(3, hidden_units=(12, 8), **small)
    *trained, decoder = autoencoder.fit_rows(X, unlabeled, anomalies).model_.get_weights()
    reached = detector.initial_network(X, unlabeled, anomalies, seed=3).get_weights()
    assert decoder.shape == (8, 6)
    for kernel, wanted, start in zip(reached, trained, detector.build(6, seed=3).get_weights(), strict=True):
        np.testing.assert_array_equal(kernel, wanted)
        assert np.abs(kernel - start).max() > 1e-3


@pytest.mark.parametrize("name", ["prenet", "devnet", "fsnet", "cfsnet", "repen", "dsad"])
@pytest.mark.parametrize("hidden_units", [0, (), (20, 0), (0, 20), (-1,)], ids=str)
def test_layers_without_units_are_refused(name, hidden_units):
    X, _, known = two_clusters()
    with pytest.raises(ValueError, match="hidden_units must be at least 1, not ") as refused:
        make_detector(name, hidden_units=hidden_units).fit(X, known)
    assert str(refused.value).endswith(f"not {hidden_units}")


# ---------------------------------------------------------------------------- settings that cannot work


REFUSED = {
    "prenet": [
        ({"pair_order": "other"}, "pair_order must be one of released, paper, not 'other'"),
        ({"variant": "trm"}, "variant must be one of None, TRM, iPReNet, LDM, A2H, NPR, not 'trm'"),
        ({"batch_size": 3}, "batch_size must be at least 4, not 3"),
        ({"ensemble_size": 0}, "ensemble_size must be at least 1"),
        ({"epochs": 0}, "epochs must be at least 1, not 0"),
        ({"margin": -4.0}, "margin must be above 0, not -4"),
    ],
    "devnet": [
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"hidden_units": [20, 20]}, r"must be a number or a tuple of numbers, not \[20, 20\]"),
    ],
    "dsad": [
        ({"distance": "cubed"}, "distance must be one of squared, plain, not 'cubed'"),
        ({"anomaly_term": "none"}, "anomaly_term must be one of inverse, hinge"),
        ({"code_layer": "tanh"}, "code_layer must be one of relu, linear, not 'tanh'"),
        ({"batch_size": 1}, "batch_size must be at least 2"),
        ({"eta": -1.0}, "eta must be at least 0"),
    ],
    "fsnet": [({"batch_size": 6}, "batch_size must be a positive multiple of 4")],
    "cfsnet": [
        ({"episodes": "other"}, "episodes must be one of natural, balanced, not 'other'"),
        ({"anomaly_cost": -2}, "anomaly_cost must be a positive number, not -2"),
    ],
    "repen": [
        ({"optimizer_name": "sgd"}, "adadelta, rmsprop, not 'sgd'"),
        ({"margin": float("nan")}, "margin must be above 0, not nan"),
    ],
    "pumad": [
        ({"margin": 0}, "margin must be above 0"),
        ({"hash_tables": 0}, "hash_tables must be at least 1"),
        ({"hash_bits": 21}, "hash_bits must be one of 1, 2"),
    ],
    "feawad": [
        ({"residual_term": "none"}, "residual_term must be one of paper, released"),
        ({"encoder": [128, 64]}, "encoder must be a tuple"),
        ({"scorer": ()}, "scorer must be a tuple"),
        ({"encoder": (128, 0)}, "sizes of at least 1"),
        ({"pretraining_epochs": 0}, "pretraining_epochs must be at least 1"),
    ],
    "xgbod": [({"svm_rows": 0}, "svm_rows must be at least 1, not 0")],
    "a2h": [({"hidden_units": (20, 20)}, "A2H adds layers in front of a single one")],
}


@pytest.mark.parametrize(
    "name, settings, message", [(name, *case) for name, cases in REFUSED.items() for case in cases]
)
def test_settings_that_cannot_work_are_refused(name, settings, message):
    X, _, known = two_clusters()
    with pytest.raises(ValueError, match=message) as refused:
        make_detector(name, **settings).fit(X, known)
    assert "\n" not in str(refused.value)


# ---------------------------------------------------------------------------- PReNet


def test_chunks_are_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr("weakly.training.detector.CHUNK_BYTES", 400)
    wide, sizes = np.arange(60, dtype=np.float32).reshape(3, 20), []  # 80 bytes a row
    for X, positions in (
        (wide.repeat(4, axis=0), None),
        (sparse.csr_matrix(wide.repeat(4, axis=0)), None),
        (wide, np.array([2, 0] * 6)),
    ):
        sums = apply_in_chunks(
            lambda rows: sizes.append(rows.shape[0]) or np.asarray(rows.sum(axis=1)).ravel(), X, positions
        )
        np.testing.assert_array_equal(
            sums, wide.sum(axis=1)[np.arange(3).repeat(4) if positions is None else positions]
        )
    assert sizes == [5, 5, 2, 2, 2, 2, 2, 2, 2, 5, 5, 2]  # a value of a sparse row takes 8 bytes


def test_relation_loss_by_hand():
    assert float(relation_loss(tf.constant([0.0, 4.0, 8.0]), tf.constant([1.0, 4.0, 6.0]))) == pytest.approx(
        1.0
    )


@pytest.mark.parametrize(
    "loss", [relation_loss, lambda y, s: deviation_loss(y, s, 0.0, 1.0)], ids=["prenet", "devnet"]
)
def test_losses_refuse_shapes_that_would_broadcast(loss):
    with pytest.raises(ValueError, match="same shape"):
        loss(tf.zeros((3, 1)), tf.zeros(3))


@pytest.mark.parametrize(
    "loss", [relation_loss, lambda y, s: deviation_loss(y, s, 0.0, 1.0)], ids=["prenet", "devnet"]
)
def test_flipping_one_label_changes_only_that_gradient(loss):
    def gradient(labels):
        scores = tf.Variable([0.5, 0.5, 0.5])
        with tf.GradientTape() as tape:
            value = loss(tf.constant(labels), scores)
        return tape.gradient(value, scores).numpy()

    before, after = gradient([0.0, 1.0, 0.0]), gradient([0.0, 1.0, 1.0])
    np.testing.assert_array_equal(before[:2], after[:2])
    assert before[2] == pytest.approx(-after[2]) and before[2] != 0


@pytest.mark.parametrize("pair_order", ["released", "paper"])
def test_pairs_of_a_batch(pair_order):
    unlabeled, n_batches = np.arange(1000, 3000), 40
    batches = sample_pairs(unlabeled, 60, n_batches, 512, 4.0, pair_order, np.random.default_rng(0))
    assert batches.unlabeled.shape == (n_batches, 640) and batches.anomalies.shape == (n_batches, 384)
    assert np.isin(batches.unlabeled, unlabeled).all() and np.isin(batches.anomalies, np.arange(60)).all()
    left, right = batches.layout
    kind = (left >= 640).astype(int) + (right >= 640)  # numbers from 640 on are anomalies
    np.testing.assert_array_equal(batches.targets, 4.0 * kind)
    np.testing.assert_array_equal(np.bincount(kind), [256, 128, 128])
    mixed = kind == 1
    assert ((right if pair_order == "released" else left)[mixed] >= 640).all()
    for u, a in zip(batches.unlabeled, batches.anomalies):
        drawn = np.concatenate([u, -1 - a])
        assert len(set(drawn[left[kind == 0]]) | set(drawn[right[kind == 0]])) == 512
        assert len(set(drawn[(left if pair_order == "released" else right)[mixed]])) == 128
        assert (drawn[left[kind == 2]] != drawn[right[kind == 2]]).all()
    assert np.unique(batches.anomalies).size == 60  # over many batches everyone gets a turn
    assert np.bincount(batches.anomalies.ravel()).std() < 0.1 * batches.anomalies.size / 60


def test_pairs_from_very_few_rows():
    """One labelled anomaly pairs with itself; unlabelled rows repeat when there are fewer than places."""
    batches = sample_pairs(np.arange(10), 1, 3, 512, 4.0, "released", np.random.default_rng(0))
    assert batches.unlabeled.shape == (3, 640) and (batches.anomalies == 0).all()


@pytest.mark.parametrize("pair_order, ensemble_size", [("released", 1), ("released", 30), ("paper", 2)])
def test_one_pass_scores_equal_the_definition(uncompiled, pair_order, ensemble_size):
    X, _, known = two_clusters()
    detector = PReNet(batches_per_epoch=5, epochs=3, ensemble_size=ensemble_size, pair_order=pair_order).fit(
        X, known
    )
    one_pass = detector.decision_function(X)
    assert one_pass.std() > 0.01
    np.testing.assert_allclose(one_pass, detector.score_by_pairs(X), atol=1e-5)


def test_definition_follows_equation_6(uncompiled):
    """score_by_pairs against Eq. 6 evaluated with the network itself, for the paper's order and E = 2."""
    X, _, known = two_clusters()
    detector = PReNet(batches_per_epoch=5, epochs=1, ensemble_size=2, pair_order="paper").fit(X, known)
    x = X[:1]
    phi = lambda left, right: float(detector.model_(left, right)[0])  # noqa: E731
    by_hand = sum(phi(a[None], x) for a in detector.anomaly_partners_) + sum(
        phi(x, u[None]) for u in detector.unlabeled_partners_
    )
    assert detector.score_by_pairs(x)[0] == pytest.approx(by_hand / 4, abs=1e-5)
    assert all((a == X[known == 1]).all(axis=1).any() for a in detector.anomaly_partners_)
    assert all((u == X[known == 0]).all(axis=1).any() for u in detector.unlabeled_partners_)


def test_network_is_the_papers():
    model = build_prenet(7, hidden_units=20, seed=0)
    assert [weights.shape for weights in model.get_weights()] == [(7, 20), (20,), (40, 1), (1,)]
    kernel, limit = model.get_weights()[0], np.sqrt(6 / 27)  # Glorot uniform
    assert np.abs(kernel).max() <= limit and np.abs(kernel).max() > 0.9 * limit
    left, right = np.random.default_rng(0).random((2, 1, 7), dtype=np.float32)
    hidden = [np.maximum(x @ kernel, 0) for x in (left, right)]
    assert float(model(left, right)[0]) == pytest.approx(
        (np.hstack(hidden) @ model.get_weights()[2]).item(), abs=1e-5
    )


# ---------------------------------------------------------------------------- DevNet


def test_deviation_loss_by_hand():
    """Reference N(1, 2): deviations are 1, -2, 2, 3, 7.

    The unlabelled ones cost 1 and 2, the anomalies 3, 2 and 0.
    """
    scores = tf.constant([3.0, -3.0, 5.0, 7.0, 15.0])
    labels = tf.constant([0.0, 0.0, 1.0, 1.0, 1.0])
    assert float(deviation_loss(labels, scores, 1.0, 2.0)) == pytest.approx((1 + 2 + 3 + 2 + 0) / 5)


def test_reference_scores_are_5000_draws_made_once_per_fit(uncompiled, monkeypatch):
    drawn = []
    original = DevNet.loss_constants
    monkeypatch.setattr(
        DevNet, "loss_constants", lambda *arguments: drawn.append(original(*arguments)) or drawn[-1]
    )
    X, _, known = two_clusters()
    DevNet(epochs=2, batches_per_epoch=1).fit(X, known)
    ((mean, std),) = drawn
    assert 0 < abs(mean) < 0.06 and 0 < abs(std - 1) < 0.04  # not the ideal 0 and 1


def test_balanced_batches():
    batches = sample_balanced(np.arange(100, 200), 5, 30, 512, np.random.default_rng(0))
    assert batches.unlabeled.shape == batches.anomalies.shape == (30, 256)
    np.testing.assert_array_equal(batches.targets, (batches.layout[0] >= 256).astype(int))


# ---------------------------------------------------------------------------- iForest


def test_iforest_uses_the_unlabelled_rows_only():
    X, _, known = two_clusters()
    moved = X.copy()
    moved[known == 1] += 5
    np.testing.assert_array_equal(
        IForest().fit(X, known).decision_function(X), IForest().fit(moved, known).decision_function(X)
    )
