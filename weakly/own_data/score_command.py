"""detect.py score: score the rows of a table with a model."""

import os
import re

from weakly.command_line import rate
from weakly.errors import DataError
from weakly.own_data.arguments import add_table_arguments, add_top_argument, comma_list
from weakly.own_data.labelled_tables import refuse_source
from weakly.own_data.saved_models import load_model
from weakly.own_data.score_files import FORMATS, format_of
from weakly.own_data.scoring import REASONS, write_scores
from weakly.own_data.user_tables import Table
from weakly.writing import name_of

AUTO = "auto"


def add_arguments(command):
    add_table_arguments(command)
    keep = "also write these input columns, or all of them if none is named; then put it last"
    expected = (
        "expected share of anomalies: flags rows above the score that this share of the training rows "
        "exceeds. auto needs a model from fit --calibrate: its threshold has the highest recall^2 / share of "
        "flagged rows, which assumes that the labelled anomalies are a random sample of all anomalies"
    )
    reasons = (
        f"also write up to {REASONS} columns that raise each score most, compared with their typical values"
    )
    command.add_argument("--model", required=True, help="file that fit wrote")
    output = (
        "file to write: .csv, .jsonl (also with .gz) or .parquet; - is standard output (default: %(default)s)"
    )
    written_as = "format of the output (default: by the ending of its name, else csv)"
    command.add_argument("--output", default="scores.csv", metavar="FILE", help=output)
    command.add_argument("--format", choices=FORMATS, help=written_as)
    command.add_argument("--keep", type=comma_list, nargs="?", const=[], metavar="A,B", help=keep)
    add_top_argument(command, None, "write only the N rows with the highest scores, the highest first")
    command.add_argument("--contamination", type=rate_or_auto, metavar="RATE", help=expected)
    command.add_argument("--explain", action="store_true", help=reasons)
    command.set_defaults(target="output")


def rate_or_auto(text):
    """A command-line argument as a share, or the word auto."""
    return text if text == AUTO else rate(text)


def chosen_threshold(contamination, model, path):
    """(threshold, how it was chosen); both are None if no rows are to be flagged."""
    if contamination is None:
        return None, None
    if contamination != AUTO:
        how = f"which {100 * contamination:g}% of the {model.n_rows:,} training rows exceed (--contamination)"
        return model.threshold(contamination), how
    if model.calibration is None:
        raise DataError(
            f"--contamination auto needs a calibrated model, but {path} is not calibrated: "
            "make one with fit --calibrate platt, or give a share such as --contamination 0.01."
        )
    how = (
        f"which {model.calibration.recall:.0%} of the labelled anomalies and "
        f"{model.calibration.flagged:.2%} of all training rows exceed if scored by a model without them.\n"
        "--contamination auto assumes that the labelled anomalies are a random sample of all anomalies"
    )
    return model.calibration.threshold, how


def open_for_model(args, model):
    """The table to score, in the notation of the training table unless the options say otherwise."""
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
                f"{table.path} already has a column {name!r}, which score also writes: "
                "rename it, or leave it out of --keep."
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
