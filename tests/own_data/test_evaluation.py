"""evaluate: several methods on the same splits, splits by time, and which method it recommends."""

import re

import numpy as np
import pandas as pd
import pytest
from event_tables import events

from weakly.errors import DataError
from weakly.own_data.evaluate_command import advice, times_of
from weakly.own_data.evaluation import hide_labels, interval, latest_rows
from weakly.own_data.tables import Notation

QUICK = "--methods random-forest,logistic-converged"


@pytest.fixture
def known(folder):
    """events.csv with all labels known; later rows are later."""
    table = events(500)
    table["fraud"] = (table["fraud"] == "1").astype(int)
    table.to_csv("known.csv", index=False)
    return folder


@pytest.fixture
def shown(capsys):
    """A function that gives what was printed since, without line breaks."""
    return lambda: " ".join(capsys.readouterr().out.split())


def test_methods_are_compared_in_one_table(known, run, capsys):
    assert run(f"evaluate known.csv --label fraud --n-labeled 10 --runs 2 {QUICK}") == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 96  # but for the two lines on columns, as wide as a terminal
    rows = r"^[01]\.\d{4} +[01]\.\d{4} .*? \d+\.\d +(\d)  (random forest|logistic regr)"
    expected = [(seed, method) for seed in "01" for method in ("random forest", "logistic regr")]
    assert re.findall(rows, out, re.MULTILINE) == expected
    assert re.search(r"^0\.0500   0\.5000 .* guessing$", out, re.MULTILINE)
    assert re.search(r"^(Take|No clear winner:) ", out, re.MULTILINE) and "over 2 runs" in " ".join(
        out.split()
    )


def test_tables_with_few_labels_are_measured_too(folder, run, shown):
    """Of 600 rows, 30 are labelled; the others count as normal, and evaluate says what that does."""
    assert run("evaluate events.csv --label fraud --method logistic-converged") == 0
    text = shown()
    assert "600 rows of events.csv: 30 anomalies." in text
    assert "The 570 rows without an anomaly label count as normal. If anomalies hide among them" in text
    assert "For training: 24 labelled anomalies" in text and "One run cannot tell how much" in text
    pd.read_csv("events.csv").iloc[:60].to_csv("few.csv", index=False)
    assert run("evaluate few.csv --label fraud") == 2


def test_without_a_method_the_candidates_of_fit_are_compared(known, run, shown, monkeypatch):
    monkeypatch.setattr("weakly.own_data.evaluate_command.CANDIDATES", ("random-forest", "xgboost-half"))
    assert run("evaluate known.csv --label fraud") == 0
    text = shown()
    assert "random forest" in text and "XGBoost" in text and "One run cannot tell methods apart" in text


def test_unknown_methods_are_refused_and_help_is_readable(known, run, capsys):
    for methods, message in (("prenet,magic", "unknown method 'magic'"), ("xgboost", "xgboost-half")):
        assert run(f"evaluate known.csv --label fraud --methods {methods}") == 2
        assert message in capsys.readouterr().err
    assert run("evaluate --help") == 0
    text = capsys.readouterr().out
    assert "--method A,B, --methods A,B" in text and "{prenet" not in text


def quality(**scores):
    rows = [(name, seed, value) for name, values in scores.items() for seed, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["method", "seed", "AUC-PR"])


def test_intervals_by_hand():
    """Of 1, 2, 3: s = 1, t = 4.303 with 2 degrees of freedom; the overlap adds to 1/3."""
    np.testing.assert_allclose(interval([1, 2, 3]), [2, 2 - 2.484, 2 + 2.484], atol=1e-3)
    np.testing.assert_allclose(interval([1, 2, 3], overlap=2 / 3), [2, 2 - 4.303, 2 + 4.303], atol=1e-3)


def test_advice_names_a_winner_only_if_every_difference_is_clear():
    a = np.array([0.50, 0.60, 0.40, 0.55])
    clear = advice(quality(xgbod=a - [0.1, 0.11, 0.1, 0.09], prenet=a), 0.25)
    assert clear.startswith("Take PReNet (--method prenet)") and "above XGBOD by 0.100 [0.0" in clear
    other = a + [0.1, -0.1, 0.1, -0.09]
    unclear = advice(quality(prenet=a, xgbod=other, devnet=a + [-0.2, -0.4, -0.2, -0.39]), 0.25)
    assert unclear.startswith("No clear winner: XGBOD (--method xgbod) has the highest")
    assert "PReNet by 0.003 [-" in unclear and "Clearly behind: DevNet by" in unclear
    assert not advice(quality(prenet=a), 0.25)


