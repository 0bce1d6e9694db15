"""Tests of the protocols in splits.py.

The numbers for thyroid were computed apart from this project, from the description in words: scikit-learn's
train_test_split on the matrix itself, with the row number as an additional column, and numpy's legacy
generator.
"""

import hashlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import train_test_split

from weakly.loading import splits
from weakly.loading.arrays import load_data, save_data
from weakly.loading.readers import read_class_csv
from weakly.loading.splits import (
    ABSENT,
    HELD_OUT,
    ONE_DRAW,
    PAPER_PROTOCOLS,
    released_contamination,
    split_independent,
    split_released,
    split_rows,
)
from weakly.methods import make_detector
from weakly.running.configuration import Cell
from weakly.running.single_run import detector_seed, run_once
from weakly.source_code import hash_of_modules

CONTAMINATION = f"contamination_{hash_of_modules('weakly.loading.arrays')}_"
# Row numbers in annthyroid_21feat_normalised.csv of the 60 labelled anomalies, in training order.
THYROID_LABELED = [
    908, 6668, 4740, 1986, 4873, 5584, 1508, 2945, 3625, 1513, 4863, 1790, 1633, 5073, 5257, 4999, 5321,
    2812, 4997, 5320, 3261, 2692, 7058, 497, 4762, 2688, 4900, 6456, 4273, 1808, 462, 6256, 1188, 5280,
    4671, 2884, 2667, 6024, 4155, 3907, 4215, 3263, 1428, 5693, 569, 4419, 258, 1355, 43, 4114, 5393,
    6230, 1468, 4987, 3245, 3675, 2503, 690, 6741, 2136,
]  # fmt: skip
# For some synthetic rows: the row they are a copy of, the row that one feature is taken from, that feature.
THYROID_EXTRA = {0: (3097, 1899, 16), 1: (559, 1582, 8), 2: (7057, 5257, 5), 135: (5611, 3047, 14)}


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


@pytest.fixture(scope="module")
def thyroid(real_data):
    return read_class_csv(real_data / "annthyroid_21feat_normalised.csv")


