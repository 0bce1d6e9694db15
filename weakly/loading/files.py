"""Open untrusted files, packed or plain, without unpacking them to disk.

The cost of a file is bounded: its unpacked bytes, its lines and cells, the members of an archive, and, in
bounded_memory, the memory for reading it. Any problem with it becomes a DataError.
"""

import bz2
import gzip
import io
import lzma
import os
import re
import resource
import tarfile
import zipfile
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from weakly.errors import DataError

# The largest file of the registry, census as 299,285 x 501 cells of "0" or "0.0", has 0.3 to 0.6 GB.
SIZE_LIMIT = 2 * 2**30  # bytes, for a download and for an unpacked file
# bytes of additional memory for reading a file; census takes 1.6 GB
MEMORY_LIMIT = 8 * 2**30
LINE_LIMIT = 2**24  # bytes of a line; news20 has lines of 163,039
MOST_LINES = 2**21  # of a data set's file; donors has 619,327
# of a line of a data set's table; census has 501. The time that pandas takes grows with their square
MOST_CELLS = 2_048
MOST_FEATURES = 2**22  # of a data set; news20 has 1,355,191
MOST_MEMBERS = 1_000  # of an archive
NESTED_LIMIT = 64 * 2**20  # bytes, of an archive inside an archive: it is held in memory
SEPARATORS = b",;\t|"
DATA_SUFFIXES = (".csv", ".svm", ".data", ".txt")
DECOMPRESSORS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class NotText(DataError):
    """A file that should be text, but is not, or has another encoding."""


@contextmanager
def bounded_memory(what, limit=None):
    """Let this process use `limit` (MEMORY_LIMIT) more bytes than it has; DataError if that is not enough.

    Linux counts all private writable memory for RLIMIT_DATA. Without /proc (macOS), only the other limits of
    this file apply. The old limit is restored at the end: TensorFlow and child processes never see the lower
    one.
    """
    limit = limit or MEMORY_LIMIT
    status = Path("/proc/self/status")
    before = None
    if status.exists():
        (kilobytes,) = re.findall(r"VmData:\s*(\d+) kB", status.read_text())
        before = resource.getrlimit(resource.RLIMIT_DATA)
        known = [value for value in before if value != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min(known + [1024 * int(kilobytes) + limit]), before[1]))
    try:
        yield
    except Exception as error:
        pandas_had_none = "C error: out of memory" in str(error)
        if isinstance(error, MemoryError) or pandas_had_none:
            raise DataError(f"{what} needs more than {limit / 2**30:.3g} GiB of memory.") from None
        raise
    finally:
        if before:
            resource.setrlimit(resource.RLIMIT_DATA, before)


def check_held(n_bytes):
    """MemoryError when a table has grown to 3/4 of the bound: pandas may crash at the bound itself."""
    if n_bytes > 0.75 * MEMORY_LIMIT:
        raise MemoryError


class GuardedReader(io.RawIOBase):
    """Read a decompressed stream up to a limit, and turn any problem with it into a DataError."""

    def __init__(self, stream, path, limit):
        self._stream, self._path, self._limit = stream, path, limit
        self._count = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        with damage_reported(self._path):
            data = self._stream.read(len(buffer))
        self._count += len(data)
        if self._count > self._limit:
            raise DataError(f"{self._path} expands to more than {self._limit} bytes.")
        self.check(data)
        buffer[: len(data)] = data
        return len(data)

    def check(self, data):
        """Check what was read."""


class GuardedText(GuardedReader):
    """Also checks lines: rejects what no table or svmlight file has, before a parser sees it."""

    def __init__(self, stream, path, limit, most_lines, most_cells, rectangular):
        super().__init__(stream, path, limit)
        self._most_lines, self._most_cells, self._n_lines = most_lines, most_cells, 0
        self._too_many = f"more than {most_cells:,} cells"
        self._rectangular = rectangular  # whether no line may have more cells than the first
        self._length, self._cells = 0, 0  # of the current, unfinished line

    def check(self, data):
        if b"\0" in data:  # pandas would end the cell there
            raise NotText(f"{self._path} holds a zero byte, so it is not UTF-8 text.")
        self._n_lines += max(data.count(b"\n"), data.count(b"\r"))
        if self._n_lines > self._most_lines:
            raise DataError(f"{self._path} has more than {self._most_lines:,} lines.")
        first, *others = data.replace(b"\r", b"\n").split(b"\n")
        # the first may have begun in an earlier block
        length, cells = self._length + len(first), self._cells + count_separators(first)
        self._check_line(length, cells)
        if others and length:
            self._take_as_first(cells)
        for line in others:
            if len(line) >= self._most_cells or (line and self._rectangular):
                self._check_line(len(line), count_separators(line))
                if line is not others[-1]:  # which may continue in the next block
                    self._take_as_first(count_separators(line))
        if others:
            length, cells = len(others[-1]), count_separators(others[-1])
        self._length, self._cells = length, cells

    def _take_as_first(self, separators):
        """No line of a rectangular table may have more cells than the first non-empty line."""
        if self._rectangular:
            self._most_cells, self._too_many = separators + 1, "more cells than its first line"
            self._rectangular = False

    def _check_line(self, length, separators):
        if length > LINE_LIMIT:
            raise DataError(f"{self._path} has a line of more than {LINE_LIMIT:,} bytes.")
        if separators >= self._most_cells:
            raise DataError(f"{self._path} has a line of {self._too_many}.")


def count_separators(line):
    return len(line) - len(line.translate(None, SEPARATORS))


