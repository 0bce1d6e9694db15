"""detect.py next: propose the rows of a table that a person should check next."""

import argparse
import os

import numpy as np
import pandas as pd

from weakly.command_line import positive
from weakly.errors import DataError
from weakly.own_data.arguments import (
    add_checked_argument,
    add_label_arguments,
    add_method_argument,
    add_seed_argument,
    add_table_arguments,
)
from weakly.own_data.checked_rows import OWN_COLUMNS, own_names
from weakly.own_data.fit_command import fitted_model
from weakly.own_data.labelled_tables import (
    open_table,
    partly_labeled_rows,
    print_labels,
    refuse_source,
    statuses_of,
)
from weakly.own_data.proposals import INFORMATIVE_SHARE, POOL, rows_to_check
from weakly.own_data.saved_models import load_model
from weakly.own_data.scoring import reasons_of
from weakly.own_data.user_tables import ROWS_AT_ONCE
from weakly.writing import is_standard_output, name_of, written_whole

DESCRIPTION = (
    "Writes unlabelled rows for a person to check. Fill in the label column with 1 or 0, or leave it empty, "
    "and give the file to fit with --checked. Most of the rows have the highest scores. The others (the "
    f"share --informative) are the least like all labelled and chosen rows among the {POOL} x N highest."
)


def share(text):
    """A command-line argument as a share from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {text!r}")
    return value


def add_arguments(command):
    command.description = DESCRIPTION
    add_table_arguments(command)
    add_label_arguments(command)
    add_checked_argument(command)
    command.add_argument("--model", help="file that fit wrote (default: fit a model with --method first)")
    add_method_argument(command)
    add_seed_argument(command)
    command.add_argument(
        "--n", type=positive, default=20, help="number of rows to check (default: %(default)s)"
    )
    informative = "share of the rows to choose for being unlike the others (default: %(default)s)"
    command.add_argument(
        "--informative", type=share, default=INFORMATIVE_SHARE, metavar="SHARE", help=informative
    )
    output = "CSV file to write, which must not exist yet; - is standard output (default: %(default)s)"
    command.add_argument("--output", default="to_check.csv", help=output)
    command.set_defaults(target="output")


def run(args):
    model = load_model(args.model) if args.model else None
    table = open_table(args, model.header, model.decimal) if model else open_table(args)
    refuse_source(args.output, table.status, *statuses_of(args.checked))
    if os.path.isfile(args.output) and not is_standard_output(args.output):
        raise DataError(
            f"{args.output} already exists and may hold labels: name a new file with --output, or delete it."
        )
    if model:
        table.must_have(model.kinds, f"that {args.model} was fitted on")
        if args.label in model.kinds:
            raise DataError(
                f"Column {args.label!r} cannot be the label, because {args.model} uses it as a feature: "
                "name another --label or --model."
            )
    texts, labels = partly_labeled_rows(args, table, dropped_too=True)
    print_labels(table, labels)
    if not labels.unlabeled.any():
        raise DataError(f"All rows of {table.path} are already labelled, so there are none left to check.")
    if model:
        model.decimal = table.decimal
    else:
        model = fitted_model(args, table, texts, labels)
    proposed, n_suspicious = proposals(model, texts, labels, args)
    with written_whole(args.output) as file:
        proposed.to_csv(file, mode="wb", index=False, encoding=args.encoding)
    n_others = len(proposed) - n_suspicious
    all_checked = " ".join(f"--checked {name_of(path)}" for path in (*args.checked, args.output))
    print(
        f"Wrote {len(proposed):,} rows to {name_of(args.output)}: {n_suspicious:,} with the highest scores, "
        f"and {n_others:,} unlike them and unlike all labelled rows.\n"
        f"Fill in its column {args.label!r}: 1 for an anomaly, 0 for a normal row, nothing if you cannot "
        f"tell. Then give it to fit: {all_checked}"
    )


def proposals(model, texts, labels, args):
    """The rows to check as a table to fill in, and how many of them have the highest scores."""
    parts = [
        model.score(texts.iloc[start : start + ROWS_AT_ONCE]) for start in range(0, len(texts), ROWS_AT_ONCE)
    ]
    X, scores = (np.concatenate(arrays) for arrays in zip(*parts))
    chosen, n_suspicious = rows_to_check(X, scores, labels.unlabeled, args.n, args.informative)
    rows, names = texts.iloc[chosen], own_names([*texts.columns, args.label])
    reasons = reasons_of(model, rows, X[chosen], scores[chosen])
    own = {"row": rows.index + 1, "score": scores[chosen]}
    own |= {why: reasons.get(why, "") for why in ("why_1", "why_2", "why_3")}
    table = pd.DataFrame({names[name]: own[name] for name in OWN_COLUMNS}, index=rows.index)
    return table.assign(**{args.label: ""}).join(rows), n_suspicious
