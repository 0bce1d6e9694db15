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
import uuid
import warnings
import zlib
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.loading import files
from weakly.loading.files import (
    LINE_LIMIT,
    SEPARATORS,
    NotText,
    bounded_memory,
    damage_reported,
    guarded,
    open_zip,
)
from weakly.own_data.columns import DATE, MISSING, as_texts, is_missing, to_numbers

ROWS_AT_ONCE, CELLS_AT_ONCE = 65_536, 2**21
MOST_COLUMNS = 10_000
LOOKED_AT = 100  # lines read to decide whether the first one has names
GZIP, PARQUET, ZIPS = b"\x1f\x8b", b"PAR1", (b"PK\3\4", b"PK\5\6")  # the second is an empty archive
EXCEL = "an Excel or other office file, not a table: save the sheet as CSV"
# what a file is that begins with these bytes, and what to do
OTHER_FILES = {
    b"\xd0\xcf\x11\xe0": EXCEL,
    b"\x89PNG": "a picture, not a table",
    b"\xff\xd8\xff": "a picture, not a table",
    b"%PDF": "a PDF document, not a table",
    b"BZh9": "compressed with bzip2: unpack it first",
    b"\xfd7zX": "compressed with xz: unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: unpack it first",
}
OFFICE_MEMBERS = {"[Content_Types].xml", "mimetype"}  # of .xlsx, .ods and their like, which are zip archives
# two columns beyond the last: the mark is in the first of them, or in the second after a surplus separator
EXTRA, BEYOND = "\0", "\0\0"
# spellings that pandas itself takes for missing cells, so that the other cells can be numbers
SPELLINGS = sorted(
    {form(text) for text in MISSING for form in (str, str.upper, str.capitalize, str.title)} | {"NaN"}
)
csv.field_size_limit(LINE_LIMIT)  # which limits a cell too


class Notation(NamedTuple):
    """How the cells of a table are written; "" and None: recognised."""

    header: bool | None = None  # whether the first line has the column names
    encoding: str = "utf-8"
    decimal: str = ""
    thousands: str = ""
    missing: tuple = ()  # spellings of a missing cell beside the usual ones


