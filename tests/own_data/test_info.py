"""What a model file says about itself: recorded by fit and evaluate, shown by info, checked on loading."""

import hashlib
import json
import os
import re
import shlex
import zipfile
from pathlib import Path

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
    """A copy of a model file with other values in its origin; a value of None leaves one out."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "format.json":
                contents = json.loads(data)
                contents["origin"] = (contents["origin"] or {}) | changes
                data = json.dumps(contents)
            new.writestr(name, data)


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


def test_the_same_table_and_command_give_the_same_bytes(folder, monkeypatch):
    contents = []
    for epoch in (None, "86400", "86400"):
        if epoch:
            monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
            os.utime("events.csv")  # as in a fresh checkout
        for _ in range(1 if epoch else 2):
            assert run(FIT) == 0
            contents.append(Path("fraud.model").read_bytes())
    assert contents[0] == contents[1] != contents[2] == contents[3]
    assert load_model("fraud.model").origin["date"] == "1970-01-02"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert run(FIT) == 2 and Path("fraud.model").read_bytes() == contents[3]


def test_a_file_without_an_origin_is_loaded_and_says_so(model_path, capfd):
    text = shown(capfd, f"info {model_path}")  # save_model of a model that no command made
    assert "Label           not recorded\n" in text and "Training table  not recorded\n" in text
    assert json.loads(shown(capfd, f"info {model_path} --json"))["table"] is None


HOSTILE = {
    "an unknown value": {"more": 1},
    "a long text": {"label": "x" * 10_000},
    "no text": {"code": ["x"]},
    "a truth value as a count": {"labelled_anomalies": True},
    "a negative count": {"labelled_anomalies": -1},
    "many values": {"anomaly_values": ["x"] * 10_000},
    "no hash": {"table": {"sha256": "x"}},
    "no date": {"date": "today"},
    "nested versions": {"versions": {"numpy": {}}},
    "an infinite metric": {"evaluation": {"metrics": {"AUC-PR": float("inf")}}},
}


@pytest.mark.parametrize("changes", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_origin_gives_one_sentence(folder, model_path, changes, capsys):
    with_origin(model_path, "other.model", **changes)
    assert run("info other.model") == 2
    error = capsys.readouterr().err
    assert (
        "its description of the origin is not valid" in error and error.count("\n") == 1 and len(error) < 300
    )


def test_an_origin_cannot_break_the_terminal(folder, model_path, capfd):
    with_origin(model_path, "other.model", label="\x1b[2J\nMethod  PReNet", code="\x07")
    text = shown(capfd, "info other.model")
    assert "\x1b" not in text and "\x07" not in text and text.count("\nMethod") == 0
    assert r"\x1b[2J\nMethod  PReNet" in text


def test_a_model_has_at_most_its_own_rows_labelled(folder, model_path, capsys):
    with_origin(model_path, "other.model", labelled_anomalies=601)
    assert run("info other.model") == 2
    assert "more labelled rows than rows" in capsys.readouterr().err


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
    save_model("again.model", after)  # nothing else has changed
    save_model("before.model", before)
    assert Path("again.model").read_bytes() == Path("before.model").read_bytes()
