"""REPEN: LeSiNN, threshold, triplets, network and scores by hand-computed values."""

import numpy as np
import pytest
from toys import two_clusters

from repen import REPEN, draw_references, lesinn, sample_triplets, split_candidates
from weakly.training.network import build_triplet_network


def test_lesinn_equals_the_plain_loops():
    rng = np.random.default_rng(0)
    rows, references = rng.random((7, 3)), rng.random((5, 4, 3))
    by_loops = [
        np.mean([min(np.sqrt(((row - member) ** 2).sum()) for member in sample) for sample in references])
        for row in rows
    ]
    np.testing.assert_allclose(lesinn(rows, references), by_loops, rtol=1e-9)
    in_float32 = lesinn(rows.astype(np.float32), references.astype(np.float32))
    np.testing.assert_allclose(in_float32, by_loops, rtol=1e-4)
    # on a line, subsamples {0, 10} and {4, 4}: 3 has the distances 3 and 1, 4 has 4 and 0, not squared
    references = np.array([[[0.0], [10.0]], [[4.0], [4.0]]])
    np.testing.assert_allclose(lesinn(np.array([[3.0], [4.0]]), references), [2.0, 2.0])


def test_lesinn_far_from_the_origin():
    """Distances of about 1e-2 between float32 rows around 100 survive: the rows are centred first."""
    rng = np.random.default_rng(0)
    rows, references = (
        100 + 0.01 * rng.standard_normal(shape).astype(np.float32) for shape in ((20, 4), (5, 8, 4))
    )
    exact = lesinn(rows.astype(np.float64), references.astype(np.float64))
    np.testing.assert_allclose(lesinn(rows, references), exact, rtol=0.01)


def test_references_are_50_subsamples_of_8_different_rows():
    positions = draw_references(np.arange(100, 120), np.random.default_rng(0))
    assert positions.shape == (50, 8) and np.isin(positions, np.arange(100, 120)).all()
    assert all(len(set(subsample)) == 8 for subsample in positions)
    assert draw_references(np.arange(3), np.random.default_rng(0)).shape == (50, 8)


# k ones among n scores are sqrt((n - k) / k) standard deviations (population) above the mean
@pytest.mark.parametrize("scores, candidates", [
    (np.repeat([0, 1], [301, 100]), range(301, 401)),  # sqrt(3.01) = 1.7349: above 1.7321
    (np.repeat([0, 1], [300, 100]), [300]),  # sqrt(3) = 1.73205: not above, so one is taken
    (np.full(1001, 1 / 3), [0]),
    (np.arange(12), [11]),  # none is above 5.5 + 1.7321 * 3.452 = 11.48
    (np.arange(12)[::-1], [0]),
    (np.array([0, 0, 1, 1]), [2]),  # none is alone at the top, so the first is taken
    (np.array([0, 3, 100, 1, 2]), [2]),  # 100 is above 21.2 + 1.7321 * 39.4 = 89.5
], ids=str)  # fmt: skip
def test_cantelli_threshold_by_hand(scores, candidates):
    inliers, found = split_candidates(scores.astype(float))
    np.testing.assert_array_equal(found, candidates)
    np.testing.assert_array_equal(inliers, np.delete(np.arange(len(scores)), candidates))


def test_triplets_of_a_batch():
    """Half of the negatives are known anomalies, the others candidates; all else are inliers."""
    rng = np.random.default_rng(0)
    unlabeled = rng.permutation(np.arange(1000, 1200))
    scores = np.concatenate([rng.uniform(1, 2, 190), rng.uniform(8, 9, 10)])
    inliers, candidates = split_candidates(scores)
    assert len(candidates) == 10 and len(inliers) == 190
    batches = sample_triplets(unlabeled, scores, 60, 40, 256, 1000.0, rng)
    assert batches.unlabeled.shape == (40, 640) and batches.anomalies.shape == (40, 128)
    np.testing.assert_array_equal(batches.targets, np.full(256, 1000.0))
    assert np.isin(batches.anomalies, np.arange(60)).all() and np.unique(batches.anomalies).size == 60
    anchor, positive, negative = batches.layout
    assert (negative >= 640).sum() == 128  # numbers from 640 on are anomalies
    assert (anchor < 640).all() and (positive < 640).all() and len(anchor) == 256
    anchors, positives = batches.unlabeled[:, anchor], batches.unlabeled[:, positive]
    negatives = batches.unlabeled[:, negative[negative < 640]]
    assert set(anchors.ravel()) == set(positives.ravel()) == set(unlabeled[inliers])
    assert set(negatives.ravel()) == set(unlabeled[candidates])
    assert (anchors != positives).all()


def test_triplet_probabilities():
    """Inliers of scores 0, 1, 3 and 38 times 0 (Z = 4: anchors as 4 to 3 to 1).

    Candidates of scores 80 and 120 (2 to 3).
    """
    scores = np.zeros(43)
    scores[:5] = 0, 1, 3, 80, 120
    np.testing.assert_array_equal(split_candidates(scores)[1], [3, 4])
    batches = sample_triplets(np.arange(43), scores, 1, 2000, 100, 1000.0, np.random.default_rng(0))
    anchors, positives, negatives = np.split(batches.unlabeled, [100, 200], axis=1)
    share = np.bincount(anchors.ravel(), minlength=43) / anchors.size
    total = 41 * 4 - 4  # sum of Z - r over the 41 inliers
    np.testing.assert_allclose(share[[0, 1, 2]], np.array([4, 3, 1]) / total, atol=0.002)
    share = np.bincount(positives.ravel(), minlength=43) / positives.size
    np.testing.assert_allclose(share[[0, 1, 2]], 1 / 41, atol=0.002)
    assert np.mean(negatives == 4) == pytest.approx(0.6, abs=0.01)


def test_network_gives_the_squared_distances():
    model = build_triplet_network(3, hidden_units=4, seed=0)
    assert [weights.shape for weights in model.get_weights()] == [(3, 4), (4,)]
    triplet = np.random.default_rng(0).random((3, 5, 3), dtype=np.float32)
    codes = np.maximum(triplet @ model.get_weights()[0], 0)
    positive, negative = model(*triplet)
    np.testing.assert_allclose(positive, ((codes[0] - codes[1]) ** 2).sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(negative, ((codes[0] - codes[2]) ** 2).sum(axis=1), rtol=1e-4)


def test_scores_are_lesinn_of_the_codes(uncompiled):
    X, _, known = two_clusters()
    detector = REPEN(epochs=1, batches_per_epoch=5).fit(X, known)
    assert detector.references_.shape == (50, 8, 20)
    codes = np.asarray(detector.model_.psi(X), dtype=np.float64)
    for reference in detector.references_.reshape(-1, 20):
        assert np.isclose(codes[known == 0], reference, atol=1e-5).all(axis=1).any()
    distances = np.linalg.norm(codes[:, None, None] - detector.references_, axis=-1)
    expected = distances.min(axis=2).mean(axis=1)
    np.testing.assert_allclose(detector.decision_function(X), expected, rtol=1e-4, atol=1e-5)
