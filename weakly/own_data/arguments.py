"""Command-line arguments that several commands of detect.py share."""

import argparse

from weakly.command_line import positive
from weakly.own_data.tables import Notation


def comma_list(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def text_encoding(text):
    """A command-line argument as the name of an encoding that Python knows."""
    try:
        " ".encode(text)
    except (LookupError, ValueError):
        usual = "usual ones are utf-8, latin-1, cp1252 and utf-16"
        raise argparse.ArgumentTypeError(f"unknown encoding {text!r}; {usual}") from None
    return text


def add_table_arguments(command):
    """The table and its notation."""
    add = command.add_argument
    header = (
        "the first line has the column names; with --no-header, columns are named column_1, column_2, ... "
        "(default: --header, or what the model was fitted with)"
    )
    missing = "texts that mean a missing cell, besides the usual ones such as NA, -, ? and unknown"
    add("table", help="CSV or JSON lines (plain, gzipped or zipped) or Parquet file; - is standard input")
    add("--header", action=argparse.BooleanOptionalAction, help=header)
    for name, marks in (("decimal", ".,"), ("thousands", ",. '")):
        known = f"{name} mark (default: recognised)"
        add(f"--{name}", choices=tuple(marks), metavar="MARK", default="", help=known)
    add("--missing", type=comma_list, default=[], metavar="A,B", help=missing)
    encoding = "encoding of a text file (default: %(default)s)"
    add("--encoding", type=text_encoding, default="utf-8", metavar="NAME", help=encoding)


def notation_of(args, fitted=None):
    """The Notation that the arguments give; header and missing cells as a fitted model's table had them.

    The columns of a model have their own decimal and thousands marks, unless the arguments name others.
    """
    fitted = fitted or {}
    header = fitted.get("header") if args.header is None else args.header
    missing = *args.missing, *fitted.get("missing", ())
    return Notation(header, args.encoding, args.decimal, args.thousands, missing)


def add_training_arguments(command, label_required):
    """The labels, which columns are used, and the seed."""
    labels = (
        "column of labels, 1/0, true/false or yes/no; empty cells are unlabelled, and if there are any, 0 "
        "means checked and normal"
    )
    add_label_column(command, labels, label_required)
    add = command.add_argument
    add("--drop", type=comma_list, default=[], metavar="A,B", help="columns to leave out")
    checked = "file that `next` wrote, with its label column filled in; repeat the option for several files"
    add("--checked", action="append", default=[], metavar="FILE", help=checked)
    add("--seed", type=int, default=0, help="seed of all random draws (default: %(default)s)")


def add_label_column(command, help_text, required):
    """The column of labels, and which of them mark an anomaly."""
    anomaly = "labels that mark an anomaly, instead of 1, true and yes; all others then mean what 0 does"
    command.add_argument("--label", required=required, metavar="COLUMN", help=help_text)
    command.add_argument("--anomaly-value", type=comma_list, metavar="A,B", help=anomaly)


def add_top_argument(command, default, help_text):
    command.add_argument("--top", type=positive, default=default, metavar="N", help=help_text)
