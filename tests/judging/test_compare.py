"""compare.py from the command line, intervals and verdicts of cells, and what survives new draws."""

import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_tables import run_row

import compare
from weakly.judging.assessment import Assessment
from weakly.judging.cells import PUBLISHED, comparison, comparisons, interval_of, interval_of_average, verdict
from weakly.judging.tables import write_tables
from weakly.methods import make_detector
from weakly.paths import ROOT
from weakly.running.runs_file import RunsFile
from weakly.running.single_run import describe_settings

PRINTED = pd.read_csv(PUBLISHED / "seen.csv", index_col="dataset")
SETS = ["fraud", "census", "celeba", "bac", "w7a", "campaign", "thyroid"]


def save_runs(folder, experiment, rows):
    """Runs with today's settings, as a driver leaves them: the runs file and its table."""
    runs_file = RunsFile(folder, experiment)
    runs_file.open_for_append()
    for row in rows:
        settings = describe_settings(make_detector(row.get("method", "prenet")))
        runs_file.append(run_row(experiment=experiment, settings=settings, **row))
    runs = runs_file.read()
    for protocol, part in runs.groupby("protocol"):
        write_tables(part, folder, experiment, "" if protocol == "released" else f"_{protocol}")


def seen_rows(shift=0.0, methods=("prenet", "devnet"), runs=3, protocol="released"):
    """The published AUCs of seven sets, shifted, with a spread of 0.001 over runs."""
    for name, method, run in product(SETS, methods, range(runs)):
        row = dict(dataset=name, method=method, run=run, seed=run, protocol=protocol)
        for metric in ("auc_pr", "auc_roc"):
            row[metric] = PRINTED.loc[name, f"{metric}_{method}"] + shift + 0.001 * (run - 1)
        yield row


def test_the_interval_of_a_difference_by_hand():
    """Ten runs of either side: 2 sd sqrt(1/10 + 1/10) = 0.894 sd; and half a unit of the third decimal."""
    assert interval_of(0.05, 10) == pytest.approx(2 * 0.05 * 0.2**0.5 + 0.0005)
    assert np.isnan(interval_of(np.nan, 10))
    # of an average of two: errors 0.03 and 0.04 give 0.05 / 2
    assert interval_of_average([0.0305, 0.0405]) == pytest.approx(0.025 + 0.0005)


@pytest.mark.parametrize("difference, interval, expected", [
    (0.01, np.nan, "reproduced"), (-0.0101, 0.0005, "close"), (0.05, 0.05, "reproduced"),
    (-0.0501, 0.05, "differs"), (0.03, 0.001, "close"), (0.0301, np.nan, "differs"), (0.02, 0.019, "close"),
    (0.0452, interval_of(0.05, 10), "reproduced"), (0.0453, interval_of(0.05, 10), "differs"),
])  # fmt: skip
def test_verdicts(difference, interval, expected):
    assert verdict(difference, interval) == expected


def test_a_cell_has_its_interval_and_the_average_one_of_its_own(tmp_path):
    save_runs(tmp_path, "seen", seen_rows(-0.02, methods=["prenet"]))
    cells = comparison(tmp_path, "seen").query("metric == 'auc_pr'").set_index("dataset")
    std = (2 / 3) ** 0.5 * 0.001  # of three runs 0.001 apart
    width = 2 * std * (1 / 3 + 1 / 10) ** 0.5
    # tables have six decimals
    assert cells.loc["thyroid", "interval"] == pytest.approx(width + 0.0005, abs=2e-6)
    assert cells.loc["Average", "interval"] == pytest.approx(width / 7**0.5 + 0.0005, abs=2e-6)
    assert cells.loc["thyroid", "runs"] == 3 and set(cells["verdict"]) == {"close"}


