"""Every sampler by hand: which rows a batch has, at which places, and with which targets."""

from collections import Counter

import numpy as np
import pytest

from repen import sample_triplets, split_candidates
from weakly.methods import make_detector
from weakly.training.batches import Batches

UNLABELED, ANOMALIES = np.arange(1000, 1900), np.arange(50, 150)  # positions in the data
CANDIDATES = UNLABELED[:9]  # unlabelled rows far from all others, which REPEN takes for outliers
X = np.random.default_rng(0).random((2000, 3)).astype(np.float32)
X[CANDIDATES] += 5

# unlabelled rows u and labelled anomalies a at the places of a batch: how many there are, and their target
KINDS = {
    "prenet": {"uu": (256, 0), "ua": (128, 4), "aa": (128, 8)},
    "prenet, paper": {"uu": (256, 0), "au": (128, 4), "aa": (128, 8)},
    "trm": {"uu": (256, 0), "ua": (128, 4), "aa": (128, 4)},
    "iprenet": {"u": (256, 0), "a": (256, 4)},
    "devnet": {"u": (256, 0), "a": (256, 1)},
    "fsnet": {"u": (128, 0), "a": (128, 1)},
    "repen": {"uuu": (128, 1000), "uua": (128, 1000)},
    "repen-all-known": {"uua": (256, 1000)},
    "repen-none-known": {"uuu": (256, 1000)},
    "repen-supervised": {"uua": (256, 1000)},
    "pumad": {"uua": (128, 1), "aau": (128, 1)},
    "rosas": {"uua": (32, 0)},
}


def sample(name, n_batches=200, unlabeled=UNLABELED, anomalies=ANOMALIES, **settings):
    detector = make_detector(name, **settings)
    return detector.sample_batches(X, unlabeled, anomalies, n_batches, np.random.default_rng(0))


def rows_of(batches: Batches):
    """The positions of the rows at the places of each batch (n_batches, k, b)."""
    return np.hstack([batches.unlabeled, ANOMALIES[batches.anomalies]])[:, batches.layout]


@pytest.mark.parametrize("name", KINDS)
def test_rows_and_targets_of_a_batch(name):
    method, _, order = name.partition(", ")
    batches = sample(method, **{"pair_order": order} if order else {})
    rows = rows_of(batches)
    is_anomaly = np.isin(rows, ANOMALIES)
    kinds = np.array(["u", "a"])[is_anomaly.astype(int)]
    assert (kinds == kinds[0]).all()
    found = Counter(("".join(places), target) for *places, target in zip(*kinds[0], batches.targets))
    assert found == {(kind, target): count for kind, (count, target) in KINDS[name].items()}
    assert set(UNLABELED[9:]) <= set(rows[~is_anomaly]) <= set(UNLABELED)
    if is_anomaly.any():  # everyone gets a turn, about equally often
        counts = np.bincount(batches.anomalies.ravel(), minlength=len(ANOMALIES))
        assert counts.std() < 0.2 * counts.mean()


def test_rows_of_a_batch_that_differ():
    for left, right in rows_of(sample("prenet")):
        assert len({*left[:256], *right[:256]}) == 512 and len(set(left[256:384])) == 128
        assert (left[384:] != right[384:]).all()
    for anchors, positives, negatives in rows_of(sample("pumad")):
        assert len({*anchors[:128], *positives[:128], *negatives[128:]}) == 3 * 128
        assert (anchors[128:] != positives[128:]).all()
    for anchors, positives, _ in rows_of(sample("rosas")):
        assert len(set(anchors)) == len(set(positives)) == 32
    for name in ("repen", "repen-supervised"):
        anchors, positives, _ = rows_of(sample(name)).swapaxes(0, 1)
        assert (anchors != positives).all()


# ---------------------------------------------------------------------------- REPEN


def test_anchors_are_inliers_and_negatives_candidates():
    anchors, positives, negatives = rows_of(sample("repen")).swapaxes(0, 1)
    assert set(anchors.ravel()) == set(positives.ravel()) == set(UNLABELED[9:])
    assert set(negatives.ravel()) == {*CANDIDATES, *ANOMALIES}
    anchors, _, negatives = rows_of(sample("repen-supervised")).swapaxes(0, 1)
    assert set(anchors.ravel()) == set(UNLABELED) and set(negatives.ravel()) == set(ANOMALIES)


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


# ---------------------------------------------------------------------------- episodes


@pytest.mark.parametrize("n_anomalies", [1, 2, 60, 100])
def test_support_and_queries_have_no_row_in_common(n_anomalies):
    """But for a single anomaly, which is both; without repetition where there are enough rows."""
    for (row,) in rows_of(sample("fsnet", 30, anomalies=ANOMALIES[:n_anomalies])):
        support_u, support_a, query_u, query_a = np.split(row, 4)
        assert len({*support_u, *query_u}) == 128
        assert n_anomalies == 1 or not set(support_a) & set(query_a)
    (row,) = rows_of(sample("fsnet", 1, batch_size=200))[0]
    assert len(set(row)) == 200


# ---------------------------------------------------------------------------- natural shares


@pytest.mark.parametrize("name", ["devnet-natural", "dsad-natural", "cfsnet"])
def test_natural_batches(name):
    """Of 900 and 100 rows a tenth are anomalies, not the same number in each batch; cFSNet's queries only."""
    batches = sample(name)
    np.testing.assert_array_equal(batches.targets, np.isin(batches.unlabeled, ANOMALIES))
    np.testing.assert_array_equal(rows_of(batches)[:, 0], batches.unlabeled)
    n_support = 128 if name == "cfsnet" else 0
    support, queries = np.split(batches.unlabeled, [n_support], axis=1)
    assert set(queries.ravel()) == {*UNLABELED, *ANOMALIES}
    of_support, of_queries = np.split(batches.targets, [n_support], axis=1)
    assert of_queries.mean() == pytest.approx(100 / 1000, abs=0.01) and len({*of_queries.sum(axis=1)}) > 5
    np.testing.assert_array_equal(of_support, np.tile(np.repeat([0, 1], n_support // 2), (200, 1)))
    assert not any(set(one) & set(other) for one, other in zip(support, queries))


def test_adgyms_passes_over_all_rows():
    """900 + 100 rows make 7 batches of 128 in an epoch; no row is in an epoch twice."""
    batches = sample("dsad-adgym", epochs=6)
    assert batches.unlabeled.shape == (42, 128)
    assert all(len(set(epoch)) == 7 * 128 for epoch in batches.unlabeled.reshape(6, -1))
    np.testing.assert_array_equal(batches.targets, np.isin(batches.unlabeled, ANOMALIES))
    # over some epochs everyone gets a turn; fewer rows than a batch has are one batch
    assert set(batches.unlabeled.ravel()) == {*UNLABELED, *ANOMALIES}
    few = sample("dsad-adgym", 1, UNLABELED[:20], ANOMALIES[:5], epochs=6)
    assert few.unlabeled.shape == (6, 25) and (few.targets.sum(axis=1) == 5).all()