Y = (np.arange(1_000) % 10 == 0).astype(int)


def test_hidden_anomalies_have_the_share_of_the_test_rows():
    unlabeled, anomalies, test, left_out = hide_labels(Y, 20, seed=0)
    assert (Y[test].sum(), len(anomalies), Y[unlabeled].sum(), left_out) == (20, 20, 60, 0)
    unlabeled, _, _, left_out = hide_labels(Y, 20, seed=0, hidden_share=0.05)
    assert (Y[unlabeled].sum(), left_out) == (37, 23)  # 37 of 720 + 37 is just below 5%


@pytest.mark.parametrize("seed", [0, 1])
def test_a_split_by_time_trains_on_earlier_rows(seed):
    is_test = np.arange(1_000) >= 800
    y = np.where((np.arange(1_000) >= 800) & (np.arange(1_000) < 850), 1, Y)
    unlabeled, anomalies, test, left_out = hide_labels(y, 20, seed, 0.02, is_test)
    assert test.min() == 800 and max(unlabeled.max(), anomalies.max()) < 800
    assert not set(unlabeled) & set(anomalies) and y[anomalies].all() and len(anomalies) == 20
    assert (y[unlabeled].sum(), left_out) == (14, 46)
    with pytest.raises(DataError, match="both parts must have anomalies"):
        hide_labels((np.arange(1_000) < 100).astype(int), 20, seed, None, is_test)


def test_evaluate_by_time_says_what_it_does(known, run, shown, capsys):
    table = pd.read_csv("known.csv", dtype=str, keep_default_na=False)
    table.loc[:9, "time"] = ""
    table.sample(frac=1, random_state=0).to_csv("known.csv", index=False)
    options = "--label fraud --method logistic-converged --n-labeled 10 --runs 2"
    assert run(f"evaluate known.csv {options} --time time --drop time,age") == 0
    text = shown()
    assert "Left out: 10 rows without a time" in text
    assert "the test rows are the 20.0% with time from 2024-01-17 18:00:00 on. time is not a feature." in text
    assert "Held out: 98 rows" in text and "All runs have the same test rows" in text
    for column, message in (("nothing", "lacks the column nothing of --time"), ("fraud", "same column"),
                            ("country", "Column 'country' of --time holds texts")):  # fmt: skip
        assert run(f"evaluate known.csv {options} --time {column}") == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "cells, expected",
    [
        (["3", "1.5", np.nan, "-2"], [1.5, -2]),
        ([3.0, 1.5, np.nan, -2.0], [1.5, -2]),
        ([*range(30)], [0, 29]),  # elsewhere an id
        (["1970-01-01 00:01", "1970-01-02", " 1970-01-01T00:00:01Z"], [60e9, 1e9]),
        (["31.12.1969", "2.1.1970"], [-86_400e9]),
        (["13/01/1970", "01/01/1970", np.nan], [0]),
        (pd.to_datetime(["1970-01-13", "1970-01-01", None]), [0]),
    ],
)
def test_times_are_numbers_or_dates(cells, expected):
    """Dates are nanoseconds since 1970; a missing cell is NaN."""
    cells = pd.Series(cells) if not isinstance(cells[0], int) else pd.Series(cells, dtype=float)
    times = times_of(cells, "when", Notation())
    np.testing.assert_array_equal(np.isnan(times), cells.isna())
    assert set(expected) <= set(times)


@pytest.mark.parametrize(
    "cells, message",
    [
        (["01/02/2024", "03/04/2024"], "day and month cannot be told apart"),
        (["2024-01-01", "soon", "soon"], "'when' of --time holds texts"),
        (["Ulm", "Bern"] * 9, "'when' of --time holds texts such as 'Ulm'"),
        (["9:00", "10:00"], "'when' holds '9:00' instead of a number"),
    ],
)
def test_unclear_times_are_refused(cells, message):
    with pytest.raises(DataError, match=message):
        times_of(pd.Series(cells), "when", Notation())


def test_rows_of_one_time_stay_together():
    times = np.array([1.0, 2, 2, 2, 3, 3, 4, 4, 4, 4])
    np.testing.assert_array_equal(latest_rows(times, "when"), times >= 4)  # 40% is nearer than nothing
    for equal in (np.ones(9), np.array([])):
        with pytest.raises(DataError, match="same time in all rows"):
            latest_rows(equal, "when")
