"""A user's table in a file, read chunk by chunk: CSV (plain, gzipped or zipped), JSON lines or Parquet.

    table = Table("events.csv", Notation(decimal=","))
    raw = table.read(table.columns, verbatim=["label"])     # one DataFrame
    for raw in table.chunks(names): ...

A column of a raw DataFrame is float64 if pandas reads all its cells as numbers, else it has texts (object)
without spaces around them; a missing cell is NaN. Columns in `verbatim` have texts as they are in the file.
No file is trusted: its lines, cells, unpacked bytes and memory are limited.
"""

import codecs
import csv
import gzip
import hashlib
import io
import json
import math
import os
import re
import stat
import tempfile
import zlib
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.loading import files
from weakly.loading.files import LINE_LIMIT, SEPARATORS, NotText, bounded_memory, guarded, open_zip
from weakly.own_data.columns import DATE, MISSING, as_texts, is_missing, tidy, to_numbers

ROWS_AT_ONCE, CELLS_AT_ONCE = 16_384, 2**21
MOST_COLUMNS = 10_000
LOOKED_AT = 100  # lines read to decide whether the first one has names
GZIP, PARQUET, ZIPS = b"\x1f\x8b", b"PAR1", (b"PK\3\4", b"PK\5\6")  # the second is an empty archive
# what pandas itself takes for missing cells, so that it reads the others as numbers
SPELLINGS = [change(text) for text in MISSING for change in (str, str.upper, str.title)] + ["NaN"]
csv.field_size_limit(LINE_LIMIT)  # which limits a cell too


class Notation(NamedTuple):
    """How the cells of a table are written; None and "": recognised."""

    header: bool | None = None  # whether the first line has the column names
    encoding: str = "utf-8"
    decimal: str = ""
    thousands: str = ""
    missing: tuple = ()  # spellings of a missing cell beside the usual ones

    @property
    def point(self):
        """The decimal mark that pandas takes; other columns stay texts."""
        return self.decimal or ("," if self.thousands == "." else ".")


