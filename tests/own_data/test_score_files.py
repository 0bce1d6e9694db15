"""Scores as CSV and JSON lines: the same rows in both, packed or not, a chunk at a time."""

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from weakly.own_data import tables

SCORE = "score events.csv --model {} --output {}"


def read_back(path):
    """The scores of a file, as the reader of its format gives them."""
    if "jsonl" in path:
        data = Path(path).read_bytes()
        lines = (gzip.decompress(data) if path.endswith("gz") else data).decode().splitlines()
        return pd.DataFrame([json.loads(line) for line in lines])
    # what is kept of the table stays text, and scores are read exactly
    return pd.read_csv(path, keep_default_na=False, dtype={"id": str}, float_precision="round_trip")


@pytest.mark.parametrize("name", ["s.csv.gz", "s.jsonl", "s.jsonl.gz"])
@pytest.mark.parametrize("options", ["--contamination 0.05 --keep country,id", "--top 40 --keep country"])
def test_every_format_has_the_same_scores_and_the_same_bytes_each_time(
    folder, model_path, monkeypatch, name, options, run
):
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 250)  # three chunks
    for output in ("plain.csv", name, f"again_{name}"):
        assert run(f"{SCORE.format(model_path, output)} --explain {options}") == 0
    plain = read_back("plain.csv")
    assert len(plain) == (40 if "--top" in options else 600)
    assert_frame_equal(read_back(name), plain, check_exact=True)
    assert Path(name).read_bytes() == Path(f"again_{name}").read_bytes()


@pytest.mark.parametrize(
    "output, message",
    [
        ("s.parquet", "cannot be written as .parquet: scores are written as .csv or .jsonl"),
        ("s.xlsx", "cannot be written as .xlsx"),
        ("new/s.csv", "the folder new does not exist"),
    ],
)
def test_a_target_that_cannot_be_written_is_refused_before_anything_is_read(
    folder, output, message, run, capsys
):
    assert run(SCORE.format("no_such_model", output)) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1 and not Path("new").exists()


def test_a_bad_row_leaves_the_file_as_it_was(folder, model_path, capsys, run):
    Path("s.jsonl.gz").write_text("what was there")
    with open("events.csv", "a") as file:
        file.write("1,2\n")
    assert run(SCORE.format(model_path, "s.jsonl.gz")) == 2
    assert "fewer cells" in capsys.readouterr().err
    assert Path("s.jsonl.gz").read_text() == "what was there"
