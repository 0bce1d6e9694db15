"""Tables as users have them: short rows, quotes, packing, encodings, no header; numbers, texts and chunks."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from archives import zip_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from weakly.errors import DataError
from weakly.loading import files
from weakly.own_data import tables
from weakly.own_data.columns import choose_columns, typed_columns
from weakly.own_data.tables import Notation, Table

NAN = np.nan


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def opened(content, kinds=None, **notation):
    data = content if isinstance(content, bytes) else content.encode()
    path = "t.csv" + {b"\x1f\x8b": ".gz", b"PK": ".zip"}.get(data[:2], "")
    with open(path, "wb") as file:
        file.write(data)
    return Table(path, Notation(**notation), kinds)


def read(content, verbatim=(), **notation):
    table = opened(content, **notation)
    return table.read(table.columns, verbatim)


def texts(content, **notation):
    """The names, then the rows, as they are in the file."""
    table = opened(content, **notation)
    return [table.columns, *table.read(table.columns, table.columns).to_numpy().tolist()]


TEXTS = {  # the names and cells of a table, / between rows and | between cells
    'a,b,c\n1,"x, ""y""",\n\n   \n 2 , "b" ,5" pipe\n3,\'a,\'b\r\n,,\n':
        'a|b|c/1|x, "y"|/2 |b |5" pipe/3|\'a|\'b/||',
    'a,b\n"1\n\n2","3\r\n4"\n5,6': "a|b/1\n\n2|3\n4/5|6",
    "a,b\n1,2,\n3,4,\n": "a|b/1|2/3|4",  # a separator at the end
    "a;b,c\n1;2\n": "a|b,c/1|2",
    "a\tb\n1,5\t2\n": "a|b/1,5|2",
    ",0,1\n0,1,7\n": "column_1|0|1/0|1|7",  # as pandas writes names
    "1,7\n2,7\n": "column_1|column_2/1|7/2|7",  # no names
    "a,b\n01,NA\n1.50,x\n": "a|b/01|NA/1.50|x",
}  # fmt: skip


@pytest.mark.parametrize("at_once", [1, 10_000])
@pytest.mark.parametrize("content", TEXTS)
def test_names_separators_quotes_and_line_breaks(monkeypatch, content, at_once):
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", at_once)
    assert texts(content) == [row.split("|") for row in TEXTS[content].split("/")]


CSV = "a,b\n1.5,x\n,ü\n"
FIVE_LINES = 'a,b,c\n1,"x\ny",3\n\n4,,\n'
REFUSED = {  # the content of a file and what its refusal says
    FIVE_LINES + "5,6\n7,8,9\n": "Line 6 of t.csv has fewer cells than the first line: 2 instead of 3.",
    FIVE_LINES + "5,6,7,8\n": "Line 6 of t.csv has more cells than the first line: 4 instead of 3.",
    FIVE_LINES + '5,6,"7\n8,9,10\n': "a quote in line 6 is not closed",
    "a,b\n\n\n": "t.csv has no rows.",
    "": "its first line, which must have the column names, is empty",
    "a,b,a\n1,2,3\n": "more than one column 'a'",
    "1,2\n3\n": "Line 2 of t.csv has fewer cells",
    zip_bytes(("a.csv", b"a"), ("b.csv", b"x")): "exactly one data file, but holds 2",
    gzip.compress(CSV.encode() * 99)[:40]: "is damaged",
    gzip.compress(b"a,b\n" + (b"1" * 999 + b",2\n") * 60): "expands to more than 50000 bytes",
    b"\x89PNG\r\n\x1a\n": "save it as CSV if it is another file",
    CSV.encode("latin-1"): "is not text in UTF-8: name its encoding, such as --encoding latin-1",
    b'{"a":1}\n{"a":[1]}\n': 'line 2 is not JSON such as {"amount"',
    b'{"a":' * 5_000: "line 1 is not JSON",
    b"PAR1....PAR1": "cannot be read as a table",
}


@pytest.mark.parametrize("at_once", [1, 10_000])
@pytest.mark.parametrize("content", REFUSED, ids=range(len(REFUSED)))
def test_other_files_are_refused_in_a_sentence_with_the_line(monkeypatch, content, at_once):
    monkeypatch.setattr(files, "SIZE_LIMIT", 50_000)
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", at_once)
    with pytest.raises(DataError) as error:
        read(content)
    assert REFUSED[content] in str(error.value)


def test_a_first_line_of_numbers_has_names_if_a_model_knows_them(capsys):
    assert read("1,5;2\n3,5;4\n", decimal=",")["column_1"].tolist() == [1.5, 3.5]
    assert "The first line of t.csv has no names" in capsys.readouterr().out
    assert opened("1,2\n3,4\n", kinds={"2": {"kind": "category"}}).columns == ["1", "2"]
    assert texts("x,2\n3,4\n", header=False)[1:] == [["x", "2"], ["3", "4"]]
    assert texts("1,2\n3,4\n", header=True)[0] == ["1", "2"]


@pytest.mark.parametrize("at_once", [2, 10_000])
def test_columns_are_numbers_or_texts_as_a_whole(monkeypatch, at_once):
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", at_once)
    raw = read("n,i,late,code,none\n 1.50,1,1.0,007,\n,2,2,8,NA\n-3e2,3,x,9,\nNa,4,,A1,-\n", verbatim=["i"])
    assert raw.dtypes.map(str).tolist() == ["float64", "object", "object", "object", "float64"]
    np.testing.assert_array_equal(raw["n"], [1.5, NAN, -300, NAN])
    assert raw["i"].tolist() == ["1", "2", "3", "4"] and raw["none"].isna().all()
    assert raw["late"].fillna("?").tolist() == ["1.0", "2", "x", "?"]  # not 1.0 and 2.0
    assert raw["code"].tolist() == ["007", "8", "9", "A1"]  # not 7.0


