"""tools/spot_check.py: committed runs that this code gives again, and runs that it does not."""

import pandas as pd
import pytest
from drivers import experiment_here

from tools import spot_check


@pytest.fixture
def check(demo_dir, runs_here, tmp_path):
    """A function that checks two runs each of two methods on the synthetic set, which have just been made."""
    options = ["--methods", "iforest,logistic", "--datasets", "demo", "--runs", "2"]
    assert experiment_here(demo_dir, tmp_path, "seen", *options) == 0
    places = ["--results-dir", str(tmp_path), "--data-dir", str(demo_dir), "--offline", "--jobs", "1"]
    return lambda *options: spot_check.main([*places, *options])


def test_equal_runs_and_others_are_told_apart(check, tmp_path, capsys):
    assert check("--output", str(tmp_path / "check.csv")) == 0
    assert "4 of 4 runs are equal to the last digit; 0 differ" in capsys.readouterr().out
    table = pd.read_csv(tmp_path / "check.csv")
    assert len(table) == 4 and (table["auc_pr"] == table["auc_pr_today"]).all()
    runs = pd.read_csv(tmp_path / "seen_runs.csv")
    runs.loc[0, "auc_pr"] *= 0.5
    runs.to_csv(tmp_path / "seen_runs.csv", index=False)
    assert check() == 1
    assert "1 differ by more than 0.03" in capsys.readouterr().out
