"""detect.py next: propose the rows of a table that a person should check next, the most suspicious ones."""

import os
import re

import numpy as np
import pandas as pd

from weakly.command_line import positive
from weakly.errors import DataError
from weakly.numbers import count_of
from weakly.own_data.arguments import add_table_arguments, add_training_arguments, notation_of
from weakly.own_data.fit_command import add_fit_arguments, fitted_model
from weakly.own_data.labels import (
    OWN_COLUMNS,
    UNLABELLED,
    keys_of,
    labelled_rows,
    own_names,
    print_labels,
    texts_of,
)
from weakly.own_data.models import load_model
from weakly.own_data.score_command import open_for_model, reasons_of
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
        raise DataError(
            f"{args.output} already exists and may hold labels: name a new file with --output, or delete it."
        )
    if model:
        args.drop = []  # it has chosen its columns
        fitted_by = model.about["origin"].get("label")
        args.label = args.label or (fitted_by if fitted_by in table.columns else None)
        if (label := args.label or "label") in model.columns:
            raise DataError(
                f"Column {label!r} cannot be the label, because {args.model} uses it as a feature: "
                "name another --label or --model."
            )
    raw, labels = labelled_rows(args, table)
    print_labels(table, labels)
    candidates = np.flatnonzero(labels == UNLABELLED)
    if not len(candidates):
        raise DataError(f"All rows of {table.path} are already labelled, so there are none left to check.")
    model = model or fitted_model(args, table, raw, labels)
    typed = model.typed(raw)
    scores = model.scored(typed)
    chosen = candidates[np.argsort(-scores[candidates], kind="stable")[: args.n]]
    texts = texts_of(table, args.label, chosen)
    proposed = table_to_fill(model, texts, typed.iloc[chosen], scores[chosen], args.label)
    with written_whole(args.output) as file:
        proposed.to_csv(file, mode="wb", index=False, encoding=args.encoding)
    all_checked = " ".join(f"--checked {name_of(path)}" for path in (*args.checked, args.output))
    print(
        f"Wrote {count_of(len(proposed), 'row')} with the highest scores to {name_of(args.output)}.\n"
        f"Fill in its column {args.label!r}: 1 for an anomaly, 0 for a normal row, nothing if you cannot "
        f"tell. Then give it to fit: --label {args.label} {all_checked}"
    )


def table_to_fill(model, texts, typed, scores, label):
    """These rows with their number, key, score and reasons, and an empty column for the label."""
    names, reasons = own_names([*texts.columns, label]), reasons_of(model, texts, typed, scores)
    own = {"row": texts.index + 1, "key": keys_of(texts), "score": scores}
    own |= {why: reasons.get(why, "") for why in ("why_1", "why_2", "why_3")}
    table = pd.DataFrame({names[name]: own[name] for name in OWN_COLUMNS}, index=texts.index)
    table = table.assign(**{label: ""}).join(texts)
    return table.map(for_spreadsheet).rename(columns=for_spreadsheet)


def for_spreadsheet(cell):
    """A cell that no spreadsheet takes for a formula: a ' stands before what could be one."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell
