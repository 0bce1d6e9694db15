"""detect.py next: propose the rows of a table that a person should check next, the most suspicious ones."""

import os
import re

import numpy as np

from weakly.command_line import positive, say
from weakly.errors import DataError
from weakly.numbers import count_of
from weakly.own_data import labels as labelling
from weakly.own_data.arguments import add_table_arguments, add_training_arguments, notation_of
from weakly.own_data.fit_command import add_fit_arguments, fitted_model
from weakly.own_data.models import load_model
from weakly.own_data.score_command import open_for_model, scored_rows
from weakly.own_data.tables import Table
from weakly.writing import is_standard_output, name_of, refuse_source, statuses_of, written_whole

FORMULA = re.compile(r"[=+\-@\t\r](?![\d.,]+([eE][+-]?\d+)?%?$)")  # a spreadsheet would execute it; no number
DESCRIPTION = (
    "Writes the unlabelled rows with the highest scores for a person to check. Fill in the label column with "
    "1 or 0, or leave it empty, and give the file to fit with --checked."
)


def add_arguments(command):
    command.description = DESCRIPTION
    add_table_arguments(command)
    add_training_arguments(command, label_required=False)
    add = command.add_argument
    add("--model", metavar="FILE", help="file that fit wrote (default: fit a model first)")
    add_fit_arguments(command)
    add("--n", type=positive, default=20, metavar="N", help="rows to check (default: %(default)s)")
    output = "CSV file to write, which must not exist yet; - is standard output (default: %(default)s)"
    add("--output", default="to_check.csv", metavar="FILE", help=output)


def run(args):
    model = load_model(args.model) if args.model else None
    table = open_for_model(args, model) if model else Table(args.table, notation_of(args))
    refuse_source(args.output, table.status, *statuses_of(args.checked))
    if os.path.isfile(args.output) and not is_standard_output(args.output):
        raise DataError(f"{args.output} exists and may hold labels: name another --output, or delete it.")
    if model:
        args.drop = []  # it has chosen its columns
        fitted_by = model.about["origin"].get("label")
        args.label = args.label or (fitted_by if fitted_by in table.columns else None)
        if (label := args.label or "label") in model.columns:
            raise DataError(f"{args.model} uses {label!r} as a feature: name another --label or --model.")
    raw, labels = labelling.labelled_rows(args, table)
    labelling.print_labels(table, labels)
    candidates = np.flatnonzero(labels == labelling.UNLABELLED)
    if not len(candidates):
        raise DataError(f"All rows of {table.path} are already labelled, so there are none left to check.")
    model = model or fitted_model(args, table, raw, labels)
    typed = model.typed(raw)
    scores = model.scored(typed)
    chosen = candidates[np.argsort(-scores[candidates], kind="stable")[: args.n]]
    texts = labelling.texts_of(table, args.label, chosen)
    rows = scored_rows(model, texts, typed.iloc[chosen], scores[chosen], n_reasons=3)
    rows.insert(1, "key", labelling.keys_of(texts))
    rows = rows.rename(columns=lambda name: labelling.own_name(name, table, args.label))
    proposed = rows.assign(**{args.label: ""}).join(texts).map(for_spreadsheet)
    with written_whole(args.output) as file:
        proposed.rename(columns=for_spreadsheet).to_csv(file, mode="wb", index=False, encoding=args.encoding)
    print(f"Wrote {count_of(len(proposed), 'row')} with the highest scores to {name_of(args.output)}.")
    values = args.anomaly_value or ["1"]
    no = "another label of the table" if "0" in values else "0"
    say(f"Fill in its column {args.label!r}: {values[0]} for an anomaly, {no} for a normal row, or nothing.")
    all_checked = " ".join(f"--checked {name_of(path)}" for path in (*args.checked, args.output))
    print(f"Then give it to fit: --label {args.label} {all_checked}")


def for_spreadsheet(cell):
    """A cell that no spreadsheet takes for a formula: a ' stands before what could be one."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell
