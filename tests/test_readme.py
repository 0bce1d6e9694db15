"""Every figure in the README's tables is that of the committed results."""

import re

import pandas as pd
import pytest

from verdicts import PUBLISHED
from methods import method_group

ROOT = PUBLISHED.parent
REFERENCE = ROOT / "results" / "reference"


def readme_table(first_cells, page="README.md"):
    """Rows of the Markdown table whose header starts so, as lists of cells."""
    lines = (ROOT / page).read_text().splitlines()
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


def of_all_methods(part, calculate):
    """calculate(cells of a method), as text, for each method that has some."""
    return [calculate(cells) for _, cells in part.groupby("method", sort=False)]


def test_table_3():
    table = pd.read_csv(REFERENCE / "unseen_vs_published.csv")
    rows = dict((title, cells) for title, *cells in readme_table("| | PReNet | DevNet | DSAD | FSNet", "REPRODUCTION.md"))
    auc_roc, weighted = (table[table["metric"] == metric] for metric in ("auc_roc", "auc_pr_weighted"))
    sets = auc_roc[auc_roc["dataset"] != "Average"]
    assert sets["dataset"].nunique() == 28
    for title, part, column in (("AUC-ROC", auc_roc, "published"), ("AUC-ROC", auc_roc, "reproduced"),
                                ("weighted AUC-PR", weighted, "published"), ("weighted AUC-PR", weighted, "reproduced")):  # fmt: skip
        averages = part[part["dataset"] == "Average"]
        shown = rows[f"{title}, {'published average' if column == 'published' else 'ours'}"]
        assert [cell for cell in shown if cell] == of_all_methods(averages, lambda cells: f"{cells[column].iloc[0]:.3f}")
    assert rows["mean \\|difference\\|"] == of_all_methods(sets, lambda cells: f"{cells['difference'].abs().mean():.3f}")
    correlations = of_all_methods(sets, lambda cells: f"{cells['published'].corr(cells['reproduced']):.2f}")
    assert rows["correlation over the sets"] == correlations


def test_table_4():
    table = pd.read_csv(REFERENCE / "ablation_vs_published.csv")
    exact, averages = table[table["data_status"] == "exact"], table[table["dataset"] == "Average"]
    rows = dict((title, cells) for title, *cells in readme_table("| AUC-PR | PReNet | TRM", "REPRODUCTION.md"))
    assert rows["published average of these sets"] == of_all_methods(averages, lambda cells: f"{cells['published'].iloc[0]:.3f}")
    assert rows["ours"] == of_all_methods(averages, lambda cells: f"{cells['reproduced'].iloc[0]:.3f}")
    assert rows["mean \\|difference\\|"] == of_all_methods(exact, lambda cells: f"{cells['difference'].abs().mean():.3f}")
    counts = exact["verdict"].value_counts()
    text = f"Of the {len(exact)} cells {counts['reproduced']} are reproduced (within two standard deviations or 0.01) and {counts['close']} close."
    assert text in (ROOT / "REPRODUCTION.md").read_text()


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
