"""A user's tables, CSV or Parquet, read as text; they are not trusted."""

import csv
import uuid
import zlib
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.loading import files
from weakly.loading.files import LINE_LIMIT, SEPARATORS, NotText, bounded_memory
from weakly.own_data.column_kinds import DATE, is_missing, to_numbers
from weakly.own_data.labels import anomaly_labels
from weakly.own_data.table_files import MarkedText, TableFile, wrong_encoding

ROWS_AT_ONCE, CELLS_AT_ONCE = 16_384, 2**22
LOOKED_AT = 100  # lines read to decide whether the first one has names
# two columns beyond the last: _end is in the first of them, or in the second after a surplus separator
EXTRA, BEYOND = "\0", "\0\0"
csv.field_size_limit(LINE_LIMIT)  # which limits a cell too


class Table:
    """A table in a file, read as text, a chunk of rows at a time.

    `header` says whether the first line has the column names; None: yes, but not if it looks like data.
    `columns` are the names, `decimal` is the decimal mark, `status` the result of os.stat, `size` the bytes
    of a file on disk, and `position` how many of them were read so far.
    """

    def __init__(self, path, header=None, encoding="utf-8", decimal="."):
        self._file = TableFile(path)
        self.path, self.size, self.status = self._file.path, self._file.size, self._file.status
        self.position, self._encoding, self._doubt = 0, encoding, ""
        self.is_parquet = self._file.is_parquet
        self._parquet: Any = self._open_parquet() if self.is_parquet else None
        # the numbers of a Parquet file are not text
        self.decimal, self.header = ("." if self._parquet else decimal), header is not False
        if self._parquet:
            self.columns = self._parquet.schema_arrow.names
        else:
            self.columns = self._guarded(self._open_text, header)
        repeated = pd.Index(self.columns)[pd.Index(self.columns).duplicated()]
        if len(repeated):
            raise DataError(f"{self.path} has more than one column {repeated[0]!r}.")

    def _open_parquet(self):
        try:
            from pyarrow.parquet import ParquetFile  # here, because it is optional
        except ImportError:
            raise DataError(
                f"{self.path} is a Parquet file: to read it, install pyarrow first (pip install pyarrow)."
            ) from None
        return self._guarded(lambda: ParquetFile(self._file.seekable()))

    def _open_text(self, header):
        """The column names; `_text` has the rows, each with `_end` as one more cell.

        This shows which rows have too few or too many cells, while the parser decides what a row is.
        """
        lines = self._file.text(self._encoding)
        line = lines.readline()
        if not line.strip():
            raise DataError(
                f"{self.path} or its first line is empty: the first line must have the column names."
            )
        self._separator = self._find_separator(line)
        names = next(self._csv_reader([line.strip("\r\n")], strict=header is not False))
        below = list(islice(lines, LOOKED_AT))
        if header is None and looks_like_data(names, self._csv_reader(below), self.decimal):
            raise DataError(
                f"The first line of {self.path} looks like data, not like column names: "
                "add --no-header if there are none, or --header if these are the names."
            )
        if header is None and to_numbers(pd.Series(names, dtype=object), self.decimal).notna().any():
            self._doubt = ": if the first line is data, add --no-header"
        if header is False:
            below = [line, *below]
            names = [f"column_{number}" for number, _ in enumerate(next(self._csv_reader(below)), start=1)]
        # a row of a single column cannot lack a cell, and an empty line is not a row
        self._end = f"\x1e{uuid.uuid4().hex[:8]}" if len(names) > 1 else ""
        self._mark = self._end and self._separator + self._end
        self._text = MarkedText("".join(below), lines, self._mark)
        return [name.strip() or "(unnamed)" for name in names]

    def _find_separator(self, line):
        """The separator that gives the most cells; a comma that may be a decimal mark is the last choice."""
        n_cells = {one: len(next(csv.reader([line], delimiter=one))) for one in SEPARATORS.decode()}
        if self.decimal == "," and max(n for one, n in n_cells.items() if one != ",") > 1:
            del n_cells[","]
        return max(n_cells, key=n_cells.__getitem__)

    def _csv_reader(self, lines, **options):
        return csv.reader(lines, delimiter=self._separator, skipinitialspace=True, **options)

    def fingerprint(self):
        """Size and SHA-256 of the file, all of which was read."""
        return self._file.fingerprint()

    def must_have(self, names, purpose):
        """Refuse a table that lacks one of these columns."""
        lacking = [name for name in names if name not in self.columns]
        if lacking and len(self.columns) == 1:
            only = f"{self.path} has only one column, {self.columns[0][:60]!r}"
            raise DataError(f"{only}: columns must be separated by , ; tab or |.")
        if lacking:
            found = ", ".join(self.columns)[:500] + self._doubt
            columns = "column" if len(lacking) == 1 else "columns"
            raise DataError(
                f"{self.path} lacks the {columns} {', '.join(lacking)} {purpose}; it has {found}."
            )

    def _guarded(self, read, *arguments):
        """What a function returns; a problem with the file becomes an error of one sentence."""
        try:
            with bounded_memory(self.path):
                return read(*arguments)
        except (UnicodeDecodeError, NotText):
            raise wrong_encoding(self.path, self._encoding) from None
        # the errors of pandas and pyarrow are ValueErrors
        except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
            reason = str(error).strip().rstrip(".")
            if "C error: Expected" in reason:  # Expected 3 fields, saw 4
                reason = "a row has more cells than the first line"
            elif "EOF inside string" in reason:
                reason = "a quote is not closed"
            raise DataError(f"{self.path} cannot be read as a table: {reason}.") from None

    def _chunk_rows(self):
        """ROWS_AT_ONCE, or fewer of a wide table."""
        return max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // len(self.columns)))

    def chunks(self, columns, numbers=()):
        """Tables of strings with these columns; an empty cell is an empty string.

        The columns `numbers` of a CSV file become floats; each of their cells must be a number.
        """
        n_rows = 0
        pieces = self._parquet_pieces(columns) if self._parquet else self._text_pieces(columns, numbers)
        for piece in pieces:
            piece = piece.set_axis(range(n_rows, n_rows + len(piece)))
            n_rows += len(piece)
            if self._parquet and self.size:
                self.position = self.size * n_rows // self._parquet.metadata.num_rows
            elif self.size:
                self.position = self._file.position()
            yield piece
        if n_rows == 0:
            raise DataError(f"{self.path} has no rows.")

    def _parquet_pieces(self, columns):
        pieces = self._parquet.iter_batches(self._chunk_rows(), columns=columns)
        while (piece := self._guarded(next, pieces, None)) is not None and len(piece):
            texts = piece.to_pandas()
            yield texts.astype(object).where(texts.notna(), "").astype(str)[columns]

    def _text_pieces(self, columns, numbers):
        # all columns, because with usecols pandas accepts rows with too many cells
        as_texts = {"na_filter": False, "skipinitialspace": True, "sep": self._separator}
        names, at_once, n_rows = [*self.columns, EXTRA, BEYOND], self._chunk_rows(), 0
        as_texts["dtype"] = {name: np.float64 if name in numbers else str for name in names}
        pieces = self._guarded(
            lambda: pd.read_csv(self._text, header=None, names=names, chunksize=at_once, **as_texts)
        )
        while (piece := self._guarded(next, pieces, None)) is not None and len(piece):
            whole = self._whole_rows(piece, n_rows)
            n_rows += len(whole)
            if len(whole):
                yield self._without_marks(whole[columns])

    def _whole_rows(self, piece, n_before):
        """The rows without blank lines, each with a cell for every column; `n_before` rows came before."""
        if not isinstance(piece.index, pd.RangeIndex):  # pandas took the first cells for the names of rows
            raise DataError(
                f"{self.path} cannot be read as a table: a row has more cells than the first line."
            )
        whole = (piece[EXTRA] == self._end) | ((piece[EXTRA] == "") & (piece[BEYOND] == self._end))
        if not whole.all() and self._end:
            blank = (piece[self.columns[0]] == "") & (piece[self.columns[1]] == self._end)
            piece, whole = piece[~blank], whole[~blank]
        if not whole.all():
            place = whole.argmin()
            fewer = (piece[self.columns].iloc[place] == self._end).any()
            raise DataError(
                f"Row {n_before + place + 1:,} of {self.path} has {'fewer' if fewer else 'more'} cells "
                "than the first line."
            )
        return piece

    def _without_marks(self, texts):
        """The cells as they are in the file: a line break in quotes has a mark too."""
        if self._text.quoted and self._end:
            for name in texts.columns:
                if texts[name].dtype == object and self._end in "".join(texts[name]):
                    texts = texts.copy()
                    texts[name] = texts[name].str.replace(self._mark, "", regex=False)
        return texts


