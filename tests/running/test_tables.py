"""Run files and tables: nothing lost, nothing averaged that does not belong together."""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

import compare
from weakly.errors import UserError
from weakly.judging.cells import PUBLISHED
from weakly.judging.tables import (
    averages,
    by_method,
    paper_layout,
    read_table,
    repeat_without_labels,
    table_suffix,
    write_tables,
)
from weakly.methods import Method, make_detector
from weakly.reporting import theorem
from weakly.running.configuration import Cell
from weakly.running.runs_file import RUN_COLUMNS, RunsFile, latest_runs
from weakly.running.runs_file import select_runs as select_runs_with
from weakly.running.single_run import describe_settings

CELL_COLUMNS = [field.name for field in fields(Cell) if field.name in RUN_COLUMNS]


def paper_table(runs):
    """The table of runs as it is written."""
    return paper_layout(averages(runs))


def run_row(**changes):
    row = dict(
        experiment="seen", method="prenet", dataset="thyroid", protocol="released", run=0, seed=0,
        n_labeled=60, contamination=0.02, auc_roc=0.8, auc_pr=0.3, auc_pr_weighted="",
        mean_score_anomalies=6.0, mean_score_normals=2.0, fit_seconds=0.1, score_seconds=0.01,
        data_status="exact", rows=7200, features=21, data_sha256="aa", settings="epochs=50", code="c1",
        scaling="prepared",
    )  # fmt: skip
    return row | changes


def runs_table(*rows):
    runs = pd.DataFrame([run_row(**row) for row in rows])[RUN_COLUMNS]
    return runs.assign(auc_pr_weighted=pd.to_numeric(runs["auc_pr_weighted"]))  # as RunsFile.read gives it


def cell(point=(), **changes):
    """What would be asked for to get run_row."""
    row = run_row(**changes)
    return Cell(**{name: row[name] for name in CELL_COLUMNS}, point=point)


def select_runs(runs, current, **settings):
    """select_runs for methods whose settings and code are those of run_row; other settings by name."""
    settings = dict.fromkeys(("prenet", "devnet", "iforest"), run_row()["settings"]) | settings
    code = run_row()["code"]
    todays = [replace(current[0], method=name, settings=settings[name], code=code) for name in settings]
    return select_runs_with(runs, current, todays)


@pytest.mark.parametrize("name, value", [("auc_roc", 7.5), ("auc_pr", -0.1), ("auc_pr_weighted", "inf")])
def test_an_area_that_cannot_be_is_refused_with_its_line(tmp_path, name, value):
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    for run, changes in enumerate([{"auc_pr": 1 + 1e-15}, {"auc_roc": 0.0}, {name: value}, {"auc_pr": 0.4}]):
        runs_file.append(run_row(run=run, seed=run, **changes))
    sentence = f"seen_runs.csv cannot be read .*: line 4 has an {name} of {value}, outside 0 to 1"
    with pytest.raises(UserError, match=sentence):
        runs_file.read()


@pytest.mark.parametrize("run, seed", [(1.5, 1.5), (1, 2), (-1, -1), (2e5, 2e5)])
def test_a_run_whose_number_is_not_its_seed_is_refused_with_its_line(tmp_path, run, seed):
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    for row in (run_row(), run_row(run=run, seed=seed)):
        runs_file.append(row)
    with pytest.raises(UserError, match=f"line 3 has run {run:g} and seed {seed:g}, not the number of a"):
        runs_file.read()


def test_runs_survive_a_round_trip_at_full_precision(tmp_path):
    runs_file = RunsFile(tmp_path / "new" / "folder", "seen")
    runs_file.open_for_append()
    values = np.random.default_rng(0).random(200)
    for run, value in enumerate(values):
        runs_file.append(run_row(run=run, seed=run, auc_pr=value, settings="a=1 b=(2, 3)"))
    runs = runs_file.read()
    assert list(runs.columns) == RUN_COLUMNS
    np.testing.assert_array_equal(runs["auc_pr"], values)
    assert set(runs["settings"]) == {"a=1 b=(2, 3)"}


