"""The compiled loop does what a plain Keras loop does, only faster."""

import numpy as np
import pytest
from toys import SmallA2H

from devnet import DevNet
from prenet import PReNet
from weakly.training import keras_detector, loop
from weakly.training.batches import Batches
from weakly.training.loop import Trainer, rmsprop
from weakly.training.network import keras, tf


def toy_rows(n=400, n_features=8, seed=0):
    return np.random.default_rng(seed).random((n, n_features), dtype=np.float32)


def plain_keras(detector, rows, anomalies, batches, n_steps, initial_state, constants):
    """Train a Keras model of the network with train_on_batch on the same batches."""
    network = detector.build(rows.shape[1], seed=0)
    for variable, value in zip(network.collected("variables"), initial_state, strict=True):
        variable.assign(value)
    instances = [keras.Input((rows.shape[1],)) for _ in batches.layout]
    model = keras.Model(instances, network(*instances))
    loss = lambda targets, outputs: detector.loss(targets, outputs, *constants)  # noqa: E731
    model.compile(
        optimizer=detector.optimizer(), loss=loss, jit_compile=True
    )  # XLA draws other dropout masks than TensorFlow
    for step in range(n_steps):
        drawn = np.concatenate([batches.unlabeled[step], anomalies[batches.anomalies[step]]])
        inputs = [rows[drawn[places]] for places in batches.layout]
        model.train_on_batch(inputs, batches.targets.astype(rows.dtype))
    return network.get_weights()


