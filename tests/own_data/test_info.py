"""What a model file says about itself: recorded by fit and evaluate, shown by info, checked on loading."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from weakly.numbers import percent
from weakly.own_data.info_command import value_in_words
from weakly.own_data.model_files import read_about, rewrite_about
from weakly.own_data.models import load_model, save_model
from weakly.paths import ROOT

FIT = "fit events.csv --label fraud --method logistic-converged --model fraud.model"


@pytest.fixture
def shown(run):
    """A function that gives what info writes."""

    def text(command):
        assert run(f"{command} --output shown.txt") == 0
        return Path("shown.txt").read_text(encoding="utf-8")

    return text


def test_info_tells_what_fit_was_given(folder, run, shown):
    os.utime("events.csv", (0, 1_700_000_000))
    assert run(f"{FIT} --anomaly-value 1") == 0
    text = shown("info fraud.model")
    data = Path("events.csv").read_bytes()
    for line in (
        r"Method +logistic regression \(logistic-converged\)",
        "Chosen +by its user, not by fit",
        "Rows +600",
        "Label +fraud",
        "Anomaly values +1",
        "Labelled anomalies +30",
        f"Table +name: events.csv, bytes: {len(data)}, sha256: {hashlib.sha256(data).hexdigest()}",
        "Date +2023-11-14",
        "  time +date +2024-01-01 to 2024-01-25, median 2024-01-13",
        r"  age +number +18 to 79, median 49, \d.*% missing",
        r"  country +category +DE \d+.*%, \(rare or new\) \d.*%, \d.*% missing",
        r"  member +truth +true \d\d(\.\d)?%, \d?.*",
    ):
        assert re.search(f"^{line}$", text, re.MULTILINE), line
    found = json.loads(shown("info fraud.model --json"))
    assert found["rows"] == 600 and found["origin"]["labelled_anomalies"] == 30
    assert found["settings"]["max_iter"] == 1_000 and found["columns"]["amount"]["kind"] == "number"


def test_info_tells_what_fit_compared_and_cannot_break_the_terminal(model_path, folder, shown):
    model = load_model(model_path)
    rows = [{"method": "catboost", "auc_pr": 0.6115, "auc_roc": 0.9, "seconds": 2.0}]
    model.about["choice"] = {"why": "It ranked best.", "rows": rows}
    model.about["origin"] = {"label": "\x1b[2J\nMethod  PReNet", "code": "\x07"}
    save_model("chosen.model", model)
    text = shown("info chosen.model")
    assert "It ranked best. AUC-ROC: CatBoost (gradient-boosted trees) 0.900.\n" in text
    assert "\x1b" not in text and "\x07" not in text and text.count("\nMethod") == 0
    assert r"\x1b[2J\nMethod  PReNet" in text and "Table               not recorded\n" in text


def test_numbers_in_words():
    shares = (0, 0.0105, 0.00001, 0.12345, 0.9999, 1, float("nan"))
    assert [percent(share) for share in shares] == ["0%", "1.05%", "<0.01%", "12.3%", ">99.9%", "100%", "–"]
    values = (-1.5, 1234567.0, 0.1234567)
    assert [value_in_words(value) for value in values] == ["−1.5", "1,234,567", "0.123457"]
    assert value_in_words(19_723.5, "date") == "2024-01-01"


def test_info_needs_no_scikit_learn(model_path):
    code = "import detect, sys; detect.main(['info', sys.argv[1]]); sys.exit('sklearn' in sys.modules)"
    subprocess.run([sys.executable, "-c", code, model_path], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    "changes",
    [{"rows": "many"}, {"summary": {}}, {"origin": 3}, {"columns": {"a": 1}}, {"method": "\x1b[2J"}],
)
def test_a_forged_description_is_refused_in_one_sentence(model_path, folder, run, capfd, changes):
    rewrite_about("forged.model", read_about(shutil.copy(model_path, "forged.model")) | changes)
    assert run("info forged.model") == 2
    error = capfd.readouterr().err
    assert error.count("\n") == 1 and "damaged" in error and "\x1b" not in error


def test_the_date_is_that_of_source_date_epoch(folder, run, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert run(FIT) == 0 and read_about("fraud.model")["origin"]["date"] == "1970-01-02"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    assert run(FIT) == 2


def test_an_evaluation_is_shown(folder, model_path, shown):
    found = {"table": {"name": "known.csv"}, "metrics": {"AUC-PR": 0.51234}, "runs": 2}
    rewrite_about("known.model", read_about(shutil.copy(model_path, "known.model")) | {"evaluation": found})
    assert "table: name: known.csv, metrics: AUC-PR: 0.5123, runs: 2\n" in shown("info known.model")