class Table:
    """A table in a file; "-" is standard input.

    `columns` are the names, `header` says whether the first line had them, `status` is the result of os.stat,
    `size` the bytes of a file on disk, else None, and `position` how many of them were read so far.
    kinds: the columns of a model; what pandas would read in another way, such as categories, is then text.
    """

    def __init__(self, path, notation=Notation(), kinds=None):  # noqa: B008 - it cannot be changed
        self.path = Path("standard input" if path == "-" else path)
        self.notation, self.position, self.header = notation, 0, notation.header is not False
        if notation.point == notation.thousands:
            raise DataError("The marks of --decimal and --thousands must differ.")
        self._is_json, self._last_row = False, 1
        self._parquet: Any = None
        self._open(path)
        self.columns = self._guarded(self._parquet_names if self._start == PARQUET else self._text_names)
        as_pandas = {"kind": "number", "decimal": self.notation.point}.items()
        self._texts = [name for name, column in (kinds or {}).items() if not as_pandas <= column.items()]
        repeated = pd.Index(self.columns)[pd.Index(self.columns).duplicated()]
        if len(repeated):
            raise DataError(f"{self.path} has more than one column {repeated[0]!r}.")
        if len(self.columns) > MOST_COLUMNS:
            raise DataError(f"{self.path} has more than {MOST_COLUMNS:,} columns.")

    def _open(self, path):
        """Open the file; what comes from a pipe is first copied to a temporary one."""
        try:
            raw: Any = open(0 if path == "-" else path, "rb", closefd=path != "-")  # noqa: SIM115
            self.status = os.fstat(raw.fileno())
            self.size = self.status.st_size if stat.S_ISREG(self.status.st_mode) else None
            if not raw.seekable():
                pipe, raw = raw, tempfile.TemporaryFile()  # noqa: SIM115
                while data := pipe.read1(2**20):
                    raw.write(data)
                    if raw.tell() > files.MEMORY_LIMIT:
                        raise DataError(f"{self.path} has more than {files.MEMORY_LIMIT} bytes.")
                raw.seek(0)
            self._raw, self._first, self._start = raw, raw.tell(), raw.read(4)
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror}.") from None

    def fingerprint(self):
        """{bytes, sha256} of the file."""
        digest, at = hashlib.sha256(), self._first
        while data := os.pread(self._raw.fileno(), 2**20, at):
            digest.update(data)
            at += len(data)
        return {"bytes": at - self._first, "sha256": digest.hexdigest()}

    def _lines(self):
        """The unpacked text from its beginning, with \\n as the only line end."""
        self._raw.seek(self._first)
        stream, limit = self._raw, math.inf
        if self._start.startswith(GZIP):
            stream, limit = gzip.GzipFile(fileobj=self._raw), files.SIZE_LIMIT
        elif self._start in ZIPS:
            with files.damage_reported(self.path):
                stream, limit = self._zip_member(), files.SIZE_LIMIT
        if codecs.lookup(self.notation.encoding).name not in ("utf-8", "utf-8-sig"):
            stream = Recoded(stream, self.notation.encoding)
        return io.TextIOWrapper(guarded(stream, self.path, limit, MOST_COLUMNS), "utf-8-sig", newline=None)

    def _zip_member(self):
        """The only file in a zip archive; files with a leading dot do not count, because macOS adds them."""
        archive = open_zip(self._raw, self.path)
        names = [name for name in archive.namelist() if not re.search(r"(^|/)\.|/$", name)]
        if {"[Content_Types].xml", "mimetype"} & {*names}:  # .xlsx, .ods and their like are zip archives
            raise DataError(f"{self.path} is an office file, not a table: save the sheet as CSV.")
        if len(names) != 1:
            raise DataError(f"{self.path} must hold exactly one file, but holds {len(names)}.")
        return archive.open(names[0])

    def _guarded(self, read, *arguments):
        """What a function returns; a problem with the file becomes an error of one sentence."""
        try:
            with bounded_memory(self.path):
                return read(*arguments)
        except (UnicodeError, NotText):
            raise DataError(
                f"{self.path} is not text in {self.notation.encoding.upper()}: name its encoding, such as "
                "--encoding latin-1 (or cp1252, utf-16), or save it as CSV if it is another kind of file."
            ) from None
        # the errors of pandas and pyarrow are ValueErrors
        except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
            reason = str(error).strip().rstrip(".")
            if "EOF inside string" in reason or "field limit" in reason:
                reason = f"a quote in line {self._last_row:,} is not closed"
            raise DataError(f"{self.path} cannot be read as a table: {reason}.") from None

    def _parquet_names(self):
        try:
            from pyarrow.parquet import ParquetFile  # here, because it is optional
        except ImportError:
            raise DataError(
                f"{self.path} is a Parquet file: to read it, install pyarrow first (pip install pyarrow)."
            ) from None
        self._raw.seek(self._first)
        self._parquet = ParquetFile(self._raw)
        return self._parquet.schema_arrow.names

    def _text_names(self):
        """The column names; also decides between CSV and JSON lines, and on the separator."""
        lines = self._lines()
        first = lines.readline()
        if not first.strip():
            raise DataError(
                f"{self.path} or its first line is empty: the first line must have the column names."
            )
        if first.startswith("{"):
            self._is_json, self._separator = True, ","
            self.notation = self.notation._replace(decimal=".", thousands="")
            return list(dict.fromkeys(name for row in json_rows(self._lines()) for name in row))
        top = [first, *islice(lines, LOOKED_AT)]
        self._separator = find_separator(top, self.notation.decimal)
        names, *rows = self._csv_rows(top)
        if self.notation.header is None and looks_like_data(names, rows):
            raise DataError(
                f"The first line of {self.path} looks like data, not like column names: "
                "add --no-header if there are none, or --header if these are the names."
            )
        return [
            (self.header and name.strip()) or f"column_{number}" for number, name in enumerate(names, start=1)
        ]

    def _csv_rows(self, lines):
        return csv.reader(lines, delimiter=self._separator, skipinitialspace=True)

    def must_have(self, names, purpose):
        """Refuse a table that lacks one of these columns."""
        lacking = ", ".join(name for name in names if name not in self.columns)
        if lacking:
            hint = "; columns must be separated by , ; tab or |" * (len(self.columns) == 1)
            found = ", ".join(self.columns)[:500] + hint
            raise DataError(
                f"{self.path} lacks the column{'s' * (', ' in lacking)} {lacking} {purpose}; it has {found}."
            )

    def read(self, columns, verbatim=(), texts=()):
        """All rows of these columns; a column of numbers in some chunks and texts in others becomes text."""
        parts, held = {name: [] for name in columns}, 0
        for chunk in self.chunks(columns, verbatim, texts):
            for name in columns:
                parts[name].append(chunk[name].to_numpy())
            held += chunk.memory_usage(deep=True).sum()
            if held > 0.75 * files.MEMORY_LIMIT:  # pandas may crash at the limit itself
                raise DataError(f"{self.path} needs more than {held / 2**30:.3g} GiB of memory.")
            n_rows = chunk.index[-1] + 1
        types = {name: {part.dtype for part in parts[name] if not pd.isna(part).all()} for name in columns}
        mixed = [name for name in columns if len(types[name]) > 1]
        # one column after the other, so that not all of them are held twice
        whole = {name: np.concatenate(parts.pop(name)) for name in columns}
        whole = pd.DataFrame(whole, range(n_rows), copy=False)
        return whole.assign(**self.read(mixed, (), mixed)) if mixed else whole

    def chunks(self, columns, verbatim=(), texts=()):
        """DataFrames of these columns, each with the next rows; texts: columns without numbers."""
        at_once, n_rows = max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // len(self.columns))), 0
        texts = {*texts, *self._texts} - {*verbatim}
        options = self._csv_options(columns, verbatim, texts)
        if self._parquet:
            pieces = self._parquet.iter_batches(at_once, columns=columns)
        else:
            pieces = self._json_pieces(at_once) if self._is_json else self._csv_pieces(at_once)
        while (piece := self._guarded(next, pieces, None)) is not None:
            frame = self._guarded(self._cleaned, piece, options, columns, verbatim, texts)
            frame.index = range(n_rows, n_rows + len(frame))
            n_rows += len(frame)
            self.position = self._raw.tell()
            if len(frame):
                yield frame
        if n_rows == 0:
            raise DataError(f"{self.path} has no rows.")

    def _csv_pieces(self, at_once):
        """Texts of whole rows, all of which have as many cells as there are columns."""
        lines, n_lines = self._lines(), 0
        if self.header:
            header = self._csv_rows(lines)
            next(header)
            n_lines = header.line_num
        while block := list(islice(lines, at_once)):
            text = "".join(block)
            if '"' in text or {line.count(self._separator) for line in block} != {len(self.columns) - 1}:
                block = self._checked_rows(block, lines, n_lines)
                text = "".join(block)
            n_lines += len(block)
            yield text

    def _checked_rows(self, block, lines, n_lines):
        """The lines of a block, after n_lines others, and what belongs to its last row; refuses a bad row."""
        taken, n_columns, self._last_row = [], len(self.columns), n_lines + 1

        def taking():
            for line in chain(block, lines):
                taken.append(line)
                yield line

        for row in self._csv_rows(taking()):
            is_whole = len(row) == n_columns or (len(row) == n_columns + 1 and not row[-1])
            if not is_whole and "".join(row).strip(" \t"):
                found = f"{'more' if len(row) > n_columns else 'fewer'} cells than the first line"
                raise DataError(
                    f"Line {self._last_row:,} of {self.path} has {found}: "
                    f"{len(row):,} instead of {n_columns:,}."
                )
            if len(taken) >= len(block):
                break
            self._last_row = n_lines + len(taken) + 1
        return taken

    def _json_pieces(self, at_once):
        """JSON lines as texts of CSV rows."""
        rows = json_rows(self._lines())
        while block := list(islice(rows, at_once)):
            yield pd.DataFrame(block, columns=self.columns).to_csv(index=False, header=False)

    def _csv_options(self, columns, verbatim, texts):
        """How pandas reads these columns of a text."""
        missing = [*SPELLINGS, *self.notation.missing]
        return {
            "names": self.columns,
            "usecols": [*columns] or self.columns[:1],
            "header": None,
            "index_col": False,
            "sep": "," if self._parquet else self._separator,
            "skipinitialspace": True,
            "decimal": self.notation.point,
            "float_precision": "high",  # as to_numbers reads
            "dtype": dict.fromkeys([*verbatim, *texts], str),
            "na_values": {name: missing for name in columns if name not in verbatim},
            "keep_default_na": False,
            "low_memory": False,
        }

    def _cleaned(self, piece, options, columns, verbatim, texts):
        """A raw DataFrame of a piece of text, or of a piece of a Parquet file."""
        if isinstance(piece, str):
            frame = pd.read_csv(io.StringIO(piece), **options)
        else:
            frame = piece.to_pandas(date_as_object=False)
        cells = {}
        for name in columns:
            column, kind = frame[name], frame[name].dtype.kind
            if kind == "M":
                column = pd.to_datetime(column, utc=True).dt.tz_localize(None).astype("datetime64[ns]")
            if name in verbatim:
                column = as_texts(column).fillna("")
            elif name in texts or kind not in "iufM":
                column = tidy(as_texts(column), self.notation.missing)
            elif kind != "M":
                numbers = column.to_numpy(np.float64)
                column = np.where(np.isfinite(numbers), numbers, np.nan)
            cells[name] = column
        return pd.DataFrame(cells, range(len(frame)), copy=False)


