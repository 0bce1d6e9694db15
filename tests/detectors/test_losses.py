"""Every loss by hand-computed values, the gradient of a flipped label, and shapes that would broadcast."""

from functools import partial

import numpy as np
import pytest

from devnet import deviation_loss
from dsad import centre_distance, deep_sad_loss, reconstruction_loss
from feawad import encoding_loss, mean_squared_error, row_norm
from fsnet import CFSNet, FSNet, prototypical_loss
from prenet import relation_loss
from weakly.beyond.cross_entropy import cross_entropy
from weakly.beyond.rosas import distance_loss, mixture_loss, smooth_l1
from weakly.training.network import tf, triplet_loss

LABELS = [0, 0, 1, 1]
EQUAL, EPISODE = [1, 1], [[-1], [1], [2], [4], [1], [1], [2], [2]]
NEAR, FAR = np.log(1 + np.exp(-3)), np.log(1 + np.exp(3))
BY_HAND = {
    "prenet": (relation_loss, [[0, 4, 8], [1, 4, 6]], (1 + 0 + 2) / 3),
    # reference N(1, 2): deviations 1, -2, 2, 3 and 7; the unlabelled cost 1 and 2, the anomalies 3, 2 and 0
    "devnet": (partial(deviation_loss, reference_mean=1.0, reference_std=2.0),
        [[0, 0, 1, 1, 1], [3, -3, 5, 7, 15]], (1 + 2 + 3 + 2 + 0) / 5),
    # unlabelled rows at distances 3 and 0.5 cost just that; anomalies at 0.5 and 4 2 and 1/4, or 0.5 and 0
    "dsad": (deep_sad_loss, [LABELS, [3, 0.5, 0.5, 4]], (3 + 0.5 + 2 + 0.25) / 4),
    "dsad, eta": (partial(deep_sad_loss, eta=3.0), [LABELS, [3, 0.5, 0.5, 4]], (3.5 + 3 * 2 + 3 * 0.25) / 4),
    "dsad, hinge": (partial(deep_sad_loss, eta=3.0, anomaly_term="hinge"),
        [LABELS, [3, 0.5, 0.5, 4]], (3.5 + 3 * 0.5 + 0) / 4),
    "dsad, distance": (centre_distance, [[[1, 2], [4, 6], [1, 0]], [1, 2]], [0, 25, 4]),
    "dsad, plain distance": (partial(centre_distance, distance="plain"),
        [[[1, 2], [4, 6], [1, 0]], [1, 2]], [1e-6, 5, 2]),
    "dsad, autoencoder": (reconstruction_loss, [[[1, 2], [0, 3], [0, 0]]], (5 + 9 + 0) / 3),
    # prototypes 0 and 2: the unlabelled query has distances 0 and 4, the anomalous one 1 and 1
    "fsnet": (prototypical_loss, [[0, 1, 0, 1], [[0, 0], [2, 0], [0, 0], [1, 0]], EQUAL],
        (np.log(1 + np.exp(-4)) + np.log(2)) / 2),
    "fsnet, costs": (prototypical_loss, [[0, 1, 0, 1], [[0, 0], [2, 0], [0, 0], [1, 0]], [0.5, 1.5]],
        (0.5 * np.log(1 + np.exp(-4)) + 1.5 * np.log(2)) / 2),
    # supports -1, 1 and 2, 4 have the means 0 and 3: queries 1, 1 (distances 1, 4) and 2, 2 (4, 1)
    "fsnet, means": (prototypical_loss, [[0, 0, 1, 1, 0, 0, 1, 1], EPISODE, EQUAL], NEAR),
    "fsnet, exchanged support": (prototypical_loss, [[1, 1, 0, 0, 0, 0, 1, 1], EPISODE, EQUAL], FAR),
    # queries all at 1, three to one, costs n / (2|U|) = 4/6 and n / (2|A|) = 4/2: each class counts half
    "fsnet, natural shares": (prototypical_loss,
        [[0, 0, 1, 1, 0, 0, 1, 0], EPISODE[:4] + 4 * [[1]], [2 / 3, 2]], (NEAR + FAR) / 2),
    # gaps d_neg - d_pos of 600, 1000, 1500 and -50
    "repen, pumad": (triplet_loss, [4 * [1000], [0, 100, 0, 50], [600, 1100, 1500, 0]], (400 + 1050) / 4),
    # unlabelled (-2, 1) and (3, 0.5) cost 2 + 1 and 3 + 0.5, anomalies (4, 2) and (7, 6) 1 + 3 and 0 + 0
    "feawad": (encoding_loss, [LABELS, [[-2, 1], [3, 0.5], [4, 2], [7, 6]]], (3 + 3.5 + 4 + 0) / 4),
    "feawad, autoencoder": (mean_squared_error, [[[1, -2], [0, 3]]], (1 + 4 + 0 + 9) / 4),
    "feawad, norm": (row_norm, [[[3, 4], [0, 0]]], [[5], [1e-4]]),
    # logits of the probabilities 1/2, 3/4 and 1/5
    "cross-entropy": (cross_entropy, [[0, 1, 1], [0, np.log(3), -np.log(4)]], np.log([2, 4 / 3, 5]).mean()),
    # |a - p| = 5 and 0, |a - n| = 1 and 10
    "rosas": (distance_loss, [[[3, 4], [0, 0]], [[0, 0], [0, 0]], [[3, 3], [0, 10]]], (5 - 1 + 1 + 0) / 2),
    "rosas, smooth l1": (smooth_l1, [[0, 0.5, -0.5, 1, -3]], [0, 0.125, 0.125, 0.5, 2.5]),
    # differences from y: 0.5 and 2, from s': 0 and 1
    "rosas, mixture": (mixture_loss, [[0.5, 1], [0, -1], [0.5, 0]], (0.125 + 1.5 + 0 + 0.5) / 2),
}  # fmt: skip


