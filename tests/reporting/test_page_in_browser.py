"""The report in a real browser: filters, sorting, widths, accessibility."""

import json
from pathlib import Path

import pytest
from report_pages import SCORES, made_runs, write_results

from weakly.judging.assessment import Assessment
from weakly.reporting.page import build_report

REFERENCE = Path(__file__).resolve().parent.parent.parent / "results" / "reference"
WIDTHS = (1280, 390)
THEMES = ("light", "dark")


@pytest.fixture(scope="module")
def small_page(tmp_path_factory):
    """A page of three data sets and two methods; an alert of its provenance would end every test."""
    folder = tmp_path_factory.mktemp("results")
    independent = {key: (a - 0.1, b + 0.1) for key, (a, b) in SCORES.items()}
    write_results(folder, made_runs(independent, protocol="independent"), suffix="_independent")
    write_results(folder, made_runs(SCORES))
    markup = {"command": "<img src=x onerror=alert(1)>", "machine": {"<script>alert(1)</script>": "</table>"}}
    (folder / "seen_provenance.json").write_text(json.dumps({"sessions": [markup]}))
    return build_report(Assessment(folder))


@pytest.fixture
def opened(driver, small_page):
    """The small page in the browser, at 1280 pixels; complains in the end if the page did."""
    show(driver, small_page)
    yield driver
    assert driver.get_log("browser") == []


