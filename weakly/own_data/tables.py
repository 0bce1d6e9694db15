"""A user's table in a file, which pandas reads: CSV (plain, gzipped or zipped), JSON lines or Parquet.

    table = Table("events.csv", Notation(decimal=","))
    raw = table.read(table.columns, verbatim=["label"])     # one DataFrame
    for raw in table.chunks(names): ...

A column of a raw DataFrame is float64 if pandas reads all its cells as numbers, datetime64 if a Parquet file
has dates, else texts (object); a missing cell is NaN. Columns in `verbatim` have texts as in the file.
No file is trusted: its lines, cells, unpacked bytes and memory are limited.
"""

import codecs
import csv
import hashlib
import io
import json
import math
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.loading import files
from weakly.loading.files import bounded_memory, guarded
from weakly.own_data.columns import MISSING, as_texts, is_missing, to_numbers

ROWS_AT_ONCE, CELLS_AT_ONCE, LINES_AT_ONCE = 16_384, 2**21, 1_000
MOST_COLUMNS = 10_000  # the time that pandas takes grows with their square
LOOKED_AT = 100  # lines read to decide on the separator
# what pandas itself takes for missing cells, so that it reads the others as numbers
SPELLINGS = [change(text) for text in MISSING for change in (str, str.upper, str.title)] + ["NaN"]
csv.field_size_limit(2**24)  # characters of a cell


class Notation(NamedTuple):
    """How the cells of a table are written."""

    header: bool | None = None  # whether the first line has the names; None: recognised
    encoding: str = "utf-8"
    errors: str = "strict"  # what is done with other bytes, as open() has it
    decimal: str = ""  # the mark, if it shall not be recognised
    missing: tuple = ()  # spellings of a missing cell beside the usual ones


