"""What one would use today: means, regret, paired differences, by hand; critical differences of ranks."""

import numpy as np
import pandas as pd
import pytest

from weakly.beyond.today import (
    average_auc_pr,
    cell_means,
    compared,
    display_name,
    draws_in_words,
    in_method_order,
    mean_auc_pr,
    not_averaged,
    pair_differences,
    paired_leads,
    regrets,
    t_interval,
    today_runs,
)
from weakly.judging.ranks import cliques, nemenyi_critical_difference
from weakly.running.runs_file import RUN_COLUMNS

# AUC-PR of (method, data set) with 5 labels; with 10 it is 0.1 more for all but PReNet
MEANS = {
    "prenet": {"census": 0.8, "campaign": 0.6, "thyroid": 0.7},
    "catboost": {"census": 0.6, "campaign": 0.6, "thyroid": 0.2},
    "newcomer": {"census": 0.7, "campaign": 0.1, "thyroid": 0.8},
    "partly": {"census": 0.9},
}


def made_runs(means=MEANS, budgets=(5, 10), draws=(-0.02, 0.02)):
    """Two runs per cell, 0.02 below and above its mean."""
    rows = [
        {"method": method, "dataset": dataset, "n_labeled": n_labeled, "run": run, "auc_pr": mean + draw}
        for n_labeled in budgets
        for method, by_set in means.items()
        for dataset, value in by_set.items()
        for mean in [value + 0.1 * (n_labeled == 10 and method != "prenet")]
        for run, draw in enumerate(draws)
    ]
    return pd.DataFrame(rows)


def test_means_are_in_the_orders_of_the_project_and_unknown_names_last():
    means = mean_auc_pr(made_runs(), 5)
    assert list(means.index) == ["census", "campaign", "thyroid"]
    assert list(means) == in_method_order(MEANS)
    assert means.loc["thyroid", "newcomer"] == pytest.approx(0.8)
    assert np.isnan(means.loc["thyroid", "partly"])
    assert display_name("prenet") == "PReNet"
    assert display_name("newcomer") == "newcomer"
    assert in_method_order(["newcomer", "devnet", "prenet"]) == ["prenet", "devnet", "newcomer"]


def test_average_is_over_all_data_sets_or_there_is_none():
    average = average_auc_pr(made_runs())
    assert average.loc["prenet", 5] == pytest.approx(0.7)
    assert average.loc["newcomer", 10] == pytest.approx((0.8 + 0.2 + 0.9) / 3)
    assert set(average.index) == {"prenet", "catboost", "newcomer"}
    assert not_averaged(made_runs()) == {"partly": [5, 10]}


def test_written_means_count_their_runs():
    table = cell_means(made_runs()).set_index(["n_labeled", "dataset", "method"])
    assert table.loc[(10, "census", "catboost"), "auc_pr"] == pytest.approx(0.7)
    assert (table["runs"] == 2).all()


def test_methods_are_compared_on_the_draws_that_all_of_them_have(monkeypatch):
    """CatBoost has draws 0 to 2 only, on which all methods are better; newcomer has two, too few."""
    monkeypatch.setattr("weakly.beyond.today.FEWEST_DRAWS", 3)
    runs = made_runs(budgets=(5,), draws=(0.06, 0.05, 0.04, -0.05, -0.10))
    runs = runs[(runs["method"] != "catboost") | (runs["run"] < 3)]
    runs = runs[(runs["method"] != "newcomer") | (runs["run"] < 2)]
    kept = compared(runs)
    assert set(kept["run"]) == {0, 1, 2} and set(kept["method"]) == {"prenet", "catboost", "partly"}
    average = average_auc_pr(runs)[5]
    assert average.to_dict() == pytest.approx({"prenet": 0.75, "catboost": 0.4 + 0.2 / 3 + 0.05})
    assert not_averaged(runs) == {"newcomer": [5], "partly": [5]}
    assert set(regrets(runs)["method"]) == {"prenet", "catboost", "partly"}
    assert draws_in_words(runs) == (
        "comparisons of all methods rest on the 3 draws that they have in common; "
        "5 of PReNet, partly; 3 of CatBoost; 2 of newcomer"
    )
    assert draws_in_words(made_runs()) == "2 of every method"


# ---------------------------------------------------------------------------- ranks


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_difference_is_that_of_the_published_table(n_methods, q):
    """Demsar 2006, Table 5a."""
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert nemenyi_critical_difference(n_methods, 30) == pytest.approx(expected, abs=2e-3)


def test_cliques_are_maximal_and_may_overlap():
    ranks = pd.Series({"a": 1.0, "c": 3.0, "b": 2.0, "d": 6.0})
    assert cliques(ranks, 1.5) == [["a", "b"], ["b", "c"]]
    assert cliques(ranks, 2.5) == [["a", "b", "c"]]
    assert cliques(ranks, 0.5) == []
    assert cliques(ranks, 9.0) == [["a", "b", "c", "d"]]
    # a difference of exactly the critical one is significant
    assert cliques(ranks, 1.0) == []


# ---------------------------------------------------------------------------- regret, best


