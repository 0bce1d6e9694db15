"""What can go wrong that the user can mend: one error type, one clear sentence each.

common.command_line.user_errors_end turns it into that sentence and exit code 2.
"""

LONGEST = 2_000  # characters of a message


class UserError(Exception):
    """A problem in one clear sentence; what a file put into it cannot break the line or the terminal."""

    def __init__(self, message):
        message = printable(message)
        super().__init__(message if len(message) <= LONGEST else message[:LONGEST] + " ...")


class DataError(UserError):
    """A problem with a file that came from outside."""


class Refused(DataError):
    """A download that is not the file it should be; another address may have that one."""


def printable(text):
    """A text that may come from a file, with escapes in place of line breaks and control characters."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
