"""Figures and text of the experiment `today`, from made-up runs."""

import matplotlib.style
import numpy as np
import pandas as pd
import pytest

from weakly.beyond.today import AVERAGE_SET, averaged_over_sets, budget_curves, today_ranks
from weakly.beyond.today_figures import (
    GREY,
    HIGHLIGHTED,
    draw_today,
    labels_figure,
    ranks_figure,
    styles,
)
from weakly.beyond.today_text import main, today_text
from weakly.reporting.figures import RC
from weakly.reporting.text_tables import NO_BREAK
from weakly.running.runs_file import RUN_COLUMNS

METHODS_RUN = ("prenet", "cross-entropy", "catboost", "dsad", "newcomer", "rosas", "rosas-validated")
SETS, BUDGETS = ("census", "campaign", "thyroid"), (5, 20, 120)


@pytest.fixture
def runs():
    """Three runs of each method, the first of METHODS_RUN best; `newcomer` was not run on thyroid."""
    rows = [
        {"method": method, "dataset": dataset, "n_labeled": n_labeled, "run": run}
        | {"auc_pr": 0.8 - place / 20 + run / 100 + n_labeled / 1000}
        for place, method in enumerate(METHODS_RUN)
        for dataset in SETS
        for n_labeled in BUDGETS
        for run in range(3)
        if (method, dataset) != ("newcomer", "thyroid")
    ]
    return pd.DataFrame(rows)


@pytest.fixture(autouse=True)
def our_style():
    with matplotlib.style.context(["default", RC]):
        yield


def texts(axes):
    return [text.get_text() for text in axes.texts]


def line_of(axes, method):
    """The data of a highlighted method's line."""
    (line,) = [line for line in axes.lines if line.get_color() == HIGHLIGHTED[method][0]]
    return line.get_xdata(), line.get_ydata()


def test_one_panel_per_data_set_and_one_average(runs):
    figure = labels_figure(runs)
    assert [axes.get_title() for axes in figure.axes] == ["census", "campaign", "thyroid", AVERAGE_SET]
    for axes in figure.axes:
        assert axes.get_xscale() == "log"
        assert [text.get_text() for text in axes.get_xticklabels()] == ["5", "20", "120"]


def test_a_line_has_the_means_over_runs(runs):
    panels = {axes.get_title(): axes for axes in labels_figure(runs).axes}
    x, y = line_of(panels["census"], "prenet")
    assert list(x) == list(BUDGETS)
    assert y == pytest.approx([0.815, 0.83, 0.93])


def test_every_method_is_in_the_legend_but_the_one_with_more_labels(runs):
    (legend,) = labels_figure(runs).legends
    names = [text.get_text().strip() for text in legend.get_texts()]
    assert {"PReNet", "DSAD", "newcomer", "PReNet's 95% interval over draws"} <= set(names)
    assert len([name for name in names if name]) == len(METHODS_RUN) - 1 + 1  # and the band


def test_average_panel_has_no_method_that_lacks_a_data_set(runs):
    average = averaged_over_sets(runs)
    assert "newcomer" not in set(average["method"])
    of_prenet = average[(average["method"] == "prenet") & (average["n_labeled"] == 5)]
    assert of_prenet["auc_pr"].tolist() == pytest.approx([0.805, 0.815, 0.825])


def test_band_is_half_of_the_interval_over_draws(runs):
    table = budget_curves(runs[(runs["dataset"] == "census") & (runs["n_labeled"] == 5)]).set_index("method")
    assert table.loc["prenet", "half"] == pytest.approx(4.3027 * 0.01 / np.sqrt(3), abs=1e-4)


def test_others_are_grey_and_differ_in_their_markers():
    looks = styles(["prenet", "dsad", "fsnet", "newcomer"])
    assert next(iter(looks)) == "prenet"
    others = [looks[name] for name in ("dsad", "fsnet", "newcomer")]
    assert {color for color, _ in others} == {GREY}
    assert len({marker for _, marker in others}) == 3


