"""What the cells of a label column mean.

    labels = known_labels(cells, anomaly_values=None, normal_value=None, path="events.csv")
    labels.y, labels.normal      # (n,) 1 for an anomaly; whether a person has checked it and found it normal

| cell         | without options                                  | --anomaly-value | --normal-value |
|--------------|--------------------------------------------------|-----------------|----------------|
| 1, true, yes | anomaly                                          | as any other    | anomaly        |
| 0, false, no | normal if other cells are empty, else unlabelled | as any other    | as any other   |
| the value    |                                                  | anomaly         | normal         |
| empty        | unlabelled                                       | unlabelled      | unlabelled     |
| any other    | refused                                          | unlabelled      | refused        |
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.own_data.column_kinds import MISSING, to_numbers

LISTED = 10  # labels in a message, at most
TRUE, FALSE = (
    frozenset({"1.0", "true", "yes"}),
    frozenset({"0.0", "false", "no"}),
)  # as canonical_labels() has them


class Labels(NamedTuple):
    """The labels of a table's rows, both (n,), and what cells with 0 were taken to mean."""

    y: np.ndarray  # 1 for a labelled anomaly, else 0
    normal: np.ndarray  # bool: checked by a person and found normal
    meaning: str = ""

    @property
    def unlabeled(self):
        """Which rows nobody has checked (n,)."""
        return (self.y == 0) & ~self.normal

    def in_words(self):
        """The three counts."""
        masks = {"labelled anomalies": self.y, "known normal": self.normal, "unlabelled": self.unlabeled}
        return ", ".join(f"{mask.sum():,} {what}" for what, mask in masks.items()) + "."


def known_labels(cells, anomaly_values, normal_value, path, decimal="."):
    """The Labels of a column in which cells may be empty."""
    y = anomaly_labels(cells, anomaly_values, normal_value, False, path, decimal)
    levels = pd.Series(cells.unique(), dtype=object)
    labels = canonical_labels(levels, decimal, truth=anomaly_values is None)
    has_empty, normal, meaning = (labels == "").any(), frozenset(), ""
    if normal_value is not None:
        normal = frozenset(canonical_labels([normal_value], decimal, truth=anomaly_values is None))
    elif anomaly_values is None and labels.isin(FALSE).any():
        zero, one = (levels[labels.isin(words)].str.strip().iloc[:1].sum() for words in (FALSE, TRUE))
        if has_empty:
            normal = FALSE
            meaning = (
                f"{zero} means checked and normal, because other cells are empty; "
                f"if it means unlabelled here, add --anomaly-value {one or 1}."
            )
        else:
            meaning = (
                f"{zero} means unlabelled, because no cell is empty; "
                f"if these rows were checked and found normal, add --normal-value {zero}."
            )
    is_normal = cells.map(dict(zip(levels, labels.isin(normal)))).to_numpy(bool)
    return Labels(y, is_normal & (y == 0), meaning)


def canonical_labels(values, decimal, truth):
    """Texts in the form of same_labels; if `truth`, true, false, yes and no are in lower case."""
    labels = same_labels(values, decimal)
    lower = labels.str.casefold()
    return labels.mask(lower.isin(TRUE | FALSE), lower) if truth else labels


def anomaly_labels(cells, anomaly_values, normal_value, all_known, path, decimal="."):
    """1 for each cell that means an anomaly, 0 for the others; an unclear cell is refused.

    Without anomaly_values, 1, true and yes mean an anomaly, and 0, false and no do not. With them, every
    other label means no anomaly; with normal_value, only that one does.
    """
    counts = cells.value_counts()
    labels = canonical_labels(counts.index, decimal, truth=anomaly_values is None)
    if anomaly_values is None:
        anomalous, normal = set(TRUE), set(FALSE)
    else:
        anomalous, normal = set(same_labels(anomaly_values, decimal)), None  # None: all other labels
        refuse_absent(anomaly_values, labels, counts, decimal, path)
    if normal_value is not None:
        normal = set(canonical_labels([normal_value], decimal, truth=anomaly_values is None))
    is_anomaly, is_missing = labels.isin(anomalous), labels.str.casefold().isin(MISSING)
    unclear = ~is_anomaly & (~labels.isin(normal) if normal else is_missing)
    if not all_known:
        unclear &= labels != ""
    if unclear.any():
        expected = sorted(anomalous | (normal or set()))
        refuse_first_of(counts.index[unclear], cells, expected, all_known, path)
    return cells.map(dict(zip(counts.index, is_anomaly))).to_numpy(np.int64)


def same_labels(values, decimal):
    """Texts in one form: 1, 1.0 and "1 " are one label."""
    texts = pd.Series(list(values), dtype=object)
    numbers = to_numbers(texts, decimal).astype(np.float64)
    return texts.str.strip().mask(np.isfinite(numbers), numbers.astype(str))


def refuse_absent(values, labels, counts, decimal, path):
    """Refuse an anomaly value that is in no row; the message lists the most frequent labels."""
    absent = [value for value, label in zip(values, same_labels(values, decimal)) if label not in set(labels)]
    if absent:
        found = [f"{cell[:40]} ({count:,})" for cell, count in counts.items() if cell.strip()]
        others = f" and {len(found) - LISTED:,} more" if len(found) > LISTED else ""
        raise DataError(
            f"{path} has no row with the label {absent[0]!r} of --anomaly-value; "
            f"column {counts.index.name!r} has {', '.join(found[:LISTED]) or 'no labels'}{others}."
        )


def refuse_first_of(unclear, cells, expected, all_known, path):
    """Refuse the first cell that is one of these."""
    row = np.argmax(cells.isin(unclear))
    cell = cells.iloc[row]
    if cell.strip().casefold() in MISSING:
        problem = ": all labels must be known" if all_known else ": if it is unlabelled, leave the cell empty"
    else:
        known = ", ".join(label.removesuffix(".0") for label in expected)
        problem = f" instead of {known}: see --anomaly-value and --normal-value"
    raise DataError(f"Row {row + 1:,} of {path} has the label {cell!r}{problem}.")
