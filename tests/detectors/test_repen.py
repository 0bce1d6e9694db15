"""REPEN: LeSiNN, threshold, triplets and loss by hand-computed values, and what every detector must do."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from toys import two_clusters

from repen import REPEN, draw_references, lesinn, sample_triplets, split_candidates
from weakly.training.network import build_triplet_network, keras, tf, triplet_loss

# ---------------------------------------------------------------------------- LeSiNN and the threshold


def test_lesinn_equals_the_plain_loops():
    rng = np.random.default_rng(0)
    rows, references = rng.random((7, 3)), rng.random((5, 4, 3))
    by_loops = [
        np.mean([min(np.sqrt(((row - member) ** 2).sum()) for member in sample) for sample in references])
        for row in rows
    ]
    np.testing.assert_allclose(lesinn(rows, references), by_loops, rtol=1e-9)
    np.testing.assert_allclose(
        lesinn(rows.astype(np.float32), references.astype(np.float32)), by_loops, rtol=1e-4
    )


def test_lesinn_by_hand():
    """On a line, subsamples {0, 10} and {4, 4}: 3 has the distances 3 and 1, 4 has 4 and 0, not squared."""
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


def test_cantelli_threshold_by_hand():
    """k ones among n scores are sqrt((n - k) / k) standard deviations (population) above the mean."""
    inliers, candidates = split_candidates(
        np.repeat([0.0, 1.0], [301, 100])
    )  # sqrt(3.01) = 1.7349: above 1.7321
    np.testing.assert_array_equal(inliers, np.arange(301))
    np.testing.assert_array_equal(candidates, np.arange(301, 401))
    inliers, candidates = split_candidates(
        np.repeat([0.0, 1.0], [300, 100])
    )  # sqrt(3) = 1.73205: not above, so one is taken
    np.testing.assert_array_equal(candidates, [300])
    np.testing.assert_array_equal(inliers, np.delete(np.arange(400), 300))


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3])
def test_equal_scores_give_one_candidate(value):
    inliers, candidates = split_candidates(np.full(1001, value))
    assert len(candidates) == 1 and len(inliers) == 1000


@pytest.mark.parametrize(
    "scores, candidate",
    [
        (np.arange(12), 11),  # none is above 5.5 + 1.7321 * 3.452 = 11.48
        (np.arange(12)[::-1], 0),
        (np.arange(4), 3),  # 1.5 + 1.7321 * 1.118 = 3.44
        (np.array([0, 0, 1, 1]), 2),  # none is alone at the top, so the first is taken
        (np.array([0, 3, 100, 1, 2]), 2),  # 100 is above 21.2 + 1.7321 * 39.4 = 89.5
    ],
)
def test_a_single_candidate_by_hand(scores, candidate):
    inliers, candidates = split_candidates(scores.astype(float))
    assert candidates.tolist() == [candidate]
    assert inliers.tolist() == [place for place in range(len(scores)) if place != candidate]


# ---------------------------------------------------------------------------- triplets


def test_triplets_of_a_batch():
    """Inliers and candidates are disjoint; half of the negatives are known anomalies.

    The three inputs are what they should be.
    """
    rng = np.random.default_rng(0)
    unlabeled = rng.permutation(np.arange(1000, 1200))
    scores = np.concatenate([rng.uniform(1, 2, 190), rng.uniform(8, 9, 10)])
    inliers, candidates = split_candidates(scores)
    assert (
        len(candidates) == 10 and not set(inliers) & set(candidates) and len(inliers) + len(candidates) == 200
    )
    batches = sample_triplets(unlabeled, scores, 60, 40, 256, 1000.0, rng)
    assert (
        batches.unlabeled.shape == (40, 640)
        and batches.anomalies.shape == (40, 128)
        and batches.layout.shape == (3, 256)
    )
    np.testing.assert_array_equal(batches.targets, np.full(256, 1000.0))
    assert np.isin(batches.anomalies, np.arange(60)).all() and np.unique(batches.anomalies).size == 60
    anchor, positive, negative = batches.layout
    assert (negative >= 640).sum() == 128  # numbers from 640 on are anomalies
    assert (anchor < 640).all() and (positive < 640).all()
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
    inliers, candidates = split_candidates(scores)
    np.testing.assert_array_equal(candidates, [3, 4])
    batches = sample_triplets(np.arange(43), scores, 1, 2000, 100, 1000.0, np.random.default_rng(0))
    anchors, positives, negatives = np.split(batches.unlabeled, [100, 200], axis=1)
    share = np.bincount(anchors.ravel(), minlength=43) / anchors.size
    total = 41 * 4 - 4  # sum of Z - r over the 41 inliers
    np.testing.assert_allclose(share[[0, 1, 2]], np.array([4, 3, 1]) / total, atol=0.002)
    share = np.bincount(positives.ravel(), minlength=43) / positives.size
    np.testing.assert_allclose(share[[0, 1, 2]], 1 / 41, atol=0.002)
    assert np.mean(negatives == 4) == pytest.approx(0.6, abs=0.01)


# ---------------------------------------------------------------------------- network and loss


def test_triplet_loss_by_hand():
    """Gaps d_neg - d_pos of 600, 1000, 1500 and -50 cost 400, 0, 0 and 1050."""
    margins, positive, negative = (
        tf.fill([4], 1000.0),
        tf.constant([0.0, 100.0, 0.0, 50.0]),
        tf.constant([600.0, 1100.0, 1500.0, 0.0]),
    )
    assert float(triplet_loss(margins, positive, negative)) == pytest.approx((400 + 1050) / 4)


@pytest.mark.parametrize("shapes", [((3, 1), (3,), (3,)), ((3,), (3, 1), (3,)), ((3,), (3,), (1,))])
def test_triplet_loss_refuses_shapes_that_would_broadcast(shapes):
    with pytest.raises(ValueError, match="same shape"):
        triplet_loss(*(tf.zeros(shape) for shape in shapes))


def test_network_gives_the_squared_distances():
    model = build_triplet_network(3, hidden_units=4, seed=0)
    assert [weights.shape for weights in model.get_weights()] == [(3, 4), (4,)]
    triplet = np.random.default_rng(0).random((3, 5, 3), dtype=np.float32)
    codes = np.maximum(triplet @ model.get_weights()[0], 0)
    positive, negative = model(*triplet)
    np.testing.assert_allclose(positive, ((codes[0] - codes[1]) ** 2).sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(negative, ((codes[0] - codes[2]) ** 2).sum(axis=1), rtol=1e-4)


def test_exchanging_positive_and_negative_reverses_the_gradient_of_that_triplet():
    def gradient(swapped):
        codes = tf.Variable(
            np.random.default_rng(0).random((3, 3, 2), dtype=np.float32)
        )  # role, triplet, unit
        with tf.GradientTape() as tape:
            distances = [tf.reduce_sum((codes[0] - codes[role]) ** 2, axis=1) for role in (1, 2)]
            if swapped:
                distances = [tf.concat([distances[i][:2], distances[1 - i][2:]], axis=0) for i in (0, 1)]
            value = triplet_loss(tf.fill([3], 1000.0), *distances)
        return tape.gradient(value, codes).numpy()

    before, after = gradient(False), gradient(True)
    np.testing.assert_array_equal(before[:, :2], after[:, :2])
    np.testing.assert_allclose(before[:, 2], -after[:, 2], rtol=1e-6)
    assert np.abs(before[:, 2]).min() > 0


def test_optimizers():
    adadelta = REPEN().optimizer()
    assert isinstance(adadelta, keras.optimizers.Adadelta) and float(adadelta.learning_rate) == 1.0
    assert (adadelta.rho, adadelta.epsilon, adadelta.global_clipnorm) == (0.95, 1e-7, None)
    shared = REPEN(optimizer_name="rmsprop").optimizer()
    assert isinstance(shared, keras.optimizers.RMSprop) and float(shared.learning_rate) == pytest.approx(1e-3)
    assert shared.global_clipnorm == 1.0
    assert float(REPEN(learning_rate=0.5).optimizer().learning_rate) == 0.5


# ---------------------------------------------------------------------------- the detector


@pytest.mark.parametrize("optimizer_name", ["adadelta", "rmsprop"])
def test_orders_two_clusters(optimizer_name):
    X, _, known = two_clusters()
    X_new, truth_new, _ = two_clusters(seed=1)
    detector = REPEN(optimizer_name=optimizer_name).fit(X, known)
    scores = detector.decision_function(X_new)
    assert scores.dtype == np.float64 and scores.shape == (660,)
    assert roc_auc_score(truth_new, scores) > 0.97
    assert min(detector.losses_) < detector.losses_[0]


def test_scores_are_lesinn_of_the_codes(uncompiled):
    X, _, known = two_clusters()
    detector = REPEN(epochs=1, batches_per_epoch=5).fit(X, known)
    assert detector.references_.shape == (50, 8, 20)
    codes = np.asarray(detector.model_.psi(X), dtype=np.float64)
    unlabeled = codes[known == 0]
    assert all(
        np.isclose(unlabeled, reference, atol=1e-5).all(axis=1).any()
        for reference in detector.references_.reshape(-1, 20)
    )
    distances = np.linalg.norm(codes[:, None, None] - detector.references_, axis=-1)
    np.testing.assert_allclose(
        detector.decision_function(X), distances.min(axis=2).mean(axis=1), rtol=1e-4, atol=1e-5
    )
