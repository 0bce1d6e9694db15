"""The experiment `scaling`: averages and leads by hand, the rule for the default, the committed results."""

import pandas as pd
import pytest

from judging.scaling import averages, choice, leads

SCORES = {  # method: {scaling: AUC-PR on bac and thyroid}
    "prenet": {"prepared": (0.8, 0.4), "cut": (0.8, 0.8)},
    "devnet": {"prepared": (0.7, 0.5), "cut": (0.9, 0.8)},
    "xgbod": {"prepared": (0.9, 0.9)},
}


@pytest.fixture
def runs():
    rows = [
        {"method": method, "scaling": scaling, "dataset": dataset, "run": run, "auc_pr": value + off}
        for method, by_scaling in SCORES.items()
        for scaling, values in by_scaling.items()
        for dataset, value in zip(("bac", "thyroid"), values)
        for run, off in enumerate((-0.01, 0.01))
    ]
    return pd.DataFrame(rows)


def test_averages_by_hand(runs):
    table = averages(runs)
    assert table.loc["prenet", ["min-max", "cut"]].round(9).tolist() == [0.6, 0.8]
    assert table.loc["prenet", "cut, without thyroid"] == pytest.approx(0.8)
    assert pd.isna(table.loc["xgbod", "cut"])  # trees have one scaling


def test_leads_by_hand(runs):
    """Both methods have the scaling, trees their own."""
    table = leads(runs).set_index(["method", "scaling", "sets"])
    assert table.loc[("xgbod", "prepared", "all"), "mean"] == pytest.approx(-0.3)
    assert table.loc[("xgbod", "cut", "all"), "mean"] == pytest.approx(-0.1)
    assert table.loc[("devnet", "cut", "all"), "mean"] == pytest.approx(-0.05)
    assert table.loc[("devnet", "cut", "without thyroid"), "mean"] == pytest.approx(-0.1)


def test_the_rule_by_hand():
    table = pd.DataFrame(
        {"min-max": [0.5, 0.5], "standard": [0.9, 0.9], "cut": [0.44, 0.9], "ranks": [0.46, 0.6]}
    )
    assert choice(table)[0] == "ranks"  # standard can be ruined by one cell, cut loses too much on a set
    assert choice(table.assign(ranks=[0.43, 0.57]))[0] == "cut"  # both lose too much: the smaller loss
    assert choice(table)[1].round(2).to_dict() == {"min-max": 0, "standard": 0, "cut": 0.06, "ranks": 0.04}
    assert choice(table.assign(cut=[0.46, 0.92]))[0] == "cut"  # the higher mean
