"""XGBoost as the predictor of isolation forests, and zeros of binary columns as missing values."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from xgboost import XGBClassifier

from weakly.training.trees import (
    LEAF,
    average_path_lengths,
    binary_columns,
    booster_of_forests,
    tree_sums,
    zeros_as_missing,
)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).random((700, 5), dtype=np.float32)


@pytest.fixture(scope="module")
def forests(rows):
    return [IsolationForest(n_estimators=n, random_state=n).fit(rows) for n in (3, 40)]


def at_and_beside(thresholds, n_features):
    """Rows, all features alike, at each threshold in float32 and at its two neighbours."""
    at = np.asarray(thresholds).astype(np.float32)
    beside = [np.nextafter(at, np.float32(side)) for side in (-np.inf, np.inf)]
    return np.repeat(np.concatenate([at, *beside])[:, np.newaxis], n_features, axis=1)


def forest_scores(forests, X):
    """The scores (n, forests) of isolation forests, by XGBoost."""
    usual = [len(forest.estimators_) * average_path_lengths(forest.max_samples_) for forest in forests]
    return 2 ** -(tree_sums(booster_of_forests(forests, X.shape[1]), X) / np.array(usual))


def test_isolation_forests_score_as_in_scikit_learn(rows, forests):
    """At and beside the thresholds of one forest too, where another leaf would give another path length."""
    trees = [member.tree_ for member in forests[0].estimators_]
    at_thresholds = at_and_beside(np.concatenate([t.threshold[t.children_left != LEAF] for t in trees]), 5)
    X = np.concatenate([rows, 3 * rows - 1, at_thresholds])
    one_leaf = IsolationForest(n_estimators=2, random_state=0).fit(np.zeros((4, 5), np.float32))
    for some in (forests, [one_leaf]):
        expected = np.column_stack([-forest.score_samples(X) for forest in some])
        np.testing.assert_allclose(forest_scores(some, X), expected, rtol=2e-6)


@pytest.fixture(scope="module")
def one_hot_rows(rows):
    """Two columns of numbers, of which one holds zeros, one of four levels as 0 and 1, a constant 1."""
    levels = np.floor(4 * rows[:, 0]).astype(int)
    one_hot = np.eye(4, dtype=np.float32)[levels]
    numbers = np.where(rows[:, 1] < 0.3, 0, rows[:, 1])
    columns = [rows[:, 2], *one_hot.T[:2], numbers, *one_hot.T[2:], np.ones(len(rows), np.float32)]
    return np.column_stack(columns)


def test_zeros_left_out_give_the_same_scores(rows, one_hot_rows):
    """What XGBoost learns from all values, it learns without the zeros of binary columns, to the last bit."""
    # classes that share some places, so that trees grow deep and differ
    labels = (rows[:, 0] + rows[:, 1] > 1.2) ^ (np.random.default_rng(1).random(len(rows)) < 0.1)
    is_binary = binary_columns(one_hot_rows)
    reduced_rows = zeros_as_missing(one_hot_rows, is_binary)
    assert reduced_rows.dtype == np.float32
    np.testing.assert_array_equal(np.isnan(reduced_rows), is_binary & (one_hot_rows == 0))
    whole, reduced = (
        XGBClassifier(n_estimators=30, n_jobs=1).fit(columns, labels).get_booster()
        for columns in (one_hot_rows, reduced_rows)
    )
    n_splits = reduced.get_score(importance_type="weight")
    assert sum(n_splits[f"f{place}"] for place in np.flatnonzero(is_binary) if f"f{place}" in n_splits) > 30
    sums = tree_sums(reduced, reduced_rows)
    np.testing.assert_array_equal(sums, tree_sums(whole, one_hot_rows))
    assert sums.shape == (len(labels), 1) and np.ptp(sums) > 1
