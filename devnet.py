"""DevNet: deviation network.

Pang, Shen and van den Hengel, "Deep Anomaly Detection with Deviation Networks", KDD 2019.

    python devnet.py --datasets thyroid --runs 10     # this detector's column of Table 2
    DevNet(random_state=0).fit(X, y).decision_function(X_new)

Differences from the paper
  1. The 5,000 reference scores are drawn once per fit, as in DevNet's released code; only their mean and
     standard deviation enter the loss.
  2. What the l2 term covers, RMSprop's epsilon, the gradient clipping and the choice of the epoch follow
     the released code: see weakly/training/loop.py.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from weakly.training.batches import Batches
from weakly.training.detector import Rows, apply_in_chunks
from weakly.training.keras_detector import PsiDetector
from weakly.training.network import (
    HiddenUnits,
    build_psi,
    code_size,
    dense_shapes,
    encoder,
    gradients_by_rows,
    keras,
    layer_sizes,
    seed_generator,
    tf,
)

CONFIDENCE_MARGIN = 5.0  # DevNet's a: anomalies should deviate by at least 5 sigma
REFERENCE_SCORES = 5_000  # DevNet's l, draws of N(0, 1)


def build_devnet(
    n_features: int, hidden_units: HiddenUnits = 20, l2: float = 0.01, seed: int | None = None
) -> keras.Model:
    """DevNet's anomaly scoring network eta(psi(x)): one hidden layer, one linear score."""
    seeds = seed_generator(seed)
    psi = build_psi(n_features, hidden_units, l2, seeds)
    code = keras.Input((code_size(hidden_units),))
    score = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seeds), name="score")
    eta = keras.Model(code, score(code)[:, 0], name="eta")
    instance = keras.Input((n_features,))
    return keras.Model(instance, eta(psi(instance)))  # scores (b,)


def deviation_loss(labels, scores, reference_mean, reference_std):
    """Mean of (1 - y) |dev| + y max(0, a - dev), dev = (score - mean) / std; labels and scores (b,)."""
    if labels.shape != scores.shape:
        raise ValueError(f"labels {labels.shape} and scores {scores.shape} must have the same shape")
    deviation = (scores - reference_mean) / reference_std
    return tf.reduce_mean(
        (1 - labels) * tf.abs(deviation) + labels * tf.maximum(CONFIDENCE_MARGIN - deviation, 0.0)
    )


def score_instances(weights: Sequence[np.ndarray], X: Rows) -> np.ndarray:
    """eta(psi(x)) (n,) of the rows of X (n, D), dense or CSR; weights are those of build_devnet."""
    *hidden, kernel, bias = weights
    psi = encoder(hidden)
    return apply_in_chunks(lambda rows: psi(rows) @ kernel[:, 0] + bias, X).astype(np.float64)


def instance_gradients(weights: Sequence[np.ndarray], X: np.ndarray) -> np.ndarray:
    """Gradients (n, D) of score_instances with respect to the rows of X."""
    *hidden, kernel, _ = weights
    return gradients_by_rows(hidden, kernel[:, 0].astype(np.float64), X)


def sample_balanced(unlabeled: np.ndarray, n_anomalies: int, n_batches: int, batch_size: int, rng) -> Batches:
    """Batches of half unlabelled rows (0) and half labelled anomalies (1), both drawn with replacement."""
    n_positive = batch_size // 2
    n_negative = batch_size - n_positive
    return Batches(
        unlabeled=rng.choice(unlabeled, (n_batches, n_negative)),
        anomalies=rng.integers(n_anomalies, size=(n_batches, n_positive)),
        layout=np.arange(batch_size)[np.newaxis],
        targets=np.repeat([0, 1], [n_negative, n_positive]),
    )


class DevNet(PsiDetector):
    """Deviation network with the settings that the PReNet paper gives all detectors (App. B.2.2)."""

    takes_sparse = True

    def build(self, n_features, seed):
        return build_devnet(n_features, self.hidden_units, self.l2, seed)

    def loss(self, labels, scores, reference_mean, reference_std):
        return deviation_loss(labels, scores, reference_mean, reference_std)

    def loss_constants(self, X, unlabeled, anomalies, model, rng):
        reference = rng.standard_normal(REFERENCE_SCORES)
        return reference.mean(), reference.std()

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        return sample_balanced(unlabeled, len(anomalies), n_batches, self.batch_size, rng)

    def weight_shapes(self, n_features):
        return dense_shapes(n_features, *layer_sizes(self.hidden_units), 1)

    def _score(self, X):
        return score_instances(self.weights_, X)

    def _gradients(self, X):
        return instance_gradients(self.weights_, X)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "devnet", *sys.argv[1:]]))
