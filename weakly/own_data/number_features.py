"""Features of numbers and truth values: filled, and scaled so that one absurd cell does no harm.

    features = NumberFeatures(tail=0.25, reach=3).fit(numbers)       # numbers (n, columns), NaN: missing
    X = features.transform(numbers)                                  # (n, sum of features.widths_)

Plain min-max scaling maps a column's smallest and largest value to 0 and 1, so a single cell of 1e9 squeezes
all others together. Here too, 0 and 1 stand for the smallest and largest value. But these limits lie no
farther outside two quantiles of the column than `reach` times the range between them. For quartiles and 3,
they are the usual fences for far outliers. Values beyond the limits are cut off.
"""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import MinMaxScaler

from weakly.training.number_scaler import limits


class NumberFeatures(TransformerMixin, BaseEstimator):
    """Scales columns and fills missing cells; if these are many, another feature marks them.

    tail       share of a column's values beyond each of its two outer quantiles; None: plain min-max
    reach      how far 0 and 1 may lie outside these quantiles, in units of the range between them
    beyond     how far a value may lie outside 0 and 1 before it is cut off; None: it never is
    fewest     how many missing cells, and how many others, a column must have for an indicator
    truth      whether all columns are truth values, filled with the mode and not scaled; numbers: the median

    After fit, each column has median_, low_, high_ (the values of the features 0 and 1), beyond_ and
    indicated_.
    """

    def __init__(self, tail=None, reach=0.0, beyond=None, fewest=1, truth=False):
        self.tail, self.reach, self.beyond = tail, reach, beyond
        self.fewest, self.truth = fewest, truth

    def fit(self, numbers, y=None):
        columns = [column[~np.isnan(column)] for column in np.asarray(numbers, np.float64).T]
        n_filled = np.array([len(column) for column in columns])
        enough = np.minimum(n_filled, len(numbers) - n_filled) >= max(self.fewest, 1)
        columns = [column if len(column) else np.zeros(1) for column in columns]
        if self.truth:
            medians = [
                float(column.mean() > 0.5) for column in columns
            ]  # the mode; 0 if both are equally frequent
            limits = [(0.0, 1.0)] * len(columns)
        else:
            medians = [np.median(column) for column in columns]
            limits = [self._limits(column) for column in columns]
        beyond = np.full(len(columns), np.inf if self.beyond is None else self.beyond)
        lows, highs = np.array(limits).T
        self.median_, self.low_, self.high_ = np.array(medians, np.float64), lows, highs
        self.beyond_, self.indicated_ = beyond, enough
        self.widths_ = 1 + self.indicated_.astype(int)
        self._scaler = MinMaxScaler().fit(np.stack([self.low_, self.high_]))
        return self

    def _limits(self, column):
        """The values that become 0 and 1."""
        if self.tail is None or column.min() == column.max():
            return column.min(), column.max()
        return limits(column, self.tail, self.reach)

    def transform(self, numbers):
        numbers = np.asarray(numbers, np.float64)
        missing = np.isnan(numbers)
        scaled = self._scaler.transform(np.where(missing, self.median_, numbers))
        cut_off = np.clip(scaled, -self.beyond_, 1 + self.beyond_)
        features = np.stack([cut_off, missing], axis=2).reshape(len(numbers), -1)
        return features[:, np.stack([np.ones_like(self.indicated_), self.indicated_], axis=1).ravel()]
