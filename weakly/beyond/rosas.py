"""RoSAS: robust supervised anomaly scores from labelled anomalies and contaminated data.

Xu, Wang, Pang, Jian, Liu and Wang, "RoSAS: Deep semi-supervised anomaly detection with
contamination-resilient continuous supervision", Information Processing and Management 60, 2023.

    python experiments.py seen --methods rosas --datasets thyroid --runs 10
    RoSAS(random_state=0).fit(X, y).decision_function(X_new)

The set-up is that of the public script (xuhongzuo/rosas: RoSAS.py with its configs.yaml): layers D - h - 128
without bias, with h halfway between D and 128, then 64 and a tanh score; 200 epochs of 16 batches of 32
triplets; Adam at 5e-3 with weight decay.

Differences from the public script
  1. The script stops early by the AUC-ROC and AUC-PR on a fully labelled validation split, which no other
     method here has. RoSAS trains all 200 epochs and uses the last weights, as the script does with
     use_es=False.
  2. The script draws its mixing weights from Dirichlet(alpha, alpha) with alpha = 0.5. For two rows this is
     the arcsine distribution, drawn here as sin^2(pi u / 2) with u uniform; alpha cannot be changed.
  3. The scores of the mixed rows' two parents are computed once, not in a second and third pass.
  4. The script's second score head, which no loss uses, is left out.
  5. Weight decay is the term 1e-4 / 2 |w|^2 in the loss, which has the gradient that torch's Adam adds. The
     reported loss includes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weakly.training.batches import Batches, draw_batches
from weakly.training.detector import apply_in_chunks
from weakly.training.input_checks import require_same_shape
from weakly.training.keras_detector import KerasDetector
from weakly.training.network import Network, keras, seed_generator, torch_uniform

SLOPE = 0.01  # of the leaky ReLU below 0
TRIPLET_MARGIN = 1.0  # of the triplets
DISTANCE_SHIFT = 1e-6  # added to differences before their norm, as torch's TripletMarginLoss does
NORM_FLOOR = 1e-24  # below which a norm counts as 0
CODE_NORM_WEIGHT = 1e-2  # of |anchor + positive + negative| in the loss
WEIGHT_DECAY = 1e-4


def linear_layer(n_inputs, units, seeds, name, use_bias=False):
    """A linear layer with torch's initial weights and weight decay."""
    initializer = torch_uniform(n_inputs, seeds)
    decay = keras.regularizers.L2(WEIGHT_DECAY / 2)
    return keras.layers.Dense(
        units,
        use_bias=use_bias,
        kernel_initializer=initializer,
        bias_initializer=initializer,
        kernel_regularizer=decay,
        bias_regularizer=decay,
        name=name,
    )


def build_scorer(n_features: int, code_units: int, seeds) -> keras.Model:
    """Rows (b, D) to codes (b, code_units) and scores (b,) between -1 and 1."""
    instance = keras.Input((n_features,))
    n_hidden = n_features + int((code_units - n_features) * 0.5)  # halfway
    hidden = keras.ops.leaky_relu(linear_layer(n_features, n_hidden, seeds, "hidden")(instance), SLOPE)
    code = linear_layer(n_hidden, code_units, seeds, "code")(hidden)
    n_last = code_units // 2
    hidden = keras.ops.leaky_relu(linear_layer(code_units, n_last, seeds, "score_hidden")(code), SLOPE)
    score = keras.ops.tanh(linear_layer(n_last, 1, seeds, "score", use_bias=True)(hidden)[:, 0])
    return keras.Model(instance, [code, score], name="scorer")


