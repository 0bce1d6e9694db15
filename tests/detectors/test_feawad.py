"""FEAWAD: network, scores and pre-training."""

import numpy as np
import pytest
from toys import two_clusters

from feawad import FEAWAD, _Pretraining, build_autoencoder, build_feawad, score_rows
from weakly.training.network import keras, tf

FEW_STEPS = {"encoder": (16, 4), "scorer": (16, 8), "pretraining_epochs": 1, "epochs": 1}
FEW_STEPS |= {"batch_size": 64, "batches_per_epoch": 5}
RAW = {"residual_term": "paper", "input_layer": False}  # as in FEAWAD's paper
RELEASED_KERNELS = [(21, 21), (21, 128), (128, 64), (64, 128), (128, 21), (86, 256), (257, 32), (33, 1)]


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


@pytest.mark.parametrize("residual_term, input_layer", [("paper", True), ("released", False)])
def test_outputs_of_keras_and_scores_in_numpy_are_the_same(residual_term, input_layer):
    """With biases that are not 0; beside the score stands the residual's norm, or 1 as released."""
    model = build_feawad(5, (4, 3), (6, 2), 0.0, residual_term, input_layer, seed=1)
    rng = np.random.default_rng(0)
    model.set_weights([weights + rng.normal(0, 0.1, weights.shape) for weights in model.get_weights()])
    rows = rng.random((7, 5), dtype=np.float32)
    autoencoder = build_autoencoder(5, (4, 3), input_layer)
    autoencoder.set_weights(model.get_weights()[: len(autoencoder.weights)])
    norms = np.linalg.norm(autoencoder(rows)[0], axis=1) if residual_term == "paper" else np.ones(7)
    scores = score_rows(rows, model.get_weights(), (4, 3), input_layer)
    np.testing.assert_allclose(model(rows).numpy(), np.column_stack([scores, norms]), atol=1e-5)


@pytest.mark.parametrize("input_layer", [True, False])
def test_joint_training_starts_from_the_pre_trained_autoencoder(uncompiled, input_layer):
    X, _, known = two_clusters()
    rows = np.flatnonzero(known == 0), np.flatnonzero(known == 1)
    model = FEAWAD(**FEW_STEPS, input_layer=input_layer).initial_network(X, *rows, seed=5)
    first = _Pretraining(5, (16, 4), input_layer=input_layer, epochs=1, batches_per_epoch=5, batch_size=64)
    pretrained = first.fit_rows(X, *rows).model_.get_weights()
    seed = int(np.random.default_rng(5).integers(2**31))  # the one that fit draws
    fresh = build_autoencoder(6, (16, 4), input_layer, keras.random.SeedGenerator(seed)).get_weights()
    assert len(pretrained) == len(fresh) == (10 if input_layer else 8)
    for weights, wanted, start in zip(model.get_weights(), pretrained, fresh):
        np.testing.assert_array_equal(weights, wanted)
        assert 2e-4 < np.abs(wanted - start).max() < 0.1  # it did train, from there, for 5 steps of 1e-4