def make_data(n_normals=400, n_anomalies=100, n_features=40, seed=0):
    """Rows that are all different, in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], [n_normals, n_anomalies]))
    X = rng.random((len(y), n_features)).astype(np.float32)
    X[rng.random(X.shape) < 0.5] = 0  # for the sparse case
    return X, y


def save(folder, X, y):
    save_data(folder / "prepared" / "x", X, y, status="exact", source="", sha256="")
    return load_data("x", folder)


@pytest.fixture
def stored(tmp_path):
    return save(tmp_path, *make_data())


def files(data):
    return sorted(path.name for path in data.folder.iterdir())


def test_released_on_thyroid(thyroid):
    X, y = thyroid
    split = split_released(X, y)
    assert split.anomalies.tolist() == THYROID_LABELED
    assert (len(split.unlabeled), len(split.test), y[split.test].sum()) == (5333 + 136, 1440, 107)
    assert split.unlabeled[:5].tolist() == [3659, 5187, 6069, 2549, 3952]
    assert split.unlabeled[5330:].tolist() == [4766, 3214, 2070, *range(7200, 7336)]
    assert split.test[:5].tolist() == [5943, 3334, 1267, 1284, 2551]
    assert split.test[-3:].tolist() == [5696, 3409, 2270]
    assert digest(split.unlabeled[:5333].astype("<i8")) == "24c863670c9db787"
    assert digest(split.test.astype("<i8")) == "05ab8a16573d8089"
    extra = released_contamination(X, y, 0.02)
    assert extra.shape == (136, 21) and extra.dtype == np.float32
    for row, (first, second, feature) in THYROID_EXTRA.items():
        expected = X[first].copy()
        expected[feature] = X[second, feature]
        np.testing.assert_array_equal(extra[row], expected)
    assert digest(extra.astype("<f4")) == "80cdfffea76c7f64"


@pytest.mark.parametrize("rate, n_labeled", [(0.02, 60), (0.1, 5)])
def test_released_is_what_the_description_says(rate, n_labeled):
    """The same by carrying the matrix through every step instead of positions."""
    X, y = make_data()
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=42, stratify=y)
    positions = np.where(y_train == 1)[0]
    removed = np.random.RandomState(42).choice(positions, len(positions) - n_labeled, replace=False)
    X_train, y_train = np.delete(X_train, removed, axis=0), np.delete(y_train, removed)
    anomalies, rng, extra = X[y == 1], np.random.RandomState(42), []
    for _ in range(int(400 * rate / (1 - rate))):
        first, second = rng.choice(100, 2, replace=False)
        extra.append(anomalies[first].copy())
        for feature in rng.choice(40, 2, replace=False):
            extra[-1][feature] = anomalies[second, feature]

    split = split_released(X, y, n_labeled, rate)
    stacked = split.stack(X)
    np.testing.assert_array_equal(stacked[split.unlabeled], np.concatenate([X_train[y_train == 0], extra]))
    np.testing.assert_array_equal(stacked[split.anomalies], X_train[y_train == 1])
    np.testing.assert_array_equal(X[split.test], X_test)
    np.testing.assert_array_equal(y[split.test], y_test)
    assert len(split.anomalies) == n_labeled


def test_released_with_ten_features_copies_anomalies():
    """int(0.05 * 10) is 0: on donors the contamination is labelled and test anomalies as they are."""
    X, y = make_data(n_normals=2000, n_features=10)
    extra = released_contamination(X, y, 0.02)
    assert len(extra) == 40 and {row.tobytes() for row in extra} <= {row.tobytes() for row in X[y == 1]}


@pytest.mark.parametrize("n_anomalies, kept", [(50, 40), (75, 60), (76, 60)])
def test_released_keeps_all_when_there_are_no_more_than_60(n_anomalies, kept):
    X, y = make_data(n_anomalies=n_anomalies)
    split = split_released(X, y)
    assert len(split.anomalies) == kept and y[split.anomalies].all()


def test_released_contamination_of_a_sparse_matrix(tmp_path):
    X, y = make_data()
    rows, data = sparse.csr_matrix(X), save(tmp_path, sparse.csr_matrix(X), y)
    extra = released_contamination(rows, y, 0.1)
    assert sparse.issparse(extra) and extra.dtype == np.float32
    np.testing.assert_array_equal(extra.toarray(), released_contamination(X, y, 0.1))
    stacked = split_released(rows, y, contamination=0.1).stack(rows)
    np.testing.assert_array_equal(stacked.toarray(), split_released(X, y, contamination=0.1).stack(X))
    of_data = data.split("released", 0, 60, 0.1).extra.toarray()
    np.testing.assert_array_equal(of_data, extra.toarray())
    assert not any(name.startswith("contamination") for name in files(data))  # it is not kept


@pytest.mark.parametrize("as_stored", [np.asarray, sparse.csr_matrix])
def test_released_without_contamination(as_stored):
    X, y = make_data()
    X = as_stored(X)
    split = split_released(X, y, contamination=0)
    assert split.extra.shape == (0, 40)
    assert len(split.unlabeled) == 320 and not y[split.unlabeled].any()
    assert split.stack(X) is X  # nothing is copied


def test_redrawn_is_released_with_other_luck(stored):
    released, same, one, other = (
        stored.split(protocol, seed, 10, 0.1)
        for protocol, seed in (("released", 3), ("redrawn", 42), ("redrawn", 1), ("redrawn", 2))
    )
    for part in ("unlabeled", "anomalies", "test", "extra"):
        was, again, first, second = (getattr(split, part) for split in (released, same, one, other))
        np.testing.assert_array_equal(was, again)
        assert was.shape == first.shape == second.shape
        assert len({digest(drawn) for drawn in (was, first, second)}) == 3
    assert files(stored)[1].startswith(CONTAMINATION)  # the file is that of `released`
    np.testing.assert_array_equal(released.extra, released_contamination(stored.X, stored.y, 0.1))


def drawn_parts(split, y):
    """What the authors' procedure draws: the test rows, the labelled anomalies, the contamination."""
    assert y[split.anomalies].all() and not set(split.test) & {*split.unlabeled, *split.anomalies}
    return {"test": split.test, "labels": split.anomalies, "contamination": split.extra}


