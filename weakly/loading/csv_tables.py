"""Read the CSV tables of a data set: numbers in chunks, text at once; errors name the bad cell."""

from contextlib import contextmanager

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.loading.files import check_held, open_data_file

# bytes of a table with nominal columns, which takes 10 to 20 times as much memory; census has 104 MB
TEXT_LIMIT = 2**28
# of a table of numbers: pandas holds few of them as text, and ends the process where it gets no memory
CHUNK_CELLS = 2**21


def read_text_table(path, member=None, limit=TEXT_LIMIT, **options):
    """A CSV file of texts and numbers as a DataFrame."""
    with open_data_file(path, member, limit) as stream, csv_errors(path):
        return checked_table(pd.read_csv(stream, low_memory=False, **options), path)


def read_matrix(path, label=None, columns=None, dtype=np.float64, **options):
    """X (n, D) and y (n,) of a CSV file of numbers, read a few rows at a time.

    Without `columns`, X has all columns except the label; without `label`, y is None.
    """
    parts, labels, n_rows, chunk_rows = [], [], 0, 1
    # rectangular: in the first rows of every chunk, pandas would drop surplus cells
    with (
        open_data_file(path, rectangular=True) as stream,
        csv_errors(path),
        pd.read_csv(stream, iterator=True, **options) as reader,
    ):
        while (table := next_chunk(reader, chunk_rows)) is not None:
            checked_table(table, path, n_rows)
            chunk_rows, n_rows = max(1, CHUNK_CELLS // table.shape[1]), n_rows + len(table)
            if label:
                require_columns(table, [*(columns or ()), label], path)
                labels.append(binary_labels(table.pop(label), path))
            parts.append(
                numeric_matrix(table[columns] if columns else table, path, dtype, n_rows - len(table))
            )
            check_held(2 * n_rows * parts[-1][0].nbytes)  # twice: in chunks, and joined
    return np.concatenate(parts), np.concatenate(labels) if label else None


def next_chunk(reader, n_rows):
    """The next rows of a table, or None."""
    try:
        return reader.get_chunk(n_rows)
    except StopIteration:
        return None


@contextmanager
def csv_errors(path):
    """Turn the errors that pandas raises for a file that is not a table into a DataError."""
    try:
        yield
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        if "out of memory" in str(error):
            raise  # for bounded_memory
        raise DataError(f"{path} is not a readable CSV table: {str(error).strip()}.") from None


def checked_table(table, path, first_row=0):
    """The table itself; DataError if it has no rows, or rows that are too long."""
    if not isinstance(table.index, pd.RangeIndex):  # pandas treats columns without a header as row names
        raise DataError(f"{path} is not a readable CSV table: its rows have more cells than its first line.")
    if table.empty and first_row == 0:
        raise DataError(f"{path} is a CSV table without rows.")
    return table


def numeric_matrix(table, path, dtype=np.float64, first_row=0):
    """The table as a matrix (n, D); DataError for a cell that is not a finite number."""
    if all(kind.kind in "biuf" for kind in table.dtypes):
        values = table.to_numpy(np.float64)  # all at once: column by column is slow in a wide table
    else:
        values = np.column_stack(
            [pd.to_numeric(column, errors="coerce").to_numpy(np.float64) for _, column in table.items()]
        )
    bad = np.argwhere(~np.isfinite(values.T))  # the first one, in the first column that has one
    if len(bad):
        column, row = bad[0]
        place = f"column {list(table)[column]!r}, row {first_row + row + 1}"
        raise DataError(
            f"{path} holds {shown_cell(table.iloc[row, column])} in {place}, where a number is expected."
        )
    with np.errstate(over="ignore"):  # too large for float32: infinite, which check_data_set rejects
        return values.astype(dtype)


def binary_labels(column, path, normal=0, anomaly=1):
    """y (n,): 1 for cells that are `anomaly`, 0 for those that are `normal`; DataError for any other."""
    bad = column[~column.isin((normal, anomaly))]
    if len(bad):
        raise DataError(
            f"{path} has a label other than {normal!r} and {anomaly!r}: {shown_cell(bad.iloc[0])}."
        )
    return (column == anomaly).to_numpy(np.int64)


def require_columns(table, names, path):
    """DataError for a table that lacks one of these columns."""
    for name in names:
        if name not in table.columns:
            raise DataError(f"{path} has no column named {name!r}.")


def shown_cell(cell):
    """A cell as shown in a message; pandas turns an empty one into NaN."""
    return "an empty cell" if pd.isna(cell) or cell == "" else repr(str(cell)[:40])
