"""detect.py info: show what a model file contains."""

import json
import os

import numpy as np

from weakly.errors import printable
from weakly.numbers import NUDGE, count, number
from weakly.own_data.drift import N_BINS, OTHER_LEVELS
from weakly.own_data.model_files import damage_reported, read_about
from weakly.own_data.models import in_words
from weakly.writing import refuse_source, written_whole

NOT_RECORDED = "not recorded"
SHOWN_LEVELS, SHOWN_LETTERS = 6, 40  # of a category, of a level
ORIGIN = "labelled_anomalies known_normals label anomaly_values normal_value table date code versions".split()


def add_arguments(command):
    add = command.add_argument
    add("model", help="file that fit wrote")
    add("--json", action="store_true", help="write JSON, for programs; null means not recorded")
    add("--output", default="-", metavar="FILE", help="file to write (default: standard output)")
    command.set_defaults(target="output")


def run(args):
    about = read_about(args.model)
    refuse_source(args.output, os.stat(args.model))
    with damage_reported(args.model):  # it may say anything about itself
        text = json.dumps(described(about), indent=1) if args.json else info(about)
    with written_whole(args.output) as file:
        file.write(f"{text}\n".encode())


def described(about):
    """All that a model file says about itself, for JSON; None if it is not recorded."""
    known = {
        name: about.get(name) for name in ("method", "settings", "rows", "features", "choice", "evaluation")
    }
    known |= dict.fromkeys(ORIGIN) | about["origin"] | about["notation"] | {"unlabelled": None}
    if known["labelled_anomalies"] is not None:
        known["unlabelled"] = known["rows"] - known["labelled_anomalies"] - (known["known_normals"] or 0)
    return known | {
        "columns": {name: column | about["summary"][name] for name, column in about["columns"].items()}
    }


def info(about):
    """The facts about a model, then a line per column."""
    columns = described(about)["columns"].items()
    rows = [(name[:SHOWN_LETTERS], column["kind"], column_in_words(column)) for name, column in columns]
    lines = [*lined_up(facts(about).items()), "", f"Columns ({count(len(rows))}):"]
    return "\n".join([*lines, *(f"  {line}" for line in lined_up(rows))])


def lined_up(rows):
    """Rows of texts, printable and in columns."""
    rows = [[printable(text) for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def facts(about):
    """{name: text} about a model, in the order in which a reader wants them; also for the report."""
    known = described(about)
    table, settings, versions = (known[name] or {} for name in ("table", "settings", "versions"))
    found = {
        "Method": f"{in_words(known['method'])} ({known['method']})",
        "Chosen": choice_in_words(known["choice"]),
        "Settings": ", ".join(f"{name}={value}" for name, value in settings.items()),
        "Fitted on": rows_in_words(known),
        "Label": label_in_words(known),
        "Training table": "{name}, {bytes:,} bytes, SHA-256 {sha256}".format(**table) if table else "",
        "Table changed": known["date"],
        "Code": known["code"],
        "Libraries": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "Evaluation": evaluation_in_words(known["evaluation"]),
    }
    return {name: text or NOT_RECORDED for name, text in found.items()}


def choice_in_words(choice):
    """Why `fit` took this method, and the figures of those that it compared."""
    if not choice:
        return "by its user, not by fit"
    compared = [f"{in_words(row['method'])} {number(row['auc_pr'])}" for row in choice.get("rows", ())]
    return choice["why"] + (f" AUC-PR: {', '.join(compared)}." if compared else "")


def rows_in_words(known):
    """What a model was fitted on: rows, columns, labels."""
    sizes = [(known["rows"], "row"), (len(known["columns"]), "column"), (known["features"], "feature")]
    text = ", ".join(counted(*size) for size in sizes)
    if known["labelled_anomalies"] is None:
        return f"{text}; how many were labelled is {NOT_RECORDED}"
    anomalies = counted(known["labelled_anomalies"], "labelled anomaly", "labelled anomalies")
    normals = f"{count(known['known_normals'])} known normal, " if known["known_normals"] else ""
    return f"{text}: {anomalies}, {normals}{count(known['unlabelled'])} unlabelled"


def label_in_words(known):
    """The label column, and what marked an anomaly in it."""
    if known["label"] is None:
        return ""
    values = ", ".join(known["anomaly_values"] or ["1, true or yes"])
    normal = "" if known["normal_value"] is None else f"; {known['normal_value']} marks normal rows"
    return f"{known['label']}; {values} marks an anomaly{normal}"


def evaluation_in_words(found):
    """The metrics that evaluate --record wrote, and what they were measured on."""
    if not found:
        return f"{NOT_RECORDED} (detect.py evaluate --record MODEL adds it)"
    metrics = ", ".join(f"{name} {number(value, 4)}" for name, value in found["metrics"].items())
    runs = "1 run" if found["runs"] == 1 else f"mean of {found['runs']} runs"
    labelled = counted(found["labelled_anomalies"], "labelled anomaly", "labelled anomalies")
    return f"{metrics} ({runs} on held-out rows of {found['table']['name']}, {labelled})"


def column_in_words(column):
    """Range and median, or the shares of the levels, of a column of `described`."""
    kind, shares = column["kind"], dict(column["shares"])
    others = shares.pop(OTHER_LEVELS, 0.0)
    if "quantiles" in column:
        low, median, high = (
            value_in_words(column["quantiles"][place], kind) for place in (0, N_BINS // 2, -1)
        )
        texts = [f"{low} to {high}", f"median {median}"]
        texts += [f"in {column['affix']}"] if column.get("affix") else []
    elif kind == "truth":
        texts = [f"true {percent(shares.get('1', 0.0))}"]
    else:
        first = list(shares.items())[:SHOWN_LEVELS]
        texts = [f"{level[:SHOWN_LETTERS]} {percent(share)}" for level, share in first]
        texts += [f"{count(len(shares) - len(first))} more"] if len(shares) > len(first) else []
        texts += [f"rare ones {percent(others)}"] if others else []
    return ", ".join(texts + ([f"{percent(column['missing'])} missing"] if column["missing"] else []))


def value_in_words(value, kind="number"):
    """A number with six digits, or the date that is so many days after 1970."""
    if kind == "date":
        return str(np.datetime64(int(value // 1), "D"))
    text = f"{value:,.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"
    return text.replace("-", "−")


def counted(n, singular, plural=None):
    return f"{count(n)} {singular if n == 1 else plural or f'{singular}s'}"


def percent(share):
    """A share with three digits, or <0.01% or >99.9%; a missing one is a dash."""
    if share != share:
        return "–"
    if 0 < share < 0.0001 or 0.9995 <= share < 1:
        return "<0.01%" if share < 0.5 else ">99.9%"
    return f"{round(100 * share + NUDGE, 6):.3g}%"