@pytest.mark.parametrize("protocol, new", zip(ONE_DRAW, ("test", "labels", "contamination")))
def test_one_draw_is_new_and_the_others_are_the_authors(stored, protocol, new):
    draws = (("released", 0), (protocol, 1), (protocol, 2))
    splits = [stored.split(name, seed, 10, 0.1) for name, seed in draws]
    released, one, other = (drawn_parts(split, stored.y) for split in splits)
    for part, was in released.items():
        assert one[part].shape == other[part].shape == was.shape
        assert len({digest(drawn[part]) for drawn in (released, one, other)}) == (3 if part == new else 1)
    normals = [split.unlabeled[split.unlabeled < len(stored.y)] for split in splits[:2]]
    assert np.array_equal(*normals) == (new != "test")


def test_other_labels_and_contamination_are_the_authors_draws_with_another_seed(stored):
    train, _ = train_test_split(np.arange(500), test_size=0.2, random_state=42, stratify=stored.y)
    positions = np.flatnonzero(stored.y[train])
    for seed in (5, 42):
        dropped = np.random.RandomState(seed).choice(positions, 70, replace=False)
        labeled = train[np.setdiff1d(positions, dropped)]
        np.testing.assert_array_equal(stored.split("redrawn-labels", seed, 10, 0.1).anomalies, labeled)
        extra = released_contamination(stored.X, stored.y, 0.1, seed)
        np.testing.assert_array_equal(stored.split("redrawn-contamination", seed, 10, 0.1).extra, extra)


def test_training_copies_are_of_training_anomalies_only(stored):
    """Same split, labels and number of rows as released; no value of a copy comes from a test anomaly."""
    released, split = (stored.split(name, 0, 10, 0.1) for name in ("released", "training-copies"))
    for part in ("unlabeled", "anomalies", "test"):
        np.testing.assert_array_equal(getattr(split, part), getattr(released, part))
    assert split.extra.shape == released.extra.shape
    train = np.setdiff1d(np.flatnonzero(stored.y), split.test)
    assert np.isin(split.extra, stored.X[train]).all()
    assert np.isin(released.extra, stored.X[split.test]).any()


def test_other_test_rows_are_of_the_same_number_and_never_labelled(stored):
    """80 of 400 normal rows and 20 of the 90 anomalies that are not labelled, each of them in some run."""
    y, drawn = stored.y, set()
    released = stored.split("released", 0, 10, 0.1)
    for seed in range(100):
        split = stored.split("redrawn-split", seed, 10, 0.1)
        assert np.bincount(y[split.test]).tolist() == np.bincount(y[released.test]).tolist() == [80, 20]
        normals, extra = np.split(split.unlabeled, [320])
        test_normals = split.test[y[split.test] == 0]
        np.testing.assert_array_equal(np.sort([*normals, *test_normals]), np.flatnonzero(y == 0))
        np.testing.assert_array_equal(extra, 500 + np.arange(44))
        drawn |= set(split.test)
    assert drawn == set(range(500)) - set(released.anomalies)


@pytest.mark.parametrize("protocol", ONE_DRAW)
def test_one_draw_with_a_class_held_out(protocol):
    """All of that class is tested on, no other anomaly is, and rows of other classes play no part."""
    X, y = make_data()
    y[np.flatnonzero(y == 1)[:30]], y[np.flatnonzero(y == 0)[:50]] = HELD_OUT, ABSENT
    released, split = (split_rows(X, y, name, 1, 10, 0.1) for name in ("released", protocol))
    for part in ("test", "anomalies", "unlabeled"):
        assert getattr(split, part).shape == getattr(released, part).shape
    assert set(np.flatnonzero(y == HELD_OUT)) <= set(split.test) and not (y[split.test] == 1).any()
    assert (y[split.anomalies] == 1).all() and (y[split.unlabeled[split.unlabeled < 500]] == 0).all()
    assert set(np.flatnonzero(y == ABSENT)).isdisjoint({*split.test, *split.anomalies, *split.unlabeled})


@pytest.mark.parametrize("protocol", PAPER_PROTOCOLS)
def test_the_detector_has_one_seed_where_one_draw_is_varied(stored, monkeypatch, protocol):
    of_run = protocol in ("released", "redrawn", "independent", "training-copies")
    assert detector_seed(protocol, 7) == (7 if of_run else 0)
    seeds = []

    def watched(name, random_state=None):  # without a seed, to compare its settings
        seeds.extend([] if random_state is None else [random_state])
        return make_detector(name, random_state=random_state, n_trees=5)

    monkeypatch.setattr("weakly.running.single_run.make_detector", watched)
    folder = str(stored.folder.parent.parent.parent)
    set_up = {"protocol": protocol, "n_labeled": 10, "contamination": 0.1}
    cell = Cell(method="iforest", dataset="x", **set_up, data_dir=folder)
    assert run_once(cell, 7)["seed"] == 7 and seeds == [7 if of_run else 0]


