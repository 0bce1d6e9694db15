"""Everything that the report shows about a table: scores, the highest rows, labels, ranges, drift.

found = overview_of(model, table, top=20, keep=["id"], label="fraud")

The table is read once, in chunks. Only the score of each row stays in memory and, if there is one, its label.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.own_data.drift import Comparison
from weakly.own_data.labels import anomaly_labels
from weakly.own_data.scoring import highest, progress_bar, score_rows

KEPT = "kept: "  # prefix of the table's columns, one of which may be called score too


@dataclass
class Overview:
    """What was found in a scored table; collects it while the rows are scored."""

    comparison: Comparison | None  # None for a model without a summary of its training rows
    parts: list = field(default_factory=list)  # the scores of each chunk
    scores: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (n,) of all rows
    best: pd.DataFrame = field(
        default_factory=pd.DataFrame
    )  # the highest rows: row, score, why_*, kept columns
    y: np.ndarray | None = None  # (n,) 1 for an anomaly, 0 for a normal row; None if labels are not known
    ranges: dict = field(default_factory=dict)  # {column of numbers: (smallest, largest)}

    def add(self, table, scores):
        """Count a chunk of typed columns and its scores."""
        self.parts.append(scores)
        if self.comparison:
            self.comparison.add(table)
        for name in table.select_dtypes(np.floating).columns:
            values = table[name].dropna()
            if len(values):
                low, high = self.ranges.get(name, (np.inf, -np.inf))
                self.ranges[name] = min(low, values.min()), max(high, values.max())

    def n_above(self, threshold):
        return int((self.scores > threshold).sum())

    def confusion(self, threshold):
        """True positives, false positives, false negatives, true negatives above a threshold."""
        flagged, anomalous = self.scores > threshold, self.y == 1
        pairs = ((1, 1), (1, 0), (0, 1), (0, 0))
        return tuple(int(((flagged == f) & (anomalous == a)).sum()) for f, a in pairs)


def overview_of(model, table, top, keep=(), label=None, anomaly_values=None, normal_value=None):
    """The Overview of a Table; with a label column, all of its labels must be known."""
    found = Overview(Comparison(model.summary, model.kinds) if model.summary else None)
    wanted = {*model.kinds, *keep, *([label] if label else [])}
    cells = []
    with progress_bar(table) as bar:
        for texts in table.chunks([name for name in table.columns if name in wanted]):
            best = score_rows(model, texts, top, explain=True, watch=found)
            best = best.join(texts[list(keep)].add_prefix(KEPT))
            found.best = highest(best, top, found.best)
            if label:
                cells.append(texts[label].copy())  # a view would hold the whole chunk
            bar.update(table.position - bar.n)
    found.scores = np.concatenate(found.parts)
    if label:
        labels = pd.concat(cells)
        found.y = anomaly_labels(labels, anomaly_values, normal_value, True, table.path, table.decimal)
        if found.y.all() or not found.y.any():
            only = "only anomalies" if found.y.any() else "no anomaly"
            raise DataError(f"{table.path} has {only} in column {label!r}: leave out --label.")
    return found
