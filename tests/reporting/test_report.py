"""The report: the right answer, right numbers, everything escaped, nothing missing without a word."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from report_pages import SCORES, Elements, made_runs, parse, write_results

from weakly.judging import cells
from weakly.judging.assessment import Assessment
from weakly.loading.registry import DATA_SETS
from weakly.methods import METHODS
from weakly.reporting import page as report
from weakly.reporting.sections import SOURCES

ROOT = Path(__file__).resolve().parent.parent.parent
REFERENCE = ROOT / "results" / "reference"
EVIL = "<script>alert('set')</script>"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    released = made_runs(SCORES)
    new = {key: (a - 0.1, b + 0.1) for key, (a, b) in SCORES.items()}
    independent = made_runs(new, protocol="independent")
    write_results(folder, independent, suffix="_independent")
    write_results(folder, released)
    outdated = made_runs({("thyroid", "prenet"): (0.7, 0.8)}).assign(settings="x=0")
    pd.concat([independent, outdated, released]).to_csv(folder / "seen_runs.csv", index=False)
    session = {"started": "2026-11-16T05:00:00+00:00", "seconds": 90.0, "commit": "0123456789abcdef"}
    session |= {"command": "python experiments.py seen --runs 2", "runs_made": 12, "python": "3.11.4"}
    session |= {"packages": {"tensorflow": "2.20.0"}, "machine": {"cpu": "a <fast> one"}}
    (folder / "seen_provenance.json").write_text(json.dumps({"sessions": [session]}))
    return folder


@pytest.fixture(scope="module")
def page(results):
    return parse(results)


@pytest.fixture
def without_statistics(monkeypatch):
    """Claims and statistics take most of the time; tests of other parts go without."""
    monkeypatch.setattr("weakly.judging.assessment.judge_claims", lambda results_dir: [])
    monkeypatch.setattr("weakly.judging.assessment.statistics_tables", lambda results_dir: {})


def table_cell(page, metric, dataset, method, table=0):
    block = page.find("div", data_metric=metric, role="group")[table]
    row = page.find("tr", within=block, data_set=dataset)[0]
    return page.find("td", within=row, data_method=method)[0]


# ---------------------------------------------------------------------------- the first screen


@pytest.fixture(scope="module")
def reference():
    return Elements((REFERENCE / "report.html").read_text(encoding="utf-8"))


def test_the_first_screen_answers_with_the_leads_of_all_three_sources(reference):
    (answer,) = reference.find("div", id="answer")
    (lead,) = reference.find("p", within=answer, class_="lead")
    leads = pd.read_csv(REFERENCE / "leads.csv")
    chosen = leads[(leads["experiment"] == "seen") & (leads["metric"] == "auc_pr")]
    everywhere = chosen.groupby("method")["source"].nunique() == chosen["source"].nunique()
    chosen = chosen[chosen["method"].isin(everywhere[everywhere].index)]
    assert set(chosen["source"]) == {"published", "released", "independent"}
    for _, part in chosen.groupby("source"):
        row = part.loc[part["mean"].idxmin()]
        assert f"{row['mean']:+.3f}".replace("-", "−") in lead["text"]
        assert METHODS[row["method"]].column in lead["text"]
    assert "reproduced" in lead["text"] and len(reference.find("section", within=answer)) == 3


def test_the_first_picture_has_every_cell_of_exact_data(reference):
    (picture,) = reference.find("figure", id="picture")
    table = pd.read_csv(REFERENCE / "seen_vs_published.csv")
    table = table[(table["data_status"] == "exact") & (table["metric"] == "auc_pr")]
    labels = {one["aria-label"].split(":")[0]: one for one in reference.find("svg", within=picture)}
    assert len(table) >= 56
    for row in table.itertuples():
        svg = labels[METHODS[row.method].column]
        assert f"{row.dataset} {row.published:.3f} to {row.reproduced:.3f}" in svg["aria-label"]
        assert f"{row.difference:+.2f}".replace("-", "−") in svg["text"] or abs(row.difference) < 0.006


# ---------------------------------------------------------------------------- numbers


def test_fragile_verdicts_are_marked_and_the_tile_counts_the_main_claims(reference):
    claims = pd.read_csv(REFERENCE / "claims.csv")
    claims = claims[claims["judged_on"].isin(SOURCES)]
    (section,) = reference.find("section", aria_labelledby="claims")
    badges = [
        one["text"] for one in reference.find("span", within=section) if "badge" in one.get("class", "")
    ]
    assert sum("(fragile)" in text for text in badges) == (claims["fragile"] == "yes").sum() > 0
    bars = reference.find("div", within=reference.find("div", class_="cards")[0], class_="bar")
    counts = [reference.find("span", within=bar, class_="counts")[0]["text"] for bar in bars]
    assert sum(int(n) for text in counts for n in re.findall(r"\d+", text)) == 8
    assert "contradicted" not in counts[1]  # on partial data


def test_cells_show_the_gap_ours_and_the_published_value(page):
    cell = table_cell(page, "auc_pr", "thyroid", "prenet")
    assert re.findall(r"[+−]?\d\.\d{3}", cell["text"]) == ["+0.002", "0.300", "0.298"]
    assert "± 0.010 over 2 runs" in cell["title"] and "its interval ± 0.016" in cell["title"]
    assert cell["data-verdict"] == "reproduced" and cell.get("class") is None
    cell = table_cell(page, "auc_pr", "thyroid", "devnet")
    assert "+0.120" in cell["text"] and "differs" in cell["text"] and cell["class"] == "above3"
    cell = table_cell(page, "auc_pr", "bac", "prenet")
    assert "−0.020" in cell["text"] and "close" in cell["text"] and cell["class"] == "below1"
    assert "0.350" in table_cell(page, "auc_roc", "thyroid", "prenet")["text"]


def test_partial_data_is_weighted_hatched_and_not_counted(page):
    cell = table_cell(page, "auc_pr", "fraud", "prenet")
    assert "0.610" in cell["text"] and "partial" in cell["class"].split() and cell["data-verdict"] == "none"
    assert [row for row in page.find("tr", data_set="fraud") if "partial" in row["text"]]
    bars = page.find("div", class_="scroll bars")[0]
    counts = [re.findall(r"\d", count["text"]) for count in page.find("span", within=bars, class_="counts")]
    # PReNet in AUC-PR and AUC-ROC: thyroid and bac, not fraud
    assert counts[:2] == [["1", "1", "0"], ["0", "0", "2"]]
    assert "1 of 4 reproduced" in page.find("div", class_="cards")[0]["text"]
    # both protocols and single runs show the weighted AUC-PR, too
    cell = table_cell(page, "auc_pr", "fraud", "prenet", table=1)
    assert re.findall(r"±?\d\.\d{3}", cell["text"]) == ["0.610", "±0.010", "0.610", "±0.110"]
    of_fraud = page.find("figure", data_set="fraud", class_="runs")
    labels = [svg["aria-label"] for one in of_fraud for svg in page.find("svg", within=one)]
    assert [re.findall(r"PReNet: mean (\d\.\d{3})", label) for label in labels] == [["0.610"], ["0.160"]]


def test_provenance_and_data(page):
    texts = " ".join(element["text"] for element in page.find("table") + page.find("ol"))
    for text in ("2026-11-16 05:00:00 UTC", "python experiments.py seen --runs 2", "0123456789"):
        assert text in texts
    assert "tensorflow 2.20.0" in texts and "a <fast> one" in texts and "hash-of-thyroid" in texts


# ---------------------------------------------------------------------------- every number can be followed


def test_anchors_are_unique_and_every_link_leads_somewhere(reference):
    anchors = [one["id"] for one in reference.all if "id" in one]
    assert len(anchors) == len(set(anchors))
    for link in reference.find("a"):
        where = link["href"]
        if where.startswith("#"):
            assert where[1:] in anchors, where
        elif not where.startswith("https://"):
            assert (REFERENCE / where).resolve().is_file(), where
    texts = [one["href"] for one in reference.find("a")]
    assert any("doi.org" in one for one in texts) and any(one.endswith("REPRODUCTION.md") for one in texts)


def test_every_claim_table_and_figure_names_its_file_and_its_command(reference):
    places = reference.find("article") + reference.find("figure", class_="figure")
    places += [one for one in reference.find("li") if one.get("id", "").startswith("claim-")]
    claims = {f"claim-{key}" for key in pd.read_csv(REFERENCE / "claims.csv")["key"]}
    assert claims <= {place["id"] for place in places} and len(reference.find("article")) == 8
    for place in places:
        (follow,) = [one for one in reference.find("p", within=place) if one.get("class") == "follow"]
        if place["id"] == "figure-1":
            continue
        buttons = reference.find("button", within=follow, class_="copy")
        links = [one["href"] for one in reference.find("a", within=follow)]
        assert len(buttons) == 1 and links[0] == f"#{place['id']}" and len(links) > 1, place["id"]


def test_commands_on_the_page_exist(reference, page):
    buttons = reference.find("button") + page.find("button")
    commands = {one["data-copy"] for one in buttons if "data-copy" in one}
    for command in commands:
        words = command.removeprefix("python ").split()
        script = words[1].replace(".", "/") + ".py" if words[0] == "-m" else words[0]
        assert (ROOT / script).is_file(), command
    missing = {"./run_unseen.sh", "./run_labels.sh", "./run_contamination.sh --theorem"}
    assert {"./run_seen.sh --methods all", "python experiments.py today", *missing} <= commands


# ---------------------------------------------------------------------------- the file


def test_same_bytes_and_alone(page, results):
    first = (results / "report.html").read_bytes()
    assert first == report.build_report(Assessment(results)).read_bytes()  # its pictures are kept
    (results / "report.html").unlink()
    assert first == report.build_report(Assessment(results)).read_bytes()  # or drawn again
    for element in Elements(first.decode()).all:
        assert "src" not in element and "style" not in element
        assert not any(name.startswith("on") for name in element)
    (policy,) = [one for one in Elements(first.decode()).find("meta") if "http-equiv" in one]
    assert policy["content"].startswith("default-src 'none'")


def test_the_reference_page_is_up_to_date_and_under_3_mb(reference, tmp_path):
    committed = (REFERENCE / "report.html").read_bytes()
    assert len(committed) < 3_000_000
    built = report.build_report(Assessment(REFERENCE)).read_bytes()
    (REFERENCE / "report.html").write_bytes(committed)
    assert built == committed, "python compare.py --results-dir results/reference"


def test_names_that_are_markup_stay_text(tmp_path, monkeypatch, without_statistics):
    """A data set whose name is a script, also in the paper, and a provenance file of the same kind."""
    published = pd.read_csv(cells.PUBLISHED / "seen.csv")
    published.loc[0, "dataset"] = EVIL
    for name in ("unseen", "ablation"):
        shutil.copy(cells.PUBLISHED / f"{name}.csv", tmp_path)
    published.to_csv(tmp_path / "seen.csv", index=False)
    write_results(tmp_path / "results", made_runs(SCORES | {(EVIL, "prenet"): (0.9, 0.95)}))
    session = {"command": EVIL, "commit": [EVIL], "machine": {EVIL: EVIL}, "packages": 3, "seconds": EVIL}
    (tmp_path / "results" / "seen_provenance.json").write_text(json.dumps({"sessions": [session, {}]}))
    monkeypatch.setattr(cells, "PUBLISHED", tmp_path)
    monkeypatch.setitem(DATA_SETS, EVIL, DATA_SETS["donors"])
    page = parse(tmp_path / "results")
    assert len(page.find("script")) == 1 and "alert" not in page.find("script")[0]["text"]
    assert page.find("tr", data_set=EVIL) and not any("onerror" in element for element in page.all)
    assert any(EVIL in one.get("aria-label", "") for one in page.find("svg"))


def test_synthetic_results_stand_apart(tmp_path, without_statistics):
    results = tmp_path / "results"
    write_results(results, made_runs({("demo", "prenet"): (0.7, 0.7)}, status="synthetic"))
    page = parse(results)
    banner = "synthetic data: says nothing about the paper"
    assert banner in page.find("header")[0]["text"] and not page.find("tr", data_set="demo")
    assert "No data set that is exactly the paper's" in page.find("p", class_="lead")[0]["text"]
    write_results(results, made_runs(SCORES))
    page = parse(results)
    section = page.find("section", aria_labelledby="synthetic")[0]
    assert banner not in page.find("header")[0]["text"] and banner in section["text"]
    assert "0.700" in section["text"]
