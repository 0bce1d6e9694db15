"""Which rows of a table are labelled, by its label column and by files of `next` that a person has filled in.

    labels = known_labels(cells, None, "events.csv")      # (n,): ANOMALY, NORMAL or UNLABELLED

1, true or yes, or a value of --anomaly-value, marks an anomaly. 0, false or no, with --anomaly-value any
other text, is a checked, normal row if other cells are empty, else nothing. Other texts are refused.

The rows of a filled-in file are found by their number. Its column `key` is a hash of the row in the table, so
the file of another table is refused, while a spreadsheet may write all other cells anew.
"""

import numpy as np
import pandas as pd

from weakly.command_line import say
from weakly.errors import DataError, printable
from weakly.numbers import count_of
from weakly.own_data.columns import choose_columns, is_missing, to_numbers, typed_columns
from weakly.own_data.leakage import suspicious_columns, warnings_about_rows
from weakly.own_data.tables import Table

ANOMALY, NORMAL, UNLABELLED = 1, 0, -1  # NORMAL: a person has checked the row
LISTED = 10  # labels in a message
TRUE, FALSE = {"1", "true", "yes"}, {"0", "false", "no"}  # as canonical() has them


def canonical(values):
    """Texts in one form (m,): 1, 1.0 and "1 " are one label, as are True and true; empty if missing."""
    texts = pd.Series(list(values), dtype=object).str.strip()
    numbers = to_numbers(texts.str.replace(",", "."))
    texts = texts.mask(numbers.notna(), numbers.map("{:.17g}".format)).mask(is_missing(texts), "")
    lower = texts.str.casefold()
    return texts.mask(lower.isin(TRUE | FALSE), lower).to_numpy()


def known_labels(cells, values, path):
    """The labels of a column (n,) of texts; an unclear cell is refused. values: of --anomaly-value."""
    used = {*canonical(cells.unique())}
    anomalous = {*canonical(values)} if values else TRUE
    if values and (lacking := anomalous - used):
        labels = ", ".join(str(cell)[:40] for cell in cells[cells != ""].unique()[:LISTED]) or "no labels"
        wrong = f"{path} has no row with the label {lacking.pop()!r} of --anomaly-value"
        raise DataError(f"{wrong}; column {cells.name!r} has {labels}.")
    is_anomaly, is_normal = flags_of(cells, anomalous, used - anomalous if values else FALSE, path)
    return np.select([is_anomaly, is_normal & ("" in used)], [ANOMALY, NORMAL], UNLABELLED)


def flags_of(cells, anomalous, normal, path):
    """Whether each cell (n,) has one of the anomalous, or of the normal labels; all but empty ones must."""
    codes, levels = pd.factorize(cells)
    names = canonical(levels)
    unclear = ~np.isin(names, [*anomalous, *normal, ""])[codes]
    if unclear.any():
        row, wanted = unclear.argmax(), ", ".join(sorted(anomalous | normal - {""}))
        label = f"Row {row + 1:,} of {path} has the label {cells.iloc[row]!r}"
        raise DataError(f"{label} instead of {wanted}: see --anomaly-value.")
    return [np.isin(names, [*some - {""}])[codes] for some in (anomalous, normal)]


def labelled_rows(args, table):
    """The rows of a Table without its label and the columns of --drop, raw, and their labels.

    These are of the column --label (or `label`, which need not exist) and of the --checked files.
    """
    table.must_have(args.drop, "of --drop")
    if args.label and not args.checked:
        table.must_have([args.label], "of --label")
    args.label = args.label or "label"
    has_labels = args.label in table.columns
    names = [name for name in table.columns if name == args.label or name not in args.drop]
    raw = table.read(names, verbatim=[args.label] if has_labels else [])
    cells = raw.pop(args.label) if has_labels else pd.Series("", raw.index)
    labels = known_labels(cells, args.anomaly_value, table.path)
    for path in args.checked:
        add_checked(labels, path, table, cells, args)
    if (labels == ANOMALY).all():
        raise DataError(f"{table.path} has only anomalies in column {args.label!r}: other rows are needed.")
    return raw, labels


