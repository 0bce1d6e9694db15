"""REPEN: LeSiNN, threshold, triplets, network and scores by hand-computed values."""

import numpy as np
import pytest

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


def test_network_gives_the_squared_distances():
    model = build_triplet_network(3, hidden_units=4, seed=0)
    assert [weights.shape for weights in model.get_weights()] == [(3, 4), (4,)]
    triplet = np.random.default_rng(0).random((3, 5, 3), dtype=np.float32)
    codes = np.maximum(triplet @ model.get_weights()[0], 0)
    positive, negative = model(*triplet)
    np.testing.assert_allclose(positive, ((codes[0] - codes[1]) ** 2).sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(negative, ((codes[0] - codes[2]) ** 2).sum(axis=1), rtol=1e-4)
