"""Rows unlike those of the training: what is told, and that nothing is told of rows that are alike."""

import json

import numpy as np
import pandas as pd
import pytest
from event_tables import events

from weakly.own_data.drift import Comparison, summarised

KINDS = {"amount": "number", "flag": "truth", "country": "category", "when": "date"}
COLUMNS = {name: {"kind": kind} for name, kind in KINDS.items()}


def rows(n=2000, seed=0, shift=0.0, unknown=0.0, missing=0.0):
    rng = np.random.default_rng(seed)
    amount = rng.normal(shift, 1, n)
    amount[rng.random(n) < missing] = np.nan
    country = rng.choice(["AT", "DE", "CH"], n, p=[0.6, 0.399, 0.001]).astype(object)
    country[rng.random(n) < unknown] = "ZZ"
    table = pd.DataFrame({"amount": amount, "flag": (rng.random(n) < 0.3).astype(float), "country": country})
    return table.assign(when=pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), "h"))


def compared(table, chunks=1, training=None):
    training = rows() if training is None else training
    summary = json.loads(json.dumps(summarised(training, COLUMNS)))
    comparison = Comparison(summary, COLUMNS)
    for part in np.array_split(np.arange(len(table)), chunks):
        comparison.add(table.iloc[part])
    return comparison


def test_rows_that_are_alike_say_nothing_and_neither_do_few():
    comparison = compared(rows(seed=1))
    assert comparison.in_words() == "" and comparison.changes()["distance"].max() < 0.08
    assert compared(rows(49, shift=9.0)).in_words() == ""


def test_distances_do_not_depend_on_chunks():
    table = rows(seed=1, shift=0.7, unknown=0.2)
    pd.testing.assert_frame_equal(compared(table).changes(), compared(table, 7).changes())


@pytest.mark.parametrize(
    "name, amount, words",
    [
        ("shift", 3.0, "amount (distance 0.87; 46% above the range, 0% before)"),  # 2 Phi(3/2) - 1 = 0.87
        ("unknown", 0.3, "country (distance 0.31; 31% rare or new, 0% before)"),
        ("missing", 0.3, "amount (distance 0.30; 29% missing, 0% before)"),
    ],
)
def test_changes_are_told_in_words(name, amount, words):
    told = compared(rows(5000, seed=1, **{name: amount})).in_words()
    assert told == f"DRIFT: these columns have changed: {words}. Scores may be less reliable."


def test_an_absurd_cell_among_the_training_rows_hides_no_shift():
    training = rows()
    training.loc[5, "amount"] = 1e12
    assert "amount (distance 0.3" in compared(rows(5000, seed=1, shift=1.0), training=training).in_words()


def test_shares_that_are_counted_by_hand():
    columns = {"x": {"kind": "number"}, "c": {"kind": "category"}}
    training = pd.DataFrame({"x": np.arange(21.0), "c": ["a"] * 12 + ["b"] * 8 + ["once"]})
    summary = summarised(training, columns)
    assert summary["x"]["quantiles"] == list(range(21))
    assert summary["c"]["shares"] == {"a": 12 / 21, "b": 8 / 21, "(rare or new)": 1 / 21}
    comparison = Comparison(summary, columns)
    comparison.add(pd.DataFrame({"x": [-1.0, 0.5, 30.0, np.nan], "c": ["a", "new", "once", np.nan]}))
    assert comparison.now("x")["quantiles"] == [-1.0, 30.0]
    shares = comparison.shares("x")["now"]
    below, above = "(below the range)", "(above the range)"
    assert shares[[below, "0", above, "(missing)"]].tolist() == [0.25] * 4 and shares.sum() == 1
    now = {"(missing)": 0.25, "(rare or new)": 0.5, "a": 0.25, "b": 0.0}
    assert comparison.now("c") == {"quantiles": [], "shares": now}
    changes = comparison.changes().loc[["x", "c"]]
    assert changes["unusual"].tolist() == pytest.approx([0.75, 0.75 - 1 / 21])
    assert changes.loc["c", "distance"] == pytest.approx(0.75 - 1 / 21)


def test_newer_dates_are_no_drift_but_missing_ones_are():
    later = rows(seed=1).assign(when=lambda table: table["when"] + pd.Timedelta(days=900))
    assert compared(later).in_words() == ""
    later.loc[:999, "when"] = pd.NaT
    assert "when (distance 0.50; 50% missing, 0% before)" in compared(later).in_words()


def test_a_column_of_one_value_and_one_without_values():
    columns = dict.fromkeys("xy", {"kind": "number"})
    table = pd.DataFrame({"x": [2.0] * 60, "y": [np.nan] * 60})
    comparison = Comparison(summarised(table, columns), columns)
    comparison.add(table)
    assert comparison.changes()["distance"].tolist() == [0, 0]
    comparison.add(table.assign(y=1.0))
    assert comparison.changes()["distance"].to_dict() == {"x": 0, "y": 0.5}


def test_score_tells_drift_and_counts_flags_over_all_rows(folder, run, model_path, capsys):
    command = f"score {{}} --model {model_path} --output scores.csv --top 3 --contamination 0.05"
    assert run(command.format("events.csv")) == 0
    shown = capsys.readouterr().out
    assert "of the 600 rows are flagged" in shown and "DRIFT" not in shown
    events().assign(country="nowhere").to_csv("new.csv", index=False)
    assert run(command.format("new.csv")) == 0
    assert "DRIFT: these columns have changed: country (distance" in capsys.readouterr().out
