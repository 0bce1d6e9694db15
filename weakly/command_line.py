"""What the command lines have in common: argument types, wrapped text, and how an error ends a command."""

import argparse
import ast
import difflib
import os
import re
import shutil
import sys
import textwrap
from contextlib import contextmanager

from weakly.errors import UserError
from weakly.writing import STANDARD_OUTPUT

MOST = 100_000  # for every number of something; more are a mistake, and would take all memory
UNREAD = 128 + 13  # the exit code that a shell shows for a program that SIGPIPE ended


@contextmanager
def user_errors_end(parser):
    """Turn a UserError into its sentence and exit code 2, as argparse does for wrong arguments.

    If nothing reads the output any more, as after `| head`, the command ends silently.
    """
    open_standard_streams()
    try:
        yield
        print(end="", flush=True)  # flush the buffer now: at exit it would be too late
    except UserError as error:
        parser.error(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), STANDARD_OUTPUT)  # for what Python flushes at exit
        sys.exit(UNREAD)


def open_standard_streams():
    """Send what is printed to a closed stream (`2>&-`) nowhere.

    Otherwise the next file that is opened would take its descriptor, and messages of libraries end up in it.
    """
    for descriptor, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, "w" if descriptor else "r", closefd=False))  # noqa: SIM115


def refuse_unknown(parser, words):
    """End a command whose parser did not know these words, with the option that was probably meant."""
    if words:
        option = words[0].partition("=")[0]
        known = [name for action in parser._actions for name in action.option_strings if name != "--help"]
        near = difflib.get_close_matches(option, known)
        hint = f"; did you mean {near[0]}?" if near and option.startswith("-") else ""
        parser.error(f"unrecognized arguments: {' '.join(words)}{hint}")


def parse_names(text, known, what):
    """A comma-separated list as names, each of them known."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
            raise argparse.ArgumentTypeError(f"unknown {what} {name!r}; {hint}")
    if not names:
        raise argparse.ArgumentTypeError(f"no {what} given")
    return list(dict.fromkeys(names))


def positive(text):
    """A command-line argument as a whole number from 1 to MOST."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {MOST:,}, not {text!r}")
    return int(text)


def setting(text):
    """A command-line argument NAME=VALUE as (name, value): a number, True, False, None or a word."""
    name, equals, value = text.partition("=")
    if not (equals and name.isidentifier() and re.fullmatch(r"[\w.+-]+", value)):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, such as margin=2, not {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def rate(text, end=1):
    """A command-line argument as a number from 0 to below the end; it is a share if that is 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < end:
        raise argparse.ArgumentTypeError(f"must be a number of at least 0 and below {end}, not {text!r}")
    return value


def say(text):
    """Print a text, wrapped at the terminal's width."""
    print_line("", text)


def print_line(cells, words):
    """Print the cells of a row and then words, which are wrapped at the terminal's width below each other."""
    width = max(shutil.get_terminal_size().columns - 1, len(cells) + 20)
    lines = textwrap.wrap(words, width, initial_indent=cells, subsequent_indent=" " * len(cells),
                          break_long_words=False, break_on_hyphens=False)  # fmt: skip
    print(*lines or [cells], sep="\n", flush=True)