class Table:
    """A table in a file; "-" is standard input.

    `columns` are the names (column_1, column_2, ... if the first line has none), `status` is that of os.stat,
    `decimal` the mark of all its numbers, empty if unknown.
    kinds: the columns of a model; what pandas would read in another way, such as categories, is then text.
    """

    def __init__(self, path, notation=Notation(), kinds=None):  # noqa: B008 - it cannot be changed
        self.path = Path("standard input" if path == "-" else path)
        self.notation, self.decimal, self._kinds = notation, notation.decimal, kinds or {}
        self._is_json, self._line, self._parquet = False, 1, None
        self._open(path)
        with self._problems_reported():
            is_utf8 = codecs.lookup(notation.encoding).name == "utf-8"
            self._encoding = "utf-8-sig" if is_utf8 else notation.encoding  # a mark at its start is no text
            self.columns = self._parquet_names() if self._start == b"PAR1" else self._text_names()
        if len(self.columns) > MOST_COLUMNS:
            raise DataError(f"{self.path} has rows of more than {MOST_COLUMNS:,} cells.")
        repeated = pd.Index(self.columns)[pd.Index(self.columns).duplicated()]
        if len(repeated):
            raise DataError(f"{self.path} has more than one column {repeated[0]!r}.")

    def _open(self, path):
        """Open the file; what comes from a pipe is first copied to a temporary one."""
        try:
            raw: Any = open(0 if path == "-" else path, "rb", closefd=path != "-")  # noqa: SIM115
            self.status = os.fstat(raw.fileno())
            if not raw.seekable():
                pipe, raw = raw, tempfile.TemporaryFile()  # noqa: SIM115
                shutil.copyfileobj(guarded(pipe, self.path, files.MEMORY_LIMIT), raw)
                raw.seek(0)
            self._raw, self._start = raw, raw.read(4)
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror}.") from None

    def fingerprint(self):
        """{bytes, sha256} of the file."""
        digest = hashlib.sha256()
        self._raw.seek(0)
        for block in iter(lambda: self._raw.read(2**20), b""):
            digest.update(block)
        return {"bytes": self._raw.tell(), "sha256": digest.hexdigest()}

    @contextmanager
    def _problems_reported(self):
        """Limit the memory; a problem with the file becomes an error of one sentence."""
        try:
            with bounded_memory(self.path):
                yield
        except (UnicodeError, LookupError):
            advice = "name its encoding, such as --encoding latin-1, or save it as CSV if it is another file"
            raise DataError(
                f"{self.path} is not text in {self.notation.encoding.upper()}: {advice}."
            ) from None
        # the errors of pandas and pyarrow are ValueErrors
        except (OSError, ValueError, csv.Error) as error:
            reason = str(error).strip().rstrip(".")
            if "EOF inside string" in reason or "field limit" in reason:
                reason = f"a quote in line {self._line:,} is not closed"
            raise DataError(f"{self.path} cannot be read as a table: {reason}.") from None

    # ---------------------------------------------------------------------- names

    def _parquet_names(self):
        try:
            from pyarrow.parquet import ParquetFile  # here, because it is optional
        except ImportError:
            raise DataError(f"{self.path} is a Parquet file: install pyarrow to read it.") from None
        self._raw.seek(0)
        self._parquet = ParquetFile(self._raw)
        return self._parquet.schema_arrow.names

    def _text_names(self):
        """The column names; also decides between CSV and JSON lines, and on the separator."""
        top = [*islice(self._lines(), LOOKED_AT)]
        if not top or not top[0].strip():
            raise DataError(f"{self.path} or its first line, which must have the column names, is empty.")
        if top[0].startswith("{"):
            self._is_json, self.decimal = True, "."
            return list(dict.fromkeys(name for row in json_rows(self._lines()) for name in row))
        self._separator = find_separator(top)
        names = next(self._cells(top))
        cells, known = pd.Series(names, dtype=object), {*names} & {*self._kinds}
        is_data = is_missing(cells) | to_numbers(cells).notna() | to_numbers(cells, ",").notna()
        is_plain = (is_data.all() and names[0]) or "column_1" in self._kinds  # pandas writes ,0,1 as names
        self._has_names = (
            bool(known or not is_plain) if self.notation.header is None else self.notation.header
        )
        if not self._has_names and self.notation.header is None:
            print(f"The first line of {self.path} has no names, so its columns are column_1, column_2, ...")
        return [self._has_names and name.strip() or f"column_{place}" for place, name in enumerate(names, 1)]

    def must_have(self, names, purpose):
        """Refuse a table that lacks one of these columns."""
        lacking = ", ".join(name for name in names if name not in self.columns)
        if lacking:
            has = ", ".join(self.columns)[:500]
            has += "; columns must be separated by , ; tab or |" * (len(self.columns) == 1)
            columns = "columns" if ", " in lacking else "column"
            raise DataError(f"{self.path} lacks the {columns} {lacking} {purpose}; it has {has}.")

    # ---------------------------------------------------------------------- lines and texts

    def _lines(self):
        """The lines of the unpacked text, with \n as the only line end."""
        self._raw.seek(0)
        with files.damage_reported(self.path):
            is_gzip = self._start.startswith(b"\x1f\x8b")  # whatever its name is
            stream = files.unpacked(self._raw, Path("table.gz") if is_gzip else self.path, "")
        limit = math.inf if stream is self._raw else files.SIZE_LIMIT
        for line in io.TextIOWrapper(guarded(stream, self.path, limit), self._encoding, self.notation.errors):
            if "\0" in line:  # pandas would end the cell there
                raise UnicodeError
            yield line

    def _cells(self, lines):
        return csv.reader(lines, delimiter=self._separator, skipinitialspace=True)

    def _csv_lines(self):
        """The lines of the rows; refuses a row without as many cells as there are columns."""
        taken: list[str] = []

        def taking():
            for line in self._lines():
                taken.append(line)
                yield line

        rows, n_columns = self._cells(taking()), len(self.columns)
        if self._has_names:
            next(rows)
            taken.clear()
        next_line = rows.line_num + 1
        for row in rows:
            self._line, next_line = next_line, rows.line_num + 1
            n_cells = len(row) - (len(row) > n_columns and not row[-1])  # a separator at the end
            if n_cells != n_columns and "".join(row).strip(" \t"):
                has = f"{'more' if n_cells > n_columns else 'fewer'} cells than the first line"
                line = f"Line {self._line:,} of {self.path} has {has}"
                raise DataError(f"{line}: {n_cells:,} instead of {n_columns:,}.")
            yield from taken
            taken.clear()

    # ---------------------------------------------------------------------- cells

    def read(self, columns, verbatim=()):
        """All rows of these columns."""
        return pd.concat(self.chunks(columns, verbatim, at_once=None), copy=False)

    def chunks(self, columns, verbatim=(), at_once=ROWS_AT_ONCE):
        """DataFrames of these columns, each with the next rows; at_once: None for all."""
        at_once, n_rows = at_once and max(1, min(at_once, CELLS_AT_ONCE // len(self.columns))), 0
        as_pandas = {"kind": "number", "decimal": self.decimal or "."}.items()
        kinds = {} if self._parquet else self._kinds  # whose columns have types
        as_text = {*verbatim, *(name for name, one in kinds.items() if not as_pandas <= one.items())}
        with self._problems_reported():
            for frame in self._frames(columns, verbatim, as_text, at_once):
                frame.index = range(n_rows, n_rows + len(frame))
                n_rows += len(frame)
                if len(frame):
                    yield cleaned(frame, columns, verbatim, as_text)
        if n_rows == 0:
            raise DataError(f"{self.path} has no rows.")

    def _frames(self, columns, verbatim, as_text, at_once):
        if self._parquet:
            for batch in self._parquet.iter_batches(at_once or ROWS_AT_ONCE, columns=columns):
                yield batch.to_pandas(date_as_object=False)
        elif self._is_json:
            rows = json_rows(self._lines())
            while block := list(islice(rows, at_once)):
                yield pd.DataFrame(block, columns=self.columns, dtype=object)
        else:
            missing = [*SPELLINGS, *self.notation.missing]
            yield from pd.read_csv(
                Lines(self._csv_lines()),
                names=self.columns,
                usecols=columns,
                header=None,
                index_col=False,
                sep=self._separator,
                skipinitialspace=True,
                decimal=self.decimal or ".",
                float_precision="high",  # as to_numbers reads
                dtype=dict.fromkeys(as_text, str),
                na_values={name: missing for name in columns if name not in verbatim},
                keep_default_na=False,
                low_memory=False,
                chunksize=at_once or sys.maxsize,
            )


class Lines(io.TextIOBase):
    """Lines as a file that pandas can read."""

    def __init__(self, lines):
        self._lines = lines

    def read(self, size=-1):
        return "".join(islice(self._lines, LINES_AT_ONCE))


def cleaned(frame, columns, verbatim, as_text):
    """A raw DataFrame of what pandas or pyarrow read."""
    cells = {}
    for name in columns:
        column, kind = frame[name], frame[name].dtype.kind
        if kind == "M":
            column = pd.to_datetime(column, utc=True).dt.tz_localize(None).astype("datetime64[ns]")
        if name in as_text or kind not in "iufM":
            column = as_texts(column)
        elif kind != "M":
            numbers = column.to_numpy(np.float64)
            column = np.where(np.isfinite(numbers), numbers, np.nan)
        cells[name] = column.fillna("") if name in verbatim else column
    return pd.DataFrame(cells, frame.index, copy=False)


def json_rows(lines):
    """Each line of a text as {name: text of the cell}; numbers are as in the file."""
    read = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).decode
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                yield {json_text(name): json_text(cell) for name, cell in read(line).items()}
        except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
            raise ValueError(f'line {number:,} is not JSON such as {{"amount": 1.5}}') from None


def json_text(cell):
    """A JSON value that is no list or object as a text that UTF-8 can express, without control characters."""
    text = cell if isinstance(cell, str) else {True: "true", False: "false", None: ""}[cell]
    return text.encode("utf-8", "replace").decode().replace("\0", "").replace("\r", "\n")


def find_separator(lines):
    """The separator with the most cells in the first row; at first any but , with as many in all rows."""
    counts = {one: [len(row) for row in csv.reader(lines, delimiter=one) if row] for one in ",;\t|"}
    steady = [one for one in ";\t|" if counts[one][0] > 1 and len({*counts[one]}) == 1]
    return max(steady or counts, key=lambda one: counts[one][0])
