"""The table of fit or evaluate: its rows, its labels and the columns to learn from."""

from contextlib import suppress
from pathlib import Path

import numpy as np

from common.errors import DataError
from common.writing import is_one_of, name_of
from loading.files import bounded_memory
from own_data.arguments import anomaly_values
from own_data.column_kinds import choose_columns, to_numbers, typed_columns
from own_data.leakage import suspicious_columns
from own_data.table_files import table_path
from own_data.user_tables import Table, read_labeled


def labeled_rows(args, target, all_known=False, numbers=()):
    """The table of fit or evaluate, its rows as strings without the label column, and y (n,)."""
    with bounded_memory(table_path(args.table)):
        table = Table(args.table, args.header, args.encoding, args.decimal or ".")
        refuse_source(target, table.status)
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


def labeled_numbers(args, target):
    """The same for evaluate, which needs all labels, but no number as text: columns of numbers are floats.

    Reading numbers takes a third of the time of reading texts. Columns whose first rows are all numbers are
    tried; if a later cell is none, or a pipe cannot be read twice, the table is read as texts.
    """
    with suppress(DataError):  # labeled_rows says what is wrong
        numbers = columns_of_numbers(args) if Path(args.table).is_file() else []
        if numbers:
            read, texts, y = labeled_rows(args, target, all_known=True, numbers=numbers)
            if np.isfinite(texts[[name for name in numbers if name in texts]]).all(axis=None):
                return read, texts, y
    return labeled_rows(args, target, all_known=True)


def columns_of_numbers(args):
    """The columns with a number in each of their first rows, but for the label and the time."""
    with bounded_memory(args.table):
        table = Table(args.table, args.header, args.encoding)
        if table.is_parquet or args.decimal == ",":
            return []
        cells = next(table.chunks(table.columns)).drop(columns=[args.label, args.time], errors="ignore")
    return [name for name in cells if np.isfinite(to_numbers(cells[name]).to_numpy(np.float64)).all()]


def refuse_source(target, *statuses):
    """Refuse to write to a file that is read from."""
    if is_one_of(target, *statuses):
        raise DataError(f"{name_of(target)} is read from, so nothing can be written there.")


def columns_to_use(table, texts, y):
    """{column: kind} of what is learned from; warns of columns that a model should not see."""
    return typed_columns_to_use(table, texts, y)[0]


def typed_columns_to_use(table, texts, y):
    """The same, and these columns as their kinds say."""
    with bounded_memory(table.path):
        kinds = choose_columns(texts, table.path, table.decimal)
        columns = typed_columns(texts, kinds, table.decimal)
        for warning in suspicious_columns(columns, kinds, y):
            print(warning)
    return kinds, columns
