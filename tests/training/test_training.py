"""The compiled loop does what a plain Keras loop does, only faster; the optimisers; the compiled graphs."""

import numpy as np
import pytest
from toys import SmallA2H

from devnet import DevNet
from feawad import FEAWAD
from fsnet import CFSNet
from prenet import PReNet
from repen import REPEN
from weakly.methods import make_detector
from weakly.training import keras_detector
from weakly.training.loop import Trainer, rmsprop
from weakly.training.network import keras, tf


def toy_rows(n=400, n_features=8, seed=0):
    return np.random.default_rng(seed).random((n, n_features), dtype=np.float32)


def plain_keras(detector, rows, anomalies, batches, initial_state, constants):
    """Train a Keras model with train_on_batch on the same batches: its weights, mean losses of 20 batches."""
    network = detector.build(rows.shape[1], seed=0)
    for variable, value in zip(network.collected("variables"), initial_state, strict=True):
        variable.assign(value)
    instances = [keras.Input((rows.shape[1],)) for _ in batches.layout]
    model = keras.Model(instances, network(*instances))
    loss = lambda targets, outputs: detector.loss(targets, outputs, *constants)  # noqa: E731
    # XLA draws other dropout masks than TensorFlow
    model.compile(optimizer=detector.optimizer(), loss=loss, jit_compile=True)
    targets, losses = batches.targets.astype(rows.dtype), []
    for step, (unlabeled, numbers) in enumerate(zip(batches.unlabeled, batches.anomalies)):
        inputs = list(rows[np.concatenate([unlabeled, anomalies[numbers]])[batches.layout]])
        mean_loss = model.train_on_batch(inputs, targets if targets.ndim == 1 else targets[step])
        if step % 20 == 19:
            losses.append(mean_loss)
            model.reset_metrics()
    return network.get_weights(), losses


# In double precision, because RMSprop magnifies rounding: where a unit's gradient cancels to nothing but
# rounding errors, it still takes steps, and after hundreds of them float32 weights differ in the third digit.
@pytest.mark.parametrize("detector, n_anomalies", [
    (PReNet(batch_size=64), 5), (PReNet(batch_size=64), 100),
    (DevNet(batch_size=64), 5), (CFSNet(batch_size=64), 5),
    (PReNet(batch_size=64, variant="LDM"), 5), (PReNet(batch_size=64, variant="NPR"), 5),
    (SmallA2H(batch_size=64, variant="A2H"), 5), (DevNet(batch_size=64, hidden_units=(12, 8)), 5),
], ids=[
    "prenet, few anomalies, encoded once", "prenet, many", "devnet", "targets of each batch",
    "no hidden layer", "hidden layer in eta", "dropout in psi", "two layers",
])  # fmt: skip
def test_compiled_loop_equals_train_on_batch(double_precision, detector, n_anomalies):
    rows, anomalies, rng = toy_rows().astype(np.float64), np.arange(n_anomalies), np.random.default_rng(1)
    unlabeled = np.arange(n_anomalies, len(rows))
    batches = detector.sample_batches(rows, unlabeled, anomalies, 100, rng)
    model = detector.build(rows.shape[1], seed=5)
    constants = detector.loss_constants(rows, unlabeled, anomalies, model, rng)
    start = model.get_state()
    expected, expected_losses = plain_keras(detector, rows, anomalies, batches, start, constants)

    trainer = Trainer(model, detector.loss, detector.optimizer())
    _, losses = trainer.fit(rows, anomalies, batches, 5, start, constants)
    assert np.abs(expected[0] - start[0]).max() > 0.05  # it did train
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-6)
    for reached, wanted in zip(trainer.network.get_weights(), expected):
        np.testing.assert_allclose(reached, wanted, atol=1e-7, rtol=0)


