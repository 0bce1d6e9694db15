"""The one training loop of all Keras detectors, compiled (Alg. 1, steps 3-9).

A fit is one call of one XLA graph: the rows stay where they are, the index batches were drawn
beforehand by the detector's sampler, and the graph gathers the rows of each batch itself. The graph is
compiled once and serves every later fit of the same network on rows of the same shape.

What the paper leaves open, and decides the numbers:
  - R of Eq. 5 is the sum of squares of the hidden layers' kernels only, without biases and the output layer;
  - gradients are clipped to a *global* norm of 1 (over all variables together);
  - the weights that are kept are those at the end of the epoch with the lowest mean loss, l2 included.
"""

import contextlib
import functools
import os
from typing import NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # its kernels round differently from one CPU to the next

import keras
import numpy as np
import tensorflow as tf
from scipy import sparse
from tensorflow.compiler.tf2xla.python.xla import optimization_barrier  # not in TensorFlow's public interface

from detector import Detector, apply_in_chunks, logger


class TrainingDiverged(ValueError):
    """The loss of a fit is no longer a number."""


class Batches(NamedTuple):
    """All batches of a fit: which rows each one has, and how its rows are arranged, the same in every batch.

    The drawn rows of a batch are numbered: first its m_u unlabelled ones, then its m_a anomalies. layout (k, b) says
    which of them stands at each of b places of each of the model's k inputs.
    """

    unlabeled: np.ndarray  # (n_batches, m_u) positions in the data
    anomalies: np.ndarray  # (n_batches, m_a) positions in the list of labelled anomalies
    layout: np.ndarray  # (k, b)
    targets: np.ndarray  # (b,), or (n_batches, b) where each batch has its own

    def distinct_rows(self, anomalies):
        """The rows that have to be encoded, given the positions of A in the data.

        Returns positions that all batches share, positions drawn for each batch (n_batches, m), and for each place
        which of a batch's rows (first the drawn, then the shared) stands there (n_batches, k, b).
        """
        n_batches, m_u = self.unlabeled.shape
        if len(anomalies) >= self.anomalies.shape[1]:  # encoding all of A would be more work than encoding the drawn ones
            drawn = np.hstack([self.unlabeled, anomalies[self.anomalies]])
            return anomalies[:0], drawn, np.broadcast_to(self.layout, (n_batches, *self.layout.shape))
        numbers = np.empty((n_batches, m_u + self.anomalies.shape[1]), np.int32)
        numbers[:, :m_u], numbers[:, m_u:] = np.arange(m_u), m_u + self.anomalies
        return anomalies, self.unlabeled, numbers.take(self.layout, axis=1)


class RMSprop(keras.optimizers.RMSprop):
    """RMSprop with the step of the Keras that the paper used (2.3.1): g / (sqrt(v) + epsilon).

    Keras 3 divides by sqrt(v + epsilon) instead, which slows weights with small gradients down.
    """

    def update_step(self, gradient, variable, learning_rate):
        velocity = self._velocities[self._get_variable_index(variable)]
        self.assign(velocity, self.rho * velocity + (1 - self.rho) * tf.square(gradient))
        self.assign_sub(variable, learning_rate * gradient / (tf.sqrt(velocity) + self.epsilon))


def rmsprop(learning_rate):
    """The optimiser of all networks, as the authors set it (Sec. 5.2 gives the rate only)."""
    return RMSprop(learning_rate, rho=0.9, epsilon=1e-7, global_clipnorm=1.0)


def seed_generator(seed):
    """A source of initial weights, always of the same name.

    Keras would number its name, and those of layers: TensorFlow caches what it needs to create a variable under the variable's name,
    and frees it never. With new names in every fit, that is 0.1 MB a fit.
    """
    return keras.random.SeedGenerator(seed, name="seeds")


def hidden_layer(units, l2, seeds, use_bias=True, name="hidden"):
    """A layer of ReLU units with l2 on its kernel; its name must be new in its model."""
    return keras.layers.Dense(
        units,
        name=name,
        activation="relu",
        use_bias=use_bias,
        kernel_initializer=keras.initializers.GlorotUniform(seeds),
        kernel_regularizer=keras.regularizers.L2(l2),
    )