class Table:
    """A table in a file; "-" is standard input.

    `columns` are the names, `header` says whether the first line had them, `status` is the result of os.stat,
    `size` the bytes of a file on disk, else None, and `position` how many of them were read so far.
    kinds: the columns of a model that the rows are for; its categories, for example, are then read as texts.
    """

    def __init__(self, path, notation=Notation(), kinds=None):  # noqa: B008 - it cannot be changed
        self.path = Path("standard input" if path == "-" else path)
        self.notation, self.position, self.header = notation, 0, notation.header is not False
        self.decimal = notation.decimal or ("," if notation.thousands == "." else ".")
        if notation.decimal and notation.decimal == notation.thousands:
            raise DataError("--decimal and --thousands must be different marks.")
        # what pandas would read in another way than the model
        plain = {"kind": "number", "decimal": self.decimal}.items()
        self._texts = [name for name, column in (kinds or {}).items() if not plain <= column.items()]
        self._doubt, self._is_json = "", False
        self._open(path)
        self._parquet: Any = self._guarded(self._open_parquet) if self._start == PARQUET else None
        if self._parquet:
            self.columns = self._parquet.schema_arrow.names
        else:
            self.columns = self._guarded(self._look)
        repeated = pd.Index(self.columns)[pd.Index(self.columns).duplicated()]
        if len(repeated):
            raise DataError(f"{self.path} has more than one column {repeated[0]!r}.")
        if len(self.columns) > MOST_COLUMNS:
            raise DataError(f"{self.path} has more than {MOST_COLUMNS:,} columns.")

    # ------------------------------------------------------------------------ the file

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
            self._raw, self._first = raw, raw.tell()
            self._start = raw.read(4)
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
        stream, limit = self._unpacked()
        if codecs.lookup(self.notation.encoding).name not in ("utf-8", "utf-8-sig"):
            stream = Recoded(stream, self.notation.encoding)
        return io.TextIOWrapper(guarded(stream, self.path, limit, MOST_COLUMNS), "utf-8-sig", newline=None)

    def _unpacked(self):
        """The bytes of the text, and how many there may be."""
        for start, what in OTHER_FILES.items():
            if self._start.startswith(start):
                raise DataError(f"{self.path} is {what}.")
        if self._start.startswith(GZIP):
            return gzip.GzipFile(fileobj=self._raw), files.SIZE_LIMIT
        if self._start in ZIPS:
            return self._zip_member(), files.SIZE_LIMIT
        return self._raw, math.inf

    def _zip_member(self):
        """The only file in a zip archive; files with a leading dot do not count, because macOS adds them."""
        with damage_reported(self.path):
            archive = open_zip(self._raw, self.path)
            names = [
                member.filename
                for member in archive.infolist()
                if not member.is_dir() and not Path(member.filename).name.startswith(".")
            ]
            if OFFICE_MEMBERS & {*names}:
                raise DataError(f"{self.path} is {EXCEL}.")
            if len(names) != 1:
                raise DataError(f"{self.path} must hold exactly one file, but holds {len(names)}.")
            return archive.open(names[0])

    def _open_parquet(self):
        try:
            from pyarrow.parquet import ParquetFile  # here, because it is optional
        except ImportError:
            raise DataError(
                f"{self.path} is a Parquet file: to read it, install pyarrow first (pip install pyarrow)."
            ) from None
        self._raw.seek(self._first)
        return ParquetFile(self._raw)

    def _guarded(self, read, *arguments):
        """What a function returns; a problem with the file becomes an error of one sentence."""
        try:
            with bounded_memory(self.path), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of pandas, about rows that are refused below
                return read(*arguments)
        except (UnicodeError, NotText):
            usual = "--encoding latin-1 (or cp1252, utf-16)"
            encoding = self.notation.encoding.upper()
            raise DataError(
                f"{self.path} is not text in {encoding}: name its encoding, such as {usual}."
            ) from None
        # the errors of pandas and pyarrow are ValueErrors
        except (OSError, EOFError, ValueError, csv.Error, zlib.error, RecursionError) as error:
            reason = str(error).strip().rstrip(".")
            if "C error: Expected" in reason:  # Expected 3 fields, saw 4
                raise DataError(self._guarded(self._misshapen_row)) from None
            if "EOF inside string" in reason:
                reason = f"a quote in line {self._guarded(self._last_row):,} is not closed"
            raise DataError(f"{self.path} cannot be read as a table: {reason}.") from None

    # ------------------------------------------------------------------------ the names

    def _look(self):
        """The column names; also decides between CSV and JSON lines, and on the separator."""
        lines = self._lines()
        first = lines.readline()
        if not first.strip():
            raise DataError(
                f"{self.path} or its first line is empty: the first line must have the column names."
            )
        if first.startswith("{"):
            self._is_json, self._separator = True, ","
            return list(dict.fromkeys(name for row in json_rows(self._lines()) for name in row))
        top = [first, *islice(lines, LOOKED_AT)]
        self._separator = find_separator(top, self.notation.decimal)
        names, *rows = self._csv_reader(top)
        if self.notation.header is None:
            if looks_like_data(names, rows):
                raise DataError(
                    f"The first line of {self.path} looks like data, not like column names: "
                    "add --no-header if there are none, or --header if these are the names."
                )
            if to_numbers(pd.Series(names, dtype=object)).notna().any():
                self._doubt = ": if the first line is data, add --no-header"
        if not self.header:
            names = [""] * len(names)
        return [name.strip() or f"column_{number}" for number, name in enumerate(names, start=1)]

    def _csv_reader(self, lines):
        return csv.reader(lines, delimiter=self._separator, skipinitialspace=True)

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

    # ------------------------------------------------------------------------ the rows

    def read(self, columns, verbatim=()):
        """All rows of these columns; a column of numbers in some chunks and texts in others becomes text."""
        whole, mixed = self._read(columns, verbatim, ())
        return whole.assign(**self._read(mixed, (), mixed)[0]) if mixed and not self._parquet else whole

    def _read(self, columns, verbatim, texts):
        """All rows, and the columns with numbers in some chunks and texts in others."""
        parts, held, n_rows = {name: [] for name in columns}, 0, 0
        for chunk in self._chunks(columns, verbatim, texts):
            n_rows += len(chunk)
            for name in columns:
                parts[name].append(chunk[name].to_numpy())
            held += chunk.memory_usage(deep=True).sum()
            if held > 0.75 * files.MEMORY_LIMIT:  # pandas may crash at the limit itself
                raise DataError(f"{self.path} needs too much memory: leave out columns with --drop.")
        types = {name: {part.dtype for part in parts[name] if not pd.isna(part).all()} for name in columns}
        # one column after the other, so that not all of them are held twice
        whole = {name: np.concatenate(parts.pop(name)) for name in columns}
        mixed = [name for name in columns if len(types[name]) > 1]
        return pd.DataFrame(whole, range(n_rows), copy=False), mixed

    def chunks(self, columns, verbatim=()):
        """DataFrames of these columns, each with the next rows."""
        return self._chunks(columns, verbatim, ())

    def _chunks(self, columns, verbatim, texts):
        at_once = max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // len(self.columns)))
        pieces = self._parquet_pieces if self._parquet else self._text_pieces
        n_rows = 0
        for piece in pieces(list(columns), {*verbatim}, {*texts, *self._texts} & {*columns}, at_once):
            piece.index = range(n_rows, n_rows + len(piece))
            n_rows += len(piece)
            if self.size:
                share = self._parquet and n_rows / self._parquet.metadata.num_rows
                self.position = int(self.size * share) if self._parquet else self._raw.tell()
            yield piece
        if n_rows == 0:
            raise DataError(f"{self.path} has no rows.")

    def _parquet_pieces(self, columns, verbatim, texts, at_once):
        batches = self._parquet.iter_batches(at_once, columns=columns)
        while (batch := self._guarded(next, batches, None)) is not None:
            if len(batch):
                frame = self._guarded(lambda batch=batch: batch.to_pandas(date_as_object=False))
                cells = {name: from_arrow(frame[name]) for name in columns}
                yield self._cleaned(cells, len(frame), verbatim)

    def _text_pieces(self, columns, verbatim, texts, at_once):
        """The rows of a CSV file, each of which pandas gets with a mark as one more cell.

        This shows which rows have too few or too many cells, while the parser decides what a row is.
        """
        lines = JsonText(self._lines(), self.columns) if self._is_json else self._lines()
        if self.header and not self._is_json:
            next(self._csv_reader(lines))
        # a row of a single column cannot lack a cell
        end = f"\x1e{uuid.uuid4().hex[:8]}" if len(self.columns) > 1 else ""
        text = MarkedText(lines, end and self._separator + end)
        missing = [*SPELLINGS, *self.notation.missing]
        options: dict[str, Any] = {
            "sep": self._separator,
            "header": None,
            "index_col": False,
            "names": [*self.columns, EXTRA, BEYOND],
            "dtype": dict.fromkeys([*verbatim, *texts, EXTRA, BEYOND], str),
            "na_values": {name: missing for name in columns if name not in verbatim},
            "keep_default_na": False,
            "skipinitialspace": True,
            "decimal": self.decimal,
            "float_precision": "high",  # as to_numbers reads
            "low_memory": False,
            "chunksize": at_once,
        }
        pieces = self._guarded(lambda: pd.read_csv(text, **options))
        while (piece := self._guarded(next, pieces, None)) is not None:
            whole = (piece[EXTRA] == end) | ((piece[EXTRA] == "") & (piece[BEYOND] == end))
            if not whole.all():
                raise DataError(self._guarded(self._misshapen_row))
            if len(piece):
                cells = {name: without_marks(piece[name], text) for name in columns}
                yield self._guarded(self._cleaned, cells, len(piece), verbatim)

    def _cleaned(self, cells, n_rows, verbatim):
        """A raw DataFrame of columns as pandas or pyarrow read them."""
        for name, column in cells.items():
            if name in verbatim:
                texts = column if column.dtype == object else as_texts(column)
                cells[name] = texts.where(texts.notna(), "")
            elif column.dtype in (bool, object):
                codes, found = pd.factorize(column)
                levels = pd.Series(
                    [str(cell).lower() if isinstance(cell, bool) else cell for cell in found], dtype=object
                )
                levels = levels.str.strip()
                levels = levels.mask(is_missing(levels, self.notation.missing))
                cells[name] = np.array([*levels, np.nan], dtype=object)[codes]
            elif column.dtype.kind != "M":
                numbers = column.to_numpy(np.float64)
                cells[name] = np.where(np.isfinite(numbers), numbers, np.nan)
        return pd.DataFrame(cells, range(n_rows), copy=False)

    def _rows_with_lines(self):
        """The rows as the csv module reads them, each with the number of its first line."""
        rows, before = self._csv_reader(self._lines()), 0
        for row in rows:
            yield before + 1, row
            before = rows.line_num

    def _misshapen_row(self):
        """A sentence about the first row with another number of cells than there are columns."""
        n_columns = len(self.columns)
        for line, row in self._rows_with_lines():
            is_blank = len(row) < 2 and not "".join(row).strip()
            surplus = len(row) - n_columns
            if not is_blank and surplus and (surplus > 1 or row[-1] or surplus < 0):
                found = f"{'more' if surplus > 0 else 'fewer'} cells than the first line"
                return f"Line {line:,} of {self.path} has {found}: {len(row):,} instead of {n_columns:,}."
        return f"{self.path} cannot be read as a table: a row has other cells than the first line."

    def _last_row(self):
        """The number of the line in which the last row begins."""
        return max((line for line, _ in self._rows_with_lines()), default=1)