def tensors(arguments):
    return [tf.constant(np.array(value, np.float64)) for value in arguments]


@pytest.mark.parametrize("name", BY_HAND)
def test_loss_by_hand(name):
    loss, arguments, expected = BY_HAND[name]
    np.testing.assert_allclose(loss(*tensors(arguments)), expected, rtol=2e-6)


# a loss, its outputs for one row, and the slope there for label 0 and for label 1
SLOPES = {
    "prenet": (relation_loss, 0.5, 1, -1),
    "devnet": (partial(deviation_loss, reference_mean=0.0, reference_std=1.0), 0.5, 1, -1),
    "dsad": (deep_sad_loss, 0.5, 1, -4),  # -1 / d^2
    "dsad, hinge": (partial(deep_sad_loss, anomaly_term="hinge"), 0.5, 1, -1),
    "feawad": (encoding_loss, [0.5, 1.0], [1, 1], [-1, -1]),  # of score and norm
    "cross-entropy": (cross_entropy, 0.0, 1 / 2, -1 / 2),  # p - y
}


@pytest.mark.parametrize("name", SLOPES)
def test_flipping_one_label_changes_only_that_gradient(name):
    loss, output, *slopes = SLOPES[name]
    for labels in ([0, 1, 0], [0, 1, 1]):
        outputs = tf.Variable(np.array([output] * 3, np.float32))
        with tf.GradientTape() as tape:
            value = loss(tf.constant(np.float32(labels)), outputs)
        expected = np.array([slopes[label] for label in labels]) / 3
        np.testing.assert_allclose(tape.gradient(value, outputs), expected, rtol=1e-4)


