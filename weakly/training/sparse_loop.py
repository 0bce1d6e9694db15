"""Training on sparse rows (CSR): the steps of loop.py, with work and memory that suit millions of columns.

No batch is ever made dense. The first kernel K (D, h) of psi, which multiplies the columns, stays in numpy:
  - the products x K of a batch's distinct rows are sparse products, and so is the data's share of the
    gradient, which is zero except in the columns that occur in the batch;
  - the rest of the network, which starts from the products x K, is a compiled graph;
  - l2 has a gradient in every column at every step. One pass over K, block by block so that it stays in the
    processor's cache, adds both shares, takes RMSprop's step and sums the squares for the next loss.

Columns that do not occur in a batch, or in no training row at all, are treated as the dense network treats
them: l2 acts on their weights in every step. RMSprop divides a gradient by its own recent size, so such a
weight moves by about the learning rate in each step, and in the end oscillates around zero by about half of
it. Test rows with these columns are scored with these weights.
"""

import contextlib
import functools

import numpy as np
from scipy.linalg.blas import daxpy, saxpy

from weakly.training.detector import logger
from weakly.training.loop import check_loss, silent_stderr
from weakly.training.network import finish_psi, first_kernel, tf

BLOCK_WEIGHTS = 65_536  # weights updated at a time: four arrays of this size stay in a cache of 2 MB
MERGE_EPOCHS = 10  # how often, in epochs, weights that have become equal are merged


class SparseTrainer:
    """A Network, its loss and its optimiser, like loop.Trainer, for CSR rows.

    The network may have been built for any number of columns, because its own first kernel is not used.
    """

    def __init__(self, network, loss, optimizer):
        self.network = network
        self.loss = loss
        self.optimizer = optimizer
        kernel = first_kernel(network.psi)
        self._l2 = float(kernel.regularizer.l2) if kernel.regularizer else 0.0
        self._others = [one for one in network.collected("trainable_variables") if one is not kernel]
        rate, rho, epsilon = float(optimizer.learning_rate), optimizer.rho, optimizer.epsilon
        self._rmsprop = functools.partial(rmsprop_step, learning_rate=rate, rho=rho, epsilon=epsilon)
        self._graph = tf.function(self._loss_and_gradients, jit_compile=True, autograph=False)

    @np.errstate(over="ignore", invalid="ignore")  # the loss shows if a fit diverges
    def fit(self, rows, anomalies, batches, n_epochs, initial_state, constants=()):
        """Train from initial_state; return the best epoch's weights and the mean loss of every epoch.

        rows: (n, D) CSR; initial_state: get_state() of a network for D columns; all else as in Trainer.fit.
        """
        distinct = batches.distinct_rows(anomalies)
        columns, _ = without_empty_columns(rows[np.unique(np.append(distinct.drawn, distinct.shared))])
        rows = rows[:, columns]
        targets = tf.constant(batches.targets, rows.dtype)
        constants = [tf.constant(value, rows.dtype) for value in constants]
        for variable, value in zip(self.network.collected("variables")[1:], initial_state[1:], strict=True):
            variable.assign(value)
        kernel = Kernel(initial_state[0], columns, self._rmsprop)
        others = [(one.numpy().copy(), np.zeros(one.shape, rows.dtype)) for one in self._others]
        losses, best_others, n_steps = [], [], len(distinct.drawn) // n_epochs
        for epoch in range(n_epochs):
            total = 0.0
            for step in range(epoch * n_steps, (epoch + 1) * n_steps):
                batch_rows = rows[np.concatenate([distinct.drawn[step], distinct.shared])]
                places = tf.constant(distinct.places[step], tf.int32)
                with contextlib.nullcontext() if step else silent_stderr():  # the first call compiles
                    total += self._step(kernel, others, batch_rows, places, targets, constants)
            loss = total / n_steps
            check_loss(loss, epoch, n_epochs, rows)
            if not losses or loss < min(losses):
                kernel.keep()
                best_others = self.network.get_weights()[1:]
            losses.append(loss)
            logger.info("epoch %d of %d: mean loss %.4g", epoch + 1, n_epochs, loss)
            if (epoch + 1) % MERGE_EPOCHS == 0:
                kernel.merge_equal()
        return [kernel.restored(), *best_others], losses

    def _step(self, kernel, others, batch_rows, places, targets, constants):
        """One gradient step on a batch's distinct rows, in the columns of kernel.seen; returns its loss."""
        products = batch_rows @ kernel.seen.values  # (m, h)
        results = self._graph(tf.constant(products), places, targets, constants)
        loss, by_products, *other_gradients = [result.numpy() for result in results]
        columns, narrow_rows = without_empty_columns(batch_rows)
        gradient = narrow_rows.T @ by_products  # the data's share, X^T G
        squares = kernel.sum_of_squares()
        # |X^T G + 2 l2 K|^2, whose mixed term is 4 l2 <X^T G, K> = 4 l2 <G, X K>
        mixed = 4 * self._l2 * np.vdot(by_products, products)
        norm_squared = np.vdot(gradient, gradient) + mixed + 4 * self._l2**2 * squares
        norm = np.sqrt(norm_squared + sum(np.vdot(other, other) for other in other_gradients))
        if not np.isfinite(norm):  # TensorFlow's clipping makes all weights NaN here
            return np.nan  # a factor of 0 would hide that nothing is learned
        clipnorm = self.optimizer.global_clipnorm
        scale = float(clipnorm / max(norm, clipnorm))
        gradient *= scale
        kernel.update(columns, gradient, 2 * self._l2 * scale)
        for variable, (values, gradient_squares), gradient in zip(self._others, others, other_gradients):
            self._rmsprop(values, gradient_squares, scale * gradient, np.empty_like(gradient))
            variable.assign(values)
        return float(loss) + self._l2 * squares

    def _loss_and_gradients(self, products, places, targets, constants):
        """The loss without K's l2 term, and its gradients by the products (m, h) and the other variables."""
        with tf.GradientTape() as tape:
            tape.watch(products)
            inputs = [tf.gather(products, places[i]) for i in range(places.shape[0])]
            codes = [finish_psi(self.network.psi, one, training=True) for one in inputs]
            outputs = self.network.eta(codes if len(codes) > 1 else codes[0], training=True)
            penalties = [variable.regularizer(variable) for variable in self._others if variable.regularizer]
            loss = self.loss(targets, outputs, *constants) + sum(penalties)
        gradients = tape.gradient(loss, [products, *self._others])
        return loss, *map(tf.convert_to_tensor, gradients)


