"""One HTML page about a scored table: scores, highest rows and reasons, columns, drift, with labels quality.

page = report_page(model, overview_of(model, table, top=20), table, contamination=0.01)

It looks like the report on the paper and is drawn with the same code (reporting/). Cells and names are not
trusted: they are shortened, made printable and escaped. The size of the page does not grow with the table.
"""

from html import escape
from pathlib import Path

from weakly.errors import printable
from weakly.numbers import count, number
from weakly.own_data.drift import FEWEST_ROWS
from weakly.own_data.model_info import model_facts
from weakly.own_data.overview import KEPT
from weakly.own_data.report_cells import CELL_LETTERS, cell, numeric, percent, shown
from weakly.own_data.report_charts import classes_plot, figure, precision_recall_plot, roc_plot, scores_plot
from weakly.own_data.report_columns import columns_section
from weakly.reporting.elements import filled_page, page_script, tag
from weakly.reporting.elements import table as html_table
from weakly.reporting.svg import grid

SKELETON = Path(__file__).with_name("report_page.html")
START = "cueScrolling();\nopenTarget();\n"  # runs after the code of all pages
STYLE = ".long { overflow-wrap: anywhere; } .together { white-space: nowrap; }\n"
RATES = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1)  # shares of the training rows, one threshold for each
MOST_TOP, MOST_KEPT, MOST_NAMED = 500, 30, 4
SAME_ROWS = (
    "This is the table that the model was fitted on. The model has seen these rows, so scores and quality "
    "look better here than on new rows."
)


def section(anchor, title, content):
    return tag("section", tag("h2", escape(title), id=anchor) + content, aria_labelledby=anchor)


def report_page(model, found, table, contamination):
    """The page of an Overview."""
    threshold = model.threshold(contamination)
    trained_on = (model.origin or {}).get("table", {}).get("sha256")
    is_same = trained_on == table.fingerprint()["sha256"]
    sections = {
        "scores": ("Scores", scores_section(model, found, threshold, contamination)),
        "quality": ("Quality of the ranking", quality_section(found, threshold, is_same)),
        "rows": ("The highest rows", rows_section(found)),
        "columns": ("Columns", columns_section(model, found)),
        "model": ("The model", model_section(model)),
    }
    there = {anchor: part for anchor, part in sections.items() if part[1]}
    links = "".join(
        tag("li", tag("a", escape(title), href=f"#{anchor}")) for anchor, (title, _) in there.items()
    )
    slots = {
        "title": shown(f"Anomalies in {table.path.name}"),
        "banner": tag("p", SAME_ROWS, class_="banner") if is_same else "",
        "lead": lead(model, found, threshold, contamination),
        "cards": cards(found, threshold, contamination),
        "links": links,
        "content": "".join(section(anchor, *part) for anchor, part in there.items()),
    }
    return filled_page(SKELETON.read_text("utf-8"), page_script("", START), slots, STYLE)


# ---------------------------------------------------------------------------- the first screen


def lead(model, found, threshold, contamination):
    """The result in a sentence or two."""
    n_above = found.n_above(threshold)
    have = "has" if n_above == 1 else "have"
    text = f"{count(n_above)} of {count(len(found.scores))} rows {have} a score above {number(threshold)}, "
    text += f"the score that {percent(contamination)} of the {count(model.n_rows)} training rows exceed."
    if found.comparison and (changed := len(found.comparison.changed())):
        columns = "1 column has" if changed == 1 else f"{changed} columns have"
        text += f" {columns} changed much since training, so scores may be less reliable than before."
    return escape(text)


def card(title, large, *lines):
    content = tag("h2", escape(title)) + tag("b", escape(large), class_="large")
    return tag("section", content + "".join(tag("p", escape(line)) for line in lines))


def cards(found, threshold, contamination):
    """Flagged rows, the quality if labels are known, and the drift."""
    n_above, n_rows = found.n_above(threshold), len(found.scores)
    flagged = f"{count(n_above)} of {count(n_rows)} rows, {percent(n_above / n_rows)}"
    parts = [
        card(
            "Flagged",
            flagged,
            f"Expected: {percent(contamination)} if these rows are like the training rows.",
        )
    ]
    if found.y is not None:
        hits, alarms, missed, _ = found.confusion(threshold)
        found_of = f"{count(hits)} of {count(hits + missed)} anomalies found"
        false = f"False alarms: {count(alarms)} of the {count(hits + alarms)} flagged."
        parts.append(card("Compared with the labels", found_of, false))
    else:
        highest = found.best.iloc[0]
        parts.append(card("Highest score", number(highest["score"]), f"Row {count(highest['row'])}."))
    return "".join([*parts, drift_card(found)])


def drift_card(found):
    """How many columns changed much since training, and which."""
    if not found.comparison:
        return card("Drift", "unknown", "The model has no summary of its training rows.")
    if len(found.scores) < FEWEST_ROWS:
        return card("Drift", "too few rows", f"At least {FEWEST_ROWS} are needed.")
    names = list(found.comparison.changed().index)
    words = ", ".join(printable(name)[:CELL_LETTERS] for name in names[:MOST_NAMED])
    words += f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    columns = "1 column" if len(names) == 1 else f"{len(names)} columns"
    text = f"{words}: see below." if names else "The rows look like the training rows."
    return card("Drift", f"{columns} changed much" if names else "no large change", text)


