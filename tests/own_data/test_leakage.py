"""Columns that give the label away, and ids, are named before a model is trusted."""

import numpy as np
import pandas as pd
import pytest
from event_tables import events

import detect
from weakly.own_data.leakage import looks_like_id, single_column_auc, suspicious_columns


def leaking():
    """The table of events with a column that is written when a fraud is known, and one that nearly is."""
    table = events()
    is_fraud = table["fraud"] == "1"
    table["attack_cat"] = np.where(is_fraud, "card stolen", "none")
    table["refund"] = np.where(is_fraud, "0.5", "0")
    table["fraud"] = is_fraud.astype(int)
    return table


def test_copies_of_the_label_are_named_with_an_option_to_copy(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    leaking().to_csv("events.csv", index=False)
    options = "events.csv --label fraud --method logistic"
    for command in (f"fit {options} --model m", f"evaluate {options} --n-labeled 9"):
        assert detect.main(command.split()) == 0
        shown = capsys.readouterr().out
        for name in ("attack_cat", "refund"):
            assert f"column '{name}' alone separates the labelled anomalies" in shown
            assert f"--drop {name}" in shown
    assert detect.main(f"fit {options} --model m --drop attack_cat,refund".split()) == 0
    shown = capsys.readouterr().out
    assert "attack_cat" not in shown and "refund" not in shown


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_separates_in_either_direction(sign):
    cells, y = pd.Series([float(sign * value) for value in range(20)]), np.repeat([0, 1], [15, 5])
    assert single_column_auc(cells, "number", y) == 1
    assert single_column_auc(cells, "number", np.tile([0, 1], 10)) == pytest.approx(0.55)


def test_missing_cells_separate_too():
    y = np.repeat([0, 1], [15, 5])
    assert single_column_auc(pd.Series([*range(15), *[np.nan] * 5]), "number", y) == 1
    assert single_column_auc(pd.Series([*[np.nan] * 15, 0, 1, 0, 1, 0]), "boolean", y) == 1


def test_rare_levels_do_not_separate_by_being_rare():
    """Every row has a level of its own: that is no knowledge about the label."""
    cells, y = pd.Series([f"level {number}" for number in range(300)]), np.repeat([0, 1], [290, 10])
    assert single_column_auc(cells, "category", y) == 0.5


def test_ids_are_named_and_amounts_are_not():
    rng = np.random.default_rng(0)
    ids = pd.Series(rng.permutation(10**6)[:500]).astype(float)
    assert looks_like_id(ids) and not looks_like_id(pd.Series(rng.integers(100, size=500)).astype(float))
    assert not looks_like_id(pd.Series(rng.random(500)))
    (warning,) = suspicious_columns(
        pd.DataFrame({"customer": ids}), {"customer": "number"}, rng.integers(2, size=500)
    )
    assert "like an id" in warning and "--drop customer" in warning
