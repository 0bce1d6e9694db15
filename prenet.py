"""PReNet: pairwise relation prediction network.

Pang, Shen, Jin and van den Hengel, "Deep Weakly-supervised Anomaly Detection", KDD 2023.

    python prenet.py --datasets thyroid --runs 10     # this detector's column of Table 2
    PReNet(random_state=0).fit(X, y).decision_function(X_new)

Differences from the paper
  1. Order inside a pair. Eq. 6 scores the pairs (a_i, x) and (x, u_j); the released code trains on (u, a)
     pairs and scores (u_j, x) and (x, a_i). We train and score in the released order; pair_order="paper"
     gives Eq. 6 with (a, u) training pairs. One is the mirror image of the other: left and right are
     exchanged throughout, and the initial weights are equally likely either way. So their scores have the
     same distribution.
  2. The E partners of Eq. 6 are drawn once and serve every test instance, as in the released code. The
     relation layer is linear, so the score is an affine function of psi(x) and is computed in one pass over
     the test data (`_score`) instead of 2E passes (`score_by_pairs`, the definition). E only adds a constant.
  3. What the l2 term covers, RMSprop's epsilon, the gradient clipping and the choice of the epoch follow
     the released code: see weakly/training/loop.py.
  4. Each run draws its own batches; in the released code only the initial weights differ between runs.
  5. variant gives the ablations of Table 4. Sec. 5.6 has a sentence on each. The released prenet.py contains
     the networks of LDM and of a deeper PReNet, and NPR's layer as a comment; we use these. It has neither
     TRM nor iPReNet: we chose their labels by the printed column.
       TRM      {a,a} and {a,u} share the label m, against 0; a label of 2m, which is margin=8, fits as well.
       iPReNet  psi and a linear score of one instance, trained with Eq. 4 on batches of half unlabelled rows
                (label 0) and half labelled anomalies (label m; 2m fits as well). There are no partners, and
                pair_order has no effect.
       LDM      psi is the identity, so the score is linear in the pair, as released. There is no hidden
                kernel, so l2 has no effect.
       A2H      psi has the three layers of the released deep network, of 1000, 250 and 20 units, all with l2.
                The two added layers have dropout, as the text says; the released network has none
                (interpretation a2h-no-dropout). Each instance of a pair has its own masks.
       NPR      a layer of 20 ReLU units between the concatenated codes and the score, without l2, as in the
                released comment. The relation is then not linear, so scoring takes 2E passes over codes that
                are computed once.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from weakly.training.batches import (
    Batches,
    draw_batches,
    draw_different_pairs,
    numbered_groups,
    sample_balanced,
)
from weakly.training.detector import Rows, apply_in_chunks
from weakly.training.input_checks import require_at_least, require_one_of, require_same_shape
from weakly.training.keras_detector import PsiDetector
from weakly.training.network import (
    Network,
    build_instance_scorer,
    build_psi,
    encoder,
    hidden_layer,
    keras,
    score_instances,
    seed_generator,
    tf,
)

PAIR_ORDERS = ("released", "paper")
VARIANTS = ("TRM", "iPReNet", "LDM", "A2H", "NPR")


def build_deep_psi(n_features, hidden_units, l2, seeds, added_units, dropout_rate):
    """A2H's feature learner: more hidden layers, each with a dropout layer, before psi's own."""
    instance = code = keras.Input((n_features,))
    for number, units in enumerate(added_units):
        code = hidden_layer(units, l2, seeds, name=f"added_{number}")(code)
        if dropout_rate:
            mask_seed = int(keras.random.randint((), 0, 2**31 - 1, seed=seeds))  # it takes no generator
            code = keras.layers.Dropout(dropout_rate, seed=mask_seed, name=f"dropout_{number}")(code)
    return keras.Model(instance, hidden_layer(hidden_units, l2, seeds)(code), name="psi")


def build_prenet(
    n_features, hidden_units=20, l2=0.01, seed=None, variant=None, added_units=(1000, 250), dropout_rate=0.5
) -> Network:
    """Two-stream network phi(x_i, x_j) = eta(psi(x_i), psi(x_j)) (Eq. 3), or that of a pairwise variant."""
    seeds = seed_generator(seed)
    if variant == "A2H":
        psi = build_deep_psi(n_features, hidden_units, l2, seeds, added_units, dropout_rate)
    else:
        psi = None if variant == "LDM" else build_psi(n_features, hidden_units, l2, seeds)
    n_codes = psi.output.shape[1] if psi else n_features
    z_i, z_j = keras.Input((n_codes,)), keras.Input((n_codes,))
    pair = keras.layers.Concatenate(name="pair")([z_i, z_j])
    if variant == "NPR":
        pair = hidden_layer(n_codes, 0.0, seeds)(pair)
    relation = keras.layers.Dense(
        1, kernel_initializer=keras.initializers.GlorotUniform(seeds), name="relation"
    )
    eta = keras.Model([z_i, z_j], relation(pair)[:, 0], name="eta")  # linear (Eq. 2), except in NPR
    return Network(psi, eta, has_dropout=variant == "A2H" and dropout_rate > 0)  # scores (b,)


def relation_loss(ordinal_labels, scores):
    """Mean absolute error between ordinal labels and scores of pairs, both (b,) (Eq. 4, mean as in Eq. 5)."""
    require_same_shape(labels=ordinal_labels, scores=scores)
    return tf.reduce_mean(tf.abs(ordinal_labels - scores))


def sample_pairs(
    unlabeled: np.ndarray,
    n_anomalies: int,
    n_batches: int,
    batch_size: int,
    margin: float,
    pair_order: str,
    rng: np.random.Generator,
) -> Batches:
    """Batches of 1/2 {u,u}, 1/4 {a,u} and 1/4 {a,a} pairs (Sec. 3.2.2), labelled 0, m and 2m.

    Within a batch, the unlabelled rows of the {u,u} pairs are all different, and so are those of the {a,u}
    pairs, if there are enough rows. The two anomalies of an {a,a} pair are different.
    """
    quarter = batch_size // 4
    half = batch_size - 2 * quarter
    u_of_uu = draw_batches(unlabeled, n_batches, 2 * half, rng)
    u_of_au = draw_batches(unlabeled, n_batches, quarter, rng)
    a_of_au = rng.integers(n_anomalies, size=(n_batches, quarter))
    a_of_aa = draw_different_pairs(n_anomalies, (n_batches, quarter), rng)

    # the same groups, one after the other in each batch, as numbers of its rows
    uu_left, uu_right, au_u, au_a, aa_left, aa_right = numbered_groups(half, half, *4 * [quarter])
    au_left, au_right = (au_u, au_a) if pair_order == "released" else (au_a, au_u)
    return Batches(
        unlabeled=np.hstack([u_of_uu, u_of_au]),
        anomalies=np.hstack([a_of_au, *a_of_aa]),
        layout=np.array(
            [np.concatenate([uu_left, au_left, aa_left]), np.concatenate([uu_right, au_right, aa_right])]
        ),
        targets=np.repeat([0, margin, 2 * margin], [half, quarter, quarter]),
    )


@dataclass(repr=False, eq=False)
class PReNet(PsiDetector):
    """Pairwise relation prediction with the paper's settings (App. B.2.2) as defaults.

    margin is m = c_1 - c_2 = c_2 - c_3 with c_3 = 0 (Sec. 5.6): labels 8, 4 and 0; l2 is the paper's lambda;
    variant is None or one of Table 4's ablations (item 5 above).
    """

    added_units = (1000, 250)  # of A2H's added layers
    dropout_rate = 0.5  # after each of them

    margin: float = 4.0
    ensemble_size: int = 30
    pair_order: str = "released"
    variant: str | None = None

    @property
    def takes_sparse(self):
        return self.variant != "LDM"  # which has no hidden layer before the pair

    def build(self, n_features, seed):
        if self.variant == "iPReNet":
            return build_instance_scorer(n_features, self.hidden_units, self.l2, seed)
        deep = self.added_units, self.dropout_rate
        return build_prenet(n_features, self.hidden_units, self.l2, seed, self.variant, *deep)

    def loss(self, ordinal_labels, scores):
        return relation_loss(ordinal_labels, scores)

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        if self.variant == "iPReNet":
            batches = sample_balanced(unlabeled, len(anomalies), n_batches, self.batch_size, rng)
            return batches._replace(targets=self.margin * batches.targets)
        batches = sample_pairs(
            unlabeled, len(anomalies), n_batches, self.batch_size, self.margin, self.pair_order, rng
        )
        if self.variant == "TRM":
            return batches._replace(targets=np.minimum(batches.targets, self.margin))
        return batches

    def _fit(self, X, unlabeled, anomalies, rng):
        require_one_of(self, pair_order=PAIR_ORDERS, variant=(None, *VARIANTS))
        require_at_least(self, batch_size=4, ensemble_size=1)
        if self.variant == "A2H" and isinstance(self.hidden_units, tuple):
            raise ValueError("A2H adds layers in front of a single one: hidden_units must be a number")
        super()._fit(X, unlabeled, anomalies, rng)
        if self.variant == "iPReNet":
            return
        self.anomaly_partners_ = X[rng.choice(anomalies, self.ensemble_size)]  # a_i of Eq. 6, (E, D)
        self.unlabeled_partners_ = X[rng.choice(unlabeled, self.ensemble_size)]  # u_j of Eq. 6, (E, D)

    def _score(self, X):
        """Eq. 6, with psi computed once for each row; a single instance's score is phi(x) itself."""
        if self.variant == "iPReNet":
            return score_instances(self.weights_, X)
        psi = self._psi()
        before, after = map(psi, self._partners())
        if self.variant == "NPR":
            return self._mean_relation(self.model_.eta, apply_in_chunks(psi, X), before, after)
        return self._score_linear(X, psi, before, after)

    def _score_linear(self, X, psi, before, after):
        """Eq. 6 in one pass: s(x) = 1/2 (w_left + w_right) . psi(x) + a constant of the 2E partners."""
        kernel, bias = self.weights_[-2:]
        w_left, w_right = np.split(kernel[:, 0].astype(np.float64), 2)
        constant = np.mean(before @ w_left) / 2 + np.mean(after @ w_right) / 2
        weights = ((w_left + w_right) / 2).astype(kernel.dtype)
        return apply_in_chunks(lambda rows: psi(rows) @ weights, X) + (constant + bias.astype(np.float64))

    def _psi(self):
        """The fitted psi; its weights come before those of the relation, which has two layers in NPR."""
        return encoder(self.weights_[: -4 if self.variant == "NPR" else -2])

    def _partners(self):
        """The partners to the left of x and those to its right, each (E, D)."""
        if self.pair_order == "paper":
            return self.anomaly_partners_, self.unlabeled_partners_
        return self.unlabeled_partners_, self.anomaly_partners_

    def score_by_pairs(self, X: Rows) -> np.ndarray:
        """Eq. 6 as written, in 2E passes over X: the definition that `_score` must equal."""
        # sparse rows: pairs of codes instead, because pairs of rows would be dense
        if sparse.issparse(X) or sparse.issparse(self.anomaly_partners_):
            codes = (apply_in_chunks(self._psi(), rows) for rows in (X, *self._partners()))
            return self._mean_relation(self.model_.eta, *codes)
        return self._mean_relation(lambda pair: self.model_(*pair), X, *self._partners())

    def _mean_relation(self, relation, X, before, after):
        """Mean of relation(partner, x) and relation(x, partner) over 2E partners, all rows or all codes."""
        total = np.zeros(X.shape[0])
        for partner in before:
            total += apply_in_chunks(
                lambda rows, partner=partner: relation([np.broadcast_to(partner, rows.shape), rows]), X
            )
        for partner in after:
            total += apply_in_chunks(
                lambda rows, partner=partner: relation([rows, np.broadcast_to(partner, rows.shape)]), X
            )
        return total / (2 * self.ensemble_size)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "prenet", *sys.argv[1:]]))
