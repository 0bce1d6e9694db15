"""detect.py report: write an HTML page about a scored table.

report_page.html is its template, which shortens and escapes cells and names, because they are not trusted.
"""

import os
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

from weakly.command_line import rate
from weakly.errors import DataError, printable
from weakly.numbers import count, count_of, number, percent
from weakly.own_data import arguments, score_command
from weakly.own_data.drift import FEWEST_ROWS, Comparison
from weakly.own_data.info_command import facts
from weakly.own_data.labels import ANOMALY, is_missing, known_labels
from weakly.own_data.models import load_model
from weakly.reporting.pages import STYLE, head_and_script, template
from weakly.reporting.pictures import COLOURS, TEXT, as_svg, figure
from weakly.writing import name_of, refuse_source, written_whole

OWN_STYLE = Path(__file__).with_name("report_page.css")
MOST_TOP = 500  # rows of the table of the highest
NUMBERS = {"count": count, "number": number, "percent": percent}  # formats of a table's columns
RATES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)  # shares of the training rows, one threshold for each
SCORE_BINS, TRIMMED = 60, 0.0005  # share of the rows at either end of the scores that the outermost bins hold
LOOKS = COLOURS | {"these rows": COLOURS["released"], "training rows": COLOURS["published"]}


def add_arguments(command):
    command.description = "Writes a self-contained HTML page; --label adds the quality of the ranking."
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
    add("--keep", type=arguments.comma_list, metavar="A,B", help="columns to show with the highest rows")
    command.set_defaults(explain=True)


def run(args):
    model = load_model(args.model)
    table = score_command.open_for_model(args, model)
    refuse_source(args.output, table.status, os.stat(args.model))
    table.must_have([args.label] if args.label else [], "of --label")
    found = Overview(model, table, args)
    with written_whole(args.output) as file:
        file.write(report_page(found, table).encode())
    print(f"Scored {count_of(len(found.scores), 'row')} of {table.path}; wrote {name_of(args.output)}.")
    score_command.print_doubts(found.unreadable, found.comparison)


class Overview:
    """What the page shows of a table, which is scored once; most rows leave only a score and a label."""

    def __init__(self, model, table, args):
        self.model, self.contamination, self.unreadable = model, args.contamination, set()
        self.comparison = Comparison(model.about["summary"], model.columns)
        self.best, self.y = pd.DataFrame(), None  # highest rows: row, score, label, kept columns, why_*
        keep, label = score_command.kept_columns(args, table), [args.label] if args.label else []
        top, scores, labels = min(args.top, MOST_TOP), [], []
        chunks = score_command.scored_chunks(model, table, keep + label, self.comparison, self.unreadable)
        for raw, typed, found in chunks:
            rows = score_command.scored_rows(model, raw, typed, found, top, score_command.REASONS)
            rows = rows[["row", "score"]].join(raw[keep]).join(rows.filter(like="why_"))
            self.best = score_command.highest(top, self.best, rows)
            scores.append(found)
            labels.append(raw[label])
        self.scores = np.concatenate(scores)  # (n,)
        if label:
            cells = pd.concat(labels)[args.label]
            self.y = (known_labels(cells, args.anomaly_value, table.path) == ANOMALY).astype(int)
            if is_missing(cells).any() or self.y.min() == self.y.max():
                wrong = f"Column {args.label!r} of {table.path} must label all rows, not all of them alike"
                raise DataError(f"{wrong}: fill it in, or leave out --label.")
            self.best.insert(2, "labelled", self.y[self.best.index], allow_duplicates=True)

    def at(self, rate):
        """What is flagged above the threshold of a rate and, if labels are known, how much of it is right."""
        threshold = self.model.threshold(rate)
        flagged = self.scores > threshold
        row = {"rate": rate, "threshold": threshold, "flagged": flagged.sum(), "share": flagged.mean()}
        if self.y is None:
            return row
        hits, alarms, missed, others = np.bincount(2 * ~flagged + (self.y == 0), minlength=4)
        row |= {"hits": hits, "alarms": alarms, "missed": missed, "others": others}
        return row | {"precision": hits / (hits + alarms or np.nan), "recall": hits / (hits + missed)}


def report_page(found, table):
    """The page of an Overview."""
    chosen, kinds = found.at(found.contamination), ["count", "number"] + ["label"] * (found.y is not None)
    known = NUMBERS | {"NUMBERS": NUMBERS, "count_of": count_of, "printable": printable}
    known |= {"auc_pr": average_precision_score, "auc_roc": roc_auc_score}
    return template("report_page.html", FEWEST_ROWS=FEWEST_ROWS, **known).render(
        **head_and_script("", "cueScrolling();\nopenTarget();\n", STYLE + OWN_STYLE.read_text()),
        found=found,
        chosen=chosen,
        file=table,
        thresholds=[list(found.at(rate).values()) for rate in sorted({*RATES, found.contamination})],
        best_head=[*zip_longest(found.best, kinds)],
        changes=found.comparison.changes(),
        facts=facts(found.model.about),
        score_picture=score_picture(found, chosen["threshold"]),
    )


def score_picture(found, threshold):
    """The distributions of the scores; far outliers are in the outermost bins."""
    samples = {"these rows": found.scores}
    if found.y is not None:
        samples = {"normals": found.scores[found.y == 0], "anomalies": found.scores[found.y == 1]}
    samples["training rows"] = np.array(found.model.about["quantiles"])
    ends = [np.quantile(scores, (TRIMMED, 1 - TRIMMED)) for scores in samples.values()]
    edges = np.histogram_bin_edges([threshold, *np.concatenate(ends)], SCORE_BINS)
    picture, axes = figure(330, 220)
    for name, scores in samples.items():
        shares = 100 * np.histogram(scores.clip(edges[0], edges[-1]), edges)[0] / len(scores)
        look = {} if name == "training rows" else {"fill": True, "alpha": 0.5}
        axes.stairs(shares, edges, color=LOOKS[name].light, label=name, **look)
    axes.axvline(threshold, color=TEXT, linestyle=":", label="threshold")
    axes.set(xlabel="score", ylabel="share of its rows", yscale="log", ylim=(0.001, 100))
    axes.yaxis.set_major_formatter("{x:g}%")
    picture.legend(loc="outside upper left", ncols=2, columnspacing=1, handlelength=1.2)
    return "Scores", as_svg(picture, f"Scores of {', '.join(samples)}; threshold {number(threshold)}")
