"""Command-line arguments that several commands of detect.py share."""

import argparse

from common.command_line import positive
from own_data.calibration import CALIBRATIONS
from own_data.event_model import SAVED_METHODS

LABEL_HELP = "1/0 or true/false; empty means unlabelled; 0 next to empty cells means checked and normal"


def comma_list(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def anomaly_values(given):
    """The values of --anomaly-value: if it is given once, commas separate them, else each is one."""
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
    """The table, and how it is written."""
    what = "CSV, also gzipped or zipped, or Parquet; - is standard input"
    header = (
        "whether the first line has the names of the columns; without it they are column_1, column_2, ... "
        "(default: it has, and for score as fit's table)"
    )
    decimal = "decimal mark of the numbers, . or , (default: . and for score that of fit's table)"
    encoding = "of a CSV file (default: %(default)s)"
    command.add_argument("table", help=what)
    command.add_argument("--header", action=argparse.BooleanOptionalAction, help=header)
    command.add_argument("--decimal", choices=(".", ","), metavar="MARK", help=decimal)
    command.add_argument("--encoding", type=text_encoding, default="utf-8", metavar="NAME", help=encoding)


def add_label_arguments(command):
    """What is a label, and which columns are used."""
    add_label_column(command, LABEL_HELP, required=True)
    command.add_argument("--drop", type=comma_list, default=[], metavar="A,B", help="columns to leave out")


def add_label_column(command, help_text, required):
    """The column of labels, and what they mean."""
    anomaly = (
        "what marks an anomaly instead, or several such values; all other labels then mean 0. "
        "Repeat the option for values with a comma in them"
    )
    normal = "what marks rows that were checked and found normal; other labels are then refused"
    command.add_argument("--label", required=required, metavar="COLUMN", help=help_text)
    command.add_argument("--anomaly-value", action="append", metavar="A,B", help=anomaly)
    command.add_argument("--normal-value", metavar="VALUE", help=normal)


def add_checked_argument(command):
    checked = "a file of `next` whose label column you have filled in; repeat the option for several files"
    command.add_argument("--checked", action="append", default=[], metavar="FILE", help=checked)


def add_method_argument(command):
    command.add_argument(
        "--method", choices=SAVED_METHODS, default="prenet", help="the detector (default: %(default)s)"
    )


def add_calibrate_argument(command, purpose):
    how = f"{purpose}. Unlabelled rows count as normal; isotonic needs more labels than platt"
    command.add_argument("--calibrate", choices=CALIBRATIONS, help=how)


def add_seed_argument(command):
    command.add_argument("--seed", type=int, default=0, help="of all random draws (default: %(default)s)")


def add_top_argument(command, default, help_text):
    command.add_argument("--top", type=positive, default=default, metavar="N", help=help_text)
