"""From published files to a matrix: one reader per file format, each returning X (n, D) and y (n,) 0/1.

Rows are in the order of the file, except for campaign, celeba and census, which are put into the authors'
order. The readers of UNSW-NB15 are in weakly/loading/unsw.py.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file

from weakly.errors import DataError
from weakly.loading.authors_files import git_blob_id, git_blobs_of, write_as_authors
from weakly.loading.csv_tables import (
    binary_labels,
    numeric_matrix,
    read_matrix,
    read_text_table,
    require_columns,
)
from weakly.loading.encoders import encode_table, scale_to_unit
from weakly.loading.files import SIZE_LIMIT, damage_reported, open_data_file, open_zip, read_array
from weakly.loading.row_order import weka_order

BANK_NOMINAL = "job marital education default housing loan contact month day_of_week poutcome".split()
BANK_NUMERIC = """age duration campaign pdays previous emp.var.rate cons.price.idx cons.conf.idx euribor3m
    nr.employed""".split()
# age, wage, gains, losses, dividends, persons worked for, weeks worked
CENSUS_NUMERIC = (0, 5, 16, 17, 18, 30, 39)
CENSUS_WEIGHT, CENSUS_LABEL = 24, 41
CELEBA_MEN = ("105151.jpg", "149981.jpg", "193101.jpg")


def read_class_csv(path, dtype=np.float32):
    """The authors' format: numeric columns and `class`."""
    return read_matrix(path, "class", dtype=dtype)


def read_npz(path):
    """ADBench's format: arrays X and y, never unpickled."""
    with damage_reported(path), open(path, "rb") as file, open_zip(file, path) as archive:
        for name in ("X", "y"):
            if f"{name}.npy" not in archive.namelist():
                raise DataError(f"{path} has no array {name!r}.")
        X, y = (read_array(archive, name, path, SIZE_LIMIT) for name in ("X", "y"))
    if X.ndim != 2 or y.shape != X.shape[:1] or X.dtype.kind not in "fiub":
        raise DataError(f"{path} should hold a numeric matrix X and one label per row in y.")
    return X, binary_labels(pd.Series(y), path)


def read_svmlight(path):
    """The authors' news20 format; returns a CSR matrix."""
    with open_data_file(path) as stream:
        try:
            X, y = load_svmlight_file(stream, dtype=np.float32)
        except (ValueError, OverflowError) as error:
            raise DataError(f"{path} is not an svmlight file: {error}.") from None
    return X, binary_labels(pd.Series(y), path)


def read_creditcard(path):
    """The public creditcard.csv: V1..V28 and Amount, without Time; `Class` is the label."""
    X, y = read_matrix(path, "Class", [f"V{i}" for i in range(1, 29)] + ["Amount"])
    return scale_to_unit(X), y


def read_bank(path):
    """UCI bank-additional-full.csv: 10 nominal and 10 numeric columns give 62; "unknown" is a level; y = yes.

    The authors shuffled UCI's rows with Weka before they wrote their file, numbers with six decimals. If that
    gives their file byte for byte (its git blob id shows it), the rows are returned in their order; those of
    another version of UCI's file in its own.
    """
    table = bank_table(path)
    require_columns(table, [*BANK_NOMINAL, *BANK_NUMERIC, "y"], path)
    features = table[[name for name in table.columns if name in BANK_NOMINAL or name in BANK_NUMERIC]]
    X, y = (
        encode_table(features, BANK_NOMINAL, path, decimals=6),
        binary_labels(table["y"], path, "no", "yes"),
    )
    return in_authors_order(bank_names(features), X, y, "bank-additional-full_normalised.csv")


def in_authors_order(names, X, y, authors_file):
    """X and y shuffled as Weka does it if that gives the authors' file byte for byte, else as they are."""
    order = weka_order(len(y))
    shuffled = X[order], y[order]
    is_authors = git_blob_id(write_as_authors(names, *shuffled)) in git_blobs_of(authors_file)
    return shuffled if is_authors else (X, y)


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
    require_columns(table, ["filename", "Male", "Bald"], path)
    table.loc[table["filename"].isin(CELEBA_MEN), "Male"] = 1
    y = binary_labels(table["Bald"], path, -1, 1)
    features = table.drop(columns=["filename", "Bald"])
    X = encode_table(features, features.columns, path, levels=dict.fromkeys(features, (1, -1)))
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
            table[name] = numeric_matrix(table[[name]], path)
        tables.append(table.drop(columns=[CENSUS_WEIGHT, CENSUS_LABEL]))
    second = min(1, len(labels[0]) - 1)
    authors_order = [*range(1, len(labels[0])), second]
    tables[0], labels[0] = tables[0].iloc[authors_order], labels[0][authors_order]
    table = pd.concat(tables, ignore_index=True)
    nominal = [name for name in table.columns if name not in CENSUS_NUMERIC]
    return encode_table(table, nominal, path, missing="?"), np.concatenate(labels)
