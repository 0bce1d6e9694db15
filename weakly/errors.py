"""Problems that the user can fix: one error type, with one clear sentence each.

weakly.command_line.user_errors_end turns it into that sentence and exit code 2.
"""

LONGEST = 2_000  # characters of a message


class UserError(Exception):
    """A problem in one clear sentence; text from a file in it cannot break the line or the terminal."""

    def __init__(self, message):
        message = printable(message)
        super().__init__(message if len(message) <= LONGEST else message[:LONGEST] + " ...")


class DataError(UserError):
    """A problem with an untrusted file."""


class Refused(DataError):
    """A download that is not the expected file; another address may have the right one."""


def printable(text):
    """A text that may come from a file, with line breaks and control characters escaped."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
