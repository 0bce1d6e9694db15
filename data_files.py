"""Opening data files that come from outside: packed or plain, never unpacked to disk, with a bound on their size."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath

SIZE_LIMIT = 4 * 2**30  # bytes, of a download and of what an archive expands to
NESTED_LIMIT = 64 * 2**20  # bytes, of an archive inside an archive: it is held in memory
DATA_SUFFIXES = (".csv", ".svm", ".data", ".txt")
DECOMPRESSORS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class DataError(Exception):
    """A problem with a data file, in one clear sentence for the user."""


class GuardedReader(io.RawIOBase):
    """Reads a decompressed stream up to a limit, and turns whatever goes wrong in it into a DataError."""

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
        buffer[:len(data)] = data
        return len(data)


@contextmanager
def damage_reported(path):
    """Turn any exception into a DataError: on damaged input the archive modules raise a dozen kinds of them."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"{path} is damaged or not a {path.suffix} archive: {error}.") from error


def guarded(stream, path, limit):
    """Return a buffered GuardedReader."""
    return io.BufferedReader(GuardedReader(stream, path, limit), 2**18)


@contextmanager
def open_data_file(path, member=None, limit=SIZE_LIMIT):
    """Yield a binary stream of the one data file in path: plain, .gz, .bz2, .xz, .zip, .tar.xz (.tar.gz, .tar.bz2).

    `member` is the base name of the wanted file in an archive; "inner.zip/NAME" is NAME in a zip inside a zip.
    """
    path = Path(path)
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
        yield stream  # outside damage_reported: what the caller raises in its with block is not ours


def open_compressed(stack, file, path, limit):
    """Return the decompressed stream of a .gz, .bz2 or .xz file."""
    file.seek(0)
    return guarded(stack.enter_context(DECOMPRESSORS[path.suffix.lower()](file)), path, limit)


def open_zip_member(stack, file, path, member, limit):
    """Return the stream of one file of a zip archive, or of a zip archive inside it."""
    outer, nested, inner = (member or "").partition(".zip/")
    archive = stack.enter_context(zipfile.ZipFile(file))
    for name in archive.namelist():
        refuse_outside(path, name)
    picked = pick_member(path, archive.namelist(), f"{outer}.zip" if nested else member)
    stream = stack.enter_context(archive.open(picked))
    if not nested:
        return guarded(stream, path, limit)
    inner_zip = guarded(stream, path, min(limit, NESTED_LIMIT)).read()
    return open_zip_member(stack, io.BytesIO(inner_zip), path, inner, limit)


def open_tar_member(stack, file, path, member, limit):
    """Return the stream of one file of a compressed tar archive, which is read twice: to check it, to read it."""

    def open_tar():
        expanded = open_compressed(stack, file, path, limit)
        return stack.enter_context(tarfile.open(fileobj=expanded, mode="r|"))

    members = list(open_tar())
    for entry in members:
        refuse_outside(path, entry.name, is_link=not (entry.isreg() or entry.isdir()))
    name = pick_member(path, [entry.name for entry in members if entry.isreg()], member)
    archive = open_tar()
    entry = next(entry for entry in archive if entry.name == name)
    return guarded(archive.extractfile(entry), path, limit)


def refuse_outside(path, name, is_link=False):
    """Refuse an archive with a member that has an absolute name or a `..`, or is a link or device."""
    windows_path = PureWindowsPath(name)  # takes both kinds of slashes, and drive letters
    if is_link or windows_path.anchor or ".." in windows_path.parts:
        raise DataError(f"{path} holds a member that points outside its folder: {name}.")


def pick_member(path, names, member):
    """Return the one name that is, or ends in, `member`, or without `member` the one data file."""
    last_parts = {name: PurePosixPath(name).name for name in names}
    if member:
        found = [name for name, last in last_parts.items() if member in (name, last)]
    else:  # names with a leading dot are what macOS adds to archives
        found = [name for name, last in last_parts.items()
                 if last.lower().endswith(DATA_SUFFIXES) and not last.startswith(".")]
    if len(found) != 1:
        raise DataError(f"{path} must hold exactly one {member or 'data file'}, but holds {len(found)}.")
    return found[0]