# ---------------------------------------------------------------------------- scores and labels


def scores_section(model, found, threshold, contamination):
    """The distribution of the scores, and a table of thresholds."""
    text = (
        "A higher score means more anomalous. The filled area shows these rows, the dashed line the training "
    )
    text += "rows. The height is the share of rows in each of 60 bins; the outermost bins include scores "
    text += "farther out. The axis is logarithmic, so that a few rows are visible too."
    panels = [figure("Scores here and in training", scores_plot(found.scores, model.quantiles, threshold))]
    if found.y is not None:
        chips = {kind: tag("i", "", class_=f"chip k-{kind}") for kind in ("anomalies", "normals")}
        key = "".join(tag("span", f"{chip} {kind}") for kind, chip in chips.items())
        picture = classes_plot(found.scores, found.y, threshold) + tag("div", key, class_="legend")
        panels.append(figure("Scores by label", picture))
    plots = tag("p", escape(text)) + grid(panels, "panels large")
    return plots + threshold_table(model, found, contamination)


def threshold_table(model, found, contamination):
    """A row per threshold: what is flagged and, if labels are known, how much of it is right."""
    names = ["Training rows above", "Threshold", "Flagged", "Share"]
    if found.y is not None:
        names += ["True positives", "False positives", "False negatives", "True negatives"]
        names += ["Precision", "Recall"]
    rows = []
    for rate in sorted({*RATES, contamination}):
        threshold = model.threshold(rate)
        n_above = found.n_above(threshold)
        is_chosen = rate == contamination
        title = tag("b", f"{percent(rate)} (chosen)") if is_chosen else percent(rate)
        cells = cell(title, sort=rate, name="th", scope="row") + numeric(threshold)
        cells += numeric(n_above, count(n_above)) + numeric(n_above, percent(n_above / len(found.scores)))
        if found.y is not None:
            confusion = found.confusion(threshold)
            hits, alarms, missed, _ = confusion
            cells += "".join(numeric(value, count(value)) for value in confusion)
            cells += numeric(hits / (hits + alarms) if hits + alarms else float("nan"))
            cells += numeric(hits / (hits + missed))
        rows.append(tag("tr", cells))
    head = [(name, {} if place == 0 else {"class_": "number"}) for place, name in enumerate(names)]
    caption = "Thresholds by the share of training rows above them"
    return html_table(caption, head, rows, class_="scroll wrapped")


def quality_section(found, threshold, is_same):
    """Precision, recall and ROC curve; nothing if labels are not known."""
    if found.y is None:
        return ""
    confusion = found.confusion(threshold)
    pr, auc_pr = precision_recall_plot(found.scores, found.y, confusion)
    roc, auc_roc = roc_plot(found.scores, found.y, confusion)
    text = f"{count(found.y.sum())} of {count(len(found.y))} rows are anomalies. The dot marks the chosen "
    text += "threshold. The dashed line is what a random order gives."
    if not is_same:  # else a banner says so
        text += " If the model was fitted on some of these rows, new rows will be ranked less well."
    panels = [
        figure(f"Precision against recall: AUC-PR {number(auc_pr)}", pr),
        figure(f"ROC curve: AUC-ROC {number(auc_roc)}", roc),
    ]
    return tag("p", escape(text)) + grid(panels, "panels large")


def rows_section(found):
    """The highest rows, with the columns that raised their scores."""
    best = found.best
    kept = [name for name in best if name.startswith(KEPT)]
    reasons = [name for name in best if name.startswith("why_") and name != "why_rest"]
    head = [("Row", {}), ("Score", {"class_": "number"})]
    head += [("Label", {})] if found.y is not None else []
    head += [(printable(name.removeprefix(KEPT))[:CELL_LETTERS], {}) for name in kept]
    head += [(f"Reason {place}", {}) for place in range(1, len(reasons) + 1)]
    rows = []
    for index, values in zip(best.index, best.to_dict("records")):
        cells = cell(count(values["row"]), sort=values["row"], name="th", scope="row")
        cells += numeric(values["score"])
        if found.y is not None:
            kind, word = ("anomalies", "anomaly") if found.y[index] == 1 else ("normals", "normal")
            label = tag("i", "", class_=f"chip k-{kind}") + f" {word}"
            cells += cell(tag("span", label, class_="together"), sort=word)
        cells += "".join(
            cell(shown(values[name]), sort=printable(values[name])[:CELL_LETTERS]) for name in kept
        )
        cells += "".join(cell(shown(values[name], 2 * CELL_LETTERS)) for name in reasons)
        rows.append(tag("tr", cells))
    text = "Row numbers count from 1, without the header. A reason is a column with its value; the number is "
    text += "how much it adds to the score, compared with the column's typical value."
    caption = f"The {len(best)} rows with the highest scores"
    return tag("p", escape(text)) + html_table(caption, head, rows, class_="scroll wrapped")


def model_section(model):
    """What the model file says about itself."""
    rows = [
        tag("tr", cell(escape(name), name="th", scope="row") + cell(escape(text), class_="long"))
        for name, text in model_facts(model).items()
    ]
    return html_table("As detect.py info shows it", [("What", {}), ("Value", {})], rows)