def test_independent_parts(thyroid):
    _, y = thyroid
    for seed in range(5):
        split = split_independent(y, seed)
        assert (len(split.test), y[split.test].sum()) == (1440, 107)  # stratified: 20% of 7,200 and of 534
        assert np.bincount(y[split.unlabeled]).tolist() == [5333, 108]  # int(5333 * .02 / .98)
        assert len(split.anomalies) == 60 and y[split.anomalies].all() and split.extra is None
        # disjoint, and without repetition: 367 anomalies remain to draw from
        parts = np.concatenate([split.unlabeled, split.anomalies, split.test])
        assert len(np.unique(parts)) == len(parts)
    one, same, other = (split_independent(y, seed) for seed in (1, 1, 2))
    for part in ("unlabeled", "anomalies", "test"):
        np.testing.assert_array_equal(getattr(one, part), getattr(same, part))
        assert set(getattr(one, part)) != set(getattr(other, part))


def test_independent_repeats_rows_only_when_too_few_remain():
    _, y = make_data()  # 320 normals and 80 anomalies to train on, 20 of which are not labelled
    for rate, wanted in ((0, 0), (0.058, 19), (0.06, 20), (0.1, 35)):
        split = split_independent(y, 3, contamination=rate)
        contamination = split.unlabeled[y[split.unlabeled] == 1]
        assert len(contamination) == wanted
        assert wanted > 20 or len(set(contamination)) == wanted
        assert not set(contamination) & {*split.anomalies, *split.test}


def test_independent_without_spare_anomalies():
    _, y = make_data(n_anomalies=50)
    with pytest.raises(ValueError, match="all 40 training anomalies are labelled"):
        split_independent(y, 0)
    assert len(split_independent(y, 0, contamination=0).anomalies) == 40
    assert len(split_independent(y, 0, n_labeled=30).anomalies) == 30


@pytest.mark.parametrize("rate", [-0.01, 1, float("nan")])
def test_bad_rates(rate, stored):
    for protocol in ("released", "independent"):
        with pytest.raises(ValueError, match="contamination rate"):
            stored.split(protocol, 0, 60, rate)


def test_contamination_is_drawn_by_the_first_run(stored, monkeypatch):
    stored.split("independent", 1, 5, 0.02)
    assert files(stored) == ["X.npy", "y.npy"]  # only where it is needed
    stored.split("released", 1, 5, 0.02)
    first, kept, last = files(stored)
    assert (first, last) == ("X.npy", "y.npy") and kept.startswith(CONTAMINATION)
    expected = {rate: released_contamination(stored.X, stored.y, rate) for rate in (0.0, 0.01, 0.02)}
    monkeypatch.setattr(splits, "released_contamination", None)  # not called again
    for rate, rows in expected.items():  # a lower rate takes the first rows
        np.testing.assert_array_equal(stored.split("released", 1, 5, np.float64(rate)).extra, rows)
    monkeypatch.undo()
    assert len(stored.split("released", 0, 60, 0.1).extra) == 44  # a higher one is drawn in the run
    rows = stored.split("redrawn", 3, 60, 0.02).extra
    np.testing.assert_array_equal(rows, released_contamination(stored.X, stored.y, 0.02, 3))


@pytest.mark.parametrize("content", [None, b"rubbish", np.array([[None] * 40] * 8), np.zeros((8, 40))])
def test_contamination_that_cannot_be_read_or_kept_or_was_changed(stored, content):
    stored.split("released", 0, 60, 0.02)
    (path,) = stored.folder.glob(f"{CONTAMINATION}*")
    path.unlink()
    if content is None:
        path.mkdir()  # in the way, also for root
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)  # pickled
    expected = released_contamination(stored.X, stored.y, 0.02)
    np.testing.assert_array_equal(stored.split("released", 0, 60, 0.02).extra, expected)


def test_an_unknown_protocol_is_an_error(stored):
    with pytest.raises(ValueError, match="unknown protocol 'Released'"):
        stored.split("Released", 0, 60, 0.02)