def test_does_the_paper_hold_up(tmp_path, capsys):
    save_runs(tmp_path, "seen", seen_rows())
    assert compare.main(["--results-dir", str(tmp_path), "--fail-over", "0.005"]) == 0
    out = capsys.readouterr().out
    assert ".501=.501  .474=.474" in out and "7 0 0      7 0 0" in out
    assert len(out.splitlines()) <= 24 and "PReNet's own results are reproduced" in out
    assert f"comparison.md, claims.csv and report.html in {tmp_path}" in " ".join(out.split())
    markdown = (tmp_path / "comparison.md").read_text()
    assert "| thyroid | 0.298 ± 0.001 / 0.298 reproduced | 0.280 ± 0.001 / 0.280 reproduced |" in markdown
    assert "The average is that of census, fraud, celeba, bac, w7a, campaign, thyroid." in markdown
    assert "PReNet has the best average AUC-PR on seen anomalies (" in markdown
    table = pd.read_csv(tmp_path / "seen_vs_published.csv")
    assert set(table["verdict"]) == {"reproduced"}
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize("width", ["80", "120"])
def test_the_committed_results_fit_on_one_screen(tmp_path, capsys, monkeypatch, no_report, width):
    monkeypatch.setenv("COLUMNS", width)
    shutil.copytree(ROOT / "results" / "reference", tmp_path / "reference")
    monkeypatch.chdir(tmp_path)
    assert compare.main(["--results-dir", "reference"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) <= int(width)
    text = " ".join(" ".join(lines).split())
    assert "Main claims: 1 supported, 4 weakened, 1 not diagnostic; 2 not so on partial data." in text
    assert text.count("XGBOD†") == 2 and "† impossible" in text and ".549≠.322" in text
    assert "contradicted (fragile)" in Path("reference/comparison.md").read_text()


@pytest.fixture
def no_report(monkeypatch):
    """test_report.py looks at it."""
    monkeypatch.setattr("weakly.reporting.page.build_report", lambda results_dir: results_dir)


def test_fail_over_is_about_the_chosen_methods(tmp_path, capsys, no_report):
    save_runs(tmp_path, "seen", [*seen_rows(methods=["prenet"]), *seen_rows(-0.05, methods=["devnet"])])
    arguments = ["--results-dir", str(tmp_path), "--fail-over", "0.03"]
    assert compare.main([*arguments, "--methods", "prenet"]) == 0
    assert compare.main(arguments) == 1
    lines = capsys.readouterr().err.splitlines()
    line = "MORE THAN 0.03 OFF Table 2, seen anomalies, thyroid, DevNet, AUC-PR: 0.230, published 0.280"
    assert len(lines) == 14 and line in lines
    with pytest.raises(SystemExit) as caught:
        compare.main([*arguments, "--methods", "devnot"])
    assert caught.value.code == 2
    # partial data is never counted
    save_runs(tmp_path / "partial", "seen", [dict(row, data_status="partial") for row in seen_rows(-0.2)])
    assert compare.main(["--results-dir", str(tmp_path / "partial"), "--fail-over", "0.03"]) == 0
    assert (comparisons(tmp_path / "partial")["seen"]["data_status"].str.startswith("partial")).all()


@pytest.mark.parametrize("content", [None, "", "a,b\n1,2\n"])
def test_no_usable_table_is_one_sentence(tmp_path, capsys, content):
    if content is not None:
        (tmp_path / "seen.csv").write_text(content)
    with pytest.raises(SystemExit) as caught:
        compare.main(["--results-dir", str(tmp_path)])
    assert caught.value.code == 2 and str(tmp_path) in capsys.readouterr().err


def test_what_survives_new_draws(tmp_path):
    """New draws take 0.1 from PReNet in even runs only, so its lead varies from split to split."""
    drawn = list(seen_rows(protocol="independent"))
    for row in drawn:
        row["auc_pr"] -= 0.1 * (row["method"] == "prenet" and row["run"] % 2 == 0)
    save_runs(tmp_path, "seen", [*seen_rows(), *drawn])
    row = Assessment(tmp_path).gaps["seen"].loc["DevNet"]
    gap = (PRINTED["auc_pr_prenet"] - PRINTED["auc_pr_devnet"])[SETS].mean()
    assert row[["data sets", "published", "released"]].tolist() == pytest.approx([7, gap, gap], abs=1e-6)
    assert row["independent"] == pytest.approx(gap - 0.2 / 3, abs=1e-6)
    assert row["spread over splits"] == pytest.approx(np.std([0.1, 0, 0.1]))
    assert row["ahead"] == 0 and row["behind"] == 0
    assert Assessment(tmp_path / "empty").gaps == {}
