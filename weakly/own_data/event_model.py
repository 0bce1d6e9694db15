"""A detector with the encoder of its table: from the user's columns to features, scores and reasons.

model = EventModel.fit("prenet", texts, {"amount": "number", "country": "category"}, y)  # texts: strings
X, scores = model.score(texts)
"""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer

from weakly.errors import DataError
from weakly.loading.files import bounded_memory
from weakly.methods import METHODS, make_detector, method_group
from weakly.own_data.calibration import Calibration
from weakly.own_data.column_kinds import rare_below, typed_columns
from weakly.own_data.drift import summarised
from weakly.own_data.explaining import typical_row
from weakly.own_data.features import MOST_LEVELS, frequent_levels, new_encoder, widths_of

SAVED_METHODS = [name for name in method_group("table", "appendix", "today") if METHODS[name].can_be_saved]
QUANTILES = 10_001  # of the training scores, kept for thresholds


@contextmanager
def unfit_reported(method):
    """Report in one sentence why a detector cannot be fitted: too few rows, or training that diverges."""
    try:
        yield
    except ValueError as error:
        raise DataError(f"{method} cannot be fitted: {error}.") from None


@dataclass
class EventModel:
    """A fitted detector with the encoder of its columns."""

    method: str
    detector: Any
    encoder: ColumnTransformer
    quantiles: np.ndarray  # of the scores of all training rows, from the lowest to the highest
    n_rows: int  # of the training table
    typical: np.ndarray  # (D,) features of a row in which every column has its typical value
    summary: dict | None = None  # of the training rows (drift.py)
    decimal: str = "."  # the decimal mark of the texts
    header: bool = True  # whether the training table had column names
    origin: dict | None = None  # its table, labels and code (origin.py), if a command made it
    calibration: Calibration | None = None  # from scores to probabilities, with fit --calibrate

    @classmethod
    def fit(cls, method, texts, kinds, y, seed=0, decimal="."):
        """Learn from a table of strings and y (n,): 1 labelled anomaly, 0 unlabelled."""
        with bounded_memory("Encoding the table"):
            table = typed_columns(texts, kinds, decimal)
        return cls.fit_columns(method, table, kinds, y, seed, decimal)

    @classmethod
    def fit_columns(cls, method, table, kinds, y, seed=0, decimal="."):
        """The same from typed columns."""
        with bounded_memory("Encoding the table"), np.errstate(over="ignore", invalid="ignore"):
            model, X = cls.encoded(method, table, kinds, decimal)
            levels = widths_of(model.encoder).get("category", [])  # categories come last
            model.typical = typical_row(X, [1] * (X.shape[1] - sum(levels)) + levels)
            model.summary = summarised(table, model.kinds, model.levels)
        with unfit_reported(method):
            model.detector = make_detector(method, random_state=seed).fit(X, y)
        model.quantiles = np.quantile(model.detector.decision_scores_, np.linspace(0, 1, QUANTILES))
        del model.detector.decision_scores_  # one for each row: a file has only their quantiles
        return model

    @classmethod
    def encoded(cls, method, table, kinds, decimal="."):
        """A model that has learned only to encode these typed columns, and their features (n, D)."""
        encoder, empty = new_encoder(kinds, rare_below(len(table)), MOST_LEVELS).fit(table), np.zeros(0)
        model = cls(method, None, encoder, empty, len(table), empty, decimal=decimal)
        return model, model.encode(table)

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
        return [width for widths in widths_of(self.encoder).values() for width in widths]

    @property
    def levels(self):
        """{category: its frequent levels}."""
        names = [name for name, kind in self.kinds.items() if kind == "category"]
        if not names:
            return {}
        one_hot = self.encoder.named_transformers_["category"][-1]
        return {name: levels for name, (levels, _) in zip(names, frequent_levels(one_hot))}

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

    def score(self, texts, watch=None):
        """Features (n, D) and scores (n,) of a table of strings; watch.add gets typed columns and scores."""
        table = typed_columns(texts, self.kinds, self.decimal)
        X = self.encode(table)
        scores = self.scored(X, texts.index)
        if watch is not None:
            watch.add(table, scores)
        return X, scores

    def scored(self, X, rows):
        """Scores (n,) of features (n, D); the numbers of the rows, counted from 0, are for the message."""
        try:
            with np.errstate(all="ignore"):  # a model from outside may hold any numbers
                return self.detector.decision_function(X)
        except ValueError as error:  # scores that overflow
            raise DataError(f"Rows {rows[0] + 1:,} to {rows[-1] + 1:,}: {error}") from None

    def threshold(self, contamination):
        """The score that the share `contamination` of the training rows exceeds."""
        return float(np.interp(1 - contamination, np.linspace(0, 1, len(self.quantiles)), self.quantiles))

    def explain(self, X):
        """What each column adds to the scores of X (n, D), compared with its typical value: (n, columns)."""
        return self.detector.explain(X, self.typical, self.widths)
