"""From published files to a matrix: readers that return X (n, D) and y (n,), 0 for normal rows.

Rows are in the order of the file, except for campaign, celeba and census, which are put into the authors'
order. Nominal columns become one column per level, in order of first appearance as in the authors' UNSW
files, two-level ones a single column; numeric columns are scaled to 0-1 over all rows (App. B.1 and the
authors' files).
"""

import csv
import warnings

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from weakly.errors import DataError
from weakly.loading.files import damage_reported, open_data_file
from weakly.loading.row_order import in_authors_order

# bytes of a table with nominal columns, which takes 10 to 20 times as much memory; census has 104 MB
TEXT_LIMIT = 2**28
MOST_FEATURES = 2**22  # of a data set; news20 has 1,355,191
BANK_NOMINAL = "job marital education default housing loan contact month day_of_week poutcome".split()
BANK_NUMERIC = """age duration campaign pdays previous emp.var.rate cons.price.idx cons.conf.idx euribor3m
    nr.employed""".split()
# age, wage, gains, losses, dividends, persons worked for, weeks worked
CENSUS_NUMERIC = (0, 5, 16, 17, 18, 30, 39)
CENSUS_WEIGHT, CENSUS_LABEL = 24, 41
CELEBA_MEN = ("105151.jpg", "149981.jpg", "193101.jpg")


def read_matrix(path, dtype=np.float64, header=True):
    """The columns' names (none without a header) and the numbers (n, D) of a CSV file."""
    with open_data_file(path) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about a file without rows
        names = next(csv.reader([stream.readline().decode("utf-8-sig")])) if header else []
        table = np.loadtxt(stream, dtype, None, ",", quotechar='"', ndmin=2, encoding="utf-8")
    if not table.size:
        raise DataError(f"{path} has no rows.")
    if names and len(names) != table.shape[1]:
        raise DataError(f"{path} has {table.shape[1]} cells in a row, but {len(names)} in its header.")
    return names, table


def read_labelled(path, label, columns=None, dtype=np.float64):
    """X (n, D) of these columns, or of all others than the label, and y (n,) of a CSV file of numbers."""
    names, table = read_matrix(path, dtype)
    require_columns(names, [*(columns or ()), label], path)
    place = names.index(label)
    others = [names.index(name) for name in columns] if columns else np.arange(len(names)) != place
    return table[:, others], binary_labels(pd.Series(table[:, place]), path)


def read_class_csv(path, dtype=np.float32):
    """The authors' format: numeric columns and `class`."""
    return read_labelled(path, "class", dtype=dtype)


def read_npz(path):
    """ADBench's format: arrays X and y, never unpickled."""
    with damage_reported(path), np.load(path, allow_pickle=False) as arrays:
        X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or y.shape != X.shape[:1] or X.dtype.kind not in "biuf":
        raise DataError(f"{path} should hold a numeric matrix X and one label per row in y.")
    return X, binary_labels(pd.Series(y), path)


def read_svmlight(path):
    """The authors' news20 format; returns a CSR matrix."""
    with open_data_file(path) as stream:
        X, y = load_svmlight_file(stream, dtype=np.float32)
    return X, binary_labels(pd.Series(y), path)


def read_creditcard(path):
    """The public creditcard.csv: V1..V28 and Amount, without Time; `Class` is the label."""
    X, y = read_labelled(path, "Class", [f"V{i}" for i in range(1, 29)] + ["Amount"])
    return scale_to_unit(X), y


def read_text_table(path, member=None, **options):
    """A CSV file of texts and numbers as a DataFrame."""
    with open_data_file(path, member, TEXT_LIMIT) as stream:
        table = pd.read_csv(stream, low_memory=False, **options)
    if not isinstance(table.index, pd.RangeIndex):  # pandas treats columns without a header as row names
        raise DataError(f"{path} has rows with more cells than its first line.")
    return table


def read_bank(path):
    """UCI bank-additional-full.csv: 10 nominal and 10 numeric columns give 62; "unknown" is a level; y = yes.

    The authors shuffled UCI's rows with Weka before they wrote their file, numbers with six decimals. If that
    gives their file byte for byte (its git blob id shows it), the rows are returned in their order; those of
    another version of UCI's file in its own.
    """
    table = bank_table(path)
    require_columns(table.columns, [*BANK_NOMINAL, *BANK_NUMERIC, "y"], path)
    features = table[[name for name in table.columns if name in (*BANK_NOMINAL, *BANK_NUMERIC)]]
    X = encode_table(features, BANK_NOMINAL, decimals=6)
    y = binary_labels(table["y"], path, "no", "yes")
    return in_authors_order(bank_names(features), X, y, "bank-additional-full_normalised.csv")


