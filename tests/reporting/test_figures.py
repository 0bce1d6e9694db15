"""Figures from small made-up tables: what is drawn, what is left out, and clear errors."""

import io

import numpy as np
import pandas as pd
import pytest

from weakly.errors import UserError
from weakly.judging import cells
from weakly.reporting.charts import draw_runs
from weakly.reporting.figures import draw_all_figures, draw_figures, figure_of, panels_of
from weakly.reporting.pictures import figure
from weakly.reporting.sweeps import read_figure


def sweep(parameter, values, datasets, methods=("prenet", "devnet"), status="exact"):
    """A table of a sweep in which auc_pr is 0.5 for the first method, 0.4 for the next, with std 0.01."""
    rows = []
    for value in values:
        for dataset in [*datasets, "Average"]:
            row = {"parameter": parameter, "value": value, "dataset": dataset, "size": 9, "D": 2}
            row |= {"status": status, "runs": 2}
            for number, method in enumerate(methods):
                auc = 0.5 - number / 10
                row |= {f"auc_pr_{method}": auc, f"auc_pr_{method}_std": 0.01}
                row |= {f"auc_pr_weighted_{method}": 0.9 if status == "partial" else np.nan}
            rows.append(row)
    return pd.DataFrame(rows)


def theorem():
    shares = np.array([0.0, 0.3, 0.6])
    table = pd.DataFrame({"dataset": "bac", "status": "exact", "runs": 2, "share": shares, "auc_pr": 0.5})
    for kind, score in (("anomalies", 6 - shares), ("normals", 2 + shares)):
        table[[f"mean_score_{kind}", f"mean_score_{kind}_std", f"predicted_{kind}"]] = np.stack(
            [score, 0 * score + 0.1, score], axis=1
        )
    return table


def read(table, name):
    """A table as it is read from its file."""
    file = io.StringIO(table.to_csv(index=False))
    return read_figure(file, name)


def panels(table, name, set_up=""):
    """{title: axes} of a table's panels, as the page draws them."""
    drawn = panels_of(read(table, name), name, set_up)
    return {panel.title: panel.picture().axes[0] for panel in drawn}


def legend(table, name, set_up=""):
    """The texts of a figure's legend, and the figure as in Markdown."""
    picture = figure_of(read(table, name), name, set_up)
    return [text.get_text() for text in picture.legends[0].get_texts()], picture


