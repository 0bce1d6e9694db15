"""detect.py report: write an HTML page about a scored table."""

import os
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from weakly.command_line import rate
from weakly.errors import DataError
from weakly.own_data.arguments import (
    add_label_column,
    add_table_arguments,
    add_top_argument,
    anomaly_values,
    comma_list,
)
from weakly.own_data.drift import Comparison
from weakly.own_data.info_command import counted
from weakly.own_data.labels import is_missing, known_labels
from weakly.own_data.models import load_model
from weakly.own_data.score_command import open_for_model, unreadable_in_words
from weakly.own_data.scoring import highest, progress_bar, score_rows
from weakly.writing import name_of, refuse_source, written_whole

MOST_TOP, MOST_KEPT = 500, 30  # rows and columns of the table, shown on the page
KEPT = "kept: "  # prefix of the table's columns, one of which may be called score too
DESCRIPTION = (
    "Writes one HTML page that needs no network: the scores and a threshold, the highest rows with their "
    "reasons, the columns and how they changed since training and, with --label, the quality of the ranking."
)


def add_arguments(command):
    command.description = DESCRIPTION
    add_table_arguments(command)
    add = command.add_argument
    add("--model", required=True, metavar="FILE", help="file that fit wrote")
    page = "HTML file to write; - is standard output (default: %(default)s)"
    add("--output", default="report.html", metavar="FILE", help=page)
    add_label_column(command, "column of labels, if all are known: 1/0, true/false or yes/no", required=False)
    expected = "expected share of anomalies, which sets the threshold (default: %(default)s)"
    add("--contamination", type=rate, default=0.01, metavar="RATE", help=expected)
    keep = f"columns to show with the highest rows, such as ids; at most {MOST_KEPT}"
    add("--keep", type=comma_list, default=[], metavar="A,B", help=keep)
    top = f"number of highest rows to show, at most {MOST_TOP} (default: %(default)s)"
    add_top_argument(command, 20, top)
    command.set_defaults(target="output")


@dataclass
class Overview:
    """What the page shows of a scored table; collects it while the rows are scored."""

    comparison: Comparison
    parts: list = field(default_factory=list)  # the scores of each chunk
    best: pd.DataFrame = field(default_factory=pd.DataFrame)  # highest rows: row, score, why_*, kept columns
    y: np.ndarray | None = None  # (n,) 1 for an anomaly, 0 for a normal row; None without --label

    def add(self, table, scores):
        self.comparison.add(table)
        self.parts.append(scores)

    @cached_property
    def scores(self):
        return np.concatenate(self.parts)

    def confusion(self, threshold):
        """True positives, false positives, false negatives, true negatives above a threshold."""
        flagged, anomalous = self.scores > threshold, self.y == 1
        pairs = ((1, 1), (1, 0), (0, 1), (0, 0))
        return tuple(int(((flagged == f) & (anomalous == a)).sum()) for f, a in pairs)


def overview_of(model, table, args, unreadable):
    """The Overview of a Table, which is read once; only a score and a label per row stay in memory."""
    found, cells = Overview(Comparison(model.about["summary"], model.columns)), []
    keep, top = args.keep[:MOST_KEPT], min(args.top, MOST_TOP)
    verbatim = [*keep, *([args.label] if args.label else [])]
    names = [name for name in table.columns if name in verbatim or name in model.columns]
    with progress_bar(table) as bar:
        for raw in table.chunks(names, verbatim=verbatim):
            best = score_rows(model, raw, top, True, [found], unreadable)
            found.best = highest(best.join(raw[keep].add_prefix(KEPT)), top, found.best)
            if args.label:
                cells.append(raw[args.label].copy())  # a view would hold the whole chunk
            bar.update(table.position - bar.n)
    if args.label:
        found.y = all_labels(pd.concat(cells), args, table.path)
    return found


def all_labels(cells, args, path):
    """Labels (n,) of which none is missing, some are anomalies and some are not."""
    missing = is_missing(cells)
    if missing.any():
        row = f"{path} has no label in row {missing.argmax() + 1:,}"
        raise DataError(f"{row}: all labels must be known, so label it, or leave out --label.")
    y = known_labels(cells, anomaly_values(args.anomaly_value), args.normal_value, path).y
    if y.all() or not y.any():
        only = "only anomalies" if y.any() else "no anomaly"
        raise DataError(f"{path} has {only} in column {args.label!r}: leave out --label.")
    return y


def run(args):
    model = load_model(args.model)
    table = open_for_model(args, model)
    refuse_source(args.output, table.status, os.stat(args.model))
    table.must_have(args.keep, "of --keep")
    table.must_have([args.label] if args.label else [], "of --label")
    found = overview_of(model, table, args, unreadable := set())
    from weakly.own_data.report_page import report_page  # here, because matplotlib takes its time

    with written_whole(args.output) as file:
        file.write(report_page(model, found, table, args.contamination).encode())
    print(f"Scored {counted(len(found.scores), 'row')} of {table.path}; wrote {name_of(args.output)}.")
    if unreadable:
        print(unreadable_in_words(unreadable))
    if drift := found.comparison.in_words():
        print(drift)
