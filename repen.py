"""REPEN: representations for random nearest-neighbour distances, learned from triplets.

Pang, Cao, Chen and Liu, "Learning Representations of Ultrahigh-dimensional Data for Random Distance-based
Outlier Detection", KDD 2018; its detector LeSiNN: Pang, Ting and Albrecht, "LeSiNN: Detecting Anomalies by
Identifying Least Similar Nearest Neighbours", ICDM Workshops 2015.

    python repen.py --datasets thyroid --runs 10     # this detector's column of Table 2
    REPEN(random_state=0).fit(X, y).decision_function(X_new)

Differences from the paper (1-3: the PReNet paper, 4-7: REPEN's paper)
  1. The PReNet paper says RMSprop for all detectors; REPEN's public script has Adadelta (learning rate 1.0,
     rho 0.95, Keras' epsilon 1e-7), without gradient clipping. That is our default. optimizer_name="rmsprop"
     gives the RMSprop of all other detectors: learning rate 1e-3, gradients clipped. (`optimizer` is a method
     of the base class, hence the longer name.)
  2. Known anomalies are the negatives in exactly half of the triplets of every batch, drawn uniformly with
     replacement (which is the oversampling of A). In the other half, the negatives are outlier candidates
     from U. Neither paper gives the share. REPEN's public script for sparse data does: every second triplet.
  3. The l2 term of 0.01 on the hidden kernel, which REPEN's public script does not have, is used as in all
     detectors; the epoch to keep is chosen as in weakly/training/loop.py. The loss is the mean over a batch,
     as in the script.
  4. LeSiNN's nearest-neighbour distance is the plain Euclidean one; only the loss has squared distances. A
     row of U that is itself in a subsample has distance 0 there. If U has fewer than 8 rows, a subsample
     repeats some.
  5. Sampling as in REPEN's public script: anchors with probability proportional to Z - r, where r is the
     row's LeSiNN score and Z the sum of all inliers' scores (nearly uniform if there are many); positives
     uniformly among the other inliers; candidates with probability proportional to r. All with replacement.
  6. Candidates are the rows of U whose score is strictly above the threshold; if there is none, the row with
     the highest score is the only candidate. In this case REPEN's public script is meant to take the 10
     highest. (As written, it takes the rows above the score of the 11th row from the end, because it sorts an
     array (n, 1) along its last axis.) Inliers are all other rows of U.
  7. Scores of new rows: LeSiNN in the embedding. Its 50 subsamples of 8 rows are drawn only from U, once, at
     the end of the fit. The script has no new rows: it scores its training data, with subsamples of the same
     data.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from weakly.training.batches import Batches, draw_batches
from weakly.training.detector import apply_in_chunks
from weakly.training.input_checks import require_at_least, require_one_of
from weakly.training.keras_detector import PsiDetector
from weakly.training.network import build_triplet_network, encoder, keras, triplet_loss

SUBSAMPLES, SUBSAMPLE_ROWS = 50, 8  # LeSiNN's ensemble
# sqrt(3): at most 1 / (1 + 3) of any distribution lies this many standard deviations above the mean
CANTELLI_FACTOR = 1.7321
LEARNING_RATES = {"adadelta": 1.0, "rmsprop": 1e-3}


def draw_references(unlabeled, rng):
    """Positions (50, 8) of LeSiNN's subsamples of U, each without replacement."""
    return draw_batches(unlabeled, SUBSAMPLES, SUBSAMPLE_ROWS, rng)


def lesinn(rows, references):
    """LeSiNN scores (n,) of rows (n, D): mean distance to the nearest row of each of references (t, s, D).

    Memory is n * t * s numbers: pass large data in chunks.
    """
    n_subsamples, n_members, n_features = references.shape
    # centring keeps |x|^2 small compared with the distances, which are differences of these terms
    centre = references.mean(axis=(0, 1))
    rows = rows - centre
    # members first, because the minimum over a first axis is faster
    members = (references - centre).swapaxes(0, 1).reshape(-1, n_features)
    squared = rows @ (-2 * members.T)
    squared += np.einsum("ij,ij->i", members, members)
    lowest = squared.reshape(-1, n_members, n_subsamples).min(axis=1)
    nearest = lowest + np.einsum("ij,ij->i", rows, rows)[:, np.newaxis]
    return np.sqrt(np.maximum(nearest, 0)).mean(axis=1)