def lines_of(axes, method):
    """(curve, published value) of a method: x and y of each, or None."""
    own = [line for line in axes.lines if line.get_gid() == f"data-method={method}"]
    points = {line.get_linestyle() == "None": line.get_xydata().tolist() for line in own}
    return points.get(False), points.get(True)


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Published values of its own: bac 0.45 for PReNet only, dos->bac 0.42, w7a 0.9, far from our curves."""
    folder = tmp_path / "published"
    folder.mkdir()
    values = pd.DataFrame({"dataset": ["bac", "w7a"], "auc_pr_prenet": [0.45, 0.9]})
    values.to_csv(folder / "seen.csv", index=False)
    pd.DataFrame({"dataset": ["dos->bac"], "auc_pr_prenet": [0.42]}).to_csv(
        folder / "unseen.csv", index=False
    )
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
    names, picture = legend(table, "contamination", "_synthetic")
    assert names == ["PReNet", "DevNet", "band: ± 1 std over runs"]
    assert "synthetic" in picture.get_suptitle() and picture.axes[0].get_title("left") == "bac (synthetic)"


def test_fig_4_ends_at_ten_per_cent_and_ticks_are_the_grid():
    axes = panels(sweep("contamination", [0.66, 0, 0.02, 0.1], ["bac"]), "contamination")["bac"]
    assert [text.get_text() for text in axes.texts][:3] == ["0", "2", "10"]
    assert lines_of(axes, "prenet")[0] == [[0, 0.5], [0.02, 0.5], [0.1, 0.5]]


def test_published_values_are_hollow_at_the_papers_setting_within_the_range(published):
    table = sweep("n_labeled", [15, 60], ["bac", "w7a", "dos->bac"])
    seen, unseen = panels(table, "labels_seen"), panels(table, "labels_unseen")
    assert list(seen) == ["bac", "w7a"] and list(unseen) == ["dos → bac"]
    assert lines_of(seen["bac"], "prenet")[1] == [[60, 0.45]] and lines_of(seen["w7a"], "prenet")[1] is None
    assert lines_of(unseen["dos → bac"], "prenet")[1] == [[60, 0.42]]
    assert "hollow: published" in legend(table, "labels_seen")[0]
    for path in published.iterdir():
        path.unlink()
    assert "hollow: published" not in legend(table, "labels_seen")[0]


def test_partial_data_is_weighted_and_its_name_grey():
    table = sweep("n_labeled", [15, 60], ["dos"], status="partial")
    axes = legend(table, "labels_seen")[1].axes[0]
    assert axes.get_title("left") == "dos (partial)" and lines_of(axes, "prenet")[0] == [[15, 0.9], [60, 0.9]]
    exact = legend(sweep("n_labeled", [15, 60], ["dos"]), "labels_seen")[1].axes[0]
    assert axes._left_title.get_color() != exact._left_title.get_color()


def test_a_method_that_a_data_set_lacks_is_left_out_there_only():
    table = sweep("n_labeled", [15, 60], ["bac", "news20"], ["prenet", "feawad"])
    table.loc[table["dataset"] == "news20", ["auc_pr_feawad", "auc_pr_weighted_feawad"]] = np.nan
    drawn = panels(table, "labels_seen")
    assert lines_of(drawn["bac"], "feawad")[0] and lines_of(drawn["news20"], "feawad") == (None, None)
    assert legend(table, "labels_seen")[0][:2] == ["PReNet", "FEAWAD"]


def test_the_theorem_shows_measured_and_predicted_scores(tmp_path):
    theorem().to_csv(tmp_path / "theorem.csv", index=False)
    assert [path.name for path in draw_figures(tmp_path, "theorem")] == ["theorem.png", "theorem.svg"]
    axes = panels(theorem(), "theorem")["bac"]
    assert sorted(line.get_linestyle() for line in axes.lines) == ["-", "-", "--", "--", ":"]
    assert len(axes.patches) == 2  # the bands


def test_every_run_has_a_dot_and_the_published_value_a_tick():
    axes = figure()[1]
    draw_runs({"prenet": [0.29, 0.31], "devnet": [0.4]}, {"prenet": 0.298}, axes)
    (prenet, devnet) = axes.patches
    assert prenet.get_path().vertices[::2].tolist() == [[0.29, 0], [0.31, 0]]
    assert devnet.get_path().vertices[::2].tolist() == [[0.4, 1]]
    assert [[tick[0, 0] for tick in ticks.get_segments()] for ticks in axes.collections] == [[0.298]]


HEAD = "dataset,status,parameter,value,auc_pr_prenet\n"


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "cannot be read as a table"),
        ("dataset,status,value,auc_pr_prenet\nbac,exact,15,0.5\n", "has no column parameter"),
        (f"{HEAD}bac,exact,n_labeled,15,high\n", "in column auc_pr_prenet that are not numbers"),
        (f"{HEAD}Average,exact,n_labeled,15,0.5\n", "no data set with values"),
    ],
)
def test_a_bad_table_is_named_in_one_sentence(tmp_path, content, message):
    assert draw_figures(tmp_path, "labels") == [] == draw_all_figures(tmp_path)  # no table, no figure
    (tmp_path / "labels.csv").write_text(content)
    with pytest.raises(UserError, match=f"labels.csv .*{message}"):
        draw_all_figures(tmp_path)
    assert not (tmp_path / "figures").exists()
