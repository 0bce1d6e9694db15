"""Labels from a file of `detect.py next` whose label column a person has filled in.

    labels = add_checked(labels, "to_check.csv", table, texts, cells, args)

A row is found by its number and then compared with the table cell by cell, so the file of another table is
refused. A spreadsheet may have reformatted cells: numbers are compared as numbers, with a point or a comma as
their decimal mark, texts regardless of case, and dates not at all. Columns may have been removed.
"""

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.own_data.arguments import anomaly_values
from weakly.own_data.column_kinds import DATE, other_mark, to_numbers
from weakly.own_data.labels import FALSE, TRUE, Labels, canonical_labels, same_labels
from weakly.own_data.user_tables import Table, read_whole

OWN_COLUMNS = ("row", "score", "why_1", "why_2", "why_3")  # of a file of `next`
SAME_NUMBER = 1e-9  # relative: a spreadsheet keeps 15 digits


def own_names(columns):
    """{name: name in the file} of OWN_COLUMNS; a name that the table uses already gets a _ at its end."""
    names = {}
    for name in OWN_COLUMNS:
        taken = name
        while taken in columns:
            taken += "_"
        names[name] = taken
    return names


def add_checked(labels, path, table, texts, cells, args):
    """The Labels of a table with those of a checked file added to them.

    texts, cells: the table's rows and its label column, all strings; args: label, encoding, anomaly_value and
    normal_value of the command line.
    """
    file = Table(path, True, args.encoding, table.decimal)
    number, label = own_names(table.columns)["row"], args.label
    file.must_have([number, label], "of a file that `next` wrote")
    shared = [name for name in texts.columns if name in file.columns]
    rows = read_whole(file, [number, label, *shared])
    is_filled = (rows[label].str.strip() != "").to_numpy()
    places = row_places(rows[number], len(texts), file.path)
    refuse_other_rows(rows[shared], texts.iloc[places][shared], places, file.path, table)
    values = anomaly_values(args.anomaly_value)
    is_anomaly = checked_labels(rows[label], cells, values, args.normal_value, file.path, table.decimal)
    y, normal = labels.y.copy(), labels.normal.copy()
    for place, anomalous in zip(places[is_filled], is_anomaly[is_filled]):
        if normal[place] if anomalous else y[place]:
            was, now = ("normal", "an anomaly") if anomalous else ("an anomaly", "normal")
            raise DataError(
                f"Row {place + 1:,} of {table.path} is already labelled {was}, but {file.path} says {now}: "
                "correct one of the two."
            )
        y[place], normal[place] = anomalous, not anomalous
    n_anomalies, n_filled = int(is_anomaly[is_filled].sum()), int(is_filled.sum())
    counts = f"{n_anomalies:,} anomalies, {n_filled - n_anomalies:,} normal"
    print(f"{file.path}: {len(rows):,} rows, {counts}, {len(rows) - n_filled:,} not filled in.")
    return Labels(y, normal, labels.meaning)


def row_places(cells, n_rows, path):
    """Positions (m,) of the rows with these numbers, which count from 1."""
    numbers = to_numbers(cells).to_numpy(np.float64)
    wrong = ~((numbers >= 1) & (numbers <= n_rows) & (numbers % 1 == 0))
    if wrong.any():
        raise DataError(
            f"{path} names the row {cells.iloc[wrong.argmax()]!r}, but the table has {n_rows:,} rows: "
            "is it a file of another table?"
        )
    return numbers.astype(int) - 1


def refuse_other_rows(given, expected, places, path, table):
    """Refuse a file with a row that is not the table's; both tables (m, columns) have the same columns."""
    if not len(given.columns):
        raise DataError(
            f"{path} has no column in common with {table.path}, so its rows cannot be recognised."
        )
    for name in given.columns:
        differ = ~are_same(given[name].reset_index(drop=True), expected[name], table.decimal)
        if differ.any():
            at = differ.argmax()
            found, right = (cells[name].iloc[at][:40] for cells in (given, expected))
            raise DataError(
                f"{path} does not match {table.path}: row {places[at] + 1:,} has "
                f"{found!r} in column {name!r}, but the table has {right!r}."
            )


def are_same(given, expected, decimal):
    """Whether cells (m,) have the same value as others, even if a spreadsheet reformatted them."""
    given, expected = (pd.Series(cells.to_numpy(), dtype=object).str.strip() for cells in (given, expected))
    is_date = given.str.fullmatch(DATE) & expected.str.fullmatch(DATE)
    same = (is_date | (given.str.casefold() == expected.str.casefold())).to_numpy(bool)
    right = to_numbers(expected, decimal).to_numpy(np.float64)
    for mark in (decimal, other_mark(decimal)):
        same |= np.isclose(to_numbers(given, mark).to_numpy(np.float64), right, rtol=SAME_NUMBER, atol=0)
    return same


def checked_labels(given, cells, values, normal_value, path, decimal):
    """Whether each filled cell of a checked file means an anomaly (m,); an unknown label is refused.

    1, true and yes mean an anomaly, and 0, false and no a normal row, unless the table uses these labels
    itself. The labels of the table can be used too: all but those of --anomaly-value mean normal, because the
    row was checked.
    """
    truth = values is None
    used = set(canonical_labels(pd.unique(cells), decimal, truth)) - {""}
    anomalous = set() if truth else set(same_labels(values, decimal))
    normal = (
        used - anomalous if normal_value is None else set(canonical_labels([normal_value], decimal, truth))
    )
    others = set() if truth else used
    anomalous |= TRUE - others
    normal = (normal | (FALSE - others)) - anomalous
    labels = canonical_labels(given, decimal, truth or not others & (TRUE | FALSE))
    unclear = (~labels.isin(anomalous | normal) & (labels != "")).to_numpy()
    if unclear.any():
        known = ", ".join(sorted(label.removesuffix(".0") for label in anomalous | normal))
        raise DataError(
            f"{path} has the label {given.iloc[unclear.argmax()]!r}, which is not one of {known}."
        )
    return labels.isin(anomalous).to_numpy()
