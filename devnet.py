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

from weakly.training.input_checks import require_same_shape
from weakly.training.keras_detector import InstanceDetector
from weakly.training.network import tf

CONFIDENCE_MARGIN = 5.0  # DevNet's a: anomalies should deviate by at least 5 sigma
REFERENCE_SCORES = 5_000  # DevNet's l, draws of N(0, 1)


def deviation_loss(labels, scores, reference_mean, reference_std):
    """Mean of (1 - y) |dev| + y max(0, a - dev), dev = (score - mean) / std; labels and scores (b,)."""
    require_same_shape(labels=labels, scores=scores)
    deviation = (scores - reference_mean) / reference_std
    return tf.reduce_mean(
        (1 - labels) * tf.abs(deviation) + labels * tf.maximum(CONFIDENCE_MARGIN - deviation, 0.0)
    )


class DevNet(InstanceDetector):
    """Deviation network with the settings that the PReNet paper gives all detectors (App. B.2.2)."""

    def loss(self, labels, scores, reference_mean, reference_std):
        return deviation_loss(labels, scores, reference_mean, reference_std)

    def loss_constants(self, X, unlabeled, anomalies, network, rng):
        reference = rng.standard_normal(REFERENCE_SCORES)
        return reference.mean(), reference.std()


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "devnet", *sys.argv[1:]]))
