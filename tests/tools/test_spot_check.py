"""tools/spot_check.py: committed runs that this code gives again, and runs that it does not."""

import pandas as pd
import pytest
from drivers import workers_here

from experiments import main as run_experiment
from tools import spot_check


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two runs each of two methods on the synthetic set; these and the later ones in this process."""
    folder = tmp_path_factory.mktemp("spot_check")
    places = ["--results-dir", str(folder / "results"), "--data-dir", str(folder / "dataset")]
    options = ["--methods", "iforest,logistic", "--datasets", "demo", "--runs", "2", "--jobs", "1"]
    with workers_here():
        assert run_experiment(["seen", *options, "--offline", *places]) == 0
        yield folder


def check(results, *options):
    places = ["--results-dir", str(results / "results"), "--data-dir", str(results / "dataset")]
    return spot_check.main([*places, "--offline", "--jobs", "1", *options])


def test_runs_of_this_code_are_equal_to_the_last_digit(results, capsys):
    assert check(results, "--output", str(results / "check.csv")) == 0
    assert "4 of 4 runs are equal to the last digit; 0 differ" in capsys.readouterr().out
    table = pd.read_csv(results / "check.csv")
    assert len(table) == 4 and (table["auc_pr"] == table["auc_pr_today"]).all()


def test_a_result_that_the_code_does_not_give_is_found(results, capsys):
    path = results / "results/seen_runs.csv"
    kept = path.read_bytes()
    runs = pd.read_csv(path)
    runs.loc[0, "auc_pr"] = 0.5 * runs.loc[0, "auc_pr"]
    runs.to_csv(path, index=False)
    try:
        assert check(results) == 1
    finally:
        path.write_bytes(kept)
    assert "1 differ by more than 0.03" in capsys.readouterr().out


@pytest.mark.parametrize("options, message", [
    (["--methods", "prenet"], "none of these runs can be repeated here"),
    (["--methods", "nonsense"], "unknown method 'nonsense'"),
    (["--file", "unseen"], "has no unseen_runs.csv"),
])  # fmt: skip
def test_what_cannot_be_repeated_is_said(results, capsys, options, message):
    with pytest.raises(SystemExit, match="2"):
        check(results, *options)
    assert message in capsys.readouterr().err