def looks_like_data(names, rows, decimal="."):
    """Whether a first line has no names: each cell is empty, a number, a date, or occurs again in its column.

    Numbers that count up from 0 or 1 are names, as pandas writes them.
    """
    cells = pd.Series(names, dtype=object).str.strip()
    missing = is_missing(cells)
    if any(list(cells[~missing]) == [str(first + i) for i in range((~missing).sum())] for first in (0, 1)):
        return False
    plain = missing | to_numbers(cells, decimal).notna() | cells.str.fullmatch(DATE)
    rows = [row for row in rows if row != names]  # a header that is repeated, because files were joined
    return all(
        plain[place] or any(row[place : place + 1] == [name] for row in rows)
        for place, name in enumerate(names)
    )


def read_labeled(table, label, drop=(), anomaly_values=None, normal_value=None, all_known=False, numbers=()):
    """A whole Table as strings without the label column, and y (n,); numbers: as in Table.chunks.

    y is 1 for rows that are labelled as anomalies and 0 for all others.
    """
    table.must_have([label], "of --label")
    table.must_have(drop, "of --drop")
    texts = read_whole(table, [name for name in table.columns if name == label or name not in drop], numbers)
    cells = texts.pop(label)
    y = anomaly_labels(cells, anomaly_values, normal_value, all_known, table.path, table.decimal)
    refuse_one_class(y, table, label)
    return texts, y


def read_whole(table, columns, numbers=()):
    """These columns of a Table, all rows at once; strings except `numbers`, as in Table.chunks."""
    chunks, held = [], 0
    for chunk in table.chunks(columns, numbers):
        chunks.append(chunk)
        held += chunk.memory_usage(deep=True).sum()
        if held > 0.75 * files.MEMORY_LIMIT:  # pandas may crash at the limit itself
            raise MemoryError
    return pd.concat(chunks)


def refuse_one_class(y, table, label):
    """Refuse labels y (n,) without any anomaly, or without any other row."""
    if y.all() or not y.any():
        found = "only anomalies" if y.all() else "no labelled anomaly"
        needed = "labelled anomalies and other rows are needed"
        raise DataError(f"{table.path} has {found} in column {label!r}, but {needed}.")
