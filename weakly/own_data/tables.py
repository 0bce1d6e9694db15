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
from weakly.loading.files import LINE_LIMIT, SEPARATORS, NotText, bounded_memory, guarded, open_zip
from weakly.own_data.columns import DATE, MISSING, as_texts, is_missing, tidy, to_numbers

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
        self._doubt, self._is_json = "", False
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
        for start, what in OTHER_FILES.items():
            if self._start.startswith(start):
                raise DataError(f"{self.path} is {what}.")
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
        names = [one.filename for one in archive.infolist() if not one.is_dir()]
        names = [name for name in names if not Path(name).name.startswith(".")]
        if OFFICE_MEMBERS & {*names}:
            raise DataError(f"{self.path} is {EXCEL}.")
        if len(names) != 1:
            raise DataError(f"{self.path} must hold exactly one file, but holds {len(names)}.")
        return archive.open(names[0])

    def _guarded(self, read, *arguments):
        """What a function returns; a problem with the file becomes an error of one sentence."""
        try:
            with bounded_memory(self.path), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of pandas, about rows that are refused below
                return read(*arguments)
        except (UnicodeError, NotText):
            told = f"{self.path} is not text in {self.notation.encoding.upper()}: name its encoding, such as"
            raise DataError(f"{told} --encoding latin-1 (or cp1252, utf-16).") from None
        # the errors of pandas and pyarrow are ValueErrors
        except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
            reason = str(error).strip().rstrip(".")
            if "C error: Expected" in reason or "EOF inside string" in reason:
                self._guarded(self._refuse_row, "EOF inside" in reason)
            raise DataError(f"{self.path} cannot be read as a table: {reason}.") from None

    # ------------------------------------------------------------------------ the names

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
        if self.notation.header is None:
            if looks_like_data(names, rows):
                raise DataError(
                    f"The first line of {self.path} looks like data, not like column names: "
                    "add --no-header if there are none, or --header if these are the names."
                )
            if to_numbers(pd.Series(names, dtype=object)).notna().any():
                self._doubt = ": if the first line is data, add --no-header"
        return [
            (self.header and name.strip()) or f"column_{number}" for number, name in enumerate(names, start=1)
        ]

    def _csv_rows(self, lines):
        return csv.reader(lines, delimiter=self._separator, skipinitialspace=True)

    def must_have(self, names, purpose):
        """Refuse a table that lacks one of these columns."""
        lacking = [name for name in names if name not in self.columns]
        if lacking and len(self.columns) == 1:
            only = f"{self.path} has only one column, {self.columns[0][:60]!r}"
            raise DataError(f"{only}: columns must be separated by , ; tab or |.")
        if lacking:
            found = ", ".join(self.columns)[:500] + self._doubt
            what = f"column{'s' * (len(lacking) > 1)} {', '.join(lacking)} {purpose}"
            raise DataError(f"{self.path} lacks the {what}; it has {found}.")

    # ------------------------------------------------------------------------ the rows

    def read(self, columns, verbatim=(), texts=()):
        """All rows of these columns; a column of numbers in some chunks and texts in others becomes text."""
        parts, held = {name: [] for name in columns}, 0
        for chunk in self.chunks(columns, verbatim, texts):
            for name in columns:
                parts[name].append(chunk[name].to_numpy())
            held += chunk.memory_usage(deep=True).sum()
            if held > 0.75 * files.MEMORY_LIMIT:  # pandas may crash at the limit itself
                raise DataError(f"{self.path} needs more memory than {held / 2**30:.3g} GiB.")
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
        texts = {*texts, *self._texts} & {*columns}
        pieces = self._parquet_pieces if self._parquet else self._text_pieces
        for piece in pieces(columns, {*verbatim}, texts, at_once):
            piece.index = range(n_rows, n_rows + len(piece))
            n_rows += len(piece)
            if self.size:
                total = self._parquet and self._parquet.metadata.num_rows
                self.position = self.size * n_rows // total if total else self._raw.tell()
            if len(piece):
                yield piece
        if n_rows == 0:
            raise DataError(f"{self.path} has no rows.")

    def _parquet_pieces(self, columns, verbatim, texts, at_once):
        batches = self._parquet.iter_batches(at_once, columns=columns)
        while (batch := self._guarded(next, batches, None)) is not None:
            frame = self._guarded(lambda batch=batch: batch.to_pandas(date_as_object=False))
            cells = {name: from_arrow(frame[name]) for name in columns}
            for name in texts - verbatim:
                cells[name] = as_texts(cells[name])
            yield self._cleaned(cells, verbatim)

    def _text_pieces(self, columns, verbatim, texts, at_once):
        """The rows of a CSV file, each of which pandas gets with a mark as one more cell.

        This shows which rows have too few or too many cells, while the parser decides what a row is.
        """
        lines = JsonText(self._lines(), self.columns) if self._is_json else self._lines()
        if self.header and not self._is_json:
            next(self._csv_rows(lines))
        # a row of a single column cannot lack a cell
        end = f"\x1e{uuid.uuid4().hex[:8]}" if len(self.columns) > 1 else ""
        text, missing = MarkedText(lines, end and self._separator + end), [*SPELLINGS, *self.notation.missing]
        options: dict[str, Any] = {
            "names": [*self.columns, EXTRA, BEYOND],  # with usecols, pandas accepts rows with too many cells
            "header": None,
            "index_col": False,
            "sep": self._separator,
            "skipinitialspace": True,
            "decimal": self.notation.point,
            "float_precision": "high",  # as to_numbers reads
            "dtype": dict.fromkeys([*verbatim, *texts, EXTRA, BEYOND], str),
            "na_values": {name: missing for name in columns if name not in verbatim},
            "keep_default_na": False,
            "low_memory": False,
            "chunksize": at_once,
        }
        pieces = self._guarded(lambda: pd.read_csv(text, **options))
        while (piece := self._guarded(next, pieces, None)) is not None:
            whole = (piece[EXTRA] == end) | ((piece[EXTRA] == "") & (piece[BEYOND] == end))
            if not whole.all():
                self._guarded(self._refuse_row)
            cells = {name: piece[name] for name in columns}
            if text.quoted and text.mark:
                cells = {name: without_marks(cells[name], text.mark) for name in columns}
            yield self._guarded(self._cleaned, cells, verbatim)

    def _cleaned(self, cells, verbatim):
        """A raw DataFrame of columns as pandas or pyarrow read them."""
        for name, column in cells.items():
            if name in verbatim:
                texts = column if column.dtype == object else as_texts(column)
                cells[name] = texts.where(texts.notna(), "")
            elif column.dtype in (bool, object):
                cells[name] = tidy(column, self.notation.missing)
            elif column.dtype.kind != "M":
                numbers = column.to_numpy(np.float64)
                cells[name] = np.where(np.isfinite(numbers), numbers, np.nan)
        return pd.DataFrame(cells, copy=False)

    def _refuse_row(self, open_quote=False):
        """Refuse the first row with another number of cells than there are columns, by its line.

        With open_quote, refuse the last row, in which a quote is not closed.
        """
        rows, n_columns, line, start = self._csv_rows(self._lines()), len(self.columns), 1, 1
        for row in rows:
            start, line = line, rows.line_num + 1
            surplus = len(row) - n_columns
            is_whole = surplus == 0 or (surplus == 1 and not row[-1])
            if not is_whole and any(row) and not open_quote:
                found = f"{'more' if surplus > 0 else 'fewer'} cells than the first line"
                raise DataError(
                    f"Line {start:,} of {self.path} has {found}: {len(row):,} instead of {n_columns:,}."
                )
        what = "a quote in it is not closed" if open_quote else "it has too many cells or too few"
        raise DataError(f"Line {start:,} of {self.path} cannot be read: {what}.")


