"""detect.py info: show what a model file contains."""

import json

from weakly.errors import printable
from weakly.numbers import count
from weakly.own_data.model_files import ABOUT, bad_model_reported, members_of
from weakly.own_data.models import in_words


def add_arguments(command):
    command.add_argument("model", help="file that fit wrote")


def run(args):
    with bad_model_reported(args.model):  # it may say anything about itself
        print(info(json.loads(members_of(args.model)[ABOUT])))


def info(about):
    """The facts about a model and a line per column; an error of some kind if they are not what fit wrote."""
    lines = [f"{title:18}  {text}" for title, text in facts(about).items()]
    lines += ["", f"Columns ({count(len(about['columns']))}):"]
    for name, column in about["columns"].items():
        lines.append(f"  {name[:40]:16}  {column['kind']:8}  {about['summary'][name]['words']}")
    return "\n".join(map(printable, lines))


def facts(about):
    """{title: text} about a model, in the order in which a reader wants them; also for the report."""
    known = {"method": f"{in_words(about['method'])}: --method {about['method']}"}
    known["chosen"] = about["choice"] or "by its user, not by fit"
    known |= {name: about[name] for name in ("rows", "settings")}
    known |= {"label": None, "table": None} | about["origin"]
    for name, value in known.items():
        if isinstance(value, dict):
            known[name] = ", ".join(f"{key}: {part}" for key, part in value.items())
    shown = {name: "not recorded" if value is None else str(value) for name, value in known.items()}
    return {name.replace("_", " ").capitalize(): value for name, value in shown.items()}
