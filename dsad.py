"""DSAD: Deep SAD, deep semi-supervised anomaly detection.

Ruff, Vandermeulen, Goernitz, Binder, Mueller, Mueller and Kloft, "Deep Semi-Supervised Anomaly Detection",
ICLR 2020.

    python dsad.py --datasets thyroid --runs 10     # this detector's column of Table 2
    DSAD(random_state=0).fit(X, y).decision_function(X_new)

Differences from the paper
  1. Deep SAD starts from a pre-trained autoencoder; the PReNet paper does not say. Our default starts from
     random weights. pretrain=True first trains the bias-free encoder with a bias-free linear decoder on the
     unlabelled rows, with the same loop, batches, optimiser and l2 term. Its loss is the mean of ||x -
     x_hat||^2 over the rows. Deep SAD's code also averages over the features, with a weight decay of 1e-6.
     With the l2 of 0.01 here, that average would be too small on wide data, and the encoder would shrink to
     almost nothing (w7a: no kernel weight above 0.04).
  2. The centre c is the mean initial code of all unlabelled rows; Deep SAD's code includes the labelled ones.
     Components with |c_i| < 0.1 become +-0.1, and so does a component of exactly 0 (+0.1), which Deep SAD's
     code leaves: its unit is dead on all these rows, and zero weights would fit it.
  3. Batches are half unlabelled rows, half labelled anomalies, and the loss is the mean over the batch. So
     each class counts half, regardless of its size; in Deep SAD every row counts the same. There are no
     labelled normals.
  4. Network, optimiser, l2 and the choice of the epoch are those of all detectors of the PReNet paper: see
     weakly/training/loop.py. Deep SAD has more layers, batch normalisation, Adam and a falling learning rate.
  5. The code layer of Deep SAD is linear and follows hidden layers with (leaky) ReLU. The PReNet paper gives
     all methods one hidden layer with ReLU, so the codes are its outputs here. code_layer="linear" leaves out
     the ReLU, and the encoder is then a linear map.
  6. distance="plain" (without the square) and anomaly_term="hinge" (max(0, 1 - d) instead of 1/d) are not
     part of Deep SAD. They are there to test how far they explain the published numbers.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from weakly.training.batches import sample_unlabeled
from weakly.training.detector import apply_in_chunks
from weakly.training.input_checks import require_at_least, require_one_of, require_same_shape
from weakly.training.keras_detector import PsiDetector
from weakly.training.network import Network, build_psi, codes_at, encoder, keras, seed_generator, tf

DISTANCES = ("squared", "plain")
ANOMALY_TERMS = ("inverse", "hinge")
CODE_LAYERS = ("relu", "linear")
SMALLEST_CENTRE = 0.1  # components of c nearer to 0 than this are pushed away from it
INVERSE_EPSILON = 1e-6  # keeps 1/d finite at the centre
SMALLEST_SQUARE = 1e-12  # keeps the gradient of the square root finite at the centre


def build_dsad(n_features, hidden_units=20, l2=0.01, seed=None, code_layer="relu") -> Network:
    """Encoder psi without bias, which could fit the centre by itself; eta passes the codes to the loss."""
    seeds = seed_generator(seed)
    psi = build_psi(n_features, hidden_units, l2, seeds, use_bias=False, code_layer=code_layer)
    return Network(psi, keras.layers.Identity())  # codes (b, hidden_units)


def build_residual(n_features, hidden_units=20, l2=0.01, seed=None, code_layer="relu") -> Network:
    """Autoencoder of the pre-training, as a network of x - x_hat (b, D); its first weights are psi's."""
    seeds = seed_generator(seed)
    psi = build_psi(n_features, hidden_units, l2, seeds, use_bias=False, code_layer=code_layer)
    initializer = keras.initializers.GlorotUniform(seeds)
    decoder = keras.layers.Dense(n_features, use_bias=False, kernel_initializer=initializer, name="decoder")
    residual = keras.layers.Subtract(name="residual")([psi.input, decoder(psi.output)])
    return Network(None, keras.Model(psi.input, residual))  # the residual needs the rows, not only codes


