"""Warnings about a table before a model is trusted: columns that give the label away, ids, equal rows.

A column that nearly all labelled anomalies share with few other rows was most likely written after the label
was known. A model that uses it looks perfect in a test and fails on new rows. The other rows are not all
normal: where a tenth of them are anomalies without a label, such a column marks that tenth, too. So a column
is judged by the rows that it marks, not by its AUC-ROC over all rows. On the paper's and ADBench's sets, the
limits below name columns of musk (where all methods are perfect), one of ADBench's thyroid, one of optdigits
and, with 10 labels, some of fraud and bac.
"""

import numpy as np
import pandas as pd

from weakly.errors import printable
from weakly.numbers import count_of
from weakly.own_data.columns import rare_below

NEARLY_ALL = 0.95  # of the labelled anomalies
# share of the other rows that may be marked too: by a value, such as M3, or by a range of numbers. Honest
# numbers rise gradually, so a range that marks more than this says little.
FEW_BY_VALUE, FEW_BY_RANGE = 0.15, 0.02
FEWEST_JUDGED = 5  # labelled anomalies; fewer may agree by chance
MOSTLY_DIFFERENT = 0.95  # a column with at least this share of different whole numbers looks like an id
FEW_LABELS, FEW_ROWS = 5, 100
MOST_TOLD = 5  # columns, or levels of a column


def suspicious_columns(table, columns, y):
    """A warning for each suspicious column of a typed table; y (n,): 1 for a labelled anomaly."""
    copies, ids = [], []
    for name, column in columns.items():
        start, end = (text.format(printable(name)) for text in ("WARNING: column {!r}", "with --drop {}."))
        if mark := mark_of_anomalies(table[name], column["kind"], y):
            copies.append(f"{start} {mark}: if it is known only after the label, leave it out {end}")
        elif column["kind"] == "number" and looks_like_id(table[name]):
            what = "has a different whole number in nearly every row, like an id"
            ids.append(f"{start} {what}: if it is one, leave it out {end}")
    n_others = len(copies) - MOST_TOLD
    more = count_of(n_others, "more column is", "more columns are")
    others = [f"WARNING: {more} like these."] if n_others > 0 else []
    return copies[:MOST_TOLD] + others + ids[:MOST_TOLD]


def mark_of_anomalies(cells, kind, y):
    """What nearly all labelled anomalies and few other rows have in this column, in words, or None."""
    if kind == "date":
        cells = cells.astype("int64").where(cells.notna())
    anomalous, others = cells[y == 1], cells[y == 0]
    if len(anomalous) < FEWEST_JUDGED or others.empty:
        return None
    find = marks_of_levels if kind == "category" else marks_of_numbers
    marks = [
        (n_marked / len(others), words, n_held)
        for words, n_held, n_marked, few in find(anomalous, others, kind)
        if n_held >= NEARLY_ALL * len(anomalous) and n_marked <= few * len(others)
    ]
    if not marks:
        return None
    share, words, n_held = min(marks)
    of = "all" if n_held == len(anomalous) else f"{n_held:,} of"
    few = f"only {share:.1%} of the other rows" if share else "no other row"
    return f"{words} in {of} {len(anomalous):,} labelled anomalies and in {few}"


def marks_of_levels(anomalous, others, _):
    """The most telling levels, and all but the usual one: (words, anomalies, others, few).

    A level counts if more than one anomaly has it; the first are those with the fewest other rows for each.
    """
    held, counts = (part.fillna("").value_counts() for part in (anomalous, others))
    counts = counts.reindex(held.index.union(counts.index), fill_value=0)
    rare = rare_below(len(anomalous) + len(others))  # a level of one row marks it, and says nothing
    needed = NEARLY_ALL * len(anomalous)
    telling = held[(held > 1) & (held + counts[held.index] >= min(rare, needed))]
    telling = telling[(counts[telling.index] / telling).sort_values(kind="stable").index]
    telling = telling[telling.cumsum() - telling < needed]
    usual, names = counts.idxmax(), [printable(str(level))[:40] or "empty" for level in telling.index]
    one_of = " or ".join(names) if len(names) <= MOST_TOLD else f"one of {len(names)} levels"
    yield f"is {one_of}", telling.sum(), counts[telling.index].sum(), FEW_BY_VALUE
    n_held, n_marked = len(anomalous) - held.get(usual, 0), len(others) - counts[usual]
    yield f"is not {printable(str(usual))[:40] or 'empty'}", n_held, n_marked, FEW_BY_VALUE


def marks_of_numbers(anomalous, others, kind):
    """A number, all but the usual one, and a range: (words, anomalies, others, few); missing is infinity."""
    held, found = (np.sort(part.fillna(np.inf).to_numpy(np.float64)) for part in (anomalous, others))
    values, counts = np.unique(held, return_counts=True)
    most, usual = values[counts.argmax()], found[len(found) // 2]
    yield f"is {in_words(most, kind)}", counts.max(), n_within(found, most, most), FEW_BY_VALUE
    n_held, n_marked = (len(part) - n_within(part, usual, usual) for part in (held, found))
    yield f"is not {in_words(usual, kind)}", n_held, n_marked, FEW_BY_VALUE
    size = int(np.ceil(NEARLY_ALL * len(held)))  # of the ranges of anomalies, one after the other
    low, high = held[: len(held) - size + 1], held[size - 1 :]
    n_marked = np.where(np.isfinite(high), n_within(found, low, high), len(found))
    best = n_marked.argmin()
    words = f"lies between {in_words(low[best], kind)} and {in_words(high[best], kind)}"
    yield words, n_within(held, low[best], high[best]), n_marked[best], FEW_BY_RANGE


def n_within(ordered, low, high):
    """How many of these ordered numbers lie between two limits, or several pairs of limits."""
    return np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low, "left")


def in_words(value, kind):
    """A number of a column of this kind as a text."""
    if np.isinf(value):
        return "empty"
    if kind == "date":
        return str(pd.Timestamp(int(value)))
    return str(bool(value)).lower() if kind == "truth" else f"{value:.6g}"


def looks_like_id(cells):
    """Whether nearly all cells of a column of numbers are different whole numbers."""
    numbers = cells.dropna()
    whole = (numbers % 1 == 0).all()
    return len(numbers) > 100 and bool(whole) and numbers.nunique() >= MOSTLY_DIFFERENT * len(numbers)


def warnings_about_rows(table, y):
    """A sentence on each problem of the rows of a typed table with labels y (n,): too few, or equal ones."""
    n_rows, n_labelled = len(table), int(np.sum(y))
    n_equal = int(pd.util.hash_pandas_object(table, index=False).duplicated().sum())
    warnings = []
    if 0 < n_labelled < FEW_LABELS:
        labelled, like = ("anomaly", "it") if n_labelled == 1 else ("anomalies", "them")
        warnings.append(
            f"WARNING: only {n_labelled} labelled {labelled}: a model may find only rows like {like}. "
            "`detect.py next` proposes rows to check."
        )
    if n_rows < FEW_ROWS:
        warnings.append(f"WARNING: only {n_rows} rows: too few to tell what is usual; do not rely on scores.")
    if n_equal:
        rows = "1 row equals" if n_equal == 1 else f"{n_equal:,} of {n_rows:,} rows equal"
        warnings.append(
            f"WARNING: {rows} an earlier one in all columns that are used: if these are copies, remove them; "
            "they count twice, and make figures of `evaluate` too high."
        )
    return warnings