def test_one_diagram_per_budget_names_every_ranked_method(runs):
    figure = ranks_figure(runs)
    assert len(figure.axes) == len(BUDGETS)
    for axes, n_labeled in zip(figure.axes, BUDGETS):
        assert axes.get_title(loc="left") == f"{n_labeled} labelled anomalies, 3 data sets"
        assert {"PReNet  1.0", "Cross-entropy  2.0", "4.0  DSAD", "5.0  RoSAS"} <= set(texts(axes))
        assert not any("newcomer" in text or "validated" in text for text in texts(axes))
    difference = today_ranks(runs)["critical_difference"].iloc[0]
    assert f"critical difference {difference:.2f}" in texts(figure.axes[0])


@pytest.mark.parametrize("name", ["short", "a method with a long name"])
def test_names_do_not_overlap(runs, name):
    many = [f"{name} {number}" for number in range(12)]
    copies = [runs[runs["method"] == "dsad"].assign(method=each) for each in many]
    figure = ranks_figure(pd.concat([runs, *copies], ignore_index=True))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for axes in figure.axes for text in axes.texts]
    overlapping = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]
    assert not overlapping
    assert all(box.x0 >= 0 and box.x1 <= figure.bbox.x1 for box in boxes)


def test_no_diagram_of_a_single_method(runs):
    assert ranks_figure(runs[runs["method"] == "prenet"]) is None


def test_files_are_written_and_the_same_each_time(runs, tmp_path):
    written = draw_today(runs, tmp_path)
    expected = ["today.png", "today.svg", "today_ranks.png", "today_ranks.svg"]
    assert [path.relative_to(tmp_path / "figures").as_posix() for path in written] == expected
    again = draw_today(runs, tmp_path / "again")
    assert [path.read_bytes() for path in written] == [path.read_bytes() for path in again]


# ---------------------------------------------------------------------------- text


def test_text_names_who_is_left_out_and_why(runs):
    text = today_text(runs)
    why = "because not run on all data sets with at least 10 draws"
    assert f"{why}: newcomer (5, 20, 120 labels)." in text
    assert "RoSAS, validated: not ranked" in text
    assert "| RoSAS, validated |" not in text
    assert "### RoSAS, validated - RoSAS" in text


def test_text_has_the_numbers(runs):
    lines = today_text(runs).replace(NO_BREAK, " ").splitlines()
    assert "| PReNet | 0.000 (0.000) | 0.000 (0.000) | 0.000 (0.000) | 0.000 (0.000) |" in "\n".join(
        lines
    ).replace(NO_BREAK, " ")
    assert "| PReNet | 0.815 | 0.830 | 0.930 |" in lines
    assert "Of 9 cells: PReNet 9." in lines
    assert "| 5 | +0.050 [+0.050, +0.050] | 3 of 3 | 3 | 0 | +0.050 | +0.050 | 3 |" in lines


def test_text_names_the_draws(runs):
    assert "Draws: 3 of every method." in today_text(runs)
    fewer = today_text(runs.query("method != 'catboost' or run == 0"))
    assert "1 of CatBoost" in fewer and "CatBoost (5, 20, 120 labels)" in fewer
    pair = fewer.partition("### PReNet - CatBoost")[2].replace(NO_BREAK, " ")
    assert "| 3 of 3 | - | - | +0.100 | +0.100 | 1 |" in pair  # one draw has no interval of its own


def test_command_writes_all_files(runs, tmp_path, capsys):
    rest = {"experiment": "today", "protocol": "independent", "contamination": 0.02, "data_status": "exact"}
    rest |= {"scaling": "prepared"}
    columns = dict.fromkeys(RUN_COLUMNS, 1) | rest
    runs.assign(**{name: value for name, value in columns.items() if name not in runs})[RUN_COLUMNS].to_csv(
        tmp_path / "today_runs.csv", index=False
    )
    assert main(["--results-dir", str(tmp_path)]) == 0
    names = {"today_means.csv", "today_ranks.csv", "today_regret.csv", "today_pairs.csv", "today_best.csv"}
    assert names | {"today.md"} <= {path.name for path in tmp_path.iterdir()}
    assert pd.read_csv(tmp_path / "today_ranks.csv")["method"].iloc[0] == "prenet"
    assert str(tmp_path / "figures" / "today_ranks.svg") in capsys.readouterr().out


def test_command_without_runs_says_what_to_do(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--results-dir", str(tmp_path)])
    assert stopped.value.code == 2
    assert "experiments.py today" in capsys.readouterr().err
