"""Rows unlike those of the training: what is reported, and that nothing is of rows that are alike."""

import json

import numpy as np
import pandas as pd
import pytest
from event_tables import events

from weakly.own_data.drift import Comparison, summarised

KINDS = {"amount": "number", "flag": "truth", "country": "category", "when": "date"}
COLUMNS = {name: {"kind": kind} for name, kind in KINDS.items()}
N_ROWS = 5_000


def rows(seed=0, n=N_ROWS):
    rng = np.random.default_rng(seed)
    table = {
        "amount": rng.normal(size=n),
        "flag": (rng.random(n) < 0.3).astype(float),
        "country": rng.choice(["AT", "DE", "CH"], n, p=[0.6, 0.399, 0.001]).astype(object),
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), "h"),
    }
    return pd.DataFrame(table)


def compared(table, training=None, columns=COLUMNS, chunks=1):
    summary = json.loads(json.dumps(summarised(rows() if training is None else training, columns)))
    comparison = Comparison(summary, columns)
    for part in np.array_split(np.arange(len(table)), chunks):
        comparison.add(table.iloc[part])
    return comparison


def changed(part, **cells):
    """Rows with other cells in this part of them."""
    table = rows(seed=1)
    table.loc[: int(part * N_ROWS) - 1, list(cells)] = [*cells.values()]
    return table


@pytest.mark.parametrize(
    "table, words",
    [
        (changed(0), ""),
        (rows(n=49).assign(amount=9.0), ""),  # few rows say nothing
        (rows(1).assign(when=lambda table: table["when"] + pd.Timedelta(days=900)), ""),  # new rows are newer
        # 2 Phi(3/2) - 1
        (rows(1).assign(amount=lambda table: table["amount"] + 3), "amount (distance 0.86; 39% above"),
        (changed(0.3, country="ZZ"), "country (distance 0.30; 30% rare or new, 0% before)"),
        (changed(0.5, flag=1.0), "flag (distance 0.35)"),
    ],
)
def test_what_has_changed_is_reported_however_the_rows_come(table, words):
    shown = compared(table).in_words()
    assert words in shown and shown.count("(distance") == shown.count("DRIFT: ") == bool(words)
    pd.testing.assert_frame_equal(compared(table).changes(), compared(table, chunks=7).changes())


def test_shares_that_are_counted_by_hand():
    columns = {"x": {"kind": "number"}, "c": {"kind": "category"}, "one": {"kind": "number"}}
    training = pd.DataFrame({"x": np.arange(21.0), "c": ["a"] * 12 + ["b"] * 8 + ["once"], "one": 2.0})
    summary = summarised(training, columns)
    assert summary["x"]["edges"] == list(range(21)) and summary["x"]["words"] == "0 to 20, median 10"
    assert summary["c"]["shares"] == {"a": 12 / 21, "b": 8 / 21, "(rare or new)": 1 / 21}
    new = {"x": [-1.0, 0.5, 30.0, np.nan], "c": ["a", "new", "once", np.nan], "one": [2.0, 2, np.nan, np.nan]}
    comparison = compared(pd.DataFrame(new), training, columns)
    changes = comparison.changes().loc[["x", "c", "one"]]
    assert changes["unusual"].tolist() == pytest.approx([0.75, 0.75 - 1 / 21, 0.5])
    assert changes["words"].tolist() == [
        "25% below the range, 0% before; 25% above the range, 0% before; 25% missing, 0% before",
        "50% rare or new, 5% before; 25% missing, 0% before",
        "50% missing, 0% before",
    ]
    assert changes["distance"].tolist()[1:] == pytest.approx([0.75 - 1 / 21, 0.5])


def test_score_reports_drift(folder, run, model_path, capsys):
    events().assign(country="nowhere").to_csv("new.csv", index=False)
    for table in ("events.csv", "new.csv"):
        assert run(f"score {table} --model {model_path}") == 0
        shown = capsys.readouterr().out
        assert ("DRIFT: these columns have changed: country (distance" in shown) == (table == "new.csv")
