"""Rows unlike those of the training: what is told, and that nothing is told of rows that are alike."""

import json

import numpy as np
import pandas as pd
import pytest
from event_tables import events

import detect
from weakly.own_data.drift import Comparison, summarised

COLUMNS = {
    "amount": {"kind": "number"},
    "flag": {"kind": "truth"},
    "country": {"kind": "category"},
    "when": {"kind": "date"},
}


def rows(n=2000, seed=0, shift=0.0, unknown=0.0, missing=0.0):
    rng = np.random.default_rng(seed)
    amount = rng.normal(shift, 1, n)
    amount[rng.random(n) < missing] = np.nan
    country = rng.choice(["AT", "DE", "CH"], n, p=[0.6, 0.399, 0.001]).astype(object)
    country[rng.random(n) < unknown] = "ZZ"
    flag, when = (
        (rng.random(n) < 0.3).astype(float),
        pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), "h"),
    )
    return pd.DataFrame({"amount": amount, "flag": flag, "country": country, "when": when})


def compared(table, chunks=1, training=None):
    training = rows() if training is None else training
    summary = json.loads(json.dumps(summarised(training, COLUMNS)))
    comparison = Comparison(summary, COLUMNS)
    for part in np.array_split(np.arange(len(table)), chunks):
        comparison.add(table.iloc[part])
    return comparison


def test_rows_that_are_alike_say_nothing():
    comparison = compared(rows(seed=1))
    assert comparison.in_words() == "" and comparison.changes()["distance"].max() < 0.08


def test_distances_do_not_depend_on_chunks():
    table = rows(seed=1, shift=0.7, unknown=0.2)
    pd.testing.assert_frame_equal(compared(table).changes(), compared(table, 7).changes())


def test_a_shift_has_the_distance_that_the_normal_distribution_gives():
    # the total variation between N(0, 1) and N(1, 1) is 2 Phi(1/2) - 1 = 0.383
    changes = compared(rows(20_000, seed=1, shift=1.0)).changes()
    assert changes.loc["amount", "distance"] == pytest.approx(0.383, abs=0.03)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"shift": 3.0}, "amount (distance 0.8"),
        ({"shift": 3.0}, "out of range"),
        ({"unknown": 0.3}, "% in unknown or rare levels)"),
        ({"missing": 0.4}, "amount (39% missing, 0% before)"),
    ],
)
def test_changes_are_told_in_words(change, words):
    assert words in compared(rows(5000, seed=1, **change)).in_words()


def test_an_absurd_cell_among_the_training_rows_hides_no_shift():
    training = rows()
    training.loc[5, "amount"] = 1e12
    assert "amount (distance 0.3" in compared(rows(5000, seed=1, shift=1.0), training=training).in_words()
    assert compared(rows(seed=1), training=training).in_words() == ""


def test_few_rows_say_nothing():
    assert compared(rows(49, shift=9.0)).in_words() == ""


def test_shares_that_are_counted_by_hand():
    columns = {"x": {"kind": "number"}, "c": {"kind": "category"}}
    training = pd.DataFrame({"x": np.arange(21.0), "c": ["a"] * 12 + ["b"] * 8 + ["once"]})
    summary = summarised(training, columns)
    assert summary["x"]["quantiles"] == pytest.approx(np.arange(21)) and summary["c"]["missing"] == 0
    assert summary["c"]["shares"] == {"a": 12 / 21, "b": 8 / 21, "": 1 / 21}
    comparison = Comparison(summary, columns)
    comparison.add(pd.DataFrame({"x": [-1.0, 0.5, 30.0, np.nan], "c": ["a", "new", "once", np.nan]}))
    assert comparison.ranges["x"] == (-1.0, 30.0)
    shares = comparison.shares("x")["now"]
    assert shares[[-1, 0, 20]].tolist() == [1 / 3] * 3 and shares.sum() == pytest.approx(1)
    assert comparison.shares("c")["now"].to_dict() == {"": 2 / 3, "a": 1 / 3, "b": 0.0}
    changes = comparison.changes()
    assert changes["beyond"].tolist() == pytest.approx([2 / 3, 2 / 3 - 1 / 21])
    assert changes["missing"].tolist() == [0.25, 0.25]


def test_newer_dates_are_no_drift_but_missing_ones_are():
    later = rows(seed=1).assign(when=lambda table: table["when"] + pd.Timedelta(days=900))
    assert compared(later).in_words() == ""
    later.loc[:999, "when"] = pd.NaT
    assert "when (50% missing, 0% before)" in compared(later).in_words()


def test_a_column_of_one_value_and_one_without_values():
    columns, table = (
        dict.fromkeys("xy", {"kind": "number"}),
        pd.DataFrame({"x": [2.0] * 60, "y": [np.nan] * 60}),
    )
    comparison = Comparison(summarised(table, columns), columns)
    comparison.add(table)
    comparison.add(table.assign(y=1.0))
    assert comparison.changes()[["distance", "beyond"]].max(axis=None) == 0


def test_score_tells_drift_and_counts_flags_over_all_rows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = events()
    table.to_csv("events.csv", index=False)
    assert detect.main("fit events.csv --label fraud --model m --method logistic-converged".split()) == 0
    capsys.readouterr()
    command = "score {} --model m --output scores.csv --top 3 --contamination 0.05"
    assert detect.main(command.format("events.csv").split()) == 0
    shown = capsys.readouterr().out
    assert (
        "30 of the 600 rows are flagged" in shown and "DRIFT" not in shown
    )  # 5% of them, of which 3 are written
    table.assign(amount=pd.to_numeric(table["amount"]) * 50, country="nowhere").to_csv("new.csv", index=False)
    assert detect.main(command.format("new.csv").split()) == 0
    shown = capsys.readouterr().out
    assert (
        "DRIFT: columns that differ from the training rows: " in shown
        and "country (distance" in shown
        and "amount (" in shown
    )