def test_flipping_one_query_label_changes_only_that_querys_gradient():
    """The last query is equally far from both prototypes: 1/2 (mean) * 1/2 (softmax) * -4."""

    def gradient(classes):
        codes = tf.Variable([[0.0, 1.0], [2.0, 1.0], [0.5, 0.0], [1.0, 0.0]])
        with tf.GradientTape() as tape:
            value = prototypical_loss(tf.constant(classes), codes, tf.ones(2))
        return tape.gradient(value, codes).numpy()

    before, after = gradient([0.0, 1.0, 0.0, 1.0]), gradient([0.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(before[2], after[2])
    np.testing.assert_allclose([before[3], after[3]], [[-1, 0], [1, 0]], atol=1e-6)
    assert np.abs(before[:2] - after[:2]).max() > 0.1  # the prototypes are pulled the other way


def test_exchanging_positive_and_negative_reverses_the_gradient_of_that_triplet():
    def gradient(exchanged):
        distances = [tf.Variable([1.0, 2.0, 3.0]), tf.Variable([2.0, 5.0, 4.0])]
        with tf.GradientTape() as tape:
            one, other = (tf.concat([distances[i][:2], distances[i ^ exchanged][2:]], 0) for i in (0, 1))
            value = triplet_loss(tf.fill([3], 1000.0), one, other)
        return np.array([gradient.numpy() for gradient in tape.gradient(value, distances)])

    before, after = 3 * gradient(0), 3 * gradient(1)
    np.testing.assert_allclose(before, [[1, 1, 1], [-1, -1, -1]], rtol=1e-6)
    np.testing.assert_allclose(after, [[1, 1, -1], [-1, -1, 1]], rtol=1e-6)


# the negative of RoSAS' triplet is 1 - 1e-6 off in one coordinate, which the shift makes 1
@pytest.mark.parametrize("loss, arguments, expected", [
    (partial(centre_distance, distance="plain"), [[[1, 2]], [1, 2]], 1e-6),
    (distance_loss, [[[0] * 4], [[0] * 4], [[1e-6 - 1, 0, 0, 0]]], 2e-6),
    (row_norm, [[[0, 0]]], [[1e-4]]),
], ids=["dsad", "rosas", "feawad"])  # fmt: skip
def test_gradient_of_a_distance_is_finite_where_it_vanishes(loss, arguments, expected):
    codes, *others = tensors(arguments)
    with tf.GradientTape() as tape:
        tape.watch(codes)
        value = loss(codes, *others)
    np.testing.assert_allclose(value, expected, rtol=1e-3)
    assert np.isfinite(tape.gradient(value, codes).numpy()).all()


SHAPES = [
    *((loss, [(3, 1), (3,)]) for loss in (relation_loss, SLOPES["devnet"][0], deep_sad_loss, cross_entropy)),
    *((centre_distance, shapes) for shapes in ([(3, 2), (3, 1)], [(3, 2), (1,)])),
    *((prototypical_loss, [*shapes, (2,)]) for shapes in ([(8, 1), (8, 3)], [(8,), (8,)], [(7,), (7, 3)])),
    *((prototypical_loss, [(8,), (8, 3), costs]) for costs in ((), (1,), (4, 2))),
    *((triplet_loss, shapes) for shapes in ([(3, 1), (3,), (3,)], [(3,), (3, 1), (3,)], [(3,), (3,), (1,)])),
    *((encoding_loss, shapes) for shapes in ([(3,), (3, 1)], [(3, 1), (3, 2)], [(2,), (3, 2)])),
    (distance_loss, [(3, 2), (3, 2), (1, 2)]),
    *((mixture_loss, shapes) for shapes in ([(3,), (3, 1), (3,)], [(3,), (3,), (3, 1)])),
]  # fmt: skip


@pytest.mark.parametrize("loss, shapes", SHAPES)
def test_shapes_that_would_broadcast_are_refused(loss, shapes):
    with pytest.raises(ValueError, match="shape"):
        loss(*map(tf.zeros, shapes))


@pytest.mark.parametrize("detector, expected", [
    (FSNet(), [1, 1]),
    (CFSNet(), [100 / (2 * 90), 100 / (2 * 10)]),
    (CFSNet(anomaly_cost=3), [1 / 1.2, 3 / 1.2]),
    (CFSNet(episodes="balanced"), [0.2, 1.8]),
    (CFSNet(episodes="balanced", anomaly_cost=3), [0.5, 1.5]),
], ids=str)  # fmt: skip
def test_class_costs_by_hand(detector, expected):
    """1 and the cost, divided by their mean: for 3 over nine unlabelled rows to an anomaly, it is 1.2."""
    (costs,) = detector.loss_constants(None, np.arange(90), np.arange(10), None, None)
    np.testing.assert_allclose(costs, expected)
