"""Tree ensembles as arrays: the same sums as in the libraries, and nothing but trees is taken for trees."""

import numpy as np
import pytest
from catboost import CatBoostClassifier
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.ensemble._iforest import _average_path_length
from xgboost import XGBClassifier

from weakly.training.trees import (
    LEAF,
    MOST_SPLITS,
    SymmetricTrees,
    Trees,
    average_path_lengths,
    binary_columns,
    booster_of,
    catboost_of,
    check_symmetric_trees,
    check_trees,
    symmetric_trees_of,
    tree_sums,
    trees_of_booster,
    trees_of_forest,
    trees_of_isolation_forests,
    without_zeros,
)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).random((700, 5), dtype=np.float32)


@pytest.fixture(scope="module")
def labels(rows):
    """Two classes that share some rows' places, so that trees grow deep and differ."""
    noise = np.random.default_rng(1).random(len(rows)) < 0.1
    return (rows[:, 0] + rows[:, 1] > 1.2) ^ noise


@pytest.fixture(scope="module")
def forests(rows):
    return [IsolationForest(n_estimators=n, random_state=n).fit(rows) for n in (3, 40)]


def at_and_beside(thresholds, n_features):
    """Rows, all features alike, at each threshold in float32 and at its two neighbours."""
    at = np.asarray(thresholds).astype(np.float32)
    beside = [np.nextafter(at, np.float32(side)) for side in (-np.inf, np.inf)]
    return np.repeat(np.concatenate([at, *beside])[:, np.newaxis], n_features, axis=1)


# ---------------------------------------------------------------------------- scikit-learn's forests


def test_isolation_forests_score_as_in_scikit_learn(rows, forests):
    X = np.concatenate([rows, 3 * rows - 1])
    trees = trees_of_isolation_forests(forests)
    check_trees(trees, 5)
    usual = np.array([3, 40]) * average_path_lengths(np.array(256))
    scores = 2 ** -(tree_sums(booster_of(trees, 5), X) / usual)
    expected = np.column_stack([-forest.score_samples(X) for forest in forests])
    np.testing.assert_allclose(scores, expected, rtol=2e-6)


def test_rows_at_and_beside_the_thresholds_reach_the_same_leaves(forests):
    """Number the nodes and take each tree as a group of its own: the sums are the leaves."""
    trees = [member.tree_ for member in forests[0].estimators_]
    X = at_and_beside(np.concatenate([t.threshold[t.children_left != LEAF] for t in trees]), 5)
    numbered = trees_of_forest(trees, [np.arange(tree.node_count) for tree in trees], range(len(trees)))
    leaves = np.column_stack([tree.apply(X) for tree in trees])
    np.testing.assert_array_equal(tree_sums(booster_of(numbered, 5), X), leaves)


def test_random_forests_give_shares_of_class_1(rows, labels):
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(rows, labels)
    trees = [member.tree_ for member in forest.estimators_]
    arrays = trees_of_forest(trees, [tree.value[:, 0, 1] for tree in trees], [0] * len(trees))
    check_trees(arrays, 5)
    sums = tree_sums(booster_of(arrays, 5), rows)
    assert sums.shape == (700, 1) and len(np.unique(sums)) > 100
    np.testing.assert_allclose(sums[:, 0] / 20, forest.predict_proba(rows)[:, 1], atol=1e-6)


def test_a_tree_that_is_one_leaf():
    X = np.zeros((4, 2), np.float32)
    forest = IsolationForest(n_estimators=2, random_state=0).fit(X)
    trees = trees_of_isolation_forests([forest])
    assert trees.sizes.tolist() == [1, 1] and trees.left.tolist() == [LEAF, LEAF]
    check_trees(trees, 2)
    scores = 2 ** -(tree_sums(booster_of(trees, 2), X)[:, 0] / (2 * average_path_lengths(np.array(4))))
    np.testing.assert_allclose(scores, -forest.score_samples(X), rtol=1e-6)


def test_average_path_lengths_are_those_of_scikit_learn():
    n_rows = np.array([1, 2, 3, 17, 256])
    np.testing.assert_array_equal(average_path_lengths(n_rows), _average_path_length(n_rows))


# ---------------------------------------------------------------------------- boosted trees


def test_boosters_are_rebuilt_but_for_their_constant(rows, labels):
    classifier = XGBClassifier(n_estimators=30, n_jobs=1).fit(rows, labels)
    trees = trees_of_booster(classifier.get_booster())
    check_trees(trees, 5)
    X = np.concatenate([3 * rows - 1, at_and_beside(trees.threshold[trees.left != LEAF], 5)])
    margins = classifier.predict(X, output_margin=True)
    differences = margins - tree_sums(booster_of(trees, 5), X)[:, 0]
    assert np.ptp(margins) > 1 and np.ptp(differences) < 2e-5
    # newer versions of XGBoost start from the share of class 1
    share = labels.mean()
    np.testing.assert_allclose(differences, np.log(share / (1 - share)), atol=1e-4)


