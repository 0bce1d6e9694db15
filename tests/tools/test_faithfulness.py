"""Reasons are the right ones: the committed figures say so, and the command still makes such figures."""

from pathlib import Path

import pandas as pd
import pytest
from event_tables import events

from tools import faithfulness
from weakly.own_data.event_model import SAVED_METHODS

REFERENCE = Path(__file__).resolve().parent.parent.parent / "results" / "reference"


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = events()
    known.assign(fraud=(known["fraud"] == "1").astype(int)).to_csv("events.csv", index=False)
    return tmp_path


def test_committed_reasons_take_away_as_much_as_occlusion_can():
    found = pd.read_csv(REFERENCE / "faithfulness.csv")
    assert found["table"].nunique() == 3
    assert set(found["method"]) == set(SAVED_METHODS) - {"xgboost-shallow"}  # which is newer
    assert (found["ours"] >= 0.98 * found["occlusion"]).all() and (found["ours"] > 0).all()
    linear = found.dropna(subset="from_minimum")
    assert (linear["ours"] > linear["from_minimum"]).all() and len(linear) > 9
    # with fences, the smallest value of a skewed column is near its typical one; not so on creditcard
    creditcard = linear[linear["table"] == "creditcard.csv"]
    assert (creditcard["ours"] > 1.4 * creditcard["from_minimum"]).all() and len(creditcard) == 5


def test_the_command_adds_to_its_file(table, capsys):
    command = "events.csv --label fraud --n-labeled 9 --rows 10 --results-dir . --methods"
    for methods in ("logistic", "prenet,logistic"):
        assert faithfulness.main([*command.split(), methods]) == 0
    found = pd.read_csv("faithfulness.csv")
    assert sorted(found["method"]) == ["logistic", "prenet"] and (found["rows"] == 10).all()
    assert found[["from_minimum", "ours", "occlusion"]].notna().all(axis=None)


def test_a_bad_table_is_one_sentence(table, capsys):
    with pytest.raises(SystemExit) as error:
        faithfulness.main(["nowhere.csv", "--label", "fraud"])
    assert error.value.code == 2 and "nowhere.csv cannot be read" in capsys.readouterr().err