def resize(driver, width):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def show(driver, path, width=1280, theme="light"):
    resize(driver, width)
    scheme = [{"name": "prefers-color-scheme", "value": theme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": scheme})
    driver.get("about:blank")
    driver.get(path.as_uri())
    driver.execute_script("localStorage.clear(); delete document.documentElement.dataset.theme")


def of(driver, selector):
    return driver.find_element("css selector", selector)


def select(driver, name, value):
    from selenium.webdriver.support.ui import Select

    Select(of(driver, f"#filtered select[name={name}]")).select_by_value(value)


def search(driver, text):
    driver.find_element("name", "set").clear()
    driver.find_element("name", "set").send_keys(text)


def reset_filters(driver):
    of(driver, "#filters button[type=reset]").click()
    driver.execute_async_script("setTimeout(arguments[0], 50)")  # the page follows a moment later


def shown(driver, selector):
    elements = "[...document.querySelectorAll(arguments[0])]"
    is_shown = "one.checkVisibility() && getComputedStyle(one).display !== 'none'"  # of <g> only the latter
    return driver.execute_script(f"return {elements}.filter(one => {is_shown}).length", selector)


def visible_rows(driver):
    """Data sets of the first table's rows, in their order."""
    rows = "[...document.querySelectorAll('.heat[data-metric=auc_pr] tbody tr')]"
    script = f"return {rows}.filter(row => row.checkVisibility()).map(row => row.dataset.set)"
    return driver.execute_script(script)[:3]


# ---------------------------------------------------------------------------- sorting and filters


def test_sorting_by_a_column(opened):
    head = of(opened, ".heat[data-metric=auc_pr] th[data-method=prenet]")
    paper_order, orders, states = visible_rows(opened), [], []
    for _ in range(3):
        opened.execute_script("arguments[0].querySelector('button').click()", head)
        orders.append(visible_rows(opened))
        states.append(head.get_attribute("aria-sort"))
    assert states == ["ascending", "descending", None]
    assert orders == [["fraud", "bac", "thyroid"], ["thyroid", "bac", "fraud"], paper_order]  # by the gap
    opened.execute_script("arguments[0].querySelector('button').click()", head)
    select(opened, "order", "reproduced")
    assert visible_rows(opened) == ["thyroid", "fraud", "bac"]


def test_a_metric_applies_to_everything_below_the_filters(opened):
    for metric, other in (("auc_roc", "auc_pr"), ("auc_pr", "auc_roc")):
        of(opened, f"input[value={metric}]").click()
        assert shown(opened, f"#filtered [data-metric={other}]") == 0
        for part in (".heat", ".runs"):
            assert shown(opened, f"{part}[data-metric={metric}]") > 0, (metric, part)


def test_methods_data_sets_and_verdicts_apply_to_tables_and_runs(opened):
    of(opened, "input[value=devnet]").click()
    assert shown(opened, "#filtered [data-method=devnet]:not(form *)") == 0
    assert shown(opened, ".runs g[data-method=prenet]") > 0 and shown(opened, ".heat tfoot tr") == 1
    search(opened, "thy")
    assert shown(opened, ".runs") == 1 and set(visible_rows(opened)) == {"thyroid"}
    assert shown(opened, ".heat tfoot tr") == 0  # the average is that of all rows
    search(opened, " ")
    select(opened, "status", "partial")
    assert set(visible_rows(opened)) == {"fraud"}
    select(opened, "status", "")
    select(opened, "verdict", "close")
    assert visible_rows(opened) == ["bac"] and shown(opened, "#filtered .no-match") == 0
    reset_filters(opened)
    assert len(visible_rows(opened)) == 3 and shown(opened, ".runs") == 3
    search(opened, "nothing like this")
    assert shown(opened, "#filtered .heat tbody tr") == 0 and shown(opened, "#filtered .no-match") >= 2
    assert "no cell of the tables matches" in of(opened, "#filters output").text


def test_the_list_of_claims_has_filters_of_its_own(opened):
    opened.execute_script("document.getElementById('other-claims').open = true")
    count = shown(opened, ".claims > li")
    of(opened, "#claim-filters input").send_keys("devnet")
    assert 0 < shown(opened, ".claims > li") < count and shown(opened, "#no-claim") == 0
    of(opened, "#claim-filters input").send_keys(" and no such words")
    assert shown(opened, ".claims > li") == 0 and shown(opened, "#no-claim") == 1
    assert shown(opened, ".heat tbody tr") == 3  # the tables are not its business


def test_a_link_into_something_folded_opens_it(driver):
    driver.get((REFERENCE / "report.html").as_uri() + "#claim-three-way")
    script = "const box = document.getElementById('claim-three-way').getBoundingClientRect();"
    top = driver.execute_script(f"{script} return box.height > 0 ? box.top : -1")
    assert 0 <= top < 900


# ---------------------------------------------------------------------------- widths and themes

# the place of the filters while each section is read: [top, bottom, height of the window]
FILTERS = """
return [...document.querySelectorAll("#filtered > section")].map((section) => {
  section.scrollIntoView();
  scrollBy(0, section.getBoundingClientRect().height / 2);
  const box = document.getElementById("filters").getBoundingClientRect();
  return [box.top, box.bottom, innerHeight];
});
"""
# what sticks out of its margin: the key of colours, plots, cards
OUTSIDE = """
const isOut = (one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
return [...document.querySelectorAll("main *")]
  .filter((one) => one.checkVisibility() && !one.closest(".scroll, .away, svg") && isOut(one))
  .map((one) => one.outerHTML.slice(0, 80));
"""
# the size of every text in a plot, as it is on the screen
TEXT_SIZES = """
const shown = [...document.querySelectorAll("svg text")].filter((one) => one.checkVisibility());
const scale = (svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
const size = (one) => parseFloat(getComputedStyle(one).fontSize) * scale(one.ownerSVGElement);
return Math.min(...shown.map(size));
"""
# how many tables are wider than their place and do not say so
SILENT = """
cueScrolling();
return [...document.querySelectorAll(".scroll")].filter((block) => block.checkVisibility()
  && block.scrollWidth > block.clientWidth + 2 && !block.classList.contains("more")).length;
"""


@pytest.mark.parametrize("width", WIDTHS)
def test_everything_fits_its_width(driver, width):
    show(driver, REFERENCE / "report.html", width)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert driver.execute_script(OUTSIDE) == []
    places = driver.execute_script(FILTERS)
    assert len(places) == 6 and all(top >= 0 and 10 < bottom < height / 2 for top, bottom, height in places)
    driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    assert driver.execute_script(TEXT_SIZES) >= 9
    assert driver.execute_script(SILENT) == 0
    assert (shown(driver, ".heat.more") == 0) == (width == 1280)  # there the paper's tables fit


@pytest.mark.parametrize("theme, width", zip(THEMES, WIDTHS))  # colours and layout, each in both forms
def test_axe_finds_no_violation(driver, theme, width):
    axe = pytest.importorskip("axe_core_python")
    show(driver, REFERENCE / "report.html", width, theme)
    # the rows of a long table are alike, and so are the plots of runs: axe takes its time for each
    for alike in ("tbody tr:nth-child(n+6)", ".runs ~ .runs ~ .runs ~ .runs"):
        driver.execute_script("document.querySelectorAll(arguments[0]).forEach(one => one.remove())", alike)
    driver.execute_script((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    script = """
    const done = arguments[arguments.length - 1];
    const inWords = (one) => `${one.id}: ${one.nodes.length} times, first ${one.nodes[0].html.slice(0, 120)}`;
    axe.run({ resultTypes: ["violations"] }).then((found) => done(found.violations.map(inWords)));
    """
    driver.set_script_timeout(120)
    assert driver.execute_async_script(script) == []
