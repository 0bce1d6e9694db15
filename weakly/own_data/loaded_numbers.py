"""Are the numbers of a loaded pipeline possible? The libraries trust them, and read foreign memory if not.

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
    n_features = pipeline[-1].n_features_in_  # with which the detector compares the rows that it gets
    require(type(n_features) is int and 0 < n_features <= MOST_FEATURES, "an odd number of features")
    require(getattr(pipeline[-1], "variant", None) != "NPR", "a network that only TensorFlow can score")
    for step in pipeline:
        for part in parts_of(step):
            kind = type(part).__name__
            is_estimator = hasattr(part, "get_params") and part is not step
            require(
                not is_estimator or (kind in HELD) == (step is pipeline[-1]), f"a {kind} in another place"
            )
            if kind == "OneHotEncoder":
                check_encoder(part)
            elif kind == "Tree":
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
    if not hasattr(encoder, "categories_"):  # the copy that a ColumnTransformer fits is another one
        return
    require(encoder._drop_idx_after_grouping is None, "a OneHotEncoder that drops levels")
    n_columns, widths = len(encoder.categories_), list(encoder._n_features_outs)
    mappings = rare = [None] * n_columns
    if encoder._infrequent_enabled:
        mappings, rare = encoder._default_to_infrequent_mappings, encoder._infrequent_indices
    for levels, mapping, places, width in zip(encoder.categories_, mappings, rare, widths, strict=True):
        expected = len(levels)
        is_sorted = levels.dtype == object or ((np.diff(levels) > 0) | np.isnan(levels[1:])).all()
        require(levels.ndim == 1 and expected and is_sorted, "a OneHotEncoder with odd levels")
        for numbers in (mapping, places):
            known = numbers is None or ((numbers >= 0) & (numbers < len(levels))).all()
            require(known, "a OneHotEncoder with rare levels that do not exist")
        if mapping is not None:
            is_whole = mapping.shape == levels.shape and mapping.dtype.kind == "i"
            require(is_whole, "a OneHotEncoder with odd levels")
            expected = mapping.max() + 1
        require(width == expected, "a OneHotEncoder with another number of features")


def check_tree(tree, n_features):
    """Every way down ends, at features and children that exist."""
    require(tree.node_count == tree.capacity > 0, "a tree with another number of nodes")
    require(tree.max_n_classes <= 2 and np.isfinite(tree.value).all(), "a tree with odd values")
    # inner nodes have later nodes as children
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    require(all(numbers.dtype.kind == "i" for numbers in (left, right, feature)), "a tree with odd nodes")
    places = np.arange(len(left))
    is_leaf = (left == LEAF) & (right == LEAF)
    known = (places < left) & (left < len(left)) & (places < right) & (right < len(left))
    known &= (feature >= 0) & (feature < n_features)
    require(len(left) and (is_leaf | known).all(), "a tree with children or features that do not exist")
