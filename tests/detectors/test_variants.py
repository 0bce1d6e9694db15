"""The ablated variants of Table 4: their labels, networks, scoring, and the random states of dropout."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from toys import SmallA2H, two_clusters

from prenet import VARIANTS, PReNet
from weakly.methods import make_detector
from weakly.training import keras_detector
from weakly.training.loop import Trainer

FEW_STEPS = {"epochs": 2, "batches_per_epoch": 5, "batch_size": 32}
PAIRWISE = [variant for variant in VARIANTS if variant != "iPReNet"]


def quick(variant, **settings):
    """A detector of this variant; A2H, whose 1000 units take seconds, with layers of 20."""
    detector_class = SmallA2H if variant == "A2H" else PReNet
    return detector_class(variant=variant, **settings)


def batches_of(variant, **settings):
    detector = PReNet(variant=variant, batch_size=8, **settings)
    return detector.sample_batches(None, np.arange(100, 200), np.arange(5), 3, np.random.default_rng(0))


@pytest.mark.parametrize("variant", VARIANTS)
def test_orders_two_clusters(variant):
    X, _, known = two_clusters()
    X_new, truth_new, _ = two_clusters(seed=1)
    detector = clone(quick(variant)).fit(X, known)
    assert roc_auc_score(truth_new, detector.decision_function(X_new)) > 0.97


# ---------------------------------------------------------------------------- labels and batches


@pytest.mark.parametrize(
    "variant, labels",
    [(None, [0, 4, 8]), ("TRM", [0, 4, 4]), ("LDM", [0, 4, 8]), ("A2H", [0, 4, 8]), ("NPR", [0, 4, 8])],
)
def test_labels_of_pairs(variant, labels):
    """A batch of 8 has 4 pairs {u,u}, 2 {a,u} and 2 {a,a}.

    The pairs themselves are the same in all variants.
    """
    batches = batches_of(variant)
    np.testing.assert_array_equal(batches.targets, np.repeat(labels, [4, 2, 2]))
    np.testing.assert_array_equal(batches.layout, batches_of(None).layout)
    np.testing.assert_array_equal(batches.unlabeled, batches_of(None).unlabeled)


def test_single_instances_are_half_unlabelled_half_anomalies():
    batches = batches_of("iPReNet")
    assert batches.unlabeled.shape == batches.anomalies.shape == (3, 4)
    np.testing.assert_array_equal(
        batches.layout, [[0, 1, 2, 3, 4, 5, 6, 7]]
    )  # numbers from 4 on are anomalies
    np.testing.assert_array_equal(batches.targets, [0, 0, 0, 0, 4, 4, 4, 4])


# ---------------------------------------------------------------------------- networks


@pytest.mark.parametrize(
    "name, kernels, n_regularized",
    [
        ("prenet", [(7, 20), (40, 1)], 1),
        ("trm", [(7, 20), (40, 1)], 1),
        ("iprenet", [(7, 20), (20, 1)], 1),
        ("ldm", [(14, 1)], 0),
        ("a2h", [(7, 1000), (1000, 250), (250, 20), (40, 1)], 3),
        ("a2h-no-dropout", [(7, 1000), (1000, 250), (250, 20), (40, 1)], 3),
        ("npr", [(7, 20), (40, 20), (20, 1)], 1),
    ],
)
def test_layers_and_l2(name, kernels, n_regularized):
    """Every hidden kernel of psi has its l2 term, NPR's relation layer and the scoring layer never."""
    model = make_detector(name, l2=0.1).build(7, seed=0)
    weights = model.get_weights()
    assert [w.shape for w in weights[::2]] == kernels
    assert [w.shape for w in weights[1::2]] == [shape[1:] for shape in kernels]  # biases
    expected = [0.1 * np.sum(w**2) for w in weights[::2][:n_regularized]]
    penalties = [float(penalty) for penalty in model.collected("losses") if float(penalty)]
    np.testing.assert_allclose(sorted(penalties), sorted(expected), rtol=1e-5)


def test_dropout_is_behind_the_added_layers():
    psi = make_detector("a2h").build(7, seed=0).psi
    assert [layer.name for layer in psi.layers[1:]] == "added_0 dropout_0 added_1 dropout_1 hidden".split()
    assert [psi.get_layer(f"dropout_{number}").rate for number in (0, 1)] == [0.5, 0.5]
    rows = np.random.default_rng(0).random((50, 7), dtype=np.float32)
    in_training = [psi(rows, training=True).numpy() for _ in range(2)]
    assert np.abs(in_training[0] - in_training[1]).max() > 0.01  # each time with other masks
    np.testing.assert_array_equal(psi(rows), psi(rows, training=False))
    assert np.abs(in_training[0] - psi(rows)).max() > 0.01


def test_a2h_without_dropout_has_no_random_state():
    """So a row has one code in all its places, and is encoded once for each batch."""
    model = make_detector("a2h-no-dropout").build(7, seed=0)
    psi = model.psi
    assert [layer.name for layer in psi.layers[1:]] == ["added_0", "added_1", "hidden"]
    assert len(model.get_state()) == len(model.get_weights()) == 8 and not model.has_dropout
    rows = np.random.default_rng(0).random((50, 7), dtype=np.float32)
    np.testing.assert_array_equal(psi(rows, training=True), psi(rows))
    model = make_detector("a2h").build(7, seed=0)
    assert len(model.get_state()) == len(model.get_weights()) + 2 and model.has_dropout


