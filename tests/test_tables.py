"""Run files and tables: nothing lost, nothing averaged that does not belong together."""

import numpy as np
import pandas as pd
import pytest

import compare
from methods import Method
from tables import RUN_COLUMNS, ResultsError, RunsFile, paper_table, select_runs, table_suffix, write_tables


def run_row(**changes):
    row = dict(
        experiment="seen", method="prenet", dataset="thyroid", protocol="released", run=0, seed=0, n_labeled=60, contamination=0.02,
        auc_roc=0.8, auc_pr=0.3, auc_pr_weighted="", mean_score_anomalies=6.0, mean_score_normals=2.0, fit_seconds=0.1, score_seconds=0.01, data_status="exact", rows=7200,
        features=21, data_sha256="aa", settings="epochs=50",
    )  # fmt: skip
    return row | changes


def runs_table(*rows):
    return pd.DataFrame([run_row(**row) for row in rows])[RUN_COLUMNS].replace({"auc_pr_weighted": {"": np.nan}})


def test_runs_survive_a_round_trip_at_full_precision(tmp_path):
    runs_file = RunsFile(tmp_path / "new" / "folder", "seen")
    runs_file.open_for_append()
    values = np.random.default_rng(0).random(200)
    for run, value in enumerate(values):
        runs_file.append(run_row(run=run, auc_pr=value, settings="a=1 b=(2, 3)"))
    runs = runs_file.read()
    assert list(runs.columns) == RUN_COLUMNS
    np.testing.assert_array_equal(runs["auc_pr"], values)
    assert set(runs["settings"]) == {"a=1 b=(2, 3)"}


def test_a_half_written_last_line_is_dropped_and_its_neighbours_kept(tmp_path, capsys):
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    for run in range(3):
        runs_file.append(run_row(run=run))
    content = runs_file.path.read_bytes()
    runs_file.path.write_bytes(content[:-20])
    runs_file.open_for_append()
    assert "cut off" in capsys.readouterr().out
    runs_file.append(run_row(run=2))
    assert runs_file.read()["run"].tolist() == [0, 1, 2]
    assert runs_file.path.read_bytes() == content


def test_a_repeated_run_replaces_the_older_one(tmp_path):
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    runs_file.append(run_row(auc_pr=0.1))
    runs_file.append(run_row(auc_pr=0.2))
    assert runs_file.read()["auc_pr"].tolist() == [0.2]


def test_a_foreign_file_is_refused_and_left_alone(tmp_path):
    (tmp_path / "seen_runs.csv").write_text("a,b\n1,2\n3,4")
    with pytest.raises(ResultsError, match="other columns"):
        RunsFile(tmp_path, "seen").open_for_append()
    assert (tmp_path / "seen_runs.csv").read_text() == "a,b\n1,2\n3,4"


@pytest.mark.parametrize("kept", [0, 30, -2])
def test_a_header_that_was_cut_off_is_written_again(tmp_path, kept):
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    header = runs_file.path.read_bytes()
    runs_file.path.write_bytes(header[:kept])
    runs_file.open_for_append()
    assert runs_file.path.read_bytes() == header


def test_averages_by_hand():
    table = paper_table(runs_table(dict(auc_pr=0.2), dict(run=1, auc_pr=0.4), dict(dataset="bac", auc_pr=0.9, rows=95329, features=196)))
    assert table["dataset"].tolist() == ["bac", "thyroid", "Average"]  # the paper's order
    thyroid = table.iloc[1]
    assert (thyroid["size"], thyroid["D"], thyroid["runs"]) == (7200, 21, 2)
    assert thyroid["auc_pr_prenet"] == pytest.approx(0.3)
    assert thyroid["auc_pr_prenet_std"] == pytest.approx(0.1)  # ddof = 0
    assert table.iloc[2]["auc_pr_prenet"] == pytest.approx(0.6)


def test_average_counts_exact_sets_that_all_methods_have():
    table = paper_table(
        runs_table(
            dict(auc_pr=0.2),
            dict(method="devnet", auc_pr=0.4),
            dict(dataset="bac", auc_pr=0.9),  # without DevNet
            dict(dataset="dos", auc_pr=0.7, data_status="partial"),
            dict(dataset="dos", method="devnet", auc_pr=0.7, data_status="partial"),
        )
    )
    average = table[table["dataset"] == "Average"].iloc[0]
    assert (average["auc_pr_prenet"], average["auc_pr_devnet"]) == (pytest.approx(0.2), pytest.approx(0.4))
    assert average["status"] == "exact, 1 sets"


