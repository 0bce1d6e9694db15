"""FSNet: prototypical network with the two classes anomaly and unlabelled; cFSNet: the same with class costs.

Snell, Swersky and Zemel, "Prototypical Networks for Few-shot Learning", NeurIPS 2017.

    python fsnet.py --datasets thyroid --runs 10     # these two detectors' columns of Table 2
    FSNet(random_state=0).fit(X, y).decision_function(X_new)

Neither detector has public code, and the PReNet paper names them without describing them (Sec. 5.2,
App. B.2.2).

Differences from the paper (where it says nothing, the most literal interpretation of Snell et al.)
  1. One batch is one episode: a quarter each of unlabelled support, anomalous support, unlabelled queries and
     anomalous queries, 64 rows each with a batch size of 256. The loss is averaged over the 128 queries.
  2. Support and queries of an episode have no row in common. A class of at least 128 rows fills its 128
     places without replacement. A smaller one (A, with 60 labelled anomalies) is split at random into halves
     for every episode, and 64 rows are drawn from either half with replacement: the oversampling of App.
     B.2.2. A single labelled anomaly is its own support and query.
  3. The prototypes for scoring are the mean codes of all of A and of all of U; the score is d_u - d_a, the
     logit of the anomaly class. The anomalies hidden in U are not removed, neither here nor in training.
  4. cFSNet. "Cost-sensitive variant" is all that the paper says. Cost-sensitive learning keeps the shares of
     the classes and weights their errors instead. So the queries of an episode are drawn with the class
     shares of the training set, and a query's cross-entropy is weighted by its class's cost, inversely
     proportional to that share: |U|/|A| for an anomaly against an unlabelled row. The costs have a mean of
     one over the queries, so that the l2 term keeps its weight: n / (2|U|) and n / (2|A|) with n = |U| + |A|.
     The support, which only makes the prototypes, stays balanced (the oversampling of A in App. B.2.2).
     episodes="balanced" applies the same costs to balanced queries, which counts the imbalance twice.
     Prototypes and scores are not weighted.
  5. What the l2 term covers, RMSprop's epsilon, the gradient clipping and the choice of the epoch are as in
     all detectors: see weakly/training/loop.py.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from weakly.training.batches import Batches, batches_of_rows, draw_batches, numbered_groups
from weakly.training.detector import apply_in_chunks
from weakly.training.input_checks import require_one_of
from weakly.training.keras_detector import PsiDetector
from weakly.training.network import Network, build_psi, codes_at, encoder, keras, seed_generator, tf

EPISODES = ("natural", "balanced")  # cFSNet's


def build_fsnet(n_features, hidden_units=20, l2=0.01, seed=None) -> Network:
    """Embedding network psi, Snell et al.'s f_phi; eta passes the codes (b, hidden_units) to the loss."""
    psi = build_psi(n_features, hidden_units, l2, seed_generator(seed))
    return Network(psi, keras.layers.Identity())


def prototypical_loss(classes, codes, class_costs):
    """Mean over the queries of cost * -log softmax(-d)_class (Snell et al., Eq. 1-2).

    d are the squared distances to both prototypes. classes (b,): 0 unlabelled, 1 anomaly; codes (b, M); the
    first half is support, the second queries; class_costs (2,).
    """
    ranks = classes.shape.rank, codes.shape.rank
    if ranks != (1, 2) or classes.shape[0] != codes.shape[0] or classes.shape[0] % 2:
        raise ValueError(
            f"classes {classes.shape} and codes {codes.shape} must have the shapes (b,) and (b, M) "
            "with an even b"
        )
    if class_costs.shape != (2,):
        raise ValueError(f"class_costs must have the shape (2,), not {class_costs.shape}")
    support, queries = tf.split(codes, 2)
    one_hot = tf.stack([1 - classes, classes], axis=1)
    support_members, query_members = tf.split(one_hot, 2)  # (b/2, 2) each
    prototypes = (
        tf.matmul(support_members, support, transpose_a=True)
        / tf.reduce_sum(support_members, axis=0)[:, tf.newaxis]
    )
    distances = tf.reduce_sum(tf.square(queries[:, tf.newaxis] - prototypes), axis=2)  # (b/2, 2)
    return -tf.reduce_mean(tf.reduce_sum(class_costs * query_members * tf.nn.log_softmax(-distances), axis=1))


def class_costs_of(anomaly_cost: float, anomaly_share: float = 0.5) -> np.ndarray:
    """Costs (2,) of an unlabelled and an anomalous query, in the ratio 1 : anomaly_cost.

    Their mean is one over queries with this anomaly_share.
    """
    if not 0 < anomaly_cost < np.inf:
        raise ValueError(f"anomaly_cost must be a positive number, not {anomaly_cost}")
    costs = np.array([1.0, anomaly_cost])
    return costs / (1 - anomaly_share + anomaly_share * anomaly_cost)