def test_a_row_has_the_columns_of_before_in_their_order(tmp_path):
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    others = set(RUN_COLUMNS) - set(CELL_COLUMNS) | {"code"}  # the worker says by which code
    runs_file.append(cell().row({name: run_row(code="c2")[name] for name in others}))
    assert runs_file.path.read_bytes() == (
        b"experiment,method,dataset,protocol,run,seed,n_labeled,contamination,auc_roc,auc_pr,auc_pr_weighted,"
        b"mean_score_anomalies,mean_score_normals,fit_seconds,score_seconds,data_status,rows,features,"
        b"data_sha256,settings,code,scaling\r\n"
        b"seen,prenet,thyroid,released,0,0,60,0.02,0.8,0.3,,6.0,2.0,0.1,0.01,exact,7200,21,aa,epochs=50,c2,"
        b"prepared\r\n"
    )


def test_a_repeated_run_replaces_the_older_one(tmp_path):
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    runs_file.append(run_row(auc_pr=0.1))
    runs_file.append(run_row(auc_pr=0.2))
    assert runs_file.read()["auc_pr"].tolist() == [0.2]


@pytest.mark.parametrize("kept", [0, 30, -2])
def test_a_header_that_was_cut_off_is_written_again(tmp_path, kept):
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    header = runs_file.path.read_bytes()
    runs_file.path.write_bytes(header[:kept])
    runs_file.open_for_append()
    assert runs_file.path.read_bytes() == header


def test_averages_by_hand():
    table = paper_table(
        runs_table(
            dict(auc_pr=0.2),
            dict(run=1, auc_pr=0.4),
            dict(dataset="bac", auc_pr=0.9, rows=95329, features=196),
        )
    )
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
    assert average["status"] == "exact, 1 set"


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
    assert select_runs(runs, [cell()])["auc_pr"].tolist() == [0.6, 0.8]
    assert select_runs(runs, [cell(protocol="independent")])["auc_pr"].tolist() == [0.3]
    assert select_runs(runs, [cell(n_labeled=15)]).empty


def test_the_table_shows_what_was_asked_for_not_what_was_run_last():
    runs = runs_table(
        dict(auc_pr=0.1, data_sha256="x"),
        dict(auc_pr=0.2, data_sha256="y"),
        dict(auc_pr=0.3, data_sha256="y", settings="z"),
    )
    assert select_runs(runs, [cell(data_sha256="x")])["auc_pr"].tolist() == [0.1]
    assert select_runs(runs, [cell(data_sha256="y")])["auc_pr"].tolist() == [0.2]
    assert select_runs(runs, [cell(dataset="bac")])["auc_pr"].tolist() == [
        0.2
    ]  # the latest data, with today's settings
    assert select_runs(runs, [cell(dataset="bac")], prenet="z")["auc_pr"].tolist() == [0.3]
    assert select_runs(runs, [cell(dataset="bac")], prenet="w").empty


def test_all_methods_of_a_row_were_run_on_the_same_data():
    """PReNet on a part of thyroid must not appear beside DevNet on the whole of it, marked exact."""
    runs = runs_table(
        dict(auc_pr=0.9, data_sha256="part", data_status="partial"), dict(method="devnet", auc_pr=0.4)
    )
    chosen = select_runs(runs, [cell(method="devnet")])
    assert chosen["method"].tolist() == ["devnet"]
    moved = runs_table(
        dict(auc_pr=0.9), dict(auc_pr=0.9, data_status="partial")
    )  # the same file, now in partial/
    assert select_runs(moved, [cell(data_status="partial")])["data_status"].tolist() == ["partial"]


def test_only_runs_by_the_code_of_today_are_shown():
    other = dict(method="devnet", code="c0")
    runs = runs_table(dict(auc_pr=0.1, code="c0"), dict(auc_pr=0.2), dict(run=1, auc_pr=0.3, code=""), other)
    assert select_runs(runs, [cell()])["auc_pr"].tolist() == [0.2]