def split_candidates(scores):
    """Positions of inliers and of outlier candidates: scores above mean + 1.7321 std (Cantelli).

    If there are none, or if all are above because they differ only by rounding, it is the highest one.
    """
    candidates = scores > scores.mean() + CANTELLI_FACTOR * scores.std()
    if not 0 < candidates.sum() < len(scores):
        candidates = np.arange(len(scores)) == scores.argmax()
    return np.flatnonzero(~candidates), np.flatnonzero(candidates)


def sample_triplets(
    unlabeled: np.ndarray,
    scores: np.ndarray,
    n_anomalies: int,
    n_batches: int,
    batch_size: int,
    margin: float,
    rng: np.random.Generator,
    known_share: float = 0.5,
) -> Batches:
    """Batches of (anchor, positive, negative): the negatives are first candidates from U, then anomalies.

    scores: initial outlier scores of the unlabelled rows, not negative; known_share: the share of anomalies
    among the negatives.
    """
    inliers, candidates = split_candidates(scores)
    n_known = int(batch_size * known_share)
    chances = _probabilities(scores[inliers].sum() - scores[inliers])
    anchors = rng.choice(len(inliers), (n_batches, batch_size), p=chances)
    steps = rng.integers(1, len(inliers), size=anchors.shape) if len(inliers) > 1 else 0
    positives = (anchors + steps) % len(inliers)  # uniform among the inliers other than the anchor
    chances = _probabilities(scores[candidates])
    negatives = rng.choice(candidates, (n_batches, batch_size - n_known), p=chances)
    return Batches(
        unlabeled=unlabeled[np.hstack([inliers[anchors], inliers[positives], negatives])],
        anomalies=rng.integers(n_anomalies, size=(n_batches, n_known)),
        layout=np.arange(3 * batch_size).reshape(3, batch_size),
        targets=np.full(batch_size, margin),
    )


def _probabilities(weights):
    """Weights as probabilities, which are equal if all weights are zero (constant features)."""
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))


@dataclass(repr=False, eq=False)
class REPEN(PsiDetector):
    """REPEN with known anomalies, with Adadelta and the PReNet paper's other common settings (App. B.2.2).

    learning_rate None is the usual one of the optimiser: 1.0 for "adadelta", 1e-3 for "rmsprop".
    """

    learning_rate: float | None = None  # type: ignore[assignment]
    batch_size: int = 256
    margin: float = 1000.0
    optimizer_name: str = "adadelta"

    known_share = 0.5  # of the negatives (item 2 above)

    def build(self, n_features, seed):
        return build_triplet_network(n_features, self.hidden_units, self.l2, seed)

    def loss(self, margins, distances):
        return triplet_loss(margins, *distances)

    def optimizer(self):
        from weakly.training.loop import rmsprop  # which imports TensorFlow

        rate = LEARNING_RATES[self.optimizer_name] if self.learning_rate is None else self.learning_rate
        if self.optimizer_name == "rmsprop":
            return rmsprop(rate)
        return keras.optimizers.Adadelta(rate, rho=0.95, epsilon=1e-7)

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        references = X[draw_references(unlabeled, rng)]
        scores = apply_in_chunks(lambda rows: lesinn(rows, references), X, unlabeled).astype(np.float64)
        if not np.isfinite(scores).all():  # otherwise they would count as equal
            raise ValueError(
                "the distances between unlabelled rows, where REPEN starts, overflow: "
                "are the features scaled (to about 0-1)?"
            )
        sizes = len(anomalies), n_batches, self.batch_size
        return sample_triplets(unlabeled, scores, *sizes, self.margin, rng, self.known_share)

    def _fit(self, X, unlabeled, anomalies, rng):
        require_one_of(self, optimizer_name=LEARNING_RATES)
        require_at_least(self, batch_size=2)
        if len(unlabeled) < 2:
            raise ValueError("REPEN needs at least 2 unlabelled rows, not 1")
        super()._fit(X, unlabeled, anomalies, rng)
        positions = draw_references(unlabeled, rng)
        codes = encoder(self.weights_)(X[positions.ravel()])
        self.references_ = codes.reshape(*positions.shape, -1).astype(np.float64)  # (50, 8, hidden_units)

    def _score(self, X):
        """LeSiNN of the codes, in float64: distances between them are differences of large squares."""
        psi = encoder(self.weights_)
        return apply_in_chunks(lambda rows: lesinn(psi(rows).astype(np.float64), self.references_), X)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "repen", *sys.argv[1:]]))
