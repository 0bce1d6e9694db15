"""Are the numbers of a loaded pipeline possible? The libraries trust them, and read foreign memory if not.

check_numbers(pipeline)     # ValueError unless its trees and encoders stay within their features

A booster of XGBoost is checked before XGBoost reads it. CatBoost checks its own bytes while it reads them; what
it has made of them is checked here.
"""

import json
import os
import tempfile

import numpy as np

LEAF = -1  # instead of a child
MOST_FEATURES = 1_000_000
OBJECTIVES = ("binary:logistic", "reg:squarederror")  # of XGBoost
NODE_LISTS = (
    "base_weights",
    "default_left",
    "loss_changes",
    "parents",
    "split_conditions",
    "split_type",
    "sum_hessian",
)
CATEGORY_LISTS = ("categories", "categories_nodes", "categories_segments", "categories_sizes")


def require(truth, what):
    if not truth:
        raise ValueError(f"it has {what}")


def check_numbers(pipeline):
    """ValueError if a number would lead outside the arrays of a library."""
    n_features = pipeline[-1].n_features_in_
    require(type(n_features) is int and 0 < n_features <= MOST_FEATURES, "an odd number of features")
    require(getattr(pipeline[-1], "variant", None) != "NPR", "a network that only TensorFlow can score")
    checks = {
        "OneHotEncoder": check_encoder,
        "RandomForestClassifier": check_forest,
        "IsolationForest": check_forest,
        "CatBoostClassifier": check_catboost,
    }
    for part in parts_of(pipeline):
        if type(part).__name__ in checks:
            checks[type(part).__name__](part, n_features)


def parts_of(part):
    """A part and all that it contains, however deep, except arrays."""
    yield part
    inner = vars(part) if hasattr(part, "__dict__") and not isinstance(part, type) else part
    if isinstance(inner, dict | list | tuple):
        for one in inner.values() if isinstance(inner, dict) else inner:
            yield from parts_of(one)


def check_encoder(encoder, n_features):
    """A level beyond the features of its column would be written beyond the result."""
    if not hasattr(encoder, "categories_"):  # the copy that a ColumnTransformer fits is another one
        return
    require(encoder._drop_idx_after_grouping is None, "a OneHotEncoder that drops levels")
    n_columns, widths = len(encoder.categories_), list(encoder._n_features_outs)
    mappings = rare = [None] * n_columns
    if encoder._infrequent_enabled:
        mappings, rare = encoder._default_to_infrequent_mappings, encoder._infrequent_indices
    for levels, mapping, places, width in zip(encoder.categories_, mappings, rare, widths, strict=True):
        expected = len(levels)
        is_sorted = levels.dtype == object or (np.diff(levels) > 0).all()
        require(levels.ndim == 1 and expected and is_sorted, "a OneHotEncoder with odd levels")
        for numbers in (mapping, places):
            known = numbers is None or ((numbers >= 0) & (numbers < len(levels))).all()
            require(known, "a OneHotEncoder with rare levels that do not exist")
        if mapping is not None:
            require(
                mapping.shape == levels.shape and mapping.dtype.kind == "i", "a OneHotEncoder with odd levels"
            )
            expected = mapping.max() + 1
        require(width == expected, "a OneHotEncoder with another number of features")


def check_forest(forest, n_features):
    """Every way down a tree ends, at features and children that exist."""
    require(getattr(forest, "_max_features", n_features) == n_features, "a forest of other features")
    require(np.all(getattr(forest, "n_classes_", 2) == 2), "a forest of other classes")
    for member in forest.estimators_:
        tree = member.tree_
        require(tree.node_count == tree.capacity > 0, "a tree with another number of nodes")
        check_ways(tree.children_left, tree.children_right, tree.feature, n_features)
        require(np.isfinite(tree.value).all(), "a tree with odd values")


def check_ways(left, right, feature, n_features):
    """ValueError unless inner nodes have later nodes as children, and a feature (arrays of a tree's nodes)."""
    left, right, feature = (np.asarray(numbers, np.int64) for numbers in (left, right, feature))
    places = np.arange(len(left))
    is_leaf = (left == LEAF) & (right == LEAF)
    known = (places < left) & (left < len(left)) & (places < right) & (right < len(left))
    known &= (feature >= 0) & (feature < n_features)
    require(len(left) and (is_leaf | known).all(), "a tree with children or features that do not exist")


def booster_as_text(handle):
    """The JSON of a pickled booster of XGBoost, because the bytes of a pickle can crash its reader."""
    import xgboost

    booster = xgboost.Booster()
    booster.__setstate__({"handle": bytearray(handle)})
    return bytes(booster.save_raw("json"))


def booster_from_text(text):
    """The inverse of booster_as_text; a ValueError if a number cannot be."""
    import xgboost

    contents = json.loads(text)
    learner = contents["learner"]
    model, settings = learner["gradient_booster"]["model"], learner["learner_model_param"]
    n_features, n_groups, n_trees = (
        int(settings["num_feature"]),
        int(settings["num_target"]),
        len(model["trees"]),
    )
    require(0 < n_features <= MOST_FEATURES and 0 < n_groups <= 100 and n_trees, "a booster of another size")
    require(learner["gradient_booster"].keys() == {"model", "name"}, "another kind of booster")
    require(learner["objective"]["name"] in OBJECTIVES, "a booster with another objective")
    require(
        settings["num_class"] == "0" and np.isfinite(json.loads(settings["base_score"])).all(), "odd settings"
    )
    require(
        model["gbtree_model_param"]["num_trees"] == str(n_trees) == str(len(model["tree_info"])),
        "other trees",
    )
    require(all(type(group) is int and 0 <= group < n_groups for group in model["tree_info"]), "odd groups")
    bounds = model["iteration_indptr"]
    require(bounds == sorted(bounds) and bounds[0] == 0 and bounds[-1] == n_trees, "odd iterations")
    for tree in model["trees"]:
        left, right = (whole_numbers(tree[name]) for name in ("left_children", "right_children"))
        check_ways(left, right, whole_numbers(tree["split_indices"]), n_features)
        require(
            ((left == LEAF) | (right == left + 1)).all(), "another order of nodes"
        )  # XGBoost relies on it
        require(tree["tree_param"]["num_nodes"] == str(len(left)), "a tree with another number of nodes")
        require(
            np.isfinite(tree["split_conditions"]).all() and not any(tree["split_type"]),
            "a tree with odd values",
        )
        for name in NODE_LISTS:
            require(
                len(tree[name]) == len(left) and np.array(tree[name]).dtype.kind in "if",
                f"a tree with odd {name}",
            )
        require(not any(tree[name] for name in CATEGORY_LISTS), "a tree with categories")
    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(text))
    return bytes(booster.__getstate__()["handle"])


def whole_numbers(values):
    require(all(type(value) is int for value in values), "a tree with odd nodes")
    return np.array(values)


def check_catboost(model, n_features):
    """The same for CatBoost's symmetric trees."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        model.save_model(path, format="json")
        with open(path, encoding="utf-8") as file:
            contents = json.load(file)
    features = contents["features_info"]
    borders = [feature["borders"] or [] for feature in features.pop("float_features")]
    known = {(place, border) for place, ones in enumerate(borders) for border in ones}
    require(len(borders) == n_features and not any(features.values()), "a model of other features")
    for tree in contents["oblivious_trees"]:
        splits = tree["splits"] or []
        used = {(split["float_feature_index"], split["border"]) for split in splits}
        require(used <= known and len(tree["leaf_values"]) == 2 ** len(splits), "a tree with odd splits")
