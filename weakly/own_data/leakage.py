"""Columns that a model should not see: copies of the label, and ids.

    for warning in suspicious_columns(table, kinds, y):
        print(warning)

A column that alone separates the labelled anomalies from all other rows was most likely written after the
label was known. A model that uses it looks perfect in a test and fails on new rows.
"""

import numpy as np
import pandas as pd

from weakly.errors import printable
from weakly.own_data.column_kinds import rare_below

SEPARATES = 0.995  # a single column with at least this AUC-ROC is reported
MOSTLY_DIFFERENT = 0.95  # a column with at least this share of different whole numbers looks like an id


def suspicious_columns(table, kinds, y):
    """A warning for each suspicious one of these typed columns; y (n,): 1 for a labelled anomaly."""
    warnings = []
    for name, kind in kinds.items():
        area = single_column_auc(table[name], kind, y)
        if area >= SEPARATES:
            what = f"alone separates the labelled anomalies from the other rows (AUC-ROC {area:.3f})"
            warnings.append(warning(name, what, "if it is known only after the label"))
        elif kind == "number" and looks_like_id(table[name]):
            what = "has a different whole number in nearly every row, like an id"
            warnings.append(warning(name, what, "if it is one"))
    return warnings


def warning(name, what, condition):
    name = printable(name)
    return f"WARNING: column {name!r} {what}: {condition}, leave it out with --drop {name}."


def single_column_auc(cells, kind, y):
    """How well one typed column ranks the anomalies first, in either direction (AUC-ROC, 0.5 to 1).

    The missing cells of a number or truth value count too, because they have a feature of their own.
    """
    if kind == "category":
        return two_sided_auc(share_of_anomalies(cells, y), y)
    if not cells.hasnans:
        return two_sided_auc(cells.to_numpy(), y)
    rankings = (cells.fillna(cells.median()), cells.isna())
    return max(two_sided_auc(ranking.to_numpy(), y) for ranking in rankings)


def two_sided_auc(values, y):
    """The larger AUC-ROC of values (n,) and of their negatives.

    Only the few anomalies are sorted, not all rows: this is done for every column of a table.
    """
    ranked, others = np.sort(values[y == 1]), values[y == 0]
    below_or_equal = [np.searchsorted(ranked, others, side).sum(dtype=np.int64) for side in ("left", "right")]
    area = 1 - sum(below_or_equal) / (2 * len(ranked) * len(others))
    return float(max(area, 1 - area))


def share_of_anomalies(cells, y):
    """The share of anomalies in the level of each cell; rare levels count as one, as in the features."""
    counts = cells.map(cells.value_counts())
    levels = cells.where(counts >= rare_below(len(cells)), "")
    return pd.Series(y, index=cells.index).groupby(levels).transform("mean").to_numpy()


def looks_like_id(cells):
    """Whether nearly all cells of a column of numbers are different whole numbers."""
    numbers = cells.dropna()
    whole = (numbers % 1 == 0).all()
    return len(numbers) > 100 and bool(whole) and numbers.nunique() >= MOSTLY_DIFFERENT * len(numbers)
