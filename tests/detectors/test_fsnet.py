"""FSNet and cFSNet: loss, episodes, costs and scoring by hand-computed values."""

import numpy as np
import pytest
from toys import two_clusters

from fsnet import (
    CFSNet,
    FSNet,
    build_fsnet,
    class_costs_of,
    draw_support_and_queries,
    prototypical_loss,
    sample_episodes,
)
from weakly.training.network import tf

EQUAL = tf.ones(2)
FEW_STEPS = {"epochs": 2, "batches_per_epoch": 5}
BOTH = pytest.mark.parametrize("detector_class", [FSNet, CFSNet])


# ---------------------------------------------------------------------------- loss


def test_loss_by_hand():
    """Prototypes (0, 0) and (2, 0): the unlabelled query has distances 0 and 4, the anomalous one 1 and 1."""
    classes, codes = (
        tf.constant([0.0, 1.0, 0.0, 1.0]),
        tf.constant([[0.0, 0.0], [2.0, 0.0], [0.0, 0.0], [1.0, 0.0]]),
    )
    of_unlabeled, of_anomaly = np.log(1 + np.exp(-4)), np.log(2)
    assert float(prototypical_loss(classes, codes, EQUAL)) == pytest.approx((of_unlabeled + of_anomaly) / 2)
    assert float(prototypical_loss(classes, codes, tf.constant([0.5, 1.5]))) == pytest.approx(
        (0.5 * of_unlabeled + 1.5 * of_anomaly) / 2
    )


def test_prototypes_are_the_means_of_the_support():
    """Supports -1, 1 and 2, 4 give prototypes 0 and 3.

    Queries 1, 1 (distances 1, 4) and 2, 2 (4, 1) all lose log(1 + e^-3).
    """
    codes = tf.constant([[-1.0], [1.0], [2.0], [4.0], [1.0], [1.0], [2.0], [2.0]])
    loss = prototypical_loss(tf.constant([0.0, 0, 1, 1, 0, 0, 1, 1]), codes, EQUAL)
    assert float(loss) == pytest.approx(np.log(1 + np.exp(-3)))
    exchanged = prototypical_loss(
        tf.constant([1.0, 1, 0, 0, 0, 0, 1, 1]), codes, EQUAL
    )  # the classes of the support decide
    assert float(exchanged) == pytest.approx(np.log(1 + np.exp(3)))


def test_with_natural_shares_and_their_costs_a_class_counts_half():
    """Prototypes 0 and 3 as above, and every query at 1: an unlabelled one loses l, an anomalous one L.

    Three to one, costs n / (2|U|) = 4/6 and n / (2|A|) = 4/2: their mean is (3 * 4/6 l + 4/2 L) / 4.
    """
    codes = tf.constant([[-1.0], [1.0], [2.0], [4.0], [1.0], [1.0], [1.0], [1.0]])
    classes = tf.constant([0.0, 0, 1, 1, 0, 0, 1, 0])
    loss = prototypical_loss(classes, codes, tf.constant([2 / 3, 2.0]))
    assert float(loss) == pytest.approx((np.log(1 + np.exp(-3)) + np.log(1 + np.exp(3))) / 2)


