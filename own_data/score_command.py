"""detect.py score: the scores of a table's rows by a model of fit."""

import os
import re

from common.command_line import rate
from common.errors import DataError
from common.writing import name_of
from own_data.arguments import add_table_arguments, add_top_argument, comma_list
from own_data.labelled_tables import refuse_source
from own_data.saved_models import load_model
from own_data.score_files import FORMATS, format_of
from own_data.scoring import REASONS, write_scores
from own_data.user_tables import Table

AUTO = "auto"


def add_arguments(command):
    add_table_arguments(command)
    keep = "write input columns too, all or these"
    expected = (
        "expected share of anomalies: flags rows above the score that this share of the training rows "
        "exceeds. auto, for a model of fit --calibrate: above the threshold with the highest recall^2 / "
        "share of flagged rows, which assumes that the labelled anomalies are a random sample of them all"
    )
    reasons = f"the (up to) {REASONS} columns that raise each score most, counted from their typical values"
    command.add_argument("--model", required=True, help="file that fit wrote")
    output = (
        "file to write: .csv, .jsonl (also with .gz) or .parquet; - is standard output (default: %(default)s)"
    )
    written_as = "format of the output, if its name does not say (default: csv)"
    command.add_argument("--output", default="scores.csv", metavar="FILE", help=output)
    command.add_argument("--format", choices=FORMATS, help=written_as)
    command.add_argument("--keep", type=comma_list, nargs="?", const=[], metavar="A,B", help=keep)
    add_top_argument(command, None, "only the N rows with the highest scores, in that order")
    command.add_argument("--contamination", type=rate_or_auto, metavar="RATE", help=expected)
    command.add_argument("--explain", action="store_true", help=reasons)
    command.set_defaults(target="output")


def rate_or_auto(text):
    """A command-line argument as a share, or the word auto."""
    return text if text == AUTO else rate(text)


def chosen_threshold(contamination, model, path):
    """(threshold, how it was chosen), or twice None if no rows are to be flagged."""
    if contamination is None:
        return None, None
    if contamination != AUTO:
        how = f"which {100 * contamination:g}% of the {model.n_rows:,} training rows exceed (--contamination)"
        return model.threshold(contamination), how
    if model.calibration is None:
        raise DataError(
            f"--contamination auto needs a model of `fit --calibrate isotonic` or platt, but {path} is none."
        )
    how = (
        f"above which are {model.calibration.recall:.0%} of the labelled anomalies and "
        f"{model.calibration.flagged:.2%} of all training rows, when scored by a model without them.\n"
        "--contamination auto assumes that the labelled anomalies are a random sample of all anomalies"
    )
    return model.calibration.threshold, how


def open_for_model(args, model):
    """The table of score, written as that of the model was, unless the options say otherwise."""
    header = model.header if args.header is None else args.header
    table = Table(args.table, header, args.encoding, args.decimal or model.decimal)
    model.decimal = table.decimal
    table.must_have(model.kinds, f"that {args.model} was fitted on")
    return table


def run(args):
    format_name = format_of(args.output, args.format)
    model = load_model(args.model)
    table = open_for_model(args, model)
    refuse_source(args.output, table.status, os.stat(args.model))
    keep = table.columns if args.keep == [] else args.keep or []
    table.must_have(keep, "of --keep")
    for name in keep:
        if re.fullmatch("row|score|flag|why_.*" + "|probability" * bool(model.calibration), name):
            raise DataError(
                f"{table.path} has a column {name!r} itself, "
                "so it cannot be kept beside that of the scores: rename it."
            )
    threshold, how = chosen_threshold(args.contamination, model, args.model)
    n_rows, n_written, watch = write_scores(
        model, table, args.output, format_name, keep, args.top, threshold, args.explain
    )
    written = f"the {n_written:,} highest" if args.top else "all"
    print(f"Scored {n_rows:,} rows of {table.path}; wrote {written} to {name_of(args.output)}.")
    if threshold is not None:
        print(f"{watch.n_above:,} of the {n_rows:,} rows are flagged: score above {threshold:.6g}, {how}.")
    if watch.drift:
        print(watch.drift)
