"""CrossEntropy: PReNet's network as a plain classifier of single rows, a control that the paper lacks.

It has the same 20 ReLU units with their l2 term, optimiser, balanced batches and training loop as PReNet, but
neither pairs nor ordinal labels: each instance is scored by itself, and the loss is cross-entropy. The
difference between the two is what pairs and ordinal regression (Sec. 3) add.

    python experiments.py seen --methods cross-entropy --datasets thyroid --runs 10
    CrossEntropy(random_state=0).fit(X, y).decision_function(X_new)

Differences from PReNet
  1. The relation layer takes one code, not two, so its kernel has 20 weights instead of 40.
  2. A batch has 256 unlabelled rows and 256 labelled anomalies, drawn with replacement. PReNet's 512 pairs
     have 640 and 384 of them. In both, each class counts half.
  3. The score is the logit, the log odds of being a labelled anomaly. It has the order of the probability.
"""

from weakly.training.input_checks import require_same_shape
from weakly.training.keras_detector import InstanceDetector
from weakly.training.network import tf


def cross_entropy(labels, logits):
    """Mean of -y log p - (1 - y) log(1 - p) with p = 1 / (1 + exp(-logit)); labels and logits (b,)."""
    require_same_shape(labels=labels, logits=logits)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))


class CrossEntropy(InstanceDetector):
    """A classifier of A against U with the settings that the paper gives all detectors (App. B.2.2)."""

    def loss(self, labels, logits):
        return cross_entropy(labels, logits)
