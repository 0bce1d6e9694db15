"""What differences come from: shares of variance, by hand and in the paper's own columns."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from test_tables import run_row

from weakly.judging import effects
from weakly.judging.effects import (
    FACTORS,
    contributions_of_factors,
    runs_by_factor,
    spread_by_factor,
    variance_by_unseen_class,
)
from weakly.methods import make_detector
from weakly.running.runs_file import RunsFile
from weakly.running.single_run import describe_settings

METHODS = ("prenet", "devnet")


def test_the_share_of_variance_between_unseen_classes_by_hand(monkeypatch):
    """0 and 2 of one unseen class, 2 and 4 of the other: the means 1 and 3 are half of the sum of squares."""
    names = ["a->x", "b->x", "a->y", "b->y"]
    rows = [("auc_pr", name, "prenet", value) for name, value in zip(names, [0, 2, 2, 4])]
    rows += [("auc_pr", name, "devnet", value) for name, value in zip(names, [1, 2, 1, 2])]
    table = pd.DataFrame(rows, columns=["metric", "dataset", "method", "mean"])
    monkeypatch.setattr(effects, "published_table", lambda experiment: table)
    shares = variance_by_unseen_class()
    assert shares.loc["PReNet", ["seen classes %", "unseen class %"]].tolist() == pytest.approx([50, 50])
    assert shares.loc["PReNet", "unseen class, beyond the seen %"] == pytest.approx(50)
    assert shares.loc["DevNet", ["seen classes %", "unseen class %"]].tolist() == pytest.approx([100, 0])
    ours = pd.DataFrame({"prenet": [1, 2, 1, 2], "devnet": [0, 2, 2, np.nan]}, index=names)
    own = variance_by_unseen_class(ours[::-1])["measured: unseen class, beyond the seen %"]
    assert own["PReNet"] == pytest.approx(0) and pd.isna(own["DevNet"])  # one set is missing


@pytest.fixture
def results(tmp_path):
    """Runs of both methods on two sets in which each factor moves AUC-PR by its own amount, up and down."""
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    amounts = dict(zip(FACTORS, (0.01, 0.02, 0.03, 0.0, 0.04)))  # weights, split, labels, contamination, all
    for protocol, method, dataset, run in product(FACTORS, METHODS, ("thyroid", "bac"), range(10)):
        auc_pr, settings = 0.5 + amounts[protocol] * (-1) ** run, describe_settings(make_detector(method))
        where = dict(method=method, dataset=dataset, protocol=protocol, run=run, seed=run)
        runs_file.append(run_row(experiment="seen", settings=settings, auc_pr=auc_pr, auc_roc=0.5, **where))
    return tmp_path


def test_the_spread_of_each_factor_and_what_it_contributes(results):
    runs = runs_by_factor(results)
    spreads = spread_by_factor(runs)
    assert list(spreads.index) == ["thyroid", "bac"] and spreads.shape == (2, 10)
    np.testing.assert_allclose(spreads["PReNet"].to_numpy(), [[0.01, 0.02, 0.03, 0.0, 0.04]] * 2)
    table = contributions_of_factors(runs).loc["DevNet"]  # 1, 4, 9 and 0 of 16, which is more than their sum
    np.testing.assert_allclose(table["contribution %"], [100 / 16, 400 / 16, 900 / 16, 0], atol=1e-9)
    assert (table["low %"] <= table["contribution %"]).all()
    assert (table["high %"] >= table["contribution %"]).all()
    assert table["largest on"].tolist() == ["0 of 2", "0 of 2", "2 of 2", "0 of 2"]
    runs = runs_by_factor(results / "nowhere")  # without all protocols
    assert runs.empty and spread_by_factor(runs).empty and contributions_of_factors(runs).empty
