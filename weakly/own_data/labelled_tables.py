"""The table of fit, next or evaluate: its rows, its labels and the columns to learn from."""

import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from weakly.errors import DataError, printable
from weakly.loading.files import bounded_memory
from weakly.own_data.arguments import anomaly_values
from weakly.own_data.checked_rows import add_checked
from weakly.own_data.column_kinds import choose_columns, to_numbers, typed_columns
from weakly.own_data.drift import is_missing
from weakly.own_data.labels import known_labels
from weakly.own_data.leakage import suspicious_columns
from weakly.own_data.table_files import table_path
from weakly.own_data.user_tables import Table, read_labeled, read_whole, refuse_one_class
from weakly.writing import is_one_of, name_of

MOST_TOLD = 10  # columns with missing cells that a message names


def labeled_rows(args, target, all_known=False, numbers=()):
    """The table of fit or evaluate, its rows as strings without the label column, and y (n,)."""
    table = open_table(args)
    refuse_source(target, table.status)
    with bounded_memory(table.path):
        texts, y = read_labeled(
            table,
            args.label,
            args.drop,
            anomaly_values(args.anomaly_value),
            args.normal_value,
            all_known,
            numbers,
        )
    return table, texts, y


def open_table(args, header=None, decimal="."):
    """The table that the arguments name, with this header and decimal mark unless they say otherwise."""
    header = header if args.header is None else args.header
    with bounded_memory(table_path(args.table)):
        return Table(args.table, header, args.encoding, args.decimal or decimal)


def partly_labeled_rows(args, table, dropped_too=False):
    """The rows of a table of fit or next as strings without the label column, and their Labels.

    The Labels include those in the files of --checked.
    """
    values = anomaly_values(args.anomaly_value)
    with bounded_memory(table.path):
        table.must_have([args.label], "of --label")
        table.must_have(args.drop, "of --drop")
        left_out = set() if dropped_too else set(args.drop) - {args.label}
        texts = read_whole(table, [name for name in table.columns if name not in left_out])
        cells = texts.pop(args.label)
        labels = known_labels(cells, values, args.normal_value, table.path, table.decimal)
        for path in args.checked:
            labels = add_checked(labels, path, table, texts, cells, args)
        refuse_one_class(labels.y, table, args.label)
    return texts, labels


def print_labels(table, labels):
    """Print how many rows have which label, and what 0 was taken to mean."""
    print(f"{len(labels.y):,} rows of {table.path}: {labels.in_words()}")
    if labels.meaning:
        print(f"Labels: {labels.meaning}")


def statuses_of(paths):
    """The statuses (os.stat) of those paths that exist."""
    return [os.stat(path) for path in paths if os.path.exists(path)]


def labeled_numbers(args, target):
    """Like labeled_rows, for evaluate: all labels must be known, and columns of numbers are floats.

    Reading numbers takes a third of the time of reading texts. Columns whose first rows are all numbers are
    read as numbers. If a later cell is not a number, the table is read again, as texts. A pipe, which cannot
    be read twice, is always read as texts.
    """
    with suppress(DataError):  # labeled_rows says what is wrong
        numbers = columns_of_numbers(args) if Path(args.table).is_file() else []
        if numbers:
            read, texts, y = labeled_rows(args, target, all_known=True, numbers=numbers)
            if np.isfinite(texts[[name for name in numbers if name in texts]]).all(axis=None):
                return read, texts, y
    return labeled_rows(args, target, all_known=True)


def columns_of_numbers(args):
    """The columns with a number in each of their first rows, except the label and the time."""
    with bounded_memory(args.table):
        table = Table(args.table, args.header, args.encoding)
        if table.is_parquet or args.decimal == ",":
            return []
        cells = next(table.chunks(table.columns)).drop(columns=[args.label, args.time], errors="ignore")
    return [name for name in cells if np.isfinite(to_numbers(cells[name]).to_numpy(np.float64)).all()]


def refuse_source(target, *statuses):
    """Refuse to write to an input file."""
    if is_one_of(target, *statuses):
        raise DataError(f"{name_of(target)} is an input file, so it cannot be written to: name another file.")


def columns_to_use(table, texts, y):
    """{column: kind} of the columns to learn from, and these columns, typed; warns about suspicious ones."""
    with bounded_memory(table.path):
        kinds = choose_columns(texts, table.path, table.decimal)
        columns = typed_columns(texts, kinds, table.decimal)
        if missing := missing_in_words(columns, kinds):
            print(missing)
        for warning in suspicious_columns(columns, kinds, y):
            print(warning)
    return kinds, columns


def missing_in_words(table, kinds):
    """How many cells of which typed columns are missing, the most first; empty if none are."""
    counts = {name: int(is_missing(table[name], kind).sum()) for name, kind in kinds.items()}
    order = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    if not order:
        return ""
    told = [f"{printable(name)} {counts[name]:,} ({counts[name] / len(table):.1%})" for name in order]
    others = f" and {len(told) - MOST_TOLD:,} more columns" if len(told) > MOST_TOLD else ""
    return f"Missing cells: {', '.join(told[:MOST_TOLD])}{others}."
