"""The one training loop of all Keras detectors, compiled (Alg. 1, steps 3-9).

A fit is one call of one XLA graph: the rows stay where they are, the detector's sampler has drawn all batches
as positions, and the graph gathers the rows of each batch. The graph is compiled once and serves every later
fit of the same network on rows of the same shape.

Choices that the paper leaves open and that affect the numbers:
  - R of Eq. 5 is the sum of squares of the hidden layers' kernels only, without biases and the output layer;
  - gradients are clipped to a *global* norm of 1 (over all variables together);
  - the weights at the end of the epoch with the lowest mean loss, l2 included, are kept.

Importing this file imports TensorFlow, so detectors import it only to fit.
"""

import contextlib
import os

import numpy as np

from weakly.training.network import finish_psi, first_kernel, keras, tf

# isort: split
from tensorflow.compiler.tf2xla.python.xla import optimization_barrier  # not in TensorFlow's public interface


class RMSprop(keras.optimizers.RMSprop):
    """RMSprop with the step of the Keras that the paper used (2.3.1): g / (sqrt(v) + epsilon).

    Keras 3 divides by sqrt(v + epsilon) instead, which slows down weights with small gradients.
    """

    def update_step(self, gradient, variable, learning_rate):
        velocity = self._velocities[self._get_variable_index(variable)]
        self.assign(velocity, self.rho * velocity + (1 - self.rho) * tf.square(gradient))
        self.assign_sub(variable, learning_rate * gradient / (tf.sqrt(velocity) + self.epsilon))


def rmsprop(learning_rate):
    """The optimiser of all networks, with the authors' settings (Sec. 5.2 gives only the rate)."""
    return RMSprop(learning_rate, rho=0.9, epsilon=1e-7, global_clipnorm=1.0)