def build_psi(n_features, hidden_units, l2, seeds, use_bias=True):
    """Feature learner psi (Eq. 1): one hidden layer of ReLU units, the same in all deep detectors (App. B.2.2)."""
    instance = keras.Input((n_features,))
    return keras.Model(instance, hidden_layer(hidden_units, l2, seeds, use_bias)(instance), name="psi")


def state_of(model):
    """The values of all of a model's variables: its weights, and the random states of its dropout layers."""
    return [variable.numpy() for variable in model.variables]


class Trainer:
    """A model, its loss and its optimiser, compiled together into the graph of a fit.

    The model is eta(psi(x_1), ..., psi(x_k)) of k input rows, with its two parts as layers named "psi" and "eta". A step
    encodes each distinct row of its batch once, then arranges the codes: the few labelled anomalies recur many
    times in a batch. A model without these parts gets the rows themselves, and so does one with dropout in psi, where
    each place of a batch needs a mask of its own.
    loss(targets, outputs, *constants) returns the mean loss of a batch without the l2 terms, which the model
    carries itself. `constants` are arrays that may differ from fit to fit without a new compilation.
    """

    def __init__(self, model, loss, optimizer):
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        parts = {layer.name: layer for layer in model.layers}
        self._psi, self._eta = parts.get("psi"), parts.get("eta", model)
        if self._psi and not self._psi.weights:  # psi is the identity
            self._psi = None
        elif self._psi and len(self._psi.variables) > len(self._psi.weights):  # psi has random states: dropout
            self._psi, self._eta = None, model
        optimizer.build(model.trainable_variables)
        self._fresh_optimizer = [variable.numpy() for variable in optimizer.variables]
        self._graph = tf.function(self._run_epochs, jit_compile=True, autograph=False)
        self._compiled = set()  # shapes of the data that it was compiled for

    def fit(self, rows, anomalies, batches, n_epochs, initial_state, constants=()):
        """Train from initial_state; return the best epoch's weights and the mean loss of every epoch.

        rows: (n, D) float32; anomalies: positions of A in rows; batches: as the sampler drew them;
        initial_state: state_of a model, so that a fit's dropout masks do not depend on the fits before it.
        """
        numbers = as_tensor(rows)
        shared, drawn, places = batches.distinct_rows(anomalies)
        targets = batches.targets if batches.targets.ndim == 1 else batches.targets.reshape(n_epochs, -1, batches.targets.shape[1])
        data = (
            numbers,
            tf.constant(shared, tf.int32),
            tf.constant(drawn.reshape(n_epochs, -1, *drawn.shape[1:]), tf.int32),
            tf.constant(places.reshape(n_epochs, -1, *places.shape[1:]), tf.int32),
            tf.constant(targets, numbers.dtype),
            [tf.constant(value, numbers.dtype) for value in constants],
        )
        variables = [*self.model.variables, *self.optimizer.variables]
        for variable, value in zip(variables, [*initial_state, *self._fresh_optimizer], strict=True):
            variable.assign(value)
        shapes = tuple(tuple(part.shape) for part in data[:-1])
        # the first call compiles the graph, which TensorFlow announces on the file descriptor itself
        with contextlib.nullcontext() if shapes in self._compiled else _silent_stderr():
            losses, *best_weights = [result.numpy() for result in self._graph(*data)]
        self._compiled.add(shapes)
        for epoch, loss in enumerate(losses):
            check_loss(loss, epoch, n_epochs, rows)
        return best_weights, losses.tolist()

    def _run_epochs(self, rows, shared, drawn, places, targets, constants):
        """All epochs; returns their mean losses (n_epochs,) and the weights at the end of the one with the lowest."""
        n_epochs = drawn.shape[0]

        def one_epoch(epoch, losses, lowest, *best_weights):
            loss = self._run_epoch(epoch, rows, shared, drawn, places, targets, constants)
            losses = tf.tensor_scatter_nd_update(losses, [[epoch]], [loss])
            kept = [tf.where(loss < lowest, weight, best) for weight, best in zip(self.model.weights, best_weights)]
            return epoch + 1, losses, tf.minimum(loss, lowest), *kept

        start = 0, tf.zeros(n_epochs, rows.dtype), tf.constant(np.inf, rows.dtype), *map(tf.convert_to_tensor, self.model.weights)
        _, losses, _, *best_weights = tf.while_loop(lambda epoch, *_: epoch < n_epochs, one_epoch, start)
        return losses, *best_weights

    def _run_epoch(self, epoch, rows, shared, drawn, places, targets, constants):
        """All gradient steps of one epoch; returns their mean loss."""
        drawn, places = tf.gather(drawn, epoch), tf.gather(places, epoch)  # not [epoch]: XLA wants a slice's bounds constant
        n_steps = drawn.shape[0]

        def one_step(step, total):
            batch_rows = tf.gather(rows, tf.concat([tf.gather(drawn, step), shared], axis=0))
            own_targets = targets if targets.shape.rank == 1 else tf.gather(tf.gather(targets, epoch), step)
            return step + 1, total + self._step(batch_rows, tf.gather(places, step), own_targets, constants)

        return tf.while_loop(lambda step, total: step < n_steps, one_step, (0, tf.zeros((), rows.dtype)))[1] / n_steps

    def _step(self, batch_rows, places, targets, constants):
        """One gradient step (Alg. 1, steps 6 and 7) on the distinct rows of a batch; places: (k, b) positions in them."""
        with tf.GradientTape() as tape:
            codes = finish_psi(self._psi, product(batch_rows, self._psi.layers[1].kernel)) if self._psi else batch_rows
            inputs = [tf.gather(codes, places[i]) for i in range(places.shape[0])]
            outputs = self._eta(inputs if len(inputs) > 1 else inputs[0], training=True)
            loss = self.loss(targets, outputs, *constants) + sum(self.model.losses)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply(gradients, self.model.trainable_variables)
        return loss


