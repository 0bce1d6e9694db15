"""The report: right numbers, everything escaped, nothing missing without a word; in a browser: sorting,
filters, themes, widths."""

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from judging import cells
from judging.tables import write_tables
from reporting import page as report
from running.runs_file import RUN_COLUMNS

ROOT = Path(__file__).resolve().parent.parent.parent
EVIL = "<script>alert('set')</script>"
# AUC-PR of two runs; published in Table 2: thyroid .298 and .280, bac .890 and .863, fraud .689 and .693
SCORES = {
    ("thyroid", "prenet"): (0.290, 0.310), ("thyroid", "devnet"): (0.399, 0.401),
    ("bac", "prenet"): (0.869, 0.871), ("bac", "devnet"): (0.860, 0.862),
    ("fraud", "prenet"): (0.100, 0.120), ("fraud", "devnet"): (0.200, 0.220),
}  # fmt: skip


def made_runs(scores, experiment="seen", protocol="released", status=None):
    """Rows as the runner writes them; fraud's data is partial, its AUC-PR weighted to 0.5 more."""
    rows = []
    for (dataset, method), values in scores.items():
        for run, value in enumerate(values):
            row = dict.fromkeys(RUN_COLUMNS, 0) | {
                "experiment": experiment,
                "method": method,
                "dataset": dataset,
                "protocol": protocol,
            }
            row |= {
                "run": run,
                "seed": run,
                "n_labeled": 60,
                "contamination": 0.02,
                "auc_roc": value + 0.05,
                "auc_pr": value,
            }
            row |= {
                "data_status": status or ("partial" if dataset == "fraud" else "exact"),
                "rows": 7200,
                "features": 21,
            }
            row |= {"auc_pr_weighted": value + 0.5 if dataset == "fraud" else float("nan")}
            rows.append(row | {"data_sha256": f"hash-of-{dataset}", "settings": "x=1"})
    return pd.DataFrame(rows)[RUN_COLUMNS]


def write_results(folder, runs, experiment="seen", suffix=""):
    folder.mkdir(exist_ok=True)
    write_tables(runs, folder, experiment, suffix)
    runs.to_csv(folder / f"{experiment}_runs.csv", index=False)


class Elements(HTMLParser):
    """All elements of a page as dicts of tag, attributes, text and the enclosing ones."""

    def __init__(self, page):
        super().__init__()
        self.all, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "within": list(self.open), "text": "", **dict(attributes)}
        self.all.append(element)
        if tag not in ("meta", "img", "input", "br"):
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def find(self, tag, within=None, **attributes):
        named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        found = [
            one
            for one in self.all
            if one["tag"] == tag and all(one.get(key) == value for key, value in named.items())
        ]
        return [
            element
            for element in found
            if within is None or any(outer is within for outer in element["within"])
        ]


