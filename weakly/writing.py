"""Write a file so that readers never see a partly written one, and nothing is lost."""

import itertools
import os
import shutil
import stat
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path

from weakly.errors import DataError

STANDARD_OUTPUT = 1  # its descriptor: sys.stdout may have been replaced


def name_of(target):
    """A target for a message; "-" is standard output."""
    return "standard output" if target == "-" else str(target)


def is_standard_output(target):
    """Whether a target is this process's output: "-", or a path of the same file or device."""
    with suppress(OSError):
        return target == "-" or os.path.samestat(os.stat(target), os.fstat(STANDARD_OUTPUT))
    return False


def is_written_through(target):
    """Whether a target is not a regular file and cannot be replaced: a device, a pipe, standard output."""
    if is_standard_output(target):
        return True
    try:
        return not stat.S_ISREG(os.stat(target).st_mode)
    except FileNotFoundError:
        return False


def refuse_source(target, *statuses):
    """Refuse to write to an input file: a regular file that has one of these statuses (os.stat)."""
    with suppress(OSError):
        own = os.fstat(STANDARD_OUTPUT) if target == "-" else os.stat(target)
        if stat.S_ISREG(own.st_mode) and any(os.path.samestat(own, status) for status in statuses):
            raise DataError(
                f"{name_of(target)} is an input file, so it cannot be written to: name another file."
            )


def statuses_of(paths):
    """The statuses (os.stat) of those paths that exist."""
    return [os.stat(path) for path in paths if os.path.exists(path)]


@contextmanager
def written_whole(target):
    """Yield a binary file that gets the name `target` only once it has been written without an error.

    A link is kept, and the file that it points to is replaced. A target that is_written_through gets every
    part at once.
    """
    with os_errors_tell(target), _opened(target) if is_written_through(target) else _replaced(target) as file:
        yield file


def _opened(target):
    """A device, pipe or standard output as it is."""
    return open(STANDARD_OUTPUT, "wb", closefd=False) if is_standard_output(target) else open(target, "wb")


@contextmanager
def os_errors_tell(target):
    """Turn an error of the operating system into a sentence about a file that cannot be written."""
    try:
        yield
    except OSError as error:
        # nothing reads it any more: weakly.command_line.user_errors_end ends quietly
        unread = isinstance(error, BrokenPipeError) and is_written_through(target)
        # errno: not of the operating system, because requests derives its errors from OSError, too
        if unread or error.errno is None:
            raise
        raise DataError(f"{name_of(target)} cannot be written: {error.strerror or error}.") from error


@contextmanager
def _replaced(target):
    """A file next to the target, or to what it links to, that replaces it at the end."""
    target = Path(os.path.realpath(target))
    # unique, for several processes at once
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.weakly-part")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(part, "wb") as file:
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), stat.S_IMODE(os.stat(target).st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
        _sync(target.parent)  # the name, too
    finally:
        part.unlink(missing_ok=True)


def copy_aside(path):
    """Copy a file that is about to lose something to the next free name with .bak; returns the copy."""
    names = (f"{path.name}.bak{number or ''}" for number in itertools.count())
    copy = next(copy for copy in map(path.with_name, names) if not copy.exists())
    shutil.copy2(path, copy)
    _sync(copy)
    _sync(copy.parent)
    return copy


def _sync(path):
    """Have a file or folder on disk, not only in memory, as far as its file system can."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
