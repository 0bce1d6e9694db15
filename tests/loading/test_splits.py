"""Tests of the protocols in splits.py.

The numbers for thyroid were computed apart from this project, from the description in words: scikit-learn's
train_test_split on the matrix itself, with the row number as an additional column, and numpy's legacy
generator.
"""

import hashlib
import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import train_test_split

from weakly.loading import splits
from weakly.loading.arrays import load_data, save_data
from weakly.loading.readers import read_class_csv
from weakly.loading.splits import (
    ONE_DRAW,
    PAPER_PROTOCOLS,
    Seeds,
    released_contamination,
    split_independent,
    split_released,
)
from weakly.methods import make_detector
from weakly.running.configuration import Cell
from weakly.running.single_run import detector_seed, run_once
from weakly.source_code import hash_of_modules

CONTAMINATION = f"contamination_{hash_of_modules('weakly.loading.arrays')}_"


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


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


def test_released_on_thyroid(real_data):
    X, y = read_class_csv(real_data / "annthyroid_21feat_normalised.csv")
    split = split_released(X, y)
    assert (len(split.anomalies), split.anomalies[:5].tolist()) == (60, [908, 6668, 4740, 1986, 4873])
    assert digest(split.anomalies.astype("<i8")) == "47c887e1878bfd61"
    assert (len(split.unlabeled), len(split.test), y[split.test].sum()) == (5333 + 136, 1440, 107)
    assert split.unlabeled[:5].tolist() == [3659, 5187, 6069, 2549, 3952]
    assert split.unlabeled[5330:].tolist() == [4766, 3214, 2070, *range(7200, 7336)]
    assert split.test[:5].tolist() == [5943, 3334, 1267, 1284, 2551]
    assert split.test[-3:].tolist() == [5696, 3409, 2270]
    assert digest(split.unlabeled[:5333].astype("<i8")) == "24c863670c9db787"
    assert digest(split.test.astype("<i8")) == "05ab8a16573d8089"
    extra = released_contamination(X, y, 0.02)
    assert extra.shape == (136, 21) and extra.dtype == np.float32
    assert digest(extra.astype("<f4")) == "80cdfffea76c7f64"


@pytest.mark.parametrize("rate, n_labeled, seeds", [(0.02, 60, Seeds()), (0.1, 5, Seeds(3, 1, 2))])
def test_released_is_what_the_description_says(rate, n_labeled, seeds):
    """The same by carrying the matrix through every step instead of positions."""
    X, y = make_data()
    parts = train_test_split(X, y, test_size=0.2, random_state=seeds.split, stratify=y)
    X_train, X_test, y_train, y_test = parts
    positions = np.where(y_train == 1)[0]
    removed = np.random.RandomState(seeds.labels).choice(positions, len(positions) - n_labeled, replace=False)
    X_train, y_train = np.delete(X_train, removed, axis=0), np.delete(y_train, removed)
    anomalies, rng, extra = X[y == 1], np.random.RandomState(seeds.contamination), []
    for _ in range(int(400 * rate / (1 - rate))):
        first, second = rng.choice(100, 2, replace=False)
        extra.append(anomalies[first].copy())
        for feature in rng.choice(40, 2, replace=False):
            extra[-1][feature] = anomalies[second, feature]

    split = split_released(X, y, n_labeled, rate, seeds=seeds)
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


def test_released_keeps_all_when_there_are_no_more_than_60():
    for n_anomalies, kept in ((50, 40), (75, 60), (76, 60)):
        X, y = make_data(n_anomalies=n_anomalies)
        split = split_released(X, y)
        assert len(split.anomalies) == kept and y[split.anomalies].all()


def test_released_on_a_sparse_matrix(tmp_path):
    X, y = make_data()
    rows, data = sparse.csr_matrix(X), save(tmp_path, sparse.csr_matrix(X), y)
    for split in (split_released(rows, y, contamination=0.1), data.split("released", 0, 60, 0.1)):
        assert sparse.issparse(split.extra) and split.extra.dtype == np.float32
        stacked = split_released(X, y, contamination=0.1).stack(X)
        np.testing.assert_array_equal(split.stack(rows).toarray(), stacked)
    assert not any(name.startswith("contamination") for name in files(data))  # it is not kept
    for matrix in (X, rows):
        split = split_released(matrix, y, contamination=0)
        assert split.extra.shape == (0, 40) and split.stack(matrix) is matrix  # nothing is copied
        assert len(split.unlabeled) == 320 and not y[split.unlabeled].any()