# In double precision, because RMSprop magnifies rounding: where a unit's gradient cancels to nothing but
# rounding errors, it still takes steps, and after hundreds of them float32 weights differ in the third digit.
@pytest.mark.parametrize("detector, n_anomalies", [
    (PReNet(batch_size=64), 5), (PReNet(batch_size=64), 100),
    (DevNet(batch_size=64), 5),
    (PReNet(batch_size=64, variant="LDM"), 5), (PReNet(batch_size=64, variant="NPR"), 5),
    (SmallA2H(batch_size=64, variant="A2H"), 5), (DevNet(batch_size=64, hidden_units=(12, 8)), 5),
], ids=[
    "prenet, few anomalies, encoded once", "prenet, many", "devnet",
    "no hidden layer", "hidden layer in eta", "dropout in psi", "two layers",
])  # fmt: skip
def test_compiled_loop_equals_train_on_batch(double_precision, detector, n_anomalies):
    rows, anomalies, n_steps = toy_rows().astype(np.float64), np.arange(n_anomalies), 100
    rng = np.random.default_rng(1)
    batches = detector.sample_batches(rows, np.arange(n_anomalies, len(rows)), anomalies, n_steps, rng)
    model = detector.build(rows.shape[1], seed=5)
    constants = detector.loss_constants(rows, np.arange(n_anomalies, len(rows)), anomalies, model, rng)
    start = model.get_state()
    expected = plain_keras(detector, rows, anomalies, batches, n_steps, start, constants)

    trainer = Trainer(model, detector.loss, detector.optimizer())
    trainer.fit(rows, anomalies, batches, n_steps // 20, start, constants)
    assert np.abs(expected[0] - start[0]).max() > 0.05  # it did train
    for reached, wanted in zip(trainer.network.get_weights(), expected):
        np.testing.assert_allclose(reached, wanted, atol=1e-7, rtol=0)


@pytest.mark.parametrize("detector", [PReNet(), DevNet()], ids=["prenet", "devnet"])
def test_scores_equal_those_of_the_plain_loop(double_precision, detector):
    """The fast path from batches to scores, against train_on_batch and the network itself (on all pairs)."""
    rows, anomalies, unlabeled, n_steps = (
        toy_rows().astype(np.float64),
        np.arange(10),
        np.arange(10, 400),
        200,
    )
    detector.set_params(epochs=1, batches_per_epoch=n_steps, batch_size=64, random_state=3)
    scores = detector.fit_rows(rows, unlabeled, anomalies)._score(rows)

    rng = np.random.default_rng(3)
    model = detector.initial_network(rows, unlabeled, anomalies, seed=int(rng.integers(2**31)))
    batches = detector.sample_batches(rows, unlabeled, anomalies, n_steps, rng)
    constants = detector.loss_constants(rows, unlabeled, anomalies, model, rng)
    detector.model_.set_weights(
        plain_keras(detector, rows, anomalies, batches, n_steps, model.get_state(), constants)
    )
    plain = detector.score_by_pairs(rows) if isinstance(detector, PReNet) else detector.model_(rows)
    assert np.std(plain) > 0.1
    np.testing.assert_allclose(scores, plain, atol=1e-6, rtol=0)


def test_kept_weights_are_those_of_the_epoch_with_the_lowest_loss():
    detector, rows, anomalies = PReNet(batch_size=32, learning_rate=0.3), toy_rows(), np.arange(5)
    batches = detector.sample_batches(rows, np.arange(5, 400), anomalies, 40, np.random.default_rng(0))
    model = detector.build(rows.shape[1], seed=1)
    start = model.get_weights()
    trainer = Trainer(model, detector.loss, detector.optimizer())
    best_weights, losses = trainer.fit(rows, anomalies, batches, 8, start)
    best = int(np.argmin(losses))
    assert 0 < best < 7  # at this learning rate the loss jumps about, so the last epoch is not the best
    until_best = Batches(
        batches.unlabeled[: 5 * (best + 1)],
        batches.anomalies[: 5 * (best + 1)],
        batches.layout,
        batches.targets,
    )
    _, losses_again = trainer.fit(rows, anomalies, until_best, best + 1, start)
    assert losses_again == losses[: best + 1]
    for kept, wanted in zip(best_weights, trainer.network.get_weights()):
        np.testing.assert_array_equal(kept, wanted)


def test_the_last_weights_are_kept_if_asked_for():
    detector, rows, anomalies = PReNet(batch_size=32, learning_rate=0.3), toy_rows(), np.arange(5)
    batches = detector.sample_batches(rows, np.arange(5, 400), anomalies, 40, np.random.default_rng(0))
    trainer = Trainer(detector.build(8, seed=1), detector.loss, detector.optimizer(), keeps_last=True)
    last_weights, losses = trainer.fit(rows, anomalies, batches, 8, detector.build(8, seed=1).get_state())
    assert np.argmin(losses) < 7
    for kept, wanted in zip(last_weights, trainer.network.get_weights(), strict=True):
        np.testing.assert_array_equal(kept, wanted)


def test_rmsprop_by_hand():
    """Two steps: the first gradient (3, 4) is clipped to (.6, .8), the second (.3, .4) is short enough."""
    optimizer = rmsprop(0.001)
    variables = [keras.Variable(0.0), keras.Variable(0.0)]
    optimizer.build(variables)
    for gradient in ((3.0, 4.0), (0.3, 0.4)):
        optimizer.apply([tf.constant(value) for value in gradient], variables)
    for variable, (first, second) in zip(variables, ((0.6, 0.3), (0.8, 0.4))):
        v_1 = 0.1 * first**2
        v_2 = 0.9 * v_1 + 0.1 * second**2
        expected = -0.001 * first / (v_1**0.5 + 1e-7) - 0.001 * second / (v_2**0.5 + 1e-7)
        assert float(variable) == pytest.approx(expected, rel=1e-5)


def test_rmsprop_divides_by_root_plus_epsilon():
    """With a gradient of 1e-6 the two forms of the step differ by a factor of 40.

    1e-6 / (sqrt(1e-13) + 1e-7) = 2.403.
    """
    optimizer, variable = rmsprop(0.001), keras.Variable(0.0)
    optimizer.build([variable])
    optimizer.apply([tf.constant(1e-6)], [variable])
    assert float(variable) == pytest.approx(-0.001 * 1e-6 / (1e-13**0.5 + 1e-7), rel=1e-4)


@pytest.mark.parametrize("detector", [PReNet(l2=0.01), DevNet(l2=0.01)], ids=["prenet", "devnet"])
def test_l2_is_on_the_hidden_kernel_only(detector):
    model = detector.build(8, seed=0)
    kernel = model.psi.get_weights()[0]
    (penalty,) = model.collected("losses")
    assert float(penalty) == pytest.approx(0.01 * np.sum(kernel**2), rel=1e-5)


def test_fits_of_one_network_share_one_compilation():
    keras_detector._compiled_trainer.cache_clear()
    X, y = toy_rows(), np.repeat([0, 1], [390, 10])
    for seed in range(3):
        PReNet(random_state=seed, epochs=2).fit(X, y)
    assert keras_detector._compiled_trainer.cache_info().misses == 1
    settings = tuple(sorted(PReNet(epochs=2).learning_parameters().items()))
    trainer = keras_detector._compiled_trainer(PReNet, settings, 8)
    assert trainer._graph.experimental_get_tracing_count() == 1


def test_rows_are_not_copied(tmp_path):
    """A memory-mapped matrix stays where it is: writing to it is seen through the tensor."""
    np.save(tmp_path / "rows.npy", toy_rows())
    rows = np.load(tmp_path / "rows.npy", mmap_mode="c")
    tensor = loop.as_tensor(rows)
    rows[3, 4] = 77
    assert float(tensor[3, 4]) == 77


# ---------------------------------------------------------------------------- the optimiser


def test_gradients_are_clipped_together():
    """Gradients (3, 4) and (12) have the norm 13 together; the first moving average is 0.1 g^2."""
    optimizer = PReNet().optimizer()
    variables = [tf.Variable([0.0, 0.0]), tf.Variable([0.0])]
    optimizer.apply([tf.constant([3.0, 4.0]), tf.constant([12.0])], variables)
    clipped = np.array([3, 4, 12]) / 13
    np.testing.assert_allclose(np.concatenate(optimizer._velocities), 0.1 * clipped**2, rtol=1e-5)


def test_epsilon_is_added_to_the_root():
    """g = 1e-4, so v = 0.1 * 1e-8: the step of Keras 3, g / sqrt(v + epsilon), would be a tenth of it."""
    variable = tf.Variable([0.0])
    PReNet().optimizer().apply([tf.constant([1e-4])], [variable])
    np.testing.assert_allclose(variable.numpy(), [-1e-3 * 1e-4 / (np.sqrt(1e-9) + 1e-7)], rtol=1e-4)