def build_rosas(
    n_features: int, code_units: int = 128, batches_per_epoch: int = 16, seed: int | None = None
) -> Network:
    """Anchors, positives and negatives to the loss of the batch."""
    from weakly.beyond.rosas_layers import BalancedSum, Mixing

    seeds = seed_generator(seed)
    scorer = build_scorer(n_features, code_units, seeds)
    triplet = [keras.Input((n_features,)) for _ in range(3)]
    codes, scores = scorer(keras.ops.concatenate(triplet))
    targets = keras.ops.concatenate(
        [keras.ops.full_like(rows[:, 0], target) for rows, target in zip(triplet, (-1.0, -1.0, 1.0))]
    )
    rows, mixed_targets, order, weights = Mixing(seed, name="mixing")(keras.ops.concatenate(triplet), targets)
    mixed_scores = weights * scores + (1 - weights) * keras.ops.take(scores, order)
    _, scores_of_mixed = scorer(rows)
    code_loss = distance_loss(*keras.ops.split(codes, 3))
    score_loss = mixture_loss(scores_of_mixed, mixed_targets, mixed_scores)
    balanced = BalancedSum(batches_per_epoch, name="balance")(keras.ops.stack([code_loss, score_loss]))
    code_norm = norm_of(keras.ops.sum(keras.ops.square(sum(keras.ops.split(codes, 3)))))
    return Network(None, keras.Model(triplet, balanced + CODE_NORM_WEIGHT * code_norm))


def norm_of(squares):
    """The root of a sum of squares, with a gradient of 0 at 0, as in torch."""
    return keras.ops.sqrt(keras.ops.maximum(squares, NORM_FLOOR))


def distance_loss(anchors, positives, negatives):
    """Mean of max(0, |a - p| - |a - n| + 1); all three codes (b, h)."""
    require_same_shape(anchors=anchors, positives=positives, negatives=negatives)
    to_positive, to_negative = (
        norm_of(keras.ops.sum(keras.ops.square(anchors - other + DISTANCE_SHIFT), axis=1))
        for other in (positives, negatives)
    )
    return keras.ops.mean(keras.ops.relu(to_positive - to_negative + TRIPLET_MARGIN))


def mixture_loss(scores, targets, mixed_scores):
    """Mean of l(s, y) + l(s, s') with the smooth l1 loss l: s is the score of a mixed row (all (b,)).

    y mixes the targets of its two parents (-1 unlabelled, 1 anomaly), s' their scores.
    """
    require_same_shape(scores=scores, targets=targets, mixed_scores=mixed_scores)
    return keras.ops.mean(smooth_l1(scores - targets) + smooth_l1(scores - mixed_scores))


def smooth_l1(differences):
    """d^2 / 2 where |d| < 1, |d| - 1/2 elsewhere."""
    size = keras.ops.abs(differences)
    return keras.ops.where(size < 1, 0.5 * keras.ops.square(size), size - 0.5)


@dataclass(repr=False, eq=False)
class RoSAS(KerasDetector):
    """RoSAS with the settings of its public script, without early stopping."""

    code_units: int = 128
    learning_rate: float = 5e-3
    epochs: int = 200
    batches_per_epoch: int = 16
    batch_size: int = 32

    keeps_last = True

    def build(self, n_features, seed):
        return build_rosas(n_features, self.code_units, self.batches_per_epoch, seed)

    def optimizer(self):
        return keras.optimizers.Adam(self.learning_rate, epsilon=1e-8)

    def loss(self, targets, batch_loss):
        return batch_loss

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        """Triplets: an anchor and a positive from U, each without replacement, and a labelled anomaly."""
        anchors, positives = (draw_batches(unlabeled, n_batches, self.batch_size, rng) for _ in range(2))
        return Batches(
            unlabeled=np.hstack([anchors, positives]),
            anomalies=rng.integers(len(anomalies), size=(n_batches, self.batch_size)),
            layout=np.arange(3 * self.batch_size).reshape(3, -1),
            targets=np.zeros(self.batch_size),
        )

    def _score(self, X):
        scorer = self.weights_[:-3]  # without the means, sums and count of BalancedSum
        return apply_in_chunks(lambda rows: scores_of(rows, *scorer), X).astype(np.float64)


def scores_of(rows, hidden, code, score_hidden, score, bias):
    """build_scorer's score in numpy, because passing rows to TensorFlow takes longer than the products."""
    values = rows @ hidden
    values = np.maximum(values, SLOPE * values) @ code @ score_hidden
    return np.tanh(np.maximum(values, SLOPE * values) @ score[:, 0] + bias[0])
