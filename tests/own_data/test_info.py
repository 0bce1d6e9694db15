"""What a model file says about itself: recorded by fit, shown by info, never trusted."""

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from weakly.numbers import percent
from weakly.own_data.info_command import value_in_words
from weakly.own_data.model_files import read_about
from weakly.own_data.models import load_model, save_model
from weakly.paths import ROOT


def test_info_shows_what_fit_was_given(folder, run, capsys):
    assert run("fit events.csv --label fraud --anomaly-value 1 --method logistic-converged --model m") == 0
    capsys.readouterr()
    assert run("info m") == 0
    text, data = capsys.readouterr().out, Path("events.csv").read_bytes()
    for line in (
        r"Method +logistic regression \(logistic-converged\)",
        "Chosen +by its user, not by fit",
        "Labelled anomalies +30",
        f"Table +name: events.csv, bytes: {len(data)}, sha256: {hashlib.sha256(data).hexdigest()}",
        "  time +date +2024-01-01 to 2024-01-25, median 2024-01-13",
        r"  age +number +18 to 79, median 49, \d.*% missing",
        r"  country +category +DE \d+.*%, \(rare or new\) \d.*%, \d.*% missing",
        r"  member +truth +true \d\d(\.\d)?%, \d?.*",
    ):
        assert re.search(f"^{line}$", text, re.MULTILINE), line
    assert run("info m --json") == 0
    assert json.loads(capsys.readouterr().out)["origin"]["labelled_anomalies"] == 30


def test_info_shows_what_fit_compared_and_cannot_break_the_terminal(model_path, folder, run, capsys):
    model = load_model(model_path)
    rows = [{"method": "catboost", "auc_pr": 0.6115, "auc_roc": 0.9, "seconds": 2.0}]
    model.about["choice"] = {"why": "It ranked best.", "rows": rows}
    model.about["origin"] = {"label": "\x1b[2J\nMethod  PReNet", "code": "\x07"}
    save_model("chosen.model", model)
    assert run("info chosen.model") == 0
    text = capsys.readouterr().out
    assert "It ranked best. AUC-ROC: CatBoost (gradient-boosted trees) 0.900.\n" in text
    assert "\x1b" not in text and "\x07" not in text and text.count("\nMethod") == 0


def test_numbers_in_words():
    shares = (0, 0.0105, 0.00001, 0.12345, 0.9999, 1, float("nan"))
    assert [percent(share) for share in shares] == ["0%", "1.05%", "<0.01%", "12.3%", ">99.9%", "100%", "–"]
    values = (-1.5, 1234567.0, 0.1234567)
    assert [value_in_words(value) for value in values] == ["−1.5", "1,234,567", "0.123457"]


def test_nothing_slow_is_imported(model_path):
    code = """import sys, weakly; assert "numpy" not in sys.modules
import detect; detect.main(["info", sys.argv[1]]); assert "sklearn" not in sys.modules"""
    subprocess.run([sys.executable, "-c", code, model_path], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    "changes",
    [{"rows": "many"}, {"summary": {}}, {"origin": 3}, {"columns": {"a": 1}}, {"method": "\x1b[2J"}],
)
def test_a_forged_description_is_refused_in_one_sentence(model_path, folder, run, capfd, changes):
    with zipfile.ZipFile("forged.model", "w") as archive:
        archive.writestr("about.json", json.dumps(read_about(model_path) | changes))
    assert run("info forged.model") == 2
    error = capfd.readouterr().err
    assert error.count("\n") == 1 and "damaged" in error and "\x1b" not in error
