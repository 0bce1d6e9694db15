"""Tree ensembles as plain arrays, and library predictors made from them.

    trees = trees_of_booster(booster)                     # or trees_of_forest(...)
    sums = tree_sums(booster_of(trees, n_features), X)    # (n, groups): the leaf values that each row reaches

Arrays can be saved in a model file and read from a file that is not trusted: check_trees refuses arrays that
are not trees. The predictors are then built here, from the JSON that XGBoost and CatBoost read, so neither
JSON from a file nor a pickle ever reaches them.

XGBoost is also the predictor for scikit-learn's forests. scikit-learn sends all rows through one tree after
the other, XGBoost a block of rows through all trees, which is several times faster. Both send a row to the
same leaves. XGBoost adds the values in float32, to within a few units in the seventh digit. It assumes that a
right child comes directly after the left one, regardless of the JSON, so there is no array of right children.
"""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

LEAF = -1  # instead of a child
ROOT = 2**31 - 1  # XGBoost's mark for a node without a parent
MOST_SPLITS = 16  # of a symmetric tree, which has 2^splits leaves


class Trees(NamedTuple):
    """Binary trees one after the other; a row goes left at a node where x[feature] < threshold."""

    sizes: np.ndarray  # (t,) nodes of each tree
    groups: np.ndarray  # (t,) which sum it adds to, 0, 1, ...
    # (nodes,) the number of the left child within its tree, or LEAF; the right child is the next node
    left: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray  # float32; of a leaf, its value


def trees_of_forest(trees: Sequence, leaf_values: Sequence, groups: Any) -> Trees:
    """Trees (`tree_` of scikit-learn) with values (nodes,) for their leaves."""
    parts = []
    for tree, values in zip(trees, leaf_values, strict=True):
        threshold = np.where(tree.children_left == LEAF, values, first_to_the_right(tree.threshold))
        parts.append(_by_levels(tree.children_left, tree.children_right, tree.feature, threshold))
    return _joined(parts, groups)


def _joined(parts, groups):
    """Trees from the arrays of each."""
    left, feature, threshold = map(np.concatenate, zip(*parts))
    sizes = np.array([len(part[0]) for part in parts], np.int32)
    return Trees(sizes, np.asarray(groups, np.int32), left, feature, threshold)


def _by_levels(left, right, feature, threshold):
    """left, feature and threshold of a tree, nodes level by level, so that siblings are neighbours."""
    levels = [np.zeros(1, np.int64)]
    while len(levels[-1]):
        inner = levels[-1][left[levels[-1]] != LEAF]
        levels.append(np.stack([left[inner], right[inner]], axis=1).ravel())
    order = np.concatenate(levels)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    children = left[order]
    is_leaf = children == LEAF
    return (
        np.where(is_leaf, LEAF, place[children]).astype(np.int32),
        np.where(is_leaf, 0, feature[order]).astype(np.int32),
        threshold[order].astype(np.float32),
    )


def first_to_the_right(thresholds):
    """The smallest float32 above each threshold: x <= threshold, as in scikit-learn, is x < this."""
    nearest = thresholds.astype(np.float32)
    return np.where(nearest > thresholds, nearest, np.nextafter(nearest, np.float32(np.inf)))


def trees_of_booster(booster, zero_is_missing: np.ndarray | None = None) -> Trees:
    """The trees of a fitted XGBoost model, which saw no missing values.

    If zero_is_missing (D,), a column has only the values 0 and 1, and the model was given its 0 as missing.
    """
    model = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]["model"]
    parts = []
    for tree in model["trees"]:
        left, right, feature, default_left = (
            np.asarray(tree[name], np.int64)
            for name in ("left_children", "right_children", "split_indices", "default_left")
        )
        threshold = np.asarray(tree["split_conditions"], np.float32)
        if zero_is_missing is not None:
            two_valued = (left != LEAF) & zero_is_missing[feature]
            zeros_right = two_valued & (default_left == 0)
            left, right = np.where(zeros_right, right, left), np.where(zeros_right, left, right)
            threshold = np.where(two_valued, np.float32(0.5), threshold)
        parts.append(_by_levels(left, right, feature, threshold))
    return _joined(parts, model["tree_info"])