@pytest.fixture(scope="module")
def one_hot_rows(rows):
    """Two columns of numbers, of which one holds zeros, one of four levels as 0 and 1, a constant 1."""
    levels = np.floor(4 * rows[:, 0]).astype(int)
    one_hot = np.eye(4, dtype=np.float32)[levels]
    numbers = np.where(rows[:, 1] < 0.3, 0, rows[:, 1])
    columns = [rows[:, 2], *one_hot.T[:2], numbers, *one_hot.T[2:], np.ones(len(rows), np.float32)]
    return np.column_stack(columns)


def test_binary_columns(one_hot_rows):
    assert binary_columns(one_hot_rows).tolist() == [False, True, True, False, True, True, False]
    between = np.array([[0, 0, -1, 0], [1, 0.5, 0, 0], [0, 1, 1, 2]], np.float32)
    assert binary_columns(between).tolist() == [True, False, False, False]


def test_only_zeros_of_binary_columns_are_left_out(one_hot_rows):
    """A zero among numbers stays, as a value that is stored."""
    is_binary = binary_columns(one_hot_rows)
    matrix = without_zeros(one_hot_rows, is_binary)
    np.testing.assert_array_equal(matrix.toarray(), one_hot_rows)
    assert matrix.nnz == 3 * len(one_hot_rows) + np.count_nonzero(one_hot_rows[:, is_binary])


def test_zeros_left_out_give_the_same_trees(one_hot_rows, labels):
    """What XGBoost learns from all values, it learns without the zeros of binary columns, to the last bit."""
    is_binary = binary_columns(one_hot_rows)
    whole = XGBClassifier(n_estimators=30, n_jobs=1).fit(one_hot_rows, labels)
    reduced = XGBClassifier(n_estimators=30, n_jobs=1).fit(without_zeros(one_hot_rows, is_binary), labels)
    all_trees = [
        trees_of_booster(whole.get_booster()),
        trees_of_booster(reduced.get_booster(), is_binary),
    ]
    used = all_trees[1].feature[all_trees[1].left != LEAF]
    assert is_binary[used].sum() > 30 and (~is_binary[used]).sum() > 30
    sums = [tree_sums(booster_of(trees, 7), one_hot_rows) for trees in all_trees]
    np.testing.assert_array_equal(*sums)
    margins = whole.predict(one_hot_rows, output_margin=True)
    assert np.ptp(margins) > 1 and np.ptp(margins - sums[1][:, 0]) < 2e-5


def test_catboost_models_are_rebuilt_but_for_their_constant(rows, labels):
    settings = {"thread_count": 1, "random_seed": 0, "verbose": False, "allow_writing_files": False}
    model = CatBoostClassifier(iterations=20, **settings).fit(rows, labels)
    trees = symmetric_trees_of(model)
    assert len(trees.sizes) == 20
    check_symmetric_trees(trees, 5)
    X = np.concatenate([3 * rows - 1, at_and_beside(trees.border, 5)])
    raw = model.predict(X, prediction_type="RawFormulaVal")
    bias = model.get_scale_and_bias()[1]
    rebuilt = catboost_of(trees, 5).predict(X, prediction_type="RawFormulaVal")
    assert np.ptp(raw) > 0.5
    np.testing.assert_allclose(rebuilt, raw - bias, atol=1e-12)


def test_symmetric_trees_by_hand():
    """Bit j of a leaf's number says whether x is above border j; a tree without splits is one leaf."""
    kinds = (np.int32, np.int32, np.float32, np.float64)
    lists = ([2, 0], [2, 0], [0.5, -1.0], [1.0, 2.0, 3.0, 4.0, 10.0])
    trees = SymmetricTrees(*map(np.array, lists, kinds))
    check_symmetric_trees(trees, 3)
    X = np.array([[-1, 0, 0.5], [-1, 0, 0.6], [0, 0, 0.5], [0, 0, 0.6]], np.float32)
    sums = catboost_of(trees, 3).predict(X, prediction_type="RawFormulaVal")
    np.testing.assert_array_equal(sums, [11, 12, 13, 14])


# ---------------------------------------------------------------------------- what is no tree


def two_trees(**changes):
    """A root with a leaf on its left and a split on its right, then one leaf; some arrays replaced."""
    arrays = {
        "sizes": np.array([5, 1], np.int32),
        "groups": np.array([0, 1], np.int32),
        "left": np.array([1, LEAF, 3, LEAF, LEAF, LEAF], np.int32),
        "feature": np.array([0, 0, 2, 0, 0, 0], np.int32),
        "threshold": np.array([0.5, 1, 0.25, 2, 3, 10], np.float32),
    }
    return Trees(**(arrays | changes))


def test_trees_by_hand():
    check_trees(two_trees(), 3)
    X = np.array([[0.4, 0, 9], [0.5, 0, 0.2], [0.5, 0, 0.25]], np.float32)
    np.testing.assert_array_equal(tree_sums(booster_of(two_trees(), 3), X), [[1, 10], [2, 10], [3, 10]])


def int32(*numbers):
    return np.array(numbers, np.int32)


