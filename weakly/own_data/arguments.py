"""Command-line arguments that several commands of detect.py share."""

import argparse

from weakly.command_line import positive
from weakly.own_data.calibration import CALIBRATIONS
from weakly.own_data.event_model import SAVED_METHODS

LABEL_HELP = (
    "column of labels, 1/0, true/false or yes/no; empty cells are unlabelled, "
    "and if there are any, 0 means checked and normal"
)


def comma_list(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def anomaly_values(given):
    """The values of --anomaly-value: separated by commas if it is given once, else one for each time."""
    if given and len(given) == 1:
        return comma_list(given[0]) or given
    return given


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
    what = "CSV (plain, gzipped or zipped) or Parquet file; - is standard input"
    header = (
        "the first line has the column names; with --no-header, columns are named column_1, column_2, ... "
        "(default: --header, or what the model was fitted with)"
    )
    decimal = "decimal mark of the numbers, . or , (default: . or what the model was fitted with)"
    encoding = "encoding of a CSV file (default: %(default)s)"
    command.add_argument("table", help=what)
    command.add_argument("--header", action=argparse.BooleanOptionalAction, help=header)
    command.add_argument("--decimal", choices=(".", ","), metavar="MARK", help=decimal)
    command.add_argument("--encoding", type=text_encoding, default="utf-8", metavar="NAME", help=encoding)


def add_label_arguments(command):
    """The labels, and which columns are used."""
    add_label_column(command, LABEL_HELP, required=True)
    command.add_argument("--drop", type=comma_list, default=[], metavar="A,B", help="columns to leave out")


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


def add_checked_argument(command):
    checked = "file that `next` wrote, with its label column filled in; repeat the option for several files"
    command.add_argument("--checked", action="append", default=[], metavar="FILE", help=checked)


def add_method_argument(command, known=SAVED_METHODS):
    command.add_argument(
        "--method", choices=known, default="prenet", help="the detector (default: %(default)s)"
    )


def add_calibrate_argument(command, purpose):
    how = f"{purpose}. Unlabelled rows count as normal; isotonic needs more labels than platt"
    command.add_argument("--calibrate", choices=CALIBRATIONS, help=how)


def add_seed_argument(command):
    command.add_argument(
        "--seed", type=int, default=0, help="seed of all random draws (default: %(default)s)"
    )


def add_top_argument(command, default, help_text):
    command.add_argument("--top", type=positive, default=default, metavar="N", help=help_text)
