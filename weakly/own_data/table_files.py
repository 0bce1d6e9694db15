"""The file of a user's table: on disk, from a pipe or from standard input; plain, compressed, or Parquet.

No file is trusted, and a pipe is read once, from its first byte to its last.
"""

import codecs
import gzip
import hashlib
import io
import math
import os
import re
import stat
from pathlib import Path

from weakly.errors import DataError
from weakly.loading.files import SIZE_LIMIT, damage_reported, guarded, open_zip
from weakly.own_data.features import MOST_COLUMNS

HASHED_AT_ONCE = 2**20
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


class TableFile:
    """A table as bytes; "-" is standard input.

    `status` is that of os.stat, `size` the bytes of a file on disk, else None.
    """

    def __init__(self, path):
        is_stdin, self.path = path == "-", table_path(path)
        try:
            self._raw = open(0 if is_stdin else path, "rb", closefd=not is_stdin)  # noqa: SIM115
            self.status = os.fstat(self._raw.fileno())
            self._start = self._raw.read(4)
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror}.") from None
        self.size = self.status.st_size if stat.S_ISREG(self.status.st_mode) else None
        self._pipe, self._first = None, 0
        if self._raw.seekable():
            self._first = self._raw.seek(-len(self._start), os.SEEK_CUR)
        else:
            self._pipe = Rejoined(self._start, self._raw)
            self._raw = io.BufferedReader(self._pipe)

    def fingerprint(self):
        """{bytes, sha256} of the file; a pipe must have been read to its end."""
        if self._pipe:
            return {"bytes": self._pipe.n_bytes, "sha256": self._pipe.digest.hexdigest()}
        digest, at, descriptor = hashlib.sha256(), self._first, self._raw.fileno()
        while data := os.pread(descriptor, HASHED_AT_ONCE, at):
            digest.update(data)
            at += len(data)
        return {"bytes": at - self._first, "sha256": digest.hexdigest()}

    @property
    def is_parquet(self):
        return self._start == PARQUET

    def position(self):
        """How many bytes of a file on disk were read so far."""
        return self._raw.tell()

    def seekable(self):
        """The bytes as a file that can be read in any order; a pipe is held in memory."""
        if self._raw.seekable():
            return self._raw
        return io.BytesIO(guarded(self._raw, self.path, SIZE_LIMIT).read())

    def text(self, encoding):
        """The unpacked text, read a line at a time."""
        stream, limit = self._unpacked()
        utf_8 = stream if is_utf_8(encoding) else Recoded(stream, self.path, encoding)
        bounded = guarded(utf_8, self.path, limit, MOST_COLUMNS)
        return io.TextIOWrapper(bounded, encoding="utf-8-sig", newline="")

    def _unpacked(self):
        """The bytes of the text, and how many there may be."""
        for start, what in OTHER_FILES.items():
            if self._start.startswith(start):
                raise DataError(f"{self.path} is {what}.")
        if self._start.startswith(GZIP):
            return gzip.GzipFile(fileobj=self._raw), SIZE_LIMIT
        if self._start in ZIPS:
            return self._zip_member(), SIZE_LIMIT
        return self._raw, math.inf

    def _zip_member(self):
        """The only file in a zip archive; files with a leading dot do not count, because macOS adds them."""
        with damage_reported(self.path):
            archive = open_zip(self.seekable(), self.path)
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


class Rejoined(io.RawIOBase):
    """A pipe with its first bytes, already read, put back; `n_bytes` were read, and `digest` hashes them."""

    def __init__(self, start, rest):
        self._start, self._rest = start, rest
        self.n_bytes, self.digest = 0, hashlib.sha256()

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self._start or self._rest.read1(len(buffer))
        self._start = b""
        buffer[: len(data)] = data
        self.n_bytes += len(data)
        self.digest.update(data)
        return len(data)


class MarkedText(io.TextIOBase):
    """A text with a mark before every line break and at the end; `quoted` says whether there was a quote."""

    def __init__(self, start, rest, mark):
        self._start, self._rest, self._mark = start, rest, mark
        self._in_line = self.quoted = False

    def readable(self):
        return True

    def read(self, size=-1):
        text = self._start or self._rest.read(size)
        self._start = ""
        while text.endswith("\r") and (following := self._rest.read(1)):  # it may be half of \r\n
            text += following
        ends_here = self._in_line and not text
        self._in_line = bool(text) and text[-1] not in "\r\n"
        self.quoted = self.quoted or '"' in text
        if "\r" in text:
            return re.sub("\r\n?|\n", rf"{self._mark}\g<0>", text)
        return self._mark if ends_here else text.replace("\n", f"{self._mark}\n")


class Recoded:
    """A text in another encoding as UTF-8."""

    def __init__(self, stream, path, encoding):
        self._path, self._encoding = path, encoding
        self._text = io.TextIOWrapper(stream, encoding=encoding, newline="")

    def read(self, n_bytes):
        try:
            return self._text.read(n_bytes // 4).encode()  # a character has up to 4 bytes
        except UnicodeError:
            raise wrong_encoding(self._path, self._encoding) from None


def table_path(path):
    """The path of a table for messages; "-" is standard input."""
    return Path("standard input" if path == "-" else path)


def is_utf_8(encoding):
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")


def wrong_encoding(path, encoding):
    """The error for a file that is not text, or is in another encoding."""
    usual = "--encoding latin-1 (or cp1252, utf-16)"
    return DataError(f"{path} is not text in {encoding.upper()}: name its encoding, such as {usual}.")
