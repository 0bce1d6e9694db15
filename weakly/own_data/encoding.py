"""From the typed columns of a table to the features of a detector, by scikit-learn's parts.

    X = new_encoder(columns, len(table), is_tree=False).fit_transform(table)     # float32, (n, features)

Networks and linear models get numbers between 0 and 1, cut off at the fences for far outliers, so that one
absurd cell does not squeeze all others together. Trees get them as they are, because cutting off takes signal
from them, but in units of their range, because float32 could not tell large numbers apart. So does XGBOD: its
trees see all values, and its one-class SVMs standardise them by themselves.
"""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted, validate_data

from weakly.own_data.columns import rare_below
from weakly.training.number_scaler import NumberScaler

MOST_LEVELS = 50  # of a category with a feature of their own; the others share one


class DateParts(TransformerMixin, BaseEstimator):
    """Year, month, weekday and hour of each column of dates; those that never change are left out."""

    def fit(self, dates, y=None):
        validate_data(self, dates, skip_check_array=True)  # keeps the names
        parts = [(name, part) for name in dates for part in ("year", "month", "dayofweek", "hour")]
        varies = [self._part(dates, *one).nunique() > 1 for one in parts]
        self.parts_ = [one for one, kept in zip(parts, varies) if kept] or parts[:1]  # a feature at least
        return self

    def transform(self, dates):
        check_is_fitted(self)
        return np.column_stack([self._part(dates, *one) for one in self.parts_])

    @staticmethod
    def _part(dates, name, part):
        return getattr(pd.to_datetime(dates[name]).dt, part).astype(np.float64)

    def get_feature_names_out(self, input_features=None):
        return np.array([f"{name}_{part}" for name, part in self.parts_], object)


def new_encoder(columns, n_rows, is_tree):
    """A ColumnTransformer of typed columns {name: {"kind": ...}}, for a table of n_rows to fit it on."""
    scaling = "min-max" if is_tree else "fences"
    levels = OneHotEncoder(
        handle_unknown="infrequent_if_exist",  # a missing cell is a level too
        min_frequency=rare_below(n_rows),
        max_categories=MOST_LEVELS,
        sparse_output=False,
        dtype=np.float32,
    )
    steps = {
        "number": make_pipeline(NumberScaler(scaling), filled()),
        "truth": make_pipeline(NumberScaler("min-max"), filled()),
        "category": levels,
        "date": make_pipeline(DateParts(), NumberScaler(scaling), filled()),
    }
    members = {kind: [name for name in columns if columns[name]["kind"] == kind] for kind in steps}
    parts = [(kind, steps[kind], members[kind]) for kind in steps if members[kind]]
    return ColumnTransformer(parts, sparse_threshold=0)


def filled():
    """Fills missing cells with the median; another feature marks them."""
    return SimpleImputer(strategy=median, add_indicator=True, keep_empty_features=True, copy=False)


def median(values):
    """The median of the filled cells of a column (scikit-learn's own takes a sort of the whole table)."""
    return np.median(values) if len(values) else 0.0
