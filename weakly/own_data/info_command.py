"""detect.py info: show what a model file contains."""

import json
import re

import numpy as np

from weakly.errors import printable
from weakly.numbers import count, number, percent
from weakly.own_data.drift import MISSING
from weakly.own_data.model_files import damage_reported, read_about
from weakly.own_data.models import in_words

SHOWN_LEVELS, SHOWN_LETTERS = 6, 40  # of a category, of a level


def add_arguments(command):
    command.add_argument("model", help="file that fit wrote")


def run(args):
    about = read_about(args.model)
    with damage_reported(args.model):  # it may say anything about itself
        print(info(about))


def info(about):
    """The facts about a model and a line per column; an error of some kind if they are not what fit wrote."""
    lines = [f"{title:18}  {text}" for title, text in facts(about).items()]
    lines += ["", f"Columns ({count(len(about['columns']))}):"]
    for name, column in about["columns"].items():
        text = column_in_words(column, about["summary"][name])
        lines.append(f"  {name[:SHOWN_LETTERS]:16}  {column['kind']:8}  {text}")
    return "\n".join(map(printable, lines))


def facts(about):
    """{title: text} about a model, in the order in which a reader wants them; also for the report."""
    method, choice = about["method"], about["choice"]
    known = {"method": f"{in_words(method)}: --method {method}", "chosen": "by its user, not by fit"}
    if choice:
        compared = [f"{in_words(row['method'])} {number(row['auc_roc'])}" for row in choice["rows"]]
        known["chosen"] = choice["why"] + (f" AUC-ROC: {', '.join(compared)}." if compared else "")
    known |= {name: about[name] for name in ("rows", "settings")}
    known |= {"label": "not recorded", "table": "not recorded"}
    known |= {name: value for name, value in about["origin"].items() if value is not None}
    return {name.replace("_", " ").capitalize(): plain_text(value) for name, value in known.items()}


def plain_text(value):
    """What a model file records, whatever it is, as a text."""
    return re.sub(r'[{}\[\]"]', "", json.dumps(value, ensure_ascii=False))


def column_in_words(column, known):
    """Range and median, or the most frequent levels, of what a summary knows of a column."""
    texts, shares = [], known["shares"]
    if known["range"]:
        low, *median, high = (value_in_words(value, column["kind"]) for value in known["range"])
        texts = [f"{low} to {high}", *(f"median {value}" for value in median)]
        texts += [f"in {column['affix']}"] if column.get("affix") else []
        shares = {MISSING: shares.get(MISSING, 0)}
    levels = sorted((-share, level) for level, share in shares.items() if share)
    texts += [f"{level[:SHOWN_LETTERS]} {percent(-share)}" for share, level in levels[:SHOWN_LEVELS]]
    texts += [f"{count(len(levels) - SHOWN_LEVELS)} more"] if len(levels) > SHOWN_LEVELS else []
    return ", ".join(texts)


def value_in_words(value, kind):
    """A number with six digits, or the date that is so many days after 1970."""
    if kind == "date":
        return str(np.datetime64(int(value // 1), "D"))
    text = f"{value:,.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"
    return text.replace("-", "−")