def test_missing_cells_and_decimal_marks():
    cells = ["", "NA", "n/a", "#N/A", "-", "?", "Unknown", "NULL", "None", "inf", "-Inf"]
    content = "x\n" + "".join(f'"{cell}"\n' for cell in cells) + "1\n999\n"
    assert read(content, missing=("999",))["x"].isna().tolist() == [True] * len(cells) + [False, True]
    assert read(content, verbatim=["x"])["x"].tolist() == [*cells, "1", "999"]
    assert read("a;b\n1,5;2\n-0,5;NA\n", decimal=",")["a"].tolist() == [1.5, -0.5]


def test_rows_for_a_model_are_read_as_its_columns():
    """Each chunk alone looks like plain numbers: 2.115 is 2115 for the model, and 01 a code."""
    number = {"kind": "number", "decimal": ".", "thousands": ""}
    kinds = {"a": number | {"decimal": ",", "thousands": "."}, "b": {"kind": "category"}, "c": number}
    table = opened("a,b,c\n2.115,01,3.5\n", kinds=kinds)
    (raw,) = table.chunks(table.columns)
    assert typed_columns(raw, kinds).to_dict("records") == [{"a": 2115.0, "b": "01", "c": 3.5}]


def test_chunks_number_the_rows_and_skip_blank_lines(monkeypatch):
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 10)
    table = opened("a,b\n" + "\n" * 30 + "1,2\n" * 25 + " \n" * 30 + "3,4\n" * 25)
    assert [row for chunk in table.chunks(["b"]) for row in chunk.index] == list(range(50))


PACKS = {"gzip": gzip.compress, "zip": lambda data: zip_bytes(("t/a.csv", data), (".b", b"\0"))}
ENCODINGS = [("utf-8-sig", ""), ("gb18030", ""), ("latin-1", "zip"), ("utf-16", "gzip")]


@pytest.mark.parametrize("encoding, pack", ENCODINGS)
def test_packed_and_recoded_tables(pack, encoding):
    data = PACKS.get(pack, bytes)(CSV.encode(encoding))
    assert texts(data, encoding=encoding) == [["a", "b"], ["1.5", "x"], ["", "ü"]]


def test_gzip_is_recognised_whatever_its_name_and_a_zip_may_hold_any_one_file():
    for path, data in (
        ("events", gzip.compress(b"a,b\n1,2\n")),
        ("t.zip", zip_bytes(("t.zip", b"a,b\n1,2\n"))),
    ):
        with open(path, "wb") as file:
            file.write(data)
        assert Table(path).read(["b"])["b"].tolist() == [2]


def test_json_lines():
    rows = [{"a": 1, "b": "x"}, {"b": 'q"\n,', "a": 2.50, "c": True}, {"c": None, "a": 10**400}, {}]
    raw = read(gzip.compress("\n".join(map(json.dumps, rows)).encode()), verbatim=["a", "b", "c"])
    assert raw["a"].tolist() == ["1", "2.5", str(10**400), ""]
    assert opened('{"a":1.5}\n').decimal == "."  # whatever a model's table had
    assert raw["b"].tolist() == ["x", 'q"\n,', "", ""] and raw["c"].tolist() == ["", "true", "", ""]
    assert texts('{"\\ud800":"\\u0000x"}')[1] == ["x"]


def test_parquet():
    pytest.importorskip("pyarrow")
    when = pd.to_datetime(["2024-01-05", None, "2024-01-06"])
    table = pd.DataFrame({
        "i": pd.array([1, None, 3], "Int64"), "f": [1.5, NAN, np.inf],
        "s": ["x", None, " y "], "when": when.tz_localize("Europe/Berlin"),
    })  # fmt: skip
    table.to_parquet("t.csv")
    raw = Table("t.csv").read(list(table), ["s"])
    assert raw["i"].fillna(0).tolist() == [1, 0, 3] and raw["f"].fillna(0).tolist() == [1.5, 0, 0]
    assert raw["s"].tolist() == ["x", "", " y "] and raw["when"][0] == pd.Timestamp("2024-01-04 23:00")


CELLS = st.text(max_size=5) | st.sampled_from(
    '1 2.5 -3e5 1e400 inf NA abc true 1,5 1.234,5 "1,234.5" 5% €5 ٣ ½ 2024-01-05 5.3.2024 9999-12-31 '
    '31/12/99 " "" "x" \xa05 5\xa0kg = {} \x1e \x85 \u2028 😀 −5 +- 0x1 1_0'.split(" ")
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=20),
    noise=st.binary(max_size=3),
    separator=st.sampled_from(",;\t"),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    mark=st.sampled_from(["", ".", ","]),
)
def test_any_table_is_read_alike_each_time_or_refused_in_a_sentence(rows, noise, separator, line_end, mark):
    content = line_end.join(separator.join(row) for row in [["a", "b"], *rows]).encode("utf-8", "replace")
    try:
        table = opened(content + noise, decimal=mark)
        raw = table.read(table.columns)
        columns = choose_columns(raw, table.path, table.notation)
        typed = typed_columns(raw, columns)
        (again,) = opened(content + noise, decimal=mark, kinds=columns).chunks(list(columns))
        pd.testing.assert_frame_equal(typed_columns(again, columns), typed)
    except DataError as error:
        assert str(error).isprintable()