def test_flipping_one_query_label_changes_only_that_querys_gradient():
    def gradient(classes):
        codes = tf.Variable(
            [[0.0, 1.0], [2.0, 1.0], [0.5, 0.0], [1.0, 0.0]]
        )  # the last is equally far from both prototypes
        with tf.GradientTape() as tape:
            value = prototypical_loss(tf.constant(classes), codes, EQUAL)
        return tape.gradient(value, codes).numpy()

    before, after = gradient([0.0, 1.0, 0.0, 1.0]), gradient([0.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(before[2], after[2])
    np.testing.assert_allclose(before[3], -after[3], atol=1e-6)
    np.testing.assert_allclose(
        before[3], [-1.0, 0.0], atol=1e-6
    )  # 1/2 (mean) * 1/2 (softmax) * d(d_a - d_u)/dz = 1/4 * -4
    assert np.abs(before[:2] - after[:2]).max() > 0.1  # the prototypes are pulled the other way


@pytest.mark.parametrize(
    "classes_shape, codes_shape",
    [((8, 1), (8, 3)), ((8,), (8,)), ((4,), (8, 3)), ((7,), (7, 3))],
    ids=["column", "flat codes", "lengths", "odd"],
)
def test_loss_refuses_shapes_that_do_not_match(classes_shape, codes_shape):
    with pytest.raises(ValueError, match="must have the shapes"):
        prototypical_loss(tf.zeros(classes_shape), tf.zeros(codes_shape), EQUAL)


@pytest.mark.parametrize("costs_shape", [(), (1,), (4, 2)])
def test_loss_refuses_costs_that_would_broadcast(costs_shape):
    with pytest.raises(ValueError, match="class_costs"):
        prototypical_loss(tf.zeros(8), tf.zeros((8, 3)), tf.ones(costs_shape))


# ---------------------------------------------------------------------------- episodes


@pytest.mark.parametrize("n_anomalies", [1, 2, 3, 60, 127, 128, 1000])
def test_episodes(n_anomalies):
    unlabeled, n_batches = np.arange(1000, 3000), 30
    batches = sample_episodes(unlabeled, n_anomalies, n_batches, 256, np.random.default_rng(0))
    assert batches.unlabeled.shape == batches.anomalies.shape == (n_batches, 128)
    assert (
        np.isin(batches.unlabeled, unlabeled).all()
        and np.isin(batches.anomalies, np.arange(n_anomalies)).all()
    )
    np.testing.assert_array_equal(batches.targets, np.repeat([0, 1, 0, 1], 64))
    drawn = np.hstack([batches.unlabeled, -1 - batches.anomalies])[
        :, batches.layout[0]
    ]  # as the loss sees them
    np.testing.assert_array_equal(drawn < 0, np.broadcast_to(batches.targets == 1, drawn.shape))
    for row in drawn:
        support_u, support_a, query_u, query_a = np.split(row, 4)
        assert len({*support_u, *query_u}) == 128
        assert n_anomalies == 1 or not set(support_a) & set(query_a)
        assert n_anomalies < 128 or len({*support_a, *query_a}) == 128
    assert (
        n_anomalies > 128 or np.unique(batches.anomalies).size == n_anomalies
    )  # over the batches everyone gets a turn


def test_small_class_serves_both_roles_equally_over_the_episodes():
    drawn = draw_support_and_queries(np.array([7, 8, 9, 10]), 2000, 16, np.random.default_rng(0))
    for role in (drawn[:, :16], drawn[:, 16:]):
        np.testing.assert_allclose(np.bincount(role.ravel())[7:] / role.size, 0.25, atol=0.02)


UNLABELED, ANOMALIES = np.arange(1000, 1900), np.arange(50, 150)  # positions in some data


def batches_of(detector, anomalies=ANOMALIES, n_batches=200):
    return detector.sample_batches(None, UNLABELED, anomalies, n_batches, np.random.default_rng(0))


def test_natural_queries():
    """Of 900 and 100 rows a tenth of the queries are anomalies; the support stays balanced."""
    batches = batches_of(CFSNet())
    support, queries = np.hsplit(batches.unlabeled, 2)
    assert batches.anomalies.shape == (200, 0) and (batches.layout == np.arange(256)).all()
    np.testing.assert_array_equal(batches.targets, np.isin(batches.unlabeled, ANOMALIES))
    np.testing.assert_array_equal(batches.targets[:, :128], np.tile(np.repeat([0, 1], 64), (200, 1)))
    # 25,600 draws: 5 standard deviations
    assert batches.targets[:, 128:].mean() == pytest.approx(100 / 1000, abs=0.01)
    assert len({*batches.targets[:, 128:].sum(axis=1)}) > 5  # not the same number in each batch
    assert not any(set(one) & set(other) for one, other in zip(support, queries))
    assert np.isin(batches.unlabeled, [*UNLABELED, *ANOMALIES]).all()
    assert set(ANOMALIES) <= set(queries.ravel()) and set(ANOMALIES) <= set(support.ravel())


def test_balanced_queries_are_those_of_fsnet():
    balanced, fsnet = (batches_of(detector) for detector in (CFSNet(episodes="balanced"), FSNet()))
    for part, other in zip(balanced, fsnet):
        np.testing.assert_array_equal(part, other)
    assert balanced.targets.mean() == 0.5


# ---------------------------------------------------------------------------- costs


def test_costs_by_hand():
    """1 and 3, divided by their mean: over halves it is 2, over nine unlabelled rows to an anomaly 1.2."""
    np.testing.assert_allclose(class_costs_of(1.0), [1, 1], rtol=0)
    np.testing.assert_allclose(class_costs_of(3.0), [0.5, 1.5])
    np.testing.assert_allclose(class_costs_of(3.0, anomaly_share=0.1), [1 / 1.2, 3 / 1.2])
    np.testing.assert_allclose(class_costs_of(0.1, anomaly_share=0.5), [2 / 1.1, 0.2 / 1.1])
    for wrong in (0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="anomaly_cost must be a positive number"):
            class_costs_of(wrong)


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0, 600.0])
@pytest.mark.parametrize("share", [0.001, 0.2, 0.5])
def test_costs_have_their_ratio_and_a_mean_of_one(cost, share):
    of_unlabeled, of_anomaly = class_costs_of(cost, share)
    assert of_anomaly / of_unlabeled == pytest.approx(cost)
    assert (1 - share) * of_unlabeled + share * of_anomaly == pytest.approx(1)
    if share == 0.5:  # as they were before there were natural queries
        np.testing.assert_allclose([of_unlabeled, of_anomaly], [2 / (1 + cost), 2 - 2 / (1 + cost)])


