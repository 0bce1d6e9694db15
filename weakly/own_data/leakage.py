"""Warnings about a table before a model is trusted: columns that give the label away, few and equal rows.

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
FEW_LABELS, FEW_ROWS = 5, 100
MOST_NAMED = 5  # columns, or levels of a column


def suspicious_columns(table, columns, y):
    """A warning for each column of a typed table that gives y away; y (n,): 1 for a labelled anomaly."""
    is_anomaly = np.asarray(y) == 1
    if is_anomaly.sum() < FEWEST_JUDGED or is_anomaly.all():
        return []
    marks = {name: mark_of_anomalies(table[name], columns[name]["kind"], is_anomaly) for name in columns}
    warnings = [
        f"WARNING: column {name!r} {mark}: if it is known only after the label, "
        f"leave it out with --drop {name}."
        for name, mark in ((printable(name), mark) for name, mark in marks.items() if mark)
    ]
    others = count_of(len(warnings) - MOST_NAMED, "more column is", "more columns are")
    return warnings[:MOST_NAMED] + [f"WARNING: {others} like these."] * (len(warnings) > MOST_NAMED)


def mark_of_anomalies(cells, kind, is_anomaly):
    """What nearly all labelled anomalies and few other rows have in this column, in words, or None."""
    if kind == "date":
        cells = cells.astype("int64").where(cells.notna())
    candidates = marks_of_levels if kind == "category" else marks_of_numbers
    cells, marks = cells.fillna("" if kind == "category" else np.inf), []
    for words, is_marked, few in candidates(cells, is_anomaly, kind):
        n_held, share = is_marked[is_anomaly].sum(), is_marked[~is_anomaly].mean()
        if n_held >= NEARLY_ALL * is_anomaly.sum() and share <= few:
            marks.append((share, words, n_held))
    if not marks:
        return None
    share, words, n_held = min(marks)
    of = "all" if n_held == is_anomaly.sum() else f"{n_held:,} of"
    few = f"only {share:.1%} of the other rows" if share else "no other row"
    return f"{words} in {of} {is_anomaly.sum():,} labelled anomalies and in {few}"


def marks_of_levels(cells, is_anomaly, kind):
    """The most telling levels, and all but the usual one: (words, which cells these are, how few may be).

    A level counts if more than one anomaly has it; the first are those with the fewest other rows for each.
    """
    held, counts = cells[is_anomaly].value_counts(), cells[~is_anomaly].value_counts()
    others = counts.reindex(held.index, fill_value=0)
    needed = NEARLY_ALL * is_anomaly.sum()
    # a level of one row marks it, and says nothing
    telling = held[(held > 1) & (held + others >= min(rare_below(len(cells)), needed))]
    telling = telling[(others[telling.index] / telling).sort_values(kind="stable").index]
    telling = telling[telling.cumsum() - telling < needed].index
    names = " or ".join(in_words(level, kind) for level in telling[:MOST_NAMED])
    one_of = names if len(telling) <= MOST_NAMED else f"one of {len(telling)} levels"
    yield f"is {one_of}", cells.isin(telling), FEW_BY_VALUE
    yield f"is not {in_words(counts.index[0], kind)}", cells != counts.index[0], FEW_BY_VALUE


def marks_of_numbers(cells, is_anomaly, kind):
    """The same for a number, all but the usual one, and a range; missing cells are infinite."""
    held, others = (np.sort(cells[some].to_numpy(np.float64)) for some in (is_anomaly, ~is_anomaly))
    values, counts = np.unique(held, return_counts=True)
    most, usual = values[counts.argmax()], others[len(others) // 2]
    yield f"is {in_words(most, kind)}", cells == most, FEW_BY_VALUE
    yield f"is not {in_words(usual, kind)}", cells != usual, FEW_BY_VALUE
    size = int(np.ceil(NEARLY_ALL * len(held)))  # of the ranges of anomalies, one after the other
    low, high = held[: len(held) - size + 1], held[size - 1 :]
    low, high = low[np.isfinite(high)], high[np.isfinite(high)]
    if len(high):
        best = np.argmin(np.searchsorted(others, high, "right") - np.searchsorted(others, low))
        ends = (in_words(end[best], kind) for end in (low, high))
        yield f"lies between {' and '.join(ends)}", cells.between(low[best], high[best]), FEW_BY_RANGE


def in_words(value, kind):
    """A value of a column of this kind as a text."""
    if value in ("", np.inf):
        return "empty"
    if kind == "category":
        return printable(str(value))[:40]
    if kind == "date":
        return str(pd.Timestamp(int(value)))
    return str(bool(value)).lower() if kind == "truth" else f"{value:.6g}"


def warnings_about_rows(table, y):
    """A sentence on each problem of the rows of a typed table with labels y (n,): too few, or equal ones."""
    n_rows, n_labelled = len(table), int(np.sum(y))
    n_equal = int(pd.util.hash_pandas_object(table, index=False).duplicated().sum())
    if 0 < n_labelled < FEW_LABELS:
        labelled = count_of(n_labelled, "labelled anomaly", "labelled anomalies")
        advice = "a model may find only rows like it. `detect.py next` proposes rows to check."
        yield f"WARNING: only {labelled}: {advice}"
    if n_rows < FEW_ROWS:
        yield f"WARNING: only {n_rows} rows: too few to tell what is usual; do not rely on scores."
    if n_equal:
        equal = count_of(n_equal, f"of {n_rows:,} rows equals", f"of {n_rows:,} rows equal")
        yield (
            f"WARNING: {equal} an earlier one in all columns that are used: if these are copies, remove them;"
            " they count twice, and make figures of `evaluate` too high."
        )
