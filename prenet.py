"""PReNet: pairwise relation prediction network.

Pang, Shen, Jin and van den Hengel, "Deep Weakly-supervised Anomaly Detection", KDD 2023.

    python prenet.py --datasets thyroid --runs 10     # this detector's column of Table 2
    PReNet(random_state=0).fit(X, y).decision_function(X_new)

Differences from the paper
  1. Order inside a pair. Eq. 6 scores the pairs (a_i, x) and (x, u_j); the released code trains on (u, a) pairs and
     scores (u_j, x) and (x, a_i). We train and score in the released order; pair_order="paper" gives Eq. 6 with (a, u)
     training pairs. One is the mirror image of the other (left and right exchanged throughout, and the initial weights
     are as likely either way), so their scores have the same distribution.
  2. The E partners of Eq. 6 are drawn once and serve every test instance, as in the released code. The relation layer
     is linear, so the score is an affine function of psi(x) and is computed in one pass over the test data
     (`_score`) instead of 2E passes (`score_by_pairs`, the definition). E only adds a constant.
  3. What the l2 term covers, RMSprop's epsilon, the gradient clipping and the choice of the epoch are the released
     code's: see training.py.
  4. Each run draws its own batches; in the released code only the initial weights differ between runs.
"""

import sys

import numpy as np

from detector import apply_in_chunks, draw_batches, draw_different_pairs
from training import Batches, KerasDetector, build_psi, keras, tf

PAIR_ORDERS = ("released", "paper")


def build_prenet(n_features, hidden_units=20, l2=0.01, seed=None):
    """Two-stream network phi(x_i, x_j) = eta(psi(x_i), psi(x_j)) (Eq. 3)."""
    seeds = keras.random.SeedGenerator(seed)
    psi = build_psi(n_features, hidden_units, l2, seeds)
    z_i, z_j = keras.Input((hidden_units,)), keras.Input((hidden_units,))
    relation = keras.layers.Dense(1, kernel_initializer=keras.initializers.GlorotUniform(seeds), name="relation")
    eta = keras.Model([z_i, z_j], relation(keras.layers.Concatenate()([z_i, z_j]))[:, 0], name="eta")  # linear (Eq. 2)

    x_i, x_j = keras.Input((n_features,)), keras.Input((n_features,))
    return keras.Model([x_i, x_j], eta([psi(x_i), psi(x_j)]))  # scores (b,)


def relation_loss(ordinal_labels, scores):
    """Mean absolute error between the pairs' ordinal labels and their scores, both (b,) (Eq. 4, averaged as in Eq. 5)."""
    if ordinal_labels.shape != scores.shape:
        raise ValueError(f"labels {ordinal_labels.shape} and scores {scores.shape} must have the same shape")
    return tf.reduce_mean(tf.abs(ordinal_labels - scores))


def sample_pairs(unlabeled, n_anomalies, n_batches, batch_size, margin, pair_order, rng):
    """Batches of 1/2 {u,u}, 1/4 {a,u} and 1/4 {a,a} pairs (Sec. 3.2.2), labelled 0, m and 2m.

    In a batch the unlabelled rows of the {u,u} pairs are all different, and so are those of the {a,u} pairs, if there
    are enough of them; the two anomalies of an {a,a} pair are different.
    """
    quarter = batch_size // 4
    half = batch_size - 2 * quarter
    u = np.hstack([draw_batches(unlabeled, n_batches, 2 * half, rng), draw_batches(unlabeled, n_batches, quarter, rng)])
    mixed_a = rng.integers(n_anomalies, size=(n_batches, quarter))
    a = np.hstack([mixed_a, *draw_different_pairs(n_anomalies, (n_batches, quarter), rng)])

    numbers = np.arange(u.shape[1] + a.shape[1])
    u_left, u_right, mixed_u, mixed_a, a_left, a_right = np.split(numbers, np.cumsum([half, half, quarter, quarter, quarter]))
    mixed = (mixed_u, mixed_a) if pair_order == "released" else (mixed_a, mixed_u)
    layout = np.array([np.concatenate([u_left, mixed[0], a_left]), np.concatenate([u_right, mixed[1], a_right])])
    return Batches(u, a, layout, np.repeat([0, margin, 2 * margin], [half, quarter, quarter]))


