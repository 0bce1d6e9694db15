"""Figures from small made-up tables: what is drawn, what is left out, and clear errors."""

import matplotlib.style
import numpy as np
import pandas as pd
import pytest

from weakly.judging import cells
from weakly.judging.tables import from_paper_layout
from weakly.methods import METHODS, method_group
from weakly.reporting import figures
from weakly.reporting.figures import draw_figures, figures_of, main
from weakly.reporting.palette import LOOKS, look
from weakly.reporting.sweeps import read_drawable


def sweep(parameter, values, datasets, methods=("prenet", "devnet"), status="exact"):
    """A table of a sweep in which auc_pr is 0.5 for the first method, 0.4 for the next, ..., with std
    0.01."""
    rows = []
    for value in values:
        for dataset in [*datasets, "Average"]:
            row = {
                "parameter": parameter,
                "value": value,
                "dataset": dataset,
                "size": 9,
                "D": 2,
                "status": status,
                "runs": 2,
            }
            for number, method in enumerate(methods):
                row |= {
                    f"auc_pr_{method}": 0.5 - number / 10,
                    f"auc_pr_{method}_std": 0.01,
                    f"auc_pr_weighted_{method}": 0.9,
                }
            rows.append(row)
    return pd.DataFrame(rows)


def theorem():
    shares = np.array([0.0, 0.3, 0.6])
    table = pd.DataFrame(
        {
            "dataset": "bac",
            "status": "exact",
            "runs": 2,
            "contamination": shares,
            "share": shares,
            "auc_pr": 0.5,
        }
    )
    for kind, score in (("anomalies", 6 - shares), ("normals", 2 + shares)):
        table[[f"mean_score_{kind}", f"mean_score_{kind}_std", f"predicted_{kind}"]] = np.stack(
            [score, 0 * score + 0.1, score], axis=1
        )
    return table


def draw(table, experiment, set_up=""):
    """The figures of a table, drawn but not written, as {name: figure}."""
    table = table[table["dataset"] != "Average"].reset_index(drop=True)
    table = table if experiment == "theorem" else from_paper_layout(table)
    with matplotlib.style.context(["default", figures.RC]):
        return figures_of(table, experiment, set_up)


