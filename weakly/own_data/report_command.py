"""detect.py report: write an HTML page about a scored table.

report_page.html is its template and holds its words. Cells and names are not trusted: they are shortened,
made printable and escaped there. The size of the page does not grow with the table.
"""

import os
from pathlib import Path

import jinja2
import numpy as np
import pandas as pd
from markupsafe import Markup
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from weakly.command_line import rate
from weakly.errors import DataError, printable
from weakly.numbers import count, count_of, number, percent
from weakly.own_data import arguments
from weakly.own_data.drift import FEWEST_ROWS, Comparison
from weakly.own_data.info_command import column_in_words, facts
from weakly.own_data.labels import is_missing, known_labels
from weakly.own_data.models import load_model
from weakly.own_data.score_command import (
    REASONS,
    highest,
    open_for_model,
    print_doubts,
    scored_chunks,
    scored_rows,
)
from weakly.reporting.pages import head_and_script
from weakly.reporting.pictures import COLOURS, PAGE_STYLE, TEXT, as_svg, figure, variables
from weakly.writing import name_of, refuse_source, written_whole

MOST_TOP = 500  # rows on the page
KEPT = "kept: "  # prefix of the table's columns, one of which may be called score too
TEMPLATE = Path(__file__).with_name("report_page.html").read_text("utf-8")
STYLE = f"""
:root {{ {variables()} }}
.picture [fill="var(--text)"] {{ fill: var(--text); }}
.anomalies {{ --c: var(--anomalies); }} .normals {{ --c: var(--normals); }}
.together {{ white-space: nowrap; }} .bold > * {{ font-weight: 700; }}
.facts td {{ overflow-wrap: anywhere; }} .columns tbody th {{ white-space: normal; }}
.columns td:nth-child(4) {{ min-width: 12rem; }} .columns td:nth-child(5) {{ min-width: 8rem; }}
.wrapped thead th:not([colspan]) span {{ white-space: nowrap; max-width: none; }}
"""
NUMBERS = {"count": count, "number": number, "percent": percent}  # formats of a table's columns
RATES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)  # shares of the training rows, one threshold for each
MOST_COLUMNS, LONG = 200, 160  # rows of the table of columns, letters of a cell
SCORE_BINS = 60
LOWEST_PERCENT = 0.001  # at the bottom of the logarithmic axis
TRIMMED = 0.0005  # share of the rows at either end of the scores that the outermost bins hold
LOOKS = COLOURS | {"these rows": COLOURS["released"], "training rows": COLOURS["published"]}


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


def run(args):
    model = load_model(args.model)
    table = open_for_model(args, model)
    refuse_source(args.output, table.status, os.stat(args.model))
    table.must_have(args.keep, "of --keep")
    table.must_have([args.label] if args.label else [], "of --label")
    found = Overview(model, table, args, unreadable := set())
    with written_whole(args.output) as file:
        file.write(report_page(model, found, table, args.contamination).encode())
    print(f"Scored {count_of(len(found.scores), 'row')} of {table.path}; wrote {name_of(args.output)}.")
    print_doubts(unreadable, found.comparison)


class Overview:
    """What the page shows of a table, which is scored once; most rows leave only a score and a label."""

    def __init__(self, model, table, args, unreadable):
        self.comparison = Comparison(model.about["summary"], model.columns)
        self.best = pd.DataFrame()  # highest rows: kept columns, row, score, why_*
        keep, top, scores, labels = list(dict.fromkeys(args.keep)), min(args.top, MOST_TOP), [], []
        verbatim = [*keep, args.label] if args.label else keep
        for raw, typed, found in scored_chunks(model, table, verbatim, self.comparison, unreadable):
            rows = scored_rows(model, raw, typed, found, top, REASONS)
            self.best = highest(top, self.best, raw[keep].add_prefix(KEPT).join(rows, how="right"))
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
    if (missing := is_missing(cells)).any():
        row = f"{missing.argmax() + 1:,} of {path}"
        raise DataError(f"Label row {row}, or leave out --label: all labels must be known.")
    y = (known_labels(cells, args.anomaly_value, path) == 1).astype(int)
    if len(np.unique(y)) == 1:
        raise DataError(f"All rows of {path} have one label in column {args.label!r}: leave out --label.")
    return y


# ---------------------------------------------------------------------------- the page and its tables


def short(text, letters=60):
    """A text from a file, shortened and printable."""
    text = printable(str(text))
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def report_page(model, found, table, contamination):
    """The page of an Overview."""
    about, threshold = model.about, model.threshold(contamination)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters |= {**NUMBERS, "count_of": count_of, "short": short}
    environment.globals |= {"NUMBERS": NUMBERS, "FEWEST_ROWS": FEWEST_ROWS, "LONG": LONG}
    return environment.from_string(TEMPLATE).render(
        **head_and_script("", "cueScrolling();\nopenTarget();\n", PAGE_STYLE + STYLE),
        found=found,
        contamination=contamination,
        threshold=threshold,
        table_name=table.path.name,
        is_same=table.fingerprint()["sha256"] in facts(about)["Table"],
        thresholds=[threshold_row(model, found, rate) for rate in sorted({*RATES, contamination})],
        best=best(found),
        columns=list(columns(model.columns, found.comparison)),
        facts=facts(about),
        score_picture=score_picture(about, found, threshold),
        quality_pictures=() if found.y is None else quality_pictures(found, threshold),
    )