def draw_support_and_queries(rows, n_batches, shots, rng):
    """Rows of one class (n_batches, 2 * shots): in each batch support, then queries, without a common row.

    If there are too few rows, each batch splits them into new halves and draws with replacement; a single row
    serves as both.
    """
    if len(rows) >= 2 * shots:
        return draw_batches(rows, n_batches, 2 * shots, rng)
    shuffled = rng.permuted(np.tile(rows, (n_batches, 1)), axis=1)
    n_support = (len(rows) + 1) // 2
    support_places = rng.integers(n_support, size=(n_batches, shots))
    query_places = rng.integers(n_support if len(rows) > 1 else 0, len(rows), size=(n_batches, shots))
    return np.take_along_axis(shuffled, np.hstack([support_places, query_places]), axis=1)


def sample_episodes(unlabeled: np.ndarray, n_anomalies: int, n_batches: int, batch_size: int, rng) -> Batches:
    """Episodes in the order [support_u, support_a, query_u, query_a], a quarter each; targets: classes."""
    shots = batch_size // 4
    support_u, query_u, support_a, query_a = numbered_groups(*4 * [shots])
    return Batches(
        unlabeled=draw_support_and_queries(unlabeled, n_batches, shots, rng),
        anomalies=draw_support_and_queries(np.arange(n_anomalies), n_batches, shots, rng),
        layout=np.concatenate([support_u, support_a, query_u, query_a])[np.newaxis],
        targets=np.repeat([0, 1, 0, 1], shots),
    )


def sample_natural_episodes(unlabeled, anomalies, n_batches, batch_size, rng):
    """Episodes with balanced support, in whose queries every row of U and A is equally likely.

    As in sample_episodes, support and queries have no row in common. Targets are (n_batches, batch_size).
    """
    shots, n_queries = batch_size // 4, batch_size // 2
    u, a = (draw_support_and_queries(rows, n_batches, n_queries, rng) for rows in (unlabeled, anomalies))
    is_anomaly = rng.random((n_batches, n_queries)) < len(anomalies) / (len(unlabeled) + len(anomalies))
    queries = np.where(is_anomaly, a[:, n_queries:], u[:, n_queries:])
    support_classes = np.tile(np.repeat([0, 1], shots), (n_batches, 1))
    return batches_of_rows(
        np.hstack([u[:, :shots], a[:, :shots], queries]), np.hstack([support_classes, is_anomaly])
    )


@dataclass(repr=False, eq=False)
class FSNet(PsiDetector):
    """Prototypical network with the settings that the PReNet paper gives all detectors (App. B.2.2)."""

    batch_size: int = 256

    def build(self, n_features, seed):
        return build_fsnet(n_features, self.hidden_units, self.l2, seed)

    def loss(self, classes, codes, class_costs):
        return prototypical_loss(classes, codes, class_costs)

    def loss_constants(self, X, unlabeled, anomalies, network, rng):
        return (class_costs_of(1.0),)

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        return sample_episodes(unlabeled, len(anomalies), n_batches, self.batch_size, rng)

    def _fit(self, X, unlabeled, anomalies, rng):
        if self.batch_size < 4 or self.batch_size % 4:
            raise ValueError(
                "batch_size must be a positive multiple of 4 (support and queries of two classes), "
                f"not {self.batch_size}"
            )
        super()._fit(X, unlabeled, anomalies, rng)
        self.unlabeled_prototype_, self.anomaly_prototype_ = (
            codes_at(encoder(self.weights_), X, members).mean(axis=0, dtype=np.float64)
            for members in (unlabeled, anomalies)
        )

    def _score(self, X):
        psi = encoder(self.weights_)
        return apply_in_chunks(lambda rows: self._score_codes(psi(rows).astype(np.float64)), X)

    def _score_codes(self, codes):
        """d_u - d_a of codes (n, M): how much nearer the anomalies' prototype is than the other."""
        from_unlabeled = np.square(codes - self.unlabeled_prototype_).sum(axis=1)
        return from_unlabeled - np.square(codes - self.anomaly_prototype_).sum(axis=1)


@dataclass(repr=False, eq=False)
class CFSNet(FSNet):
    """FSNet with class costs.

    episodes: whether the queries have the class shares of the training set ("natural") or one half each
    ("balanced"); anomaly_cost is an anomaly's cost relative to an unlabelled row's (None: |U|/|A|).
    """

    episodes: str = "natural"
    anomaly_cost: float | None = None

    def loss_constants(self, X, unlabeled, anomalies, network, rng):
        cost = len(unlabeled) / len(anomalies) if self.anomaly_cost is None else self.anomaly_cost
        is_natural = self.episodes == "natural"
        share = len(anomalies) / (len(unlabeled) + len(anomalies)) if is_natural else 0.5
        return (class_costs_of(cost, share),)

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        if self.episodes == "natural":
            return sample_natural_episodes(unlabeled, anomalies, n_batches, self.batch_size, rng)
        return super().sample_batches(X, unlabeled, anomalies, n_batches, rng)

    def _fit(self, X, unlabeled, anomalies, rng):
        require_one_of(self, episodes=EPISODES)
        super()._fit(X, unlabeled, anomalies, rng)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "fsnet,cfsnet", *sys.argv[1:]]))
