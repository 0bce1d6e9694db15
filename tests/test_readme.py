"""Every figure in the README's tables is that of the committed results."""

import re

import pandas as pd
import pytest

from verdicts import PUBLISHED
from methods import method_group

ROOT = PUBLISHED.parent
REFERENCE = ROOT / "results" / "reference"


def readme_table(first_cells):
    """Rows of the Markdown table whose header starts so, as lists of cells."""
    lines = (ROOT / "README.md").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(first_cells))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))])


def cell(row, column):
    spread = row[f"{column}_std"]
    return f"{row[column]:.3f}" + (f" ± {spread:.3f}" if pd.notna(spread) else "")


@pytest.fixture(scope="module")
def reference():
    return {name: pd.read_csv(REFERENCE / f"{name}.csv") for name in ("seen", "seen_independent", "seen_vs_published", "seen_runs")}


def test_table_2(reference):
    seen = reference["seen"].set_index("dataset")
    compared = reference["seen_vs_published"]
    compared = compared[compared["metric"] == "auc_pr"].set_index(["dataset", "method"])
    *rows, (title, *differences) = readme_table("| AUC-PR, ours / published")
    assert [row[0] for row in rows] == [name for name, row in seen.iterrows() if row["status"].startswith("exact")]
    for name, *cells in rows:
        expected = [compared.loc[(name, method)] for method in method_group("table")]
        assert cells == [f"{row['reproduced']:.3f} / {row['published']:.3f}" for row in expected], name
    exact = compared[compared["data_status"] == "exact"]
    assert differences == [f"{exact.xs(method, level='method')['difference'].abs().mean():.4f}" for method in method_group("table")]


def test_protocols(reference):
    tables = [reference[name].set_index("dataset") for name in ("seen", "seen_independent")]
    for name, *cells in readme_table("| AUC-PR | PReNet, released"):
        assert cells == [cell(table.loc[name], f"auc_pr_{method}") for method in ("prenet", "devnet") for table in tables], name


def test_committed_tables_follow_from_the_committed_runs(reference):
    runs = reference["seen_runs"]
    assert not runs.duplicated(["method", "dataset", "protocol", "run"]).any()
    for protocol, name in (("released", "seen"), ("independent", "seen_independent")):
        means = runs[runs["protocol"] == protocol].groupby(["dataset", "method"])["auc_pr"].mean()
        table = reference[name].set_index("dataset")
        for (dataset, method), mean in means.items():
            assert table.loc[dataset, f"auc_pr_{method}"] == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize("name", ["README.md", "REPRODUCTION.md"])
def test_every_mean_with_its_spread_is_in_a_committed_table(name):
    committed = set()
    for path in REFERENCE.rglob("*.csv"):
        table = pd.read_csv(path)
        for column in [column for column in table if f"{column}_std" in table]:
            committed |= {cell(row, column) for _, row in table.iterrows()}
    quoted = re.findall(r"\d\.\d{3} ± \d\.\d{3}", (ROOT / name).read_text())
    assert len(quoted) > 10 and set(quoted) <= committed
