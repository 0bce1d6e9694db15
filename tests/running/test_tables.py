"""Run files and tables: nothing lost, nothing averaged that does not belong together."""

from dataclasses import asdict, fields, replace

import numpy as np
import pandas as pd
import pytest

import compare
from weakly.judging.cells import PUBLISHED
from weakly.judging.tables import (
    averages,
    by_method,
    paper_layout,
    read_table,
    repeat_without_labels,
    table_suffix,
    with_averages,
    write_tables,
)
from weakly.methods import make_detector
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


@pytest.fixture
def runs_file(tmp_path):
    runs_file = RunsFile(tmp_path / "new" / "folder", "seen")
    runs_file.open_for_append()
    return runs_file


def test_runs_survive_a_round_trip_at_full_precision(runs_file):
    values = np.random.default_rng(0).random(200)
    for run, value in [(0, 0.5), *enumerate(values)]:  # a repeated run replaces the older one
        runs_file.append(run_row(run=run, seed=run, auc_pr=value, settings="a=1 b=(2, 3)"))
    runs = runs_file.read()
    np.testing.assert_array_equal(runs["auc_pr"], values)
    assert set(runs["settings"]) == {"a=1 b=(2, 3)"}


def test_the_columns_stay_and_a_header_that_was_cut_off_is_written_again(runs_file):
    header = runs_file.path.read_bytes()
    for kept in (0, 30, -2):
        runs_file.path.write_bytes(header[:kept])
        runs_file.open_for_append()
        assert runs_file.path.read_bytes() == header and header.endswith(b"\r\n")
    others = set(RUN_COLUMNS) - set(CELL_COLUMNS) | {"code"}  # the worker says by which code
    runs_file.append(asdict(cell()) | {name: run_row(code="c2")[name] for name in others})
    assert runs_file.path.read_text() == (
        "experiment,method,dataset,protocol,run,seed,n_labeled,contamination,auc_roc,auc_pr,auc_pr_weighted,"
        "mean_score_anomalies,mean_score_normals,fit_seconds,score_seconds,data_status,rows,features,"
        "data_sha256,settings,code,scaling\n"
        "seen,prenet,thyroid,released,0,0,60,0.02,0.8,0.3,,6.0,2.0,0.1,0.01,exact,7200,21,aa,epochs=50,c2,"
        "prepared\n"
    )


def test_averages_by_hand():
    runs = runs_table(
        dict(auc_pr=0.2), dict(run=1, auc_pr=0.4),
        dict(method="devnet", auc_pr=0.4), dict(method="devnet", run=1, auc_pr=0.4),
        dict(dataset="bac", auc_pr=0.9),  # without DevNet
        dict(dataset="dos", auc_pr=0.7, data_status="partial"),
        dict(dataset="dos", method="devnet", auc_pr=0.7, data_status="partial"),
    )  # fmt: skip
    table = paper_table(runs).set_index("dataset")
    assert list(table.index) == ["dos", "bac", "thyroid", "Average"]  # the paper's order
    thyroid, average = table.loc["thyroid"], table.loc["Average"]
    assert (thyroid["size"], thyroid["D"], thyroid["runs"]) == (7200, 21, 2)
    assert thyroid["auc_pr_prenet"] == pytest.approx(0.3)
    assert thyroid["auc_pr_prenet_std"] == pytest.approx(0.1)  # ddof = 0
    # of exact sets that all methods have
    assert (average["auc_pr_prenet"], average["auc_pr_devnet"]) == (pytest.approx(0.3), pytest.approx(0.4))
    assert average["status"] == "exact, 1 set"


MIXED = [
    dict(auc_pr=0.1, settings="epochs=5"), dict(auc_pr=0.2, data_sha256="bb"),
    dict(auc_pr=0.3, protocol="independent"), dict(auc_pr=0.4, n_labeled=30),
    dict(auc_pr=0.5, contamination=0.05), dict(auc_pr=0.6), dict(auc_pr=0.8, run=1),
]  # fmt: skip
VERSIONS = [
    dict(auc_pr=0.1, data_sha256="x"), dict(auc_pr=0.2, data_sha256="y"),
    dict(auc_pr=0.3, data_sha256="y", settings="z"),
]  # fmt: skip
CODES = [dict(auc_pr=0.1, code="c0"), dict(auc_pr=0.2), dict(run=1, auc_pr=0.3, code="")]
PART = dict(auc_pr=0.9, data_sha256="part", data_status="partial")
MOVED = [dict(auc_pr=0.9), dict(auc_pr=0.8, data_status="partial")]  # the same file, now in partial/
OLD_UNSW = [dict(dataset=name, data_sha256="old") for name in ("dos->bac", "fuz->bac")]