class MarkedText:
    """A text with a mark at the end of every line that is not blank, as a file for pandas.

    `quoted` says whether there was a quote: then marks are also in cells with line breaks.
    """

    def __init__(self, lines, mark):
        self._lines, self.mark = lines, mark
        self._last, self.quoted = "\n", False

    def __iter__(self):  # pandas wants it
        return self

    def read(self, size=-1):
        text = ""
        while not text:
            text = self._lines.read(size)
            if not text:  # the last line may have no end
                mark, self._last = "" if self._last == "\n" else self.mark, "\n"
                return mark
            if "\n " in text or text[0] == " ":
                text = re.sub("^ +$", "", text, flags=re.MULTILINE)
        self.quoted = self.quoted or '"' in text
        before, self._last = self._last, text[-1]
        if "\n\n" not in before + text:
            return text.replace("\n", f"{self.mark}\n")
        marked = re.sub(r"(?<!\n)\n", f"{self.mark}\n", text)
        return marked.removeprefix(self.mark) if before == text[0] == "\n" else marked


class JsonText:
    """JSON lines as the text of a CSV file with these columns."""

    def __init__(self, lines, columns):
        self._rows, self._columns = json_rows(lines), columns

    def read(self, size=-1):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        for row in islice(self._rows, 1_000):
            writer.writerow([row.get(name, "") for name in self._columns])
        return text.getvalue()


