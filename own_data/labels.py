"""What the cells of a label column mean."""

import numpy as np
import pandas as pd

from common.errors import DataError
from own_data.column_kinds import MISSING, to_numbers

LISTED = 10  # labels in a message, at most


def anomaly_labels(cells, anomaly_values, normal_value, all_known, path, decimal="."):
    """1 for each cell that means an anomaly, 0 for the others; a cell that could mean anything is refused.

    Without anomaly_values, 1 and true mean an anomaly, 0 and false none. With them, every other label means
    none, or only normal_value does.
    """
    counts = cells.value_counts()
    labels = same_labels(counts.index, decimal)
    if anomaly_values is None:
        truth = labels.str.casefold()
        labels = labels.mask(truth.isin(["true", "false"]), truth)
        anomalous, normal = {"1.0", "true"}, {"0.0", "false"}
    else:
        anomalous, normal = set(same_labels(anomaly_values, decimal)), None  # None: all other labels
        refuse_absent(anomaly_values, labels, counts, decimal, path)
    if normal_value is not None:
        normal = set(same_labels([normal_value], decimal))
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
    """Refuse an anomaly value that is in no row, with the labels that are there, the most frequent first."""
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
