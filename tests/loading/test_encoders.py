"""Tests of weakly/loading/encoders.py: hand-made tables with known results, and the synthetic data."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, IsolationForest
from sklearn.metrics import roc_auc_score

from weakly.errors import DataError
from weakly.loading import encoders


def test_encode_table():
    table = pd.DataFrame({
        "colour": ["red", "blue", "red", "?", "green"],
        "size": [10.0, 20.0, 15.0, 10.0, 12.5],
        "sex": ["m", "f", "f", "?", "m"],
        "same": [7, 7, 7, 7, 7],
    })  # fmt: skip
    X = encoders.encode_table(table, ["colour", "sex"], "file", missing="?")
    assert X.dtype == np.float32
    assert X.tolist() == [  # red, blue, green (in order of appearance), size, sex is f, same
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 1, 1, 0],
        [1, 0, 0, 0.5, 1, 0],
        [0, 0, 0, 0, 0, 0],
        [0, 0, 1, 0.25, 0, 0],
    ]


def test_one_hot_with_given_levels():
    column = pd.Series(["b", "a", "b"], name="state")
    assert encoders.one_hot(column, "file", levels=["a", "b", "c"]).tolist() == [
        [0, 1, 0],
        [1, 0, 0],
        [0, 1, 0],
    ]
    with pytest.raises(DataError, match="file holds an unknown value in column 'state': 'b'"):
        encoders.one_hot(column, "file", levels=["a", "c"])


def test_values_too_large_for_float32_are_refused():
    X, y = np.array([[1.0], [1e39], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    with pytest.raises(DataError, match="file holds missing, infinite or too large values"):
        encoders.check_data_set(X, y, "file")


def test_demo():
    X, y, kind = encoders.make_demo()
    assert X.shape == (10_000, 30) and X.dtype == np.float32
    assert np.bincount(kind).tolist() == [9600, 100, 100, 100, 100]
    np.testing.assert_array_equal(y, kind > 0)
    assert X.min() == 0 and X.max() == 1
    assert set(map(tuple, X[:, 26:])) == set(map(tuple, np.eye(4)))
    for one, other in zip((X, y, kind), encoders.make_demo()):
        np.testing.assert_array_equal(one, other)


def test_demo_is_neither_trivial_nor_hopeless():
    X, y, kind = encoders.make_demo()
    forest = IsolationForest(n_estimators=100, max_samples=256, random_state=0).fit(X[y == 0])
    even = np.arange(len(y)) % 2 == 0
    for anomaly_class in (1, 2, 3, 4):
        chosen = (kind == 0) | (kind == anomaly_class)
        train, test = chosen & even, chosen & ~even
        assert roc_auc_score(y[chosen], -forest.score_samples(X[chosen])) < 0.95
        trees = ExtraTreesClassifier(100, min_samples_leaf=2, random_state=0).fit(X[train], y[train])
        assert roc_auc_score(y[test], trees.predict_proba(X[test])[:, 1]) > 0.75


def test_demo_classes_differ():
    """A classifier that is trained on two classes tells their rows apart."""
    X, _, kind = encoders.make_demo()
    even = np.arange(len(kind)) % 2 == 0
    for one, other in itertools.combinations((1, 2, 3, 4), 2):
        chosen = (kind == one) | (kind == other)
        trees = ExtraTreesClassifier(100, random_state=0).fit(X[chosen & even], kind[chosen & even] == one)
        assert roc_auc_score(kind[chosen & ~even] == one, trees.predict_proba(X[chosen & ~even])[:, 1]) > 0.75
