"""Command-line arguments that several commands of detect.py share."""

import argparse

from weakly.command_line import positive
from weakly.own_data.tables import Notation


def comma_list(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def add_table_arguments(command):
    """The table and its notation."""
    add = command.add_argument
    missing = "texts that mean a missing cell, besides the usual ones such as NA, -, ? and unknown"
    add("table", help="CSV or JSON lines (plain, gzipped or zipped) or Parquet file; - is standard input")
    header = "the first line has the column names, or not (default: recognised)"
    add("--header", action=argparse.BooleanOptionalAction, help=header)
    decimal = "decimal mark, . or , (default: recognised)"
    add("--decimal", choices=(".", ","), metavar="MARK", default="", help=decimal)
    add("--missing", type=comma_list, default=[], metavar="A,B", help=missing)
    encoding = "encoding of a text file, such as latin-1, cp1252 or utf-16 (default: %(default)s)"
    add("--encoding", default="utf-8", metavar="NAME", help=encoding)


def notation_of(args, known_as_missing=()):
    """The Notation that the arguments give; known_as_missing: texts that a model takes for missing cells."""
    return Notation(args.header, args.encoding, "strict", args.decimal, (*args.missing, *known_as_missing))


def add_training_arguments(command, label_required):
    """The labels, which columns are used, and the seed."""
    labels = "column of labels, 1/0, true/false or yes/no; empty cells are unlabelled"
    add_label_column(command, labels, label_required)
    add = command.add_argument
    add("--drop", type=comma_list, action="extend", default=[], metavar="A,B", help="columns to leave out")
    checked = "file that `next` wrote, with its label column filled in; repeat the option for several files"
    add("--checked", action="append", default=[], metavar="FILE", help=checked)
    add("--seed", type=int, default=0, help="seed of all random draws (default: %(default)s)")


def add_label_column(command, help_text, required):
    """The column of labels, and which of them mark an anomaly."""
    anomaly = "labels that mark an anomaly, instead of 1, true and yes; all others then mean what 0 does"
    command.add_argument("--label", required=required, metavar="COLUMN", help=help_text)
    command.add_argument("--anomaly-value", type=comma_list, action="extend", metavar="A,B", help=anomaly)


def add_top_argument(command, default, help_text):
    command.add_argument("--top", type=positive, default=default, metavar="N", help=help_text)
