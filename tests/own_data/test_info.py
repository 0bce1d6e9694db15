"""What a model file says about itself: recorded by fit, shown by info, never trusted."""

import hashlib
import re
from pathlib import Path

from weakly.own_data.models import load_model, save_model


def test_info_shows_what_fit_was_given(folder, run, capsys):
    assert run("fit events.csv --label fraud --anomaly-value 1 --method logistic-converged --model m") == 0
    capsys.readouterr()
    assert run("info m") == 0
    text, data = capsys.readouterr().out, Path("events.csv").read_bytes()
    for line in (
        r"Method +logistic regression \(linear\): --method logistic-converged",
        "Chosen +by its user, not by fit",
        "Labelled anomalies +30",
        f"Table +name: events.csv, bytes: {len(data)}, sha256: {hashlib.sha256(data).hexdigest()}",
        "  time +date +2024-01-01 to 2024-01-25, median 2024-01-13",
        r"  age +number +18 to 79, median 49, \(missing\) \d.*%",
        r"  country +category +DE \d+.*%, \(rare or new\) \d.*%",
        r"  member +truth +true \d\d(\.\d)?%, \d?.*",
    ):
        assert re.search(f"^{line}$", text, re.MULTILINE), line


def test_info_shows_what_fit_compared_and_cannot_break_the_terminal(model_path, folder, run, capsys):
    model = load_model(model_path)
    model.about["choice"] = "It ranked best. AUC-ROC: CatBoost (trees) 0.900."
    model.about["origin"] = {"label": "\x1b[2J\nMethod  PReNet", "code": "\x07"}
    save_model("chosen.model", model)
    assert run("info chosen.model") == 0
    text = capsys.readouterr().out
    assert "It ranked best. AUC-ROC: CatBoost (trees) 0.900.\n" in text
    assert "\x1b" not in text and "\x07" not in text and text.count("\nMethod") == 0