@contextmanager
def damage_reported(path):
    """Turn any exception into a DataError: on damaged input the archive modules raise a dozen kinds."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:
        packed = path.suffix.lower() in (*DECOMPRESSORS, ".zip", ".npz")
        raise DataError(
            f"{path} is damaged{f' or not a {path.suffix} archive' if packed else ''}: {error}."
        ) from error


def guarded(stream, path, limit):
    """Return a buffered GuardedReader."""
    return io.BufferedReader(GuardedReader(stream, path, limit), 2**18)


def guarded_text(stream, path, limit, most_lines=MOST_LINES, most_cells=MOST_CELLS, rectangular=False):
    """Return a buffered GuardedText."""
    return io.BufferedReader(GuardedText(stream, path, limit, most_lines, most_cells, rectangular), 2**18)


@contextmanager
def open_data_file(path, member=None, limit=SIZE_LIMIT, rectangular=False):
    """Yield a binary stream of the single text file in path.

    It may be plain, .gz, .bz2, .xz, .zip, .tar.xz (.tar.gz, .tar.bz2). `member` is the base name of the
    wanted file in an archive; "inner.zip/NAME" is NAME in a zip inside it.
    """
    path = Path(path)
    outer, nested, inner = (member or "").partition(".zip/")
    member = f"{outer}.zip" if nested else member
    suffix = path.suffix.lower()
    with ExitStack() as stack:
        try:
            stream = file = stack.enter_context(open(path, "rb"))
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}.") from error
        if not os.fstat(file.fileno()).st_size:
            raise DataError(f"{path} is empty.")
        with damage_reported(path):
            if suffix == ".zip":
                stream = open_zip_member(stack, file, path, member, limit)
            elif path.stem.lower().endswith(".tar"):
                stream = open_tar_member(stack, file, path, member, limit)
            elif suffix in DECOMPRESSORS:
                stream = open_compressed(stack, file, path, limit)
            if nested:
                inner_zip = io.BytesIO(guarded(stream, path, NESTED_LIMIT).read())
                stream = open_zip_member(stack, inner_zip, path, inner, limit)
        # outside damage_reported: errors in the caller's with block are not ours
        yield guarded_text(stream, path, limit, rectangular=rectangular)


def open_compressed(stack, file, path, limit):
    """Return the decompressed stream of a .gz, .bz2 or .xz file."""
    file.seek(0)
    opened = DECOMPRESSORS[path.suffix.lower()](file)  # type: ignore[operator]
    return guarded(stack.enter_context(opened), path, limit)


def open_zip(file, path):
    """Return the ZipFile of an open file after checking its directory."""
    file.seek(0)
    n_members = sum(block.count(b"PK\1\2") for block in iter(lambda: file.read(2**20), b""))
    if n_members > MOST_MEMBERS:  # before zipfile reads them all
        raise DataError(f"{path} has more than {MOST_MEMBERS:,} members.")
    archive = zipfile.ZipFile(file)
    for member in archive.infolist():
        refuse_outside(path, member.filename)
        # zipfile unpacks other methods without a bound
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(f"{path} has a member with an unsupported compression method: {member.filename}.")
    return archive


def read_array(archive, name, path, limit):
    """Return one array of numbers of a zip of .npy files, never unpickled; its header must match its size."""
    with archive.open(f"{name}.npy") as stream:
        data = guarded(stream, path, limit).read()
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array of another format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    true_size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if dtype.kind not in "biuf" or true_size != len(data) - stream.tell():
        raise ValueError(f"an array of {shape} {dtype} in {len(data)} bytes")
    stream.seek(0)
    return np.load(stream, allow_pickle=False)


def open_zip_member(stack, file, path, member, limit):
    """Return the stream of one file of a zip archive."""
    archive = stack.enter_context(open_zip(file, path))
    picked = pick_member(path, archive.namelist(), member)
    return guarded(stack.enter_context(archive.open(picked)), path, limit)


def open_tar_member(stack, file, path, member, limit):
    """Return the stream of one file of a compressed tar archive, which is first read once to check it."""

    def open_tar():
        expanded = open_compressed(stack, file, path, limit)
        return stack.enter_context(tarfile.open(fileobj=expanded, mode="r|"))

    members = list(islice(open_tar(), MOST_MEMBERS + 1))
    if len(members) > MOST_MEMBERS:
        raise DataError(f"{path} has more than {MOST_MEMBERS:,} members.")
    for entry in members:
        refuse_outside(path, entry.name, is_link=not (entry.isreg() or entry.isdir()))
    name = pick_member(path, [entry.name for entry in members if entry.isreg()], member)
    archive = open_tar()
    entry = next(entry for entry in archive if entry.name == name)
    return guarded(archive.extractfile(entry), path, limit)


def refuse_outside(path, name, is_link=False):
    """Reject an archive with a member that has an absolute name or a `..`, or is a link or device."""
    windows_path = PureWindowsPath(name)  # handles both kinds of slashes, and drive letters
    if is_link or windows_path.anchor or ".." in windows_path.parts:
        raise DataError(f"{path} holds a member that points outside its folder: {name}.")


def pick_member(path, names, member):
    """Return the one name that is, or ends in, `member`, or without `member` the one data file."""
    last_parts = {name: PurePosixPath(name).name for name in names}
    if member:
        found = [name for name, last in last_parts.items() if member in (name, last)]
    else:  # macOS adds names with a leading dot to archives
        found = [
            name
            for name, last in last_parts.items()
            if last.lower().endswith(DATA_SUFFIXES) and not last.startswith(".")
        ]
    if len(found) != 1:
        raise DataError(f"{path} must hold exactly one {member or 'data file'}, but holds {len(found)}.")
    return found[0]
