"""Tests of readers.py: hand-made tables with known results, and the real bank and census files."""

import gzip
import itertools
import zipfile

import numpy as np
import pytest
from archives import BANK_COLUMNS

from weakly.errors import DataError
from weakly.loading import readers


def write(path, text):
    path.write_text(text)
    return path


def test_bank_columns_in_file_order(tmp_path):
    same = '999;0;"none";1.1;93;-36;4;5000'
    text = ";".join(BANK_COLUMNS) + "\n" + "\n".join([
        f'20;"admin.";"single";"a";"no";"no";"no";"telephone";"may";"mon";100;1;{same};"no"',
        f'40;"unknown";"single";"b";"no";"no";"no";"cellular";"may";"mon";300;1;{same};"yes"',
        f'30;"admin.";"single";"c";"no";"no";"no";"telephone";"may";"mon";100;1;{same};"no"',
    ])  # fmt: skip
    X, y = readers.read_bank(write(tmp_path / "bank-additional-full.csv", text))
    assert y.tolist() == [0, 1, 0]
    # age | job (2 levels: 1 column) | marital | education (3 levels) | default, housing, loan | contact |
    # month, day | duration | ...
    assert X[:, :12].tolist() == [
        [0.0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1],
        [1.0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1],
        [0.5, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1],
    ]
    assert X[:, 12].tolist() == [0, 1, 0]
    assert (
        X[:, 13:].tolist() == [[0, 0, 0, 1, 0, 0, 0, 0, 0]] * 3
    )  # constants are 0, the one level of poutcome is 1


def test_bank_as_uci_packs_it_today(real_data, tmp_path):
    with zipfile.ZipFile(tmp_path / "bank+marketing.zip", "w") as archive:
        archive.write(real_data / "bank-additional.zip", "bank-additional.zip")
        archive.writestr("bank.zip", b"the older and smaller set")
    for one, other in zip(
        readers.read_bank(tmp_path / "bank+marketing.zip"),
        readers.read_bank(real_data / "bank-additional.zip"),
    ):
        np.testing.assert_array_equal(one, other)


CELEBA = "filename,Bald,Bangs,Male\n000001.jpg,-1,-1,1\n105151.jpg,1,1,-1\n000003.jpg,-1,1,-1\n"


def test_celeba_coding_and_its_changed_cell(tmp_path):
    """1 where an attribute is -1; but image 105151 counts as Male."""
    X, y = readers.read_celeba(write(tmp_path / "celeba.csv", CELEBA))
    assert X.tolist() == [[1, 0], [0, 0], [0, 1]] and y.tolist() == [0, 1, 0]


@pytest.mark.parametrize("old, new, message", [
    ("Male", "Man", "celeba.csv has no column named 'Male'"),
    ("1,-1\n000003", "1,-1,1\n000003", "not a readable CSV table: .*Expected 4 fields in line 3"),
    ("-1,-1,1", "-1,0,1", "celeba.csv holds an unknown value in column 'Bangs': '0'"),
    ("-1,-1,1", "0,-1,1", "celeba.csv has a label other than -1 and 1: '0'"),
])  # fmt: skip
def test_bad_celeba(tmp_path, old, new, message):
    with pytest.raises(DataError, match=message):
        readers.read_celeba(write(tmp_path / "celeba.csv", CELEBA.replace(old, new)))


def census_row(**cells):
    row = ["x"] * 42
    for position in readers.CENSUS_NUMERIC:
        row[position] = "0"
    row[24], row[41] = "1700.09", "- 50000."
    for position, cell in cells.items():
        row[int(position[1:])] = cell
    return ", ".join(row) + "\n"


def test_census_encoding(tmp_path):
    """In the authors' order: the first training row is lost, the second stands in for it at their end."""
    train = [
        census_row(c0="99", c1="lost"),
        census_row(c0="30", c1="A", c12="Female"),
        census_row(c0="10", c1="?", c12="Male"),
    ]
    test = [census_row(c0="20", c1="B", c12="Female", c41="50000+."), census_row(c0="10", c1="C", c12="Male")]
    X, y = readers.read_census(
        write(tmp_path / "train", "".join(train)), write(tmp_path / "test", "".join(test))
    )
    assert y.tolist() == [0, 0, 0, 1, 0]
    assert X.shape == (
        5,
        42,
    )  # 7 numeric, 31 nominal of one level, 3 levels of column 1, 1 for the two of column 12
    # age and the three levels of column 1; `?` is no level
    assert X[:, :4].tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0], [0.5, 0, 1, 0], [0, 0, 0, 1]]
    assert X[:, 14].tolist() == [0, 1, 0, 0, 1]


def test_bad_census_row_is_that_of_the_file(tmp_path):
    train = write(tmp_path / "train", census_row() + census_row() + census_row(c5="ten"))
    with pytest.raises(DataError, match="train holds 'ten' in column 5, row 3"):
        readers.read_census(train, write(tmp_path / "test", census_row()))


@pytest.mark.parametrize("cells, message", [
    ({"c5": "ten"}, "test holds 'ten' in column 5, row 2, where a number is expected"),
    ({"c41": "yes"}, "test has a label other than '- 50000.' and '50000[+].': 'yes'"),
    ({"c3": "a, b"}, "not a readable CSV table: .*Expected 42 fields in line 2, saw 43"),
])  # fmt: skip
def test_bad_census_names_the_file(tmp_path, cells, message):
    train = write(tmp_path / "train", census_row() * 2)
    with pytest.raises(DataError, match=message):
        readers.read_census(train, write(tmp_path / "test", census_row() + census_row(**cells)))


def test_census_packed_and_plain_are_the_same(real_data, tmp_path):
    plain, packed = [], []
    for name in ("census-income.data", "census-income.test"):
        with gzip.open(real_data / f"{name}.gz", "rt") as stream:
            plain.append(write(tmp_path / name, "".join(itertools.islice(stream, 3000))))
        packed.append(tmp_path / f"{name}.gz")
        packed[-1].write_bytes(gzip.compress(plain[-1].read_bytes()))
    for one, other in zip(readers.read_census(*plain), readers.read_census(*packed)):
        np.testing.assert_array_equal(one, other)
