"""Open untrusted files, packed or plain, without unpacking them to disk; a problem becomes a DataError.

The cost of a file is bounded: its bytes and, in bounded_memory, the memory for reading it.
"""

import bz2
import gzip
import io
import lzma
import re
import resource
import tarfile
import zipfile
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from weakly.errors import DataError

SIZE_LIMIT = 2 * 2**30  # bytes of a download or an unpacked file; census, the largest, has 0.3 to 0.6 GB
MEMORY_LIMIT = 8 * 2**30  # bytes of additional memory for reading a file; census takes 1.6 GB
# what pandas says if it has no memory for the cells, or the stream has none for the bytes
PANDAS_OUT_OF_MEMORY = ("C error: out of memory", "C error: Calling read(nbytes) on source failed")
DATA_SUFFIXES = (".csv", ".svm", ".data", ".txt")
DECOMPRESSORS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@contextmanager
def bounded_memory(what, limit=None):
    """Let this process use `limit` (MEMORY_LIMIT) more bytes than it has; DataError if that is not enough.

    Linux counts all private writable memory for RLIMIT_DATA. Without /proc (macOS), there is no such bound.
    """
    limit, status = limit or MEMORY_LIMIT, Path("/proc/self/status")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    if status.exists():
        (kilobytes,) = re.findall(r"VmData:\s*(\d+) kB", status.read_text())
        known = [value for value in before if value != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min([*known, 1024 * int(kilobytes) + limit]), before[1]))
    try:
        yield
    except Exception as error:
        if isinstance(error, MemoryError) or any(text in str(error) for text in PANDAS_OUT_OF_MEMORY):
            raise DataError(f"{what} needs more than {limit / 2**30:.3g} GiB of memory.") from None
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


class GuardedReader(io.RawIOBase):
    """Read a stream up to a limit in bytes."""

    def __init__(self, stream, path, limit):
        self._stream, self._path, self._limit, self._count = stream, path, limit, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        with damage_reported(self._path):
            data = self._stream.read(len(buffer))
        self._count += len(data)
        if self._count > self._limit:
            raise DataError(f"{self._path} expands to more than {self._limit} bytes.")
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def damage_reported(path):
    """Turn any exception into a DataError: on damaged input the archive modules raise a dozen kinds."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"{path} is damaged: {error}.") from error


def guarded(stream, path, limit):
    return io.BufferedReader(GuardedReader(stream, path, limit), 2**18)


@contextmanager
def open_data_file(path, member=None):
    """Yield a binary stream of the single text file in path.

    It may be plain, .gz, .bz2, .xz, .zip, .tar.xz (.tar.gz, .tar.bz2). `member` is the name of the wanted
    file in an archive.
    """
    with open(path, "rb") as file:
        yield guarded(unpacked(file, path, member), path, SIZE_LIMIT)


def unpacked(file, path, member):
    """Return the stream of an open file, of what it is packed around, or of a member of the archive it is."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        archive = open_zip(file, path)
        names = [name for name in archive.namelist() if is_wanted(name, member)]
        if len(names) != 1:
            raise DataError(f"{path} must hold exactly one {member or 'data file'}, but holds {len(names)}.")
        return archive.open(names[0])
    if suffix not in DECOMPRESSORS:
        return file
    expanded = guarded(DECOMPRESSORS[suffix](file), path, SIZE_LIMIT)  # type: ignore[operator]
    if not path.stem.lower().endswith(".tar"):
        return expanded
    tar = tarfile.open(fileobj=expanded, mode="r|")  # noqa: SIM115
    for entry in tar:
        if entry.isreg() and is_wanted(entry.name, member):
            return tar.extractfile(entry)
    raise DataError(f"{path} holds no {member or 'data file'}.")


def open_zip(file, path):
    archive = zipfile.ZipFile(file)
    for member in archive.infolist():
        # zipfile unpacks other methods without a bound
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise DataError(f"{path} has a member with an unsupported compression method: {member.filename}.")
    return archive


def is_wanted(name, member):
    """Whether a file in an archive is, or ends in, `member`; if that is None, a data file; if empty, any."""
    last = PurePosixPath(name).name
    if name.endswith("/") or last.startswith("."):  # a folder; macOS adds hidden files
        return False
    return last.lower().endswith(DATA_SUFFIXES) if member is None else member in (name, last, "")
