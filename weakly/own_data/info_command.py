"""detect.py info: show what a model file contains."""

import json
import os

import numpy as np

from weakly.errors import printable
from weakly.numbers import NUDGE, count, number
from weakly.own_data.drift import OTHER_LEVELS
from weakly.own_data.models import in_words, read_about
from weakly.writing import refuse_source, written_whole

NOT_RECORDED = "not recorded"
SHOWN_LEVELS, SHOWN_LETTERS = 6, 40  # of a category, of a level


def add_arguments(command):
    add = command.add_argument
    add("model", help="file that fit wrote")
    add("--json", action="store_true", help="write JSON, for programs; null means not recorded")
    add("--output", default="-", metavar="FILE", help="file to write (default: standard output)")
    command.set_defaults(target="output")


def run(args):
    about = read_about(args.model)
    refuse_source(args.output, os.stat(args.model))
    text = json.dumps(described(about), indent=1) if args.json else page_of_text(about)
    with written_whole(args.output) as file:
        file.write(f"{text}\n".encode())


def described(about):
    """All that a model file says about itself, for JSON; None if it is not recorded."""
    origin, n_rows, columns = about.get("origin") or {}, about["rows"], {}
    anomalies, normals = origin.get("labelled_anomalies"), origin.get("known_normals")
    for name, column in about["columns"].items():
        columns[name] = column | about["summary"][name]
        if quantiles := columns[name].pop("quantiles", None):
            columns[name] |= {"range": [quantiles[0], quantiles[-1]], "median": quantiles[len(quantiles) // 2]}
    return {
        **{name: about.get(name) for name in ("method", "settings", "rows")},
        "labelled_anomalies": anomalies,
        "known_normals": normals,
        "unlabelled": None if anomalies is None else n_rows - anomalies - (normals or 0),
        **{name: origin.get(name) for name in ("label", "anomaly_values", "normal_value")},
        **{name: (about.get("notation") or {}).get(name) for name in ("header", "decimal", "thousands", "missing")},
        **{name: origin.get(name) for name in ("table", "date", "code", "versions")},
        **{name: about.get(name) for name in ("choice", "evaluation")},
        "columns": columns,
    }


def page_of_text(about):
    """The facts about a model, then a line per column."""
    known = facts(about)
    width = max(map(len, known))
    lines = [f"{name:<{width}}  {text}" for name, text in known.items()]
    columns = described(about)["columns"]
    names = {name: printable(name)[:SHOWN_LETTERS] for name in columns}
    width = max(map(len, names.values()))
    lines += ["", f"Columns ({count(len(columns))}):"]
    for name, column in columns.items():
        lines.append(f"  {names[name]:<{width}}  {column['kind']:<8}  {column_in_words(column)}")
    return "\n".join(lines)


def facts(about):
    """{name: text} about a model, in the order in which a reader wants them; also for the report."""
    known = described(about)
    listed = {name: known[name] or {} for name in ("settings", "versions")}
    found = {
        "Method": f"{in_words(known['method'])} ({known['method']})",
        "Chosen": choice_in_words(known["choice"]),
        "Settings": ", ".join(f"{name}={value}" for name, value in listed["settings"].items()),
        "Fitted on": fitted_on(known),
        "Label": label_in_words(known),
        "Training table": table_in_words(known["table"]),
        "Table changed": known["date"],
        "Code": known["code"],
        "Libraries": ", ".join(f"{name} {value}" for name, value in listed["versions"].items()),
        "Evaluation": evaluation_in_words(known["evaluation"]),
    }
    return {name: printable(text or NOT_RECORDED) for name, text in found.items()}


def choice_in_words(choice):
    """Why `fit` took this method, and the figures of those that it compared."""
    if not choice:
        return "by --method, or by who made the model"
    compared = [f"{in_words(row['method'])} {number(row['auc_pr'])}" for row in choice.get("rows", ())]
    return choice["why"] + (f" AUC-PR: {', '.join(compared)}." if compared else "")


def counted(n, singular, plural):
    return f"{count(n)} {singular if n == 1 else plural}"


def fitted_on(known):
    text = f"{counted(known['rows'], 'row', 'rows')}, {counted(len(known['columns']), 'column', 'columns')}"
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


def table_in_words(table):
    if not table:
        return ""
    return f"{table.get('name')}, {count(table.get('bytes') or 0)} bytes, SHA-256 {table.get('sha256')}"


def evaluation_in_words(found):
    """The metrics that evaluate --record wrote, and what they were measured on."""
    if not found:
        return f"{NOT_RECORDED} (detect.py evaluate --record MODEL adds it)"
    metrics = ", ".join(f"{name} {number(value, 4)}" for name, value in found.get("metrics", {}).items())
    runs = "1 run" if found.get("runs") == 1 else f"mean of {found.get('runs')} runs"
    labelled = counted(found.get("labelled_anomalies") or 0, "labelled anomaly", "labelled anomalies")
    return f"{metrics} ({runs} on held-out rows of {(found.get('table') or {}).get('name')}, {labelled})"


def column_in_words(column):
    """Range and median, or the shares of the levels, of a column of `described`."""
    kind, missing = column["kind"], column["missing"]
    if "range" in column:
        low, median, high = (value_in_words(value, kind) for value in np.insert(column["range"], 1, column["median"]))
        text = f"{low} to {high}, median {median}"
    elif kind == "truth":
        text = f"true {percent(column['shares'].get('1', 0.0))}"
    else:
        shares = {level: share for level, share in column.get("shares", {}).items() if level != OTHER_LEVELS}
        first = sorted(shares, key=shares.get, reverse=True)[:SHOWN_LEVELS]
        named = [f"{level[:SHOWN_LETTERS]} {percent(shares[level])}" for level in first]
        more = [f"{count(len(shares) - len(first))} more"] if len(shares) > len(first) else []
        others = column.get("shares", {}).get(OTHER_LEVELS)
        more += [f"rare ones {percent(others)}"] if others else []
        text = f"{counted(len(shares), 'level', 'levels')}: {', '.join([*named, *more])}"
    return printable(text) + (f", {percent(missing)} missing" if missing else "")


def value_in_words(value, kind):
    """A number with six digits, or the date that is so many days after 1970."""
    if kind == "date":
        return str(np.datetime64(round(value * 86_400), "s")).replace("T", " ").removesuffix(" 00:00:00")
    text = f"{value:,.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"
    return text.replace("-", "−")


def percent(share):
    """A share with three digits, or <0.01%."""
    return "<0.01%" if 0 < share < 0.0001 else f"{100 * share + NUDGE:.3g}%"
