"""The cross-entropy control: its loss by hand, and that all else is PReNet's."""

import numpy as np
import pytest

from prenet import PReNet
from weakly.beyond.cross_entropy import CrossEntropy, cross_entropy
from weakly.training.network import tf


def test_loss_by_hand():
    """Probabilities 1/2, 3/4 and 1/5 of labels 0, 1 and 1: the mean of log 2, log 4/3 and log 5."""
    logits = tf.constant([0.0, np.log(3), -np.log(4)], tf.float64)
    expected = (np.log(2) + np.log(4 / 3) + np.log(5)) / 3
    loss = cross_entropy(tf.constant([0.0, 1.0, 1.0], tf.float64), logits)
    assert float(loss) == pytest.approx(expected, rel=1e-6)


def test_flipping_one_label_changes_only_that_gradient():
    """It is (p - y) / n: 1/6 with label 0, -1/6 with label 1 where p = 1/2."""

    def gradient(labels):
        logits = tf.Variable(tf.zeros(3))
        with tf.GradientTape() as tape:
            value = cross_entropy(tf.constant(labels), logits)
        return tape.gradient(value, logits).numpy()

    np.testing.assert_allclose(gradient([0.0, 1.0, 0.0]), [1 / 6, -1 / 6, 1 / 6], rtol=1e-5)
    np.testing.assert_allclose(gradient([0.0, 1.0, 1.0]), [1 / 6, -1 / 6, -1 / 6], rtol=1e-5)


def test_shapes_that_would_broadcast_are_refused():
    with pytest.raises(ValueError, match="must have the same shape"):
        cross_entropy(tf.zeros((3, 1)), tf.zeros(3))


def test_all_else_is_prenets():
    """Settings, psi with its l2 term, optimiser and the epoch that is kept; the relation takes one code."""
    control, prenet = CrossEntropy(), PReNet()
    shared = control.get_params()
    assert shared == {name: prenet.get_params()[name] for name in shared}
    one, two = control.build(7, seed=0), prenet.build(7, seed=0)
    assert [weights.shape for weights in one.get_weights()] == [(7, 20), (20,), (20, 1), (1,)]
    assert [weights.shape for weights in two.get_weights()] == [(7, 20), (20,), (40, 1), (1,)]
    np.testing.assert_array_equal(one.get_weights()[0], two.get_weights()[0])
    assert [float(term) for term in one.collected("losses")] == [
        float(term) for term in two.collected("losses")
    ]
    assert control.optimizer().get_config() == prenet.optimizer().get_config()
    assert type(control.optimizer()) is type(prenet.optimizer()) and control.keeps_last == prenet.keeps_last
