"""detect.py next: propose the rows of a table that a person should check next.

Three quarters are the most suspicious rows: those with the highest scores. They find anomalies, but these may
all be of one kind. The other quarter is there to learn something new: of the 10 n rows with the highest
scores, it has those least like any labelled or chosen row. They are chosen one at a time: each is the row
whose nearest labelled or chosen row is farthest away (Euclidean distance of the scaled features).
"""

import os

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from weakly.command_line import positive
from weakly.errors import DataError
from weakly.numbers import count_of
from weakly.own_data.arguments import add_table_arguments, add_training_arguments, notation_of
from weakly.own_data.fit_command import add_fit_arguments, fitted_model
from weakly.own_data.labels import OWN_COLUMNS, for_spreadsheet, labelled_rows, own_names, print_labels
from weakly.own_data.models import load_model, new_pipeline
from weakly.own_data.score_command import open_for_model, reasons_of
from weakly.own_data.tables import Table
from weakly.writing import is_standard_output, name_of, refuse_source, statuses_of, written_whole

INFORMATIVE_SHARE = 0.25
POOL = 10  # times n: how many of the most suspicious rows the second part is chosen from
MOST_COMPARED = 2_000  # labelled rows, the last ones, that the pool is compared with
DESCRIPTION = (
    "Writes unlabelled rows for a person to check. Fill in the label column with 1 or 0, or leave it empty, "
    "and give the file to fit with --checked. Three quarters of the rows have the highest scores. The others "
    f"are the least like all labelled and chosen rows among the {POOL} x N highest."
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
        fitted_by = model.about["origin"].get("label")
        args.label = args.label or (fitted_by if fitted_by in table.columns else None)
        if (label := args.label or "label") in model.columns:
            raise DataError(
                f"Column {label!r} cannot be the label, because {args.model} uses it as a feature: "
                "name another --label or --model."
            )
    raw, labels = labelled_rows(args, table, dropped_too=True)
    print_labels(table, labels)
    if not labels.unlabeled.any():
        raise DataError(f"All rows of {table.path} are already labelled, so there are none left to check.")
    model = model or fitted_model(args, table, raw, labels)
    typed = model.typed(raw)
    scores = model.scored(typed)
    scaled = new_pipeline("prenet", model.columns, len(typed))[0].fit(typed)  # whatever the model's is
    features_of = lambda rows: scaled.transform(typed.iloc[rows])  # noqa: E731
    chosen, n_suspicious = chosen_rows(features_of, scores, labels.unlabeled, args.n, INFORMATIVE_SHARE)
    found = [chunk.loc[chunk.index.intersection(chosen)] for chunk in table.chunks(list(raw), list(raw))]
    texts = pd.concat(found).loc[chosen]  # as they are in the file
    proposed = table_to_fill(model, texts, typed.iloc[chosen], scores[chosen], args.label)
    with written_whole(args.output) as file:
        proposed.to_csv(file, mode="wb", index=False, encoding=args.encoding)
    all_checked = " ".join(f"--checked {name_of(path)}" for path in (*args.checked, args.output))
    print(
        f"Wrote {count_of(len(proposed), 'row')} to {name_of(args.output)}: {n_suspicious:,} with the "
        f"highest scores, and {len(proposed) - n_suspicious:,} unlike them and unlike all labelled rows.\n"
        f"Fill in its column {args.label!r}: 1 for an anomaly, 0 for a normal row, nothing if you cannot "
        f"tell. Then give it to fit: --label {args.label} {all_checked}"
    )


def chosen_rows(features_of, scores, is_open, n, informative_share):
    """Positions of up to n rows to check, and how many of them are the most suspicious.

    is_open (n_rows,): which rows nobody has checked; features_of(positions): their features (m, D).
    """
    candidates = np.flatnonzero(is_open)
    ranked = candidates[np.argsort(-scores[candidates], kind="stable")]
    n_suspicious = min(len(ranked), n - round(n * informative_share))
    chosen, pool = ranked[:n_suspicious], ranked[n_suspicious : POOL * n]
    if not len(pool) or n_suspicious == n:
        return chosen, n_suspicious
    compared = np.concatenate([np.flatnonzero(~is_open)[-MOST_COMPARED:], chosen])
    unlike = least_alike(features_of(pool), features_of(compared), n - n_suspicious)
    return np.concatenate([chosen, pool[unlike]]), n_suspicious


def table_to_fill(model, raw, typed, scores, label):
    """These rows with their number, score and reasons, and an empty column for the label."""
    names, reasons = own_names([*raw.columns, label]), reasons_of(model, raw, typed, scores)
    own = {"row": raw.index + 1, "score": scores}
    own |= {why: reasons.get(why, "") for why in ("why_1", "why_2", "why_3")}
    table = pd.DataFrame({names[name]: own[name] for name in OWN_COLUMNS}, index=raw.index)
    table = table.assign(**{label: ""}).join(raw)
    return table.map(for_spreadsheet).rename(columns=for_spreadsheet)


def least_alike(rows, others, n):
    """Positions of up to n rows (m, D), each the farthest from all others (k, D) and from those before it."""
    chosen, nearest = [], cdist(rows, others).min(axis=1)
    for _ in range(min(n, len(rows))):
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, cdist(rows, rows[chosen[-1:]])[:, 0])
        nearest[chosen] = -1.0  # never twice, even if only equal rows are left
    return np.array(chosen, int)
