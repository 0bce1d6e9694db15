"""Which rows of a table are labelled, by its label column and by files of `next` that a person has filled in.

    labels = known_labels(cells, None, None, "events.csv")
    labels.y, labels.normal      # (n,) 1 for an anomaly; whether a person has checked it and found it normal

| cell         | without options                                  | --anomaly-value | --normal-value |
|--------------|--------------------------------------------------|-----------------|----------------|
| 1, true, yes | anomaly                                          | as any other    | anomaly        |
| 0, false, no | normal if other cells are empty, else unlabelled | as any other    | as any other   |
| the value    |                                                  | anomaly         | normal         |
| missing      | unlabelled                                       | unlabelled      | unlabelled     |
| any other    | refused                                          | unlabelled      | refused        |

The rows of a filled-in file are found by their number and then compared with the table cell by cell, so the
file of another table is refused. A spreadsheet may have reformatted cells, so values are compared, not texts.
"""

import re
from typing import NamedTuple

import numpy as np
import pandas as pd

from weakly.command_line import say
from weakly.errors import DataError, printable
from weakly.loading.files import bounded_memory
from weakly.numbers import count_of
from weakly.own_data.arguments import anomaly_values
from weakly.own_data.columns import (
    DATE,
    as_texts,
    choose_columns,
    is_missing,
    tidy,
    to_numbers,
    typed_columns,
)
from weakly.own_data.leakage import suspicious_columns, warnings_about_rows
from weakly.own_data.tables import Table

LISTED = 10  # labels in a message, or columns, at most
TRUE, FALSE = {"1", "true", "yes"}, {"0", "false", "no"}  # as canonical() has them
OWN_COLUMNS = ("row", "score", "why_1", "why_2", "why_3")  # of a file of `next`
SAME_NUMBER = 1e-9  # relative: a spreadsheet keeps 15 digits
FORMULA = re.compile(r"[=+\-@'\t\r]")  # a spreadsheet takes a cell that starts so for a formula or a mark
PLAIN_NUMBER = re.compile(r"[+-]?[\d.,]+([eE][+-]?\d+)?%?")


class Labels(NamedTuple):
    """The labels of a table's rows, both (n,), and what cells with 0 were taken to mean."""

    y: np.ndarray  # 1 for a labelled anomaly, else 0
    normal: np.ndarray  # bool: checked by a person and found normal
    meaning: str = ""

    @property
    def unlabeled(self):
        """Which rows nobody has checked (n,)."""
        return (self.y == 0) & ~self.normal


def canonical(values):
    """Texts in one form (m,): 1, 1.0 and "1 " are one label, as are True and true; empty if missing."""
    texts = pd.Series(list(values), dtype=object).str.strip()
    numbers = to_numbers(texts.str.replace(",", "."))
    texts = texts.mask(numbers.notna(), numbers.map("{:.17g}".format)).mask(is_missing(texts), "")
    lower = texts.str.casefold()
    return texts.mask(lower.isin(TRUE | FALSE), lower).to_numpy()


def known_labels(cells, values, normal_value, path):
    """The Labels of a column (n,) of texts; an unclear cell is refused. values: of --anomaly-value."""
    codes, levels = pd.factorize(cells)
    names = canonical(levels)
    for value in values or ():
        if canonical([value])[0] not in names:
            counts = cells[cells != ""].value_counts()[:LISTED]
            labels = ", ".join(f"{cell[:40]} ({count:,})" for cell, count in counts.items()) or "no labels"
            raise DataError(
                f"{path} has no row with the label {value!r} of --anomaly-value; "
                f"the most frequent ones in column {cells.name!r}: {labels}."
            )
    anomalous = TRUE if values is None else {*canonical(values)}
    normal = set() if normal_value is None else {*canonical([normal_value])}
    known = anomalous | (normal or FALSE)
    unclear = ~np.isin(names, [*known, ""])[codes]
    if unclear.any() and (values is None or normal):
        row, wanted = unclear.argmax(), ", ".join(sorted(known))
        label = f"Row {row + 1:,} of {path} has the label {cells.iloc[row]!r}"
        raise DataError(f"{label} instead of {wanted}: see --anomaly-value and --normal-value.")
    meaning, zeros = "", levels[np.isin(names, [*FALSE])]
    if values is None and not normal and len(zeros):
        one = next(iter(levels[np.isin(names, [*TRUE])]), 1)
        meaning = f"unlabelled, because no cell is empty; if not, add --normal-value {zeros[0]}"
        if "" in names:
            normal = FALSE
            meaning = f"checked and normal, because other cells are empty; if not, add --anomaly-value {one}"
        meaning = f"{zeros[0]} means {meaning}."
    is_anomaly, is_normal = (np.isin(names, [*some])[codes] for some in (anomalous, normal))
    return Labels(is_anomaly.astype(np.int64), is_normal & ~is_anomaly, meaning)