def binary_columns(columns):
    """Which of the columns (n, D) hold only 0 and 1, and both, as one-hot features do: (D,)."""
    low, high = columns.min(axis=0), columns.max(axis=0)
    candidates = np.flatnonzero((low == 0) & (high == 1))
    is_binary = np.zeros(columns.shape[1], bool)
    for chunk in np.array_split(candidates, max(1, len(candidates) // 16)):
        values = columns[:, chunk]
        is_binary[chunk] = ((values == 0) | (values == 1)).all(axis=0)
    return is_binary


def without_zeros(columns, is_binary):
    """The columns as CSR without the zeros of the binary ones, which XGBoost then treats as missing.

    A split of a binary column has 1 on one side and 0 on the other in either form, but missing values take no
    time, and one-hot columns are mostly zeros.
    """
    kept = np.ones(columns.shape, bool)
    kept[:, is_binary] = columns[:, is_binary] != 0
    ends = np.concatenate([[0], np.cumsum(np.count_nonzero(kept, axis=1))])
    places = np.flatnonzero(kept) % columns.shape[1]
    return sparse.csr_matrix((columns[kept], places, ends), columns.shape)


def check_trees(trees: Trees, n_features: int) -> None:
    """Refuse arrays that are not trees: a predictor would read beyond them, or never end."""
    sizes = trees.sizes.astype(np.int64)
    for name, array in trees._asdict().items():
        kind = np.float32 if name == "threshold" else np.int32
        length = len(sizes) if name in ("sizes", "groups") else sizes.sum()
        _require(array.dtype == kind and array.shape == (length,), f"{name} is no list of the trees")
    _require(len(sizes) > 0 and sizes.min() > 0, "there is a tree without nodes")
    _require(np.isfinite(trees.threshold).all(), "a threshold is not finite")
    _require(trees.groups.min() >= 0 and trees.groups.max() < len(sizes), "a group is out of range")
    _require(trees.feature.min() >= 0 and trees.feature.max() < n_features, "a feature is out of range")
    roots = np.cumsum(sizes) - sizes
    own = np.arange(len(trees.left)) - np.repeat(roots, sizes)
    # a child comes after its parent, so no path has a loop
    is_child = (trees.left > own) & (trees.left < np.repeat(sizes, sizes) - 1)
    _require((is_child | (trees.left == LEAF)).all(), "a child is out of range")
    left = (np.repeat(roots, sizes) + trees.left)[is_child]
    n_parents = np.bincount(np.concatenate([roots, left, left + 1]), minlength=len(trees.left))
    _require((n_parents == 1).all(), "a node has no parent, or two")


def _require(is_met, otherwise):
    if not is_met:
        raise ValueError(otherwise)


def booster_of(trees: Trees, n_features: int) -> Any:
    """An XGBoost model of these trees with one thread; it only predicts sums of leaf values."""
    import xgboost

    ends = np.cumsum(trees.sizes)
    n_trees, n_groups = len(ends), int(trees.groups.max()) + 1
    model = {
        "gbtree_model_param": {"num_parallel_tree": str(n_trees), "num_trees": str(n_trees)},
        "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
        "iteration_indptr": [0, n_trees],
        "tree_info": trees.groups.tolist(),
        "trees": [
            _tree_as_json(number, [array[end - size : end] for array in trees[2:]], n_features)
            for number, (size, end) in enumerate(zip(trees.sizes, ends))
        ],
    }
    learner = {
        "attributes": {},
        "feature_names": [],
        "feature_types": [],
        "gradient_booster": {"model": model, "name": "gbtree"},
        "learner_model_param": {
            "base_score": "[" + ",".join(["0"] * n_groups) + "]",
            "boost_from_average": "0",
            "num_class": "0",
            "num_feature": str(n_features),
            "num_target": str(n_groups),
        },
        "objective": {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}},
    }
    text = json.dumps({"learner": learner, "version": [3, 2, 0]})
    booster = xgboost.Booster(model_file=bytearray(text.encode()))
    booster.set_param({"nthread": 1})
    return booster


def _tree_as_json(number, arrays, n_features):
    """One tree as XGBoost writes it; values that only training needs are zero."""
    left, feature, threshold = arrays
    inner = np.flatnonzero(left != LEAF)
    parents = np.full(len(left), ROOT)
    parents[left[inner]] = parents[left[inner] + 1] = inner
    unused = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
    return {
        **{name: [] for name in unused},
        **dict.fromkeys(("base_weights", "loss_changes", "sum_hessian"), [0.0] * len(left)),
        **dict.fromkeys(("default_left", "split_type"), [0] * len(left)),
        "id": number,
        "left_children": left.tolist(),
        "right_children": np.where(left == LEAF, LEAF, left + 1).tolist(),
        "parents": parents.tolist(),
        "split_conditions": threshold.tolist(),
        "split_indices": feature.tolist(),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_features),
            "num_nodes": str(len(left)),
            "size_leaf_vector": "1",
        },
    }


def tree_sums(booster, X: np.ndarray) -> np.ndarray:
    """Sums (n, groups) of the values of the leaves that the rows of X (float32, finite) reach."""
    sums = booster.inplace_predict(X, predict_type="margin", validate_features=False)
    return sums.reshape(len(X), -1)


# ---------------------------------------------------------------------------- isolation forests


