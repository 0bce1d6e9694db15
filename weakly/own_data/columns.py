"""What the columns of a user's table are, and their cells as numbers, truth values, categories and dates.

    columns = choose_columns(raw, path, notation)    # raw: a DataFrame of Table.read
    table = typed_columns(raw, columns)              # float64, object or datetime64; NaN or NaT: missing

`columns` is {name: {"kind": "number" | "truth" | "category" | "date", ...}} of plain values. A number has its
`decimal` and `thousands` mark and, if its cells have one, the `affix`: %, a currency or a unit. A date has
its `format`. A raw column is float64, datetime64 or has texts, in which a missing cell is NaN.
"""

import re

import numpy as np
import pandas as pd

from weakly.errors import DataError, printable
from weakly.numbers import count_of

MISSING = frozenset(
    """na n/a #n/a n.a. <na> nan null (null) #null! none nil nat unknown missing (missing) #div/0! #num!
    #value! #ref! #name? inf +inf -inf infinity +infinity -infinity ? - -- --- .""".split()
) | {"", "#n/a n/a"}
TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
DATE = r"(\d{1,4}([-/.])\d{1,2}\2\d{1,4}|\d{1,2}[ -][A-Z][a-z]{2,8}[ -]\d{2,4})([ T].*)?"
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
DAYS = ("%d.%m.", "%d/%m/", "%m/%d/", "%d-%m-", "%m-%d-", "%d %b ", "%d-%b-", "%d %B ")
DATE_FORMATS = ["ISO8601", *(day + year + clock for day in DAYS for year in ("%Y", "%y") for clock in CLOCKS)]

MARKS = ("decimal", "thousands")
NOTATIONS = [(".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'")]
ODD_CHARACTERS = {0x2212: "-", 0x2019: "'", **dict.fromkeys((0xA0, 0x2007, 0x2009, 0x202F), " ")}
COMMAS_TO_POINTS = str.maketrans(",.", ".,")
CURRENCY = (
    r"(?:US|CA|AU|R)?[$€£¥₹₽₩₺₫₦₱฿¢]|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|Fr\.|Rs\.?|kr\.?"
)
UNIT = r"[%‰]|°?[^\W\d_][^\W_]*(?:/[^\W\d_]+)?[.]?"
DIGITS = r"(?:[0-9][0-9.,' ]*?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
WITH_AFFIX = rf"\A([+-]?) ?({CURRENCY}|) ?([+-]?) ?({DIGITS}) ?({CURRENCY}|{UNIT}|)\Z"
SAMPLE = 1_000  # cells that a notation is tried on before all are
MOST_UNITS = 3  # of a column of numbers: with more it is something else, such as postal codes
MANY_LEVELS = 20  # a column with fewer different texts is always a category
ID_NAME = r"(^|[\W_])(id|ID|Id|uuid|UUID)$|[a-z]I[dD]$"
WORDS = {"number": ["number", "numbers"], "truth": ["truth value", "truth values"]}
WORDS |= {"category": ["category", "categories"], "date": ["date", "dates"]}
DETAILS = {"affix": "in", "format": "written as"}


def is_missing(texts, missing=()):
    """Whether each text of a column stands for no value; missing: spellings beside the usual ones."""
    further = {str(one).strip().casefold() for one in missing}
    return texts.isna() | texts.str.strip().str.casefold().isin(MISSING | further)


def tidy(texts, missing=()):
    """Texts without spaces around them, true and false in lower case, and NaN for the missing ones."""
    codes, levels = pd.factorize(texts)
    levels = pd.Series(levels, dtype=object).astype(str).str.strip()
    lower = levels.str.lower()  # pandas reads TRUE as true
    levels = levels.mask(lower.isin(TRUTH), lower).mask(is_missing(levels, missing))
    return pd.Series(np.array([*levels, np.nan], dtype=object)[codes], texts.index)


def as_texts(cells):
    """Numbers, truth values or dates as texts, whole numbers without a point."""
    texts = cells.map("{:.15g}".format) if cells.dtype.kind == "f" else cells.astype(str)
    return texts.astype(object).where(cells.notna())


