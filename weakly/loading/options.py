"""The command-line options that say which data sets, and where data comes from."""

import argparse
import os
import re
from pathlib import Path

from weakly.command_line import parse_names
from weakly.loading import registry
from weakly.loading.fetching import SourceFinder
from weakly.loading.unseen import CLASSES, DEMO, UNSEEN_DEMO_SETS, UNSEEN_SETS, parse_unseen


def add_data_arguments(parser):
    """Add the options that say where data comes from, for this script and the experiments."""
    where = "where to look for source files; repeatable (default: $PRENET_DATA)"
    parser.add_argument("--source", action="append", metavar="DIR-or-URL", help=where)
    parser.add_argument("--offline", action="store_true", help="do not use the network")
    parser.add_argument(
        "--data-dir", default="dataset", help="folder of raw and prepared data (default: %(default)s)"
    )


def make_finder(args):
    default = [os.environ["PRENET_DATA"]] if os.environ.get("PRENET_DATA") else []
    return SourceFinder(Path(args.data_dir) / "raw", args.source or default, offline=args.offline)


def prepared_names(text):
    return parse_names(text, [*registry.KNOWN_SETS, DEMO], "data set")


def data_set_names(text):
    """Names of data sets, with commas between them: `thyroid,rec,fuz->dos` is two names.

    Classes before an arrow belong to it; where that would be ambiguous, use a semicolon: `bac;rec,fuz->dos`.
    """
    one_class = "|".join(name for classes in CLASSES.values() for name in classes)
    paper = [*registry.SEEN_SETS, DEMO, *registry.ADDED_SETS]
    views = (*UNSEEN_SETS, *UNSEEN_DEMO_SETS)
    known = {parse_unseen(name) or name: name for name in (*paper, *registry.OUTSIDE_SETS, *views)}
    names = []
    for name in re.findall(rf"(?:{one_class})(?:,(?:{one_class}))*->\w*|[^,;]+", text.replace(" ", "")):
        try:
            names.append(known[parse_unseen(name) or name])
        except (KeyError, ValueError):
            shell_took_arrow = name.endswith("-")
            hint = "; an arrow needs quotes, as in 'rec,fuz->dos'" if shell_took_arrow else ""
            shown = ", ".join([*paper, "and those of Table 3, such as 'rec,fuz->dos'"])
            raise argparse.ArgumentTypeError(f"unknown data set {name!r}{hint}; known: {shown}") from None
    if not names:
        raise argparse.ArgumentTypeError("no data set given")
    return list(dict.fromkeys(names))
