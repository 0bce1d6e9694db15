"""FSNet and cFSNet: loss, episodes, costs and scoring by hand-computed values."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from toys import two_clusters

from fsnet import (
    CFSNet,
    FSNet,
    balanced_costs,
    build_fsnet,
    draw_support_and_queries,
    prototypical_loss,
    sample_episodes,
)
from training.keras_detector import _compiled_trainer
from training.network import tf

EQUAL = tf.ones(2)
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


def test_loss_stays_finite_far_from_the_prototypes():
    codes = tf.Variable(
        [[0.0], [1e4], [1e4], [0.0]]
    )  # both queries on the wrong side: the softmax underflows
    with tf.GradientTape() as tape:
        loss = prototypical_loss(tf.constant([0.0, 1.0, 0.0, 1.0]), codes, EQUAL)
    assert float(loss) == pytest.approx(1e8)
    assert np.isfinite(tape.gradient(loss, codes)).all()


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


def test_few_unlabelled_rows_are_split_as_anomalies_are():
    batches = sample_episodes(np.arange(50, 60), 1, 5, 256, np.random.default_rng(0))
    assert (
        all(not set(row[:64]) & set(row[64:]) for row in batches.unlabeled) and (batches.anomalies == 0).all()
    )


# ---------------------------------------------------------------------------- costs


def test_costs_by_hand():
    np.testing.assert_allclose(balanced_costs(1.0), [1, 1], rtol=0)
    np.testing.assert_allclose(balanced_costs(3.0), [0.5, 1.5])
    for wrong in (0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="anomaly_cost must be a positive number"):
            balanced_costs(wrong)


def test_costs_follow_the_class_frequencies_unless_given():
    unlabeled, anomalies = np.arange(90), np.arange(10)
    costs = lambda detector: detector.loss_constants(None, unlabeled, anomalies, None, None)[0]  # noqa: E731
    np.testing.assert_allclose(costs(FSNet()), [1, 1])
    np.testing.assert_allclose(costs(CFSNet()), [0.2, 1.8])
    np.testing.assert_allclose(costs(CFSNet(anomaly_cost=3)), [0.5, 1.5])


def test_equal_costs_give_fsnet_and_others_do_not():
    X, _, known = two_clusters()
    plain, equal, by_frequency = (
        detector.fit(X, known).decision_function(X)
        for detector in (FSNet(epochs=2), CFSNet(epochs=2, anomaly_cost=1), CFSNet(epochs=2))
    )
    np.testing.assert_allclose(plain, equal, rtol=1e-5, atol=1e-6)
    assert np.abs(plain - by_frequency).max() > 1e-3


def test_other_frequencies_need_no_new_compilation():
    X, _, known = two_clusters()
    unlabeled, anomalies = np.flatnonzero(known == 0), np.flatnonzero(known == 1)
    detector = CFSNet(epochs=1).fit_rows(X, unlabeled, anomalies)
    trainer = _compiled_trainer(CFSNet, detector._settings(), X.shape[1])
    traced = trainer._graph.experimental_get_tracing_count()
    CFSNet(epochs=1).fit_rows(X, unlabeled[:200], anomalies)
    assert trainer._graph.experimental_get_tracing_count() == traced


# ---------------------------------------------------------------------------- detectors


@BOTH
def test_orders_two_clusters(detector_class):
    X, _, known = two_clusters()
    X_new, truth_new, _ = two_clusters(seed=1)
    assert roc_auc_score(truth_new, detector_class().fit(X, known).decision_function(X_new)) > 0.97


@BOTH
def test_scores_are_the_difference_of_squared_distances(detector_class):
    X, _, known = two_clusters()
    detector = detector_class(epochs=2).fit(X, known)
    kernel, bias = detector.model_.get_weights()
    codes = np.maximum(X.astype(np.float64) @ kernel + bias, 0)
    to_unlabeled, to_anomalies = (
        np.square(codes - codes[known == label].mean(axis=0)).sum(axis=1) for label in (0, 1)
    )
    scores = detector.decision_function(X)
    assert scores.dtype == np.float64 and scores.shape == (len(X),) and scores.std() > 1e-3
    np.testing.assert_allclose(scores, to_unlabeled - to_anomalies, atol=1e-4)


@BOTH
@pytest.mark.parametrize(
    "n_labeled, constant",
    [(20, True), (1, False), (300, False)],
    ids=["constant features", "one anomaly", "300 anomalies"],
)
def test_scores_are_finite_on_awkward_data(detector_class, n_labeled, constant):
    X, _, known = two_clusters(n_anomalies=310, n_labeled=n_labeled)
    X = np.full_like(X, 0.5) if constant else X
    scores = detector_class(epochs=2, batches_per_epoch=5).fit(X, known).decision_function(X)
    assert np.isfinite(scores).all()


@BOTH
def test_same_seed_same_scores(detector_class):
    X, _, known = two_clusters()
    scores = [
        detector_class(random_state=seed, epochs=2).fit(X, known).decision_function(X) for seed in (3, 3, 4)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert np.abs(scores[0] - scores[2]).max() > 1e-6


@BOTH
def test_clone_and_params(detector_class):
    own = {"anomaly_cost": 5.0} if detector_class is CFSNet else {}
    settings = dict(
        random_state=7,
        hidden_units=3,
        l2=0.1,
        learning_rate=0.2,
        epochs=4,
        batches_per_epoch=5,
        batch_size=8,
        **own,
    )
    assert clone(detector_class(**settings)).get_params() == settings
    assert detector_class().get_params()["batch_size"] == 256


@BOTH
@pytest.mark.parametrize("batch_size", [0, 3, 6])
def test_batch_size_must_be_a_multiple_of_four(detector_class, batch_size):
    X, _, known = two_clusters()
    with pytest.raises(ValueError, match="batch_size must be a positive multiple of 4"):
        detector_class(batch_size=batch_size).fit(X, known)


def test_costs_that_cannot_work_are_refused_by_fit():
    X, _, known = two_clusters()
    with pytest.raises(ValueError, match="anomaly_cost must be a positive number, not -2"):
        CFSNet(anomaly_cost=-2).fit(X, known)


def test_network_is_one_relu_layer_with_l2_on_its_kernel():
    model = build_fsnet(7, hidden_units=20, l2=0.01, seed=0)
    assert [weights.shape for weights in model.get_weights()] == [(7, 20), (20,)]
    kernel = model.get_weights()[0]
    assert float(tf.add_n(model.losses)) == pytest.approx(0.01 * np.square(kernel).sum(), rel=1e-5)
    rows = np.random.default_rng(0).random((4, 7), dtype=np.float32)
    np.testing.assert_allclose(model(rows), np.maximum(rows @ kernel, 0), atol=1e-5)
