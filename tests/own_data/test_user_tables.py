"""Tables as users have them: short rows, quotes, packing, encodings, decimal commas, no header; labels."""

import bz2
import csv
import functools
import io
import lzma
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from archives import zip_bytes
from event_tables import KINDS, events

import detect
from weakly.errors import DataError
from weakly.own_data import user_tables
from weakly.own_data.column_kinds import column_kind, typed_columns
from weakly.own_data.labels import anomaly_labels
from weakly.own_data.table_files import MarkedText
from weakly.own_data.user_tables import Table, looks_like_data

CSV = events().to_csv(index=False)


def run(command):
    try:
        return detect.main(shlex.split(command))
    except SystemExit as stop:
        return stop.code


def read(content, **options):
    """All cells of a table, as lists."""
    Path("t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    table = Table("t.csv", **options)
    return table.columns, pd.concat(table.chunks(table.columns)).to_numpy().tolist()


def refused(content, **options):
    """The sentence that a table is refused with."""
    with pytest.raises(DataError) as error:
        read(content, **options)
    return str(error.value)


# ---------------------------------------------------------------------------- rows


@pytest.mark.parametrize("chunk", [1, 2, 5, 10_000])
def test_cells_with_separators_quotes_and_line_breaks(folder, monkeypatch, chunk):
    monkeypatch.setattr(user_tables, "ROWS_AT_ONCE", chunk)
    content = 'a,b,c\n1,"x, ""y""\r\nz",\n\n   \n 2 , "b" ,5" pipe\n3,\'a,\'b\r\n,,\n"4\n\n5",6,7'
    expected = [
        ["1", 'x, "y"\r\nz', ""],
        ["2 ", "b ", '5" pipe'],
        ["3", "'a", "'b"],
        ["", "", ""],
        ["4\n\n5", "6", "7"],
    ]
    assert read(content) == (["a", "b", "c"], expected)
    assert read("a,b\r1,2\r3,4\r") == (["a", "b"], [["1", "2"], ["3", "4"]])
    assert read("a,b\n1,2,\n3,4,\n") == (["a", "b"], [["1", "2"], ["3", "4"]])  # a separator at the end
    assert read(f"a,b\n{'x' * 10**6},2\n") == (["a", "b"], [["x" * 10**6, "2"]])
    assert read('a\n1\n\n""\n2\n') == (["a"], [["1"], [""], ["2"]])


@pytest.mark.parametrize("chunk", [1, 2, 10_000])
def test_rows_with_other_cells_than_the_header_are_refused_by_number(folder, monkeypatch, chunk):
    monkeypatch.setattr(user_tables, "ROWS_AT_ONCE", chunk)
    start = 'a,b,c\n1,"x\ny",3\n\n4,,\n'
    assert refused(start + "5,6\n7,8,9\n") == "Row 3 of t.csv has fewer cells than the first line."
    assert refused(start + "5\n") == "Row 3 of t.csv has fewer cells than the first line."
    assert refused(start + "5,6,7,8\n") == "Row 3 of t.csv has more cells than the first line."
    assert "more cells than the first line." in refused(start + "5,6,7,,\n")
    assert "more cells than the first line." in refused("a,b,c\n5,6,7,8,9,10,11\n")
    assert "a quote is not closed" in refused(start + '5,6,"7\n8,9,10\n')
    assert "a quote is not closed" in refused(start + '5,"6,7\n8,9,10\n')


@pytest.mark.parametrize("size", [1, 2, 3, 1_000])
def test_marks_stand_before_line_breaks_whatever_is_read_at_once(size):
    for text in ("a\r\n\r\nb\rc\n\n", "a\nb", "a\r", "\r\n", "a\r\n\nb\r\r\nc", "", 'x"'):
        for start in {"", text[:1].strip("\r")}:
            marked = MarkedText(start, io.StringIO(text.removeprefix(start), newline=""), "#")
            pieces = iter(functools.partial(marked.read, size), "")
            end = "#" if text and text[-1] not in "\r\n" else ""
            assert "".join(pieces) == re.sub("\r\n?|\n", r"#\g<0>", text) + end
            assert marked.quoted == ('"' in text) and marked.read() == ""


def test_rows_are_those_of_the_csv_module(folder):
    """Over many blocks, with all kinds of cells and line breaks; one cell less is noticed wherever it is."""
    rng = np.random.default_rng(0)
    cells = ["", "1.5", "a b", "x,y", 'say "no"', "two\nlines", "and\r\nmore", "\n", "é", ";", "self"]
    rows = rng.choice(np.array(cells, dtype=object), (40_000, 3)).tolist()
    for line_break in ("\n", "\r\n"):
        buffer = io.StringIO(newline="")
        csv.writer(buffer, lineterminator=line_break).writerows([["self", "b", "c"], *rows])
        assert read(buffer.getvalue()) == (["self", "b", "c"], rows)
    for place in (0, 16_383, 16_384, 39_999):
        buffer = io.StringIO(newline="")
        csv.writer(buffer).writerows([["a", "b", "c"], *rows[:place], ["x", "y"], *rows[place:]])
        assert (
            refused(buffer.getvalue()) == f"Row {place + 1:,} of t.csv has fewer cells than the first line."
        )


@pytest.mark.parametrize("command", ["fit", "evaluate", "score"])
def test_no_command_takes_a_short_row(folder, model_path, command, capsys):
    lines = (
        events().assign(fraud=lambda table: table["fraud"].replace("", "0")).to_csv(index=False).split("\n")
    )
    lines[300] = lines[300].rpartition(",")[0]  # without the label, which score does not need
    Path("short.csv").write_text("\n".join(lines))
    learn = "--label fraud --method logistic"
    options = {"fit": f"{learn} --model new.model", "evaluate": learn, "score": f"--model {model_path}"}
    assert run(f"{command} short.csv {options[command]}") == 2
    error = capsys.readouterr().err
    assert "Row 300 of short.csv has fewer cells than the first line." in error
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "short.csv"]


