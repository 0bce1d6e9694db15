"""evaluate: several methods on the same splits, splits by time, and which method it recommends."""

import re

import numpy as np
import pandas as pd
import pytest
from event_tables import events

import detect
from weakly.errors import DataError
from weakly.own_data.choosing import advice, interval
from weakly.own_data.evaluation import hide_labels
from weakly.own_data.leakage import single_column_auc
from weakly.own_data.time_order import latest_rows, times_of


@pytest.fixture
def known(folder):
    """events.csv with all labels known; later rows are later."""
    table = events(500)
    table["fraud"] = (table["fraud"] == "1").astype(int)
    table.to_csv("known.csv", index=False)
    return folder


def run(command):
    try:
        return detect.main(command.split())
    except SystemExit as stop:
        return stop.code


def test_methods_are_compared_in_one_table(known, capsys):
    options = "--label fraud --n-labeled 10 --runs 2 --calibrate platt"
    assert run(f"evaluate known.csv {options} --methods logistic,logistic-converged") == 0
    shown = capsys.readouterr().out
    lines = re.findall(
        r"^(logistic|logistic-converged) +(\d) +[01]\.\d{4}|^(guessing) +0\.5000  0\.0500", shown, re.M
    )
    assert [line[:2] for line in lines[1:]] == [
        (method, str(seed)) for seed in range(2) for method in ("logistic", "logistic-converged")
    ]
    assert re.search(r"(Take|No clear winner:) .*over 2 runs", shown)
    assert "scaled  calibrated  base rate" in shown
    assert (known / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_one_run_tells_little_and_says_so(known, capsys):
    assert run("evaluate known.csv --label fraud --methods logistic,logistic-converged") == 0
    assert "One run cannot tell methods apart" in capsys.readouterr().out
    assert run("evaluate known.csv --label fraud --methods logistic,magic") == 2
    assert "unknown method 'magic'" in capsys.readouterr().err


def test_a_forest_without_labels_can_be_compared_but_not_fitted(known, capsys):
    assert run("evaluate known.csv --label fraud --methods logistic,iforest") == 0
    shown = capsys.readouterr().out
    assert re.search(r"^iforest +0 +[01]\.\d{4}", shown, re.M) and "iforest uses no labels" in shown
    assert run("fit known.csv --label fraud --method iforest --model m") == 2
    assert run("fit known.csv --label fraud --methods prenet,xgboost --model m") == 2
    assert (
        "unrecognized arguments: --methods prenet,xgboost; did you mean --method?" in capsys.readouterr().err
    )


def quality(**scores):
    rows = [(name, seed, value) for name, values in scores.items() for seed, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["method", "seed", "AUC-PR"])


def test_intervals_by_hand():
    """Of 1, 2, 3: s = 1, t = 4.303 with 2 degrees of freedom; the overlap adds to 1/3."""
    np.testing.assert_allclose(interval([1, 2, 3]), [2, 2 - 2.484, 2 + 2.484], atol=1e-3)
    np.testing.assert_allclose(interval([1, 2, 3], overlap=2 / 3), [2, 2 - 4.303, 2 + 4.303], atol=1e-3)


def test_advice_names_a_winner_only_if_every_difference_is_clear():
    a = np.array([0.50, 0.60, 0.40, 0.55])
    (clear,) = advice(quality(b=a - [0.1, 0.11, 0.1, 0.09], a=a), 0.25)
    assert clear.startswith("Take a:") and "0.100 [0.0" in clear
    told = advice(quality(a=a, b=a + [0.1, -0.1, 0.1, -0.09], c=a - 0.3), 0.25)
    assert told[0].startswith("No clear winner: b and a differ by 0.003 [-")
    assert "behind b: c by" in told[1] or "c differ" in told[0]


def test_hidden_anomalies_have_the_share_of_the_test_rows():
    y = (np.arange(1_000) % 10 == 0).astype(int)
    unlabeled, anomalies, test, left_out = hide_labels(y, 20, seed=0)
    assert (y[test].sum(), len(anomalies), y[unlabeled].sum(), left_out) == (20, 20, 60, 0)
    unlabeled, _, _, left_out = hide_labels(y, 20, seed=0, hidden_share=0.05)
    assert (y[unlabeled].sum(), left_out) == (37, 23)  # 37 of 720 + 37 is just below 5%


def test_a_split_by_time_trains_on_earlier_rows():
    y = (np.arange(1_000) % 10 == 0).astype(int)
    y[800:850] = 1
    is_test = np.arange(1_000) >= 800
    for seed in (0, 1):
        unlabeled, anomalies, test, left_out = hide_labels(y, 20, seed, 0.02, is_test)
        assert test.min() == 800 and max(unlabeled.max(), anomalies.max()) < 800
        assert not set(unlabeled) & set(anomalies) and y[anomalies].all() and len(anomalies) == 20
        assert (y[unlabeled].sum(), left_out) == (14, 46)
    with pytest.raises(DataError, match="both parts must have anomalies"):
        hide_labels((np.arange(1_000) < 100).astype(int), 20, 0, None, is_test)


def test_evaluate_by_time_says_what_it_does(known, capsys):
    table = pd.read_csv("known.csv", dtype=str, keep_default_na=False)
    table.loc[:9, "time"] = ""
    table.sample(frac=1, random_state=0).to_csv("known.csv", index=False)
    options = "--label fraud --method logistic --n-labeled 10 --runs 2"
    assert run(f"evaluate known.csv {options} --time time") == 0
    shown = capsys.readouterr().out
    assert "Left out: 10 rows without a time" in shown
    assert (
        "the test rows are the 20.0% with time from 2024-01-17 18:00:00 on. time is not a feature." in shown
    )
    assert "Held out: 98 rows" in shown and "All runs have the same test rows" in shown
    for column, message in (("nothing", "lacks the column nothing of --time"), ("fraud", "same column"),
                            ("country", "must be numbers, or dates")):  # fmt: skip
        assert run(f"evaluate known.csv {options} --time {column}") == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "cells, expected",
    [
        (["3", "1.5", "", "-2"], [3, 1.5, np.nan, -2]),
        (["1970-01-01 00:01", "1970-01-02", " 1970-01-01T00:00:01Z"], [60, 86_400, 1]),
        (["31.12.1969", "2.1.1970"], [-86_400, 86_400]),
        (["13/01/1970", "01/01/1970"], [12 * 86_400, 0]),
        (["01/13/1970", "01/01/1970"], [12 * 86_400, 0]),
    ],
)
def test_times_are_numbers_or_dates(cells, expected):
    np.testing.assert_array_equal(times_of(pd.Series(cells), "when"), expected)


