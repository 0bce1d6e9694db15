"""Warnings about a table before a model is trusted: columns that give the label away, few and equal rows.

What nearly all labelled anomalies and few other rows have in a column was most likely written after the label
was known. A model that uses it looks perfect in a test and fails on new rows. A column is judged by the rows
that it marks, not by its AUC-ROC, because some of the other rows are anomalies without a label. On the
paper's and ADBench's sets, the limits below name columns of musk (where all methods are perfect), one of
ADBench's thyroid, one of optdigits and, with 10 labels, some of fraud and bac.
"""

import numpy as np
import pandas as pd

from weakly.numbers import count_of

NEARLY_ALL = 0.95  # of the labelled anomalies
# share of the other rows that may be marked too: by a value, such as M3, or by a range of numbers. Honest
# numbers rise gradually, so a range that marks more than this says little.
FEW_BY_VALUE, FEW_BY_RANGE = 0.15, 0.02
FEWEST_JUDGED = 5  # labelled anomalies; fewer may agree by chance
FEW_LABELS, FEW_ROWS = 5, 100
MOST_NAMED = 5


def suspicious_columns(table, columns, is_anomaly):
    """A warning for each column of a typed table that gives the labelled anomalies (n,) away."""
    if is_anomaly.sum() < FEWEST_JUDGED or is_anomaly.all():
        return []
    marks = {name: mark_of_anomalies(table[name], columns[name]["kind"], is_anomaly) for name in columns}
    advice = "if it is known only after the label, leave it out with --drop"
    warnings = [f"WARNING: column {name!r} {mark}: {advice} {name}." for name, mark in marks.items() if mark]
    more = f"WARNING: columns like these that are not named: {len(warnings) - MOST_NAMED:,}."
    return warnings[:MOST_NAMED] + [more] * (len(warnings) > MOST_NAMED)


def mark_of_anomalies(cells, kind, is_anomaly):
    """What nearly all labelled anomalies and few other rows have in this column, in words, or None."""
    if kind == "date":
        cells = cells.astype("int64").where(cells.notna())
    cells = cells.fillna("" if kind == "category" else np.inf)
    n_anomalies, marks = is_anomaly.sum(), []
    for words, is_marked, few in possible_marks(cells, is_anomaly, kind):
        n_held, share = is_marked[is_anomaly].sum(), is_marked[~is_anomaly].mean()
        if n_held >= NEARLY_ALL * n_anomalies and share <= few:
            marks.append((share, words, n_held))
    if not marks:
        return None
    share, words, n_held = min(marks)
    of = "all" if n_held == n_anomalies else f"{n_held:,} of"
    few = f"only {share:.1%} of the other rows" if share else "no other row"
    return f"{words} in {of} {n_anomalies:,} labelled anomalies and in {few}"


def possible_marks(cells, is_anomaly, kind):
    """A value, all but the usual value, a range: (words, which cells these are, how few others may be so)."""
    held, others = cells[is_anomaly], cells[~is_anomaly]
    most = held.value_counts().index[0]
    yield f"is {value_text(most, kind)}", cells == most, FEW_BY_VALUE
    if kind == "category":
        usual = others.value_counts().index[0]
    else:
        held, others = np.sort(held.to_numpy(np.float64)), np.sort(others.to_numpy(np.float64))
        usual = others[len(others) // 2]
        size = int(np.ceil(NEARLY_ALL * len(held)))  # of the ranges of anomalies, one after the other
        low, high = held[: len(held) - size + 1], held[size - 1 :]
        n_others = np.searchsorted(others, high, "right") - np.searchsorted(others, low)
        best = np.argmin(np.where(np.isfinite(high), n_others, len(others)))
        if np.isfinite(high[best]):
            words = f"lies between {value_text(low[best], kind)} and {value_text(high[best], kind)}"
            yield words, cells.between(low[best], high[best]), FEW_BY_RANGE
    yield f"is not {value_text(usual, kind)}", cells != usual, FEW_BY_VALUE


def value_text(value, kind):
    """A value of a column of this kind as a text."""
    if value in ("", np.inf):
        return "empty"
    value = pd.Timestamp(int(value)) if kind == "date" else value
    return f"{value:.6g}" if isinstance(value, float) else str(value)[:40]


def warnings_about_rows(table, is_anomaly):
    """A sentence on each problem of the rows of a typed table: too few, few labelled, or equal ones."""
    n_rows, n_labelled = len(table), int(np.sum(is_anomaly))
    n_equal = int(pd.util.hash_pandas_object(table, index=False).duplicated().sum())
    if 0 < n_labelled < FEW_LABELS:
        labelled = count_of(n_labelled, "labelled anomaly", "labelled anomalies")
        yield f"WARNING: only {labelled}: too few to learn much; `detect.py next` proposes rows to check."
    if n_rows < FEW_ROWS:
        yield f"WARNING: only {n_rows} rows: too few to tell what is usual; do not rely on scores."
    if n_equal:
        equal = count_of(n_equal, f"of {n_rows:,} rows equals", f"of {n_rows:,} rows equal")
        advice = "if these are copies, remove them; they make figures of `evaluate` too high"
        yield f"WARNING: {equal} an earlier one in all columns that are used: {advice}."
