"""tools.labelling: the loop with true labels in place of a person, on a small table."""

import numpy as np
import pandas as pd
import pytest
from event_tables import events

from tools import labelling
from tools.labelling_figure import LOOKS, labelling_figure


@pytest.fixture
def quick(monkeypatch):
    """Two rounds of 5 labels from 3 on, on the table of events."""
    table = events(600).astype(str)

    def read(folder):
        return table.drop(columns="fraud"), (table["fraud"] == "1").to_numpy()

    monkeypatch.setattr(labelling, "TABLES", {"small": read})
    for name, value in {"START": 3, "ROUNDS": 2, "CHECKED": 5}.items():
        monkeypatch.setattr(labelling, name, value)


def run(folder, *options):
    arguments = ["--tables", "small", "--methods", "logistic", "--results-dir", str(folder), *options]
    assert labelling.main(arguments) == 0
    return pd.read_csv(folder / "labelling.csv")


def test_the_loop_is_measured_round_by_round_and_resumes(quick, tmp_path, capsys):
    table = run(tmp_path, "--seeds", "1")
    assert list(table) == ["table", "method", "seed", "strategy", "round", "found", "labels", "auc_pr"]
    assert set(table["strategy"]) == set(LOOKS) and len(table) == 3 * 3
    assert (table["labels"] == 3 + 5 * table["round"]).all()
    assert (table["found"] <= 5 * table["round"]).all() and table["auc_pr"].between(0, 1).all()
    found = table.set_index(["strategy", "round"])["found"]
    assert found["used", 2] > found["random", 2]
    start = table[table["round"] == 0]
    assert start["auc_pr"].nunique() == 1 and (start["found"] == 0).all()
    assert "small, logistic, seed 0" in capsys.readouterr().out
    more = run(tmp_path, "--seeds", "2")
    shown = capsys.readouterr().out
    assert "seed 1:" in shown and "seed 0:" not in shown  # which is in the file already
    pd.testing.assert_frame_equal(more[more["seed"] == 0].reset_index(drop=True), table)
    assert all((tmp_path / "figures" / f"labelling.{kind}").exists() for kind in ("png", "svg"))


def test_rejections_are_known_normals_only_where_they_are_used(monkeypatch):
    """What the detector is told in a round with five labelled rows, three of them normal."""
    told = {}

    class Told:
        def fit(self, X, y, normal):
            told["y"], told["normal"] = np.flatnonzero(y), normal
            return self

    monkeypatch.setattr(labelling, "make_detector", lambda method, random_state: Told())
    monkeypatch.setattr(labelling, "START", 2)
    y = np.arange(10) < 2
    for strategy, expected in (("used", [5, 6, 7]), ("random", [5, 6, 7]), ("ignored", None)):
        loop = labelling.Loop((np.zeros((10, 1)), y, None, None), "logistic", strategy, 0)
        loop.is_labeled[[5, 6, 7]] = True
        loop.fit()
        assert told["y"].tolist() == [0, 1]
        assert (
            told["normal"] is None
            if expected is None
            else np.flatnonzero(told["normal"]).tolist() == expected
        )


def test_a_missing_table_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PRENET_DATA", str(tmp_path))
    with pytest.raises(SystemExit) as stop:
        labelling.main(["--tables", "bank", "--results-dir", str(tmp_path)])
    assert stop.value.code == 2 and "bank cannot be read from" in capsys.readouterr().err


def test_the_figure_has_a_column_for_each_table_and_method():
    lines = [
        {
            "table": t,
            "method": m,
            "seed": 0,
            "strategy": s,
            "round": r,
            "found": r,
            "labels": r,
            "auc_pr": 0.5,
        }
        for t in ("a", "b")
        for m in ("prenet", "logistic")
        for s in LOOKS
        for r in range(3)
    ]
    figure = labelling_figure(pd.DataFrame(lines))
    titles = [axes.get_title() for axes in figure.axes[:4]]
    assert titles == ["a, Logistic", "a, PReNet", "b, Logistic", "b, PReNet"]