@pytest.mark.parametrize(
    "cells, message",
    [
        (["01/02/2024", "03/04/2024"], "day and month cannot be told apart"),
        (["2024-01-01", "soon"], "Row 2: column 'when' of --time holds 'soon'"),
        (["", "NA"], "is empty"),
        (["1", "inf"], "infinite"),
    ],
)
def test_unclear_times_are_refused(cells, message):
    with pytest.raises(DataError, match=message):
        times_of(pd.Series(cells), "when")


def test_rows_of_one_time_stay_together():
    times = np.array([1.0, 2, 2, 2, 3, 3, 4, 4, 4, 4])
    np.testing.assert_array_equal(latest_rows(times, "when"), times >= 4)  # 40% is nearer than nothing
    with pytest.raises(DataError, match="same time in all rows"):
        latest_rows(np.ones(9), "when")


def test_the_area_of_a_single_column_is_that_of_scikit_learn():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    values, y = rng.integers(30, size=400) / 7, rng.integers(2, size=400)
    area = roc_auc_score(y, values)
    assert single_column_auc(pd.Series(values), "number", y) == pytest.approx(max(area, 1 - area), abs=1e-12)


@pytest.mark.parametrize("last", ["4.25", "", "abc", "inf", '"5"', " 6 ", "1,7"])
def test_reading_numbers_as_such_changes_nothing(folder, last):
    """Whatever the last cell of a column of numbers is, it is as if the table had been read as text."""
    from argparse import Namespace

    from weakly.own_data.column_kinds import choose_columns, typed_columns
    from weakly.own_data.labelled_tables import labeled_numbers, labeled_rows

    rows = [f"{number / 7!r},{number % 3},{'ab'[number % 2]},{number % 2}" for number in range(99)]
    (folder / "t.csv").write_text("\n".join(["x,n,c,y", *rows, f"{last},2,a,1"]) + "\n")
    names = ["table", "header", "encoding", "decimal", "label", "drop", "anomaly_value", "normal_value"]
    args = Namespace(**dict.fromkeys(names), time=None)
    args.table, args.encoding, args.label, args.drop = "t.csv", "utf-8", "y", []
    results = []
    for read in (labeled_numbers, lambda args, target: labeled_rows(args, target, all_known=True)):
        try:
            table, texts, y = read(args, "curves.png")
            kinds = choose_columns(texts, "t.csv")
            results.append((kinds, typed_columns(texts, kinds).to_dict("list"), y.tolist()))
        except DataError as error:
            results.append(str(error))
    assert str(results[0]) == str(results[1])
    assert not isinstance(results[0], str) or last in ("abc", "inf", "1,7")
