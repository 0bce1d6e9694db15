"""FSNet and cFSNet: episodes, costs and scores by hand-computed values."""

import numpy as np
import pytest
from toys import two_clusters

from fsnet import CFSNet, FSNet, draw_support_and_queries, sample_episodes

FEW_STEPS = {"epochs": 2, "batches_per_epoch": 5}
UNLABELED, ANOMALIES = np.arange(1000, 1900), np.arange(50, 150)  # positions in some data


@pytest.mark.parametrize("n_anomalies", [1, 2, 60, 127, 128])
def test_episodes(n_anomalies):
    unlabeled, n_batches = np.arange(1000, 3000), 30
    batches = sample_episodes(unlabeled, n_anomalies, n_batches, 256, np.random.default_rng(0))
    u, a = batches.unlabeled, batches.anomalies
    assert u.shape == a.shape == (n_batches, 128)
    assert np.isin(u, unlabeled).all() and np.isin(a, np.arange(n_anomalies)).all()
    np.testing.assert_array_equal(batches.targets, np.repeat([0, 1, 0, 1], 64))
    drawn = np.hstack([u, -1 - a])[:, batches.layout[0]]  # as the loss sees them
    np.testing.assert_array_equal(drawn < 0, np.broadcast_to(batches.targets == 1, drawn.shape))
    for row in drawn:
        support_u, support_a, query_u, query_a = np.split(row, 4)
        assert len({*support_u, *query_u}) == 128
        assert n_anomalies == 1 or not set(support_a) & set(query_a)
        assert n_anomalies < 128 or len({*support_a, *query_a}) == 128
    assert np.unique(a).size == n_anomalies  # over the batches everyone gets a turn


def test_small_class_serves_both_roles_equally_over_the_episodes():
    drawn = draw_support_and_queries(np.array([7, 8, 9, 10]), 2000, 16, np.random.default_rng(0))
    for role in (drawn[:, :16], drawn[:, 16:]):
        np.testing.assert_allclose(np.bincount(role.ravel())[7:] / role.size, 0.25, atol=0.02)


def test_natural_queries():
    """Of 900 and 100 rows a tenth of the queries are anomalies; the support stays balanced."""
    rng = np.random.default_rng(0)
    batches = CFSNet().sample_batches(None, UNLABELED, ANOMALIES, 200, rng)
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


@pytest.mark.parametrize("detector, expected", [
    (FSNet(), [1, 1]),
    (CFSNet(), [100 / (2 * 90), 100 / (2 * 10)]),
    (CFSNet(anomaly_cost=3), [1 / 1.2, 3 / 1.2]),
    (CFSNet(episodes="balanced"), [0.2, 1.8]),
    (CFSNet(episodes="balanced", anomaly_cost=3), [0.5, 1.5]),
], ids=str)  # fmt: skip
def test_costs_follow_the_class_frequencies_unless_given(detector, expected):
    (costs,) = detector.loss_constants(None, np.arange(90), np.arange(10), None, None)
    np.testing.assert_allclose(costs, expected)


def test_equal_costs_on_balanced_queries_give_fsnet(uncompiled):
    X, _, known = two_clusters()
    one, other = (
        detector.fit(X, known).decision_function(X)
        for detector in (FSNet(**FEW_STEPS), CFSNet(**FEW_STEPS, episodes="balanced", anomaly_cost=1))
    )
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("detector_class", [FSNet, CFSNet])
def test_scores_are_the_difference_of_squared_distances(uncompiled, detector_class):
    X, _, known = two_clusters()
    detector = detector_class(**FEW_STEPS).fit(X, known)
    kernel, bias = detector.model_.get_weights()
    codes = np.maximum(X.astype(np.float64) @ kernel + bias, 0)
    to_unlabeled, to_anomalies = (
        np.square(codes - codes[known == label].mean(axis=0)).sum(axis=1) for label in (0, 1)
    )
    scores = detector.decision_function(X)
    assert scores.std() > 1e-3
    np.testing.assert_allclose(scores, to_unlabeled - to_anomalies, atol=1e-4)
