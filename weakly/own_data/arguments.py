"""Command-line arguments that several commands of detect.py share."""

import argparse

from weakly.command_line import positive
from weakly.own_data.tables import Notation


def comma_list(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def anomaly_values(given):
    """The values of --anomaly-value: separated by commas if it is given once, else one for each time."""
    return comma_list(given[0]) or given if given and len(given) == 1 else given


def text_encoding(text):
    """A command-line argument as the name of an encoding that Python knows."""
    try:
        " ".encode(text)
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError(
            f"unknown encoding {text!r}; usual ones are utf-8, latin-1, cp1252 and utf-16"
        ) from None
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
    return Notation(
        header=fitted.get("header") if args.header is None else args.header,
        encoding=args.encoding,
        decimal=args.decimal,
        thousands=args.thousands,
        missing=(*args.missing, *fitted.get("missing", ())),
    )


def add_training_arguments(command, label_required):
    """The labels, which columns are used, and the seed."""
    labels = "column of labels, 1/0, true/false or yes/no; empty cells are unlabelled, and if there are any, "
    add_label_column(command, labels + "0 means checked and normal", label_required)
    add = command.add_argument
    add("--drop", type=comma_list, default=[], metavar="A,B", help="columns to leave out")
    checked = "file that `next` wrote, with its label column filled in; repeat the option for several files"
    add("--checked", action="append", default=[], metavar="FILE", help=checked)
    add("--seed", type=int, default=0, help="seed of all random draws (default: %(default)s)")


def add_label_column(command, help_text, required):
    """The column of labels, and what they mean."""
    anomaly = (
        "label that marks an anomaly instead of 1, true and yes, or several; all other labels then mean 0. "
        "Repeat the option for labels that contain a comma"
    )
    normal = "label of rows that were checked and found normal; other labels are then refused"
    command.add_argument("--label", required=required, metavar="COLUMN", help=help_text)
    command.add_argument("--anomaly-value", action="append", metavar="A,B", help=anomaly)
    command.add_argument("--normal-value", metavar="VALUE", help=normal)


def add_top_argument(command, default, help_text):
    command.add_argument("--top", type=positive, default=default, metavar="N", help=help_text)