def rare_below(n_rows):
    """How many training rows must have a level, or a missing cell, for it to get a feature of its own."""
    return min(10, max(2, n_rows // 100))


# ---------------------------------------------------------------------------- numbers and dates in texts


def to_numbers(texts, decimal=".", thousands=""):
    """Texts as float64, NaN where a text is no number in this notation: 1.5 is none with a decimal comma."""
    texts = texts.str.translate(ODD_CHARACTERS)
    if thousands:
        group, mark = re.escape(thousands), re.escape(decimal)
        grouped = rf"[+-]?([1-9][0-9]{{0,2}}({group}[0-9]{{3}})+|[0-9]+)({mark}[0-9]*)?"
        texts = texts.where(texts.str.fullmatch(grouped, na=False)).str.replace(thousands, "", regex=False)
    if decimal == ",":
        texts = texts.str.translate(COMMAS_TO_POINTS)
    numbers = pd.to_numeric(texts, errors="coerce").astype(np.float64)
    return numbers.where(np.isfinite(numbers))


def without_affix(texts):
    """The numbers in texts such as "21 %" and "-€5", still as texts, and what stands around them.

    Both are NaN where a text is something else.
    """
    parts = texts.str.translate(ODD_CHARACTERS).str.extract(WITH_AFFIX).astype(object)
    return parts[0] + parts[2] + parts[3], parts[1] + parts[4]


def numbers_of(texts, column):
    """The cells of a column of numbers as float64, NaN where a cell is not one, or has another unit."""
    affix = column.get("affix", "")
    texts, found = without_affix(texts)
    texts = texts.where(found.isin([affix] if affix == "%" else [affix, ""]))  # 0.2 may be 20%
    return to_numbers(texts, column["decimal"], column["thousands"])


def possible_readings(texts, notation):
    """The descriptions that a column of numbers or dates with texts like these may have.

    Those with the decimal mark of the notation come first.
    """
    units = without_affix(texts)[1].value_counts().index
    affixes = [{"affix": unit} if unit else {} for unit in units] if len(units) <= MOST_UNITS else []
    marks = sorted(NOTATIONS, key=lambda one: one[0] != notation.decimal)
    numbers = [{"kind": "number", **dict(zip(MARKS, one))} for one in marks]
    are_dates = texts.str.fullmatch(DATE).mean() > 0.5
    dates = [{"kind": "date", "format": one} for one in DATE_FORMATS if are_dates]
    candidates = [*(one | affix for affix in affixes for one in numbers), *dates]
    return [one for one in candidates if typed_cells(texts, one).notna().any()]


def reading_of(name, levels, notation):
    """How a column with these texts has numbers or dates, or None; refuses what may mean two things.

    Refuses a few odd cells among many, too.
    """
    readings = possible_readings(levels.iloc[:SAMPLE], notation)
    values = [typed_cells(levels, one) for one in readings]
    if not readings or np.any([some.notna() for some in values], axis=0).mean() <= 0.5:
        return None
    best = int(np.argmax([some.notna().sum() for some in values]))  # the first of them
    reading, is_read = readings[best], values[best].notna()
    holds = f"Column {name!r} holds {WORDS[reading['kind']][1]} such as"
    otherwise = f"or leave out the column with --drop {name}."
    if not is_read.all():
        if len(levels) < MANY_LEVELS:
            return None
        usual, odd = levels[is_read].iloc[0][:40], levels[~is_read].iloc[0][:40]
        way = f"correct it, add --missing {odd} if it means nothing"
        raise DataError(f"{holds} {usual!r}, but also {odd!r}: {way}, {otherwise}")
    differ = np.any([some.notna().all() & (some != values[best]) for some in values], axis=0)
    is_number = reading["kind"] == "number"
    is_plain = reading.get("decimal") == "." or reading.get("format") == "ISO8601"
    if differ.any() and not is_plain and not (is_number and notation.decimal):
        way = "add --decimal , or --decimal ." if is_number else "write them as 2024-03-31"
        unclear = f"{holds} {levels[differ].iloc[0][:40]!r}, which may mean two things"
        raise DataError(f"{unclear}: {way}, {otherwise}")
    return reading


# ---------------------------------------------------------------------------- columns


def column_kind(name, cells, notation):
    """The description of a column, or in words why it is dropped."""
    n_rows, is_text = len(cells), cells.dtype == object
    filled = (tidy(cells, notation.missing) if is_text else cells).dropna()
    column = {"kind": "number", "decimal": notation.decimal or ".", "thousands": ""}
    if is_text:
        levels = filled.drop_duplicates()
        column = reading_of(name, levels, notation) or {"kind": "category"}
        column = {"kind": "truth"} if {*levels} == {"true", "false"} else column
        filled = numbers_of(filled, column) if column["kind"] == "number" else filled
    elif cells.dtype.kind == "M":
        column = {"kind": "date", "format": "ISO8601"}
    is_constant = len(filled) == 0 or filled.min() == filled.max()
    n_gaps = n_rows - len(filled)
    if is_constant and min(len(filled), n_gaps) < rare_below(n_rows):  # else its gaps may be informative
        return "constant"
    if column["kind"] == "number" and (filled % 1 == 0).all() and filled.is_unique:
        counts = not n_gaps and np.ptp(filled) < 10 * n_rows
        if len(filled) >= MANY_LEVELS and (counts or re.search(ID_NAME, name)):
            return "an id"
    if column["kind"] == "category":
        if len(levels) >= MANY_LEVELS and len(levels) > 0.5 * len(filled):
            if levels.str.count(r"\s+").median() < 2:
                return "an id"
            text = f"Column {name!r} is free text, such as {levels.iloc[0][:40]!r}"
            raise DataError(f"{text}, which cannot be used: leave it out with --drop {name}.")
        if filled.value_counts().iloc[0] < rare_below(n_rows):
            return "without a frequent value"
    return column


def choose_columns(raw, path, notation):
    """The columns to learn from, as typed_columns takes them; prints which ones are dropped, and why."""
    kinds = {name: column_kind(name, raw[name], notation) for name in raw}
    columns = {name: one for name, one in kinds.items() if isinstance(one, dict)}
    commas = [name for name in columns if columns[name].get("decimal") == ","]
    points = [name for name in columns if raw[name].dtype == np.float64 and (raw[name] % 1 > 0).any()]
    if commas and points and not notation.decimal:
        marks = f"Column {commas[0]!r} has decimal commas, but column {points[0]!r} has points"
        raise DataError(f"{marks}: add --decimal , or --decimal . to say which are decimal marks.")
    whys = dict.fromkeys(one for one in kinds.values() if isinstance(one, str))
    reasons = "; ".join(f"{', '.join(name for name in kinds if kinds[name] == why)} ({why})" for why in whys)
    if not columns:
        raise DataError(f"{path} has no column to learn from: {reasons or 'there is only the label'}.")
    counted = [column["kind"] for column in columns.values()]
    counts = [count_of(counted.count(kind), *WORDS[kind]) for kind in WORDS if kind in counted]
    print(f"Columns: {', '.join(counts)}." + (f" Dropped: {printable(reasons)}." if reasons else ""))
    return columns


def typed_columns(raw, columns, missing=(), unreadable=None):
    """The columns of a raw DataFrame, converted to their kinds (n, len(columns)).

    A cell that cannot be read raises DataError; with a set `unreadable`, it is missing, and the number of its
    row, counted from 1, is added to the set.
    """
    typed = {}
    for name, column in columns.items():
        cells = tidy(raw[name], missing) if raw[name].dtype == object else raw[name]
        typed[name] = typed_cells(cells, column)
        wrong = cells[typed[name].isna() & cells.notna()]
        if unreadable is not None:
            unreadable.update((wrong.index + 1).tolist())
        elif len(wrong):
            details = [f" {word} {column[key]}" for key, word in DETAILS.items() if key in column]
            what = "".join([WORDS[column["kind"]][0], *details])
            hint = "--decimal and " * (column["kind"] == "number")
            cell = f"Row {wrong.index[0] + 1:,}: column {name!r} holds {str(wrong.iloc[0])[:80]!r}"
            raise DataError(f"{cell} instead of a {what}: see {hint}--missing.")
    return pd.DataFrame(typed, raw.index, copy=False)


def typed_cells(cells, column):
    """The cells of one column in the type of its kind, NaN or NaT where that is not possible."""
    kind = column["kind"]
    if (kind, cells.dtype.kind) in (("number", "f"), ("date", "M")) and column.get("affix") != "%":
        return cells
    texts = cells if cells.dtype == object else as_texts(cells)
    if kind == "number":
        return numbers_of(texts, column)
    if kind == "date":
        dates = pd.to_datetime(texts, format=column["format"], errors="coerce", utc=True)
        return dates.dt.tz_localize(None).astype("datetime64[ns]")
    return texts.map(TRUTH).astype(np.float64) if kind == "truth" else texts


def as_written(column, decimal):
    """The column of a model as a table with this decimal mark has it; as it is if that is empty."""
    if not decimal or column.get("decimal", decimal) == decimal:
        return column
    return column | {mark: column[mark].translate(COMMAS_TO_POINTS) for mark in MARKS}