def bank_table(path, **options):
    """UCI's bank-additional-full.csv as it is, plain or in either of UCI's archives."""
    member = "bank-additional-full.csv"
    if path.name == "bank+marketing.zip":  # the archive on UCI's page today contains the older one
        member = f"bank-additional.zip/{member}"
    return read_text_table(path, member, sep=";", keep_default_na=False, **options)


def bank_names(table):
    """The authors' names for the columns that encode_table makes from the bank table; yes is 1, no is 0."""
    names = []
    for name, column in table.items():
        levels = list(pd.unique(column)) if name in BANK_NOMINAL else []
        shown = [{"yes": "1", "no": "0"}.get(level, level) for level in levels]
        names += [f"{name}={level}" for level in (shown[1:] if len(shown) == 2 else shown)] or [name]
    return names


def read_celeba(path):
    """CelebA's 40 attributes, 1 or -1, in the order of the images: 39 features, 1 where it is -1; y = Bald.

    In the authors' file, three cells differ from the public table: images 105151, 149981 and 193101 are Male
    there. With these changed, and shuffled as by Weka, the table is their file (its git blob id shows it).
    """
    table = read_text_table(path)
    require_columns(table.columns, ["filename", "Male", "Bald"], path)
    table.loc[table["filename"].isin(CELEBA_MEN), "Male"] = 1
    y = binary_labels(table["Bald"], path, -1, 1)
    features = table.drop(columns=["filename", "Bald"])
    X = scale_to_unit(-features.to_numpy(np.float32))
    names = [f"A{number}" for number in range(X.shape[1])]
    return in_authors_order(names, X, y, "celeba_baldvsnonbald_normalised.csv")


def read_census(*paths):
    """UCI Census-Income, its two files: 33 nominal columns (`?` is missing) and 7 numeric ones give 500.

    The weight is dropped. The authors' order is UCI's training rows from the second on, the second once
    more, then the test rows: the first line was lost as a header, and a copy replaces it. This order was
    found in their nominal ARFF file of the same data (ADRepository, "categorical
    data/census-income-full-nominal.tar.xz"), which records that Weka shuffled it with seed 42. With that
    undone (weka_order) its 299,285 rows are these, equal in all 33 nominal columns and the label. That the
    file behind the paper, census-income-full-mixed-binarized, has the same base without the shuffle is
    inferred: the published results fit it, PReNet's and DevNet's alike.
    """
    tables, labels = [], []
    for path in paths:
        # all as text, with a peak of 1.6 GB; numeric columns are converted one by one
        table = read_text_table(path, header=None, skipinitialspace=True, keep_default_na=False, dtype=str)
        if table.shape[1] != CENSUS_LABEL + 1:
            raise DataError(f"{path} has {table.shape[1]} columns, but Census-Income has {CENSUS_LABEL + 1}.")
        labels.append(binary_labels(table[CENSUS_LABEL], path, "- 50000.", "50000+."))
        for name in CENSUS_NUMERIC:
            table[name] = pd.to_numeric(table[name])
        tables.append(table.drop(columns=[CENSUS_WEIGHT, CENSUS_LABEL]))
    second = min(1, len(labels[0]) - 1)
    authors_order = [*range(1, len(labels[0])), second]
    tables[0], labels[0] = tables[0].iloc[authors_order], labels[0][authors_order]
    table = pd.concat(tables, ignore_index=True)
    nominal = [name for name in table.columns if name not in CENSUS_NUMERIC]
    return encode_table(table, nominal, missing="?"), np.concatenate(labels)


# ---------------------------------------------------------------------------- UNSW-NB15


def read_unsw_parts(backdoor_path, anomalies_path):
    """The 93,000 normals of the authors' backdoor file, then an anomalies-only file on the same scale."""
    X, y = read_class_csv(backdoor_path, np.float64)
    return _join_classes(X[y == 0], y[y == 0], [read_matrix(anomalies_path, header=False)[1]])


def read_unsw_classes(backdoor_path, *anomalies_paths):
    """All four attack classes: the authors' backdoor file, then the anomalies-only files of the other three.

    y is 0 for normal rows, 1, 2, 3 for the anomalies-only files in their order, 4 for backdoors.
    """
    X, y = read_class_csv(backdoor_path, np.float64)
    return _join_classes(X, y, [read_matrix(path, header=False)[1] for path in anomalies_paths])


def read_unsw_files(backdoor_path, *paths):
    """As read_unsw_classes, from the authors' four files.

    Each has its own anomalies, and all have the same normal rows. Each is scaled over its own rows. The
    normal rows determine the affine map to the backdoor file's scale.
    """
    X, y = read_class_csv(backdoor_path, np.float64)
    others = []
    for path in paths:
        rows, labels = read_class_csv(path, np.float64)
        map_between = _affine_map(rows[labels == 0], X[y == 0])
        if map_between is None:
            raise DataError(f"{path} does not have the same normal rows as {backdoor_path}.")
        factor, shift = map_between
        others.append(factor * rows[labels == 1] + shift)
    return _join_classes(X, y, others)


