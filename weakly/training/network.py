"""Keras, set up for this project, and the parts of networks that several detectors have in common.

psi is computed in three ways, each where it is the fastest: build_psi makes the Keras model that training
starts from; finish_psi takes products of rows and the first kernel, in training; encoder scores in numpy.

Import `keras` and `tf` from here, not directly. They are imported at their first use, so a model that only
scores never waits the seconds that TensorFlow takes to start.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from weakly.training.detector import Rows, apply_in_chunks
from weakly.training.input_checks import require_same_shape

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # its kernels round differently from one CPU to the next
os.environ["KERAS_BACKEND"] = "tensorflow"  # whatever ~/.keras/keras.json says
for variable in ("XLA_FLAGS", "TF_XLA_FLAGS"):  # which change the order of sums
    os.environ.pop(variable, None)


class ImportedLater:
    """Stands for a module, which is imported when one of its attributes is first used."""

    def __init__(self, name: str):
        self._name, self._is_used = name, False

    def __getattr__(self, attribute):
        if attribute.startswith("__"):  # used by inspection, which should import nothing
            raise AttributeError(attribute)
        module = importlib.import_module(self._name)
        if self._name == "keras" and not self._is_used:
            module.config.set_floatx("float32")  # whatever ~/.keras/keras.json says
            module.config.set_dtype_policy("float32")
        self._is_used = True
        return getattr(module, attribute)


if TYPE_CHECKING:
    import keras
    import tensorflow as tf
else:
    keras, tf = ImportedLater("keras"), ImportedLater("tensorflow")


def seed_generator(seed: int | None) -> keras.random.SeedGenerator:
    """A source of initial weights. It always has the same name, and so has every layer.

    TensorFlow caches what it needs to create a variable under its name, and never frees it: with the numbered
    names that Keras would give, 0.1 MB per fit.
    """
    return keras.random.SeedGenerator(seed, name="seeds")


def hidden_layer(units, l2, seeds, use_bias=True, name="hidden", activation="relu"):
    """A layer of ReLU or linear units with l2 on its kernel; its name must be new in its model."""
    return keras.layers.Dense(
        units,
        name=name,
        activation=activation,
        use_bias=use_bias,
        kernel_initializer=keras.initializers.GlorotUniform(seeds),
        kernel_regularizer=keras.regularizers.L2(l2),
    )


def torch_uniform(n_inputs, seeds):
    """The initial weights of torch's linear layers: uniform within 1 / sqrt(inputs)."""
    return keras.initializers.RandomUniform(-(n_inputs**-0.5), n_inputs**-0.5, seeds)


HiddenUnits = int | tuple[int, ...]  # of one layer, or of each of several


def layer_sizes(hidden_units: HiddenUnits) -> tuple[int, ...]:
    """The units of each layer; a list is refused, because it cannot be the key of a compiled graph."""
    if isinstance(hidden_units, list):
        raise ValueError(f"hidden_units must be a number or a tuple of numbers, not {hidden_units}")
    return hidden_units if isinstance(hidden_units, tuple) else (hidden_units,)


def build_psi(
    n_features, hidden_units: HiddenUnits, l2, seeds, use_bias=True, code_layer="relu"
) -> keras.Model:
    """Feature learner psi (Eq. 1): a hidden layer of ReLU units, as in all deep detectors (App. B.2.2).

    Other interpretations have several layers, or a last one without its ReLU (code_layer="linear").
    """
    instance = code = keras.Input((n_features,))
    *before, last = layer_sizes(hidden_units)
    for number, units in enumerate(before):
        code = hidden_layer(units, l2, seeds, use_bias, name=f"hidden_{number}")(code)
    code = hidden_layer(last, l2, seeds, use_bias, activation=code_layer)(code)
    return keras.Model(instance, code, name="psi")


def first_kernel(psi):
    """The kernel (D, h) of psi that multiplies the rows."""
    return psi.layers[1].kernel  # layers[0] is the input


def finish_psi(psi, products, training=False):
    """psi(x) from the products (n, h) of the rows x and psi's first kernel."""
    first, *others = psi.layers[1:]
    codes = first.activation(products + first.bias if first.use_bias else products)
    for layer in others:
        codes = layer(codes, training=training)
    return codes


Encoder = Callable[[Any], np.ndarray]  # rows (n, D), dense or CSR, to codes (n, h)


