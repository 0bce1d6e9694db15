"""Interpretations in compare.py: compared with the published rows of their method, and with nothing else."""

import pandas as pd
import pytest
from test_compare import save_runs, seen_rows

import compare
from weakly.judging.cells import PUBLISHED, comparisons, gap_table


def interpretation_rows(method, auc_pr):
    for name in ("thyroid", "bac"):
        yield dict(dataset=name, method=method, auc_pr=auc_pr, auc_roc=0.5)


def test_an_interpretation_is_compared_with_its_method(tmp_path, capsys):
    save_runs(
        tmp_path,
        "interpretations",
        [*interpretation_rows("dsad-hinge", 0.3), *interpretation_rows("cfsnet-balanced", 0.2)],
    )
    assert compare.compare(tmp_path, "interpretations")
    table = pd.read_csv(tmp_path / "interpretations_vs_published.csv").set_index(
        ["dataset", "method", "metric"]
    )
    published = pd.read_csv(PUBLISHED / "seen.csv", index_col="dataset")
    for dataset in ("thyroid", "bac"):
        assert (
            table.loc[(dataset, "dsad-hinge", "auc_pr"), "published"] == published.loc[dataset, "auc_pr_dsad"]
        )
        assert (
            table.loc[(dataset, "cfsnet-balanced", "auc_roc"), "published"]
            == published.loc[dataset, "auc_roc_cfsnet"]
        )
    average = published.loc[["thyroid", "bac"], "auc_pr_dsad"].mean()
    assert table.loc[("Average", "dsad-hinge", "auc_pr"), "difference"] == pytest.approx(
        0.3 - average, abs=1e-6
    )
    assert "DSAD, hinge" in capsys.readouterr().out


def test_interpretations_do_not_enter_the_comparison_of_the_paper(tmp_path, capsys):
    save_runs(tmp_path, "seen", seen_rows())
    save_runs(tmp_path, "interpretations", interpretation_rows("dsad-hinge", 0.9))
    assert list(comparisons(tmp_path)) == ["seen"]
    assert compare.main(["--results-dir", str(tmp_path), "--fail-over", "0.005"]) == 0
    assert "DSAD, hinge" not in capsys.readouterr().out + (tmp_path / "comparison.md").read_text()
    assert "interpretations" in (tmp_path / "report.html").read_text()  # among what the folder has runs of


def test_redrawn_runs_leave_the_table_of_both_protocols_as_it_is(tmp_path):
    save_runs(tmp_path, "seen", [*seen_rows(), *seen_rows(protocol="independent")])
    before = gap_table(tmp_path, "seen")
    save_runs(tmp_path, "seen", seen_rows(-0.1, methods=("devnet",), protocol="redrawn"))
    assert len(before) == 1
    pd.testing.assert_frame_equal(gap_table(tmp_path, "seen"), before)
