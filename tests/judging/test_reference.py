"""The committed results: the pages say what they say, each has its provenance, and today's code gives the
same."""

import json
import shutil

import pandas as pd
import pytest

import compare
from experiments import main
from weakly.beyond.result_files import page_text
from weakly.judging.tables import paper_runs
from weakly.reporting import write_up
from weakly.reporting.write_up import REFERENCE, ROOT
from weakly.running.runs_file import IDENTITY, RunsFile


@pytest.mark.parametrize("page", write_up.PAGES)
def test_the_tables_of_the_pages_are_those_of_the_results(page):
    text = (ROOT / page).read_text()
    assert len(write_up.MARKED.findall(text)) >= (10 if page == "REPRODUCTION.md" else 1)
    assert write_up.filled(text) == text, (
        f"{page} has other numbers than results/reference: run python -m weakly.reporting.write_up"
    )


def test_the_interpretations_are_those_of_the_results():
    assert write_up.INTERPRETATIONS.read_text() == page_text(write_up.interpretations_page())


def test_the_write_up_can_be_finished():
    """REPRODUCTION.md has at most 8,000 words, tables included; the pages of docs/ have 6,000 together."""
    assert len((ROOT / "REPRODUCTION.md").read_text().split()) <= 8_000
    assert sum(len(page.read_text().split()) for page in (ROOT / "docs").glob("*.md")) <= 6_200


@pytest.mark.parametrize("experiment, protocol", [
    ("seen", "released"), ("seen", "redrawn"), ("seen", "independent"), ("unseen", "released"),
    ("unseen", "independent"), ("ablation", "released"), ("interpretations", "released"),
])  # fmt: skip
def test_tables_follow_from_the_runs(experiment, protocol):
    runs = paper_runs(REFERENCE, experiment, protocol)
    assert len(runs) and not runs.duplicated(["method", "dataset", "run"]).any()
    assert (runs.groupby(["method", "dataset"])["run"].nunique() == 10).all()
    table = pd.read_csv(
        REFERENCE / f"{experiment}{'' if protocol == 'released' else f'_{protocol}'}.csv"
    ).set_index("dataset")
    for (dataset, method), mean in runs.groupby(["dataset", "method"])["auc_pr"].mean().items():
        assert table.loc[dataset, f"auc_pr_{method}"] == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize(
    "path", sorted(REFERENCE.rglob("*_runs.csv")), ids=lambda path: str(path.relative_to(REFERENCE))
)
def test_every_runs_file_has_its_provenance(path):
    label = path.name.removesuffix("_runs.csv")
    runs = RunsFile(path.parent, label).read()
    adopted = runs["experiment"] != ("seen" if label == "curves" else label.partition("_")[0])
    for experiment, part in runs[adopted].groupby("experiment"):  # which has made them
        theirs = RunsFile(path.parent, experiment).read()
        assert len(part.merge(theirs, on=IDENTITY)) == len(part)
    runs = runs[~adopted]
    sessions = json.loads(path.with_name(path.name.replace("_runs.csv", "_provenance.json")).read_text())[
        "sessions"
    ]
    assert sum(entry["runs_made"] for entry in sessions) >= len(runs)
    assert all(
        entry["commit"] and not entry["commit"].endswith("+") for entry in sessions
    )  # made by committed code
    hashes = {hash for entry in sessions for hash in entry["data"].values()}
    assert set(runs["data_sha256"]) <= hashes


def test_prenet_and_devnet_are_reproduced(tmp_path, monkeypatch):
    shutil.copytree(REFERENCE, tmp_path / "reference")
    monkeypatch.setattr("weakly.reporting.page.build_report", lambda results_dir: "no report")
    command = [
        "--results-dir",
        str(tmp_path / "reference"),
        "--fail-over",
        "0.025",
        "--methods",
        "prenet,devnet",
    ]
    assert compare.main(command) == 0


def test_the_code_of_today_gives_the_committed_means(real_data, runs_here, prepared_dir, tmp_path):
    options = [
        "--datasets",
        "thyroid,campaign",
        "--runs",
        "3",
        "--offline",
        "--source",
        str(real_data),
        "--data-dir",
        str(prepared_dir),
    ]
    assert main(["seen", "--methods", "prenet,devnet", *options, "--results-dir", str(tmp_path)]) == 0
    today, committed = (
        pd.read_csv(folder / "seen.csv").set_index("dataset") for folder in (tmp_path, REFERENCE)
    )
    for name in ("thyroid", "campaign"):
        for column in [
            f"{metric}_{method}" for metric in ("auc_pr", "auc_roc") for method in ("prenet", "devnet")
        ]:
            assert today.loc[name, column] == pytest.approx(committed.loc[name, column], abs=0.03), (
                name,
                column,
            )