@pytest.mark.parametrize("keeps_last", [False, True])
def test_kept_weights_are_those_of_the_epoch_with_the_lowest_loss_or_the_last(keeps_last):
    detector, rows, anomalies = PReNet(batch_size=32, learning_rate=0.3), toy_rows(), np.arange(5)
    batches = detector.sample_batches(rows, np.arange(5, 400), anomalies, 40, np.random.default_rng(0))
    model = detector.build(rows.shape[1], seed=1)
    start = model.get_weights()
    trainer = Trainer(model, detector.loss, detector.optimizer(), keeps_last)
    kept_weights, losses = trainer.fit(rows, anomalies, batches, 8, start)
    best = int(np.argmin(losses))
    assert 0 < best < 7  # at this learning rate the loss jumps about, so the last epoch is not the best
    if not keeps_last:
        n_steps = 5 * (best + 1)
        unlabeled, labeled = batches.unlabeled[:n_steps], batches.anomalies[:n_steps]
        until_best = batches._replace(unlabeled=unlabeled, anomalies=labeled)
        assert trainer.fit(rows, anomalies, until_best, best + 1, start)[1] == losses[: best + 1]
    for kept, wanted in zip(kept_weights, trainer.network.get_weights(), strict=True):
        np.testing.assert_array_equal(kept, wanted)


# ---------------------------------------------------------------------------- optimisers


def test_rmsprop_by_hand():
    """Two steps: the first gradients (3, 4) are clipped together to (.6, .8), the second are short enough."""
    optimizer, variables = rmsprop(0.001), [keras.Variable(0.0), keras.Variable(0.0)]
    optimizer.build(variables)
    for gradient in ((3.0, 4.0), (0.3, 0.4)):
        optimizer.apply([tf.constant(value) for value in gradient], variables)
    for variable, (first, second) in zip(variables, ((0.6, 0.3), (0.8, 0.4))):
        v_1 = 0.1 * first**2
        v_2 = 0.9 * v_1 + 0.1 * second**2
        expected = -0.001 * first / (v_1**0.5 + 1e-7) - 0.001 * second / (v_2**0.5 + 1e-7)
        assert float(variable) == pytest.approx(expected, rel=1e-5)
    # it divides by root plus epsilon: with a gradient of 1e-6, Keras 3's step is another by a factor of 40
    optimizer, variable = rmsprop(0.001), keras.Variable(0.0)
    optimizer.build([variable])
    optimizer.apply([tf.constant(1e-6)], [variable])
    assert float(variable) == pytest.approx(-0.001 * 1e-6 / (1e-13**0.5 + 1e-7), rel=1e-4)


@pytest.mark.parametrize("detector, name, settings", [
    (PReNet(), "RMSprop", {"learning_rate": 1e-3, "rho": 0.9, "epsilon": 1e-7, "global_clipnorm": 1.0}),
    (REPEN(), "Adadelta", {"learning_rate": 1.0, "rho": 0.95, "epsilon": 1e-7, "global_clipnorm": None}),
    (FEAWAD(), "Adam", {"learning_rate": 1e-4}),
    (make_detector("dsad-adgym"), "Adam", {"learning_rate": 1e-4, "epsilon": 1e-8}),
], ids=str)  # fmt: skip
def test_optimisers(detector, name, settings):
    optimizer = detector.optimizer()
    assert type(optimizer).__name__ == name
    config = optimizer.get_config()
    assert {key: config[key] for key in settings} == pytest.approx(settings)


# ---------------------------------------------------------------------------- compiled graphs


def test_fits_of_one_network_share_one_compilation_and_nothing_else():
    X, y, settings = toy_rows(), np.repeat([0, 1], [390, 10]), [{"epochs": 2}, {"epochs": 2, "margin": 0.25}]
    fresh = []
    for setting in settings:
        keras_detector._compiled_trainer.cache_clear()
        fresh.append(PReNet(**setting).fit(X, y).decision_function(X))
    for setting, scores in zip([*settings, *settings], [*fresh, *fresh]):
        np.testing.assert_array_equal(PReNet(**setting).fit(X, y).decision_function(X), scores)
    assert keras_detector._compiled_trainer.cache_info().misses == 2
    learning = tuple(sorted(PReNet(epochs=2).learning_parameters().items()))
    trainer = keras_detector._compiled_trainer(PReNet, learning, 8)
    assert trainer._graph.experimental_get_tracing_count() == 1


def test_other_parameters_are_compiled_anew(uncompiled):
    X, y = toy_rows(), np.repeat([0, 1], [390, 10])
    keras_detector._compiled_trainer.cache_clear()
    settings = [{}, {"variant": "NPR"}, {"variant": "TRM"}, {"l2": 0.1}, {"learning_rate": 0.01}]
    settings += [{"hidden_units": 5}]
    for setting in settings:
        PReNet(epochs=1, batches_per_epoch=1, **setting).fit(X, y)
    assert keras_detector._compiled_trainer.cache_info().misses == len(settings)