def test_runs_by_several_codes_are_never_mixed():
    """The newest code is what was written last; each method, data set and set-up has its own."""
    runs = runs_table(
        dict(auc_pr=0.1, code="c2"), dict(run=1, auc_pr=0.2, code="c2"), dict(auc_pr=0.3, code="c1"),
        dict(method="devnet", auc_pr=0.4, code="c3"), dict(auc_pr=0.5, code="c2", protocol="independent"),
    )  # fmt: skip
    assert latest_runs(runs)["auc_pr"].tolist() == [0.3, 0.4, 0.5]


def test_other_set_ups_get_their_own_table():
    assert table_suffix("released", 60, 0.02, "prepared") == ""
    assert table_suffix("independent", 30, 0.05, "cut") == "_independent_30labels_0.05contamination_cut"


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
    assert (thyroid["published"], thyroid["reproduced"], thyroid["std"]) == (
        0.298,
        pytest.approx(0.32),
        pytest.approx(0.01),
    )
    assert thyroid["difference"] == pytest.approx(0.022)
    average = table.loc[("Average", "prenet", "auc_pr")]
    assert average["published"] == pytest.approx(
        (0.298 + 0.890) / 2
    )  # of the same two sets, not of the paper's twelve
    printed = capsys.readouterr().out
    assert "average of 2" in printed and ".600=.594" in printed and "1 1 0" in printed
    markdown = (tmp_path / "comparison.md").read_text()
    assert "| Table 2, seen anomalies | AUC-PR | PReNet | 2 | 0.016 | 0.022 | thyroid |" in markdown
    assert "The average is that of bac, thyroid." in markdown and "| dos (partial) |" in markdown


def test_a_data_set_of_your_own_is_in_the_table_but_not_in_its_average(tmp_path, capsys):
    own = dict(dataset="mydata", auc_pr=0.9, rows=10, features=2)
    table = write_tables(runs_table(own), tmp_path / "own", "seen")[tmp_path / "own" / "seen.csv"]
    assert set(table["dataset"]) == {"mydata", "Average"}
    assert not compare.compare(tmp_path / "own", "seen")  # nothing to compare it with
    write_tables(runs_table(own, dict(auc_pr=0.31)), tmp_path / "both", "seen")
    both = by_method(read_table(tmp_path / "both" / "seen.csv"))["prenet"]
    assert both.to_dict() == {"thyroid": 0.31, "mydata": 0.9, "Average": 0.31}
    on_disk = pd.read_csv(tmp_path / "both" / "seen.csv")  # no Average, which would make floats of counts
    assert on_disk["dataset"].tolist() == ["thyroid", "mydata"]
    assert (on_disk[["size", "D", "runs"]].dtypes == "int64").all()
    assert compare.compare(tmp_path / "both", "seen")