def parse(folder):
    return Elements(report.build_report(folder).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    released = made_runs(SCORES)
    independent = made_runs(
        {key: (a - 0.1, b + 0.1) for key, (a, b) in SCORES.items()}, protocol="independent"
    )
    write_results(folder, independent, suffix="_independent")
    write_results(folder, released)
    outdated = made_runs({("thyroid", "prenet"): (0.7, 0.8)}).assign(settings="x=0")
    pd.concat([independent, outdated, released]).to_csv(folder / "seen_runs.csv", index=False)
    (folder / "figures").mkdir()
    (folder / "figures" / "contamination.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    )
    session = {
        "started": "2026-11-16T05:00:00+00:00",
        "seconds": 90.0,
        "command": "python experiments.py seen --runs 2",
        "runs_made": 12,
    }
    session |= {
        "commit": "0123456789abcdef",
        "python": "3.11.4",
        "packages": {"tensorflow": "2.20.0"},
        "machine": {"cpu": "a <fast> one"},
    }
    (folder / "seen_provenance.json").write_text(json.dumps({"sessions": [session]}))
    return folder


@pytest.fixture(scope="module")
def page(results):
    return parse(results)


@pytest.fixture
def without_statistics(monkeypatch):
    """Claims and statistics take most of the time; tests of other parts go without."""
    monkeypatch.setattr(report, "judge_claims", lambda results_dir: [])
    monkeypatch.setattr(report, "statistics_tables", lambda results_dir: {})


def table_cell(page, metric, dataset, method, table=0):
    block = page.find("div", data_metric=metric, role="group")[table]
    row = page.find("tr", within=block, data_set=dataset)[0]
    return page.find("td", within=row, data_method=method)[0]


def test_a_claim_shows_what_the_paper_and_ours_say_side_by_side(page):
    items = [item for claims in page.find("ul", class_="claims") for item in page.find("li", within=claims)]
    (nine,) = [item for item in items if "outperforms nine competing methods on seen" in item["text"]]
    badges = [one["text"] for one in page.find("span", within=nine) if "badge" in one.get("class", "")]
    assert len(badges) == 4 and badges[0].endswith("weakened")  # the paper's own values, all its sets
    assert "FEAWAD (ahead on 8 of 11, p 0.154" in nine["text"] and "Every method" in nine["text"]
    assert "ours, the authors' draws, exact data" in page.find("section", aria_labelledby="claims")[0]["text"]


def test_cells_show_reproduced_published_and_difference(page):
    cell = table_cell(page, "auc_pr", "thyroid", "prenet")
    assert re.findall(r"[±+−]?\d\.\d{3}", cell["text"]) == ["0.300", "±0.010", "0.298", "+0.002", "±0.016"]
    assert cell["data-verdict"] == "reproduced" and cell.get("class") is None
    cell = table_cell(page, "auc_pr", "thyroid", "devnet")
    assert "+0.120" in cell["text"] and "differs" in cell["text"] and cell["class"] == "above3"
    cell = table_cell(page, "auc_pr", "bac", "prenet")
    assert "−0.020" in cell["text"] and "close" in cell["text"] and cell["class"] == "below1"
    assert "0.350" in table_cell(page, "auc_roc", "thyroid", "prenet")["text"]


def test_partial_data_is_weighted_grey_and_not_counted(page):
    cell = table_cell(page, "auc_pr", "fraud", "prenet")
    assert "0.610" in cell["text"] and cell["class"] == "partial" and cell["data-verdict"] == "none"
    row = [row for row in page.find("tr", data_set="fraud") if "partial" in row["text"]]
    assert row
    bars = page.find("div", class_="scroll bars")[0]
    counts = [re.findall(r"\d", count["text"]) for count in page.find("span", within=bars, class_="counts")]
    assert counts[:2] == [
        ["1", "1", "0"],
        ["0", "0", "2"],
    ]  # PReNet in AUC-PR and AUC-ROC: thyroid and bac, not fraud
    assert "1 of 2" in page.find("ul", class_="cards")[0]["text"]


def test_dots_say_what_they_are(page):
    dots = [dot for dot in page.find("path", data_set="fraud", data_method="devnet") if "aria-label" in dot]
    assert len(dots) == 2 and all("hollow" in dot["class"] for dot in dots)
    expected = "thyroid, PReNet: AUC-PR 0.300 ± 0.010, published 0.298, difference +0.002 (reproduced)"
    assert page.find("path", aria_label=expected)


def test_both_protocols_stand_beside_each_other(page):
    cell = table_cell(page, "auc_pr", "thyroid", "prenet", table=1)
    assert re.findall(r"±?\d\.\d{3}", cell["text"]) == ["0.300", "±0.010", "0.300", "±0.110"]
    assert table_cell(page, "auc_pr", "fraud", "prenet", table=1)["text"].startswith(
        "0.610"
    )  # weighted, as in the other table


def test_every_run_is_drawn_with_the_published_value(page):
    strip = page.find(
        "div", aria_label="thyroid, PReNet: mean 0.300, 0.290 to 0.310 in 2 runs, published 0.298"
    )[0]
    dots, ticks = (page.find("path", within=strip, class_=name) for name in ("runs m-prenet", "tick"))
    assert dots[0]["d"].count("h0") == 2 and len(ticks) == 1


def test_provenance_and_data(page):
    texts = " ".join(element["text"] for element in page.find("table") + page.find("ol"))
    for text in (
        "2026-11-16 05:00:00 UTC",
        "python experiments.py seen --runs 2",
        "0123456789",
        "tensorflow 2.20.0",
    ):
        assert text in texts
    assert "a <fast> one" in texts and "hash-of-thyroid" in texts


def test_missing_parts_name_a_command_that_exists(page):
    commands = [code["text"] for code in page.find("code") if code["text"].startswith("./")]
    for name in (
        "run_unseen.sh",
        "run_ablation.sh",
        "run_labels.sh",
        "run_sensitivity.sh",
        "run_contamination.sh --theorem",
    ):
        assert any(name in command for command in commands)
    assert all((ROOT / command.split()[0]).exists() for command in commands)
    assert "./run_contamination.sh" not in commands  # its figure is there


def test_results_without_provenance_say_so(tmp_path, without_statistics):
    write_results(tmp_path / "results", made_runs(SCORES))
    assert "not recorded" in [cell["text"] for cell in parse(tmp_path / "results").find("td")]


def test_same_bytes_small_and_alone(page, results):
    first = (results / "report.html").read_bytes()
    assert first == report.build_report(results).read_bytes()
    assert len(first) < 5_000_000
    for element in Elements(first.decode()).all:
        for name in ("src", "href"):
            assert element.get(name, "#").startswith(("#", "data:image/svg+xml;base64,")), element
        assert "style" not in element and not any(name.startswith("on") for name in element)


@pytest.fixture(scope="module")
def evil_results(tmp_path_factory):
    """Results of a data set whose name is a script, also in the paper; and a provenance file of the same
    kind."""
    folder = tmp_path_factory.mktemp("evil")
    published = pd.read_csv(cells.PUBLISHED / "seen.csv")
    published.loc[0, "dataset"] = EVIL
    for name in ("unseen", "ablation"):
        shutil.copy(cells.PUBLISHED / f"{name}.csv", folder)
    published.to_csv(folder / "seen.csv", index=False)
    write_results(folder / "results", made_runs(SCORES | {(EVIL, "prenet"): (0.9, 0.95)}))
    session = {"command": EVIL, "commit": [EVIL], "machine": {EVIL: EVIL}, "packages": 3, "seconds": EVIL}
    (folder / "results" / "seen_provenance.json").write_text(json.dumps({"sessions": [session, {}]}))
    (folder / "results" / "figures").mkdir()
    (folder / "results" / "figures" / "<img src=x onerror=alert(1)>.svg").write_text(
        "<svg xmlns='http://www.w3.org/2000/svg'/>"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "PUBLISHED", folder)
        report.build_report(folder / "results")
    return folder / "results"


def test_names_that_are_markup_stay_text(evil_results):
    page = Elements((evil_results / "report.html").read_text(encoding="utf-8"))
    assert len(page.find("script")) == 1 and "alert" not in page.find("script")[0]["text"]
    assert page.find("tr", data_set=EVIL) and page.find("path", data_set=EVIL, class_="point m-prenet")
    assert not any("onerror" in element for element in page.all)


def test_synthetic_results_stand_apart(tmp_path, without_statistics):
    results = tmp_path / "results"
    write_results(results, made_runs({("demo", "prenet"): (0.7, 0.7)}, status="synthetic"))
    page = parse(results)
    banner = "synthetic data: says nothing about the paper"
    assert banner in page.find("header")[0]["text"]
    assert (
        not page.find("tr", data_set="demo")
        and "No data that is exactly the paper's" in page.find("p", class_="lead")[0]["text"]
    )
    write_results(results, made_runs(SCORES))
    page = parse(results)
    section = page.find("section", aria_labelledby="synthetic")[0]
    assert (
        banner not in page.find("header")[0]["text"]
        and banner in section["text"]
        and "0.700" in section["text"]
    )


def test_a_figure_too_large_for_the_page_is_named(tmp_path, monkeypatch, without_statistics):
    write_results(tmp_path / "results", made_runs(SCORES))
    (tmp_path / "results" / "figures").mkdir()
    (tmp_path / "results" / "figures" / "sensitivity.svg").write_text("<svg/>")
    monkeypatch.setattr("reporting.plots.LARGEST_FIGURE", 3)
    page = parse(tmp_path / "results")
    assert not page.find("img") and "figures/sensitivity.svg" in [code["text"] for code in page.find("code")]


def test_an_empty_folder_gives_a_page_and_a_missing_one_an_error(tmp_path, capsys):
    assert report.main(["--results-dir", str(tmp_path)]) == 0
    with pytest.raises(SystemExit) as error:
        report.main(["--results-dir", str(tmp_path / "nowhere")])
    assert error.value.code == 2 and "there is no folder" in capsys.readouterr().err


# ---------------------------------------------------------------------------- in a browser


@pytest.fixture(scope="session")
def chromium():
    """Paths of Chromium and its driver, installed from the distribution's packages if need and rights be."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        if not shutil.which("apt-get") or os.geteuid() != 0:
            pytest.skip(
                "Chromium and chromedriver are not here, and cannot be installed: no apt-get, or not root"
            )
        options = ["-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20"]
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        try:
            for command in (
                ["update"],
                ["install", "-y", "--no-install-recommends", "chromium", "chromium-driver"],
            ):
                subprocess.run(
                    ["apt-get", *options, *command],
                    env=environment,
                    capture_output=True,
                    timeout=300,
                    check=True,
                )
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"Chromium cannot be installed: {error}")
    return shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(scope="module")
def driver(chromium):
    """A headless browser; its driver's path is given, so that selenium does not look for one on the net."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium[0]
    arguments = [
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--window-size=1280,900",
    ]
    for argument in arguments + (["--no-sandbox"] if os.geteuid() == 0 else []):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromium[1]))
    yield browser
    browser.quit()