def check_loss(loss, epoch, n_epochs, rows):
    """Refuse to go on after an epoch on rows (n, D) whose mean loss is no number."""
    if not np.isfinite(loss):
        raise TrainingDiverged(
            f"the loss became {loss} in epoch {epoch + 1} of {n_epochs}: are the features scaled (to about 0-1; "
            f"the largest here is {max(rows.max(), -rows.min()):.3g}), and is the learning rate not too high?"
        )


@tf.custom_gradient
def product(rows, kernel):
    """X K of rows X (n, D) and a kernel K (D, h), whose gradient by K, X'G, is computed as (G'X)'.

    That is the same sum, but XLA takes X'G as it stands several times longer on a CPU. The barrier keeps it from turning one into
    the other. There is no gradient by the rows.
    """
    return rows @ kernel, lambda gradient: (None, tf.transpose(*optimization_barrier(tf.matmul(gradient, rows, transpose_a=True))))


def finish_psi(psi, products, training=False):
    """psi(x) from the products (n, h) of the rows x and psi's first kernel."""
    first, *others = psi.layers[1:]  # layers[0] is the input
    codes = first.activation(products + first.bias if first.use_bias else products)
    for layer in others:
        codes = layer(codes, training=training)
    return codes


def encoder(psi):
    """psi as a function of rows (n, D), dense or CSR: in numpy, because handing rows to TensorFlow takes longer than a product."""
    dense = [layer for layer in getattr(psi, "layers", ()) if isinstance(layer, keras.layers.Dense)]  # the identity has no layers
    weights = [(np.asarray(layer.kernel), np.asarray(layer.bias) if layer.use_bias else None) for layer in dense]

    def encode(rows):
        codes = rows
        for kernel, bias in weights:  # those of hidden_layer; outside training, dropout between them does nothing
            codes = codes @ kernel
            if bias is not None:
                codes += bias
            np.maximum(codes, 0, out=codes)
        return codes

    return encode