def labelled_rows(args, table, dropped_too=False):
    """The rows of a Table without its label column, raw, and their Labels, with those of --checked files.

    Without --label it is the column `label`. A table without any has no labels but those of the files.
    """
    table.must_have(args.drop, "of --drop")
    if args.label and not args.checked:
        table.must_have([args.label], "of --label")
    args.label = args.label or "label"
    has_labels = args.label in table.columns
    left_out = set() if dropped_too else set(args.drop) - {args.label}
    names = [name for name in table.columns if name not in left_out]
    raw = table.read(names, verbatim=[args.label] if has_labels else [])
    cells = raw.pop(args.label) if has_labels else pd.Series("", raw.index)
    labels = known_labels(cells, anomaly_values(args.anomaly_value), args.normal_value, table.path)
    for path in args.checked:
        labels = add_checked(labels, path, table, raw, cells, args)
    if labels.y.all():
        raise DataError(f"{table.path} has only anomalies in column {args.label!r}: other rows are needed.")
    return raw, labels


def print_labels(table, labels):
    """Print how many rows have which label, and what 0 was taken to mean."""
    anomalies = count_of(labels.y.sum(), "labelled anomaly", "labelled anomalies")
    others = f"{labels.normal.sum():,} known normal, {labels.unlabeled.sum():,} unlabelled"
    print(f"{count_of(len(labels.y), 'row')} of {table.path}: {anomalies}, {others}.")
    if labels.meaning:
        print(f"Labels: {labels.meaning}")


def columns_to_use(table, raw, y):
    """The columns to learn from, as choose_columns describes them, and these columns, typed; warns."""
    with bounded_memory(table.path):
        columns = choose_columns(raw, table.path, table.notation)
        typed = typed_columns(raw, columns, table.notation.missing)
    counts = typed.isna().sum().sort_values(ascending=False, kind="stable")
    counts = counts[counts > 0][:LISTED]
    if len(counts):
        cells = [f"{printable(str(name))} {n:,} ({n / len(typed):.1%})" for name, n in counts.items()]
        print(f"Missing cells: {', '.join(cells)}{', ...' * (len(cells) == LISTED)}.")
    for warning in (*suspicious_columns(typed, columns, y), *warnings_about_rows(typed, y)):
        say(warning)
    return columns, typed


# ---------------------------------------------------------------------------- files of `next`


def own_names(columns):
    """{name: name in the file} of OWN_COLUMNS; each gets a _ at its end if the table uses one already."""
    end = ""
    while {name + end for name in OWN_COLUMNS} & {*columns}:
        end += "_"
    return {name: name + end for name in OWN_COLUMNS}


def for_spreadsheet(cell):
    """A cell that no spreadsheet takes for a formula: a ' stands before what could be one."""
    is_text = isinstance(cell, str) and not PLAIN_NUMBER.fullmatch(cell)
    return f"'{cell}" if is_text and FORMULA.match(cell) else cell