def test_comparing_nothing_says_what_to_do(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        compare.main(["--results-dir", str(tmp_path)])
    assert stop.value.code == 2 and "run ./run_seen.sh with data first" in capsys.readouterr().err


def test_methods_that_the_paper_does_not_list_are_left_out_of_the_comparison(tmp_path, monkeypatch):
    monkeypatch.setitem(compare.METHODS, "mine", Method("Mine", "mine", "Mine"))
    write_tables(runs_table(dict(auc_pr=0.3), dict(method="mine", auc_pr=0.9)), tmp_path, "seen")
    assert compare.compare(tmp_path, "seen")
    assert set(pd.read_csv(tmp_path / "seen_vs_published.csv")["method"]) == {"prenet"}


# --- sweeps, and sets with unseen classes


def test_a_sweep_has_rows_for_each_value():
    """The default value belongs to every sweep, its runs are made once.

    A data set of an earlier start is shown, too.
    """
    runs = runs_table(
        dict(auc_pr=0.1, settings="l2=1 m=1"),
        dict(auc_pr=0.3, settings="l2=1 m=1", run=1),
        dict(auc_pr=0.4, settings="l2=1 m=2"),
        dict(auc_pr=0.5, settings="l2=2 m=1"),
        dict(dataset="bac", auc_pr=0.7, settings="l2=1 m=2"),
        dict(method="devnet", settings="l2=1", auc_pr=0.9),
        dict(method="devnet", settings="l2=1", auc_pr=0.9, run=1),
    )
    points = [("m", 1, "l2=1 m=1"), ("m", 2, "l2=1 m=2"), ("l2", 1, "l2=1 m=1"), ("l2", 2, "l2=2 m=1")]
    chosen = (
        (runs, [cell((parameter, value), settings=settings)], settings)
        for parameter, value, settings in points
    )
    table = paper_table(
        pd.concat(select_runs(*start, prenet=settings, devnet="l2=1") for *start, settings in chosen)
    )
    rows = table.loc[
        table["dataset"] != "Average", ["parameter", "value", "dataset", "auc_pr_prenet", "runs"]
    ].values.tolist()
    assert rows == [
        ["m", 1, "thyroid", 0.2, 2], ["m", 2, "bac", 0.7, 1], ["m", 2, "thyroid", 0.4, 1],
        ["l2", 1, "thyroid", 0.2, 2], ["l2", 2, "thyroid", 0.5, 1],
    ]  # fmt: skip
    assert (table.loc[table["dataset"] == "thyroid", "auc_pr_devnet"] == 0.9).all()  # of an earlier start
    assert table.loc[table["dataset"] == "Average", "auc_pr_prenet"].tolist() == [
        0.2,
        0.4,
        0.2,
        0.5,
    ]  # bac lacks a method


def test_a_sweep_over_the_set_up_keeps_other_methods():
    runs = runs_table(
        dict(n_labeled=15, auc_pr=0.1),
        dict(n_labeled=30, auc_pr=0.2),
        dict(n_labeled=15, method="devnet", auc_pr=0.3),
    )
    chosen = select_runs(runs, [cell(("n_labeled", 15), n_labeled=15)])
    assert dict(zip(chosen["method"], chosen["auc_pr"])) == {"prenet": 0.1, "devnet": 0.3}


def test_iforest_is_repeated_for_every_set_of_its_unseen_class():
    partial = dict(data_status="partial")
    runs = runs_table(
        dict(dataset="dos->bac", **partial),
        dict(dataset="rec,dos,fuz->bac", **partial),
        dict(dataset="rec,bac->dos", **partial),
        dict(dataset="rec,dos,fuz->bac", method="iforest", auc_pr=0.05, **partial),
        dict(dataset="thyroid", method="iforest", auc_pr=0.1),
    )
    table = paper_table(repeat_without_labels(runs, ["fuz->bac", "thyroid"])).set_index("dataset")
    expected = {
        "thyroid": 0.1,
        "dos->bac": 0.05,
        "fuz->bac": 0.05,
        "rec,dos,fuz->bac": 0.05,
        "rec,bac->dos": np.nan,
    }
    assert list(table.index) == [*expected] + ["Average seen", "Average unseen"]
    values = table["auc_pr_iforest"].drop(["Average seen", "Average unseen"])
    pd.testing.assert_series_equal(values.sort_index(), pd.Series(expected).sort_index(), check_names=False)
    assert table.loc["dos->bac", "size"] == 7200 and pd.isna(
        table.loc["fuz->bac", "size"]
    )  # not that of the set it was run on


def test_sets_with_unseen_classes_are_of_one_version():
    """Runs on an older UNSW matrix do not stand beside those on the present one."""
    old = dict(data_sha256="old", data_status="partial")
    runs = runs_table(
        dict(dataset="dos->bac", **old), dict(dataset="fuz->bac", **old), dict(dataset="rec->bac")
    )
    assert select_runs(runs, [cell(dataset="rec->bac")])["dataset"].tolist() == ["rec->bac"]
    assert select_runs(runs, [cell(dataset="thyroid")])["dataset"].tolist() == ["rec->bac"]


def test_the_paper_does_not_print_iforests_auc_pr_on_unseen_sets(tmp_path):
    """It repeats the seen results there, with another share of anomalies in the test set."""
    runs = runs_table(*(dict(dataset="rec,dos,fuz->bac", method=method) for method in ("prenet", "iforest")))
    write_tables(runs, tmp_path, "unseen")
    assert compare.compare(tmp_path, "unseen")
    table = pd.read_csv(tmp_path / "unseen_vs_published.csv")
    assert table.loc[table["method"] == "iforest", "metric"].unique().tolist() == ["auc_roc"]


def test_average_of_partial_data_says_so():
    partial = dict(data_status="partial")
    runs = runs_table(
        dict(dataset="dos->bac", auc_pr=0.2, **partial), dict(dataset="fuz->bac", auc_pr=0.4, **partial)
    )
    average = paper_table(runs).iloc[-1]
    assert average["status"] == "partial, 2 sets" and average["auc_pr_prenet"] == pytest.approx(0.3)


def test_weighted_auc_is_compared_with_the_published_one(tmp_path, capsys):
    runs = runs_table(
        *(
            dict(dataset=name, auc_pr=0.2, auc_pr_weighted=0.9, data_status="partial")
            for name in ("dos->bac", "fuz->bac")
        )
    )
    write_tables(runs, tmp_path, "unseen")
    assert compare.compare(tmp_path, "unseen")
    table = pd.read_csv(tmp_path / "unseen_vs_published.csv").set_index(["dataset", "metric"])
    assert table.loc[("dos->bac", "auc_pr_weighted"), "difference"] == pytest.approx(0.9 - 0.908)
    assert table.loc[("dos->bac", "auc_pr"), "difference"] == pytest.approx(0.2 - 0.908)
    out = capsys.readouterr().out
    assert "dos->bac*" in out and ".900=.908" in out and "Average of dos->bac, fuz->bac" in out


# --- the theorem


def test_theorem_by_hand():
    """Labels 8, 4, 0: an anomaly's score is 6; a normal row's 2 + 6 epsilon, which reaches 6 at 2/3."""
    assert theorem.predicted_scores(0, 4) == (6, 2) and theorem.predicted_scores(2 / 3, 4) == (
        6,
        pytest.approx(6),
    )
    assert theorem.share_in_unlabeled(0.5, "independent") == 0.5
    assert theorem.share_in_unlabeled(0.5, "released") == pytest.approx(
        1 / 1.8
    )  # as many anomalies as all normals, of which U has 80%
    runs = runs_table(
        dict(contamination=0.5, mean_score_anomalies=5, mean_score_normals=3, auc_pr=0.3),
        dict(contamination=0.5, mean_score_anomalies=7, mean_score_normals=3, auc_pr=0.5, run=1),
        dict(contamination=0.0, mean_score_anomalies=8, mean_score_normals=1, auc_pr=0.6),
        dict(method="devnet"),
        dict(dataset="bac", contamination=0.1),  # of a start without --theorem
    )  # fmt: skip
    table = theorem.theorem_table(runs)
    assert theorem.theorem_table(runs, 2)["predicted_anomalies"].tolist() == [3, 3] and set(
        table["dataset"]
    ) == {"thyroid"}
    assert table["contamination"].tolist() == [0, 0.5] and table["runs"].tolist() == [1, 2]
    row = table.iloc[1]
    assert (
        row["mean_score_anomalies"],
        row["mean_score_anomalies_std"],
        row["mean_score_normals"],
        row["auc_pr"],
    ) == (6, 1, 3, 0.4)
    assert row["predicted_anomalies"] == 6 and row["predicted_normals"] == pytest.approx(2 + 6 / 1.8)


def test_reference_results_have_todays_settings(tmp_path):
    """Or gap_table would show next to nothing of what is there."""
    reference = RunsFile(PUBLISHED.parent / "results" / "reference", "seen")
    runs = reference.read()
    for method, settings in runs.groupby("method")["settings"]:
        assert set(settings) == {describe_settings(make_detector(method))}
    copied = RunsFile(tmp_path, "seen")
    copied.path.write_bytes(reference.path.read_bytes())
    copied.open_for_append()  # accepts its columns
    pd.testing.assert_frame_equal(copied.read(), runs, check_exact=True)