def print_labels(table, labels):
    """Print how many rows have which label."""
    n_rows, n_normals, n_anomalies = (int((labels == one).sum()) for one in (UNLABELLED, NORMAL, ANOMALY))
    anomalies = count_of(n_anomalies, "labelled anomaly", "labelled anomalies")
    others = f"{n_normals:,} known normal, {n_rows:,} unlabelled"
    print(f"{count_of(len(labels), 'row')} of {table.path}: {anomalies}, {others}.")


def columns_to_use(table, raw, labels):
    """The columns to learn from, as choose_columns describes them, and these columns, typed; warns."""
    columns = choose_columns(raw, table.path, table.notation)
    typed = typed_columns(raw, columns, table.notation.missing)
    is_anomaly = labels == ANOMALY
    for warning in (*suspicious_columns(typed, columns, is_anomaly), *warnings_about_rows(typed, is_anomaly)):
        say(printable(warning))
    return columns, typed


# ---------------------------------------------------------------------------- files of `next`


def own_name(name, table, label):
    """The name of a column that `next` adds, with _ at its end if the table has one of this name."""
    while name in (*table.columns, label):
        name += "_"
    return name


def checked_labels(cells, values):
    """The anomalous and the normal labels of a checked file: the table's, and 1 and 0 if these are free."""
    used = {*canonical(cells.unique())}
    anomalous = {*canonical(values)} | (TRUE - used) if values else TRUE
    return anomalous, (FALSE | used) - anomalous - {""}


def texts_of(table, label, places):
    """The rows at some positions of a Table as they are in its file, without the column `label`."""
    names = [name for name in table.columns if name != label]
    chunks = table.chunks(names, verbatim=names)
    return pd.concat([chunk.loc[chunk.index.intersection(places)] for chunk in chunks]).loc[places]


def keys_of(texts):
    """A word for each row of texts (n, columns) that tells it from others."""
    return pd.util.hash_pandas_object(texts, index=False).map("k{:016x}".format).to_numpy(object)


def add_checked(labels, path, table, cells, args):
    """Add those of a checked file to the labels of a table, whose label column has these cells."""
    file = Table(path, table.notation._replace(header=True, errors="replace"))
    wanted = [own_name("row", table, args.label), own_name("key", table, args.label), args.label]
    file.must_have(wanted, "of a file that `next` wrote")
    rows = file.read(wanted, verbatim=wanted)
    rows = rows[rows[wanted[0]] != ""].reset_index(drop=True)
    numbers, keys, given = (rows[name] for name in wanted)
    counted = to_numbers(numbers)
    inside = counted.between(1, len(cells)).to_numpy()
    places = counted.where(inside, 0).to_numpy(int) - 1
    belongs = inside.copy()
    belongs[inside] = keys_of(texts_of(table, args.label, places[inside])) == keys[inside].str.strip()
    if not belongs.all():
        wrong = f"row {numbers[~belongs].iloc[0]!r} of {table.path} is another one or has changed"
        raise DataError(f"{path} does not match the table: {wrong} since `next` wrote the file.")
    anomalous, normal = checked_labels(cells, args.anomaly_value)
    is_anomaly, is_normal = flags_of(given, anomalous, normal, path)
    for label, is_so in ((ANOMALY, is_anomaly), (NORMAL, is_normal)):
        chosen = places[is_so]
        differ = ~np.isin(labels[chosen], (label, UNLABELLED))
        if differ.any():
            wrong = f"row {chosen[differ][0] + 1:,} is an anomaly and normal"
            raise DataError(f"{path} does not agree with other labels of {table.path}: {wrong}. Correct one.")
        labels[chosen] = label
    n_anomalies, n_normals = is_anomaly.sum(), is_normal.sum()
    counts = f"{count_of(len(rows), 'row')}, {count_of(n_anomalies, 'anomaly', 'anomalies')}"
    print(f"{path}: {counts}, {n_normals:,} normal, {len(rows) - n_anomalies - n_normals:,} not filled in.")
