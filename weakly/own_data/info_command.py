"""detect.py info: show what a model file contains."""

import json
import os

from weakly.errors import printable
from weakly.own_data.features import described_encoder
from weakly.own_data.labelled_tables import refuse_source
from weakly.own_data.model_info import column_in_words, described_model, model_facts
from weakly.own_data.saved_models import load_model
from weakly.writing import written_whole


def add_arguments(command):
    command.add_argument("model", help="file that fit wrote")
    command.add_argument(
        "--json", action="store_true", help="write JSON, for programs; null means not recorded"
    )
    command.add_argument(
        "--output", default="-", metavar="FILE", help="file to write (default: standard output)"
    )
    command.set_defaults(target="output")


def run(args):
    model = load_model(args.model)
    refuse_source(args.output, os.stat(args.model))
    text = json.dumps(described_model(model), indent=1) if args.json else in_words(model)
    with written_whole(args.output) as file:
        file.write(f"{text}\n".encode())


def in_words(model):
    """The facts about a model, then a line per column."""
    facts = model_facts(model)
    width = max(map(len, facts))
    lines = [f"{name:<{width}}  {text}" for name, text in facts.items()]
    columns = described_encoder(model.encoder)
    names = {name: printable(name)[:40] for name in columns}
    width = max(map(len, names.values()))
    lines += ["", f"Columns ({len(columns):,}):"]
    for name, column in columns.items():
        lines.append(f"  {names[name]:<{width}}  {column['kind']:<8}  {column_in_words(column)}")
    return "\n".join(lines)