def threshold_row(model, found, rate):
    """What is flagged above a threshold and, if labels are known, how much of it is right."""
    threshold = model.threshold(rate)
    n_above = int((found.scores > threshold).sum())
    row = [rate, threshold, n_above, n_above / len(found.scores)]
    if found.y is None:
        return row
    hits, _, missed, _ = confusion = found.confusion(threshold)
    return [*row, *confusion, hits / n_above if n_above else np.nan, hits / (hits + missed)]


def best(found):
    """The highest rows, with the columns that raised their scores: (name, format) per column, rows."""
    table = found.best.drop(columns="why_rest")
    shown = {("Row", "count"): table.pop("row"), ("Score", "number"): table.pop("score")}
    if found.y is not None:
        shown["Label", "label"] = found.y[table.index]
    shown |= {(name.removeprefix(KEPT), LONG): table[name] for name in table}
    return list(shown), list(zip(*shown.values()))


def columns(known, comparison):
    """What the columns hold, in training and now: a row for each."""
    for name, change in comparison.changes()[:MOST_COLUMNS].iterrows():
        summaries = comparison.summary[name], comparison.now(name)
        texts = [column_in_words(known[name], summary) for summary in summaries]
        yield [name, change["distance"], known[name]["kind"], *texts, change["unusual"]]


# ---------------------------------------------------------------------------- pictures: a title and an SVG


def score_picture(about, found, threshold):
    """The distributions of the scores; far outliers are in the outermost bins."""
    samples = {"these rows": found.scores}
    if found.y is not None:
        samples = {"normals": found.scores[found.y == 0], "anomalies": found.scores[found.y == 1]}
    samples["training rows"] = np.array(about["quantiles"])
    ends = [np.quantile(scores, (TRIMMED, 1 - TRIMMED)) for scores in samples.values()]
    edges = np.histogram_bin_edges([threshold, *np.concatenate(ends)], SCORE_BINS)
    picture, axes = figure(330, 220)
    for name, scores in samples.items():
        shares = 100 * np.histogram(scores.clip(edges[0], edges[-1]), edges)[0] / len(scores)
        dashed, filled = {"linestyle": "--", "baseline": None}, {"fill": True, "alpha": 0.4}
        look = dashed if name == "training rows" else filled
        axes.stairs(shares, edges, color=LOOKS[name].light, label=name, **look)
    axes.axvline(threshold, color=TEXT, linestyle=":", label="threshold")
    axes.locator_params(axis="x", nbins=5)
    axes.set(xlabel="score", ylabel="share of its rows", yscale="log", ylim=(LOWEST_PERCENT, 100))
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}%")
    return finished(picture, "Scores", f"Scores of {', '.join(samples)}; threshold {number(threshold)}")


def quality_pictures(found, threshold):
    """Precision against recall and the ROC curve, with the place of the threshold."""
    hits, alarms, missed, others = found.confusion(threshold)
    recall, share = hits / (hits + missed), found.y.mean()
    precisions, recalls, _ = precision_recall_curve(found.y, found.scores, drop_intermediate=True)
    title = f"Precision against recall: AUC-PR {number(average_precision_score(found.y, found.scores))}"
    dot = recall, hits / (hits + alarms) if hits + alarms else np.nan
    # the last point, recall 0 and precision 1, is a convention and belongs to no threshold
    yield curve(title, "recall", "precision", recalls[:-1], precisions[:-1], (share, share), dot)
    title = f"ROC curve: AUC-ROC {number(roc_auc_score(found.y, found.scores))}"
    xs, ys, _ = roc_curve(found.y, found.scores)
    yield curve(title, "false positive rate", "recall", xs, ys, (0, 1), (alarms / (alarms + others), recall))


def curve(title, xlabel, ylabel, xs, ys, random, dot):
    """A curve with a line for a random order and a dot for the threshold."""
    picture, axes = figure(330, 220)
    axes.plot((0, 1), random, color=LOOKS["strong-line"].light, linestyle="--", label="random order")
    axes.plot(xs, ys, color=LOOKS["these rows"].light, linewidth=2)
    axes.plot(*dot, "o", color=LOOKS["redrawn"].light, clip_on=False, label="threshold")
    axes.set(xlabel=xlabel, ylabel=ylabel, xlim=(0, 1), ylim=(0, 1.02))
    return finished(picture, title, title)


def finished(picture, title, label):
    picture.legend(loc="outside upper left", ncols=2, columnspacing=1, handlelength=1.2)
    return title, Markup(as_svg(picture, printable(label)))  # noqa: S704 - as_svg escapes