def test_regret_by_hand():
    """Losses with 5 labels: PReNet 0.1 (census, to `partly`), 0, 0.1; newcomer 0.2, 0.5, 0."""
    regret = regrets(made_runs()).set_index(["n_labeled", "method"])
    prenet = regret.loc[(5, "prenet")]
    assert prenet["mean_loss"] == pytest.approx(0.2 / 3)
    assert prenet["largest_loss"] == pytest.approx(0.1)
    newcomer = regret.loc[(5, "newcomer")]
    assert newcomer["mean_loss"] == pytest.approx(0.7 / 3)
    assert (newcomer["dataset"], newcomer["at"]) == ("campaign", 5)
    # with 10 labels PReNet loses 0.2 on census, 0.1 on campaign, 0.2 on thyroid
    overall = regret.loc[("all", "prenet")]
    assert overall["mean_loss"] == pytest.approx((0.2 + 0.5) / 6)
    assert overall["largest_loss"] == pytest.approx(0.2)
    assert (overall["at"], overall["cells"]) == (10, 6)
    assert regret.loc[("all", "partly"), "cells"] == 2


# ---------------------------------------------------------------------------- paired differences


def test_t_interval_by_hand():
    """Of 1, 2, 3: mean 2, standard error 1 / sqrt(3), t(2) = 4.3027."""
    assert tuple(t_interval([1, 2, 3])) == pytest.approx(
        (2, 2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-4
    )
    assert np.isnan(t_interval([1]).low)


def paired_runs():
    """Draws differ by 0.3, PReNet and cross-entropy on a draw by 0.1, -0.1 and hardly at all."""
    draws = (0.2, 0.5, 0.35)
    leads = {"census": (0.09, 0.10, 0.11), "campaign": (-0.09, -0.10, -0.11), "thyroid": (0.02, -0.02, 0.0)}
    rows = []
    for dataset, of_draws in leads.items():
        for run, (draw, lead) in enumerate(zip(draws, of_draws)):
            for method, value in (("prenet", draw + lead), ("cross-entropy", draw)):
                cell = {"method": method, "dataset": dataset, "n_labeled": 5, "run": run}
                rows.append(cell | {"auc_pr": value})
    return pd.DataFrame(rows)


def test_pairs_are_of_the_same_draw():
    differences = pair_differences(paired_runs(), "prenet", "cross-entropy").set_index("dataset")
    half = 4.3027 * 0.01 / 3**0.5  # unpaired it would be some 0.37
    assert differences.loc["census", ["mean", "low", "high"]].tolist() == pytest.approx(
        [0.1, 0.1 - half, 0.1 + half], abs=1e-4
    )
    shuffled = paired_runs().sample(frac=1, random_state=0)  # the run number counts, not the order
    again = pair_differences(shuffled, "prenet", "cross-entropy").set_index("dataset")
    pd.testing.assert_frame_equal(differences, again)


def test_pairs_over_data_sets():
    (row,) = paired_leads(paired_runs()).itertuples(index=False)
    assert (row.sets, row.above, row.below) == (3, 1, 1)
    assert row.mean == pytest.approx(0)
    assert row.high == pytest.approx(4.3027 * 0.1 / 3**0.5, abs=1e-4)
    assert row.low == pytest.approx(-row.high)
    # census, 0.1 ahead, and campaign, 0.1 behind; thyroid is 0
    assert (row.ahead, row.draws) == (1, 3)
    assert row.without_thyroid == pytest.approx(0) and row.without_fraud == pytest.approx(0)


def test_one_draw_has_no_intervals_to_count():
    (row,) = paired_leads(paired_runs().query("run == 0")).itertuples(index=False)
    assert row.draws == 1 and row.above is pd.NA and row.below is pd.NA
    assert row.ahead == 2 and row.without_thyroid == pytest.approx(0)


def test_a_draw_that_one_method_lacks_is_left_out():
    runs = paired_runs()
    lacking = (runs["method"] == "cross-entropy") & (runs["dataset"] == "census") & (runs["run"] == 2)
    differences = pair_differences(runs[~lacking], "prenet", "cross-entropy").set_index("dataset")
    assert differences.loc["census", "draws"] == 2
    assert differences.loc["census", "mean"] == pytest.approx(0.095)
    assert paired_leads(runs, [("prenet", "catboost")]).empty


def test_a_run_made_twice_is_an_error():
    with pytest.raises(ValueError, match="duplicate"):
        pair_differences(pd.concat([paired_runs()] * 2), "prenet", "cross-entropy")


# ---------------------------------------------------------------------------- the runs file


def test_only_runs_of_the_experiments_set_up_are_read(tmp_path):
    usual = dict.fromkeys(RUN_COLUMNS, 1) | {"experiment": "today", "method": "prenet", "dataset": "census"}
    usual |= {"protocol": "independent", "contamination": 0.02, "n_labeled": 5, "data_status": "exact"}
    usual |= {"data_sha256": "x", "settings": "l2=1", "code": "c", "scaling": "prepared"}
    rows = [
        usual | {"settings": "l2=2"},  # an earlier setting
        usual,
        usual | {"run": 2, "seed": 2},
        usual | {"protocol": "released"},
        usual | {"contamination": 0.1},
        usual | {"dataset": "thyroid", "data_status": "synthetic"},
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "today_runs.csv", index=False)
    runs = today_runs(tmp_path)
    assert runs["run"].tolist() == [1, 2]
    assert set(runs["settings"]) == {"l2=1"}