@pytest.mark.parametrize("rows, asked, todays, shown", [
    (MIXED, {}, "epochs=50", [0.6, 0.8]),
    (MIXED, dict(protocol="independent"), "epochs=50", [0.3]),
    # what was asked for, not what was run last
    (VERSIONS, dict(data_sha256="x"), "epochs=50", [0.1]),
    (VERSIONS, dict(data_sha256="y"), "epochs=50", [0.2]),
    # of another data set the latest data, with today's settings
    (VERSIONS, dict(dataset="bac"), "epochs=50", [0.2]),
    (VERSIONS, dict(dataset="bac"), "z", [0.3]),
    # PReNet on a part of thyroid must not appear beside DevNet on the whole of it, marked exact
    ([PART, dict(method="devnet", auc_pr=0.4)], dict(method="devnet"), "epochs=50", [0.4]),
    (MOVED, dict(data_status="partial"), "epochs=50", [0.8]),
    (CODES, {}, "epochs=50", [0.2]),  # only runs by the code of today
    # sets with unseen classes are of one version: they share a matrix
    ([*OLD_UNSW, dict(dataset="rec->bac", auc_pr=0.7)], dict(dataset="thyroid"), "epochs=50", [0.7]),
])  # fmt: skip
def test_configurations_are_never_mixed(rows, asked, todays, shown):
    assert select_runs(runs_table(*rows), [cell(**asked)], prenet=todays)["auc_pr"].tolist() == shown


def test_runs_by_several_codes_are_never_mixed():
    """The newest code is what was written last; each method, data set and set-up has its own."""
    runs = runs_table(
        dict(auc_pr=0.1, code="c2"), dict(run=1, auc_pr=0.2, code="c2"), dict(auc_pr=0.3, code="c1"),
        dict(method="devnet", auc_pr=0.4, code="c3"), dict(auc_pr=0.5, code="c2", protocol="independent"),
    )  # fmt: skip
    assert latest_runs(runs)["auc_pr"].tolist() == [0.3, 0.4, 0.5]


def test_synthetic_data_has_a_table_of_its_own(tmp_path):
    runs = runs_table(dict(), dict(dataset="demo", data_status="synthetic"))
    assert [path.name for path in write_tables(runs, tmp_path, "seen")] == ["seen.csv", "seen_synthetic.csv"]
    assert table_suffix("released", 60, 0.02, "prepared") == ""  # and other set-ups
    assert table_suffix("independent", 30, 0.05, "cut") == "_independent_30labels_0.05contamination_cut"
    assert "demo" not in (tmp_path / "seen.csv").read_text()
    assert (tmp_path / "seen_synthetic.csv").read_text().count("\n") == 2  # and no Average


# ---------------------------------------------------------------------------- comparison


def test_a_data_set_of_your_own_is_in_the_table_but_not_in_its_average(tmp_path):
    own = dict(dataset="mydata", auc_pr=0.9, rows=10, features=2)
    write_tables(runs_table(own), tmp_path / "own", "seen")
    assert not compare.compare(tmp_path / "own", "seen")  # nothing to compare it with
    write_tables(runs_table(own, dict(auc_pr=0.31)), tmp_path / "both", "seen")
    both = by_method(with_averages(read_table(tmp_path / "both" / "seen.csv")))["prenet"]
    assert both.to_dict() == {"thyroid": 0.31, "mydata": 0.9, "Average": 0.31}
    on_disk = pd.read_csv(tmp_path / "both" / "seen.csv")  # no Average, which would make floats of counts
    assert on_disk["dataset"].tolist() == ["thyroid", "mydata"]
    assert (on_disk[["size", "D", "runs"]].dtypes == "int64").all()


# --- sweeps, and sets with unseen classes


def test_a_sweep_has_rows_for_each_value():
    """The default value belongs to every sweep; a method or a data set of an earlier start is shown, too."""
    runs = runs_table(
        dict(auc_pr=0.1, settings="l2=1 m=1"), dict(auc_pr=0.3, settings="l2=1 m=1", run=1),
        dict(auc_pr=0.5, settings="l2=2 m=1"), dict(dataset="bac", auc_pr=0.7, settings="l2=2 m=1"),
        dict(method="devnet", settings="l2=1", auc_pr=0.9),
    )  # fmt: skip
    chosen = []
    for value, settings in ((1, "l2=1 m=1"), (2, "l2=2 m=1")):
        asked = [cell(("l2", value), settings=settings)]
        chosen.append(select_runs(runs, asked, prenet=settings, devnet="l2=1"))
    table = paper_table(pd.concat(chosen))
    is_average = table["dataset"] == "Average"
    columns = ["parameter", "value", "dataset", "auc_pr_prenet", "auc_pr_devnet"]
    assert table.loc[~is_average, columns].fillna(0).values.tolist() == [
        ["l2", 1, "thyroid", 0.2, 0.9], ["l2", 2, "bac", 0.7, 0], ["l2", 2, "thyroid", 0.5, 0.9],
    ]  # fmt: skip
    assert table.loc[is_average, "auc_pr_prenet"].tolist() == [0.2, 0.5]  # bac lacks a method


