"""PUMAD: its filter on rows placed by hand, its triplets, its loss and score by hand-computed values."""

import numpy as np
import pytest
from toys import two_clusters

from pumad import PUMAD, collision_shares, hash_codes, reliable_normals, sample_pu_triplets


def opposite_clusters(n_normals=300, n_copies=20, n_features=8):
    """Ten labelled anomalies around 0.8, normals around 0.2, far from them, and copies of the anomalies."""
    rng = np.random.default_rng(0)
    labeled = rng.normal(0.8, 0.1, (10, n_features))
    normals = rng.normal(0.2, 0.1, (n_normals, n_features))
    copies = labeled[rng.integers(10, size=n_copies)]
    X = np.concatenate([labeled, normals, copies]).astype(np.float32)
    return X, np.arange(10), np.arange(10, 10 + n_normals), np.arange(10 + n_normals, len(X))


def test_copies_of_anomalies_are_filtered_and_far_rows_stay():
    X, anomalies, normals, copies = opposite_clusters()
    rng = np.random.default_rng(1)
    unlabeled = rng.permutation(np.concatenate([normals, copies]))
    shares = collision_shares(X, unlabeled, anomalies, 20, 16, rng)
    assert (shares[np.isin(unlabeled, copies)] == 1).all()  # a copy shares every bucket
    np.testing.assert_array_equal(np.sort(reliable_normals(unlabeled, shares, rng)), normals)


def test_shares_by_a_plain_count():
    """One table after the other, one row after the other, must give the same shares."""
    X, anomalies, normals, _ = opposite_clusters()
    shares = collision_shares(X, normals, anomalies, 6, 3, np.random.default_rng(2))
    hyperplanes = np.random.default_rng(2).standard_normal((8, 6, 3), dtype=np.float32)
    centred = X - X[normals].mean(axis=0, dtype=np.float64).astype(np.float32)
    buckets = [[tuple(row @ hyperplanes[:, table] > 0) for row in centred] for table in range(6)]
    counts = [sum(table[row] in {table[a] for a in anomalies} for table in buckets) for row in normals]
    np.testing.assert_allclose(shares, np.array(counts) / 6)
    assert 0 < shares.mean() < 1


def test_hash_codes_by_hand():
    """Seen from (1, 1) the rows are (1, 1), (-1, 1), (0, -2).

    Table 1 has the planes x and y, table 2 x + y and -y.
    """
    hyperplanes = np.array([[[1, 0], [1, 0]], [[0, 1], [1, -1]]], dtype=np.float32)  # (D, tables, bits)
    codes = hash_codes(np.array([[2, 2], [0, 2], [1, -1]], np.float32), np.float32([1, 1]), hyperplanes)
    np.testing.assert_array_equal(codes, [[1 + 2, 1 + 0], [0 + 2, 0 + 0], [0 + 0, 0 + 2]])


def test_filter_threshold_and_what_always_remains():
    unlabeled, rng = np.arange(100, 106), np.random.default_rng(0)
    for shares, kept in (
        ([0, 0.45, 0.5, 1, 0, 0.1], [100, 101, 104, 105]),
        ([1, 0.9, 0.6, 1, 0, 0.7], [102, 104, 105]),
    ):
        np.testing.assert_array_equal(reliable_normals(unlabeled, np.array(shares), rng), kept)
    assert len(reliable_normals(np.arange(7), np.ones(7), rng)) == 4  # half, rounded up
    assert len(reliable_normals(np.arange(1), np.ones(1), rng)) == 1
    draws = {tuple(reliable_normals(unlabeled, np.ones(6), rng)) for _ in range(20)}
    assert len(draws) > 1  # among equals chance decides, not the order of rows


def test_filtered_rows_do_not_train_and_do_not_score(uncompiled, monkeypatch):
    X, anomalies, normals, copies = opposite_clusters()
    seen = []
    original = PUMAD.sample_batches
    monkeypatch.setattr(
        PUMAD, "sample_batches", lambda self, *rest: seen.append(original(self, *rest)) or seen[-1]
    )
    detector = PUMAD(epochs=2, batches_per_epoch=5).fit_rows(X, np.concatenate([normals, copies]), anomalies)
    assert set(np.unique(seen[0].unlabeled)) == set(normals)
    assert detector.reliable_share_ == pytest.approx(300 / 320)
    codes = detector.model_.psi(X[normals]).numpy()
    np.testing.assert_allclose(detector.normal_mean_, codes.mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("batch_size", [256, 33])
def test_triplets_of_a_batch(batch_size):
    normals, n_batches = np.arange(1000, 3000), 30
    batches = sample_pu_triplets(normals, 60, n_batches, batch_size, 1.5, np.random.default_rng(0))
    m_u = batches.unlabeled.shape[1]
    assert batches.layout.shape == (3, batch_size)
    np.testing.assert_array_equal(batches.targets, np.full(batch_size, 1.5))
    assert np.isin(batches.unlabeled, normals).all() and np.isin(batches.anomalies, np.arange(60)).all()
    n_drawn = m_u + batches.anomalies.shape[1]
    assert sorted(batches.layout.ravel()) == list(range(n_drawn))  # every drawn row in one place
    anchor, positive, negative = batches.layout >= m_u  # whether an anomaly
    np.testing.assert_array_equal(anchor, positive)
    np.testing.assert_array_equal(anchor, ~negative)
    assert anchor.sum() == batch_size // 2
    for u, a in zip(batches.unlabeled, batches.anomalies):
        assert len(set(u)) == len(u)
        drawn = np.concatenate([u, -1 - a])[batches.layout]
        assert (drawn[0] != drawn[1]).all()
    assert np.unique(batches.anomalies).size == 60
    if batch_size == 256:
        assert np.bincount(batches.anomalies.ravel()).std() < 0.1 * batches.anomalies.size / 60


def test_triplets_from_very_few_rows():
    batches = sample_pu_triplets(np.arange(3), 1, 2, 256, 1.0, np.random.default_rng(0))
    assert batches.unlabeled.shape == (2, 384) and (batches.anomalies == 0).all()


def test_score_is_the_difference_of_mean_squared_distances_but_for_a_constant(uncompiled):
    X, _, known = two_clusters()
    detector = PUMAD(epochs=2, batches_per_epoch=5).fit(X, known)
    shares = collision_shares(
        X, np.flatnonzero(known == 0), np.flatnonzero(known == 1), 20, 16, np.random.default_rng(0)
    )
    normals = reliable_normals(np.flatnonzero(known == 0), shares, None)
    codes = np.asarray(detector.model_.psi(X), np.float64)
    distances = ((codes[:, np.newaxis] - codes) ** 2).sum(axis=2)
    by_definition = distances[:, normals].mean(axis=1) - distances[:, known == 1].mean(axis=1)
    offsets = detector.decision_function(X) - by_definition
    assert by_definition.std() > 0.1 and offsets.std() < 1e-5