def test_configurations_are_never_mixed():
    runs = runs_table(
        dict(auc_pr=0.1, settings="epochs=5"),
        dict(auc_pr=0.2, data_sha256="bb"),
        dict(auc_pr=0.3, protocol="independent"),
        dict(auc_pr=0.4, n_labeled=30),
        dict(auc_pr=0.5, contamination=0.05),
        dict(auc_pr=0.6),
        dict(auc_pr=0.8, run=1),
    )
    assert select_runs(runs, [run_row()])["auc_pr"].tolist() == [0.6, 0.8]
    assert select_runs(runs, [run_row(protocol="independent")])["auc_pr"].tolist() == [0.3]
    assert select_runs(runs, [run_row(n_labeled=15)]).empty


def test_the_table_shows_what_was_asked_for_not_what_was_run_last():
    runs = runs_table(dict(auc_pr=0.1, data_sha256="x"), dict(auc_pr=0.2, data_sha256="y"), dict(auc_pr=0.3, data_sha256="y", settings="z"))
    assert select_runs(runs, [run_row(data_sha256="x")])["auc_pr"].tolist() == [0.1]
    assert select_runs(runs, [run_row(data_sha256="y")])["auc_pr"].tolist() == [0.2]
    assert select_runs(runs, [run_row(dataset="bac")])["auc_pr"].tolist() == [0.2]  # the latest data, with the settings asked for
    assert select_runs(runs, [run_row(method="devnet")])["auc_pr"].tolist() == [0.3]  # nothing known about it: the latest


def test_all_methods_of_a_row_were_run_on_the_same_data():
    """PReNet on a part of thyroid must not appear beside DevNet on the whole of it, marked exact."""
    runs = runs_table(dict(auc_pr=0.9, data_sha256="part", data_status="partial"), dict(method="devnet", auc_pr=0.4))
    chosen = select_runs(runs, [run_row(method="devnet")])
    assert chosen["method"].tolist() == ["devnet"]
    moved = runs_table(dict(auc_pr=0.9), dict(auc_pr=0.9, data_status="partial"))  # the same file, now in partial/
    assert select_runs(moved, [run_row(data_status="partial")])["data_status"].tolist() == ["partial"]


def test_other_set_ups_get_their_own_table():
    assert table_suffix("released", 60, 0.02) == ""
    assert table_suffix("independent", 30, 0.05) == "_independent_30labels_0.05contamination"


def test_synthetic_data_has_a_table_of_its_own(tmp_path):
    runs = runs_table(dict(), dict(dataset="demo", data_status="synthetic"))
    assert [path.name for path in write_tables(runs, tmp_path, "seen")] == ["seen.csv", "seen_synthetic.csv"]
    assert "demo" not in (tmp_path / "seen.csv").read_text()
    assert (tmp_path / "seen_synthetic.csv").read_text().count("\n") == 2  # and no Average


# ---------------------------------------------------------------------------- comparison


def test_comparison_by_hand(tmp_path, capsys):
    runs = runs_table(
        dict(auc_pr=0.31, auc_roc=0.781),
        dict(run=1, auc_pr=0.33, auc_roc=0.781),
        dict(dataset="bac", auc_pr=0.88, auc_roc=0.976, rows=95329, features=196),
        dict(dataset="dos", auc_pr=0.5, auc_roc=0.5, data_status="partial"),
    )
    write_tables(runs, tmp_path, "seen")
    assert compare.main(["--results-dir", str(tmp_path)]) == 0
    table = pd.read_csv(tmp_path / "seen_vs_published.csv").set_index(["dataset", "method", "metric"])
    thyroid = table.loc[("thyroid", "prenet", "auc_pr")]
    assert (thyroid["published"], thyroid["reproduced"], thyroid["std"]) == (0.298, pytest.approx(0.32), pytest.approx(0.01))
    assert thyroid["difference"] == pytest.approx(0.022)
    average = table.loc[("Average", "prenet", "auc_pr")]
    assert average["published"] == pytest.approx((0.298 + 0.890) / 2)  # of the same two sets, not of the paper's twelve
    printed = capsys.readouterr().out
    assert "over 2 exact data sets" in printed and "mean 0.0160, largest 0.0220 (thyroid)" in printed
    assert printed.index("thyroid") < printed.index("not comparable") < printed.index("  dos")


def test_comparing_nothing_says_what_to_do(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        compare.main(["--results-dir", str(tmp_path)])
    assert stop.value.code == 2 and "run ./run_seen.sh with data first" in capsys.readouterr().err


def test_methods_that_the_paper_does_not_list_are_left_out_of_the_comparison(tmp_path, monkeypatch):
    monkeypatch.setitem(compare.METHODS, "mine", Method("Mine", "mine", "Mine"))
    write_tables(runs_table(dict(auc_pr=0.3), dict(method="mine", auc_pr=0.9)), tmp_path, "seen")
    assert compare.compare(tmp_path, "seen")
    assert set(pd.read_csv(tmp_path / "seen_vs_published.csv")["method"]) == {"prenet"}