def from_spreadsheet(cell):
    """The cell as it was before for_spreadsheet."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell


def add_checked(labels, path, table, raw, cells, args):
    """The Labels of a table with those of a checked file added; raw, cells: its rows, its label column."""
    file = Table(path, table.notation._replace(header=True, encoding=args.encoding))
    number = own_names([*table.columns, args.label])["row"]
    file.must_have([number, args.label], "of a file that `next` wrote")
    wanted = [number, args.label, *(name for name in raw.columns if name in file.columns)]
    rows = file.read(wanted, verbatim=wanted)
    places = places_of(rows.pop(number), rows.drop(columns=args.label), raw, path, table)
    is_anomaly, is_normal = checked_labels(rows[args.label], cells, args, path)
    y, normal = labels.y.copy(), labels.normal.copy()
    y[places[is_anomaly]], normal[places[is_normal]] = 1, True
    both = np.flatnonzero((y == 1) & normal) + 1
    if len(both):
        wrong = f"{path} does not agree with other labels of {table.path}"
        raise DataError(f"{wrong}: row {both[0]:,} is an anomaly and normal. Correct one of them.")
    n_open = (~is_anomaly & ~is_normal).sum()
    counts = f"{count_of(len(rows), 'row')}, {count_of(is_anomaly.sum(), 'anomaly', 'anomalies')}"
    print(f"{path}: {counts}, {is_normal.sum():,} normal, {n_open:,} not filled in.")
    return Labels(y, normal, labels.meaning)


def places_of(numbers, rows, raw, path, table):
    """Positions (m,) in the raw table of a checked file's rows, numbered from 1; refuses other rows."""
    if not len(rows.columns):
        raise DataError(f"{path} has no column in common with {table.path}, so its rows are not recognised.")
    counted = to_numbers(numbers)
    wrong = ~(counted.between(1, len(raw)) & (counted % 1 == 0))
    if wrong.any():
        n_rows = f"the table has {count_of(len(raw), 'row')}: is it a file of another table?"
        raise DataError(f"{path} names the row {numbers[wrong].iloc[0]!r}, but {n_rows}")
    places = counted.to_numpy(int) - 1
    for name in rows:
        given, expected = rows[name].map(from_spreadsheet), as_texts(raw[name].iloc[places])
        differ = ~are_same(given, expected.set_axis(rows.index))
        if differ.any():
            row, cell, right = (cells[differ][0] for cells in (places + 1, given.array, expected.array))
            has = f"row {row:,} has {cell[:40]!r} in column {name!r}, but the table has {str(right)[:40]!r}"
            raise DataError(f"{path} does not match {table.path}: {has}.")
    return places


def are_same(given, expected):
    """Whether cells (m,) have the values of others: texts in upper or lower case, numbers, dates, nothing.

    A spreadsheet writes dates in its own way, so any two dates count as the same.
    """
    texts, right = (tidy(cells).str.casefold() for cells in (given, expected))
    same = (texts == right) | (texts.isna() & right.isna())
    same |= texts.str.fullmatch(DATE, case=False, na=False) & right.str.fullmatch(DATE, case=False, na=False)
    for marks in ((".", ""), (",", ".")):
        same |= np.isclose(to_numbers(texts, *marks), to_numbers(right), rtol=SAME_NUMBER, atol=0)
    return same.to_numpy(bool)


def checked_labels(given, cells, args, path):
    """Whether each cell of a checked file means an anomaly, or a normal row (m,); if neither, it is empty.

    1, true and yes mean an anomaly, and 0, false and no a normal row, unless the table uses these labels
    itself. The labels of the table can be used, all but those of --anomaly-value for a checked, normal row.
    """
    values, names = anomaly_values(args.anomaly_value), canonical(given)
    used = {*canonical(cells.unique())} - {""}
    anomalous = TRUE if values is None else {*canonical(values)} | (TRUE - used)
    normal = (FALSE | used | {*canonical([args.normal_value or ""])}) - anomalous - {""}
    unclear = ~np.isin(names, [*anomalous, *normal, ""])
    if unclear.any():
        known = ", ".join(sorted(anomalous | normal))
        raise DataError(
            f"{path} has the label {given.iloc[unclear.argmax()]!r}, which is not one of {known}."
        )
    return np.isin(names, [*anomalous]), np.isin(names, [*normal])
