"""What the columns of a user's table are: numbers, truth values, categories, or nothing to learn from."""

import re

import numpy as np
import pandas as pd

from weakly.errors import DataError, printable

MISSING = ("", "na", "n/a", "nan", "null", "none", "?")  # in a column of numbers, in upper or lower case
TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
DATE = (
    r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?"
    r"|\d{1,2}[ -][A-Z][a-z]{2,8}[ -]\d{2,4}([ T].*)?"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
COMMAS_TO_POINTS = str.maketrans(",.", ".,")
WRONG_NUMBERS = {  # by the decimal mark: another mark, or marks between thousands, but no IP address
    ".": r"[+-]?[\d.' ]*,[\d.,' ]*|[+-]?\d+",
    ",": r"[+-]?\d*\.\d+|[+-]?\d{1,3}(\.\d{3})+(,\d+)?|[+-]?\d+(,\d+)?",
}
ID_NAME = r"(^|[\W_])(id|ID|Id|uuid|UUID)$|[a-z]I[dD]$"
MANY_LEVELS = 20  # a column with fewer different texts is always a category


def is_missing(texts):
    """Whether each text of a column of numbers or of truth values stands for no value."""
    return texts.str.strip().str.casefold().isin(MISSING)


def to_numbers(texts, decimal="."):
    """Texts as numbers, NaN where a text is not a number: 1.5 is not one if the decimal mark is a comma."""
    points = texts if decimal == "." else texts.str.translate(COMMAS_TO_POINTS)
    return pd.to_numeric(points, errors="coerce")


def other_mark(decimal):
    return "," if decimal == "." else "."


def rare_below(n_rows):
    """How many training rows must have a level, or a missing cell, for it to get a feature of its own."""
    return min(10, max(2, n_rows // 100))


def column_kind(name, texts, decimal="."):
    """(kind of the column, None), or (None, why it is dropped)."""
    if texts.dtype == np.float64:  # a column without missing cells was read as numbers
        return number_kind(name, texts, len(texts))
    values = to_numbers(texts, decimal)
    others = values.isna()
    if not others.all() and is_missing(texts[others]).all():
        return number_kind(name, values[~others], len(texts))
    filled = texts[~is_missing(texts)]
    levels = pd.Series(filled.unique(), dtype=object).str.strip()
    if len(levels) < 2 and (len(levels) == 0 or len(filled) == len(texts)):
        return None, "constant"
    if set(levels.str.casefold()) == {"true", "false"}:
        return "boolean", None
    numbers = to_numbers(levels, decimal)
    mostly_different = len(levels) >= MANY_LEVELS and len(levels) > 0.5 * len(filled)
    if levels.str.fullmatch(DATE).all():
        return None, "a date or time"
    refuse_unclear(name, levels, numbers, decimal, mostly_different)
    if mostly_different:
        return None, "an id"
    if filled.value_counts().iloc[0] < rare_below(len(texts)):
        return None, "without a frequent value"
    return "category", None


def number_kind(name, numbers, n_rows):
    """The same for a column of numbers, from the numbers in its filled cells."""
    if numbers.min() == numbers.max():  # but its missing cells may be informative
        told_by_gaps = min(len(numbers), n_rows - len(numbers)) >= rare_below(n_rows)
        return ("number", None) if told_by_gaps else (None, "constant")
    if len(numbers) >= MANY_LEVELS and (numbers % 1 == 0).all() and numbers.is_unique:
        counts = len(numbers) == n_rows and np.ptp(numbers) < 10 * n_rows
        if counts or re.search(ID_NAME, name):
            return None, "an id"
    return "number", None


def refuse_unclear(name, levels, numbers, decimal, mostly_different):
    """Refuse a column whose levels look like badly written numbers, or like free text."""
    unclear = levels[numbers.isna()].iloc[0]
    if levels.str.fullmatch(WRONG_NUMBERS[decimal]).all():
        raise DataError(
            f"Column {name!r} holds numbers like {unclear!r}: add --decimal {other_mark(decimal)} if that is "
            f"their decimal mark, or write them as 1234{decimal}5, or leave out the column: --drop {name}."
        )
    if len(levels) >= MANY_LEVELS and numbers.notna().mean() > 0.5:
        raise DataError(
            f"Column {name!r} holds numbers, but also {unclear[:40]!r}: "
            f"correct it, or leave it out with --drop {name}."
        )
    if mostly_different and levels.str.count(r"\s+").median() >= 2:
        raise DataError(
            f"Column {name!r} is free text, such as {levels[0][:40]!r}, "
            f"which cannot be used: leave it out with --drop {name}."
        )


def choose_columns(texts, path, decimal="."):
    """{column: kind} of the columns to use; prints which ones are dropped, and why."""
    kinds, dropped = {}, {}
    for name in texts.columns:
        kind, why = column_kind(name, texts[name], decimal)
        if kind:
            kinds[name] = kind
        else:
            dropped.setdefault(why, []).append(name)
    reasons = "; ".join(f"{', '.join(names)} ({why})" for why, names in dropped.items())
    if not kinds:
        raise DataError(f"{path} has no column to learn from: {reasons or 'there is only the label'}.")
    counts = [
        f"{list(kinds.values()).count(kind)} {kind}"
        for kind in ("number", "boolean", "category")
        if kind in kinds.values()
    ]
    print(f"Columns: {', '.join(counts)}." + (f" Dropped: {printable(reasons)}." if reasons else ""))
    return kinds


def typed_columns(texts, kinds, decimal="."):
    """The columns of a table of strings, converted to their kinds.

    Numbers and truth values become floats (NaN: missing), categories stay as they are. Messages number the
    rows from 1, by the table's index.
    """
    columns = texts[list(kinds)].copy()
    for name, kind in kinds.items():
        if kind == "category" or texts[name].dtype == np.float64:
            continue
        cells = texts[name]
        values = (
            to_numbers(cells, decimal) if kind == "number" else cells.str.strip().str.casefold().map(TRUTH)
        )
        columns[name] = values.astype(np.float64)
        unclear = np.flatnonzero(~np.isfinite(columns[name]))
        wrong = unclear[~is_missing(cells.iloc[unclear]).to_numpy()] if len(unclear) else unclear
        if len(wrong):
            row, cell = texts.index[wrong[0]] + 1, cells.iloc[wrong[0]]
            hint = other_mark_hint(cell, decimal) if kind == "number" else ""
            raise DataError(f"Row {row:,}: column {name!r} holds {cell!r} instead of a {kind}{hint}.")
    return columns


def other_mark_hint(cell, decimal):
    """What to do about a cell that would be a number with the other decimal mark; empty if it would not."""
    other = other_mark(decimal)
    if np.isnan(to_numbers(pd.Series([cell], dtype=object), other).iloc[0]):
        return ""
    return f": add --decimal {other} if that is the decimal mark of this table"