def float32(*numbers):
    return np.array(numbers, np.float32)


NO_TREES = {
    "a child that is its parent": ({"left": int32(0, LEAF, 3, LEAF, LEAF, LEAF)}, "a child"),
    "a child before its parent": ({"left": int32(1, LEAF, 0, LEAF, LEAF, LEAF)}, "a child"),
    "a child in the next tree": ({"left": int32(1, LEAF, 5, LEAF, LEAF, LEAF)}, "a child"),
    "a right child in the next tree": ({"left": int32(1, LEAF, 4, LEAF, LEAF, LEAF)}, "a child"),
    "a child beyond all": ({"left": int32(1, LEAF, 1_000, LEAF, LEAF, LEAF)}, "a child"),
    "a child below the first": ({"left": int32(1, LEAF, -2, LEAF, LEAF, LEAF)}, "a child"),
    "a feature too many": ({"feature": int32(0, 0, 3, 0, 0, 0)}, "a feature is out"),
    "a negative feature": ({"feature": int32(0, 0, -1, 0, 0, 0)}, "a feature is out"),
    "a NaN threshold": ({"threshold": float32(0.5, 1, np.nan, 2, 3, 10)}, "not finite"),
    "an infinite leaf": ({"threshold": float32(0.5, 1, 0.25, 2, 3, np.inf)}, "not finite"),
    "a negative group": ({"groups": int32(0, -1)}, "a group"),
    "a group beyond the trees": ({"groups": int32(0, 2)}, "a group"),
    "long integers": ({"left": two_trees().left.astype(np.int64)}, "left is no list"),
    "features as floats": ({"feature": two_trees().feature.astype(np.float32)}, "feature is no list"),
    "long floats": ({"threshold": two_trees().threshold.astype(np.float64)}, "threshold is no list"),
    "sizes as floats": ({"sizes": float32(5, 1)}, "sizes is no list"),
    "a missing threshold": ({"threshold": two_trees().threshold[:-1]}, "threshold is no list"),
    "a matrix": ({"left": two_trees().left.reshape(2, 3)}, "left is no list"),
    "groups of other trees": ({"groups": int32(0)}, "groups is no list"),
    "sizes of other nodes": ({"sizes": int32(5, 2)}, "left is no list"),
    "a tree without nodes": ({"sizes": int32(6, 0)}, "without nodes"),
    "a negative size": ({"sizes": int32(7, -1)}, "without nodes"),
    "no trees": (
        {"sizes": int32(), "groups": int32(), "left": int32(), "feature": int32(), "threshold": float32()},
        "without nodes",
    ),
}


@pytest.mark.parametrize("case", NO_TREES)
def test_what_is_no_tree_is_refused(case):
    changes, message = NO_TREES[case]
    with pytest.raises(ValueError, match=message):
        check_trees(two_trees(**changes), 3)


def two_symmetric_trees(**changes):
    """One tree of two splits and one of none; some arrays replaced."""
    arrays = {
        "sizes": int32(2, 0),
        "feature": int32(2, 0),
        "border": float32(0.5, -1),
        "leaf": np.arange(5.0),
    }
    return SymmetricTrees(**(arrays | changes))


NO_SYMMETRIC_TREES = {
    "a feature too many": ({"feature": int32(2, 3)}, "a feature is out"),
    "a negative feature": ({"feature": int32(2, -1)}, "a feature is out"),
    "a NaN border": ({"border": float32(0.5, np.nan)}, "not finite"),
    "an infinite leaf": ({"leaf": np.array([0, 1, 2, 3, np.inf])}, "not finite"),
    "long borders": ({"border": np.array([0.5, -1])}, "another kind"),
    "short leaves": ({"leaf": np.arange(5, dtype=np.float32)}, "another kind"),
    "long integers": ({"feature": np.array([2, 0])}, "another kind"),
    "sizes as floats": ({"sizes": float32(2, 0)}, "another kind"),
    "a missing leaf": ({"leaf": np.arange(4.0)}, "other leaves"),
    "a missing border": ({"border": float32(0.5)}, "other splits"),
    "a missing feature": ({"feature": int32(2)}, "other splits"),
    "a matrix of leaves": ({"leaf": np.zeros((1, 5))}, "other leaves"),
    "a negative size": ({"sizes": int32(3, -1)}, "too many splits"),
    "a huge tree": ({"sizes": int32(MOST_SPLITS + 1)}, "too many splits"),
    "a matrix of sizes": ({"sizes": int32(2, 0).reshape(1, 2)}, "no trees"),
    "no trees": (
        {"sizes": int32(), "feature": int32(), "border": float32(), "leaf": np.zeros(0)},
        "no trees",
    ),
}


@pytest.mark.parametrize("case", NO_SYMMETRIC_TREES)
def test_what_is_no_symmetric_tree_is_refused(case):
    check_symmetric_trees(two_symmetric_trees(), 3)
    changes, message = NO_SYMMETRIC_TREES[case]
    with pytest.raises(ValueError, match=message):
        check_symmetric_trees(two_symmetric_trees(**changes), 3)
