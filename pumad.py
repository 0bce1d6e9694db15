"""PUMAD: positive-unlabelled metric learning.

Ju, Lee, Hwang, Namkung and Yu, "PUMAD: PU Metric Learning for Anomaly Detection", Information Sciences 523,
2020.

    python pumad.py --datasets thyroid --runs 10     # this detector's column of the table in App. C.1
    PUMAD(random_state=0).fit(X, y).decision_function(X_new)

Differences from the paper
  PUMAD's code is not public, nor is the code that the PReNet authors wrote for their table ("a metric
  learning similar to REPEN", App. C.1). We had only PUMAD's abstract, which names deep metric learning and
  hashing-based filtering. So this is an interpretation, not a port. Its results are above those in the table,
  far above on donors, bac and w7a.
  1. Filtering. Random-hyperplane hashing of the rows, centred on the mean of U: 20 tables of 16 bits. An
     unlabelled row that shares its bucket with a labelled anomaly in at least half of the tables is a
     potential anomaly; the other rows are the reliable normals. With 16 bits, 60 anomalies occupy less than a
     thousandth of a table's buckets, so no row is filtered by chance: half of the tables agree for rows about
     8 degrees apart, as seen from the mean. 8 bits would mean 15 degrees, and up to a quarter of the buckets.
  2. Filtering leaves at least half of U. If anomalies resemble everything (thyroid), the half that collides
     least is kept.
  3. Potential anomalies are not used in training at all, not even as anomalies.
  4. Triplets. Half of a batch are (normal, normal, anomaly), half (anomaly, anomaly, normal), drawn
     uniformly, without mining hard ones. Network and loss are REPEN's: max(0, margin - (d_neg - d_pos)) on
     squared Euclidean distances, with margin 1.
  5. Score. Mean squared distance to the reliable normals minus that to the labelled anomalies. The mean
     squared distance to a set is the squared distance to its mean plus the set's spread, which is constant.
     So we keep only the two means; sampling references could only add noise.
  6. Batches of 256 triplets, as the paper has for REPEN; network, l2, optimiser and number of batches are
     those of all deep detectors, see weakly/training/loop.py.
"""

import sys
from dataclasses import dataclass

import numpy as np

from weakly.training.batches import Batches, draw_batches, draw_different_pairs, numbered_groups
from weakly.training.detector import apply_in_chunks
from weakly.training.input_checks import require_at_least, require_one_of
from weakly.training.keras_detector import PsiDetector
from weakly.training.network import build_triplet_network, codes_at, encoder, triplet_loss

FILTERED_FROM = 0.5  # share of the hash tables in which a potential anomaly collides with a labelled one
LEAST_KEPT = 0.5  # share of U that always remains


def hash_codes(rows, centre, hyperplanes):
    """Buckets (n, n_tables) of the rows: on which sides of the hyperplanes (D, n_tables, n_bits) they lie."""
    n_features, n_tables, n_bits = hyperplanes.shape
    sides = (rows - centre) @ hyperplanes.reshape(n_features, -1) > 0
    # float32 is exact up to 24 bits, and its product is fast
    bit_values = 2.0 ** np.arange(n_bits, dtype=np.float32)
    return (sides.reshape(-1, n_tables, n_bits).astype(np.float32) @ bit_values).astype(np.int32)


def collision_shares(X, unlabeled, anomalies, n_tables, n_bits, rng):
    """Shares (n_unlabeled,) of the hash tables in which an unlabelled row shares an anomaly's bucket."""
    sums = apply_in_chunks(lambda rows: rows.sum(axis=0, keepdims=True, dtype=np.float64), X, unlabeled)
    centre = (sums.sum(axis=0) / len(unlabeled)).astype(np.float32)
    hyperplanes = rng.standard_normal((X.shape[1], n_tables, n_bits), dtype=np.float32)
    tables = np.arange(n_tables)
    occupied = np.zeros((n_tables, 2**n_bits), bool)
    occupied[tables, apply_in_chunks(lambda rows: hash_codes(rows, centre, hyperplanes), X, anomalies)] = True
    return apply_in_chunks(
        lambda rows: occupied[tables, hash_codes(rows, centre, hyperplanes)].mean(axis=1), X, unlabeled
    )


