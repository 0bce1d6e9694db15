"""Tests of data_encoders.py: hand-made tables with known results, and the real UNSW, bank and census files."""

import gzip
import itertools
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier, IsolationForest
from sklearn.metrics import roc_auc_score

import data_encoders as encoders
from data_files import DataError

BACKDOOR = "UNSW_NB15_traintest_backdoor.tar.xz"
HALF = "partial/UNSW_NB15_training-set.csv.zip"


def write(path, text):
    path.write_text(text)
    return path


# --- encoding


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
    assert encoders.one_hot(column, "file", levels=["a", "b", "c"]).tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    with pytest.raises(DataError, match="file holds an unknown value in column 'state': 'b'"):
        encoders.one_hot(column, "file", levels=["a", "c"])


def test_values_too_large_for_float32_are_refused():
    X, y = np.array([[1.0], [1e39], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    with pytest.raises(DataError, match="file holds missing, infinite or too large values"):
        encoders.check_data_set(X, y, "file")


# --- bank and census


BANK_HEADER = "age;job;marital;education;default;housing;loan;contact;month;day_of_week;duration;campaign;pdays;previous;poutcome;" \
    "emp.var.rate;cons.price.idx;cons.conf.idx;euribor3m;nr.employed;y\n"  # fmt: skip


def test_bank_columns_in_file_order(tmp_path):
    text = BANK_HEADER + "\n".join([
        '20;"admin.";"single";"a";"no";"no";"no";"telephone";"may";"mon";100;1;999;0;"none";1.1;93;-36;4;5000;"no"',
        '40;"unknown";"single";"b";"no";"no";"no";"cellular";"may";"mon";300;1;999;0;"none";1.1;93;-36;4;5000;"yes"',
        '30;"admin.";"single";"c";"no";"no";"no";"telephone";"may";"mon";100;1;999;0;"none";1.1;93;-36;4;5000;"no"',
    ])  # fmt: skip
    X, y = encoders.read_bank(write(tmp_path / "bank-additional-full.csv", text))
    assert y.tolist() == [0, 1, 0]
    # age | job (2 levels: 1 column) | marital | education (3 levels) | default, housing, loan | contact | month, day | duration | ...
    assert X[:, :12].tolist() == [
        [0.0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1],
        [1.0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1],
        [0.5, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1],
    ]
    assert X[:, 12].tolist() == [0, 1, 0]
    assert X[:, 13:].tolist() == [[0, 0, 0, 1, 0, 0, 0, 0, 0]] * 3  # constants are 0, the one level of poutcome is 1


def test_bank_as_uci_packs_it_today(real_data, tmp_path):
    with zipfile.ZipFile(tmp_path / "bank+marketing.zip", "w") as archive:
        archive.write(real_data / "bank-additional.zip", "bank-additional.zip")
        archive.writestr("bank.zip", b"the older and smaller set")
    for one, other in zip(encoders.read_bank(tmp_path / "bank+marketing.zip"), encoders.read_bank(real_data / "bank-additional.zip")):
        np.testing.assert_array_equal(one, other)


def census_row(**cells):
    row = ["x"] * 42
    for position in encoders.CENSUS_NUMERIC:
        row[position] = "0"
    row[24], row[41] = "1700.09", "- 50000."
    for position, cell in cells.items():
        row[int(position[1:])] = cell
    return ", ".join(row) + "\n"


def test_census_encoding(tmp_path):
    """In the authors' order: the first training row is lost, the second stands in for it at their end."""
    train = [census_row(c0="99", c1="lost"), census_row(c0="30", c1="A", c12="Female"), census_row(c0="10", c1="?", c12="Male")]
    test = [census_row(c0="20", c1="B", c12="Female", c41="50000+."), census_row(c0="10", c1="C", c12="Male")]
    X, y = encoders.read_census(write(tmp_path / "train", "".join(train)), write(tmp_path / "test", "".join(test)))
    assert y.tolist() == [0, 0, 0, 1, 0]
    assert X.shape == (5, 42)  # 7 numeric, 31 nominal of one level, 3 levels of column 1, 1 for the two of column 12
    # age and the three levels of column 1; `?` is no level
    assert X[:, :4].tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0], [0.5, 0, 1, 0], [0, 0, 0, 1]]
    assert X[:, 14].tolist() == [0, 1, 0, 0, 1]