@pytest.mark.parametrize(
    "detector, expected",
    [
        (FSNet(), [1, 1]),
        (CFSNet(), [100 / (2 * 90), 100 / (2 * 10)]),
        (CFSNet(anomaly_cost=3), [1 / 1.2, 3 / 1.2]),
        (CFSNet(episodes="balanced"), [0.2, 1.8]),
        (CFSNet(episodes="balanced", anomaly_cost=3), [0.5, 1.5]),
    ],
    ids=str,
)
def test_costs_follow_the_class_frequencies_unless_given(detector, expected):
    (costs,) = detector.loss_constants(None, np.arange(90), np.arange(10), None, None)
    np.testing.assert_allclose(costs, expected)


def scores_of(detector):
    X, _, known = two_clusters()
    return detector.fit(X, known).decision_function(X)


def test_equal_costs_on_balanced_queries_give_fsnet(uncompiled):
    equal = scores_of(CFSNet(**FEW_STEPS, episodes="balanced", anomaly_cost=1))
    np.testing.assert_allclose(scores_of(FSNet(**FEW_STEPS)), equal, rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------------------- detectors


@BOTH
def test_scores_are_the_difference_of_squared_distances(uncompiled, detector_class):
    X, _, known = two_clusters()
    detector = detector_class(**FEW_STEPS).fit(X, known)
    kernel, bias = detector.model_.get_weights()
    codes = np.maximum(X.astype(np.float64) @ kernel + bias, 0)
    to_unlabeled, to_anomalies = (
        np.square(codes - codes[known == label].mean(axis=0)).sum(axis=1) for label in (0, 1)
    )
    scores = detector.decision_function(X)
    assert scores.dtype == np.float64 and scores.shape == (len(X),) and scores.std() > 1e-3
    np.testing.assert_allclose(scores, to_unlabeled - to_anomalies, atol=1e-4)


def test_network_is_one_relu_layer_with_l2_on_its_kernel():
    model = build_fsnet(7, hidden_units=20, l2=0.01, seed=0)
    assert [weights.shape for weights in model.get_weights()] == [(7, 20), (20,)]
    kernel = model.get_weights()[0]
    assert float(tf.add_n(model.collected("losses"))) == pytest.approx(
        0.01 * np.square(kernel).sum(), rel=1e-5
    )
    rows = np.random.default_rng(0).random((4, 7), dtype=np.float32)
    np.testing.assert_allclose(model(rows), np.maximum(rows @ kernel, 0), atol=1e-5)
