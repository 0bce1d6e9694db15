"""Scores as CSV, JSON lines and Parquet: the same rows in each, packed or not, a chunk at a time."""

import gzip
import json
import sys
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from weakly.own_data import tables

OPTIONS = {
    "kept": ("--keep", "country,id", "--contamination", "0.05", "--explain"),
    "top": ("--top", "40", "--keep", "country", "--explain"),
}


@pytest.fixture
def score(run):
    """A function that gives the exit code of `detect.py score events.csv`."""
    return lambda model_path, *options: run(["score", "events.csv", "--model", model_path, *options])


def read_back(path):
    """The scores of a file, as the reader of its format gives them."""
    if path.endswith("parquet"):
        return pd.read_parquet(path)
    if "jsonl" in path:
        opened = gzip.open if path.endswith("gz") else open
        with opened(path, "rt", encoding="utf-8") as file:
            return pd.DataFrame([json.loads(line) for line in file])
    # what is kept of the table stays text, and scores are read exactly
    return pd.read_csv(path, keep_default_na=False, dtype={"id": str}, float_precision="round_trip")


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", ["s.csv.gz", "s.jsonl", "s.parquet"])
def test_every_format_has_the_same_scores(folder, model_path, monkeypatch, name, options, score):
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 250)  # three chunks
    assert score(model_path, "--output", "plain.csv", *options) == 0
    assert score(model_path, "--output", name, *options) == 0
    plain = read_back("plain.csv")
    assert len(plain) == (40 if "--top" in options else 600)
    assert_frame_equal(read_back(name), plain, check_exact=True)


def test_json_lines_on_standard_output(folder, model_path, capfd, score):
    assert score(model_path, "--output", "-", "--format", "jsonl", "--top", "3") == 0
    shown = capfd.readouterr()
    rows = [json.loads(line) for line in shown.out.splitlines()]
    assert [list(row) for row in rows] == [["row", "score"]] * 3 and "Scored 600 rows" in shown.err


def test_packed_scores_have_the_same_bytes_each_time(folder, model_path, score):
    for name in ("a.csv.gz", "b.csv.gz"):
        assert score(model_path, "--output", name) == 0
    assert Path("a.csv.gz").read_bytes() == Path("b.csv.gz").read_bytes()


def test_parquet_without_pyarrow_is_refused_before_anything_is_read(folder, score, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("s.parquet").write_text("what was there")
    assert score("no such model", "--output", "s.parquet") == 2
    error = capsys.readouterr().err
    assert "pip install pyarrow" in error and error.count("\n") == 1
    assert Path("s.parquet").read_text() == "what was there"


def test_no_folder_is_made_for_the_output(folder, score, capsys):
    assert score("no such model", "--output", "new/s.csv") == 2
    assert "the folder new does not exist" in capsys.readouterr().err and not Path("new").exists()


def test_a_bad_row_leaves_the_file_as_it_was(folder, model_path, capsys, score):
    Path("s.jsonl.gz").write_text("what was there")
    with open("events.csv", "a") as file:
        file.write("1,2\n")
    assert score(model_path, "--output", "s.jsonl.gz") == 2
    assert "fewer cells" in capsys.readouterr().err
    assert Path("s.jsonl.gz").read_text() == "what was there"
