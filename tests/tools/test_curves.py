"""The curves behind a run: by hand, against its AUC values and the run of the tables; resuming."""

import numpy as np
import pandas as pd
import pytest
from drivers import workers_here

from tools import curves
from weakly.loading.fetching import SourceFinder
from weakly.loading.store import prepare_all
from weakly.running.configuration import Cell
from weakly.running.processes import run_cells

METHODS = ("devnet", "iforest")


def as_arrays(table):
    """{curve: its points (n, 2)} of a table of curves."""
    return {name: part[["x", "y"]].to_numpy() for name, part in table.groupby("curve")}


def area_of_density(points):
    """The area under a density, of which points (n, 2) are the centres of its bins and their heights."""
    (first, _), (last, _) = points[0], points[-1]
    return points[:, 1].sum() * (last - first) / (len(points) - 1)


def start(data_dir, results_dir, *options):
    names = ["--datasets", "demo", "--methods", ",".join(METHODS), "--offline"]
    return curves.main([*names, "--data-dir", str(data_dir), "--results-dir", str(results_dir), *options])


@pytest.fixture(scope="module")
def data_dir(prepared_dir):
    prepare_all(["demo"], SourceFinder(prepared_dir / "raw", [], offline=True), prepared_dir)
    return prepared_dir


@pytest.fixture(scope="module")
def results(data_dir, tmp_path_factory):
    """A results folder with the curves of two methods."""
    folder = tmp_path_factory.mktemp("results")
    with workers_here():
        assert start(data_dir, folder) == 0
    return folder


def test_thinning_keeps_ends_and_corners():
    line = np.column_stack([np.linspace(0, 1, 1_000)] * 2)
    np.testing.assert_array_equal(curves.thinned(line), [[0, 0], [1, 1]])
    corner = np.vstack([line * [0, 1], line[1:] * [1, 0] + [0, 1]])  # up, then to the right
    np.testing.assert_array_equal(curves.thinned(corner), [[0, 0], [0, 1], [1, 1]])
    jagged = line + np.random.default_rng(0).normal(0, 0.01, line.shape)
    jagged[500, 1] = 2
    kept = curves.thinned(jagged, most=7)
    assert len(kept) == 7 and {2.0} < set(kept[:, 1])
    np.testing.assert_array_equal(kept[[0, -1]], jagged[[0, -1]])


def test_curves_by_hand():
    y_test, scores = np.array([False, True, False, True]), np.array([1.0, 2, 3, 5])
    made = as_arrays(curves.curves_of(y_test, scores, [0.7, 0.5]))
    np.testing.assert_array_equal(made["roc"], [[0, 0], [0, 0.5], [0.5, 0.5], [0.5, 1], [1, 1]])
    np.testing.assert_allclose(made["pr"], [[0, 1], [0.5, 1], [0.5, 1 / 2], [1, 2 / 3], [1, 1 / 2]])
    np.testing.assert_array_equal(made["loss"], [[1, 0.7], [2, 0.5]])
    width = (np.percentile(scores, 99.9) - np.percentile(scores, 0.1)) / 40
    anomalies = made["scores_anomalies"]
    assert np.flatnonzero(anomalies[:, 1]).tolist() == [
        9,
        39,
    ]  # of 1.003 to 4.994: 2 and 5, the latter beyond
    assert anomalies[9, 1] == pytest.approx(0.5 / width) and anomalies[9, 0] == pytest.approx(2, abs=width)


def test_an_outlier_leaves_the_bins_as_they_are():
    scores, y_test = np.append(np.linspace(0, 1, 5_000), 1e6), np.arange(5_001) >= 4_900
    made = as_arrays(curves.curves_of(y_test, scores, None))
    assert "loss" not in made and made["scores_normals"][-1, 0] < 1
    assert all(
        area_of_density(made[f"scores_{name}"]) == pytest.approx(1) for name in ("anomalies", "normals")
    )


def test_equal_scores_have_curves():
    made = as_arrays(curves.curves_of(np.arange(10) < 3, np.full(10, 0.25), None))
    np.testing.assert_array_equal(made["roc"], [[0, 0], [1, 1]])
    np.testing.assert_allclose(made["pr"], [[0, 1], [1, 0.3]])
    assert area_of_density(made["scores_normals"]) == pytest.approx(1)


