"""detect.py report: write an HTML page about a scored table."""

import os

from weakly.command_line import rate
from weakly.own_data.arguments import (
    add_label_column,
    add_table_arguments,
    add_top_argument,
    anomaly_values,
    comma_list,
)
from weakly.own_data.labelled_tables import refuse_source
from weakly.own_data.overview import overview_of
from weakly.own_data.report_page import MOST_KEPT, MOST_TOP, report_page
from weakly.own_data.saved_models import load_model
from weakly.own_data.score_command import open_for_model
from weakly.writing import name_of, written_whole

DESCRIPTION = (
    "Writes one HTML page that needs no network: the scores and a threshold, the highest rows with their "
    "reasons, the columns and how they changed since training and, with --label, the quality of the ranking."
)


def add_arguments(command):
    command.description = DESCRIPTION
    add_table_arguments(command)
    command.add_argument("--model", required=True, help="file that fit wrote")
    page = "HTML file to write; - is standard output (default: %(default)s)"
    command.add_argument("--output", default="report.html", metavar="FILE", help=page)
    add_label_column(command, "column of labels, if all are known: 1/0, true/false or yes/no", required=False)
    expected = "expected share of anomalies, which sets the threshold (default: %(default)s)"
    command.add_argument("--contamination", type=rate, default=0.01, metavar="RATE", help=expected)
    keep = f"columns to show with the highest rows, such as ids; at most {MOST_KEPT}"
    command.add_argument("--keep", type=comma_list, default=[], metavar="A,B", help=keep)
    add_top_argument(
        command, 20, f"number of highest rows to show, at most {MOST_TOP} (default: %(default)s)"
    )
    command.set_defaults(target="output")


def run(args):
    model = load_model(args.model)
    table = open_for_model(args, model)
    refuse_source(args.output, table.status, os.stat(args.model))
    table.must_have(args.keep, "of --keep")
    table.must_have([args.label] if args.label else [], "of --label")
    values = anomaly_values(args.anomaly_value)
    top, keep = min(args.top, MOST_TOP), args.keep[:MOST_KEPT]
    found = overview_of(model, table, top, keep, args.label, values, args.normal_value)
    page = report_page(model, found, table, args.contamination)
    with written_whole(args.output) as file:
        file.write(page.encode())
    print(f"Scored {len(found.scores):,} rows of {table.path}; wrote {name_of(args.output)}.")
    if found.comparison and (drift := found.comparison.in_words()):
        print(drift)
