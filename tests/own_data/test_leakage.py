"""Columns that give the label away and equal rows are named before a model is trusted."""

import numpy as np
import pandas as pd
import pytest
from event_tables import events

from weakly.own_data.leakage import suspicious_columns, warnings_about_rows

N_ROWS = 4_000
LEAKS = {  # what a warning says; kind and cells of a column that is filled in later
    "is M3 in": ("category", lambda rng, known: np.where(known, "M3", rng.choice(["M1", "M2"], len(known)))),
    "is not none in": ("category", lambda rng, known: np.where(known, rng.choice(["A", "B"],
        len(known)), "none")),
    "is 1 in": ("truth", lambda rng, known: known.astype(float)),
    "is 0.5 in": ("number", lambda rng, known: np.where(known, 0.5, rng.random(len(known)))),
    "is not empty in": ("number", lambda rng, known: np.where(known, rng.random(len(known)), np.nan)),
    "is 2024-05-01 00:00:00 in": ("date", lambda rng, known: np.where(known, "2024-05-01", "2023-01-01")),
}  # fmt: skip


def labelled(n_labelled, n_hidden, seed=0):
    """y (n,) with labelled anomalies, and whether each row is an anomaly, labelled or not."""
    rows = np.random.default_rng(seed).permutation(N_ROWS)
    y, is_anomaly = np.zeros(N_ROWS, int), np.zeros(N_ROWS, bool)
    y[rows[:n_labelled]], is_anomaly[rows[: n_labelled + n_hidden]] = 1, True
    return y, is_anomaly


@pytest.mark.parametrize("words", LEAKS)
@pytest.mark.parametrize("n_labelled, n_hidden", [(43, 430), (600, 0)])
def test_a_leak_is_named_however_many_anomalies_have_no_label(words, n_labelled, n_hidden):
    y, is_anomaly = labelled(n_labelled, n_hidden)
    kind, cells = LEAKS[words]
    column = pd.Series(cells(np.random.default_rng(1), is_anomaly), dtype=object)
    types = {"date": "datetime64[ns]", "category": str}
    column = column.astype(types.get(kind, float)).replace("nan", np.nan)
    wrong = np.flatnonzero(y)[: n_labelled // 30]  # a person makes mistakes
    column.iloc[wrong] = column[y == 0].iloc[0]
    (warning,) = suspicious_columns(pd.DataFrame({"m": column}), {"m": {"kind": kind}}, y == 1)
    held = f"{n_labelled - len(wrong)} of" if len(wrong) else "all"
    marked = f"only {n_hidden / (N_ROWS - n_labelled):.1%} of the other rows" if n_hidden else "no other row"
    assert f"in {held} {n_labelled} labelled anomalies and in {marked}" in warning
    assert words in warning
    assert "leave it out with --drop m" in warning


@pytest.mark.parametrize("n_labelled", [4, 5, 43])
def test_honest_columns_get_no_word(n_labelled):
    """A strong number, a flag of a third of the rows, a level of each row, levels that few rows have, a leak
    that four labels cannot show."""
    y, is_anomaly = labelled(n_labelled, 100)
    rng = np.random.default_rng(2)
    table = pd.DataFrame({
        "strong": rng.normal(size=N_ROWS) + 3 * is_anomaly,
        "flag": ((rng.random(N_ROWS) < 0.3) | is_anomaly).astype(float),
        "own": [f"level {number}" for number in range(N_ROWS)],
        "rare": [f"level {number}" for number in rng.integers(400, size=N_ROWS)],
        "leak": is_anomaly * (n_labelled < 5) * 1.0,
    })  # fmt: skip
    kinds = dict(strong="number", flag="truth", own="category", rare="category", leak="truth")
    assert suspicious_columns(table, {name: {"kind": kind} for name, kind in kinds.items()}, y == 1) == []


def test_few_labels_few_rows_and_equal_rows_get_a_word():
    table = pd.DataFrame({"x": [1.0, 2, np.nan, np.nan, 2, 2], "c": list("abccbx")})
    labels, rows, equal = warnings_about_rows(table, np.eye(6, dtype=int)[0])
    assert "only 1 labelled anomaly:" in labels and "only 6 rows" in rows
    assert "2 of 6 rows equal an earlier one" in equal
    for y in (np.arange(200) < 7, np.zeros(200)):
        assert [*warnings_about_rows(pd.DataFrame({"x": range(200)}), y)] == []


def test_fit_and_evaluate_name_leaks_with_an_option_to_copy(folder, run, capsys):
    table = events()
    table["attack_cat"] = np.where(table["fraud"] == "1", "card stolen", "none")
    table.to_csv("events.csv", index=False)
    options = "events.csv --label fraud --method logistic-converged"
    for command in (f"fit {options} --model m", f"evaluate {options} --n-labeled 9 --runs 1"):
        assert run(command) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "'attack_cat' is card stolen in all 30 labelled anomalies and in no other row" in shown
        assert "leave it out with --drop attack_cat." in shown
