"""A detector together with its table: from the user's columns to features, scores and their parts.

model = EventModel.fit("prenet", texts, {"amount": "number", "country": "category"}, y)  # texts: strings
X, scores = model.score(texts)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer

from common.errors import DataError
from loading.files import bounded_memory
from methods import METHODS, make_detector, method_group
from own_data.column_kinds import rare_below, typed_columns
from own_data.features import MOST_LEVELS, frequent_levels, new_encoder

SAVED_METHODS = [name for name in method_group("table", "appendix", "today") if METHODS[name].can_be_saved]
EXPLAINED = ("prenet", "devnet")  # their score is linear in psi(x), so that it falls into parts
QUANTILES = 10_001  # of the training scores, kept for thresholds


@dataclass
class EventModel:
    """A fitted detector with the encoder of its columns."""

    method: str
    detector: Any
    encoder: ColumnTransformer
    quantiles: np.ndarray  # of the scores of all training rows, from the lowest to the highest
    n_rows: int  # of the training table
    decimal: str = "."  # the mark in the numbers of the texts
    header: bool = True  # whether the training table had names of columns

    @classmethod
    def fit(cls, method, texts, kinds, y, seed=0, decimal="."):
        """Learn from a table of strings and y (n,): 1 labelled anomaly, 0 unlabelled."""
        with bounded_memory("Encoding the table"), np.errstate(over="ignore", invalid="ignore"):
            table = typed_columns(texts, kinds, decimal)
            encoder = new_encoder(kinds, rare_below(len(table)), MOST_LEVELS).fit(table)
            detector = make_detector(method, random_state=seed)
            model = cls(method, detector, encoder, np.zeros(0), len(table), decimal)
            X = model.encode(table)
        try:
            model.detector.fit(X, y)
        except ValueError as error:  # too few rows for this method, or its training diverged
            raise DataError(f"{method} cannot be fitted: {error}.") from None
        model.quantiles = np.quantile(model.detector.decision_function(X), np.linspace(0, 1, QUANTILES))
        return model

    @property
    def kinds(self):
        """{column: kind} in the order of the features."""
        return {
            name: kind
            for kind, _, names in self.encoder.transformers_
            if kind != "remainder"
            for name in names
        }

    @property
    def widths(self):
        """How many features each of these columns has."""
        widths = [1] * sum(kind != "category" for kind in self.kinds.values())
        if "category" in self.encoder.named_transformers_:
            widths += [
                len(levels) + rare
                for levels, rare in frequent_levels(self.encoder.named_transformers_["category"][-1])
            ]
        return widths

    def encode(self, table):
        """Features (n, D) of typed columns, as float32."""
        with np.errstate(over="ignore", invalid="ignore"):
            X = np.ascontiguousarray(self.encoder.transform(table), dtype=np.float32)
        beyond = np.argwhere(~np.isfinite(X))
        if len(beyond):
            name = np.repeat(list(self.kinds), self.widths)[beyond[0, 1]]
            row = table.index[beyond[0, 0]] + 1
            raise DataError(f"Row {row:,}: column {str(name)!r} holds a number too large to be scaled.")
        return X

    def score(self, texts):
        """Features (n, D) and scores (n,) of a table of strings."""
        X = self.encode(typed_columns(texts, self.kinds, self.decimal))
        return X, self.scored(X, texts.index)

    def scored(self, X, rows):
        """Scores (n,) of features (n, D); the numbers of the rows, from 0 on, are for the message."""
        try:
            with np.errstate(all="ignore"):  # a model from outside may hold any numbers
                return self.detector.decision_function(X)
        except ValueError as error:  # scores that overflow
            raise DataError(f"Rows {rows[0] + 1:,} to {rows[-1] + 1:,}: {error}") from None

    def threshold(self, contamination):
        """The score that the share `contamination` of the training rows exceeds."""
        return float(np.interp(1 - contamination, np.linspace(0, 1, len(self.quantiles)), self.quantiles))

    def explain(self, X):
        """Gradient times input (n, columns) of the scores of X, summed over the features of each column.

        With psi(x) = max(0, K'x + b), the score w.psi(x) + c is piecewise linear: a feature's part is x_j
        sum_h w_h 1[psi_h > 0] K_jh, and what is missing to the score is the biases and the constant.
        """
        psi, eta = (self.detector.model_.get_layer(name) for name in ("psi", "eta"))
        kernel, bias = psi.get_weights()
        weights = eta.get_weights()[0][:, 0].astype(np.float64)
        if self.method == "prenet":
            # (w_left + w_right) / 2: x stands on either side of its partners
            weights = np.mean(np.split(weights, 2), axis=0)
        gradients = ((X @ kernel + bias > 0) * weights) @ kernel.T.astype(np.float64)
        return np.add.reduceat(X * gradients, np.cumsum([0, *self.widths[:-1]]), axis=1)
