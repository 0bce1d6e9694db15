"""fit chooses a method by a short comparison, if there are labels enough, and says so."""

import re

import numpy as np
import pandas as pd
from event_tables import COLUMNS, events, typed_events

from weakly.own_data import evaluate_command
from weakly.own_data.evaluate_command import DEFAULT, FEWEST_LABELS, choose_method


def chosen(n_labelled):
    """What is chosen for the table of events with so many labelled anomalies."""
    table = events()
    y = (table["fraud"] == "1").astype(int).to_numpy()
    y[np.flatnonzero(y)[n_labelled:]] = 0
    return choose_method(typed_events(table), COLUMNS, y, np.zeros(len(y), bool), 0)


def test_the_method_with_the_highest_auc_roc_is_taken(monkeypatch, capsys):
    """Only the line between two numbers tells the anomalies: a forest of so few labels sees less of it."""
    monkeypatch.setattr(evaluate_command, "CANDIDATES", ("random-forest", "logistic-converged"))
    X = np.random.default_rng(0).normal(size=(900, 6))
    y = (X.sum(axis=1) > 4.5).astype(int)
    table, columns = pd.DataFrame(X, columns=list("abcdef")), {name: {"kind": "number"} for name in "abcdef"}
    method, why = choose_method(table, columns, y, y == 0, 0)
    assert method == "logistic-converged" and "logistic regression has the highest AUC-ROC" in why
    assert re.search(r"AUC-ROC: random forest .* 0\.\d+, logistic regression .* 0\.\d+\.$", why)
    shown = " ".join(capsys.readouterr().out.split())
    assert "without a label" not in shown and "random forest" in shown and "--method names another" in shown


def test_the_comparison_is_bounded_and_the_same_each_time(monkeypatch, capsys):
    monkeypatch.setattr(evaluate_command, "MOST_OTHERS", 200)
    monkeypatch.setattr(evaluate_command, "CANDIDATES", ("logistic-converged",))
    assert chosen(20) == chosen(20)
    shown = " ".join(capsys.readouterr().out.split())
    assert "20 labelled anomalies and 200 of the 580 other rows; those without a label count as" in shown


def test_too_few_labels_are_said(capsys):
    method, why = chosen(FEWEST_LABELS - 1)
    assert method == DEFAULT and "too few to compare" in why
    assert f"{FEWEST_LABELS - 1} labelled anomalies are" in capsys.readouterr().out