def test_chunks_of_blank_lines_are_no_rows(folder, model_path, monkeypatch):
    monkeypatch.setattr(user_tables, "ROWS_AT_ONCE", 10)
    first, *lines = CSV.splitlines(keepends=True)
    Path("blank.csv").write_text(
        "".join([first, "\n" * 30, *lines[:300], " \n" * 30, *lines[300:], "\n" * 30])
    )
    for name in ("events", "blank"):
        assert run(f"score {name}.csv --model {model_path} --output {name}") == 0
    assert Path("events").read_bytes() == Path("blank").read_bytes()


# ---------------------------------------------------------------------------- packing and encodings


def test_a_zip_with_one_file_is_a_table(folder, model_path):
    Path("t.zip").write_bytes(zip_bytes(("sub/events.csv", CSV.encode()), ("__MACOSX/._events.csv", b"\0")))
    assert run(f"score t.zip --model {model_path} --output a.csv") == 0
    assert run(f"score events.csv --model {model_path} --output b.csv") == 0
    assert Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def locked_zip():
    """An archive whose member is marked as encrypted."""
    data = bytearray(zip_bytes(("a.csv", CSV.encode())))
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + place] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    "content, message",
    [
        (zip_bytes(("a.csv", CSV.encode()), ("b.csv", b"x")), "exactly one file, but holds 2"),
        (zip_bytes(), "exactly one file, but holds 0"),
        (zip_bytes(("a.csv", CSV.encode()))[:-30], "is damaged"),
        (zip_bytes(("a.csv", CSV.encode() + b",,,,,,,\n" * 10**5)), "expands to more than 100000 bytes"),
        (locked_zip(), "is damaged"),
    ],
    ids=["two files", "no file", "cut off", "large", "locked"],
)
def test_other_zips_are_refused(folder, model_path, monkeypatch, content, message, capsys):
    monkeypatch.setattr("weakly.own_data.table_files.SIZE_LIMIT", 100_000)
    Path("t.zip").write_bytes(content)
    assert run(f"score t.zip --model {model_path}") == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and not Path("scores.csv").exists()


@pytest.mark.parametrize(
    "content, message",
    [
        (zip_bytes(("[Content_Types].xml", b"<"), ("xl/workbook.xml", b"<")), "save the sheet as CSV"),
        (bytes.fromhex("d0cf11e0a1b11ae1"), "save the sheet as CSV"),
        (b"\x89PNG\r\n\x1a\n", "is a picture, not a table"),
        (bz2.compress(CSV.encode()), "is compressed with bzip2: unpack it first"),
        (lzma.compress(CSV.encode()), "is compressed with xz: unpack it first"),
    ],
    ids=["xlsx", "xls", "png", "bz2", "xz"],
)
def test_files_of_other_programs_are_named(folder, model_path, content, message, capsys):
    Path("t.csv").write_bytes(content)
    assert run(f"score t.csv --model {model_path}") == 2
    error = capsys.readouterr().err
    assert message in error and "encoding" not in error and not Path("scores.csv").exists()


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig", "UTF8", "gb18030"]
)
def test_other_encodings(folder, encoding):
    text = "größe,b\n1,é" + "ü" * 10_000 + "\n2,x\n"
    assert read(text.encode(encoding), encoding=encoding) == (
        ["größe", "b"],
        [["1", "é" + "ü" * 10_000], ["2", "x"]],
    )


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
@pytest.mark.parametrize("given", ["", "--encoding ascii"])
def test_a_text_of_another_encoding_is_refused_with_a_proposal(folder, encoding, given, capsys):
    Path("t.csv").write_bytes("größe,fraud\n1,1\n".encode(encoding))
    assert run(f"fit t.csv --label fraud --model m {given}") == 2
    error = capsys.readouterr().err
    name = "ASCII" if given else "UTF-8"
    assert f"t.csv is not text in {name}" in error and "--encoding latin-1" in error


