"""Tables of results on disk: files that are none, and the runs of the paper's set-up."""

import pytest
from test_tables import run_row

from weakly.errors import UserError
from weakly.judging.tables import find_table, paper_runs, read_table
from weakly.running.runs_file import RunsFile


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
