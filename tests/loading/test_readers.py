"""Tests of readers.py: hand-made tables with known results, the real bank and census files, the demo."""

import numpy as np
import pandas as pd
import pytest
from archives import BANK_COLUMNS

from weakly.errors import DataError
from weakly.loading import readers


def write(path, text):
    path.write_text(text)
    return path


def test_columns_of_a_table_of_numbers(tmp_path):
    """All but the label, also two of one name; quotes and a byte order mark are no part of a cell."""
    path = write(tmp_path / "a.csv", '\ufeff"a",class,a\r\n1,"0",2.5\r\n\r\n3,1,-4e-1')
    X, y = readers.read_class_csv(path)
    assert X.dtype == np.float32 and y.tolist() == [0, 1]
    np.testing.assert_array_equal(X, np.array([[1, 2.5], [3, -0.4]], np.float32))


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
    # constants are 0, the one level of poutcome is 1
    assert X[:, 13:].tolist() == [[0, 0, 0, 1, 0, 0, 0, 0, 0]] * 3


def test_celeba_coding_and_its_changed_cell(tmp_path):
    """1 where an attribute is -1; but image 105151 counts as Male."""
    table = "filename,Bald,Bangs,Male\n000001.jpg,-1,-1,1\n105151.jpg,1,1,-1\n000003.jpg,-1,1,-1\n"
    X, y = readers.read_celeba(write(tmp_path / "celeba.csv", table))
    assert X.tolist() == [[1, 0], [0, 0], [0, 1]] and y.tolist() == [0, 1, 0]
    with pytest.raises(DataError, match="celeba.csv has a label other than -1 and 1: '0'"):
        readers.read_celeba(write(tmp_path / "celeba.csv", table.replace("-1,-1,1", "0,-1,1")))


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
    train = census_row(c0="99", c1="lost") + census_row(c0="30", c1="A", c12="Female")
    train += census_row(c0="10", c1="?", c12="Male")
    test = census_row(c0="20", c1="B", c12="Female", c41="50000+.") + census_row(c0="10", c1="C", c12="Male")
    X, y = readers.read_census(write(tmp_path / "train", train), write(tmp_path / "test", test))
    assert y.tolist() == [0, 0, 0, 1, 0]
    # 7 numeric, 31 nominal of one level, 3 levels of column 1, 1 for the two of column 12
    assert X.shape == (5, 42)
    # age and the three levels of column 1; `?` is no level
    assert X[:, :4].tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0], [0.5, 0, 1, 0], [0, 0, 0, 1]]
    assert X[:, 14].tolist() == [0, 1, 0, 0, 1]


def test_unsw_parts(tmp_path):
    """The normals of one file and the anomalies of another, scaled together; the backdoors are left out."""
    backdoor = write(tmp_path / "b.csv", "a,b,class\n0,0.5,0\n1,1,1\n0.5,0.5,0\n")
    X, y = readers.read_unsw_parts(backdoor, write(tmp_path / "a.csv", "2,0.5\n0,1.5\n"))
    assert X.tolist() == [[0, 0], [0.25, 0], [1, 0], [0, 1]] and y.tolist() == [0, 0, 1, 1]


def as_authors(path, rows, label=None):
    """A file with labels and a header, or of anomalies only."""
    table = pd.DataFrame(rows).assign(**({} if label is None else {"class": label}))
    table.to_csv(path, index=False, header=label is not None)
    return path


def test_parts_and_the_authors_four_files_give_the_same_matrix(tmp_path):
    """The authors scale each file over its own rows.

    The normal rows that they share lead back to one scale.
    """
    rng = np.random.default_rng(0)
    normals, backdoors = rng.random((30, 4)), rng.random((5, 4))
    normals[:, 3], backdoors[:, 3] = 0, [0, 1, 0, 1, 1]  # a protocol that no normal row has
    others = [
        np.column_stack([rng.random((n, 3)) * scale, rng.integers(2, size=n)])
        for n, scale in ((6, 3), (7, 1), (8, 0.5))
    ]
    raw = [np.concatenate([normals, rows]) for rows in (backdoors, *others)]
    backdoor, *files = [
        as_authors(tmp_path / f"{i}.csv", readers.scale_to_unit(rows), [0] * 30 + [1] * (len(rows) - 30))
        for i, rows in enumerate(raw)
    ]
    low, high = raw[0].min(axis=0), raw[0].max(axis=0)
    parts = [
        as_authors(tmp_path / f"part{i}.csv", (rows - low) / (high - low)) for i, rows in enumerate(others)
    ]
    X, y = readers.read_unsw_classes(backdoor, *parts)
    assert y.tolist() == [0] * 30 + [4] * 5 + [1] * 6 + [2] * 7 + [3] * 8
    np.testing.assert_allclose(X, readers.scale_to_unit(np.concatenate([raw[0], *others])), atol=1e-12)
    X_files, y_files = readers.read_unsw_files(backdoor, *files)
    assert y_files.tolist() == y.tolist()
    np.testing.assert_allclose(X_files, X, atol=1e-9)
    rows = readers.scale_to_unit(np.concatenate([normals[::-1], others[0]]))
    shuffled = as_authors(tmp_path / "shuffled.csv", rows, [0] * 30 + [1] * 6)
    with pytest.raises(DataError, match="shuffled.csv does not have the same normal rows as .*0.csv"):
        readers.read_unsw_files(backdoor, shuffled)


def test_demo():
    X, kind = readers.make_demo()
    assert X.shape == (10_000, 30) and X.dtype == np.float32
    assert np.bincount(kind).tolist() == [9600, 100, 100, 100, 100]
    assert X.min() == 0 and X.max() == 1 and set(map(tuple, X[:, 26:])) == set(map(tuple, np.eye(4)))
    for one, other in zip((X, kind), readers.make_demo()):
        np.testing.assert_array_equal(one, other)