class Recoded:
    """Bytes of a text in another encoding as UTF-8."""

    def __init__(self, stream, encoding):
        self._text = codecs.getreader(encoding)(stream)

    def read(self, n_bytes):
        return self._text.read(n_bytes // 4).encode()  # a character has up to 4 bytes


class MarkedText:
    """A text with a mark at the end of every line that is not blank, as a file for pandas.

    `quoted` says whether there was a quote: then marks are also in cells with line breaks.
    """

    def __init__(self, lines, mark):
        self._lines, self.mark, self._last, self.quoted = lines, mark, "\n", False

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


def without_marks(column, mark):
    if column.dtype != object:
        return column
    return column.map(lambda cell: cell.replace(mark, "") if isinstance(cell, str) else cell)


class JsonText:
    """JSON lines as the text of a CSV file with these columns."""

    def __init__(self, lines, columns):
        self._rows, self._columns = json_rows(lines), columns

    def read(self, size=-1):
        text = io.StringIO()
        rows = ([row.get(name, "") for name in self._columns] for row in islice(self._rows, 1_000))
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()


def json_rows(lines):
    """Each line of a text as {name: text of the cell}; numbers are as in the file."""
    read = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).decode
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield {json_text(name): json_text(cell) for name, cell in read(line).items()}
            except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
                raise ValueError(
                    f'line {number:,} is not JSON such as {{"amount": 1.5, "member": true}}'
                ) from None


def json_text(cell):
    """A JSON value that is no list or object as a text that UTF-8 can express, without control characters."""
    text = cell if isinstance(cell, str) else {True: "true", False: "false", None: ""}[cell]
    return text.encode("utf-8", "replace").decode().replace("\0", "").replace("\r", "\n")


def from_arrow(column):
    """A column of a Parquet file as numbers, truth values, dates without a time zone, or texts."""
    if isinstance(column.dtype, pd.DatetimeTZDtype) or column.dtype.kind == "M":
        return pd.to_datetime(column, utc=True).dt.tz_localize(None).astype("datetime64[ns]")
    if column.dtype.kind in "biuf":
        return column
    texts = column.astype(object)
    return texts.map(lambda cell: cell if isinstance(cell, bool) else str(cell), na_action="ignore")


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
    if any(filled == [str(first + i) for i in range(len(filled))] for first in (0, 1)):
        return False
    plain = is_missing(cells) | cells.str.fullmatch(DATE)
    plain |= to_numbers(cells).notna() | to_numbers(cells, ",").notna()
    rows = [row for row in rows if row != names]  # a header that is repeated, because files were joined
    return all(
        plain[place] or any(row[place : place + 1] == [name] for row in rows)
        for place, name in enumerate(names)
    )