class Recoded:
    """Bytes of a text in another encoding as UTF-8."""

    def __init__(self, stream, encoding):
        self._text = codecs.getreader(encoding)(stream)

    def read(self, n_bytes):
        try:
            return self._text.read(n_bytes // 4).encode()  # a character has up to 4 bytes
        except UnicodeError as error:
            raise NotText(str(error)) from None


def json_rows(lines):
    """Each line of a text as {name: text of the cell}; numbers are as in the file."""
    read = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).decode
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                yield {json_text(name): json_text(cell) for name, cell in read(line).items()}
        except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
            told = f'line {number:,} is not JSON such as {{"amount": 1.5, "member": true}}'
            raise ValueError(told) from None


def json_text(cell):
    """A JSON value that is no list or object as a text that UTF-8 can express, without control characters."""
    text = cell if isinstance(cell, str) else {True: "true", False: "false", None: ""}[cell]
    return text.encode("utf-8", "replace").decode().replace("\0", "").replace("\r", "\n")


def find_separator(lines, decimal):
    """The separator that gives the most cells; a comma, which may be a decimal mark, is the last choice.

    Any other one that gives the same number of cells in each line comes first.
    """
    counts = {one: [*map(len, csv.reader(lines, delimiter=one))][:LOOKED_AT] for one in SEPARATORS.decode()}
    several = {one: found for one, found in counts.items() if found[0] > 1 and one != ","}
    steady = {one: found for one, found in several.items() if decimal == "," or {*found} <= {0, found[0]}}
    return max(steady or counts, key=lambda one: counts[one][0])


def looks_like_data(names, rows):
    """Whether a first line has no names: each cell is empty, a number, a date, or occurs again in its column.

    Numbers that count up from 0 or 1 are names, as pandas writes them.
    """
    cells = pd.Series(names, dtype=object).str.strip()
    filled = cells[~is_missing(cells)].tolist()
    if filled in ([str(first + i) for i in range(len(filled))] for first in (0, 1)):
        return False
    plain = is_missing(cells) | cells.str.fullmatch(DATE)
    plain |= to_numbers(cells).notna() | to_numbers(cells, ",").notna()
    rows = [row for row in rows if row != names]  # a header that is repeated, because files were joined
    return all(
        plain[place] or any(row[place : place + 1] == [name] for row in rows)
        for place, name in enumerate(names)
    )