def trees_of_isolation_forests(forests: Sequence) -> Trees:
    """The trees of IsolationForests that use all features; the group of a forest adds up path lengths."""
    trees = [member.tree_ for forest in forests for member in forest.estimators_]
    groups = np.repeat(np.arange(len(forests)), [len(forest.estimators_) for forest in forests])
    return trees_of_forest(trees, [path_lengths(tree) for tree in trees], groups)


def path_lengths(tree) -> np.ndarray:
    """Path lengths (nodes,) of the nodes of an isolation tree, as scikit-learn counts them."""
    return tree.compute_node_depths() - 1.0 + average_path_lengths(tree.n_node_samples)


def average_path_lengths(n_rows: np.ndarray) -> np.ndarray:
    """Mean depth of a random tree on n rows, c(n) of Liu et al., Eq. 1 (0 for one, 1 for two)."""
    n = np.maximum(n_rows, 3).astype(np.float64)
    usual = 2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n
    return np.where(n_rows <= 1, 0, np.where(n_rows == 2, 1, usual))


# ---------------------------------------------------------------------------- CatBoost


class SymmetricTrees(NamedTuple):
    """CatBoost's trees: one split for all nodes of a level; bit j of a leaf's number says x > border j."""

    sizes: np.ndarray  # (t,) splits of each tree
    feature: np.ndarray  # (splits,)
    border: np.ndarray  # (splits,) float32
    leaf: np.ndarray  # (leaves,) float64: 2^splits values of each tree


def symmetric_trees_of(model) -> SymmetricTrees:
    """The trees of a fitted CatBoost model on numbers."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save_model(str(path), format="json")
        trees = json.loads(path.read_text())["oblivious_trees"]
    splits = [split for tree in trees for split in tree["splits"]]
    return SymmetricTrees(
        np.array([len(tree["splits"]) for tree in trees], np.int32),
        np.array([split["float_feature_index"] for split in splits], np.int32),
        np.array([split["border"] for split in splits], np.float32),
        np.array([value for tree in trees for value in tree["leaf_values"]], np.float64),
    )


def check_symmetric_trees(trees: SymmetricTrees, n_features: int) -> None:
    """Refuse arrays that are not symmetric trees."""
    kinds = (np.int32, np.int32, np.float32, np.float64)
    _require(all(array.dtype == kind for array, kind in zip(trees, kinds)), "an array is of another kind")
    sizes = trees.sizes
    _require(sizes.ndim == 1 and len(sizes) > 0, "there are no trees")
    _require(sizes.min() >= 0 and sizes.max() <= MOST_SPLITS, "a tree has too many splits")
    n_splits, n_leaves = sizes.sum(), (2 ** sizes.astype(np.int64)).sum()
    _require(trees.feature.shape == trees.border.shape == (n_splits,), "there are other splits")
    _require(trees.leaf.shape == (n_leaves,), "there are other leaves")
    _require(np.isfinite(trees.border).all() and np.isfinite(trees.leaf).all(), "a number is not finite")
    in_range = (trees.feature >= 0) & (trees.feature < n_features)
    _require(in_range.all(), "a feature is out of range")


def catboost_of(trees: SymmetricTrees, n_features: int) -> Any:
    """A CatBoost model of these trees; it only predicts sums of leaf values."""
    from catboost import CatBoost

    contents = {"model_info": {}, "scale_and_bias": [1, [0]], **_as_catboost_json(trees, n_features)}
    model = CatBoost()
    with tempfile.TemporaryDirectory() as folder:  # it reads JSON only from files
        path = Path(folder, "model.json")
        path.write_text(json.dumps(contents))
        model.load_model(str(path), format="json")
    return model


def _as_catboost_json(trees, n_features):
    """The features' borders and the trees, as CatBoost writes them."""
    borders = [np.unique(trees.border[trees.feature == number]) for number in range(n_features)]
    usual = {"feature_id": "", "has_nans": False, "nan_value_treatment": "AsIs"}
    features = [
        {"borders": own.tolist(), "feature_index": number, "flat_feature_index": number, **usual}
        for number, own in enumerate(borders)
    ]
    firsts = np.cumsum([0, *map(len, borders)])  # borders are numbered through all features
    splits = [
        {
            "border": float(border),
            "float_feature_index": int(number),
            "split_index": int(firsts[number] + np.searchsorted(borders[number], border)),
            "split_type": "FloatFeature",
        }
        for number, border in zip(trees.feature, trees.border)
    ]
    split_ends, leaf_ends = np.cumsum(trees.sizes), np.cumsum(2 ** trees.sizes.astype(np.int64))
    listed = [
        {
            "leaf_values": trees.leaf[leaf_end - 2**size : leaf_end].tolist(),
            "splits": splits[end - size : end],
        }
        for size, end, leaf_end in zip(trees.sizes.tolist(), split_ends, leaf_ends)
    ]
    return {"features_info": {"float_features": features}, "oblivious_trees": listed}