class Kernel:
    """K (D, h) and its RMSprop state, in two parts: the columns seen in training, and all others.

    The initialiser draws from 2^23 values, and what happens to a weight of an unseen column depends only on
    its value. So equal ones stay equal, and each value is kept and updated once. All of them end in the same
    oscillation around zero, so more and more become equal, to the last digit, and are merged.
    """

    def __init__(self, values, columns, rmsprop):
        self._shape = values.shape
        self._columns = columns
        self._is_unseen = np.ones(len(values), bool)
        self._is_unseen[columns] = False
        self.seen = Blocks(values[columns], rmsprop)
        distinct, places, counts = np.unique(values[self._is_unseen], return_inverse=True, return_counts=True)
        self._unseen = Blocks(distinct[:, np.newaxis], rmsprop, counts[:, np.newaxis].astype(values.dtype))
        self._places = places.ravel().astype(np.int32)  # of the unseen weights among the distinct ones
        self.keep()

    def sum_of_squares(self):
        return self.seen.sum_of_squares + self._unseen.sum_of_squares

    def update(self, columns, gradient, decay):
        """A step along the data's gradient, (m, h) in some of the seen columns, plus decay * K."""
        self.seen.update(columns, gradient, decay)
        self._unseen.update(columns[:0], gradient[:0, :1], decay)

    def merge_equal(self):
        """Merge unseen weights that are now equal and have the same RMSprop state: they stay equal."""
        numbers = self._unseen.merge_equal()
        self._places = numbers[self._places]  # a new array: what was kept still has the old places

    def keep(self):
        """Remember the current values instead of the earlier ones."""
        self._kept = self.seen.values.copy(), self._unseen.values.copy(), self._places

    def restored(self):
        """K (D, h) as it was last kept."""
        seen, distinct, places = self._kept
        values = np.empty(self._shape, distinct.dtype)
        values[self._columns] = seen
        values[self._is_unseen] = distinct[places].reshape(-1, self._shape[1])
        return values


