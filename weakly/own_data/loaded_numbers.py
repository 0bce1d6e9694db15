"""Are the numbers of a loaded pipeline possible? scikit-learn trusts them, and reads foreign memory if not.

    check_numbers(pipeline)     # ValueError unless its trees and encoders stay within their features

XGBoost and CatBoost read their own bytes, whose size alone is limited: a forged booster can crash the
process.
"""

import numpy as np

LEAF = -1  # instead of a child
MOST_FEATURES = 1_000_000
# the estimators in a detector; those of scikit-learn get its rows, so their trees have its features
HELD = {"RandomForestClassifier", "DecisionTreeClassifier", "IsolationForest", "ExtraTreeRegressor"}
HELD |= {"LogisticRegression", "CatBoostClassifier"}


def require(truth, what):
    if not truth:
        raise ValueError(f"it has {what}")


def check_numbers(pipeline):
    """ValueError if a number would lead outside the arrays of a library."""
    *encoders, detector = (step for _, step in pipeline.steps)
    n_features = detector.n_features_in_  # with which the detector compares the rows that it gets
    require(type(n_features) is int and 0 < n_features <= MOST_FEATURES, "an odd number of features")
    require(getattr(detector, "variant", None) != "NPR", "a network that only TensorFlow can score")
    for part in parts_of(encoders):
        kind = type(part).__name__
        require(kind not in HELD, f"a {kind} in another place")
        if kind == "OneHotEncoder" and hasattr(part, "categories_"):  # a ColumnTransformer fits a copy
            check_encoder(part)
    for part in parts_of(vars(detector)):
        kind = type(part).__name__
        require(kind in HELD or not hasattr(part, "get_params"), f"a {kind} in another place")
        if kind == "Tree":
            check_tree(part, n_features)
        elif kind == "IsolationForest":
            require(part._max_features == n_features, "a forest of other features")


def parts_of(part):
    """A part and all that it contains, however deep, except arrays."""
    yield part
    inner = vars(part) if hasattr(part, "__dict__") and not isinstance(part, type) else part
    if isinstance(inner, dict | list | tuple):
        for one in inner.values() if isinstance(inner, dict) else inner:
            yield from parts_of(one)


def check_encoder(encoder):
    """A level beyond the features of its column would be written beyond the result."""
    require(encoder._drop_idx_after_grouping is None, "a OneHotEncoder that drops levels")
    widths = list(encoder._n_features_outs)
    mappings = rare = [None] * len(widths)
    if encoder._infrequent_enabled:
        mappings, rare = encoder._default_to_infrequent_mappings, encoder._infrequent_indices
    for levels, width, mapping, places in zip(encoder.categories_, widths, mappings, rare, strict=True):
        if mapping is None:  # the feature of a level is its place, which binary search finds
            is_sorted = levels.dtype == object or ((np.diff(levels) > 0) | np.isnan(levels[1:])).all()
            possible = is_sorted and levels.shape == (width,) and places is None
        else:
            whole = mapping.dtype.kind == "i" and mapping.shape == levels.shape
            possible = whole and mapping.min() >= 0 and mapping.max() < width <= len(levels)
            possible = possible and ((places >= 0) & (places < len(levels))).all()
        require(possible, "a OneHotEncoder with odd levels")


def check_tree(tree, n_features):
    """Every way down ends, at features and children that exist: inner nodes have later nodes as children."""
    require(tree.node_count == tree.capacity > 0, "a tree with another number of nodes")
    require(tree.max_n_classes <= 2 and np.isfinite(tree.value).all(), "a tree with odd values")
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    places = np.arange(len(left))
    is_leaf = (left == LEAF) & (right == LEAF)
    known = (places < left) & (left < len(left)) & (places < right) & (right < len(left))
    known &= (feature >= 0) & (feature < n_features)
    require(len(left) and (is_leaf | known).all(), "a tree with children or features that do not exist")