def codes_at(psi, X, positions):
    """psi(x) (n, h) of the rows of X at positions."""
    if len(positions) > X.shape[0] / 2:  # then copying whole rows takes longer than encoding those between them, too
        return apply_in_chunks(encoder(psi), X)[positions]
    return apply_in_chunks(encoder(psi), X, positions)


def as_tensor(rows):
    """Rows as a tensor without copying them: a memory-mapped matrix stays one copy for all processes."""
    rows = np.ascontiguousarray(rows)
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

    Its parameters are the settings that the paper gives all deep detectors (Sec. 5.2, App. B.2.2). Subclasses with more of
    them list all in their own __init__, because scikit-learn reads them off there. They define
      build(n_features, seed)                                    -> keras.Model with layers "psi" and "eta" (see Trainer)
      loss(targets, outputs, *constants)                         -> scalar, without the l2 terms
      sample_batches(X, unlabeled, anomalies, n_batches, rng)    -> Batches
    and where the method needs it
      initial_model(X, unlabeled, anomalies, seed)               -> the model that training starts from (default: build's)
      loss_constants(X, unlabeled, anomalies, model, rng)        -> further arguments of loss, made once per fit (default: none)
    build, loss and optimizer may read every parameter but random_state: one compiled graph serves all seeds.
    """

    takes_sparse = False
    slow_on_sparse = True  # every weight of a million columns changes in every step

    def __init__(
        self, random_state=0, hidden_units=20, l2=0.01, learning_rate=1e-3, epochs=50, batches_per_epoch=20, batch_size=512
    ):
        self.random_state = random_state
        self.hidden_units = hidden_units
        self.l2 = l2
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batches_per_epoch = batches_per_epoch
        self.batch_size = batch_size

    def initial_model(self, X, unlabeled, anomalies, seed):
        return self.build(X.shape[1], seed)

    def loss_constants(self, X, unlabeled, anomalies, model, rng):
        return ()

    def optimizer(self):
        return rmsprop(self.learning_rate)

    def _fit(self, X, unlabeled, anomalies, rng):
        for name in ("epochs", "batches_per_epoch", "batch_size", "hidden_units"):
            if getattr(self, name, 1) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if sparse.issparse(X) and not self.takes_sparse:
            raise TypeError(f"{self!r} takes dense rows only, not a sparse matrix")
        model = self.initial_model(X, unlabeled, anomalies, seed=int(rng.integers(2**31)))
        batches = self.sample_batches(X, unlabeled, anomalies, self.epochs * self.batches_per_epoch, rng)
        constants = self.loss_constants(X, unlabeled, anomalies, model, rng)
        n_features = None if sparse.issparse(X) else X.shape[1]
        trainer = _compiled_trainer(type(self), self._settings(), n_features)  # type: ignore[arg-type]
        weights, losses = trainer.fit(X, anomalies, batches, self.epochs, state_of(model), constants)
        model.set_weights(weights)
        self.model_, self.losses_ = model, losses
        message = "%s: %d epochs, mean loss %.4g in the first, lowest %.4g in epoch %d"
        logger.info(message, type(self).__name__, self.epochs, losses[0], min(losses), np.argmin(losses) + 1)

    def _settings(self):
        """All parameters but the seed, hashable: what decides which compiled graph can be used."""
        return tuple((name, value) for name, value in sorted(self.get_params().items()) if name != "random_state")

    def __getattr__(self, name):
        """Called for what is not there: of the detector behind a compiled graph, the seed."""
        if name == "random_state":
            user = f"build, loss and optimizer of {type(self).__name__}"
            raise AttributeError(f"{user} must not read random_state: one compiled graph serves all seeds")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


@functools.lru_cache(maxsize=8)
def _compiled_trainer(detector_class, settings, n_features):
    """The trainer for this network, shared by all fits of a process: compilation is paid once; n_features None: for sparse rows."""
    detector = detector_class(**dict(settings))
    del detector.random_state  # it would be that of no fit
    if n_features is None:
        from sparse_training import SparseTrainer  # which needs this module

        return SparseTrainer(detector.build(1, seed=0), detector.loss, detector.optimizer())
    return Trainer(detector.build(n_features, seed=0), detector.loss, detector.optimizer())
