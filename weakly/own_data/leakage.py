"""Warnings about a table before a model is trusted: columns that give the label away, ids, equal rows.

    for warning in suspicious_columns(table, columns, y):
        print(warning)

A column that nearly all labelled anomalies share with few other rows was most likely written after the label
was known. A model that uses it looks perfect in a test and fails on new rows. The other rows are not all
normal: where a tenth of them are anomalies without a label, such a column marks that tenth, too. So a column
is judged by the rows that it marks, not by its AUC-ROC over all rows. The limits below name 44 of 45 copies
of the label with 10 to 60 labelled anomalies, and on the paper's and ADBench's sets hardly any other column.
"""

import numpy as np
import pandas as pd

from weakly.errors import printable
from weakly.own_data.columns import rare_below

NEARLY_ALL = 0.95  # of the labelled anomalies
# share of the other rows that may be marked too: by a value, such as M3, or by a range of numbers. Honest
# numbers rise gradually, so a range that marks more than this says little.
FEW_BY_VALUE, FEW_BY_RANGE = 0.15, 0.02
FEWEST_JUDGED = 5  # labelled anomalies; fewer may agree by chance
MOSTLY_DIFFERENT = 0.95  # a column with at least this share of different whole numbers looks like an id
FEW_LABELS, FEW_ROWS = 5, 100
MOST_TOLD = 5  # warnings of one kind


def suspicious_columns(table, columns, y):
    """A warning for each suspicious column of a typed table; y (n,): 1 for a labelled anomaly."""
    copies, ids = [], []
    for name, column in columns.items():
        shown, kind = printable(name), column["kind"]
        if mark := mark_of_anomalies(table[name], kind, y):
            copies.append(
                f"WARNING: column {shown!r} {mark}: if it is known only after the label, "
                f"leave it out with --drop {shown}."
            )
        elif kind == "number" and looks_like_id(table[name]):
            ids.append(
                f"WARNING: column {shown!r} has a different whole number in nearly every row, like an id: "
                f"if it is one, leave it out with --drop {shown}."
            )
    return [*first_of(copies), *first_of(ids)]


def first_of(warnings):
    n_others = len(warnings) - MOST_TOLD
    others = [f"WARNING: {n_others} more columns are like these."] if n_others > 0 else []
    return warnings[:MOST_TOLD] + others


def mark_of_anomalies(cells, kind, y):
    """What nearly all labelled anomalies and few other rows have in this column, in words, or None."""
    anomalous, others = cells[y == 1], cells[y == 0]
    if len(anomalous) < FEWEST_JUDGED or others.empty:
        return None
    find = marks_of_levels if kind == "category" else marks_of_numbers
    if kind == "date":
        anomalous, others = (part.astype("int64").where(part.notna()) for part in (anomalous, others))
    marks = [
        (n_marked / len(others), words, n_held)
        for words, n_held, n_marked, few in find(anomalous, others, kind)
        if n_held >= NEARLY_ALL * len(anomalous) and n_marked <= few * len(others)
    ]
    if not marks:
        return None
    share, words, n_held = min(marks)
    of = "all" if n_held == len(anomalous) else f"{n_held:,} of"
    return f"{words} in {of} {len(anomalous):,} labelled anomalies and in only {share:.1%} of the other rows"


def marks_of_levels(anomalous, others, kind=""):
    """The levels that more than one anomaly has, and all but the usual one: (words, anomalies, others, few)."""
    held, counts = (part.fillna("").value_counts() for part in (anomalous, others))
    counts = counts.reindex(held.index.union(counts.index), fill_value=0)
    rare = rare_below(len(anomalous) + len(others))  # a level of one row marks it, and says nothing
    frequent = held[(held > 1) & (held + counts[held.index] >= min(rare, NEARLY_ALL * len(anomalous)))]
    if len(frequent) <= MOST_TOLD:
        words = f"is {' or '.join(printable(str(level))[:40] or 'empty' for level in frequent.index)}"
    else:
        words = f"is one of {len(frequent)} levels"
    yield words, frequent.sum(), counts[frequent.index].sum(), FEW_BY_VALUE
    usual = counts.idxmax()
    words = f"is not {printable(str(usual))[:40] or 'empty'}"
    yield words, len(anomalous) - held.get(usual, 0), len(others) - counts[usual], FEW_BY_VALUE


