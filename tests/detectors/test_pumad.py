"""PUMAD: its filter on rows placed by hand, its triplets, its loss and score by hand-computed values."""

import numpy as np
import pytest

from pumad import PUMAD, collision_shares, reliable_normals


def opposite_clusters(n_normals=300, n_copies=20, n_features=8):
    """Ten labelled anomalies around 0.8, normals around 0.2, far from them, and copies of the anomalies."""
    rng = np.random.default_rng(0)
    labeled = rng.normal(0.8, 0.1, (10, n_features))
    normals = rng.normal(0.2, 0.1, (n_normals, n_features))
    copies = labeled[rng.integers(10, size=n_copies)]
    X = np.concatenate([labeled, normals, copies]).astype(np.float32)
    return X, np.arange(10), np.arange(10, 10 + n_normals), np.arange(10 + n_normals, len(X))


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
