"""REPEN and PUMAD, which learn from triplets: first scores, filters and network by hand-computed values."""

import numpy as np
import pytest

from pumad import PUMAD, collision_shares, reliable_normals
from repen import draw_references, lesinn, split_candidates
from weakly.training.network import build_triplet_network


def test_lesinn_equals_the_plain_loops():
    rng = np.random.default_rng(0)
    rows, references = rng.random((7, 3)), rng.random((5, 4, 3))
    by_loops = [
        np.mean([min(np.sqrt(((row - member) ** 2).sum()) for member in sample) for sample in references])
        for row in rows
    ]
    np.testing.assert_allclose(lesinn(rows, references), by_loops, rtol=1e-9)
    # on a line, subsamples {0, 10} and {4, 4}: 3 has the distances 3 and 1, 4 has 4 and 0, not squared
    references = np.array([[[0.0], [10.0]], [[4.0], [4.0]]])
    np.testing.assert_allclose(lesinn(np.array([[3.0], [4.0]]), references), [2.0, 2.0])


def test_references_are_50_subsamples_of_8_different_rows():
    positions = draw_references(np.arange(100, 120), np.random.default_rng(0))
    assert positions.shape == (50, 8) and np.isin(positions, np.arange(100, 120)).all()
    assert all(len(set(subsample)) == 8 for subsample in positions)
    assert draw_references(np.arange(3), np.random.default_rng(0)).shape == (50, 8)


# k ones among n scores are sqrt((n - k) / k) standard deviations (population) above the mean
@pytest.mark.parametrize("scores, candidates", [
    (np.repeat([0, 1], [301, 100]), range(301, 401)),  # sqrt(3.01) = 1.7349: above 1.7321
    (np.repeat([0, 1], [300, 100]), [300]),  # sqrt(3) = 1.73205: not above, so one is taken
    (np.arange(12), [11]),  # none is above 5.5 + 1.7321 * 3.452 = 11.48
    (np.array([0, 0, 1, 1]), [2]),  # none is alone at the top, so the first is taken
], ids=str)  # fmt: skip
def test_cantelli_threshold_by_hand(scores, candidates):
    inliers, found = split_candidates(scores.astype(float))
    np.testing.assert_array_equal(found, candidates)
    np.testing.assert_array_equal(inliers, np.delete(np.arange(len(scores)), candidates))


def test_network_gives_the_squared_distances():
    model = build_triplet_network(3, hidden_units=4, seed=0)
    assert [weights.shape for weights in model.get_weights()] == [(3, 4), (4,)]
    triplet = np.random.default_rng(0).random((3, 5, 3), dtype=np.float32)
    codes = np.maximum(triplet @ model.get_weights()[0], 0)
    positive, negative = model(*triplet)
    np.testing.assert_allclose(positive, ((codes[0] - codes[1]) ** 2).sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(negative, ((codes[0] - codes[2]) ** 2).sum(axis=1), rtol=1e-4)


# ---------------------------------------------------------------------------- PUMAD


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
