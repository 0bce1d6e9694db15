"""FEAWAD: losses by hand, network, batches, pre-training, and what it does on awkward data."""

import numpy as np
import pytest
from toys import two_clusters

from feawad import (
    FEAWAD,
    _Pretraining,
    build_autoencoder,
    build_feawad,
    encoding_loss,
    mean_squared_error,
    row_norm,
)
from weakly.training.loop import Trainer
from weakly.training.network import keras, tf

SMALL = {"encoder": (16, 4), "scorer": (16, 8), "pretraining_epochs": 3, "epochs": 3, "batch_size": 64}
FEW_STEPS = SMALL | {"pretraining_epochs": 1, "epochs": 1, "batches_per_epoch": 5}
LONGER = SMALL | {"pretraining_epochs": 20, "epochs": 20}  # the same graphs, so nothing is compiled anew
RAW = {"residual_term": "paper", "input_layer": False}  # as in FEAWAD's paper
RELEASED_KERNELS = [(21, 21), (21, 128), (128, 64), (64, 128), (128, 21), (86, 256), (257, 32), (33, 1)]


# ---------------------------------------------------------------------------- losses


def test_encoding_loss_by_hand():
    """Unlabelled (-2, 1) and (3, 0.5) cost 2 + 1 and 3 + 0.5.

    Anomalies (4, 2) and (7, 6) cost 1 + 3 and 0 + 0.
    """
    outputs = tf.constant([[-2.0, 1.0], [3.0, 0.5], [4.0, 2.0], [7.0, 6.0]])
    assert float(encoding_loss(tf.constant([0.0, 0.0, 1.0, 1.0]), outputs)) == pytest.approx(
        (3 + 3.5 + 4 + 0) / 4
    )


def test_reconstruction_loss_by_hand():
    assert float(mean_squared_error(tf.constant([[1.0, -2.0], [0.0, 3.0]]))) == pytest.approx(
        (1 + 4 + 0 + 9) / 4
    )


def test_flipping_one_label_changes_only_that_gradient():
    def gradient(labels):
        outputs = tf.Variable([[0.5, 1.0], [0.5, 1.0], [0.5, 1.0]])
        with tf.GradientTape() as tape:
            value = encoding_loss(tf.constant(labels), outputs)
        return tape.gradient(value, outputs).numpy()

    before, after = gradient([0.0, 1.0, 0.0]), gradient([0.0, 1.0, 1.0])
    np.testing.assert_array_equal(before[:2], after[:2])
    np.testing.assert_allclose(before[2], [1 / 3, 1 / 3], rtol=1e-6)  # push score and norm down
    np.testing.assert_allclose(after[2], [-1 / 3, -1 / 3], rtol=1e-6)  # and up


@pytest.mark.parametrize(
    "labels, outputs",
    [((3,), (3,)), ((3,), (3, 1)), ((3, 1), (3, 2)), ((2,), (3, 2)), ((3,), (3, 3)), ((3, 1), (3, 1, 2))],
    ids=str,
)
def test_shapes_that_do_not_match_are_refused(labels, outputs):
    with pytest.raises(ValueError, match="must be of shapes"):
        encoding_loss(tf.zeros(labels), tf.zeros(outputs))


# ---------------------------------------------------------------------------- network


@pytest.mark.parametrize("settings, kernels", [({}, RELEASED_KERNELS), (RAW, RELEASED_KERNELS[1:])])
def test_layers(settings, kernels):
    """The score network takes D + 64 + 1 columns; the paper's autoencoder has no layer in front."""
    model = FEAWAD(**settings, l2=0.01).build(21, seed=0)
    weights = model.get_weights()
    assert [kernel.shape for kernel in weights[::2]] == kernels
    assert [bias.shape for bias in weights[1::2]] == [shape[1:] for shape in kernels]
    expected = 0.01 * sum((kernel**2).sum() for kernel in weights[::2][-3:-1])  # the score's hidden layers
    assert float(tf.add_n(model.collected("losses"))) == pytest.approx(expected, rel=1e-5)
    assert not FEAWAD(**settings).build(21, seed=0).collected("losses")  # l2 is 0 as released


