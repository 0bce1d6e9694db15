"""Other interpretations of what the paper leaves open: most change one thing of a detector's set-up.

    python experiments.py interpretations                 # all of them, on eight data sets
    python experiments.py interpretations --methods fsnet-anomalies,devnet-natural --datasets thyroid

An interpretation is a separate method, with a line in methods.py. Its numbers are compared with the published
ones of the method that it interprets. An interpretation that only changes the value of a parameter has no
class here. Some came near the published numbers and may explain them. None is a default.
"""

from dataclasses import dataclass

import numpy as np

from devnet import DevNet
from dsad import DSAD, centre_of
from feawad import FEAWAD
from fsnet import FSNet
from prenet import PReNet
from repen import REPEN
from weakly.training.batches import Batches, batches_of_rows, draw_different_pairs
from weakly.training.detector import apply_in_chunks
from weakly.training.network import Network, keras, seed_generator, torch_uniform
from xgbod import XGBOD


def sample_natural(unlabeled, anomalies, n_batches, batch_size, rng):
    """Batches in which every row of U and A is equally likely at every place."""
    drawn = rng.integers(len(unlabeled) + len(anomalies), size=(n_batches, batch_size))
    return batches_of(drawn, unlabeled, anomalies)


def batches_of(drawn, unlabeled, anomalies):
    """Batches of the rows with these numbers (n_batches, b): first those of U, then those of A."""
    is_anomaly = (drawn >= len(unlabeled)).astype(int)
    return batches_of_rows(np.concatenate([unlabeled, anomalies])[drawn], is_anomaly)


class FSNetAnomalyDistance(FSNet):
    """FSNet with the score -d_a: how near a code is to the anomalies' prototype, regardless of d_u."""

    def _score_codes(self, codes):
        return -np.square(codes - self.anomaly_prototype_).sum(axis=1)


class FSNetUnlabelledDistance(FSNet):
    """FSNet with the score d_u: how far a code is from the unlabelled rows' prototype, regardless of d_a."""

    def _score_codes(self, codes):
        return np.square(codes - self.unlabeled_prototype_).sum(axis=1)


class FSNetFiveRows(FSNet):
    """FSNet that learns from only 5 rows of U and 5 of A, drawn once per fit, prototypes included."""

    def _fit(self, X, unlabeled, anomalies, rng):
        unlabeled, anomalies = (
            rng.choice(rows, min(5, len(rows)), replace=False) for rows in (unlabeled, anomalies)
        )
        super()._fit(X, unlabeled, anomalies, rng)


class REPENAllKnown(REPEN):
    """REPEN with a known anomaly as the negative of every triplet."""

    known_share = 1.0


class REPENNoneKnown(REPEN):
    """REPEN with outlier candidates from U as all negatives: REPEN without labels."""

    known_share = 0.0


class REPENSupervised(REPEN):
    """REPEN with ADGym's triplets: known anomalies as all negatives, anchors and positives from all of U.

    There are no initial scores and no candidates, so all rows of U are inliers.
    """

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        size = (n_batches, self.batch_size)
        anchors, positives = draw_different_pairs(len(unlabeled), size, rng)
        return Batches(
            unlabeled=unlabeled[np.hstack([anchors, positives])],
            anomalies=rng.integers(len(anomalies), size=size),
            layout=np.arange(3 * self.batch_size).reshape(3, -1),
            targets=np.full(self.batch_size, self.margin),
        )


class DSADNaturalBatches(DSAD):
    """Deep SAD without oversampling: every training row is equally likely at every place of a batch."""

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        return sample_natural(unlabeled, anomalies, n_batches, self.batch_size, rng)


@dataclass(repr=False, eq=False)
class DSADOutside(DSAD):
    """Deep SAD as ADGym runs it, with all of its settings.

    Layers 100-20-10 with batch normalisation and leaky ReLU, a linear code, Adam at 1e-4, weight decay 1e-6,
    50 passes over all rows in batches of 128, the last epoch. ADGym never copies its autoencoder's weights to
    the network, so there is no pre-training.
    """

    hidden_units: tuple[int, ...] = (100, 20, 10)
    l2: float = 5e-7  # half of the weight decay, whose gradient is that of |w|^2 / 2
    learning_rate: float = 1e-4
    batch_size: int = 128

    keeps_last = True

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        """Every row once in an epoch, except those that do not fill a batch; n_batches is not used."""
        n_rows = len(unlabeled) + len(anomalies)
        size = min(self.batch_size, n_rows)
        orders = [rng.permutation(n_rows)[: n_rows // size * size] for _ in range(self.epochs)]
        drawn = np.concatenate(orders).reshape(-1, size)
        return batches_of(drawn, unlabeled, anomalies)

    def build(self, n_features, seed):
        seeds = seed_generator(seed)
        instance = code = keras.Input((n_features,))
        for number, units in enumerate(self.hidden_units):
            if number:
                normalisation = {"momentum": 0.9, "epsilon": 1e-4, "center": False, "scale": False}
                code = keras.layers.BatchNormalization(**normalisation, name=f"normalisation_{number}")(code)
                code = keras.ops.leaky_relu(code, 0.01)
            code = keras.layers.Dense(
                units,
                use_bias=False,
                kernel_initializer=torch_uniform(code.shape[1], seeds),
                kernel_regularizer=keras.regularizers.L2(self.l2),
                name=f"hidden_{number}",
            )(code)
        return Network(None, keras.Model(instance, code))

    def optimizer(self):
        return keras.optimizers.Adam(self.learning_rate, epsilon=1e-8)

    def loss_constants(self, X, unlabeled, anomalies, network, rng):
        # from all training rows, before the normalisation has seen any
        self.centre_ = centre_of(apply_in_chunks(network, X, np.concatenate([unlabeled, anomalies])))
        return (self.centre_,)

    def _score(self, X):
        codes = apply_in_chunks(self.model_, X).astype(np.float64)
        return np.square(codes - self.centre_).sum(axis=1)


class PReNetNoDropout(PReNet):
    """A2H like the deep network of the released code: without dropout."""

    dropout_rate = 0.0


class DevNetNaturalLabels(DevNet):
    """DevNet without oversampling: every row of U and A is equally likely at every place of a batch."""

    takes_sparse = False  # there, all batches have the same targets

    def sample_batches(self, X, unlabeled, anomalies, n_batches, rng):
        return sample_natural(unlabeled, anomalies, n_batches, self.batch_size, rng)


class FEAWADNoZeroRows(FEAWAD):
    """FEAWAD that learns only from rows with a value other than 0, for w7a, where 8% of the rows have none.

    The released code reconstructs such a row exactly, and then divides 0 by 0.
    """

    def _fit(self, X, unlabeled, anomalies, rng):
        unlabeled, anomalies = (rows[X[rows].any(axis=1)] for rows in (unlabeled, anomalies))
        super()._fit(X, unlabeled, anomalies, rng)


class XGBODRawSVMs(XGBOD):
    """XGBOD whose SVMs get the features as they are, as in the scripts of 2018, not their z-scores."""

    def _standardized(self, X):
        return X.astype(np.float64)