def reliable_normals(unlabeled, shares, rng):
    """The unlabelled rows that rarely collide with labelled anomalies, or the half that collides least."""
    kept = shares < FILTERED_FROM
    least = int(np.ceil(LEAST_KEPT * len(unlabeled)))
    if kept.sum() >= least:
        return unlabeled[kept]
    # equal shares in random order, so that the order of the rows does not decide
    by_share = np.lexsort((rng.random(len(unlabeled)), shares))
    return unlabeled[np.sort(by_share[:least])]


def sample_pu_triplets(
    normals: np.ndarray, n_anomalies: int, n_batches: int, batch_size: int, margin: float, rng
) -> Batches:
    """Batches of (anchor, positive, negative), half (normal, normal, anomaly), half the other way round.

    Within a batch, all normals are different if there are enough of them; anchor and positive are different
    anomalies.
    """
    by_anomaly = batch_size // 2  # how many triplets have an anomaly as their anchor
    by_normal = batch_size - by_anomaly
    drawn_normals = draw_batches(normals, n_batches, 2 * by_normal + by_anomaly, rng)
    anomaly_pairs = draw_different_pairs(n_anomalies, (n_batches, by_anomaly), rng)
    drawn_negatives = rng.integers(n_anomalies, size=(n_batches, by_normal))

    # the same groups, one after the other in each batch, as numbers of its rows
    u_anchor, u_positive, u_negative, a_negative, a_anchor, a_positive = numbered_groups(
        by_normal, by_normal, by_anomaly, by_normal, by_anomaly, by_anomaly
    )
    inputs = ((u_anchor, a_anchor), (u_positive, a_positive), (a_negative, u_negative))
    return Batches(
        unlabeled=drawn_normals,
        anomalies=np.hstack([drawn_negatives, *anomaly_pairs]),
        layout=np.array([np.hstack(groups) for groups in inputs]),
        targets=np.full(batch_size, margin),
    )


@dataclass(repr=False, eq=False)
class PUMAD(PsiDetector):
    """Positive-unlabelled metric learning with the PReNet paper's common settings (App. B.2.2)."""

    batch_size: int = 256
    margin: float = 1.0
    hash_tables: int = 20
    hash_bits: int = 16

    def build(self, n_features, seed):
        return build_triplet_network(n_features, self.hidden_units, self.l2, seed)

    def loss(self, margins, distances):
        return triplet_loss(margins, *distances)

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        """Triplets of these rows; `_fit` passes the reliable normals as the unlabelled rows."""
        return sample_pu_triplets(unlabeled, len(anomalies), n_batches, self.batch_size, self.margin, rng)

    def _fit(self, X, unlabeled, anomalies, rng):
        require_at_least(self, batch_size=2, hash_tables=1)
        require_one_of(self, hash_bits=range(1, 21))
        shares = collision_shares(X, unlabeled, anomalies, self.hash_tables, self.hash_bits, rng)
        normals = reliable_normals(unlabeled, shares, rng)
        super()._fit(X, normals, anomalies, rng)
        self.normal_mean_, self.anomaly_mean_ = (
            codes_at(encoder(self.weights_), X, members).mean(axis=0, dtype=np.float64)
            for members in (normals, anomalies)
        )
        self.reliable_share_ = len(normals) / len(unlabeled)

    def _score(self, X):
        """Squared distance to the normals' mean code minus that to the anomalies' (item 5 above)."""
        psi = encoder(self.weights_)

        def scores(rows):
            codes = psi(rows).astype(np.float64)
            from_normals = np.sum((codes - self.normal_mean_) ** 2, axis=1)
            return from_normals - np.sum((codes - self.anomaly_mean_) ** 2, axis=1)

        return apply_in_chunks(scores, X)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "pumad", *sys.argv[1:]]))