def json_rows(lines):
    """Each line of a text as {name: text of the cell}; numbers are as in the file."""
    exact = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                row = exact.decode(line)
            except (ValueError, RecursionError):
                raise ValueError(f"line {number:,} is not JSON") from None
            if not isinstance(row, dict) or any(isinstance(cell, dict | list) for cell in row.values()):
                raise ValueError(f"line {number:,} must be an object of numbers, texts, true, false and null")
            yield {as_utf_8(name): as_utf_8(json_text(cell)) for name, cell in row.items()}


def json_text(cell):
    return cell if isinstance(cell, str) else {True: "true", False: "false", None: ""}[cell]


def as_utf_8(text):
    """A text without half characters and zero bytes, which JSON can express."""
    return text.encode("utf-8", "replace").decode().replace("\0", "").replace("\r", "\n")


class Recoded:
    """Bytes of a text in another encoding as UTF-8."""

    def __init__(self, stream, encoding):
        self._text = io.TextIOWrapper(stream, encoding=encoding, newline="")

    def read(self, n_bytes):
        return self._text.read(n_bytes // 4).encode()  # a character has up to 4 bytes


def from_arrow(column):
    """A column of a Parquet file as numbers, truth values, dates without a time zone, or texts."""
    if isinstance(column.dtype, pd.DatetimeTZDtype) or column.dtype.kind == "M":
        return pd.to_datetime(column, utc=True).dt.tz_localize(None).astype("datetime64[ns]")
    if column.dtype.kind in "biuf":
        return column
    texts = column.astype(object)
    return texts.map(lambda cell: cell if isinstance(cell, bool) else str(cell), na_action="ignore")


def without_marks(column, text):
    """A column without the marks that are in its cells with line breaks."""
    if text.quoted and text.mark and column.dtype == object:
        return column.map(lambda cell: cell.replace(text.mark, "") if isinstance(cell, str) else cell)
    return column


def find_separator(lines, decimal):
    """The separator that gives the most cells; a comma, which may be a decimal mark, is the last choice.

    Any other one that gives the same number of cells in each line comes first.
    """
    counts = {
        one: [len(row) for row in csv.reader(lines, delimiter=one)][:LOOKED_AT] for one in SEPARATORS.decode()
    }
    several = {one: found for one, found in counts.items() if found[0] > 1 and one != ","}
    steady = {one: found for one, found in several.items() if decimal == "," or {*found} <= {0, found[0]}}
    return max(steady or counts, key=lambda one: counts[one][0])


def looks_like_data(names, rows):
    """Whether a first line has no names: each cell is empty, a number, a date, or occurs again in its column.

    Numbers that count up from 0 or 1 are names, as pandas writes them.
    """
    cells = pd.Series(names, dtype=object).str.strip()
    missing = is_missing(cells)
    if any(list(cells[~missing]) == [str(first + i) for i in range((~missing).sum())] for first in (0, 1)):
        return False
    plain = missing | cells.str.fullmatch(DATE)
    for decimal in ".,":
        plain |= to_numbers(cells, decimal).notna()
    rows = [row for row in rows if row != names]  # a header that is repeated, because files were joined
    return all(
        plain[place] or any(row[place : place + 1] == [name] for row in rows)
        for place, name in enumerate(names)
    )