@pytest.fixture
def opened(driver, page, results):
    """The report in the browser, at 1280 pixels; complains in the end if the page did."""
    resize(driver, 1280)
    driver.get((results / "report.html").as_uri())
    driver.execute_script("localStorage.clear(); delete document.documentElement.dataset.theme")
    yield driver
    assert driver.get_log("browser") == []


def resize(driver, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def visible_rows(driver):
    """Data sets of the first tables' rows, in their order."""
    rows = "[...document.querySelectorAll('[data-metric=auc_pr] tbody tr')]"
    script = f"return {rows}.filter(row => row.checkVisibility()).map(row => row.dataset.set)"
    return driver.execute_script(script)[:3]


def select(driver, name, value):
    from selenium.webdriver.support.ui import Select

    Select(driver.find_element("css selector", f"select[name={name}]")).select_by_value(value)


def test_sorting_by_a_column(opened):
    head = opened.find_element("css selector", "[data-metric=auc_pr] th[data-method=prenet]")
    paper_order = visible_rows(opened)
    orders, states = [], []
    for _ in range(3):
        head.find_element("tag name", "button").click()
        orders.append(visible_rows(opened))
        states.append(head.get_attribute("aria-sort"))
    assert states == ["ascending", "descending", None]
    assert orders == [["fraud", "bac", "thyroid"], ["thyroid", "bac", "fraud"], paper_order]  # by difference
    head.find_element("tag name", "button").click()
    select(opened, "order", "reproduced")
    assert visible_rows(opened) == ["thyroid", "fraud", "bac"]


def shown(driver, selector):
    elements = "[...document.querySelectorAll(arguments[0])]"
    script = f"return {elements}.filter(element => element.checkVisibility()).length"
    return driver.execute_script(script, selector)


def test_filters_act_on_tables_plots_and_runs(opened):
    assert shown(opened, ".scatter .point") == 6 and shown(opened, "#filtered [data-metric=auc_roc]") == 0
    opened.find_element("css selector", "input[value=devnet]").click()
    assert shown(opened, ".scatter .point") == 3
    assert (
        shown(opened, "#filtered [data-method=devnet]") == 0
        and shown(opened, ".strip[data-method=prenet]") == 3
    )
    opened.find_element("name", "set").send_keys("thy")
    assert shown(opened, ".scatter .point") == 1 and shown(opened, ".strip") == 1
    assert set(visible_rows(opened)) == {"thyroid"}
    opened.find_element("name", "set").clear()
    opened.find_element("name", "set").send_keys(" ")
    select(opened, "status", "partial")
    assert set(visible_rows(opened)) == {"fraud"}
    select(opened, "status", "")
    select(opened, "verdict", "close")
    assert visible_rows(opened)[0] == "bac" and shown(opened, ".scatter .point") == 1
    opened.find_element("css selector", "input[value=auc_roc]").click()
    assert shown(opened, "#filtered [data-metric=auc_pr]") == 0


def test_dots_can_be_reached_by_keyboard(opened):
    assert shown(opened, ".scatter .point[tabindex='0']") == 1
    opened.execute_script("document.querySelector('.scatter .point[tabindex]').focus()")
    first = opened.find_element("id", "tip").text
    opened.switch_to.active_element.send_keys("\ue014")  # arrow right
    second = opened.find_element("id", "tip").text
    assert "published" in first and "difference" in second and first != second


# contrast of every visible text with the nearest background, after WCAG 2; returns those below 4.5
CONTRAST = """
const parts = (color) => color.match(/[\\d.]+/g).map(Number);
const linear = (v) => v <= 0.04045 * 255 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const behind = (element) => parts(getComputedStyle(element).backgroundColor);
const poor = [];
for (const element of document.querySelectorAll("body *")) {
  const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!hasText || !element.checkVisibility() || element.closest(".away, script, option, .skip")) continue;
  let back = element;
  while (back !== document.documentElement && behind(back)[3] === 0) back = back.parentElement;
  const style = getComputedStyle(element), color = element instanceof SVGElement ? style.fill : style.color;
  const [a, b] = [light(parts(color)), light(behind(back))].sort((x, y) => y - x);
  if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(`${element.textContent.slice(0, 30)} ${color}`);
}
return poor;
"""


def test_both_themes_are_readable(opened):
    backgrounds = []
    for _ in range(2):
        backgrounds.append(opened.execute_script("return getComputedStyle(document.body).backgroundColor"))
        assert opened.execute_script(CONTRAST) == []
        opened.find_element("id", "theme").click()
    assert len(set(backgrounds)) == 2


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_never_scrolls_sideways(opened, width):
    resize(opened, width)
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width


def test_markup_in_names_does_nothing_in_a_browser(driver, evil_results):
    driver.get((evil_results / "report.html").as_uri())
    assert (
        driver.get_log("browser") == [] and driver.title == "PReNet: does the paper hold up?"
    )  # an alert would be an error here
    assert shown(driver, "tr") > 3
