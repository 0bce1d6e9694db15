"""The scaling of detect.py is the one that the rule takes, and the command still makes such figures."""

from pathlib import Path

import pandas as pd
import pytest

from own_data.features import SCALING
from tools import scalings

REFERENCE = Path(__file__).resolve().parent.parent.parent / "results" / "reference"


def runs(**areas):
    """Runs on one choosing and one checking table; areas: {scaling: (AUC-PR there, and here)} of seed 0."""
    tables = (scalings.CHOOSING[0], scalings.CHECKING[0])
    return pd.DataFrame([
        {"table": table, "scaling": name.replace("_", "-"), "method": "prenet", "seed": seed, "auc_roc": 0.5,
         "auc_pr": area + 0.001 * seed}
        for name, values in areas.items() for table, area in zip(tables, values) for seed in (0, 1)
    ])  # fmt: skip


def test_the_rule_takes_the_best_of_those_that_do_not_lose():
    assert scalings.choose(runs(min_max=(0.5, 0.5), ranks=(0.51, 0.1))) == "ranks"  # checking has no part
    assert scalings.choose(runs(min_max=(0.5, 0.5), ranks=(0.495, 0.9))) == "min-max"
    first, second = scalings.CHOOSING[:2]
    elsewhere = runs(min_max=(0.5, 0), ranks=(0.9, 0)).replace(first, second)
    two = pd.concat([runs(min_max=(0.5, 0), ranks=(0.48, 0)), elsewhere])
    assert scalings.choose(two) == "min-max"  # ranks have the higher mean, but lose on one table
    assert scalings.losses(two).loc[first].to_dict() == {"min-max": False, "ranks": True}


def test_the_default_is_what_the_committed_runs_choose():
    found = pd.read_csv(REFERENCE / "scalings.csv")
    assert set(found["table"]) == {*scalings.CHOOSING, *scalings.CHECKING}
    assert set(found["scaling"]) == set(scalings.SCALINGS) and set(found["method"]) == set(scalings.METHODS)
    chosen = scalings.SCALINGS[scalings.choose(found)]()
    assert {name: getattr(chosen, name) for name in SCALING} == SCALING


@pytest.mark.slow
def test_the_command_makes_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = (
        "--tables breast-cancer-absurd --methods logistic --results-dir . --scalings min-max,ranks --seeds"
    )
    for seeds, made in (("1", "seed 0: 2 runs made"), ("2", "seed 0: 0 runs made")):
        assert scalings.main([*command.split(), seeds]) == 0
        assert f"breast-cancer-absurd, {made}" in (shown := capsys.readouterr().out)
    assert len(pd.read_csv("scalings.csv")) == 4 and "breast-cancer-absurd" in shown
    monkeypatch.setenv("PRENET_DATA", str(tmp_path))
    with pytest.raises(SystemExit) as error:
        scalings.main(["--tables", "cardio"])
    assert error.value.code == 2 and "table cardio needs" in capsys.readouterr().err
