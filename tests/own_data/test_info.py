"""What a model file says about itself: recorded by fit and evaluate, shown by info, checked on loading."""

import hashlib
import json
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from event_tables import events

import detect
from weakly.own_data.saved_models import load_model, save_model

FIT = "fit events.csv --label fraud --method logistic --model fraud.model"


def run(command):
    """The exit code of `python detect.py command`."""
    try:
        return detect.main(shlex.split(command))
    except SystemExit as stop:
        return stop.code


def shown(capfd, command):
    capfd.readouterr()
    assert run(command) == 0
    return capfd.readouterr().out


def with_origin(source, target, **changes):
    """A copy of a model file with other values in its origin."""
    model = load_model(source)
    model.origin = (model.origin or {}) | changes
    save_model(target, model)


def test_info_tells_what_fit_was_given(folder, capfd):
    os.utime("events.csv", (0, 1_700_000_000))
    assert run(f"{FIT} --anomaly-value 1") == 0
    text = shown(capfd, "info fraud.model")
    data = Path("events.csv").read_bytes()
    for line in (
        "Method          Logistic (logistic)",
        "Fitted on       600 rows, 11 features: 30 labelled anomalies, 570 unlabelled",
        "Label           fraud; 1 marks an anomaly",
        f"Training table  events.csv, {len(data):,} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}",
        "Table changed   2023-11-14",
        "  age      number    18 to 79, median 49",
        "  country  category  5 levels: (missing), DE, FR, NA, XX, and rare ones",
    ):
        assert f"{line}\n" in text
    found = json.loads(shown(capfd, "info fraud.model --json"))
    assert (found["rows"], found["labelled_anomalies"], found["unlabelled"]) == (600, 30, 570)
    assert found["anomaly_values"] == ["1"] and found["settings"]["max_iter"] == 100
    assert found["columns"]["amount"]["kind"] == "number" and "numpy" in found["versions"]


def test_the_date_is_that_of_the_table_or_of_source_date_epoch(folder, monkeypatch):
    os.utime("events.csv", (0, 1_700_000_000))
    assert run(FIT) == 0 and load_model("fraud.model").origin["date"] == "2023-11-14"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert run(FIT) == 0 and load_model("fraud.model").origin["date"] == "1970-01-02"
    before = Path("fraud.model").read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert run(FIT) == 2 and Path("fraud.model").read_bytes() == before


def test_a_file_without_an_origin_is_loaded_and_says_so(model_path, capfd):
    text = shown(capfd, f"info {model_path}")  # save_model of a model that no command made
    assert "Label           not recorded\n" in text and "Training table  not recorded\n" in text
    assert json.loads(shown(capfd, f"info {model_path} --json"))["table"] is None


def test_an_origin_cannot_break_the_terminal(folder, model_path, capfd):
    with_origin(model_path, "other.model", label="\x1b[2J\nMethod  PReNet", code="\x07")
    text = shown(capfd, "info other.model")
    assert "\x1b" not in text and "\x07" not in text and text.count("\nMethod") == 0
    assert r"\x1b[2J\nMethod  PReNet" in text


def test_an_evaluation_is_recorded_in_a_model(folder, capfd):
    assert run(FIT) == 0
    known = events(1_000).assign(fraud=lambda table: table["fraud"].replace("", "0"))
    known.to_csv("known.csv", index=False)
    before = load_model("fraud.model")
    command = "evaluate known.csv --label fraud --n-labeled 15 --runs 2 --record fraud.model --method"
    assert run(f"{command} prenet") == 2
    assert "is a model of logistic" in capfd.readouterr().err and not Path("curves.png").exists()
    mean = re.search(r"^logistic +\S+ ±\S+ +(\S+)", shown(capfd, f"{command} logistic"), re.MULTILINE)[1]
    found = json.loads(shown(capfd, "info fraud.model --json"))["evaluation"]
    assert found["metrics"]["AUC-PR"] == pytest.approx(float(mean), abs=1e-4)
    assert found["table"]["name"] == "known.csv" and found["runs"] == 2
    assert "mean of 2 runs on held-out rows of known.csv" in shown(capfd, "info fraud.model")
    after = load_model("fraud.model")
    after.origin.pop("evaluation")
    assert after.origin == before.origin  # nothing else has changed
    np.testing.assert_array_equal(after.score(events())[1], before.score(events())[1])