NEW = {  # what every run of a protocol draws anew; all else is the draw of `released`
    "redrawn": ("test", "labels", "contamination"),
    "redrawn-split": ("test",),
    "redrawn-labels": ("labels",),
    "redrawn-contamination": ("contamination",),
}


@pytest.mark.parametrize("protocol", NEW)
def test_what_is_new_in_every_run(stored, protocol):
    draws = []
    for name, seed in (("released", 3), (protocol, 1), (protocol, 2), (protocol, 42)):
        split = stored.split(name, seed, 10, 0.1)
        assert stored.y[split.anomalies].all()
        assert not set(split.test) & {*split.unlabeled, *split.anomalies}
        normals = split.unlabeled[split.unlabeled < len(stored.y)]
        drawn = {"test": split.test, "labels": split.anomalies, "contamination": split.extra}
        draws.append(drawn | {"normals": normals})
    for part, arrays in {part: [draw[part] for draw in draws] for part in draws[0]}.items():
        is_new = part in NEW[protocol] or (part == "normals" and "test" in NEW[protocol])
        assert len({array.shape for array in arrays}) == 1
        assert len({digest(array) for array in arrays[:3]}) == (3 if is_new else 1)
        # 42 is the seed of `released`
        assert np.array_equal(arrays[0], arrays[3]) or protocol == "redrawn-split"
    np.testing.assert_array_equal(draws[0]["contamination"], released_contamination(stored.X, stored.y, 0.1))
    assert files(stored)[1].startswith(CONTAMINATION)  # the file is that of `released`


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


def test_the_detector_has_one_seed_where_one_draw_is_varied(stored, monkeypatch):
    seeds = {protocol: detector_seed(protocol, 7) for protocol in PAPER_PROTOCOLS}
    of_run = dict.fromkeys(("released", "redrawn", "independent", "training-copies"), 7)
    assert seeds == dict.fromkeys(ONE_DRAW, 0) | of_run
    given = []

    def watched(name, random_state=None):  # without a seed, to compare its settings
        given.extend([] if random_state is None else [random_state])
        return make_detector(name, random_state=random_state, n_trees=5)

    monkeypatch.setattr("weakly.running.single_run.make_detector", watched)
    set_up = {"n_labeled": 10, "contamination": 0.1, "data_dir": str(stored.folder.parent.parent.parent)}
    for protocol in ("released", "redrawn-labels"):
        assert run_once(Cell(method="iforest", dataset="x", protocol=protocol, **set_up), 7)["seed"] == 7
    assert given == [7, 0]


def test_independent_parts():
    _, y = make_data()  # 320 normals and 80 anomalies to train on, 20 of which are not labelled
    for rate, wanted in ((0, 0), (0.058, 19), (0.06, 20), (0.1, 35)):
        split = split_independent(y, 3, contamination=rate)
        assert np.bincount(y[split.test]).tolist() == [80, 20] and split.extra is None
        assert len(split.anomalies) == 60 and y[split.anomalies].all()
        assert np.bincount(y[split.unlabeled], minlength=2).tolist() == [320, wanted]
        # disjoint, and rows are repeated only where too few remain
        parts = np.concatenate([split.unlabeled, split.anomalies, split.test])
        assert len(np.unique(parts)) == len(parts) or wanted > 20
        assert not set(split.unlabeled) & {*split.anomalies, *split.test}
    one, same, other = (split_independent(y, seed) for seed in (1, 1, 2))
    for part in ("unlabeled", "anomalies", "test"):
        np.testing.assert_array_equal(getattr(one, part), getattr(same, part))
        assert set(getattr(one, part)) != set(getattr(other, part))


def test_what_cannot_be_split(stored):
    _, y = make_data(n_anomalies=50)
    with pytest.raises(ValueError, match="all 40 training anomalies are labelled"):
        split_independent(y, 0)
    assert len(split_independent(y, 0, contamination=0).anomalies) == 40
    assert len(split_independent(y, 0, n_labeled=30).anomalies) == 30
    for protocol, rate in itertools.product(("released", "independent"), (-0.01, 1, float("nan"))):
        with pytest.raises(ValueError, match="contamination rate"):
            stored.split(protocol, 0, 60, rate)
    with pytest.raises(ValueError, match="unknown protocol 'Released'"):
        stored.split("Released", 0, 60, 0.02)


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