def test_npr_by_hand():
    """eta = w . relu(W [psi(x_i), psi(x_j)] + b) + c."""
    model = PReNet(variant="NPR").build(7, seed=0)
    rng = np.random.default_rng(0)
    model.set_weights([w + rng.normal(0, 0.1, w.shape) for w in model.get_weights()])  # biases other than 0
    W_psi, b_psi, W, b, w, c = model.get_weights()
    pair = rng.random((2, 1, 7), dtype=np.float32)
    codes = np.hstack([np.maximum(x @ W_psi + b_psi, 0) for x in pair])
    assert float(model(*pair)[0]) == pytest.approx((np.maximum(codes @ W + b, 0) @ w + c).item(), abs=1e-5)


# ---------------------------------------------------------------------------- scoring


@pytest.mark.parametrize("pair_order", ["released", "paper"])
@pytest.mark.parametrize("variant", PAIRWISE)
def test_scores_equal_the_definition(uncompiled, variant, pair_order):
    X, _, known = two_clusters()
    detector = quick(variant, ensemble_size=3, pair_order=pair_order, **FEW_STEPS).fit(X, known)
    scores = detector.decision_function(X)
    assert scores.std() > 1e-3
    np.testing.assert_allclose(scores, detector.score_by_pairs(X), atol=1e-5)


def test_a_single_instance_has_the_networks_score(uncompiled):
    X, _, known = two_clusters()
    detector = PReNet(variant="iPReNet", **FEW_STEPS).fit(X, known)
    W, b, w, c = detector.model_.get_weights()
    np.testing.assert_allclose(
        detector.decision_function(X), (np.maximum(X @ W + b, 0) @ w + c)[:, 0], atol=1e-5
    )


# ---------------------------------------------------------------------------- dropout


def test_dropout_does_not_depend_on_earlier_fits():
    X, _, known = two_clusters()
    scores = [
        quick("A2H", random_state=seed, epochs=3).fit(X, known).decision_function(X) for seed in (0, 1, 0)
    ]
    np.testing.assert_array_equal(scores[0], scores[2])
    assert np.abs(scores[0] - scores[1]).max() > 1e-6


def a2h_losses(rate, monkeypatch):
    """Mean losses of 6 epochs of one step, without learning and on one and the same batch.

    Only the masks differ.
    """
    monkeypatch.setattr("prenet.PReNet.dropout_rate", rate)
    detector = quick("A2H", batch_size=32, learning_rate=0.0)
    X, _, known = two_clusters()
    anomalies = np.flatnonzero(known)
    batch = detector.sample_batches(X, np.flatnonzero(known == 0), anomalies, 1, np.random.default_rng(0))
    batches = batch._replace(
        unlabeled=batch.unlabeled.repeat(6, axis=0), anomalies=batch.anomalies.repeat(6, axis=0)
    )
    model = detector.build(X.shape[1], seed=1)
    start = model.get_state()
    trainer = Trainer(model, detector.loss, detector.optimizer())
    losses = trainer.fit(X, anomalies, batches, 6, start)[1]
    assert losses == trainer.fit(X, anomalies, batches, 6, start)[1]  # the random states start anew
    return losses


def test_masks_differ_from_step_to_step(monkeypatch):
    assert len(set(a2h_losses(0.5, monkeypatch))) == 6
    assert len(set(a2h_losses(0.0, monkeypatch))) == 1


def test_an_instance_has_other_masks_at_each_of_its_places():
    """All pairs of one row with itself: with one mask for each row, all scores would be equal."""
    detector, outputs = quick("A2H"), []

    def loss(targets, scores):
        outputs.append(scores.numpy())
        return detector.loss(targets, scores)

    trainer = Trainer(detector.build(6, seed=1), loss, detector.optimizer())
    trainer._step(np.full((1, 6), 0.5, np.float32), np.zeros((2, 16), int), np.zeros(16, np.float32), ())
    assert len(set(outputs[0])) > 8


def test_dropout_is_off_in_scoring(uncompiled):
    X, _, known = two_clusters()
    detector = quick("A2H", **FEW_STEPS).fit(X, known)
    np.testing.assert_array_equal(detector.decision_function(X), detector.decision_function(X))
    kernels_and_biases, code = detector.model_.psi.get_weights(), X
    for kernel, bias in zip(kernels_and_biases[::2], kernels_and_biases[1::2]):
        code = np.maximum(code @ kernel + bias, 0)
    np.testing.assert_allclose(detector.model_.psi(X), code, atol=1e-5)


# ---------------------------------------------------------------------------- compiled graphs


def test_fits_are_the_same_whatever_was_fitted_before():
    X, _, known = two_clusters()
    settings = [{"epochs": 2}, {"epochs": 3, "margin": 0.25}]
    fresh = []
    for setting in settings:
        keras_detector._compiled_trainer.cache_clear()
        fresh.append(PReNet(**setting).fit(X, known).decision_function(X))
    keras_detector._compiled_trainer.cache_clear()
    for setting, scores in zip(settings, fresh):
        np.testing.assert_array_equal(PReNet(**setting).fit(X, known).decision_function(X), scores)
    assert keras_detector._compiled_trainer.cache_info().misses == len(settings)


def test_other_parameters_are_compiled_anew(uncompiled):
    X, _, known = two_clusters()
    keras_detector._compiled_trainer.cache_clear()
    settings = [
        {},
        {"variant": "NPR"},
        {"variant": "TRM"},
        {"l2": 0.1},
        {"learning_rate": 0.01},
        {"hidden_units": 5},
    ]
    for setting in settings:
        PReNet(epochs=1, batches_per_epoch=1, **setting).fit(X, known)
    assert keras_detector._compiled_trainer.cache_info().misses == len(settings)