def test_unknown_encodings_are_refused(folder, capsys):
    for name in ("latin-99", "zip", "'a\0b'", "undefined"):
        assert run(f"fit events.csv --label fraud --model m --encoding {name}") == 2
        assert "unknown encoding" in capsys.readouterr().err


# ---------------------------------------------------------------------------- decimal commas


@pytest.mark.parametrize(
    "cells, kind",
    [
        ([f"{i},5" for i in range(60)], "number"),
        ([f"{i}" for i in range(60)] * 2, "number"),
        ([f"-{i},5e3" for i in range(60)], "number"),
        ([f"10.0.{i % 9}.1" for i in range(60)], "category"),
    ],
)
def test_kinds_of_columns_with_a_decimal_comma(cells, kind):
    assert column_kind("x", pd.Series(cells, dtype=object), ",") == (kind, None)


@pytest.mark.parametrize("cells", [["1.5", "2.5"], ["1.234,5", "12,5"], ["1.000", "2.000", "7"]])
def test_a_point_is_no_decimal_comma(cells):
    """1.500 may be 1.5 or 1500: it is not guessed."""
    cells = pd.Series(cells * 20, dtype=object)
    with pytest.raises(DataError, match=r"'x' holds numbers like '.*': add --decimal \. if"):
        column_kind("x", cells, ",")
    with pytest.raises(DataError, match="Row 1: column 'x' holds '1"):
        typed_columns(cells.to_frame("x"), {"x": "number"}, ",")


def with_commas(table):
    return table.assign(amount=table["amount"].str.replace(".", ","))


def test_a_decimal_comma_gives_the_same_scores_and_is_remembered(folder, capsys):
    learn = "--label fraud --method logistic"
    with_commas(events()).to_csv("commas.csv", index=False, sep=";")
    assert run(f"fit events.csv {learn} --model points.model") == 0
    assert run(f"fit commas.csv {learn} --model commas.model --decimal ,") == 0
    for name, table, options in (
        ("a", "events.csv", "--model points.model"),
        ("b", "commas.csv", "--model commas.model"),
        ("c", "events.csv", "--model commas.model --decimal ."),
        ("d", "commas.csv", "--model points.model --decimal ,"),
    ):
        assert run(f"score {table} {options} --output {name}") == 0
    assert (
        Path("a").read_bytes() == Path("b").read_bytes() == Path("c").read_bytes() == Path("d").read_bytes()
    )
    assert run("score events.csv --model commas.model") == 2
    hint = "instead of a number: add --decimal . if that is the decimal mark of this table"
    error = capsys.readouterr().err
    assert "Row 1: column 'amount' holds" in error and hint in error
    assert run("score commas.csv --model commas.model --keep amount --output kept") == 0
    assert pd.read_csv("kept", dtype=str)["amount"].tolist() == with_commas(events())["amount"].tolist()
    known = with_commas(events()).assign(fraud=lambda table: table["fraud"].replace({"": "0,0", "1": "1,0"}))
    known.to_csv("known.csv", index=False, sep=";")
    assert run("evaluate known.csv --label fraud --method logistic --n-labeled 9 --decimal ,") == 0


def test_without_the_option_it_is_proposed(folder, capsys):
    with_commas(events()).to_csv("commas.csv", index=False, sep=";")
    assert run("fit commas.csv --label fraud --model m") == 2
    assert "add --decimal , if that is their decimal mark" in capsys.readouterr().err


# ---------------------------------------------------------------------------- header


@pytest.mark.parametrize(
    "line, below, expected",
    [
        ("5.1,3.5,1", ["4.9,3.0,0"], True),
        ("5.1,,2024-01-05", ["4.9,3.0,"], True),
        ("0,tcp,SF,181", ["0,tcp,SF,239", "1,udp,S0,7"], True),
        ("0,tcp,SF,181", ["0,udp,S0,239"], False),
        ("a,b,c", ["a,b,c", "1,2,3"], False),  # files that were joined
        ("0,1,2,3", ["5,1,2,3"], False),  # what pandas calls columns without names
        (",1,2,3", ["0,1,1,0"], False),
        ("2019,2020,country", ["1,2,DE"], False),
        ("a,b,c", ["1,2,a"], False),
        ("a,b", [], False),
        ("7,7", [], True),
    ],
)
def test_a_first_line_that_looks_like_data(line, below, expected):
    assert looks_like_data(line.split(","), [row.split(",") for row in below]) == expected