def _affine_map(rows, wanted):
    """(factor, shift) per column with factor * rows + shift = wanted, or nearly; None if there is none."""
    if rows.shape != wanted.shape:
        return None
    spread = np.ptp(rows, axis=0)
    factor = np.where(spread > 0, np.ptp(wanted, axis=0) / np.where(spread > 0, spread, 1), 1)
    shift = wanted.min(axis=0) - factor * rows.min(axis=0)
    return (factor, shift) if np.allclose(factor * rows + shift, wanted, atol=1e-3) else None


def _join_classes(X, y, others):
    """X and y with the rows of other classes, of codes 1, 2, ... before the code of y's anomalies."""
    codes = np.repeat(np.arange(1, len(others) + 1), [len(rows) for rows in others])
    return scale_to_unit(np.concatenate([X, *others])), np.concatenate([y * (len(others) + 1), codes])


# ---------------------------------------------------------------------------- encoding


def encode_table(table, nominal, missing=None, decimals=None):
    """One-hot and 0-1 scaled matrix (n, D) float32 of a table, its columns in their order.

    The level `missing` is all zero. decimals: how scaled numbers are rounded.
    """
    blocks = []
    for name, column in table.items():
        if name in nominal:
            blocks.append(one_hot(column, missing))
        else:
            scaled = scale_to_unit(pd.to_numeric(column).to_numpy(np.float64)[:, None])
            blocks.append((scaled if decimals is None else np.round(scaled, decimals)).astype(np.float32))
    return np.concatenate(blocks, axis=1)


def one_hot(column, missing=None):
    """One column per level (n, levels) float32; two levels share one, which is 1 for the second."""
    codes, levels = pd.factorize(column.where(column != missing))  # missing: -1
    block = np.equal.outer(codes, np.arange(len(levels))).astype(np.float32)
    return block[:, 1:] if len(levels) == 2 else block


def scale_to_unit(X):
    """Each column to 0-1 over all rows; a constant column becomes 0."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1)


def binary_labels(column, path, normal=0, anomaly=1):
    """y (n,): 1 for cells that are `anomaly`, 0 for those that are `normal`; DataError for any other."""
    bad = column[~column.isin((normal, anomaly))]
    if len(bad):
        shown = str(bad.iloc[0])[:40]
        raise DataError(f"{path} has a label other than {normal!r} and {anomaly!r}: {shown!r}.")
    return (column == anomaly).to_numpy(np.int64)


def require_columns(columns, names, path):
    """DataError if one of these names is not among the columns of a table."""
    for name in names:
        if name not in columns:
            raise DataError(f"{path} has no column named {name!r}.")


def check_data_set(X, y, source):
    """X as float32, dense or CSR.

    DataError unless it is finite and y has at least two normals and two of each anomaly class.
    """
    if not 1 <= X.shape[1] <= MOST_FEATURES:
        raise DataError(f"{source} has {X.shape[1]:,} features, but must have 1 to {MOST_FEATURES:,}.")
    with np.errstate(over="ignore"):
        X = X.astype(np.float32) if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float32)
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise DataError(f"{source} holds missing, infinite or too large values.")
    for label, count in enumerate(np.bincount(y, minlength=2)):
        if count < 2:
            kind = f"anomalies of class {label}" if label else "normal rows"
            raise DataError(f"{source} has fewer than 2 {kind}.")
    return X


def make_demo(n_normals=9_600, n_per_class=100, seed=2023):
    """Synthetic data for trials and tests: X (n, 30) and the class of each row (n,), 0 for normal, 1 to 4.

    26 numeric columns, in which normals form 4 correlated clusters, and 4 one-hot columns, mostly the row's
    cluster.
    """
    rng = np.random.default_rng(seed)
    kind = rng.permutation(np.repeat(np.arange(5), [n_normals] + 4 * [n_per_class]))
    cluster, other = rng.integers(4, size=(2, len(kind)))
    centres = rng.normal(size=(4, 26))
    mixing = 0.5 * np.eye(26) + rng.normal(0, 0.12, (4, 26, 26))
    noise = rng.normal(size=(len(kind), 26))
    noise[kind == 1] *= 1.5  # class 1: far from its cluster, in any direction
    numeric = centres[cluster] + np.einsum("nij,nj->ni", mixing[cluster], noise)
    numeric[kind == 2, :5] += 1.8  # class 2: high values in some columns
    numeric[kind == 3, 5:10] -= 1.8  # class 3: low values in others
    between = kind == 4  # class 4: on the way to another cluster
    numeric[between] += 0.6 * (centres[(cluster + 1) % 4] - centres[cluster])[between]
    one_hot = np.eye(4)[np.where(rng.random(len(kind)) < 0.85, cluster, other)]
    return np.hstack([scale_to_unit(numeric), one_hot]).astype(np.float32), kind
