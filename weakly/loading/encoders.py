"""Encode the columns of a table as a matrix.

Nominal columns become one column per level, in order of first appearance as in the authors' UNSW files,
two-level ones a single column; numeric columns are scaled to 0-1 over all rows (App. B.1 and the authors'
files).
"""

import numpy as np
import pandas as pd
from scipy import sparse

from weakly.errors import DataError
from weakly.loading.csv_tables import numeric_matrix, shown_cell
from weakly.loading.files import MOST_FEATURES


def encode_table(table, nominal, path, levels=None, missing=None, decimals=None):
    """One-hot and 0-1 scaled matrix (n, D) float32 of a table, its columns in their order.

    levels: the levels of each nominal column; by default they are taken from the data in order of first
    appearance. The level `missing` is all zero. decimals: how scaled numbers are rounded.
    """
    blocks = []
    for name, column in table.items():
        if name in nominal:
            blocks.append(one_hot(column, path, levels and levels[name], missing))
        else:
            scaled = scale_to_unit(numeric_matrix(table[[name]], path))
            blocks.append((scaled if decimals is None else np.round(scaled, decimals)).astype(np.float32))
    return np.concatenate(blocks, axis=1)


def one_hot(column, path, levels=None, missing=None):
    """One column per level (n, levels) float32; two levels share one, which is 1 for the second."""
    if levels is None:
        codes, levels = pd.factorize(column.where(column != missing))  # missing: -1
    else:
        codes = pd.Index(levels).get_indexer(column)
        if (codes < 0).any():
            unknown = shown_cell(column[codes < 0].iloc[0])
            raise DataError(f"{path} holds an unknown value in column {column.name!r}: {unknown}.")
    block = np.zeros((len(column), len(levels)), np.float32)
    present = np.flatnonzero(codes >= 0)
    block[present, codes[present]] = 1
    return block[:, 1:] if len(levels) == 2 else block


def scale_to_unit(X):
    """Each column to 0-1 over all rows; a constant column becomes 0."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1)


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
    last = max(1, y.max(initial=0))
    for label in range(last + 1):
        if np.count_nonzero(y == label) < 2:
            kind = (
                "normal rows" if label == 0 else "anomalies" if last == 1 else f"anomalies of class {label}"
            )
            raise DataError(f"{source} has fewer than 2 {kind}.")
    return X


def make_demo(n_normals=9_600, n_per_class=100, seed=2023):
    """Synthetic data for trials and tests: X (n, 30), y (n,) and the class of each row (0: normal, 1 to 4).

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
    return np.hstack([scale_to_unit(numeric), one_hot]).astype(np.float32), (kind > 0).astype(np.int64), kind
