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
from weakly.own_data.columns import DATE, choose_columns, is_missing, typed_columns
from weakly.own_data.leakage import suspicious_columns, warnings_about_rows
from weakly.own_data.tables import Table

LISTED = 10  # labels in a message, or columns, at most
TRUE, FALSE = frozenset({"1", "true", "yes"}), frozenset({"0", "false", "no"})  # as canonical() has them
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


def known_labels(cells, values, normal_value, path):
    """The Labels of a column (n,) of texts; an unclear cell is refused. values: of --anomaly-value."""
    levels = pd.Series(cells.unique(), dtype=object)
    names = canonical(levels, truth=values is None)
    anomalous = TRUE if values is None else frozenset(canonical(values, truth=False))
    refuse_absent(values, names, cells, path)
    normal = frozenset() if normal_value is None else frozenset(canonical([normal_value], values is None))
    is_empty, is_anomaly = names == "", names.isin(anomalous)
    if values is None or normal:
        known = anomalous | (normal or FALSE)
        unclear = ~is_empty & ~names.isin(known)
        if unclear.any():
            row = np.argmax(cells.isin(levels[unclear]))
            raise DataError(
                f"Row {row + 1:,} of {path} has the label {cells.iloc[row]!r} instead of "
                f"{', '.join(sorted(known))}: see --anomaly-value and --normal-value."
            )
    meaning = ""
    if normal_value is None and values is None and names.isin(FALSE).any():
        zero, one = (levels[names.isin(words)].iloc[:1].sum() for words in (FALSE, TRUE))
        if is_empty.any():
            normal, told, other = FALSE, "checked and normal, because other cells are empty", "unlabelled"
            option = f"--anomaly-value {one or 1}"
        else:
            told, other = "unlabelled, because no cell is empty", "checked and normal"
            option = f"--normal-value {zero}"
        meaning = f"{zero} means {told}; if it means {other} here, add {option}."
    y = cells.map(dict(zip(levels, is_anomaly))).to_numpy(np.int64)
    is_normal = cells.map(dict(zip(levels, names.isin(normal)))).to_numpy(bool)
    return Labels(y, is_normal & (y == 0), meaning)


def canonical(values, truth):
    """Texts in one form: 1, 1.0 and "1 " are one label, a missing cell is empty.

    If `truth`, true, false, yes and no are in lower case.
    """
    texts = pd.Series(list(values), dtype=object).str.strip()
    numbers = pd.to_numeric(texts.str.replace(",", "."), errors="coerce").astype(np.float64)
    named = texts.mask(np.isfinite(numbers), numbers.map("{:.17g}".format)).mask(is_missing(texts), "")
    lower = named.str.casefold()
    return named.mask(lower.isin(TRUE | FALSE), lower) if truth else named


def refuse_absent(values, names, cells, path):
    """Refuse an anomaly value that is in no row; the message lists the most frequent labels."""
    absent = [value for value in values or () if canonical([value], truth=False)[0] not in set(names)]
    if absent:
        counts = cells[cells != ""].value_counts()
        found = [f"{cell[:40]} ({count:,})" for cell, count in counts.items()]
        others = f" and {len(found) - LISTED:,} more" if len(found) > LISTED else ""
        raise DataError(
            f"{path} has no row with the label {absent[0]!r} of --anomaly-value; "
            f"column {cells.name!r} has {', '.join(found[:LISTED]) or 'no labels'}{others}."
        )


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
    counts = typed.isna().sum()
    counts = counts[counts > 0].sort_values(ascending=False, kind="stable")
    told = [f"{printable(str(name))} {n:,} ({n / len(typed):.1%})" for name, n in counts.items()]
    if told:
        others = f" and {count_of(len(told) - LISTED, 'more column')}" if len(told) > LISTED else ""
        print(f"Missing cells: {', '.join(told[:LISTED])}{others}.")
    for warning in (*suspicious_columns(typed, columns, y), *warnings_about_rows(typed, y)):
        say(warning)
    return columns, typed


# ---------------------------------------------------------------------------- files of `next`


