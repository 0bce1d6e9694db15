"""Are the numbers of a loaded pipeline possible? The libraries trust them, and read foreign memory if not.

check_numbers(pipeline)     # ValueError unless its trees and encoders stay within their features

Boosters are in a file as JSON, which is checked before XGBoost or CatBoost gets anything: their readers crash
on odd bytes.
"""

import json
import os
import tempfile

import numpy as np

LEAF = -1  # instead of a child
MOST_FEATURES = 1_000_000
DEEPEST = 16  # symmetric tree; CatBoost's limit
OBJECTIVES = ("binary:logistic", "reg:squarederror")  # of XGBoost


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
    """ValueError unless inner nodes have later nodes as children, and a feature (arrays of nodes)."""
    require(all(numbers.dtype.kind == "i" for numbers in (left, right, feature)), "a tree with odd nodes")
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
    """The inverse of booster_as_text, built anew from the checked nodes: these are all that a score needs."""
    import xgboost

    learner = json.loads(text)["learner"]
    model, settings = learner["gradient_booster"]["model"], learner["learner_model_param"]
    n_features, n_groups, n_trees = (
        int(settings["num_feature"]),
        int(settings["num_target"]),
        len(model["trees"]),
    )
    require(0 < n_features <= MOST_FEATURES and 0 < n_groups <= 100 and n_trees, "a booster of an odd size")
    groups, objective = model["tree_info"], learner["objective"]["name"]
    require(len(groups) == n_trees and set(groups) <= set(range(n_groups)), "a booster with odd groups")
    require(objective in OBJECTIVES, "a booster with another objective")
    base_score = float(np.ravel(json.loads(settings["base_score"]))[0])  # the same in all groups
    nothing = xgboost.DMatrix(np.zeros((1, n_features)), np.zeros((1, n_groups)))
    how = {"objective": objective, "base_score": base_score, "nthread": 1}
    booster = xgboost.train(how, nothing, num_boost_round=0)
    contents = json.loads(bytes(booster.save_raw("json")))
    contents["learner"]["gradient_booster"]["model"] |= {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(n_trees)},
        "iteration_indptr": list(range(n_trees + 1)),
        "tree_info": [int(group) for group in groups],
        "trees": [rebuilt(tree, number, n_features) for number, tree in enumerate(model["trees"])],
    }
    booster.load_model(bytearray(json.dumps(contents).encode()))
    return bytes(booster.__getstate__()["handle"])


def rebuilt(tree, number, n_features):
    """A tree of XGBoost with the nodes of this one, and zeros for what only training needs."""
    names = ("left_children", "split_indices", "default_left", "split_conditions")
    left, feature, default, conditions = (np.array(tree[name]) for name in names)
    inner = np.flatnonzero(left != LEAF)
    right = np.where(left == LEAF, LEAF, left + 1)  # XGBoost relies on this order
    check_ways(left, right, feature, n_features)
    parents = np.full(len(left), 2**31 - 1)  # the root's
    parents[left[inner]] = parents[right[inner]] = inner
    require(
        len(left) == 2 * len(inner) + 1 == len(np.unique(np.append(left, right))),
        "nodes with several parents",
    )
    require(conditions.shape == left.shape == default.shape and np.isfinite(conditions).all(), "odd values")
    categories = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
    sizes = {"num_deleted": 0, "num_feature": n_features, "num_nodes": len(left), "size_leaf_vector": 1}
    return {
        **{name: [] for name in categories},
        **dict.fromkeys(("base_weights", "loss_changes", "sum_hessian"), [0.0] * len(left)),
        "id": number,
        "left_children": left.tolist(),
        "right_children": right.tolist(),
        "parents": parents.tolist(),
        "split_indices": np.where(left == LEAF, 0, feature).tolist(),
        "split_conditions": conditions.astype(float).tolist(),
        "default_left": (default != 0).astype(int).tolist(),
        "tree_param": {name: str(size) for name, size in sizes.items()},
    }


def catboost_as_text(data):
    """The numbers of a serialized model of CatBoost that scores need, as JSON; its reader can crash too."""
    from catboost import CatBoostClassifier

    model = CatBoostClassifier()
    model.load_model(blob=data)
    contents = through_file(model.save_model)
    features, trees = contents["features_info"]["float_features"], contents["oblivious_trees"]
    scale, bias = model.get_scale_and_bias()
    text = {
        "borders": [feature["borders"] or [] for feature in features],
        "trees": [[split["split_index"] for split in tree["splits"] or ()] for tree in trees],
        "leaves": model.get_leaf_values().tolist(),
        "scale_and_bias": [float(scale), float(bias)],
    }
    return json.dumps(text).encode()


def catboost_from_text(text):
    """The inverse of catboost_as_text, from checked numbers."""
    from catboost import CatBoostClassifier

    plain = json.loads(text)
    borders, trees, leaves = plain["borders"], plain["trees"], np.array(plain["leaves"], np.float64)
    require(0 < len(borders) <= MOST_FEATURES and trees, "a model of an odd size")
    for ones in borders:
        require((np.diff(ones) > 0).all() and np.isfinite(ones).all(), "odd borders")
    splits = [
        {"border": float(border), "float_feature_index": place, "split_type": "FloatFeature"}
        for place, ones in enumerate(borders)
        for border in ones
    ]
    splits = [split | {"split_index": number} for number, split in enumerate(splits)]
    known = all(type(one) is int and 0 <= one < len(splits) for tree in trees for one in tree)
    require(known and max(map(len, trees)) <= DEEPEST, "a tree with odd splits")
    require(
        leaves.shape == (sum(2 ** len(tree) for tree in trees),) and np.isfinite(leaves).all(), "odd leaves"
    )
    usual = {"has_nans": False, "nan_value_treatment": "AsIs"}
    contents = {
        "features_info": {
            "float_features": [
                {"borders": ones, "feature_index": place, "flat_feature_index": place, **usual}
                for place, ones in enumerate(borders)
            ]
        },
        "oblivious_trees": [
            {"leaf_values": [0.0] * 2 ** len(tree), "splits": [splits[one] for one in tree]} for tree in trees
        ],
        "scale_and_bias": [1, [0]],
    }
    model = CatBoostClassifier()
    through_file(model.load_model, contents)
    model.set_leaf_values(leaves)  # here, because a file of JSON rounds them
    scale, bias = map(float, plain["scale_and_bias"])
    model.set_scale_and_bias(scale, bias)
    return model._serialize_model()


def through_file(exchange, contents=None):
    """Give a file of JSON to a function of CatBoost, which takes no text; what is in the file then."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(contents, file)
        exchange(path, format="json")
        with open(path, encoding="utf-8") as file:
            return json.load(file)
