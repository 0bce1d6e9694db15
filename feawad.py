"""FEAWAD: feature encoding with autoencoders for weakly-supervised anomaly detection.

Zhou, Song, Zhang, Liu, Zhu and Liu, "Feature Encoding with AutoEncoders for Weakly-supervised Anomaly
Detection", TNNLS 2021 (arXiv 2105.10500).

    python feawad.py --datasets thyroid --runs 10     # this detector's column of App. C.1
    FEAWAD(random_state=0).fit(X, y).decision_function(X_new)

Dense rows only: a layer as wide as news20's 1.4 million columns runs out of memory in the paper too.

App. C.1 says that the official implementation was run, so the network and the loss are those of FEAWAD's
released code.

Differences from FEAWAD's paper
  1. The residual norm in the loss. The released code takes the norm of a residual that is already divided by
     its norm. This is a constant without a gradient, so only the score trains the autoencoder in the second
     stage. residual_term="paper" takes the norm of the raw residual: then the autoencoder learns to
     reconstruct unlabelled rows and not to reconstruct anomalies. (The released loss adds norms (b,) to
     scores (b, 1), which broadcasts; as all norms are one, this changes nothing.)
  2. The norm is sqrt(|r|^2 + 1e-8), so that a row that is reconstructed exactly has finite gradients and a
     unit residual of 0. The released code would divide by 0.
  3. The released autoencoder has one more ReLU layer, D to D, before FEAWAD's D-128-64-128-D;
     input_layer=False leaves it out.
  4. As released: ReLU in all layers except the score, Glorot-normal kernels, 30 epochs after 100 epochs of
     pre-training, both of 20 batches of 512. ReLU is also in the reconstruction. So negative features cannot
     be reconstructed, and an output that is 0 for all rows may stay 0: in two runs on thyroid, 3 and 4 of 21
     did, with 98% of the reconstruction error.
  5. Adam at 1e-4 without an l2 term, as released, because App. C.1 says that the official implementation was
     used. The settings of the other detectors are FEAWAD(optimizer_name="rmsprop", learning_rate=1e-3,
     l2=0.01). The l2 term is then on the kernels of the score network's two hidden layers, but not on the
     autoencoder's: there it would far outweigh the squared error, and all rows would be reconstructed alike.
  6. Both trainings keep the weights of the epoch with the lowest mean loss, as released: see
     weakly/training/loop.py.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from weakly.training.batches import sample_unlabeled
from weakly.training.detector import apply_in_chunks
from weakly.training.input_checks import require_at_least, require_one_of
from weakly.training.keras_detector import KerasDetector
from weakly.training.network import Network, keras, seed_generator, tf
from weakly.training.network import encoder as relu_layers

MARGIN = 5.0  # anomalies should have at least this score and this residual norm
SQUARED_NORM_FLOOR = 1e-8  # keeps the gradient of a norm and the division by it finite at 0
RESIDUAL_TERMS = ("paper", "released")
OPTIMIZERS = ("rmsprop", "adam")


def dense(units, seeds, name, activation="relu", l2=0.0):
    """A layer of FEAWAD, with l2 on its kernel if not 0; network.seed_generator says why it has a name."""
    regularizer = keras.regularizers.L2(l2) if l2 else None
    initializer = keras.initializers.GlorotNormal(seeds)
    return keras.layers.Dense(
        units, activation, kernel_initializer=initializer, kernel_regularizer=regularizer, name=name
    )


def row_norm(rows):
    """Euclidean norm (b, 1) of each row, never quite 0."""
    return keras.ops.sqrt(keras.ops.sum(keras.ops.square(rows), axis=1, keepdims=True) + SQUARED_NORM_FLOOR)


def build_autoencoder(n_features, encoder=(128, 64), input_layer=True, seeds=None) -> keras.Model:
    """Rows to residuals x - x_hat (b, D) and codes (b, encoder[-1]); the decoder mirrors the encoder."""
    instance = keras.Input((n_features,))
    code = dense(n_features, seeds, "input_layer")(instance) if input_layer else instance
    for number, units in enumerate(encoder):
        code = dense(units, seeds, f"encoder_{number}")(code)
    reconstruction = code
    for number, units in enumerate((*encoder[-2::-1], n_features)):
        reconstruction = dense(units, seeds, f"decoder_{number}")(reconstruction)
    return keras.Model(instance, [instance - reconstruction, code], name="autoencoder")


def build_feawad(
    n_features: int,
    encoder: tuple[int, ...] = (128, 64),
    scorer: tuple[int, ...] = (256, 32),
    l2: float = 0.01,
    residual_term: str = "released",
    input_layer: bool = True,
    seed: int | None = None,
) -> Network:
    """Rows to (b, 2): the score, from [unit residual, code, residual norm], and the norm for the loss.

    All of it is psi, because a batch repeats a few anomalies many times; its first weights are those of
    build_autoencoder.
    """
    seeds = seed_generator(seed)
    instance = keras.Input((n_features,))
    residual, code = build_autoencoder(n_features, encoder, input_layer, seeds)(instance)
    norm = row_norm(residual)
    unit_residual = residual / norm
    hidden = keras.ops.concatenate([unit_residual, code], axis=1)
    for number, units in enumerate(scorer):
        hidden = dense(units, seeds, f"scorer_{number}", l2=l2)(keras.ops.concatenate([hidden, norm], axis=1))
    score = dense(1, seeds, "score", activation=None)(keras.ops.concatenate([hidden, norm], axis=1))
    loss_norm = norm if residual_term == "paper" else row_norm(unit_residual)
    psi = keras.Model(instance, keras.ops.concatenate([score, loss_norm], axis=1), name="psi")
    return Network(psi, keras.layers.Identity())


def score_rows(rows, weights, encoder=(128, 64), input_layer=True):
    """build_feawad's scores (n,) of rows (n, D), in numpy, from its weights."""
    n_encoding, n_decoding = 2 * (input_layer + len(encoder)), 2 * len(encoder)  # kernels and biases
    encoding, decoding = weights[:n_encoding], weights[n_encoding : n_encoding + n_decoding]
    *scorer, kernel, bias = weights[n_encoding + n_decoding :]
    code = relu_layers(encoding)(rows)
    residual = rows - relu_layers(decoding)(code)
    norm = np.sqrt(np.square(residual).sum(axis=1, keepdims=True) + SQUARED_NORM_FLOOR)
    hidden = np.concatenate([residual / norm, code], axis=1)
    for layer in zip(scorer[::2], scorer[1::2]):
        hidden = relu_layers(layer)(np.concatenate([hidden, norm], axis=1))
    return np.concatenate([hidden, norm], axis=1) @ kernel[:, 0] + bias


