"""Writing a file so that nobody ever sees a half of it."""

import os
import uuid
from contextlib import contextmanager

from common.errors import DataError


@contextmanager
def written_whole(target):
    """Yield a binary file that gets the name `target` only once it has been written without an error."""
    # unique, for several processes at once
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(part, "wb") as file:
                yield file
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        if error.errno is None:  # not of the operating system: requests derives its errors from OSError, too
            raise
        raise DataError(f"{target} cannot be written: {error.strerror or error}.") from error