def test_curves_agree_with_the_aucs(results):
    runs = pd.read_csv(results / "curves_runs.csv").set_index("method")
    table = pd.read_csv(results / "curves.csv")
    assert list(table) == ["dataset", "method", "curve", "x", "y"] and set(table["dataset"]) == {"demo"}
    assert table.groupby(["method", "curve"]).size().max() <= curves.MOST_POINTS
    for method, part in table.groupby("method"):
        made = as_arrays(part)
        (x, y), (recall, precision) = made["roc"].T, made["pr"].T
        assert np.trapezoid(y, x) == pytest.approx(runs["auc_roc"][method], abs=0.002)
        # average precision takes each step at its right end
        assert np.diff(recall) @ precision[1:] == pytest.approx(runs["auc_pr"][method], abs=0.01)
        for name in ("anomalies", "normals"):
            centres, density = (points := made[f"scores_{name}"]).T
            assert len(points) == 40 and area_of_density(points) == pytest.approx(1, abs=0.002)
            mean = centres @ density / density.sum()
            width = centres[1] - centres[0]
            assert mean == pytest.approx(runs[f"mean_score_{name}"][method], abs=width)
        assert ("loss" in made) == (method == "devnet")
        if method == "devnet":
            assert (
                made["loss"][:, 0].tolist() == list(range(1, 51)) and made["loss"][-1, 1] < made["loss"][0, 1]
            )


def test_the_run_is_that_of_the_tables(runs_here, data_dir, results):
    runs = pd.read_csv(results / "curves_runs.csv", float_precision="round_trip").set_index("method")
    cells = [Cell(method, "demo", "released", 60, 0.02, (0,), str(data_dir)) for method in METHODS]
    for cell, measured, error in run_cells(cells, jobs=1):
        assert error is None
        for name in ("auc_roc", "auc_pr", "mean_score_anomalies", "seed", "code"):
            assert runs[name][cell.method] == measured[name], (cell.method, name)
    assert (runs["data_status"] == "synthetic").all() and runs["run"].tolist() == [0, 0]


def test_a_second_start_makes_what_is_missing(runs_here, data_dir, results, tmp_path, capsys):
    paths = {name: tmp_path / name for name in ("curves.csv", "curves_runs.csv", "curves_provenance.json")}
    for name, path in paths.items():
        path.write_bytes((results / name).read_bytes())
    assert start(data_dir, tmp_path) == 0
    assert capsys.readouterr().out == "2 of 2 runs exist already and are kept.\n"
    runs = pd.read_csv(paths["curves_runs.csv"], dtype=str)
    runs.assign(code=runs["code"].where(runs["method"] != "iforest", "0" * 16)).to_csv(
        paths["curves_runs.csv"], index=False
    )
    assert start(data_dir, tmp_path) == 0
    first, line, last = capsys.readouterr().out.splitlines()
    assert first.startswith("1 of 2 runs") and line.startswith("demo iForest: AUC-ROC 0.") and "Wrote" in last
    assert paths["curves.csv"].read_bytes() == (results / "curves.csv").read_bytes()
    again = pd.read_csv(paths["curves_runs.csv"], dtype=str)
    columns = ["method", "auc_roc", "auc_pr", "data_sha256", "settings", "code"]
    pd.testing.assert_frame_equal(again[columns], runs[columns])
    assert paths["curves_provenance.json"].read_text().count('"runs_made"') == 2


def test_a_failed_run_says_why(tmp_path):
    result, error = curves.run_with_curves(Cell("iforest", "demo", "released", 60, 0.02, (0,), tmp_path), 0)
    assert result is None and error.startswith("DataError: demo is not prepared")


@pytest.mark.parametrize(
    "options, message",
    [
        (["--datasets", "rec,fuz->dos"], "not a data set of the experiment `seen`"),
        (["--methods", "nonsense"], "unknown method 'nonsense'"),
        (["--datasets", "thyroid"], "thyroid: no source file found"),
    ],
)
def test_refuses_in_one_sentence(options, message, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("PRENET_DATA", raising=False)
    with pytest.raises(SystemExit) as error:
        start(tmp_path / "dataset", tmp_path, *options)
    assert error.value.code == 2 and message in capsys.readouterr().err.splitlines()[-1]
