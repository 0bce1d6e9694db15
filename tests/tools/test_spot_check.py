"""tools/spot_check.py: committed runs that this code gives again, and runs that it does not."""

import pandas as pd
import pytest
from drivers import experiment_here, workers_here

from tools import spot_check


@pytest.fixture(scope="module")
def results(tmp_path_factory, demo_dir):
    """Two runs each of two methods on the synthetic set; these and the later ones in this process."""
    folder = tmp_path_factory.mktemp("spot_check")
    options = ["--methods", "iforest,logistic", "--datasets", "demo", "--runs", "2"]
    with workers_here():
        assert experiment_here(demo_dir, folder, "seen", *options) == 0
        yield folder


@pytest.fixture
def check(results, demo_dir):
    places = ["--results-dir", str(results), "--data-dir", str(demo_dir), "--offline", "--jobs", "1"]
    return lambda *options: spot_check.main([*places, *options])


def test_runs_of_this_code_are_equal_to_the_last_digit(check, results, capsys):
    assert check("--output", str(results / "check.csv")) == 0
    assert "4 of 4 runs are equal to the last digit; 0 differ" in capsys.readouterr().out
    table = pd.read_csv(results / "check.csv")
    assert len(table) == 4 and (table["auc_pr"] == table["auc_pr_today"]).all()


def test_a_result_that_the_code_does_not_give_is_found(check, results, capsys):
    path = results / "seen_runs.csv"
    kept = path.read_bytes()
    runs = pd.read_csv(path)
    runs.loc[0, "auc_pr"] = 0.5 * runs.loc[0, "auc_pr"]
    runs.to_csv(path, index=False)
    try:
        assert check() == 1
    finally:
        path.write_bytes(kept)
    assert "1 differ by more than 0.03" in capsys.readouterr().out


@pytest.mark.parametrize("options, message", [
    (["--methods", "prenet"], "none of these runs can be repeated here"),
    (["--methods", "nonsense"], "unknown method 'nonsense'"),
    (["--file", "unseen"], "has no unseen_runs.csv"),
])  # fmt: skip
def test_what_cannot_be_repeated_is_said(check, capsys, options, message):
    with pytest.raises(SystemExit, match="2"):
        check(*options)
    assert message in capsys.readouterr().err