class Trainer:
    """A Network, its loss and its optimiser, compiled together into the graph of a fit.

    A step encodes each distinct row of its batch once and then arranges the codes, because the few labelled
    anomalies occur many times in a batch. loss(targets, outputs, *constants) returns the mean loss of a batch
    without the network's l2 terms; the constants may differ from fit to fit without a new compilation.
    """

    def __init__(self, network, loss, optimizer, keeps_last=False):
        self.network = network
        self.keeps_last = keeps_last
        self.loss = loss
        self.optimizer = optimizer
        self._weights = network.collected("weights")
        self._trainable = network.collected("trainable_variables")
        optimizer.build(self._trainable)
        self._fresh_optimizer = [variable.numpy() for variable in optimizer.variables]
        self._graph = tf.function(self._run_epochs, jit_compile=True, autograph=False)

    def fit(self, rows, anomalies, batches, n_epochs, initial_state, constants=()):
        """Train from initial_state; return the weights that are kept and the mean loss of every epoch.

        rows: (n, D) float32; anomalies: positions of A in rows; batches: as the sampler drew them;
        initial_state: get_state() of a network, so that dropout masks do not depend on earlier fits.
        """
        numbers = as_tensor(rows)
        distinct = batches.distinct_rows(anomalies)

        def by_epoch(values):
            return values.reshape(n_epochs, -1, *values.shape[1:])

        targets = batches.targets if batches.targets.ndim == 1 else by_epoch(batches.targets)
        data = (
            numbers,
            tf.constant(distinct.shared, tf.int32),
            tf.constant(by_epoch(distinct.drawn), tf.int32),
            tf.constant(by_epoch(distinct.places), tf.int32),
            tf.constant(targets, numbers.dtype),
            [tf.constant(value, numbers.dtype) for value in constants],
        )
        variables = [*self.network.collected("variables"), *self.optimizer.variables]
        for variable, value in zip(variables, [*initial_state, *self._fresh_optimizer], strict=True):
            variable.assign(value)
        with silent_stderr():  # the first call compiles, which TensorFlow announces on the file descriptor
            losses, *kept = [result.numpy() for result in self._graph(*data)]
        for epoch, loss in enumerate(losses):
            check_loss(loss, epoch, n_epochs, rows)
        return kept, losses.tolist()

    def _run_epochs(self, rows, shared, drawn, places, targets, constants):
        """Run all epochs; returns their mean losses (n_epochs,) and the weights that are kept."""
        n_epochs = drawn.shape[0]

        def one_epoch(epoch, losses, lowest, *kept):
            loss = self._run_epoch(epoch, rows, shared, drawn, places, targets, constants)
            losses = tf.tensor_scatter_nd_update(losses, [[epoch]], [loss])
            is_kept = True if self.keeps_last else loss < lowest
            weights = [tf.where(is_kept, *pair) for pair in zip(self._weights, kept)]
            return epoch + 1, losses, tf.minimum(loss, lowest), *weights

        weights = map(tf.convert_to_tensor, self._weights)
        start = (0, tf.zeros(n_epochs, rows.dtype), tf.constant(np.inf, rows.dtype), *weights)
        _, losses, _, *kept = tf.while_loop(lambda epoch, *_: epoch < n_epochs, one_epoch, start)
        return losses, *kept

    def _run_epoch(self, epoch, rows, shared, drawn, places, targets, constants):
        """Run all gradient steps of one epoch; returns their mean loss."""
        # not [epoch]: XLA needs constant bounds of a slice
        drawn, places = tf.gather(drawn, epoch), tf.gather(places, epoch)
        n_steps = drawn.shape[0]

        def one_step(step, total):
            batch_rows = tf.gather(rows, tf.concat([tf.gather(drawn, step), shared], axis=0))
            own_targets = targets if targets.shape.rank == 1 else tf.gather(tf.gather(targets, epoch), step)
            return step + 1, total + self._step(batch_rows, tf.gather(places, step), own_targets, constants)

        start = (0, tf.zeros((), rows.dtype))
        return tf.while_loop(lambda step, total: step < n_steps, one_step, start)[1] / n_steps

    def _step(self, batch_rows, places, targets, constants):
        """One gradient step (Alg. 1, steps 6 and 7) on a batch's distinct rows; places: (k, b)."""
        psi, eta, has_dropout = self.network
        with tf.GradientTape() as tape:
            codes = encode_rows(psi, batch_rows) if psi and not has_dropout else batch_rows
            inputs = [tf.gather(codes, places[i]) for i in range(places.shape[0])]
            if has_dropout:
                inputs = [psi(rows, training=True) for rows in inputs]
            outputs = eta(inputs if len(inputs) > 1 else inputs[0], training=True)
            loss = self.loss(targets, outputs, *constants) + sum(self.network.collected("losses"))
        gradients = tape.gradient(loss, self._trainable)
        self.optimizer.apply(gradients, self._trainable)
        return loss


def check_loss(loss, epoch, n_epochs, rows):
    """Stop after an epoch on rows (n, D) whose mean loss is not finite."""
    if not np.isfinite(loss):
        raise ValueError(
            f"the loss became {loss} in epoch {epoch + 1} of {n_epochs}: "
            "are the features scaled (to about 0-1; "
            f"the largest here is {max(rows.max(), -rows.min()):.3g}), and is the learning rate not too high?"
        )


def encode_rows(psi, rows):
    """psi(x) of a batch's rows in training; where rows meet a kernel first, with the fast product."""
    if isinstance(psi.layers[1], keras.layers.Dense):
        return finish_psi(psi, product(rows, first_kernel(psi)))
    return psi(rows, training=True)


@tf.custom_gradient
def product(rows, kernel):
    """X K of rows X (n, D) and a kernel K (D, h); its gradient with respect to K, X'G, is computed as (G'X)'.

    X'G itself takes XLA several times longer on a CPU, and the barrier keeps XLA from turning one into the
    other. There is no gradient with respect to the rows.
    """

    def gradients(gradient):
        return None, tf.transpose(*optimization_barrier(tf.matmul(gradient, rows, transpose_a=True)))

    return rows @ kernel, gradients


def as_tensor(rows):
    """Rows as a tensor without copying them: a memory-mapped matrix stays one copy for all processes."""
    rows = np.ascontiguousarray(rows)
    if not rows.flags.writeable or rows.ctypes.data % 64:  # DLPack accepts neither
        return tf.constant(rows)
    return tf.experimental.dlpack.from_dlpack(rows.__dlpack__())


@contextlib.contextmanager
def silent_stderr():
    """Send file descriptor 2 to the null device for a moment."""
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)
