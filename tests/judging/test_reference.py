"""The committed results: the pages say what they say, each has its provenance, and today's code gives the
same."""

import json

import pandas as pd
import pytest

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


@pytest.mark.parametrize("experiment, protocol", [
    ("seen", "released"), ("seen", "redrawn"), ("seen", "independent"), ("unseen", "released"),
    ("unseen", "independent"), ("ablation", "released"), ("interpretations", "released"),
])  # fmt: skip
def test_tables_follow_from_the_runs(experiment, protocol):
    runs = paper_runs(REFERENCE, experiment, protocol)
    assert len(runs) and not runs.duplicated(["method", "dataset", "run"]).any()
    assert (runs.groupby(["method", "dataset"])["run"].nunique() == 10).all()
    ending = "" if protocol == "released" else f"_{protocol}"
    table = pd.read_csv(REFERENCE / f"{experiment}{ending}.csv", index_col="dataset")
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
    provenance = json.loads((path.parent / f"{label}_provenance.json").read_text())
    sessions = provenance["sessions"]
    assert sum(entry["runs_made"] for entry in sessions) >= len(runs)
    # made by committed code
    assert all(entry["commit"] and not entry["commit"].endswith("+") for entry in sessions)
    assert set(runs["data_sha256"]) <= {digest for entry in sessions for digest in entry["data"].values()}


def test_the_code_of_today_gives_the_committed_means(real_data, runs_here, prepared_dir, tmp_path):
    command = "seen --methods prenet,devnet --datasets thyroid,campaign --runs 3 --offline".split()
    folders = {"--source": real_data, "--data-dir": prepared_dir, "--results-dir": tmp_path}
    for option, folder in folders.items():
        command += [option, str(folder)]
    assert main(command) == 0
    columns = [f"{metric}_{method}" for metric in ("auc_pr", "auc_roc") for method in ("prenet", "devnet")]
    tables = [pd.read_csv(folder / "seen.csv", index_col="dataset") for folder in (tmp_path, REFERENCE)]
    today, committed = (table.loc[["thyroid", "campaign"], columns] for table in tables)
    assert (today - committed).abs().max(axis=None) <= 0.03
