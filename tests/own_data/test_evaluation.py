"""evaluate: several methods on the same splits, and which method it recommends."""

import re

import numpy as np
import pandas as pd
import pytest
from event_tables import events

from weakly.own_data.evaluate_command import hide_labels, interval, print_summary


@pytest.fixture
def shown(capsys):
    """A function that gives what was printed since, without line breaks."""
    return lambda: " ".join(capsys.readouterr().out.split())


def test_methods_are_compared_in_one_table(folder, run, capsys, monkeypatch):
    monkeypatch.setattr(
        "weakly.own_data.evaluate_command.CANDIDATES", ("random-forest", "logistic-converged")
    )
    table = events(500)
    table.assign(fraud=table["fraud"].replace("", "0")).to_csv("known.csv", index=False)
    assert run("evaluate known.csv --label fraud --n-labeled 10 --runs 2") == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 96  # but for the two lines on columns, as wide as a terminal
    rows = r"^ *[01]\.\d{4} +\d\.\d{4} .* [01]\.\d{4} +\d+\.\d  (random forest|logistic regr)"
    assert re.findall(rows, out, re.MULTILINE) == ["random forest", "logistic regr"]
    assert "guessing has AUC-PR 0.0500" in out.replace("\n", " ") and "over 2 runs" in out
    assert re.search(r"^(Take|No clear winner:) ", out, re.MULTILINE)


def test_tables_with_few_labels_are_measured_too(folder, run, shown):
    """Of 600 rows, 30 are labelled; the others count as normal, and evaluate says what that does."""
    assert run("evaluate events.csv --label fraud --method logistic-converged") == 0
    text = shown()
    assert "600 rows of events.csv: 30 labelled anomalies, 0 known normal, 570 unlabelled." in text
    assert "All rows without an anomaly label count as normal. If anomalies hide among them" in text
    assert "For training: 24 labelled anomalies" in text and "One run says little" in text
    pd.read_csv("events.csv").iloc[:60].to_csv("few.csv", index=False)
    assert run("evaluate few.csv --label fraud") == 2


def test_intervals_by_hand():
    """Of 1, 2, 3: s = 1, t = 4.303 with 2 degrees of freedom; n is 3, and the test rows add 1/4."""
    np.testing.assert_allclose(interval([1, 2, 3]), [2, 4.303 * (1 / 3 + 1 / 4) ** 0.5], atol=1e-3)
    assert interval([1, 2, 3], n_intervals=4)[1] > interval([1, 2, 3])[1]


def quality(**scores):
    rows = [(name, seed, n, n, 1.0) for name, values in scores.items() for seed, n in enumerate(values)]
    return pd.DataFrame(rows, columns=["method", "seed", "AUC-PR", "AUC-ROC", "seconds"])


def test_a_winner_is_named_only_if_every_lead_is_clear(shown):
    a = np.array([0.50, 0.60, 0.40, 0.55])
    print_summary(quality(xgbod=a - [0.1, 0.11, 0.1, 0.09], prenet=a))
    assert "Take PReNet (--method prenet): its AUC-PR is clearly the highest." in (text := shown())
    assert re.search(r"0\.4125 0\.\d{4} 0\.1000 0\.0\d{3} .* XGBOD", text)
    other = a + [0.1, -0.1, 0.1, -0.09]
    print_summary(quality(prenet=a, xgbod=other, devnet=a + [-0.2, -0.4, -0.2, -0.39]))
    assert "No clear winner: the lead of XGBOD (--method xgbod) over PReNet may be chance." in shown()
    print_summary(quality(prenet=a))
    assert "Take" not in shown()


@pytest.mark.parametrize("share, hidden", [(None, 60), (0.05, 37)])
def test_hidden_anomalies_have_the_share_of_the_test_rows_or_the_given_one(share, hidden):
    y = (np.arange(1_000) % 10 == 0).astype(int)
    train, is_labelled, test = hide_labels(y, 20, 0, share)  # 37 of 720 + 37 is just below 5%
    assert [y[test].sum(), y[train][is_labelled == 1].sum(), y[train][is_labelled == 0].sum()] == [
        20,
        20,
        hidden,
    ]