def encoder(weights: Sequence[np.ndarray], use_bias: bool = True, code_layer: str = "relu") -> Encoder:
    """psi in numpy, because passing rows to TensorFlow takes longer than a product.

    weights: psi.get_weights(), a kernel and, if use_bias, a bias for each layer; none: the identity.
    """
    step = 2 if use_bias else 1
    layers = [weights[start : start + step] for start in range(0, len(weights), step)]

    def encode(rows):
        codes = rows
        for number, (kernel, *biases) in enumerate(layers, start=1):
            codes = codes @ kernel
            for bias in biases:
                codes += bias
            if number < len(layers) or code_layer == "relu":
                np.maximum(codes, 0, out=codes)
        return codes

    return encode


def codes_at(psi: Encoder, X: Rows, positions: np.ndarray) -> np.ndarray:
    """psi(x) (n, h) of the rows of X at positions."""
    if len(positions) > X.shape[0] / 2:  # copying most rows takes longer than encoding all
        return apply_in_chunks(psi, X)[positions]
    return apply_in_chunks(psi, X, positions)


class Network(NamedTuple):
    """eta(psi(x_1), ..., psi(x_k)) of k rows: what `build` returns, and what the loop trains."""

    psi: Any  # encodes rows one by one; None: eta takes the rows themselves
    eta: Any
    has_dropout: bool = False  # in psi: then an instance needs another mask at each of its places in a batch

    def __call__(self, *rows):
        """The outputs of eta for k arrays of rows, outside training."""
        codes = [self.psi(one) for one in rows] if self.psi else list(rows)
        return self.eta(codes if len(codes) > 1 else codes[0])

    def collected(self, name: str) -> list:
        """An attribute of Keras that is a list, such as `variables`: psi's, then eta's."""
        return [value for part in (self.psi, self.eta) if part for value in getattr(part, name)]

    def get_state(self) -> list[np.ndarray]:
        """The values of all variables: the weights, and the random states of dropout layers."""
        return [variable.numpy() for variable in self.collected("variables")]

    def get_weights(self) -> list[np.ndarray]:
        return [weight.numpy() for weight in self.collected("weights")]

    def set_weights(self, weights: Sequence[np.ndarray]) -> None:
        for weight, value in zip(self.collected("weights"), weights, strict=True):
            weight.assign(value)


# ---------------------------------------------------------------------------- a score of single instances


def build_instance_scorer(n_features, hidden_units=20, l2=0.01, seed=None) -> Network:
    """A linear score eta(psi(x)) (b,) of each instance: DevNet, iPReNet and the cross-entropy control."""
    seeds = seed_generator(seed)
    psi = build_psi(n_features, hidden_units, l2, seeds)
    code = keras.Input(psi.output.shape[1:])
    score = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seeds), name="score")
    return Network(psi, keras.Model(code, score(code)[:, 0], name="eta"))


def score_instances(weights: Sequence[np.ndarray], X: Rows) -> np.ndarray:
    """eta(psi(x)) (n,) of the rows of X (n, D), dense or CSR; weights: those of build_instance_scorer."""
    *hidden, kernel, bias = weights
    psi = encoder(hidden)
    return apply_in_chunks(lambda rows: psi(rows) @ kernel[:, 0] + bias, X).astype(np.float64)


# ---------------------------------------------------------------------------- triplets of instances


def build_triplet_network(n_features, hidden_units=20, l2=0.01, seed=None) -> Network:
    """Embeds anchor, positive and negative with one psi; outputs squared distances d_pos, d_neg (b,)."""
    psi = build_psi(n_features, hidden_units, l2, seed_generator(seed))
    anchor, positive, negative = (keras.Input(psi.output.shape[1:]) for _ in range(3))
    distances = [keras.ops.sum(keras.ops.square(anchor - other), axis=1) for other in (positive, negative)]
    return Network(psi, keras.Model([anchor, positive, negative], distances, name="eta"))


def triplet_loss(margins, positive_distances, negative_distances):
    """Mean of max(0, margin - (d_neg - d_pos)) over the triplets; all three arguments (b,)."""
    require_same_shape(margins=margins, positives=positive_distances, negatives=negative_distances)
    return tf.reduce_mean(tf.maximum(margins - (negative_distances - positive_distances), 0.0))
