"""The one training loop of all Keras detectors, compiled (Alg. 1, steps 3-9).

An epoch is one call of one XLA graph: the rows stay where they are, the index batches were drawn
beforehand by the detector's sampler, and the graph gathers the rows of each batch itself. The graph is
compiled once and serves every later fit of the same network on rows of the same shape.

What the paper leaves open, and decides the numbers:
  - gradients are clipped to a *global* norm of 1 (over all variables together);
  - the weights that are kept are those at the end of the epoch with the lowest mean loss, l2 included.
"""

import contextlib
import functools
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # its kernels round differently from one CPU to the next
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from scipy import sparse  # noqa: E402

from detector import Detector  # noqa: E402


class TrainingDiverged(ValueError):
    """The loss of a fit is no longer a number."""


class RMSprop(keras.optimizers.RMSprop):
    """RMSprop with the step of the Keras that the paper used (2.3.1): g / (sqrt(v) + epsilon).

    Keras 3 divides by sqrt(v + epsilon) instead, which slows weights with small gradients down.
    """

    def update_step(self, gradient, variable, learning_rate):
        velocity = self._velocities[self._get_variable_index(variable)]
        self.assign(velocity, self.rho * velocity + (1 - self.rho) * tf.square(gradient))
        self.assign_sub(variable, learning_rate * gradient / (tf.sqrt(velocity) + self.epsilon))


def rmsprop(learning_rate):
    """The optimiser of all networks, as the authors set it (Sec. 4.2 gives the rate only)."""
    return RMSprop(learning_rate, rho=0.9, epsilon=1e-7, global_clipnorm=1.0)


class Trainer:
    """A model, its loss and its optimiser, compiled together into one epoch graph.

    loss(targets, outputs, *constants) returns the mean loss of a batch without the l2 terms, which the model
    carries itself. `constants` are arrays that may differ from fit to fit without a new compilation.
    """

    def __init__(self, model, loss, optimizer):
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        optimizer.build(model.trainable_variables)
        self._fresh_optimizer = [variable.numpy() for variable in optimizer.variables]
        self._epoch = tf.function(self._run_epoch, jit_compile=True)
        self._compiled = False

    def fit(self, rows, inputs, targets, initial_weights, constants=()):
        """Train from initial_weights; return the best epoch's weights and the mean loss of every epoch.

        rows: (n, D) float32; inputs: (epochs, batches, n_inputs, batch) int32 positions in rows, one set per
        input of the model; targets: (epochs, batches, batch) float32.
        """
        rows = as_tensor(rows)
        constants = [tf.constant(value, tf.float32) for value in constants]
        self.model.set_weights(initial_weights)
        for variable, value in zip(self.optimizer.variables, self._fresh_optimizer):
            variable.assign(value)
        losses, best_weights = [], None
        for epoch in range(len(inputs)):
            # The very first call compiles; TensorFlow announces that on the file descriptor itself.
            with contextlib.nullcontext() if self._compiled else _silent_stderr():
                loss = float(self._epoch(rows, tf.constant(inputs[epoch]), tf.constant(targets[epoch]), constants))
            self._compiled = True
            if not np.isfinite(loss):
                raise TrainingDiverged(
                    f"the loss became {loss} in epoch {epoch + 1} of {len(inputs)}: are the features scaled (to about 0-1), "
                    "and is the learning rate not too high?"
                )
            if not losses or loss < min(losses):
                best_weights = self.model.get_weights()
            losses.append(loss)
        return best_weights, losses

    def _run_epoch(self, rows, inputs, targets, constants):
        """All gradient steps of one epoch; returns their mean loss."""
        total = tf.constant(0.0)
        for step in tf.range(tf.shape(inputs)[0]):
            batch = [tf.gather(rows, inputs[step, i]) for i in range(inputs.shape[1])]
            total += self.train_step(batch, targets[step], constants)
        return total / tf.cast(tf.shape(inputs)[0], tf.float32)

    def train_step(self, batch, targets, constants=()):
        """One gradient step on a batch of gathered rows (Alg. 1, steps 6 and 7)."""
        with tf.GradientTape() as tape:
            outputs = self.model(batch if len(batch) > 1 else batch[0], training=True)
            loss = self.loss(targets, outputs, *constants) + tf.add_n(self.model.losses or [0.0])
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply(gradients, self.model.trainable_variables)
        return loss


def as_tensor(rows):
    """Rows as a tensor without copying them: a memory-mapped matrix stays one copy for all processes."""
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    if not rows.flags.writeable or rows.ctypes.data % 64:  # DLPack wants neither
        return tf.constant(rows)
    return tf.experimental.dlpack.from_dlpack(rows.__dlpack__())


@contextlib.contextmanager
def _silent_stderr():
    """Send file descriptor 2 to the null device for a moment."""
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


class KerasDetector(Detector):
    """A detector that trains one Keras network with the shared loop.

    Subclasses take at least learning_rate, epochs, batches_per_epoch and random_state, and define
      build(n_features, seed)                                -> keras.Model
      loss(targets, outputs, *constants)                     -> scalar, without the l2 terms
      sample_batches(unlabeled, anomalies, n_batches, rng)   -> inputs (n_batches, n_inputs, batch), targets (n_batches, batch)
      loss_constants(rng)                                    -> further arguments of loss, drawn once per fit (default: none)
    """

    def loss_constants(self, rng):
        return ()

    def optimizer(self):
        return rmsprop(self.learning_rate)

    def _fit(self, X, unlabeled, anomalies, rng):
        if sparse.issparse(X):
            raise ValueError(f"{type(self).__name__} trains on dense rows; convert the matrix with .toarray() if it fits into memory")
        seed = int(rng.integers(2**31))
        self.model_ = self.build(X.shape[1], seed)
        inputs, targets = self.sample_batches(unlabeled, anomalies, self.epochs * self.batches_per_epoch, rng)
        by_epoch = (self.epochs, self.batches_per_epoch)
        trainer = _compiled_trainer(type(self), self._settings(), X.shape[1])
        start = time.perf_counter()
        weights, self.losses_ = trainer.fit(
            X,
            inputs.reshape(by_epoch + inputs.shape[1:]),
            targets.reshape(by_epoch + targets.shape[1:]),
            self.model_.get_weights(),
            self.loss_constants(rng),
        )
        self.training_seconds_ = time.perf_counter() - start
        self.model_.set_weights(weights)

    def _settings(self):
        """All parameters but the seed, hashable: what decides which compiled graph can be used."""
        return tuple((name, value) for name, value in sorted(self.get_params().items()) if name != "random_state")


@functools.lru_cache(maxsize=4)
def _compiled_trainer(detector_class, settings, n_features):
    """The trainer for this network, shared by all fits of a process: compilation is paid once."""
    detector = detector_class(**dict(settings))
    return Trainer(detector.build(n_features, seed=0), detector.loss, detector.optimizer())
