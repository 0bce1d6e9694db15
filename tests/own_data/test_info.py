"""What a model file says about itself: recorded by fit and evaluate, shown by info, checked on loading."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from event_tables import events, typed_events

from weakly.own_data.info_command import percent, value_in_words
from weakly.own_data.models import load_model, read_about, rewrite_about, save_model
from weakly.paths import ROOT

FIT = "fit events.csv --label fraud --method logistic-converged --model fraud.model"


@pytest.fixture
def shown(run, capfd):
    """A function that gives what a command writes."""

    def text(command):
        capfd.readouterr()
        assert run(command) == 0
        return capfd.readouterr().out

    return text


def test_info_tells_what_fit_was_given(folder, run, shown):
    os.utime("events.csv", (0, 1_700_000_000))
    assert run(f"{FIT} --anomaly-value 1") == 0
    text = shown("info fraud.model")
    data = Path("events.csv").read_bytes()
    for line in (
        "Method          logistic regression (logistic-converged)",
        "Chosen          by its user, not by fit",
        "Label           fraud; 1 marks an anomaly",
        f"Training table  events.csv, {len(data):,} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}",
        "Table changed   2023-11-14",
        "  time     date      2024-01-01 to 2024-01-25, median 2024-01-13",
    ):
        assert f"{line}\n" in text
    assert re.search(
        r"Fitted on +600 rows, 5 columns, \d+ features: 30 labelled anomalies, 570 unlabelled\n", text
    )
    assert re.search(r"\n  age      number    18 to 79, median 49, \d.*% missing\n", text)
    assert re.search(r"\n  country  category  DE \d+.*%, rare ones \d.*%, \d.*% missing\n", text)
    assert re.search(r"\n  member   truth     true \d\d(\.\d)?%, \d", text)
    found = json.loads(shown("info fraud.model --json"))
    assert (found["rows"], found["labelled_anomalies"], found["unlabelled"]) == (600, 30, 570)
    assert found["anomaly_values"] == ["1"] and found["settings"]["max_iter"] == 1_000
    assert found["columns"]["amount"]["kind"] == "number" and "numpy" in found["versions"]


def test_info_tells_what_fit_compared(model_path, folder, shown):
    model = load_model(model_path)
    rows = [{"method": "catboost", "auc_pr": 0.6115, "auc_roc": 0.9, "seconds": 2.0}]
    model.about["choice"] = {"why": "It ranked best.", "rows": rows}
    save_model("chosen.model", model)
    assert "It ranked best. AUC-PR: CatBoost (gradient-boosted trees) 0.612.\n" in shown("info chosen.model")


def test_numbers_in_words():
    shares = (0, 0.0105, 0.00001, 0.12345, 0.9999, 1, float("nan"))
    assert [percent(share) for share in shares] == ["0%", "1.05%", "<0.01%", "12.3%", ">99.9%", "100%", "–"]
    values = (-1.5, 1234567.0, 0.1234567)
    assert [value_in_words(value) for value in values] == ["−1.5", "1,234,567", "0.123457"]
    assert value_in_words(19_723.5, "date") == "2024-01-01"


def test_info_needs_no_scikit_learn(model_path):
    code = "import detect, sys; detect.main(['info', sys.argv[1]]); sys.exit('sklearn' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(model_path)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0 and done.stdout.startswith("Method"), done.stderr


@pytest.mark.parametrize(
    "changes",
    [{"rows": "many"}, {"summary": {}}, {"origin": 3}, {"columns": {"a": 1}}, {"method": "\x1b[2J"}],
)
def test_a_forged_description_is_refused_in_one_sentence(model_path, folder, run, capfd, changes):
    rewrite_about("forged.model", read_about(shutil.copy(model_path, "forged.model")) | changes)
    assert run("info forged.model") == 2
    error = capfd.readouterr().err
    assert error.count("\n") == 1 and "damaged" in error and "\x1b" not in error


def test_the_date_is_that_of_the_table_or_of_source_date_epoch(folder, run, monkeypatch):
    os.utime("events.csv", (0, 1_700_000_000))
    assert run(FIT) == 0 and load_model("fraud.model").about["origin"]["date"] == "2023-11-14"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert run(FIT) == 0 and load_model("fraud.model").about["origin"]["date"] == "1970-01-02"
    before = Path("fraud.model").read_bytes()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert run(FIT) == 2 and Path("fraud.model").read_bytes() == before


def test_a_file_without_an_origin_is_loaded_and_says_so(model_path, shown):
    text = shown(f"info {model_path}")  # save_model of a model that no command made
    assert "Label           not recorded\n" in text and "Training table  not recorded\n" in text
    assert json.loads(shown(f"info {model_path} --json"))["table"] is None


def test_an_origin_cannot_break_the_terminal(folder, model_path, shown):
    model = load_model(model_path)
    model.about["origin"] = {"label": "\x1b[2J\nMethod  PReNet", "code": "\x07"}
    save_model("other.model", model)
    text = shown("info other.model")
    assert "\x1b" not in text and "\x07" not in text and text.count("\nMethod") == 0
    assert r"\x1b[2J\nMethod  PReNet" in text


def test_an_evaluation_is_recorded_in_a_model(folder, run, shown, capfd):
    assert run(FIT) == 0
    known = events(1_000).assign(fraud=lambda table: table["fraud"].replace("", "0"))
    known.to_csv("known.csv", index=False)
    before = load_model("fraud.model")
    command = "evaluate known.csv --label fraud --n-labeled 15 --runs 2 --record fraud.model --method"
    assert run(f"{command} prenet") == 2
    assert "is a model of logistic" in capfd.readouterr().err and not Path("curves.png").exists()
    assert run(f"{command} logistic-converged") == 0
    found = json.loads(shown("info fraud.model --json"))["evaluation"]
    assert 0 < found["metrics"]["AUC-PR"] <= 1
    assert found["table"]["name"] == "known.csv" and found["runs"] == 2
    assert "mean of 2 runs on held-out rows of known.csv" in shown("info fraud.model")
    after = load_model("fraud.model")
    after.about["evaluation"] = None
    assert after.about == before.about  # nothing else has changed
    table = typed_events(events()).assign(time=np.datetime64("2024-01-01", "ns"))
    np.testing.assert_array_equal(after.scored(table), before.scored(table))
