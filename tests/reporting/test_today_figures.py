"""Panels and text of the experiment `today`, from made-up runs."""

import numpy as np
import pandas as pd
import pytest

from weakly.beyond.today import AVERAGE_SET, averaged_over_sets, budget_curves
from weakly.beyond.today_text import labels_panels, write_today
from weakly.errors import UserError
from weakly.reporting.pictures import MUTED
from weakly.reporting.text_tables import NO_BREAK
from weakly.running.runs_file import RUN_COLUMNS

METHODS_RUN = ("prenet", "cross-entropy", "catboost", "dsad", "repen", "rosas")
SETS, BUDGETS = ("census", "campaign", "thyroid"), (5, 20, 60)


@pytest.fixture
def runs():
    """Three runs of each method, the first of METHODS_RUN best; REPEN was not run on thyroid."""
    rows = [
        {"method": method, "dataset": dataset, "n_labeled": n_labeled, "run": run}
        | {"auc_pr": 0.8 - place / 20 + run / 100 + n_labeled / 1000}
        for place, method in enumerate(METHODS_RUN)
        for dataset in SETS
        for n_labeled in BUDGETS
        for run in range(3)
        if (method, dataset) != ("repen", "thyroid")
    ]
    return pd.DataFrame(rows)


def test_a_panel_per_data_set_and_one_average_with_the_means_over_draws(runs):
    panels = {panel.title: panel.picture().axes[0] for panel in labels_panels(runs)}
    assert list(panels) == [AVERAGE_SET, "census", "campaign", "thyroid"]
    for axes in panels.values():
        assert axes.get_xscale() == "log"
        assert [text.get_text() for text in axes.texts][:3] == ["5", "20", "60"]
    (line,) = [line for line in panels["census"].lines if line.get_gid() == "data-method=prenet"]
    assert line.get_xdata().tolist() == list(BUDGETS)
    assert line.get_ydata() == pytest.approx([0.815, 0.83, 0.87])
    grey = {one.get_gid() for one in panels["census"].lines if one.get_color() == MUTED}
    assert grey == {f"data-method={name}" for name in ("dsad", "repen", "rosas")}


def test_average_panel_has_no_method_that_lacks_a_data_set(runs):
    average = averaged_over_sets(runs)
    assert "repen" not in set(average["method"])
    of_prenet = average[(average["method"] == "prenet") & (average["n_labeled"] == 5)]
    assert of_prenet["auc_pr"].tolist() == pytest.approx([0.805, 0.815, 0.825])


def test_band_is_half_of_the_interval_over_draws(runs):
    table = budget_curves(runs[(runs["dataset"] == "census") & (runs["n_labeled"] == 5)]).set_index("method")
    assert table.loc["prenet", "spread"] == pytest.approx(4.3027 * 0.01 / np.sqrt(3), abs=1e-4)


# ---------------------------------------------------------------------------- text


def written_from(runs, folder):
    """The files of these runs; the other columns of a run do not matter."""
    rest = {"experiment": "today", "protocol": "independent", "contamination": 0.02, "data_status": "exact"}
    rest |= {"scaling": "prepared", "seed": runs["run"]}
    unknown = runs[runs["method"] == "prenet"].assign(method="newcomer", auc_pr=1.0)  # of another version
    runs = pd.concat([runs, unknown])
    columns = dict.fromkeys(RUN_COLUMNS, 1) | rest
    runs = runs.assign(**{name: value for name, value in columns.items() if name not in runs})
    runs[RUN_COLUMNS].to_csv(folder / "today_runs.csv", index=False)
    return write_today(folder)


def test_the_text_is_written_and_the_same_each_time(runs, tmp_path):
    (path,) = written_from(runs, tmp_path)
    text = path.read_text()
    assert path.name == "today.md" and write_today(tmp_path) == [path] and path.read_text() == text
    text = text.replace(NO_BREAK, " ")
    assert "| PReNet | 0.000 (0.000) | 0.000 (0.000) | 0.000 (0.000) | 0.000 (0.000) |" in text
    assert "| PReNet | 0.815 | 0.830 | 0.870 |" in text
    assert text.index("| census | 0.815") < text.index("| campaign | 0.815")  # in the paper's order
    pair = " | ".join(["| PReNet minus Cross-entropy", *["+0.050 [+0.050, +0.050]"] * 3])
    assert f"{pair} | +0.050 / +0.050 / +0.050 | 3 |" in text and "Draws: 3 of every method." in text
    averages = text.partition("## The loss")[0]
    assert "| PReNet |" in averages and "REPEN" not in averages and "newcomer" not in text


def test_without_runs_it_says_what_to_do(tmp_path):
    with pytest.raises(UserError, match="experiments.py today"):
        write_today(tmp_path)