def test_iforest_is_repeated_for_every_set_of_its_unseen_class():
    partial = dict(data_status="partial")
    runs = runs_table(
        *(dict(dataset=name, **partial) for name in ("dos->bac", "rec,dos,fuz->bac", "rec,bac->dos")),
        dict(dataset="rec,dos,fuz->bac", method="iforest", auc_pr=0.05, **partial),
        dict(dataset="thyroid", method="iforest", auc_pr=0.1),
    )
    table = paper_table(repeat_without_labels(runs, ["fuz->bac", "thyroid"])).set_index("dataset")
    averages = ["Average seen", "Average unseen"]
    unseen = {"dos->bac": 0.05, "fuz->bac": 0.05, "rec,dos,fuz->bac": 0.05, "rec,bac->dos": None}
    assert list(table.index) == ["thyroid", *unseen, *averages]
    values = table["auc_pr_iforest"].drop(averages)
    assert values.astype(object).where(values.notna(), None).to_dict() == {"thyroid": 0.1, **unseen}
    # not that of the set it was run on
    assert table.loc["dos->bac", "size"] == 7200 and pd.isna(table.loc["fuz->bac", "size"])


def test_unseen_sets_are_compared_in_the_weighted_auc_pr_and_iforest_in_auc_roc_only(tmp_path, capsys):
    """The paper repeats iForest's seen AUC-PR, though the test sets have another share of anomalies."""
    row = dict(auc_pr=0.2, auc_pr_weighted=0.9, data_status="partial")
    rows = [row | {"dataset": name} for name in ("dos->bac", "fuz->bac")]
    write_tables(runs_table(*rows, rows[0] | {"method": "iforest"}), tmp_path, "unseen")
    assert compare.compare(tmp_path, "unseen")
    table = pd.read_csv(tmp_path / "unseen_vs_published.csv").set_index(["method", "dataset", "metric"])
    assert table.loc[("prenet", "dos->bac", "auc_pr_weighted"), "difference"] == pytest.approx(0.9 - 0.908)
    assert table.loc[("prenet", "dos->bac", "auc_pr"), "difference"] == pytest.approx(0.2 - 0.908)
    assert set(table.loc["iforest"].index.get_level_values("metric")) == {"auc_roc"}
    assert "dos->bac*" in (out := capsys.readouterr().out) and ".900=.908" in out


# --- the theorem


def test_theorem_by_hand():
    """Labels 8, 4, 0: an anomaly's score is 6; a normal row's 2 + 6 epsilon, which reaches 6 at 2/3."""
    assert theorem.predicted_scores(2 / 3, 4) == (6, pytest.approx(6))
    # as many anomalies as all normals, of which U has 80%
    assert theorem.share_in_unlabeled(0.5, "released") == pytest.approx(1 / 1.8)
    runs = runs_table(
        dict(contamination=0.5, mean_score_anomalies=5, mean_score_normals=3, auc_pr=0.3),
        dict(contamination=0.5, mean_score_anomalies=7, mean_score_normals=3, auc_pr=0.5, run=1),
        dict(contamination=0.0, mean_score_anomalies=8, mean_score_normals=1, auc_pr=0.6),
        dict(method="devnet"),
        dict(dataset="bac", contamination=0.1),  # of a start without --theorem
    )  # fmt: skip
    table = theorem.theorem_table(runs)
    assert set(table["dataset"]) == {"thyroid"}
    assert table["contamination"].tolist() == [0, 0.5] and table["runs"].tolist() == [1, 2]
    columns = ["mean_score_anomalies", "mean_score_anomalies_std", "mean_score_normals", "auc_pr"]
    assert table.loc[1, columns].tolist() == [6, 1, 3, 0.4]
    predicted = ["predicted_anomalies", "predicted_normals"]
    assert table.loc[1, predicted].tolist() == pytest.approx([6, 2 + 6 / 1.8])
    assert theorem.theorem_table(runs, 2)["predicted_anomalies"].tolist() == [3, 3]


def test_reference_results_have_todays_settings():
    """Or gap_table would show next to nothing of what is there."""
    runs = RunsFile(PUBLISHED.parent / "results" / "reference", "seen").read()
    for method, settings in runs.groupby("method")["settings"]:
        assert set(settings) == {describe_settings(make_detector(method))}
