"""Keras, set up for this project, and the feature learner psi that the deep detectors have in common.

psi is one function, computed in three ways, each where it is the fastest; tests/training/test_network.py
compares them:
  build_psi     the Keras model, which holds the weights;
  finish_psi    in training: TensorFlow, from products of rows (dense or CSR) and the first kernel;
  encoder       in scoring: numpy, on dense or CSR rows.
"""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # its kernels round differently from one CPU to the next

import keras
import numpy as np
import tensorflow as tf  # noqa: F401 (for the others, who must import it after the lines above)

from training.detector import Rows, apply_in_chunks


def seed_generator(seed: int | None) -> keras.random.SeedGenerator:
    """A source of initial weights, always of the same name.

    Keras would number its name, and those of layers: TensorFlow caches what it needs to create a variable
    under the variable's name, and frees it never. With new names in every fit, that is 0.1 MB a fit.
    """
    return keras.random.SeedGenerator(seed, name="seeds")


def hidden_layer(units, l2, seeds, use_bias=True, name="hidden", activation="relu"):
    """A layer of ReLU (or linear) units with l2 on its kernel; its name must be new in its model."""
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
    """The units of each layer; a list is refused, because it could not name a compiled graph."""
    if isinstance(hidden_units, list):
        raise ValueError(f"hidden_units must be a number or a tuple of numbers, not {hidden_units}")
    return hidden_units if isinstance(hidden_units, tuple) else (hidden_units,)


def code_size(hidden_units: HiddenUnits) -> int:
    """The number of units in psi's last layer."""
    return layer_sizes(hidden_units)[-1]


def build_psi(
    n_features: int,
    hidden_units: HiddenUnits,
    l2: float,
    seeds,
    use_bias: bool = True,
    code_layer: str = "relu",
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
    """The kernel (D, h) of psi that meets the rows."""
    return psi.layers[1].kernel  # layers[0] is the input


def finish_psi(psi, products, training=False):
    """psi(x) from the products (n, h) of the rows x and psi's first kernel."""
    first, *others = psi.layers[1:]
    codes = first.activation(products + first.bias if first.use_bias else products)
    for layer in others:
        codes = layer(codes, training=training)
    return codes


def encoder(psi) -> Callable[[Any], np.ndarray]:
    """psi of rows (n, D), dense or CSR, in numpy: handing rows to TensorFlow takes longer than a product."""
    # the identity has no layers
    dense = [layer for layer in getattr(psi, "layers", ()) if isinstance(layer, keras.layers.Dense)]
    weights = [
        (
            np.asarray(layer.kernel),
            np.asarray(layer.bias) if layer.use_bias else None,
            layer.activation is keras.activations.relu,
        )
        for layer in dense
    ]

    def encode(rows):
        codes = rows
        # of hidden_layers; outside training, dropout between them does nothing
        for kernel, bias, has_relu in weights:
            codes = codes @ kernel
            if bias is not None:
                codes += bias
            if has_relu:
                np.maximum(codes, 0, out=codes)
        return codes

    return encode


def codes_at(psi, X: Rows, positions: np.ndarray) -> np.ndarray:
    """psi(x) (n, h) of the rows of X at positions."""
    if len(positions) > X.shape[0] / 2:  # copying most rows takes longer than encoding all
        return apply_in_chunks(encoder(psi), X)[positions]
    return apply_in_chunks(encoder(psi), X, positions)


def is_chain(psi) -> bool:
    """Whether psi is one layer behind another, the first of them dense: then finish_psi computes it."""
    first, *others = psi.layers[1:]
    return isinstance(first, keras.layers.Dense) and not any(isinstance(x, keras.Model) for x in others)


class Parts(NamedTuple):
    """A model as the loop uses it: psi encodes a batch's distinct rows, eta takes the codes of all places."""

    psi: Any  # None where eta takes the rows themselves
    eta: Any


def parts_of(model: keras.Model) -> Parts:
    """The layers "psi" and "eta" of a model eta(psi(x_1), ..., psi(x_k)); eta may be the whole model.

    A model of one input that is itself named "psi" is all psi: its eta takes the outputs as they are.
    A psi with dropout is no part of its own: an instance needs another mask at each of its places in a batch.
    """
    if model.name == "psi":
        return Parts(model, keras.layers.Identity())
    layers = {layer.name: layer for layer in model.layers}
    psi, eta = layers.get("psi"), layers.get("eta", model)
    if psi is None or not psi.weights:  # there is none, or it is the identity
        return Parts(None, eta)
    has_random_states = len(psi.variables) > len(psi.weights)
    return Parts(None, model) if has_random_states else Parts(psi, eta)


def state_of(model: keras.Model) -> list[np.ndarray]:
    """The values of all of a model's variables: its weights, and the random states of its dropout layers."""
    return [variable.numpy() for variable in model.variables]
