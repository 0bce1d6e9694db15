"""What the command lines have in common: argument types with one-sentence errors, and where data comes from."""

import argparse
import ast
import os
import re
from pathlib import Path

from data_registry import CLASSES, DATA_SETS, DEMO, SEEN_SETS, UNSEEN_DEMO_SETS, UNSEEN_SETS, parse_unseen
from data_sources import SourceFinder


def add_data_arguments(parser):
    """The options that say where data comes from, for this script and the experiments."""
    where = "where to look for source files; repeatable (default: $PRENET_DATA)"
    parser.add_argument("--source", action="append", metavar="DIR-or-URL", help=where)
    parser.add_argument("--offline", action="store_true", help="never touch a network")
    parser.add_argument("--data-dir", default="dataset", help="where raw and prepared data live (default: %(default)s)")


def make_finder(args):
    default = [os.environ["PRENET_DATA"]] if os.environ.get("PRENET_DATA") else []
    return SourceFinder(Path(args.data_dir) / "raw", args.source or default, offline=args.offline)


def parse_names(text, known, what):
    """A comma-separated list as names, each of them known."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"unknown {what} {name!r}; known: {', '.join(known)}")
    if not names:
        raise argparse.ArgumentTypeError(f"no {what} given")
    return list(dict.fromkeys(names))


def positive(text):
    """A command-line argument as a whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def prepared_names(text):
    return parse_names(text, [*DATA_SETS, DEMO], "data set")


def data_set_names(text):
    """Names of data sets of the experiments, such as thyroid, bac and rec,fuz->dos.

    Commas separate the names, but classes before an arrow belong to it: `thyroid,rec,fuz->dos` is two names. A semicolon
    separates where that would be wrong: `bac;rec,fuz->dos`.
    """
    one_class = "|".join(name for classes in CLASSES.values() for name in classes)
    known = {parse_unseen(name) or name: name for name in (*SEEN_SETS, DEMO, *UNSEEN_SETS, *UNSEEN_DEMO_SETS)}
    names = []
    for name in re.findall(rf"(?:{one_class})(?:,(?:{one_class}))*->\w*|[^,;]+", text.replace(" ", "")):
        try:
            names.append(known[parse_unseen(name) or name])
        except (KeyError, ValueError):
            hint = "; an arrow needs quotes, as in 'rec,fuz->dos'" if name.endswith("-") else ""  # the shell took the > away
            shown = ", ".join([*SEEN_SETS, DEMO, "and those of Table 3, such as 'rec,fuz->dos'"])
            raise argparse.ArgumentTypeError(f"unknown data set {name!r}{hint}; known: {shown}") from None
    if not names:
        raise argparse.ArgumentTypeError("no data set given")
    return list(dict.fromkeys(names))


def setting(text):
    """A command-line argument NAME=VALUE as (name, value): a number, True, False, None or a word."""
    name, equals, value = text.partition("=")
    if not (equals and name.isidentifier() and re.fullmatch(r"[\w.+-]+", value)):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, such as margin=2, not {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def l2_setting(text):
    """The value of --lambda as the setting l2."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of at least 0, not {text!r}")
    return "l2", value


def rate(text):
    """A command-line argument as a share from 0 to below 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"must be a number of at least 0 and below 1, not {text!r}")
    return value