def centre_of(codes):
    """Centre c: the mean of the codes (n, h), its small components pushed to +-0.1 (a zero to +0.1)."""
    mean = np.mean(codes, axis=0, dtype=np.float64)
    return np.where(
        np.abs(mean) < SMALLEST_CENTRE, np.where(mean < 0, -SMALLEST_CENTRE, SMALLEST_CENTRE), mean
    )


def centre_distance(codes, centre, distance="squared"):
    """d = ||psi(x) - c||^2, or its root if distance is "plain"; codes (b, h), centre (h,), result (b,)."""
    if codes.shape[1:] != centre.shape:
        raise ValueError(
            f"each of the codes {codes.shape} must have the same shape as the centre {centre.shape}"
        )
    squared = tf.reduce_sum(tf.square(codes - centre), axis=1)
    return squared if distance == "squared" else tf.sqrt(tf.maximum(squared, SMALLEST_SQUARE))


def deep_sad_loss(labels, distances, eta=1.0, anomaly_term="inverse"):
    """Mean of (1 - y) d + y eta / (d + 1e-6), or y eta max(0, 1 - d); labels and distances (b,)."""
    require_same_shape(labels=labels, distances=distances)
    anomalous = (
        1 / (distances + INVERSE_EPSILON) if anomaly_term == "inverse" else tf.maximum(1 - distances, 0.0)
    )
    return tf.reduce_mean((1 - labels) * distances + labels * eta * anomalous)


def reconstruction_loss(residuals):
    """Mean over the rows of ||x - x_hat||^2; residuals (b, D)."""
    return tf.reduce_mean(tf.reduce_sum(tf.square(residuals), axis=1))


@dataclass(repr=False, eq=False)
class _Autoencoder(PsiDetector):
    """The pre-training of Deep SAD on unlabelled rows; it only trains and never scores."""

    code_layer: str = "relu"

    def build(self, n_features, seed):
        return build_residual(n_features, self.hidden_units, self.l2, seed, self.code_layer)

    def loss(self, targets, residuals):
        return reconstruction_loss(residuals)  # the target of a residual is always zero

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        return sample_unlabeled(unlabeled, n_batches, self.batch_size, rng)


@dataclass(repr=False, eq=False)
class DSAD(PsiDetector):
    """Deep SAD with the settings that the PReNet paper gives all detectors (App. B.2.2).

    eta weighs the labelled anomalies.
    """

    eta: float = 1.0
    pretrain: bool = False
    distance: str = "squared"
    anomaly_term: str = "inverse"
    code_layer: str = "relu"

    def build(self, n_features, seed):
        return build_dsad(n_features, self.hidden_units, self.l2, seed, self.code_layer)

    def initial_network(self, X, unlabeled, anomalies, seed):
        network = self.build(X.shape[1], seed)
        if self.pretrain:
            names = _Autoencoder().learning_parameters()
            autoencoder = _Autoencoder(seed, **{name: getattr(self, name) for name in names})
            weights = autoencoder.fit_rows(X, unlabeled, anomalies).weights_
            network.set_weights(weights[: len(network.get_weights())])  # without those of the decoder
        return network

    def loss(self, labels, codes, centre):
        return deep_sad_loss(
            labels, centre_distance(codes, centre, self.distance), self.eta, self.anomaly_term
        )

    def loss_constants(self, X, unlabeled, anomalies, network, rng):
        self.centre_ = centre_of(codes_at(self._psi(network.get_weights()), X, unlabeled))
        return (self.centre_,)

    def _fit(self, X, unlabeled, anomalies, rng):
        require_one_of(self, distance=DISTANCES, anomaly_term=ANOMALY_TERMS, code_layer=CODE_LAYERS)
        require_at_least(self, batch_size=2, eta=0)
        super()._fit(X, unlabeled, anomalies, rng)

    def _psi(self, weights):
        """The encoder with these weights."""
        return encoder(weights, use_bias=False, code_layer=self.code_layer)

    def _score(self, X):
        """The distance d, in float64: near the centre the square of a float32 difference loses digits."""
        psi = self._psi(self.weights_)

        def distances(rows):
            difference = psi(rows) - self.centre_
            return np.einsum("ij,ij->i", difference, difference)

        squared = apply_in_chunks(distances, X)
        return squared if self.distance == "squared" else np.sqrt(squared)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "dsad", *sys.argv[1:]]))