class Blocks:
    """Weights (n, h) and their RMSprop state, updated in place block by block.

    sum_of_squares is that of the current values, each counted counts (n, h) times (default: once).
    """

    def __init__(self, values, rmsprop, counts=None):
        self._rmsprop = rmsprop
        self._set(values, np.zeros_like(values), counts)

    def _set(self, values, gradient_squares, counts):
        self.values, self._gradient_squares, self._counts = values, gradient_squares, counts
        size = BLOCK_WEIGHTS // values.shape[1] + 1
        self._slices = [slice(start, start + size) for start in range(0, len(values), size)]
        self._gradient, self._spare = np.empty((2, size, values.shape[1]), values.dtype)
        self.sum_of_squares = sum(map(self._squares, self._slices))

    def _squares(self, block):
        values = self.values[block]
        if self._counts is None:
            return float(np.vdot(values, values))
        counted = np.multiply(values, self._counts[block], out=self._spare[: len(values)])
        return float(np.vdot(values, counted))

    def merge_equal(self):
        """Keep each pair of weight and state once, adding up counts (n, 1); returns the new numbers (n,)."""
        # as complex numbers, which numpy sorts far faster than the rows of a matrix
        pairs, numbers = np.unique(self.values[:, 0] + 1j * self._gradient_squares[:, 0], return_inverse=True)
        counts = np.bincount(numbers, self._counts[:, 0]).astype(self.values.dtype)
        self._set(*(column[:, np.newaxis].copy() for column in (pairs.real, pairs.imag, counts)))
        return numbers.astype(np.int32)

    def update(self, positions, gradient, decay):
        """A step along decay * values + the gradient (m, h) at positions (m,), ascending."""
        starts = np.searchsorted(positions, [block.start for block in self._slices])
        total = 0.0
        for block, first, end in zip(self._slices, starts, np.append(starts[1:], len(positions))):
            values = self.values[block]
            whole, spare = self._gradient[: len(values)], self._spare[: len(values)]
            np.multiply(values, decay, out=whole)
            if end > first:
                whole[positions[first:end] - block.start] += gradient[first:end]
            self._rmsprop(values, self._gradient_squares[block], whole, spare)
            total += self._squares(block)
        self.sum_of_squares = total


def rmsprop_step(weights, squares, gradient, spare, learning_rate, rho, epsilon):
    """loop.RMSprop's step, in place; gradient and spare are overwritten. All are contiguous, of one shape.

    squares is its mean of squares v without the factor 1 - rho, which moves into learning rate and epsilon.
    This saves one pass.
    """
    factor = (1 - rho) ** 0.5  # sqrt(v) = factor * sqrt(squares)
    np.multiply(squares, rho, out=squares)
    np.multiply(gradient, gradient, out=spare)
    np.add(squares, spare, out=squares)
    np.sqrt(squares, out=spare)
    np.add(spare, epsilon / factor, out=spare)
    np.divide(gradient, spare, out=gradient)
    add_multiple = daxpy if weights.dtype == np.float64 else saxpy  # multiplies and adds in one pass
    add_multiple(gradient.reshape(-1), weights.reshape(-1), a=-learning_rate / factor)


def without_empty_columns(rows):
    """The columns that occur in CSR rows (n, D), ascending, and the rows (n, m) with these columns only."""
    occurs = np.zeros(rows.shape[1], bool)
    occurs[rows.indices] = True
    columns = np.flatnonzero(occurs)
    return columns, rows[:, columns]
