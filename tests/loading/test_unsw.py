"""Tests of weakly/loading/unsw.py: small halves with known results, and the real files."""

import tarfile

import numpy as np
import pandas as pd
import pytest

from weakly.errors import DataError
from weakly.loading import unsw

BACKDOOR = "UNSW_NB15_traintest_backdoor.tar.xz"
HALF = "partial/UNSW_NB15_training-set.csv.zip"


def write(path, text):
    path.write_text(text)
    return path


def unsw_half(path, rows):
    """A raw half with rows of (attack_cat, dur, proto); everything else is constant."""
    table = pd.DataFrame({name: [0] * len(rows) for name in unsw.UNSW_COLUMNS})
    table.insert(0, "id", range(1, len(rows) + 1))
    table["attack_cat"], table["dur"], table["proto"] = zip(*rows)
    table["service"], table["state"], table["label"] = "-", "INT", 0
    path.write_bytes(b"\xef\xbb\xbf" + table.to_csv(index=False).encode())  # with a BOM, as published
    return path


SMALL = [("Normal", 1.0, "udp"), ("DoS", 2.0, "arp"), ("Backdoor", 9.0, "udp")]
LARGE = [("DoS", 3.0, "tcp"), ("Normal", 5.0, "rtp"), ("Generic", 9.0, "udp"), ("Normal", 4.0, "udp")]


@pytest.fixture
def tiny_halves(monkeypatch):
    monkeypatch.setattr(unsw, "UNSW_HALF_ROWS", (3, 4))


@pytest.mark.parametrize(
    "names", [("training-set.csv", "testing-set.csv"), ("testing-set.csv", "training-set.csv")]
)
def test_unsw_halves(tmp_path, tiny_halves, names):
    """The smaller half comes first whatever it is called; rows keep their order.

    Other attacks are left out.
    """
    small, large = unsw_half(tmp_path / names[0], SMALL), unsw_half(tmp_path / names[1], LARGE)
    for paths in [(small, large), (large, small)]:
        X, y = unsw.read_unsw_halves(("DoS",), *paths)
        assert X.shape == (5, 196)
        assert y.tolist() == [0, 1, 1, 0, 0]
        assert X[:, 0].tolist() == [0, 0.25, 0.5, 1, 0.75]
        protocols = [unsw.UNSW_LEVELS["proto"][position] for position in X[:, 1:134].argmax(axis=1)]
        assert protocols == ["udp", "arp", "tcp", "rtp", "udp"]
        assert (
            X[:, 1:].sum(axis=1).tolist() == [3] * 5
        )  # one protocol, one service, one state; constants are 0


def test_one_unsw_half(tmp_path, tiny_halves):
    X, y = unsw.read_unsw_halves(("Backdoor",), unsw_half(tmp_path / "a.csv", SMALL))
    assert X[:, 0].tolist() == [0, 1] and y.tolist() == [0, 1]


def test_wrong_unsw_halves(tmp_path, tiny_halves):
    small = unsw_half(tmp_path / "small.csv", SMALL)
    with pytest.raises(DataError, match="small.csv and .*again.csv are the same half"):
        unsw.read_unsw_halves(("DoS",), small, unsw_half(tmp_path / "again.csv", SMALL))
    with pytest.raises(DataError, match="five.csv has 5 rows, but a half of UNSW-NB15 has 3 or 4"):
        unsw.read_unsw_halves(("DoS",), unsw_half(tmp_path / "five.csv", [*LARGE, *SMALL[:1]]), small)
    with pytest.raises(DataError, match="odd.csv holds an unknown value in column 'proto': 'carrier pigeon'"):
        unsw.read_unsw_halves(
            ("DoS",), unsw_half(tmp_path / "odd.csv", [*SMALL[:2], ("Normal", 1, "carrier pigeon")])
        )
    small.write_text(small.read_text().replace("attack_cat", "kind"))
    with pytest.raises(DataError, match="small.csv has no column named 'attack_cat'"):
        unsw.read_unsw_halves(("DoS",), small)


def test_fuzzers_are_sampled(tmp_path, tiny_halves, monkeypatch):
    monkeypatch.setattr(unsw, "UNSW_HALF_ROWS", (50,))
    monkeypatch.setattr(unsw, "UNSW_FUZZERS", 5)
    rows = [("Normal" if i % 5 == 0 else "Fuzzers", float(i), "udp") for i in range(50)]
    X, y = unsw.read_unsw_halves(("Fuzzers",), unsw_half(tmp_path / "a.csv", rows))
    assert y.sum() == 5 and len(y) == 15
    assert np.all(np.diff(X[:, 0]) > 0)  # rows in file order, none twice
    again, _ = unsw.read_unsw_halves(("Fuzzers",), unsw_half(tmp_path / "a.csv", rows))
    np.testing.assert_array_equal(X, again)
    rows = [("Normal" if i % 5 == 0 else "DoS", float(i), "udp") for i in range(50)]
    assert (
        unsw.read_unsw_halves(("DoS",), unsw_half(tmp_path / "a.csv", rows))[1].sum() == 40
    )  # no other class is


@pytest.fixture(scope="module")
def backdoor_table(real_data):
    with tarfile.open(real_data / BACKDOOR) as archive:
        member = next(entry for entry in archive if entry.name.endswith(".csv"))
        return pd.read_csv(archive.extractfile(member))


def test_unsw_columns_are_those_of_the_authors_header(backdoor_table):
    names = []
    for name in unsw.UNSW_COLUMNS:
        names += (
            [f"{name}={level}" for level in unsw.UNSW_LEVELS[name]] if name in unsw.UNSW_LEVELS else [name]
        )
    assert names == backdoor_table.columns[:-1].tolist()
    assert len(names) == 196


def test_raw_half_is_the_beginning_of_the_authors_file(real_data, backdoor_table):
    """The authors scaled over both halves, and their values are rounded to steps of up to 4.2e-5 (sbytes)."""
    X, y = unsw.read_unsw_halves(("Backdoor",), real_data / HALF)
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
    X, y = unsw.read_unsw_parts(backdoor, anomalies)
    assert X.tolist() == [[0, 0], [0.25, 0], [1, 0], [0, 1]]
    assert y.tolist() == [0, 0, 1, 1]
    with pytest.raises(DataError, match="a.csv has 1 columns, .*b.csv has 2 features"):
        unsw.read_unsw_parts(backdoor, write(tmp_path / "a.csv", "2\n"))
