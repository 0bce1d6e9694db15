"""Tables in memory and on disk, the AUC-PR that can be compared, the runs of the paper's set-up."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from test_tables import run_row

from weakly.errors import UserError
from weakly.judging import tables
from weakly.judging.tables import by_method, find_table, from_paper_layout, paper_runs, read_table
from weakly.paths import ROOT
from weakly.running.runs_file import RunsFile

CELLS = ["auc_pr_prenet", "auc_pr_dsad-hinge", "auc_pr_weighted_prenet", "auc_pr_weighted_dsad-hinge"]
COLUMNS = ["dataset", "status", *(name + ending for name in CELLS for ending in ("", "_std"))]
NO = np.nan
BAC = ("bac", "exact", 0.5, 0.01, NO, NO, NO, NO, NO, NO)
DOS = ("dos", "partial", 0.25, NO, 0.125, NO, 0.75, 0.02, NO, NO)
FRAME = pd.DataFrame([BAC, DOS], columns=COLUMNS)


def test_a_table_is_long_in_memory_and_on_disk_as_before(tmp_path):
    table = from_paper_layout(FRAME)
    assert len(table) == 2 * 2 * 2 and set(table["metric"]) == {"auc_pr", "auc_pr_weighted"}
    cell = table[(table["dataset"] == "dos") & (table["method"] == "dsad-hinge")].iloc[0]
    assert cell["mean"] == 0.125 and np.isnan(cell["std"]) and cell["status"] == "partial"
    pd.testing.assert_frame_equal(tables.paper_layout(table), FRAME)
    tables.write_table(FRAME, tmp_path / "seen.csv")
    pd.testing.assert_frame_equal(read_table(tmp_path / "seen.csv"), table)


def test_the_comparable_auc_pr_is_the_weighted_one_where_there_is_one():
    table = from_paper_layout(FRAME)
    assert table[tables.is_replaced(table)][["dataset", "method"]].values.tolist() == [["dos", "prenet"]]
    chosen = tables.comparable(table)
    assert by_method(chosen)["prenet"].to_dict() == {"bac": 0.5, "dos": 0.75}
    assert by_method(chosen)["dsad-hinge"].dropna().to_dict() == {"dos": 0.125}
    assert by_method(chosen, values="std").loc["dos", "prenet"] == 0.02
    assert chosen[chosen["weighted"]]["dataset"].tolist() == ["dos"]


@pytest.mark.parametrize("content, message", [
    ("", "cannot be read as a table of results"),
    ("dataset,auc_pr_prenet\nbac,0.5\n", "has no column status"),
    ("dataset,status,auc_roc_prenet\nbac,exact,high\n", "in column auc_roc_prenet that are not numbers"),
    ("dataset,status,auc_roc_prenet\nbac,exact,0.5\nbac,exact,0.6\n", "two rows for bac"),
])  # fmt: skip
def test_a_bad_file_is_one_sentence(tmp_path, content, message):
    assert find_table(tmp_path, "seen") is None
    (tmp_path / "seen.csv").write_text(content)
    with pytest.raises(UserError, match=message):
        read_table(tmp_path / "seen.csv")
    assert content or find_table(tmp_path, "seen") is None  # an empty file has no results yet


def test_the_papers_runs_have_the_newest_settings_code_and_data(tmp_path):
    runs_file = RunsFile(tmp_path, "seen")
    runs_file.open_for_append()
    others = [dict(settings="epochs=5"), dict(data_sha256="old"), dict(code="c0"), dict(n_labeled=30)]
    others += [dict(contamination=0.05), dict(data_status="synthetic", dataset="demo")]
    wanted = [dict(protocol="independent"), dict(), dict(run=1, seed=1, auc_pr_weighted=0.9)]
    for number, changes in enumerate(others + wanted):
        runs_file.append(run_row(auc_pr=number / 10) | changes)
    assert paper_runs(tmp_path, "seen")["score"].tolist() == [0.7, 0.9]
    assert paper_runs(tmp_path, "seen", "released", "independent")["score"].tolist() == [0.6, 0.7, 0.9]
    assert paper_runs(tmp_path / "nowhere", "seen").empty


def test_judging_and_reporting_never_import_tensorflow():
    names = "judging.claims reporting.page reporting.figures reporting.write_up reporting.theorem".split()
    modules = ", ".join(["compare", *(f"weakly.{name}" for name in names)])
    check = f"import {modules}, sys; sys.exit('tensorflow' in sys.modules or 'keras' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT).returncode == 0
