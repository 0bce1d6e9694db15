"""Tables as users have them: decimal commas, labels."""

import json
import shlex
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from event_tables import KINDS, events

import detect
from common.errors import DataError
from own_data.column_kinds import column_kind, typed_columns
from own_data.event_model import EventModel
from own_data.labels import anomaly_labels
from own_data.saved_models import load_model, save_model

CSV = events().to_csv(index=False)


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    path, table = tmp_path_factory.mktemp("model") / "fraud.model", events()
    y = (table["fraud"] == "1").astype(int)
    save_model(path, EventModel.fit("logistic", table[list(KINDS)], KINDS, y))
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("events.csv").write_text(CSV)
    return tmp_path


def run(command):
    try:
        return detect.main(shlex.split(command))
    except SystemExit as stop:
        return stop.code


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


# ---------------------------------------------------------------------------- model files


def with_format(source, target, change):
    """A copy of a model file with a change in format.json."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "format.json":
                contents = json.loads(data)
                change(contents)
                data = json.dumps(contents)
            new.writestr(name, data)


def test_a_model_of_an_older_version_is_read(folder, model_path):
    with_format(model_path, "old.model", lambda contents: contents.pop("table"))
    old = load_model("old.model")
    assert (old.decimal, old.header) == (".", True)


@pytest.mark.parametrize(
    "table",
    [
        {"decimal": ";"},
        {"decimal": ["."]},
        {"header": 0},
        {"header": None},
        {"other": 1},
        [],
        None,
        "decimal",
    ],
)
def test_a_forged_notation_is_refused(folder, model_path, table, capsys):
    with_format(model_path, "bad.model", lambda contents: contents.update(table=table))
    assert run("score events.csv --model bad.model") == 2
    error = capsys.readouterr().err
    assert "bad.model is damaged or no model" in error and error.count("\n") == 1


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
