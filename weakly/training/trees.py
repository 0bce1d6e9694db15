"""XGBoost as the predictor of isolation forests, and what makes its own fits fast.

scikit-learn sends all rows through one tree after the other, XGBoost a block of rows through all trees, which
is several times faster. Both send a row to the same leaves. XGBoost adds the values in float32, to within a
few units in the seventh digit.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from weakly.training.detector import apply_in_chunks

LEAF = -1  # instead of a child
NO_PARENT = 2**31 - 1  # XGBoost's mark for a node without a parent


def tree_sums(booster: Any, X: np.ndarray) -> np.ndarray:
    """Sums (n, groups) of the values of the leaves that the rows of X (float32) reach."""
    sums = booster.inplace_predict(X, predict_type="margin", validate_features=False)
    return sums.reshape(len(X), -1)


# ---------------------------------------------------------------------------- binary columns


def binary_columns(columns: np.ndarray) -> np.ndarray:
    """Which of the columns (n, D) hold only 0 and 1, as one-hot features do: (D,)."""
    of_chunks = apply_in_chunks(lambda rows: ((rows == 0) | (rows == 1)).all(axis=0, keepdims=True), columns)
    return np.all(of_chunks, axis=0)


def zeros_as_missing(columns: np.ndarray, is_binary: np.ndarray) -> np.ndarray:
    """The columns (n, D) with NaN, which XGBoost takes for missing, instead of the zeros of the binary ones.

    A split of a binary column has 1 on one side and 0 on the other in either form, but missing values take no
    time in a fit, and one-hot columns are mostly zeros.
    """
    return np.where(is_binary & (columns == 0), np.float32(np.nan), columns)


# ---------------------------------------------------------------------------- isolation forests


def booster_of_forests(forests: Sequence, n_features: int) -> Any:
    """An XGBoost model, with one thread, of IsolationForests that use all features; it only predicts."""
    import xgboost

    trees = [member.tree_ for forest in forests for member in forest.estimators_]
    groups = np.repeat(np.arange(len(forests)), [len(forest.estimators_) for forest in forests])
    nothing = xgboost.DMatrix(np.zeros((1, n_features)), np.zeros((1, len(forests))))
    booster = xgboost.train({"base_score": 0, "nthread": 1}, nothing, num_boost_round=0)
    contents = json.loads(bytes(booster.save_raw("json")))
    contents["learner"]["gradient_booster"]["model"] |= {
        "gbtree_model_param": {"num_parallel_tree": str(len(trees)), "num_trees": str(len(trees))},
        "iteration_indptr": [0, len(trees)],
        "tree_info": groups.tolist(),
        "trees": [tree_as_json(number, tree, n_features) for number, tree in enumerate(trees)],
    }
    booster.load_model(bytearray(json.dumps(contents).encode()))
    return booster


def tree_as_json(number: int, tree: Any, n_features: int) -> dict[str, Any]:
    """A tree of an isolation forest as XGBoost writes it; values that only training needs are zero.

    Nodes are ordered level by level, because XGBoost assumes that a right child comes directly after the left
    one, regardless of what the JSON says.
    """
    levels = [np.zeros(1, np.int64)]
    while len(levels[-1]):
        inner = levels[-1][tree.children_left[levels[-1]] != LEAF]
        levels.append(np.stack([tree.children_left[inner], tree.children_right[inner]], axis=1).ravel())
    order = np.concatenate(levels)
    is_leaf = tree.children_left[order] == LEAF
    inner = np.flatnonzero(~is_leaf)
    left = np.full(len(order), LEAF)
    left[inner] = np.argsort(order)[tree.children_left[order[inner]]]
    parents = np.full(len(order), NO_PARENT)
    parents[left[inner]] = parents[left[inner] + 1] = inner
    path_lengths = tree.compute_node_depths() - 1.0 + average_path_lengths(tree.n_node_samples)
    conditions = np.where(is_leaf, path_lengths[order], first_to_the_right(tree.threshold)[order])
    sizes = {"num_feature": str(n_features), "num_nodes": str(len(order))}
    return {
        **dict.fromkeys(("base_weights", "loss_changes", "sum_hessian"), [0.0] * len(order)),
        "default_left": [0] * len(order),
        "id": number,
        "left_children": left.tolist(),
        "right_children": np.where(is_leaf, LEAF, left + 1).tolist(),
        "parents": parents.tolist(),
        "split_conditions": conditions.astype(np.float32).tolist(),
        "split_indices": np.where(is_leaf, 0, tree.feature[order]).tolist(),
        "tree_param": sizes | {"num_deleted": "0", "size_leaf_vector": "1"},
    }


def first_to_the_right(thresholds: np.ndarray) -> np.ndarray:
    """The smallest float32 above each threshold: x <= threshold, as in scikit-learn, is x < this."""
    nearest = thresholds.astype(np.float32)
    return np.where(nearest > thresholds, nearest, np.nextafter(nearest, np.float32(np.inf)))


def average_path_lengths(n_rows: np.ndarray) -> np.ndarray:
    """Mean depth of a random tree on n rows, c(n) of Liu et al., Eq. 1 (0 for one, 1 for two)."""
    n = np.maximum(n_rows, 3).astype(np.float64)
    usual = 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n
    return np.where(n_rows <= 1, 0, np.where(n_rows == 2, 1, usual))
