"""Scaling of numbers by what the training rows teach: for `experiments.py --scaling` and for detect.py.

    X = NumberScaler("cut").fit(X_train).transform(X_new)       # float32; a missing value (NaN) stays one

The paper scales every feature to 0-1 over the whole data set, so that a single extreme value squeezes all
others together. Networks and linear models suffer from that; trees do not notice. The scalings:

min-max       the smallest value becomes 0, the largest 1
fences        the same, but 0 and 1 lie at most 3 interquartile ranges outside the quartiles; cut off there
cut           the 1% and 99% quantiles become 0 and 1; cut off one such range beyond them
standard      the mean becomes 0, the standard deviation 1
standard-cut  cut off as in `cut`, then standard
ranks         the share of training values below it (in steps of 1%)

A column with at most two different values is scaled by min-max in all of them: 0 and 1 stay 0 and 1. A column
that is constant in the training rows becomes 0 there, and keeps its distance from the constant elsewhere.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import QuantileTransformer
from sklearn.utils.validation import validate_data

from weakly.training.detector import apply_in_chunks

SCALINGS = ("min-max", "fences", "cut", "standard", "standard-cut", "ranks")
LARGEST = np.finfo(np.float32).max


class NumberScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scales each column of X (n, D): after fit, zero_ and one_ (D,) are the values that become 0 and 1.

    low_ and high_ (D,) are the values at which it is cut off before that, infinite where it is not.
    """

    def __init__(self, scaling: str = "cut"):
        self.scaling = scaling

    def fit(self, X: np.ndarray, y: Any = None) -> "NumberScaler":
        if self.scaling not in SCALINGS:
            raise ValueError(f"unknown scaling {self.scaling!r}; known: {', '.join(SCALINGS)}")
        X = np.asarray(validate_data(self, X, skip_check_array=True))  # it keeps number and names of features
        self.ranks_: dict[int, QuantileTransformer] = {}
        of_columns = [self._fit_column(place, X[:, place].astype(np.float64)) for place in range(X.shape[1])]
        self.zero_, self.one_, self.low_, self.high_ = np.array(of_columns).T
        return self

    def _fit_column(self, place, column):
        """The values that become 0 and 1, and those at which it is cut off."""
        column = column[~np.isnan(column)]
        zero, one = (column.min(), column.max()) if len(column) else (0.0, 0.0)
        low, high = -np.inf, np.inf
        if ((column == zero) | (column == one)).all():  # at most two values
            return zero, one, low, high
        if self.scaling == "fences":
            zero, one = low, high = limits(column, tail=0.25, reach=3)
        elif self.scaling in ("cut", "standard-cut"):
            zero, one = limits(column, tail=0.01, reach=0)
            low, high = 2 * zero - one, 2 * one - zero
        elif self.scaling == "ranks":
            ranks = QuantileTransformer(n_quantiles=min(101, len(column)), subsample=None)
            self.ranks_[place] = ranks.fit(column[:, np.newaxis])
        if self.scaling.startswith("standard"):
            kept = np.clip(column, low, high)
            zero, one = kept.mean(), kept.mean() + kept.std()
        return zero, one, low, high

    def transform(self, X: np.ndarray) -> np.ndarray:
        return apply_in_chunks(self._scaled, np.asarray(X))

    def _scaled(self, rows):
        rows = rows.astype(np.float64)
        sizes = np.where(self.one_ == self.zero_, 1.0, self.one_ - self.zero_)  # a constant keeps distances
        scaled = (np.clip(rows, self.low_, self.high_) - self.zero_) / sizes
        for place, ranks in self.ranks_.items():
            scaled[:, [place]] = ranks.transform(rows[:, [place]])
        return np.clip(scaled, -LARGEST, LARGEST).astype(np.float32)


def limits(column, tail, reach):
    """Two quantiles of a column, moved outwards by `reach` of their ranges, but within its values.

    If nearly all values are equal, the quantiles are those of the others, and include that value.
    """
    low, high = outer_quantiles(column, tail)
    if low == high:
        below, above = outer_quantiles(column[column != low], tail)
        low, high = min(low, below), max(high, above)
    margin = reach * (high - low) if reach else 0.0  # 0 times inf is NaN
    return max(column.min(), low - margin), min(column.max(), high + margin)


def outer_quantiles(column, tail):
    """The quantiles `tail` and 1 - `tail`, each the next value inwards, and never the outermost value."""
    count = len(column)
    skipped = min(max(1, int(np.ceil(tail * (count - 1)))), (count - 1) // 2)
    places = [skipped, count - 1 - skipped]
    return np.partition(column, places)[places]
