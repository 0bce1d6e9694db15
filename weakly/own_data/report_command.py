"""detect.py report: write an HTML page about a scored table."""

import os

import numpy as np
import pandas as pd

from weakly.command_line import rate
from weakly.errors import DataError
from weakly.numbers import count_of
from weakly.own_data import arguments
from weakly.own_data.drift import Comparison
from weakly.own_data.labels import is_missing, known_labels
from weakly.own_data.models import load_model
from weakly.own_data.scoring import highest, open_for_model, print_doubts, scored_chunks, scored_rows
from weakly.writing import name_of, refuse_source, written_whole

MOST_TOP = 500  # rows on the page
KEPT = "kept: "  # prefix of the table's columns, one of which may be called score too


def add_arguments(command):
    command.description = (
        "Writes one HTML page that needs no network: scores and a threshold, the highest rows with reasons, "
        "the columns, what has changed since training and, with --label, the quality of the ranking."
    )
    arguments.add_table_arguments(command)
    labels = "column of labels, if all are known: 1/0, true/false or yes/no"
    arguments.add_label_column(command, labels, required=False)
    top = f"highest rows to show, at most {MOST_TOP} (default: %(default)s)"
    arguments.add_top_argument(command, 20, top)
    add = command.add_argument
    add("--model", required=True, metavar="FILE", help="file that fit wrote")
    page = "HTML file to write; - is standard output (default: %(default)s)"
    add("--output", default="report.html", metavar="FILE", help=page)
    expected = "expected share of anomalies, which sets the threshold (default: %(default)s)"
    add("--contamination", type=rate, default=0.01, metavar="RATE", help=expected)
    keep = "columns to show with the highest rows, such as ids"
    add("--keep", type=arguments.comma_list, default=[], metavar="A,B", help=keep)


class Overview:
    """What the page shows of a table, which is scored once; most rows leave only a score and a label."""

    def __init__(self, model, table, args, unreadable):
        self.comparison = Comparison(model.about["summary"], model.columns)
        self.best = pd.DataFrame()  # highest rows: kept columns, row, score, why_*
        keep, top, scores, labels = list(dict.fromkeys(args.keep)), min(args.top, MOST_TOP), [], []
        verbatim = [*keep, args.label] if args.label else keep
        for raw, typed, found in scored_chunks(model, table, verbatim, self.comparison, unreadable):
            rows = scored_rows(model, raw, typed, found, top, explain=True)
            self.best = highest(raw[keep].add_prefix(KEPT).join(rows, how="right"), top, self.best)
            scores.append(found)
            if args.label:
                labels.append(raw[args.label].copy())  # a view would hold the whole chunk
        self.scores = np.concatenate(scores)  # (n,)
        # with --label (n,): 1 for an anomaly, 0 for a normal row
        self.y = all_labels(pd.concat(labels), args, table.path) if labels else None

    def confusion(self, threshold):
        """True positives, false positives, false negatives, true negatives above a threshold."""
        return np.bincount(2 * (self.scores <= threshold) + (self.y == 0), minlength=4).tolist()


def all_labels(cells, args, path):
    """Labels (n,) of which none is missing, some are anomalies and some are not."""
    missing = is_missing(cells)
    if missing.any():
        row = f"{missing.argmax() + 1:,} of {path}"
        raise DataError(f"Label row {row}, or leave out --label: all labels must be known.")
    y = known_labels(cells, arguments.anomaly_values(args.anomaly_value), args.normal_value, path).y
    if len(np.unique(y)) == 1:
        raise DataError(f"All rows of {path} have one label in column {args.label!r}: leave out --label.")
    return y


def run(args):
    model = load_model(args.model)
    table = open_for_model(args, model)
    refuse_source(args.output, table.status, os.stat(args.model))
    table.must_have(args.keep, "of --keep")
    table.must_have([args.label] if args.label else [], "of --label")
    found = Overview(model, table, args, unreadable := set())
    from weakly.own_data.report_page import report_page  # here, because matplotlib takes its time

    with written_whole(args.output) as file:
        file.write(report_page(model, found, table, args.contamination).encode())
    print(f"Scored {count_of(len(found.scores), 'row')} of {table.path}; wrote {name_of(args.output)}.")
    print_doubts(unreadable, found.comparison)