def mean_squared_error(residuals):
    """Mean squared error of the autoencoder alone; residuals (b, D)."""
    return tf.reduce_mean(tf.square(residuals))


def encoding_loss(labels, outputs):
    """Mean of (1 - y) (|s| + e) + y (max(0, a - s) + max(0, a - e)).

    labels y (b,); outputs (b, 2) are scores s and norms e.
    """
    if outputs.shape != (*labels.shape, 2) or len(labels.shape) != 1:
        raise ValueError(
            f"labels {labels.shape} and outputs {outputs.shape} must be of shapes (b,) and (b, 2)"
        )
    score, norm = outputs[:, 0], outputs[:, 1]
    unlabeled = tf.abs(score) + norm
    anomalous = tf.maximum(MARGIN - score, 0.0) + tf.maximum(MARGIN - norm, 0.0)
    return tf.reduce_mean((1 - labels) * unlabeled + labels * anomalous)


@dataclass(repr=False, eq=False)
class FEAWAD(KerasDetector):
    """Autoencoder and score network, trained jointly after the autoencoder's pre-training."""

    encoder: tuple[int, ...] = (128, 64)
    scorer: tuple[int, ...] = (256, 32)
    l2: float = 0.0
    optimizer_name: str = "adam"
    learning_rate: float = 1e-4
    pretraining_epochs: int = 100
    epochs: int = 30
    batches_per_epoch: int = 20
    batch_size: int = 512
    residual_term: str = "released"
    input_layer: bool = True

    def build(self, n_features, seed):
        return build_feawad(
            n_features, self.encoder, self.scorer, self.l2, self.residual_term, self.input_layer, seed
        )

    def initial_network(self, X, unlabeled, anomalies, seed):
        """A new score network on the pre-trained autoencoder."""
        first = _Pretraining(**self.get_params() | {"random_state": seed, "epochs": self.pretraining_epochs})
        first.fit_rows(X, unlabeled, anomalies)
        network = self.build(X.shape[1], seed)
        network.set_weights(first.weights_ + network.get_weights()[len(first.weights_) :])
        return network

    def optimizer(self):
        if self.optimizer_name == "rmsprop":
            return super().optimizer()
        return keras.optimizers.Adam(self.learning_rate)

    def loss(self, labels, outputs):
        return encoding_loss(labels, outputs)

    def _fit(self, X, unlabeled, anomalies, rng):
        require_one_of(self, residual_term=RESIDUAL_TERMS, optimizer_name=OPTIMIZERS)
        require_at_least(self, pretraining_epochs=1, batch_size=2)
        for name in ("encoder", "scorer"):
            sizes = getattr(self, name)
            # a list cannot be the key of a compiled graph
            if not (isinstance(sizes, tuple) and sizes and min(sizes) >= 1):
                raise ValueError(f"{name} must be a tuple of layer sizes of at least 1, not {sizes!r}")
        super()._fit(X, unlabeled, anomalies, rng)

    def _score(self, X):
        settings = self.weights_, self.encoder, self.input_layer
        return apply_in_chunks(lambda rows: score_rows(rows, *settings), X).astype(np.float64)


class _Pretraining(FEAWAD):
    """FEAWAD's first stage: the autoencoder alone, on unlabelled rows. It cannot score."""

    def build(self, n_features, seed):
        instance = keras.Input((n_features,))
        seeds = seed_generator(seed)
        residual, _ = build_autoencoder(n_features, self.encoder, self.input_layer, seeds)(instance)
        return Network(None, keras.Model(instance, residual))

    def initial_network(self, X, unlabeled, anomalies, seed):
        return self.build(X.shape[1], seed)

    def loss(self, targets, residuals):
        return mean_squared_error(residuals)

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        return sample_unlabeled(unlabeled, n_batches, self.batch_size, rng)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "feawad", *sys.argv[1:]]))
