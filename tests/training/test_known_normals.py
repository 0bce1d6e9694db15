"""Rows that a person checked and found normal: how much they weigh, and that they are never suspects."""

from dataclasses import dataclass

import numpy as np
import pytest

from pumad import PUMAD
from repen import sample_triplets
from weakly.beyond.classifiers import Logistic
from weakly.training.detector import Detector
from weakly.training.known_normals import KNOWN_SHARE


@dataclass(repr=False, eq=False)
class Recorder(Detector):
    """A detector that only keeps which positions it was given."""

    def _fit(self, X, unlabeled, anomalies, rng):
        self.given = unlabeled

    def _score(self, X):
        return X[:, 0].astype(np.float64)


@pytest.fixture
def rows():
    """200 rows, of which the first 10 are labelled anomalies."""
    X = np.random.default_rng(0).random((200, 3), np.float32)
    return X, (np.arange(200) < 10).astype(int)


def test_without_known_normals_nothing_changes(rows):
    X, y = rows
    for normal in (None, [], np.zeros(200, bool)):
        np.testing.assert_array_equal(Recorder().fit(X, y, normal).given, np.arange(10, 200))
    U = np.arange(199, 9, -1)
    np.testing.assert_array_equal(Recorder().fit_rows(X, U, np.arange(10)).given, U)


@pytest.mark.parametrize("n_known, share", [(2, 0.2), (5, KNOWN_SHARE), (20, KNOWN_SHARE)])
def test_a_known_normal_is_as_heavy_as_an_anomaly_up_to_a_share(rows, n_known, share):
    """Two known normals beside ten anomalies get a fifth of the draws, more get a quarter in all."""
    X, y = rows
    known = np.arange(50, 50 + n_known)
    given = Recorder().fit(X, y, known).given
    counts = np.bincount(given, minlength=200)
    assert counts[:10].sum() == 0 and (np.delete(counts, known)[10:] == 1).all()
    assert counts[known].sum() / len(given) == pytest.approx(share, abs=0.005)
    assert np.ptp(counts[known]) <= 1


@pytest.mark.parametrize("n_known, copies", [(1, 10), (3, 30), (50, 50)])
def test_a_classifier_gets_ten_copies_up_to_a_share(rows, n_known, copies):
    """Of 190 rows, 50 known ones make up more than a quarter already."""

    class Classifier(Recorder):
        balances = False

    given = Classifier().fit(*rows, np.arange(50, 50 + n_known)).given
    assert np.isin(given, np.arange(50, 50 + n_known)).sum() == copies


def test_many_known_normals_are_there_once_each(rows):
    X, y = rows
    given = Recorder().fit(X, y, np.arange(200) >= 100).given
    np.testing.assert_array_equal(np.sort(given), np.arange(10, 200))
    assert len(Recorder().fit(X, y, y == 0).given) == 190  # all are known


def test_a_mask_and_positions_mean_the_same(rows):
    X, y = rows
    mask = np.isin(np.arange(200), [50, 60, 70])
    by_mask, by_position = Recorder().fit(X, y, mask), Recorder().fit(X, y, [70, 50, 60, 50])
    np.testing.assert_array_equal(by_mask.given, by_position.given)
    outside_of_u = Recorder().fit_rows(X, np.flatnonzero((y == 0) & ~mask), np.arange(10), [50, 60, 70])
    np.testing.assert_array_equal(by_mask.given, outside_of_u.given)


@pytest.mark.parametrize(
    "normal, message",
    [
        ([3], "cannot be a labelled anomaly and known to be normal"),
        ([200], "positions of rows, from 0 to 199"),
        ([-1], "positions of rows, from 0 to 199"),
        ([0.5], "positions of rows, from 0 to 199"),
        (np.ones(7, bool), "the mask of known normals has 7"),
    ],
)
def test_what_cannot_be_known_normals_is_refused(rows, normal, message):
    with pytest.raises(ValueError, match=message):
        Recorder().fit(*rows, normal)


def test_rows_like_the_known_normals_get_lower_scores():
    """Normal rows with a first feature even higher than the anomalies'; only their second is different."""
    rng = np.random.default_rng(0)
    X = rng.normal(0.2, 0.02, (500, 2)).astype(np.float32)
    X[:30] += [0.5, 0.0]  # anomalies
    X[30:60] += [0.65, 0.4]  # normal, but suspicious
    y = (np.arange(500) < 10).astype(int)

    def lead(detector):
        """By how much other anomalies score above such rows, none of them labelled."""
        return np.subtract(
            *(detector.decision_function(X[rows]).mean() for rows in (np.s_[10:30], np.s_[40:60]))
        )

    assert lead(Logistic().fit(X, y)) < 0 < lead(Logistic().fit(X, y, np.arange(30, 40)))


def test_repen_takes_no_known_normal_for_a_candidate():
    unlabeled, scores = np.arange(100, 200), np.r_[np.ones(90), np.full(10, 50.0)]
    is_normal = np.arange(100) >= 95
    arguments = (unlabeled, scores, 5, 20, 64, 1.0)
    for known, expected in ((None, range(190, 200)), (is_normal, range(190, 195))):
        batches = sample_triplets(*arguments, np.random.default_rng(0), is_normal=known)
        negatives, anchors = batches.unlabeled[:, 128:], batches.unlabeled[:, :128]
        assert set(negatives.ravel()) == set(expected)
        assert set(range(195, 200)) <= set(anchors.ravel()) if known is not None else True


def test_pumad_filters_no_known_normal():
    """A normal row beside the anomalies collides with them in every hash table, unless it is known."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 4)).astype(np.float32)
    X[:10] = X[10] = 3.0
    y = (np.arange(300) < 10).astype(int)
    settings = {"epochs": 1, "batches_per_epoch": 1}
    assert PUMAD(**settings).fit(X, y).reliable_share_ < 1
    assert PUMAD(**settings).fit(X, y, [10]).reliable_share_ == 1