def test_bad_census_row_is_that_of_the_file(tmp_path):
    train = write(tmp_path / "train", census_row() + census_row() + census_row(c5="ten"))
    with pytest.raises(DataError, match="train holds 'ten' in column 5, row 3"):
        encoders.read_census(train, write(tmp_path / "test", census_row()))


@pytest.mark.parametrize("cells, message", [
    ({"c5": "ten"}, "test holds 'ten' in column 5, row 2, in place of a number"),
    ({"c41": "yes"}, "test has a label other than '- 50000.' and '50000[+].': 'yes'"),
    ({"c3": "a, b"}, "not a readable CSV table: .*Expected 42 fields in line 2, saw 43"),
])  # fmt: skip
def test_bad_census_names_the_file(tmp_path, cells, message):
    train = write(tmp_path / "train", census_row() * 2)
    with pytest.raises(DataError, match=message):
        encoders.read_census(train, write(tmp_path / "test", census_row() + census_row(**cells)))


def test_census_packed_and_plain_are_the_same(real_data, tmp_path):
    plain, packed = [], []
    for name in ("census-income.data", "census-income.test"):
        with gzip.open(real_data / f"{name}.gz", "rt") as stream:
            plain.append(write(tmp_path / name, "".join(itertools.islice(stream, 3000))))
        packed.append(tmp_path / f"{name}.gz")
        packed[-1].write_bytes(gzip.compress(plain[-1].read_bytes()))
    for one, other in zip(encoders.read_census(*plain), encoders.read_census(*packed)):
        np.testing.assert_array_equal(one, other)


# --- UNSW


def unsw_half(path, rows):
    """A raw half with rows of (attack_cat, dur, proto); everything else is constant."""
    table = pd.DataFrame({name: [0] * len(rows) for name in encoders.UNSW_COLUMNS})
    table.insert(0, "id", range(1, len(rows) + 1))
    table["attack_cat"], table["dur"], table["proto"] = zip(*rows)
    table["service"], table["state"], table["label"] = "-", "INT", 0
    path.write_bytes(b"\xef\xbb\xbf" + table.to_csv(index=False).encode())  # with a BOM, as published
    return path


SMALL = [("Normal", 1.0, "udp"), ("DoS", 2.0, "arp"), ("Backdoor", 9.0, "udp")]
LARGE = [("DoS", 3.0, "tcp"), ("Normal", 5.0, "rtp"), ("Generic", 9.0, "udp"), ("Normal", 4.0, "udp")]


@pytest.fixture
def tiny_halves(monkeypatch):
    monkeypatch.setattr(encoders, "UNSW_HALF_ROWS", (3, 4))


@pytest.mark.parametrize("names", [("training-set.csv", "testing-set.csv"), ("testing-set.csv", "training-set.csv")])
def test_unsw_halves(tmp_path, tiny_halves, names):
    """The smaller half comes first whatever it is called; rows keep their order; other attacks are left out."""
    small, large = unsw_half(tmp_path / names[0], SMALL), unsw_half(tmp_path / names[1], LARGE)
    for paths in [(small, large), (large, small)]:
        X, y = encoders.read_unsw_halves(("DoS",), *paths)
        assert X.shape == (5, 196)
        assert y.tolist() == [0, 1, 1, 0, 0]
        assert X[:, 0].tolist() == [0, 0.25, 0.5, 1, 0.75]
        protocols = [encoders.UNSW_LEVELS["proto"][position] for position in X[:, 1:134].argmax(axis=1)]
        assert protocols == ["udp", "arp", "tcp", "rtp", "udp"]
        assert X[:, 1:].sum(axis=1).tolist() == [3] * 5  # one protocol, one service, one state; constants are 0


def test_one_unsw_half(tmp_path, tiny_halves):
    X, y = encoders.read_unsw_halves(("Backdoor",), unsw_half(tmp_path / "a.csv", SMALL))
    assert X[:, 0].tolist() == [0, 1] and y.tolist() == [0, 1]


