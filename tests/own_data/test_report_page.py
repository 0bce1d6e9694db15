"""The page on one's own data: right numbers, everything escaped, and quiet in a browser."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from event_tables import COLUMNS, events
from report_pages import Elements
from sklearn.metrics import average_precision_score

from weakly.own_data.columns import typed_columns
from weakly.own_data.models import fit_model, load_model, save_model

EVIL = "<script>alert('x')</script>"


@pytest.fixture
def page_of(run):
    """A function that gives the page of a report, as text and as Elements."""

    def page(command):
        assert run(f"report {command}") == 0
        text = Path("report.html").read_text(encoding="utf-8")
        return text, Elements(text)

    return page


def known_labels():
    """Other rows than those of the model, some normal ones marked, with all labels known."""
    table = events(seed=1)
    return table.assign(fraud=np.where((table["fraud"] == "1") | (table.index % 50 == 3), "yes", "no"))


def rows_of(page, caption):
    """The texts of the cells of a table, by row."""
    box = next(one for one in page.find("div") if one.get("aria-label", "").startswith(caption))
    body = page.find("tbody", within=box)[0]
    return [
        [one["text"] for one in page.all if one["tag"] in ("th", "td") and row in one["within"]]
        for row in page.find("tr", within=body)
    ]


def test_the_page_has_the_numbers_of_score_and_of_the_labels(folder, model_path, run, page_of):
    known_labels().to_csv("known.csv", index=False)
    options = f"--model {model_path} --label fraud --anomaly-value yes --contamination 0.05 --top 7 --keep id"
    text, page = page_of(f"known.csv {options}")
    assert run(f"score known.csv --model {model_path} --output scores.csv --explain") == 0
    scores, y = pd.read_csv("scores.csv"), known_labels()["fraud"] == "yes"
    best, rows = scores.nlargest(7, "score"), rows_of(page, "The 7 rows")
    assert [row[0] for row in rows] == [f"{row:,}" for row in best["row"]]
    assert [row[3] for row in rows] == [str(row + 999) for row in best["row"]]  # the ids
    assert [row[4] for row in rows] == best["why_1"].tolist()
    assert f"AUC-PR {average_precision_score(y, scores['score']):.3f}" in text
    flagged = scores["score"] > load_model(model_path).threshold(0.05)
    (chosen,) = [row for row in rows_of(page, "Thresholds") if row[0] == "5%"]
    expected = [flagged & y, flagged & ~y, ~flagged & y, ~flagged & ~y]
    assert chosen[4:8] == [f"{n.sum():,}" for n in expected]
    assert chosen[9] == f"{(flagged & y).sum() / y.sum():.3f}"
    assert "This is the table that" not in text


def test_drift_is_shown_in_words(folder, model_path, page_of):
    changed = events().assign(amount=lambda table: table["amount"].astype(float) + 500)
    changed.to_csv("changed.csv", index=False)
    _, page = page_of(f"changed.csv --model {model_path}")
    first, *others = rows_of(page, "Columns")
    assert first[:2] == ["amount", "1.000"] and first[5] == "100%"
    assert first[3].startswith("61.01 to 205.52, median ")
    assert first[4] == "100% above the range, 0% before"
    assert [row["text"].startswith("amount") for row in page.find("tr", class_="bold")] == [False, True]
    assert any("DRIFT: " in one["text"] for one in page.find("p", class_="banner"))
    assert not [one for one in page.find("h2") if one["text"] == "Quality of the ranking"]
    assert len(page.find("svg", role="img")) == 1


@pytest.fixture
def evil(folder, page_of):
    """The page of a table and a model with markup in names, cells and everything that is recorded."""
    table = events().rename(columns={"country": EVIL}).assign(id=f"{EVIL}\x1b")
    table[EVIL] = table[EVIL].replace("XX", f"</td>{EVIL}")
    table.to_csv("evil.csv", index=False)
    columns = {EVIL if name == "country" else name: column for name, column in COLUMNS.items()}
    y = (table["fraud"] == "1").astype(int).to_numpy()
    origin = {"label": EVIL, "versions": {EVIL: EVIL}, "table": {"name": EVIL, "bytes": 1, "sha256": EVIL}}
    typed = typed_columns(table[list(columns)], columns)
    save_model("evil.model", fit_model("logistic-converged", typed, columns, y, origin=origin))
    return page_of("evil.csv --model evil.model --keep id")


def test_markup_in_names_and_cells_is_escaped(evil):
    text, page = evil
    assert len(page.find("script")) == 1 and "<script>alert" not in text and "\x1b" not in text
    assert text.count("&lt;script&gt;alert") > 20
    ids = [one["id"] for one in page.all if "id" in one]
    assert len(ids) == len(set(ids))


@pytest.mark.slow
def test_the_page_in_a_browser(evil, driver):
    """No complaint and no alert, nothing sticks out, sorting works, and so does the theme."""
    for width in (1280, 390):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.get(Path("report.html").resolve().as_uri())
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    first = "return document.querySelector('#rows ~ .scroll tbody th').textContent"
    before = driver.execute_script(first)
    driver.execute_script("document.querySelector('#rows ~ .scroll thead button').click()")
    assert int(driver.execute_script(first)) < int(before)  # by row, no longer by score
    driver.find_element("id", "theme").click()
    assert driver.execute_script("return document.documentElement.dataset.theme") in ("light", "dark")
    axe = pytest.importorskip("axe_core_python")
    driver.execute_script((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    script = "axe.run().then((found) => arguments[0](found.violations.map((one) => one.id)))"
    driver.set_script_timeout(120)
    assert driver.execute_async_script(script) == []
    assert driver.get_log("browser") == []
