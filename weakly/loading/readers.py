"""From published files to a matrix: readers that return X (n, D) and y (n,), 0 for normal rows.

Rows keep the order of the file, but campaign, celeba and census are put into the authors' order. Nominal
columns become one column per level, in order of first appearance, two-level ones a single column; numeric
columns are scaled to 0-1 over all rows (App. B.1 and the authors' files).
"""

import csv
import warnings

import numpy as np
import pandas as pd
from scipy import sparse

from weakly.errors import DataError
from weakly.loading.files import open_data_file
from weakly.loading.row_order import in_authors_order

BANK_NOMINAL = "job marital education default housing loan contact month day_of_week poutcome".split()
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


def read_class_csv(path, dtype=np.float32, label="class", unused=()):
    """X (n, D) and y (n,) of the authors' format: numeric columns and a label."""
    names, table = read_matrix(path, dtype)
    require_columns(names, [label], path)
    used = [place for place, name in enumerate(names) if name not in (label, *unused)]
    return table[:, used], binary_labels(pd.Series(table[:, names.index(label)]), path)


def read_npz(path):
    """ADBench's format: arrays X and y, never unpickled."""
    with np.load(path, allow_pickle=False) as arrays:
        X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or y.shape != X.shape[:1] or X.dtype.kind not in "biuf":
        raise DataError(f"{path} should hold a numeric matrix X and one label per row in y.")
    return X, binary_labels(pd.Series(y), path)


def read_svmlight(path):
    """The authors' news20 format; returns a CSR matrix."""
    from sklearn.datasets import load_svmlight_file  # half of the time of --help, where it is not needed

    with open_data_file(path) as stream:
        X, y = load_svmlight_file(stream, dtype=np.float32)
    return X, binary_labels(pd.Series(y), path)


def read_creditcard(path):
    """The public creditcard.csv: V1..V28 and Amount, without Time; `Class` is the label."""
    X, y = read_class_csv(path, np.float64, "Class", unused=["Time"])
    return scale_to_unit(X), y


def read_text_table(path, member=None, **options):
    """A CSV file of texts and numbers as a DataFrame."""
    with open_data_file(path, member) as stream:
        return pd.read_csv(stream, low_memory=False, **options)


def read_bank(path):
    """UCI bank-additional-full.csv: 10 nominal and 10 numeric columns give 62; "unknown" is a level; y = yes.

    The authors' file has UCI's rows as Weka shuffles them, and six decimals; the rows of another version of
    UCI's file stay in their order.
    """
    table = bank_table(path)
    require_columns(table.columns, [*BANK_NOMINAL, "y"], path)
    features = table.drop(columns="y")
    X = encode_table(features, BANK_NOMINAL, decimals=6)
    y = binary_labels(table["y"], path, "no", "yes")
    return in_authors_order(bank_names(features), X, y, "bank-additional-full_normalised.csv")


def bank_table(path, **options):
    """UCI's bank-additional-full.csv as it is, plain or in UCI's archive."""
    return read_text_table(path, "bank-additional-full.csv", sep=";", keep_default_na=False, **options)


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

    With three cells changed (CELEBA_MEN are Male), and shuffled as by Weka, the table is the authors' file.
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
    more (the first line was lost as a header), then the test rows. So are the rows of their nominal ARFF file
    (ADRepository, "categorical data/census-income-full-nominal.tar.xz") once Weka's shuffle is undone. That
    the file behind the paper has this order, too, is inferred: the published results fit it.
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
    authors_order = [*range(1, len(labels[0])), 1]
    tables[0], labels[0] = tables[0].iloc[authors_order], labels[0][authors_order]
    table = pd.concat(tables, ignore_index=True)
    nominal = [name for name in table.columns if name not in CENSUS_NUMERIC]
    return encode_table(table, nominal, missing="?"), np.concatenate(labels)


def read_unsw_parts(backdoor_path, anomalies_path):
    """The 93,000 normals of the authors' backdoor file, then an anomalies-only file on the same scale."""
    X, y = read_class_csv(backdoor_path, np.float64)
    return _join_classes(X[y == 0], y[y == 0], [read_matrix(anomalies_path, header=False)[1]])


def read_unsw_classes(backdoor_path, *anomalies_paths):
    """All attack classes, y = 1, 2, 3 for the anomalies-only files and 4 for the authors' backdoor file."""
    X, y = read_class_csv(backdoor_path, np.float64)
    return _join_classes(X, y, [read_matrix(path, header=False)[1] for path in anomalies_paths])


def read_unsw_files(backdoor_path, *paths):
    """As read_unsw_classes, from the authors' four files: each is scaled over its own rows.

    All have the same normal rows, which determine the affine map to the backdoor file's scale.
    """
    X, y = read_class_csv(backdoor_path, np.float64)
    normals, others = X[y == 0], []
    for path in paths:
        rows, labels = read_class_csv(path, np.float64)
        same = rows[labels == 0]
        spread = np.ptp(same, axis=0)
        factor = np.where(spread > 0, np.ptp(normals, axis=0) / np.where(spread > 0, spread, 1), 1)
        shift = normals.min(axis=0) - factor * same.min(axis=0)
        if same.shape != normals.shape or not np.allclose(factor * same + shift, normals, atol=1e-3):
            raise DataError(f"{path} does not have the same normal rows as {backdoor_path}.")
        others.append(factor * rows[labels == 1] + shift)
    return _join_classes(X, y, others)


def _join_classes(X, y, others):
    """X and y with the rows of other classes, of codes 1, 2, ... before the code of y's anomalies."""
    codes = np.repeat(np.arange(1, len(others) + 1), [len(rows) for rows in others])
    return scale_to_unit(np.concatenate([X, *others])), np.concatenate([y * (len(others) + 1), codes])


def encode_table(table, nominal, missing=None, decimals=None):
    """One-hot and 0-1 scaled matrix (n, D) float32 of a table; the level `missing` is all zero."""
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
    if missing := [name for name in names if name not in columns]:
        raise DataError(f"{path} has no column named {missing[0]!r}.")


def check_data_set(X, y, source):
    """X as float32; DataError unless it is finite and y has two normals and two of each anomaly class."""
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
    """Synthetic X (n, 30) and classes (n,), 0 for normal rows, which form 4 correlated clusters, or 1 to 4.

    26 columns are numeric; 4 one-hot columns are mostly the row's cluster.
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