class PReNet(KerasDetector):
    """Pairwise relation prediction with the paper's settings (App. B.2.2) as defaults.

    margin is m = c_1 - c_2 = c_2 - c_3 with c_3 = 0 (Sec. 5.6): labels 8, 4 and 0; l2 is the paper's lambda.
    """

    def __init__(
        self,
        random_state=0,
        hidden_units=20,
        l2=0.01,
        learning_rate=1e-3,
        epochs=50,
        batches_per_epoch=20,
        batch_size=512,
        margin=4.0,
        ensemble_size=30,
        pair_order="released",
    ):
        super().__init__(random_state, hidden_units, l2, learning_rate, epochs, batches_per_epoch, batch_size)
        self.margin = margin
        self.ensemble_size = ensemble_size
        self.pair_order = pair_order

    def build(self, n_features, seed):
        return build_prenet(n_features, self.hidden_units, self.l2, seed)

    def loss(self, ordinal_labels, scores):
        return relation_loss(ordinal_labels, scores)

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        return sample_pairs(unlabeled, len(anomalies), n_batches, self.batch_size, self.margin, self.pair_order, rng)

    def _fit(self, X, unlabeled, anomalies, rng):
        if self.pair_order not in PAIR_ORDERS:
            raise ValueError(f"pair_order must be one of {', '.join(PAIR_ORDERS)}, not {self.pair_order!r}")
        if self.batch_size < 4 or self.ensemble_size < 1:
            raise ValueError(f"batch_size must be at least 4 and ensemble_size at least 1, not {self.batch_size} and {self.ensemble_size}")
        super()._fit(X, unlabeled, anomalies, rng)
        self.anomaly_partners_ = X[rng.choice(anomalies, self.ensemble_size)]  # a_i of Eq. 6, (E, D)
        self.unlabeled_partners_ = X[rng.choice(unlabeled, self.ensemble_size)]  # u_j of Eq. 6, (E, D)

    def _score(self, X):
        """Eq. 6 in one pass: s(x) = 1/2 (w_left + w_right) . psi(x) + a constant of the 2E partners."""
        psi, relation = self.model_.get_layer("psi"), self.model_.get_layer("eta").get_layer("relation")
        weights = np.asarray(relation.kernel, dtype=np.float64)[:, 0]
        w_left, w_right = np.split(weights, 2)
        before, after = self._partners()
        constant = np.mean(np.asarray(psi(before)) @ w_left) / 2 + np.mean(np.asarray(psi(after)) @ w_right) / 2
        return apply_in_chunks(lambda rows: np.asarray(psi(rows)) @ (w_left + w_right) / 2, X) + constant + float(relation.bias[0])

    def _partners(self):
        """Partners that stand to the left of x and to its right, each (E, D)."""
        if self.pair_order == "paper":
            return self.anomaly_partners_, self.unlabeled_partners_
        return self.unlabeled_partners_, self.anomaly_partners_

    def score_by_pairs(self, X):
        """Eq. 6 as it is written, in 2E passes over X: the definition that `_score` must equal."""
        before, after = self._partners()
        total = np.zeros(X.shape[0])
        for partner in before:
            total += apply_in_chunks(lambda rows: self.model_([np.broadcast_to(partner, rows.shape), rows]), X)
        for partner in after:
            total += apply_in_chunks(lambda rows: self.model_([rows, np.broadcast_to(partner, rows.shape)]), X)
        return total / (2 * self.ensemble_size)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "prenet", *sys.argv[1:]]))
