"""The two layers that RoSAS has only in training; not in rosas.py, because scoring must not import Keras."""

import numpy as np

from weakly.training.network import keras, tf

TEMPERATURE = 2.0  # of the two losses' weights


class Mixing(keras.layers.Layer):
    """Mixes rows, targets and scores (b, ...) with themselves in another order; new weights in every call."""

    def __init__(self, seed, **settings):
        super().__init__(**settings)
        self.seeds = keras.random.SeedGenerator(seed, name="mixing_seeds")

    def call(self, rows, targets):
        n = keras.ops.shape(targets)[0]
        order = keras.ops.argsort(keras.random.uniform((n,), seed=self.seeds))
        weights = keras.ops.square(keras.ops.sin(np.pi / 2 * keras.random.uniform((n,), seed=self.seeds)))

        def mixed(values):
            own = weights if len(values.shape) == 1 else weights[:, None]
            return own * values + (1 - own) * keras.ops.take(values, order, axis=0)

        return mixed(rows), mixed(targets), order, weights


class BalancedSum(keras.layers.Layer):
    """k_1 l_1 + k_2 l_2: the less a loss has fallen since the previous epoch, the more it counts.

    k_i is proportional to exp(l_i / (T m_i)), where m_i is the mean of l_i over the previous epoch, and 1 in
    the first.
    """

    def __init__(self, n_batches, **settings):
        super().__init__(**settings)
        self.n_batches = n_batches

    def build(self, *shapes):
        state = {"initializer": "zeros", "trainable": False}
        self.means = self.add_weight(shape=(2,), initializer="ones", trainable=False, name="means")
        self.sums = self.add_weight(shape=(2,), name="sums", **state)
        self.count = self.add_weight(shape=(), name="count", **state)

    def call(self, losses):
        is_zero = self.means == 0  # then the loss does not count, as in the script
        exponents = losses / tf.where(is_zero, 1.0, self.means) / TEMPERATURE
        largest = tf.reduce_max(tf.where(is_zero, exponents.dtype.min, exponents))  # keeps exp finite
        shares = tf.where(is_zero, 0.0, tf.exp(tf.minimum(exponents - largest, 0.0)))
        total = tf.reduce_sum(tf.math.divide_no_nan(shares, tf.reduce_sum(shares)) * losses)
        count, sums = self.count + 1, self.sums + tf.stop_gradient(losses)
        is_last = count == self.n_batches
        self.means.assign(tf.where(is_last, sums / count, self.means))
        self.sums.assign(tf.where(is_last, 0.0, sums))
        self.count.assign(tf.where(is_last, 0.0, count))
        return total