def test_wrong_unsw_halves(tmp_path, tiny_halves):
    small, large = unsw_half(tmp_path / "small.csv", SMALL), unsw_half(tmp_path / "large.csv", LARGE)
    with pytest.raises(DataError, match="small.csv and .*again.csv are the same half"):
        encoders.read_unsw_halves(("DoS",), small, unsw_half(tmp_path / "again.csv", SMALL))
    with pytest.raises(DataError, match="five.csv has 5 rows, but a half of UNSW-NB15 has 3 or 4"):
        encoders.read_unsw_halves(("DoS",), unsw_half(tmp_path / "five.csv", [*LARGE, *SMALL[:1]]), small)
    with pytest.raises(DataError, match="odd.csv holds an unknown value in column 'proto': 'carrier pigeon'"):
        encoders.read_unsw_halves(("DoS",), unsw_half(tmp_path / "odd.csv", [*SMALL[:2], ("Normal", 1, "carrier pigeon")]))
    with pytest.raises(DataError, match="bad.csv holds 'long' in column 'dur', row 3"):
        encoders.read_unsw_halves(("DoS",), large, unsw_half(tmp_path / "bad.csv", [*SMALL[:2], ("Normal", "long", "udp")]))
    small.write_text(small.read_text().replace("attack_cat", "kind"))
    with pytest.raises(DataError, match="small.csv has no column named 'attack_cat'"):
        encoders.read_unsw_halves(("DoS",), small)


def test_fuzzers_are_sampled(tmp_path, tiny_halves, monkeypatch):
    monkeypatch.setattr(encoders, "UNSW_HALF_ROWS", (50,))
    monkeypatch.setattr(encoders, "UNSW_FUZZERS", 5)
    rows = [("Normal" if i % 5 == 0 else "Fuzzers", float(i), "udp") for i in range(50)]
    X, y = encoders.read_unsw_halves(("Fuzzers",), unsw_half(tmp_path / "a.csv", rows))
    assert y.sum() == 5 and len(y) == 15
    assert np.all(np.diff(X[:, 0]) > 0)  # rows in file order, none twice
    again, _ = encoders.read_unsw_halves(("Fuzzers",), unsw_half(tmp_path / "a.csv", rows))
    np.testing.assert_array_equal(X, again)
    rows = [("Normal" if i % 5 == 0 else "DoS", float(i), "udp") for i in range(50)]
    assert encoders.read_unsw_halves(("DoS",), unsw_half(tmp_path / "a.csv", rows))[1].sum() == 40  # no other class is


@pytest.fixture(scope="module")
def backdoor_table(real_data):
    with tarfile.open(real_data / BACKDOOR) as archive:
        member = next(entry for entry in archive if entry.name.endswith(".csv"))
        return pd.read_csv(archive.extractfile(member))


def test_unsw_columns_are_those_of_the_authors_header(backdoor_table):
    names = []
    for name in encoders.UNSW_COLUMNS:
        names += [f"{name}={level}" for level in encoders.UNSW_LEVELS[name]] if name in encoders.UNSW_LEVELS else [name]
    assert names == backdoor_table.columns[:-1].tolist()
    assert len(names) == 196


def test_raw_half_is_the_beginning_of_the_authors_file(real_data, backdoor_table):
    """The authors scaled over both halves, and their values are rounded to steps of up to 4.2e-5 (sbytes)."""
    X, y = encoders.read_unsw_halves(("Backdoor",), real_data / HALF)
    assert X.shape == (37_583, 196)
    theirs = backdoor_table.iloc[: len(X)]
    np.testing.assert_array_equal(y, theirs["class"])
    for position, name in enumerate(backdoor_table.columns[:-1]):
        ours, other = X[:, position].astype(float), theirs[name].to_numpy(float)
        if "=" in name:
            np.testing.assert_array_equal(ours, other, err_msg=name)
            continue
        slope, offset = np.polyfit(ours, other, 1)
        assert 0.25 < slope < 1.0001, name
        np.testing.assert_allclose(slope * ours + offset, other, rtol=0, atol=4e-5, err_msg=name)


def test_unsw_parts(tmp_path):
    """The normals of one file and the anomalies of another, scaled together; the backdoors are left out."""
    backdoor = write(tmp_path / "b.csv", "a,b,class\n0,0.5,0\n1,1,1\n0.5,0.5,0\n")
    anomalies = write(tmp_path / "a.csv", "2,0.5\n0,1.5\n")
    X, y = encoders.read_unsw_parts(backdoor, anomalies)
    assert X.tolist() == [[0, 0], [0.25, 0], [1, 0], [0, 1]]
    assert y.tolist() == [0, 0, 1, 1]
    with pytest.raises(DataError, match="a.csv has 1 columns, .*b.csv has 2 features"):
        encoders.read_unsw_parts(backdoor, write(tmp_path / "a.csv", "2\n"))


# --- demo


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