def own_names(columns):
    """{name: name in the file} of OWN_COLUMNS; a name that the table uses already gets a _ at its end."""
    names = {}
    for name in OWN_COLUMNS:
        taken = name
        while taken in columns:
            taken += "_"
        names[name] = taken
    return names


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
    shared = [name for name in raw.columns if name in file.columns]
    wanted = [number, args.label, *shared]
    rows = file.read(wanted, verbatim=wanted)
    places = row_places(rows[number], len(raw), path)
    refuse_other_rows(rows[shared], raw.iloc[places][shared], places, path, table)
    is_anomaly, is_filled = checked_labels(rows[args.label], cells, args, path)
    y, normal = labels.y.copy(), labels.normal.copy()
    for place, anomalous in zip(places[is_filled], is_anomaly[is_filled]):
        if normal[place] if anomalous else y[place]:
            was, now = ("normal", "an anomaly") if anomalous else ("an anomaly", "normal")
            raise DataError(
                f"Row {place + 1:,} of {table.path} is already labelled {was}, but {path} says {now}: "
                "correct one of the two."
            )
        y[place], normal[place] = anomalous, not anomalous
    n_anomalies, n_filled = int(is_anomaly[is_filled].sum()), int(is_filled.sum())
    counts = f"{count_of(len(rows), 'row')}, {count_of(n_anomalies, 'anomaly', 'anomalies')}"
    print(f"{path}: {counts}, {n_filled - n_anomalies:,} normal, {len(rows) - n_filled:,} not filled in.")
    return Labels(y, normal, labels.meaning)


def row_places(cells, n_rows, path):
    """Positions (m,) of the rows with these numbers, which count from 1."""
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
    wrong = ~((numbers >= 1) & (numbers <= n_rows) & (numbers % 1 == 0))
    if wrong.any():
        raise DataError(
            f"{path} names the row {cells.iloc[wrong.argmax()]!r}, but the table has "
            f"{count_of(n_rows, 'row')}: is it a file of another table?"
        )
    return numbers.astype(int) - 1


def refuse_other_rows(given, expected, places, path, table):
    """Refuse a file with a row that is not the table's; both tables (m, columns) have the same columns."""
    if not len(given.columns):
        raise DataError(
            f"{path} has no column in common with {table.path}, so its rows cannot be recognised."
        )
    for name in given.columns:
        found, right = given[name].map(from_spreadsheet), expected[name]
        differ = ~are_same(found.to_numpy(), right.to_numpy())
        if differ.any():
            at = differ.argmax()
            cell, wanted = (str(cells.iloc[at])[:40] for cells in (found, right))
            raise DataError(
                f"{path} does not match {table.path}: row {places[at] + 1:,} has {cell!r} in column "
                f"{name!r}, but the table has {wanted!r}."
            )


def are_same(given, expected):
    """Whether cells (m,) have the values of others: texts in upper or lower case, numbers, dates, nothing.

    A spreadsheet writes dates in its own way, so any two dates count as the same.
    """
    texts, right = (
        pd.Series(["" if pd.isna(cell) else str(cell) for cell in cells], dtype=object).str.strip()
        for cells in (given, expected)
    )
    same = (texts.str.casefold() == right.str.casefold()) | (is_missing(texts) & is_missing(right))
    same |= texts.str.fullmatch(DATE) & right.str.fullmatch(DATE)
    with_comma = texts.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    for read in (texts, with_comma):
        number, other = (pd.to_numeric(cells, errors="coerce").astype(np.float64) for cells in (read, right))
        same |= np.isclose(number, other, rtol=SAME_NUMBER, atol=0)
    return same.to_numpy(bool)


def checked_labels(given, cells, args, path):
    """Whether each cell of a checked file means an anomaly, and whether it is filled (m,).

    1, true and yes mean an anomaly, and 0, false and no a normal row, unless the table uses these labels
    itself. The labels of the table can be used too: all but those of --anomaly-value mean normal, because the
    row was checked. Any other label is refused.
    """
    values = anomaly_values(args.anomaly_value)
    truth = values is None
    used = set(canonical(pd.unique(cells), truth)) - {""}
    anomalous = set() if truth else set(canonical(values, truth))
    normal = used - anomalous if args.normal_value is None else set(canonical([args.normal_value], truth))
    others = set() if truth else used
    anomalous |= TRUE - others
    normal = (normal | (FALSE - others)) - anomalous
    names = canonical(given, truth or not others & (TRUE | FALSE))
    unclear = (~names.isin(anomalous | normal) & (names != "")).to_numpy()
    if unclear.any():
        known = ", ".join(sorted(anomalous | normal))
        raise DataError(
            f"{path} has the label {given.iloc[unclear.argmax()]!r}, which is not one of {known}."
        )
    return names.isin(anomalous).to_numpy(), (names != "").to_numpy()
