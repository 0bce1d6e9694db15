"""The table of fit, next or evaluate: its rows, its labels and the columns to learn from."""

import pandas as pd

from weakly.errors import DataError, printable
from weakly.loading.files import bounded_memory
from weakly.numbers import count_of
from weakly.own_data.arguments import anomaly_values
from weakly.own_data.choosing import say
from weakly.own_data.columns import choose_columns, typed_columns
from weakly.own_data.labels import add_checked, known_labels
from weakly.own_data.leakage import suspicious_columns, warnings_about_rows

MOST_TOLD = 10  # columns with missing cells that a message names


def labelled_rows(args, table, dropped_too=False):
    """The rows of a Table without its label column, raw, and their Labels, with those of --checked files.

    Without --label it is the column `label`. A table without any has no labels but those of the files.
    """
    table.must_have(args.drop, "of --drop")
    if args.label and not args.checked:
        table.must_have([args.label], "of --label")
    args.label = args.label or "label"
    has_labels = args.label in table.columns
    left_out = set() if dropped_too else set(args.drop) - {args.label}
    names = [name for name in table.columns if name not in left_out]
    raw = table.read(names, verbatim=[args.label] if has_labels else [])
    cells = raw.pop(args.label) if has_labels else pd.Series("", raw.index)
    labels = known_labels(cells, anomaly_values(args.anomaly_value), args.normal_value, table.path)
    for path in args.checked:
        labels = add_checked(labels, path, table, raw, cells, args)
    if labels.y.all():
        raise DataError(f"{table.path} has only anomalies in column {args.label!r}: other rows are needed.")
    return raw, labels


def print_labels(table, labels):
    """Print how many rows have which label, and what 0 was taken to mean."""
    anomalies = count_of(labels.y.sum(), "labelled anomaly", "labelled anomalies")
    others = f"{labels.normal.sum():,} known normal, {labels.unlabeled.sum():,} unlabelled"
    print(f"{count_of(len(labels.y), 'row')} of {table.path}: {anomalies}, {others}.")
    if labels.meaning:
        print(f"Labels: {labels.meaning}")


def columns_to_use(table, raw, y):
    """The columns to learn from, as choose_columns describes them, and these columns, typed; warns."""
    with bounded_memory(table.path):
        columns = choose_columns(raw, table.path, table.notation)
        typed = typed_columns(raw, columns, table.notation.missing)
    counts = typed.isna().sum()
    counts = counts[counts > 0].sort_values(ascending=False, kind="stable")
    told = [f"{printable(str(name))} {n:,} ({n / len(typed):.1%})" for name, n in counts.items()]
    if told:
        others = f" and {count_of(len(told) - MOST_TOLD, 'more column')}" if len(told) > MOST_TOLD else ""
        print(f"Missing cells: {', '.join(told[:MOST_TOLD])}{others}.")
    for warning in (*suspicious_columns(typed, columns, y), *warnings_about_rows(typed, y)):
        say(warning)
    return columns, typed
