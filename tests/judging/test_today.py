"""What one would use today: means, losses and paired differences by hand; critical differences of ranks."""

import numpy as np
import pandas as pd
import pytest

from weakly.beyond import today
from weakly.beyond.today import average_auc_pr, losses, mean_auc_pr, paired_leads
from weakly.judging.ranks import cliques, nemenyi_critical_difference

# AUC-PR of (method, data set) with 5 labels; with 10 it is 0.1 more for all but PReNet
MEANS = {
    "prenet": {"census": 0.8, "campaign": 0.6, "thyroid": 0.7},
    "catboost": {"census": 0.6, "campaign": 0.6, "thyroid": 0.2},
    "rosas": {"census": 0.7, "campaign": 0.1, "thyroid": 0.8},
    "repen": {"census": 0.9},
}


def made_runs(budgets=(5, 10), draws=(-0.02, 0.02)):
    """Two runs per cell, 0.02 below and above its mean."""
    rows = [
        {"method": method, "dataset": dataset, "n_labeled": n_labeled, "run": run, "auc_pr": mean + draw}
        for n_labeled in budgets
        for method, by_set in MEANS.items()
        for dataset, value in by_set.items()
        for mean in [value + 0.1 * (n_labeled == 10 and method != "prenet")]
        for run, draw in enumerate(draws)
    ]
    return pd.DataFrame(rows)


def test_means_and_averages_by_hand():
    """In the order of the project; an average is over all data sets, or missing."""
    means = mean_auc_pr(made_runs()).loc[5]
    assert list(means) == ["prenet", "repen", "catboost", "rosas"]
    assert means.loc["thyroid", "rosas"] == pytest.approx(0.8) and np.isnan(means.loc["thyroid", "repen"])
    average = average_auc_pr(made_runs())
    assert average.loc["prenet", 5] == pytest.approx(0.7)
    assert average.loc["rosas", 10] == pytest.approx((0.8 + 0.2 + 0.9) / 3)
    assert "repen" not in average.index


def test_methods_are_compared_on_the_draws_that_all_of_them_have(monkeypatch):
    """CatBoost has draws 0 to 2 only, on which all methods are better; RoSAS has two, too few."""
    monkeypatch.setattr("weakly.beyond.today.FEWEST_DRAWS", 3)
    runs = made_runs(budgets=(5,), draws=(0.06, 0.05, 0.04, -0.05, -0.10))
    runs = runs[(runs["method"] != "catboost") | (runs["run"] < 3)]
    runs = runs[(runs["method"] != "rosas") | (runs["run"] < 2)]
    kept = today.compared(runs)
    assert set(kept["run"]) == {0, 1, 2} and set(kept["method"]) == {"prenet", "catboost", "repen"}
    average = average_auc_pr(runs)[5]
    assert average.to_dict() == pytest.approx({"prenet": 0.75, "catboost": 0.4 + 0.2 / 3 + 0.05})
    assert set(losses(runs)) == {"prenet", "catboost"}


@pytest.mark.parametrize("distance, expected", [
    (1.5, [["a", "b"], ["b", "c"]]), (2.5, [["a", "b", "c"]]), (0.5, []), (9.0, [["a", "b", "c", "d"]]),
    (1.0, []),  # a difference of exactly the critical one is significant
])  # fmt: skip
def test_cliques_are_maximal_and_critical_differences_those_of_demsar(distance, expected):
    """Demsar 2006, Table 5a: q is 1.960 for 2 methods, 2.728 for 5 and 3.164 for 10."""
    for n, q in ((2, 1.960), (5, 2.728), (10, 3.164)):
        critical = q * np.sqrt(n * (n + 1) / (6 * 30))
        assert nemenyi_critical_difference(n, 30) == pytest.approx(critical, abs=2e-3)
    assert cliques(pd.Series({"a": 1.0, "c": 3.0, "b": 2.0, "d": 6.0}), distance) == expected


def test_losses_by_hand():
    """To the best of the methods on all data sets, so not to REPEN's 0.9 on census."""
    table = losses(made_runs())
    assert sorted(table) == ["catboost", "prenet", "rosas"] and len(table) == 6
    assert table.loc[5, "prenet"][["census", "campaign", "thyroid"]].tolist() == pytest.approx([0, 0, 0.1])
    assert table.loc[5, "rosas"][["census", "campaign", "thyroid"]].tolist() == pytest.approx([0.1, 0.5, 0])
    assert table.loc[10, "prenet"][["census", "campaign", "thyroid"]].tolist() == pytest.approx([0, 0.1, 0.2])


def paired_runs():
    """Draws differ by 0.3, PReNet and cross-entropy on a draw by 0.1, -0.1 and next to nothing."""
    draws = (0.2, 0.5, 0.35)
    leads = {"census": (0.09, 0.10, 0.11), "campaign": (-0.09, -0.10, -0.11), "thyroid": (0.02, -0.02, 0.0)}
    rows = [
        {"method": method, "dataset": dataset, "n_labeled": 5, "run": run, "auc_pr": value}
        for dataset, of_draws in leads.items()
        for run, (draw, lead) in enumerate(zip(draws, of_draws))
        for method, value in (("prenet", draw + lead), ("cross-entropy", draw))
    ]
    return pd.DataFrame(rows)


def differences(runs):
    return today.pair_differences(runs, "prenet", "cross-entropy").set_index("dataset")


def test_pairs_are_of_the_same_draw():
    found = differences(paired_runs())
    assert found.loc["census", ["mean", "draws"]].tolist() == pytest.approx([0.1, 3])
    # the run number counts, not the order
    pd.testing.assert_frame_equal(found, differences(paired_runs().sample(frac=1, random_state=0)))
    lacking = paired_runs().query("not (method == 'cross-entropy' and dataset == 'census' and run == 2)")
    assert differences(lacking).loc["census", ["mean", "draws"]].tolist() == pytest.approx([0.095, 2])
    with pytest.raises(ValueError, match="duplicate"):
        differences(pd.concat([paired_runs()] * 2))


def test_pairs_over_data_sets():
    """Census is 0.1 ahead, and campaign 0.1 behind; thyroid is 0."""
    assert tuple(today.t_interval([1, 2, 3])) == pytest.approx((2, 2 - 2.48414, 2 + 2.48414), abs=1e-4)
    (row,) = paired_leads(paired_runs()).itertuples(index=False)
    half = 4.3027 * 0.1 / 3**0.5
    assert (row.mean, row.low, row.high) == pytest.approx((0, -half, half), abs=1e-4)
    assert row.draws == 3 and row.without_thyroid == pytest.approx(0)
    without_campaign = paired_leads(paired_runs().query("dataset != 'campaign'"))
    assert without_campaign[["mean", "without_thyroid"]].values.tolist() == [pytest.approx([0.05, 0.1])]
    assert paired_leads(paired_runs(), [("prenet", "catboost")]).empty