def titles(figure):
    return [axes.get_title() for axes in figure.axes]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def hollow_points(axes):
    """(x, y) of the markers of published values."""
    return [
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in axes.lines
        if line.get_markerfacecolor() == "none"
    ]


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A folder of published values of its own: bac 0.7 for PReNet only, dos->bac 0.8."""
    folder = tmp_path / "published"
    folder.mkdir()
    pd.DataFrame({"dataset": ["bac"], "auc_pr_prenet": [0.7]}).to_csv(folder / "seen.csv", index=False)
    pd.DataFrame({"dataset": ["dos->bac"], "auc_pr_prenet": [0.8]}).to_csv(folder / "unseen.csv", index=False)
    monkeypatch.setattr(cells, "PUBLISHED", folder)
    return folder


def test_the_figures_are_written_and_the_same_table_gives_the_same_bytes(tmp_path):
    sweep("n_labeled", [15, 60], ["bac", "dos->bac"]).to_csv(tmp_path / "labels.csv", index=False)
    paths = draw_figures(tmp_path, "labels")
    names = ["labels_seen.png", "labels_seen.svg", "labels_unseen.png", "labels_unseen.svg"]
    assert paths == [tmp_path / "figures" / name for name in names]
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == names  # and no temporary file
    first = [path.read_bytes() for path in paths]
    assert first[0].startswith(b"\x89PNG") and b">dos \xe2\x86\x92 bac</text>" in first[3]  # text stays text
    draw_figures(tmp_path, "labels")
    assert [path.read_bytes() for path in paths] == first


def test_synthetic_data_has_figures_of_its_own(tmp_path, published):
    table = sweep("contamination", [0, 0.02], ["bac"], status="synthetic")
    table.to_csv(tmp_path / "contamination_synthetic.csv", index=False)
    paths = draw_figures(tmp_path, "contamination", "_synthetic")
    assert [path.name for path in paths] == ["contamination_synthetic.png", "contamination_synthetic.svg"]
    figure = draw(table, "contamination", set_up="_synthetic")["contamination"]
    assert "synthetic" in figure.get_suptitle()
    assert legend(figure) == ["PReNet", "DevNet", "band: ± 1 std over runs"] and not hollow_points(
        figure.axes[0]
    )


@pytest.mark.parametrize("n_sets", [1, 2, 5, 12, 14])
def test_every_data_set_has_one_panel_and_the_average_none(tmp_path, n_sets):
    names = [f"set{number}" for number in range(n_sets)]
    path = tmp_path / "labels.csv"
    sweep("n_labeled", [15, 60], names).to_csv(path, index=False)
    with matplotlib.style.context(["default", figures.RC]):
        drawn = figures_of(read_drawable(path, "labels"), "labels", "")
    assert titles(drawn["labels_seen"]) == names


def test_fig_4_ends_at_ten_per_cent_and_ticks_are_the_grid():
    table = sweep("contamination", [0.66, 0, 0.02, 0.1], ["bac"])
    axes = draw(table, "contamination")["contamination"].axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "2", "10"]
    prenet = next(line for line in axes.lines if line.get_color() == look("prenet")[0])
    assert prenet.get_xdata().tolist() == [0, 0.02, 0.1]


def test_fig_5_has_a_row_per_data_set_and_a_column_per_parameter():
    grids = {"margin": [0.25, 4], "ensemble_size": [1, 30], "l2": [0.001, 0.01]}
    table = pd.concat([sweep(name, values, ["bac", "w7a"], ["prenet"]) for name, values in grids.items()])
    axes = draw(table, "sensitivity")["sensitivity"].axes
    assert len(axes) == 6
    assert [panel.get_ylabel() for panel in axes] == ["bac", "", "", "w7a", "", ""]
    assert axes[0].get_ylim() == axes[2].get_ylim()


def test_published_values_are_hollow_at_the_papers_setting(published):
    drawn = draw(sweep("n_labeled", [15, 60], ["bac", "w7a", "dos->bac"]), "labels")
    bac, w7a = drawn["labels_seen"].axes
    assert hollow_points(bac) == [(60, 0.7)] and hollow_points(w7a) == []
    assert hollow_points(drawn["labels_unseen"].axes[0]) == [(60, 0.8)]
    assert "hollow: published" in legend(drawn["labels_seen"])


def test_without_published_values_there_are_no_hollow_markers(published):
    for path in published.iterdir():
        path.unlink()
    figure = draw(sweep("n_labeled", [15, 60], ["bac"]), "labels")["labels_seen"]
    assert not hollow_points(figure.axes[0]) and "hollow: published" not in legend(figure)


def test_partial_data_is_marked():
    figure = draw(sweep("n_labeled", [15, 60], ["dos"], status="partial"), "labels")["labels_seen"]
    assert titles(figure) == ["dos (partial)"] and figure.axes[0].title.get_color() != "black"


def test_a_method_that_a_data_set_lacks_is_left_out_there_only():
    table = sweep("n_labeled", [15, 60], ["bac", "news20"], ["prenet", "feawad"])
    table.loc[table["dataset"] == "news20", ["auc_pr_feawad", "auc_pr_weighted_feawad"]] = np.nan
    figure = draw(table, "labels", set_up="_synthetic")["labels_seen"]
    colors = [{line.get_color() for line in axes.lines} for axes in figure.axes]
    assert colors == [{look("prenet")[0], look("feawad")[0]}, {look("prenet")[0]}]
    assert legend(figure)[:2] == ["PReNet", "FEAWAD"]


def test_every_method_has_a_colour_of_its_own():
    # no figure of the paper has others; today_figures has colours of its own
    shown = [name for name, method in METHODS.items() if method.group in ("table", "appendix", "ablation")]
    assert len({look(name)[0] for name in shown}) == len(shown)
    of_table = [LOOKS[name] for name in method_group("table", "appendix")]
    assert len({one.marker for one in of_table}) == len(of_table)


def test_the_theorem_shows_measured_and_predicted_scores(tmp_path):
    theorem().to_csv(tmp_path / "theorem.csv", index=False)
    assert [path.name for path in draw_figures(tmp_path, "theorem")] == ["theorem.png", "theorem.svg"]
    (axes,) = draw(theorem(), "theorem")["theorem"].axes
    assert sorted(line.get_linestyle() for line in axes.lines) == ["-", "-", "--", "--", ":"]
    assert len(axes.collections) == 2  # the bands


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "cannot be read as a table"),
        ("dataset,status,value,auc_pr_prenet\nbac,exact,15,0.5\n", "has no column parameter"),
        (
            "dataset,status,parameter,value,auc_pr_prenet\nbac,exact,n_labeled,15,high\n",
            "in column auc_pr_prenet that are not numbers",
        ),
        ("dataset,status,parameter,value,auc_pr_prenet\n", "no data set with values"),
        (
            "dataset,status,parameter,value,auc_pr_prenet\nAverage,exact,n_labeled,15,0.5\n",
            "no data set with values",
        ),
        (
            "dataset,status,parameter,value,auc_pr_nobody\nbac,exact,n_labeled,15,0.5\n",
            "no data set with values",
        ),
    ],
)
def test_a_bad_table_is_named_in_one_sentence(tmp_path, capsys, content, message):
    (tmp_path / "labels.csv").write_text(content)
    with pytest.raises(SystemExit) as stopped:
        main(["--results-dir", str(tmp_path)])
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert stopped.value.code == 2 and "labels.csv" in error and message in error
    assert not (tmp_path / "figures").exists()


def test_no_table_no_figure(tmp_path, capsys):
    assert draw_figures(tmp_path, "labels") == []
    with pytest.raises(SystemExit) as stopped:
        main(["--results-dir", str(tmp_path)])
    assert stopped.value.code == 2 and "run an experiment first" in capsys.readouterr().err