def marks_of_numbers(anomalous, others, kind):
    """No number, a number, one number, all but the usual one, and a range: (words, anomalies, others, few)."""
    held, found = (np.sort(part.dropna().to_numpy(np.float64)) for part in (anomalous, others))
    n_empty, n_others_empty = len(anomalous) - len(held), len(others) - len(found)
    yield "is empty", n_empty, n_others_empty, FEW_BY_VALUE
    yield "is not empty", len(held), len(found), FEW_BY_VALUE
    if len(held) < NEARLY_ALL * len(anomalous):
        return
    values, counts = np.unique(held, return_counts=True)
    most = values[counts.argmax()]
    yield f"is {number_in_words(most, kind)}", counts.max(), n_within(found, most, most), FEW_BY_VALUE
    if len(found):
        usual = found[len(found) // 2]  # of most rows, if it marks few by being another
        words = f"is not {number_in_words(usual, kind)}"
        n_held = len(anomalous) - n_within(held, usual, usual)
        yield words, n_held, len(others) - n_within(found, usual, usual), FEW_BY_VALUE
    size = int(np.ceil(NEARLY_ALL * len(anomalous)))  # of the ranges of anomalies, one after the other
    low, high = held[: len(held) - size + 1], held[size - 1 :]
    n_marked = n_within(found, low, high)
    best = n_marked.argmin()
    words = f"lies between {number_in_words(low[best], kind)} and {number_in_words(high[best], kind)}"
    yield words, n_within(held, low[best], high[best]), n_marked[best], FEW_BY_RANGE


def n_within(ordered, low, high):
    """How many of these ordered numbers lie between two limits, or several pairs of limits."""
    return np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low, "left")


def number_in_words(value, kind):
    if kind == "date":
        return str(pd.Timestamp(int(value)))
    return ("true" if value else "false") if kind == "truth" else f"{value:.6g}"


def looks_like_id(cells):
    """Whether nearly all cells of a column of numbers are different whole numbers."""
    numbers = cells.dropna()
    whole = (numbers % 1 == 0).all()
    return len(numbers) > 100 and bool(whole) and numbers.nunique() >= MOSTLY_DIFFERENT * len(numbers)


def warnings_about_rows(table, y):
    """A sentence on each problem of the rows of a typed table with labels y (n,): too few, or equal ones."""
    n_rows, n_anomalies = len(table), int(np.sum(y))
    warnings = []
    if 0 < n_anomalies < FEW_LABELS:
        labelled = "1 labelled anomaly" if n_anomalies == 1 else f"{n_anomalies} labelled anomalies"
        warnings.append(
            f"WARNING: only {labelled}: a model learns little from so few, and may find only rows like "
            f"{'it' if n_anomalies == 1 else 'them'}. `detect.py next` proposes rows to check."
        )
    if n_rows < FEW_ROWS:
        row = "1 row" if n_rows == 1 else f"{n_rows} rows"
        warnings.append(f"WARNING: only {row}: too few to tell what is usual, so do not rely on the scores.")
    if n_equal := int(equal_to_earlier(table).sum()):
        rows = "1 row equals" if n_equal == 1 else f"{n_equal:,} rows ({n_equal / n_rows:.1%}) equal"
        warnings.append(
            f"WARNING: {rows} an earlier one in all columns that are used: if these are copies, remove them; "
            "they count twice, and make figures of `evaluate` too high."
        )
    return warnings


def equal_to_earlier(table):
    """Whether each row (n,) has the same cells as an earlier one."""
    return pd.util.hash_pandas_object(table, index=False).duplicated().to_numpy()