def without_header(table):
    return table.to_csv(index=False, header=False)


def test_a_table_without_header_is_refused_with_a_proposal(folder, capsys):
    Path("bare.csv").write_text(without_header(events()[["amount", "age", "country", "member", "fraud"]]))
    for command in ("fit bare.csv --label 1 --model m", "evaluate bare.csv --label fraud"):
        assert run(command) == 2
        error = capsys.readouterr().err
        assert "The first line of bare.csv looks like data" in error and "--no-header" in error
    Path("bare.csv").write_text(without_header(events().assign(id=[f"TX-{i}" for i in range(600)])))
    assert run("fit bare.csv --label fraud --model m") == 2  # an id is as good as a name
    assert "lacks the column fraud of --label" in (error := capsys.readouterr().err)
    assert "if the first line is data, add --no-header." in error and not Path("m").exists()


def test_names_that_are_numbers_can_be_insisted_on(folder):
    Path("t.csv").write_text("400.5,401.5,9\n1.25,2.5,1\n")
    with pytest.raises(DataError, match="looks like data"):
        Table("t.csv")
    assert Table("t.csv", header=True).columns == ["400.5", "401.5", "9"]


def test_columns_without_names_are_numbered(folder):
    expected = ["column_1", "column_2"], [["1", "x\ny"], ["2", ""]]
    assert read('1,"x\ny"\n2,\n', header=False) == expected
    assert read("1,5;2,5\n3,5;\n", header=False, decimal=",")[1] == [["1,5", "2,5"], ["3,5", ""]]
    assert "Row 2 of t.csv has fewer cells" in refused("1,2\n3\n", header=False)


def test_a_model_remembers_that_there_is_no_header(folder, capsys):
    table = events()[[*KINDS, "fraud"]]
    table.to_csv("named.csv", index=False)
    Path("bare.csv").write_text(without_header(table))
    Path("new.csv").write_text(without_header(table[list(KINDS)]))
    assert run("fit named.csv --label fraud --method logistic --model named.model") == 0
    assert run("fit bare.csv --label column_5 --method logistic --model bare.model --no-header") == 0
    assert "600 rows of bare.csv: 30 labelled" in capsys.readouterr().out
    assert run("score named.csv --model named.model --output a") == 0
    assert run("score new.csv --model bare.model --output b") == 0
    assert Path("a").read_bytes() == Path("b").read_bytes()
    renamed = table[list(KINDS)].set_axis([f"column_{i}" for i in range(1, 5)], axis=1)
    renamed.to_csv("numbered.csv", index=False)
    assert run("score numbered.csv --model bare.model --header --output c") == 0
    assert Path("b").read_bytes() == Path("c").read_bytes()
    assert run("score new.csv --model named.model") == 2
    assert "lacks the columns amount, age, member, country that named.model" in capsys.readouterr().err


# ---------------------------------------------------------------------------- model files


# ---------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    "options, n_anomalies",
    [
        ("--anomaly-value DoS", 20),
        ("--anomaly-value DoS,Exploits", 50),
        ("--anomaly-value ' DoS , Exploits '", 50),
        ("--anomaly-value DoS --anomaly-value Exploits", 50),
        ("--anomaly-value DoS --anomaly-value Worms,old", 30),
    ],
)
def test_several_anomaly_values(folder, options, n_anomalies, capsys):
    labels = np.repeat(["DoS", "Exploits", "Worms,old", "Normal"], [20, 30, 10, 540])
    events().assign(fraud=labels).to_csv("attacks.csv", index=False)
    assert run(f"fit attacks.csv --label fraud --method logistic --model m {options}") == 0
    assert f"600 rows of attacks.csv: {n_anomalies} labelled anomalies" in capsys.readouterr().out


def test_a_label_that_does_not_occur_is_refused_with_those_that_do(folder, capsys):
    labels = [f"kind {i % 14 if i % 14 > 2 else 3}" for i in range(599)] + [""]
    events().assign(fraud=labels).to_csv("attacks.csv", index=False)
    assert run("fit attacks.csv --label fraud --model m --anomaly-value 'kind 3,Kind 4'") == 2
    error = capsys.readouterr().err
    assert (
        "attacks.csv has no row with the label 'Kind 4' of --anomaly-value; column 'fraud' has kind 3 ("
        in error
    )
    assert "kind 12 (42) and 1 more." in error and error.count("\n") == 1
    with pytest.raises(DataError, match="column 'y' has no labels"):
        anomaly_labels(pd.Series(["", ""], name="y"), ["1"], None, False, "t.csv")