@pytest.mark.parametrize("input_layer", [True, False])
@pytest.mark.parametrize("residual_term", ["paper", "released"])
def test_outputs_equal_the_definition_in_numpy(residual_term, input_layer):
    """The whole forward pass from the weights, with biases that are not 0."""
    model = build_feawad(5, (4, 3), (6, 2), 0.0, residual_term, input_layer, seed=1)
    rng = np.random.default_rng(0)
    model.set_weights([weights + rng.normal(0, 0.1, weights.shape) for weights in model.get_weights()])
    w = model.get_weights()
    x = rng.random((7, 5), dtype=np.float32)

    def relu(rows):
        return np.maximum(rows @ w.pop(0) + w.pop(0), 0)

    code = relu(relu(relu(x) if input_layer else x))
    residual = x - relu(relu(code))
    norm = np.linalg.norm(residual, axis=1, keepdims=True)
    hidden = relu(np.hstack([residual / norm, code, norm]))
    hidden = relu(np.hstack([hidden, norm]))
    kernel, bias = w
    score = np.hstack([hidden, norm]) @ kernel + bias
    expected = np.hstack([score, norm if residual_term == "paper" else np.ones((7, 1))])
    np.testing.assert_allclose(model(x).numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("residual_term, vanishes", [("paper", False), ("released", True)])
def test_gradient_of_the_residual_norm_vanishes_as_released_only(residual_term, vanishes):
    model = build_feawad(5, (4, 3), (6, 2), residual_term=residual_term, seed=1)
    autoencoder = model.collected("trainable_variables")[:10]  # D-D, two to the code, two back
    with tf.GradientTape() as tape:
        mean_norm = tf.reduce_mean(model(np.random.default_rng(0).random((50, 5), dtype=np.float32))[:, 1])
    largest = max(np.abs(gradient.numpy()).max() for gradient in tape.gradient(mean_norm, autoencoder))
    assert (largest < 1e-5) if vanishes else (largest > 1e-2)


@pytest.mark.parametrize("residual_term", ["paper", "released"])
def test_a_row_reconstructed_exactly_has_finite_outputs_and_gradients(residual_term):
    model = build_feawad(5, (4, 3), (6, 2), residual_term=residual_term, seed=1)
    x = np.zeros((4, 5), np.float32)  # without biases the reconstruction of 0 is 0
    autoencoder = build_autoencoder(5, (4, 3))
    autoencoder.set_weights(model.get_weights()[:10])
    residual, _ = autoencoder(x)
    assert not residual.numpy().any()
    with tf.GradientTape() as tape:
        outputs = model(x)
        value = encoding_loss(tf.constant([0.0, 0.0, 1.0, 1.0]), outputs)
    assert np.isfinite(outputs).all()
    assert all(
        np.isfinite(gradient).all()
        for gradient in tape.gradient(value, model.collected("trainable_variables"))
    )


def test_norm_by_hand():
    np.testing.assert_allclose(row_norm(tf.constant([[3.0, 4.0], [0.0, 0.0]])), [[5.0], [1e-4]], rtol=1e-5)


# ---------------------------------------------------------------------------- batches and training


@pytest.mark.parametrize("input_layer", [True, False])
def test_pre_training_learns_to_reconstruct(input_layer):
    X, _, known = two_clusters()
    settings = {"encoder": (16, 4), "epochs": 20, "learning_rate": 1e-3, "batch_size": 64}
    first = _Pretraining(**settings, input_layer=input_layer).fit_rows(
        X, np.flatnonzero(known == 0), np.flatnonzero(known == 1)
    )
    residual = first.model_(X[known == 0]).numpy()
    alive = (X[known == 0] - residual).any(
        axis=0
    )  # a ReLU output that starts out negative for all rows stays 0
    assert alive.sum() >= 2 and first.losses_[-1] < first.losses_[0]
    assert (residual[:, alive] ** 2).mean() < 0.5 * X[known == 0][:, alive].var(axis=0).mean()


@pytest.mark.parametrize("input_layer", [True, False])
def test_joint_training_starts_from_the_pre_trained_autoencoder(uncompiled, input_layer):
    X, _, known = two_clusters()
    unlabeled, anomalies = np.flatnonzero(known == 0), np.flatnonzero(known == 1)
    model = FEAWAD(**FEW_STEPS, input_layer=input_layer).initial_network(X, unlabeled, anomalies, seed=5)
    first = _Pretraining(5, (16, 4), input_layer=input_layer, epochs=1, batches_per_epoch=5, batch_size=64)
    pretrained = first.fit_rows(X, unlabeled, anomalies).model_.get_weights()
    seed = int(np.random.default_rng(5).integers(2**31))  # the one that fit draws
    fresh = build_autoencoder(6, (16, 4), input_layer, keras.random.SeedGenerator(seed)).get_weights()
    assert len(pretrained) == len(fresh) == (10 if input_layer else 8)
    for weights, wanted, start in zip(model.get_weights(), pretrained, fresh):
        np.testing.assert_array_equal(weights, wanted)
        assert 2e-4 < np.abs(wanted - start).max() < 0.1  # it did train, from there, for 5 steps of 1e-4


def test_distinct_rows_give_the_gradient_of_all_rows():
    """Two anomalies at six places, encoded once each, against a plain Keras call on all eight rows."""
    rng = np.random.default_rng(0)
    rows, places = rng.random((4, 6), dtype=np.float32), np.array([[0, 1, 2, 3, 3, 2, 3, 3]])
    labels = np.float32([0, 0, 1, 1, 1, 1, 1, 1])
    detector = FEAWAD(**SMALL)
    model, caught = detector.build(6, seed=1), []
    with tf.GradientTape() as tape:
        loss = detector.loss(labels, model(rows[places[0]]))
    wanted = tape.gradient(loss, model.collected("trainable_variables"))
    trainer = Trainer(model, detector.loss, detector.optimizer())
    trainer.optimizer.apply = lambda gradients, variables: caught.extend(gradients)
    assert float(trainer._step(rows, places, labels, ())) == pytest.approx(float(loss), rel=1e-6)
    assert len(caught) == len(wanted) == 16
    for gradient, expected in zip(caught, wanted):
        np.testing.assert_allclose(gradient, expected, atol=1e-6)


# ---------------------------------------------------------------------------- detector


def test_optimisers(uncompiled):
    shared, released = FEAWAD(optimizer_name="rmsprop", learning_rate=1e-3).optimizer(), FEAWAD().optimizer()
    assert shared.global_clipnorm == 1.0 and float(shared.learning_rate) == pytest.approx(1e-3)
    assert isinstance(released, keras.optimizers.Adam) and float(released.learning_rate) == pytest.approx(
        1e-4
    )
    X, _, known = two_clusters()
    scores = [
        FEAWAD(optimizer_name=name, **FEW_STEPS).fit(X, known).decision_function(X)
        for name in ("rmsprop", "adam")
    ]
    assert np.abs(scores[0] - scores[1]).max() > 1e-4
