"""The report's section on columns: what they hold, in training and now, and how much they changed."""

from html import escape

from weakly.errors import printable
from weakly.numbers import number
from weakly.own_data.features import described_encoder
from weakly.own_data.model_info import column_in_words
from weakly.own_data.report_cells import CELL_LETTERS, cell, numeric, percent, shown
from weakly.own_data.report_charts import change_plot, figure, level_name
from weakly.reporting.elements import table as html_table
from weakly.reporting.elements import tag
from weakly.reporting.svg import grid

MOST_COLUMNS, MOST_CHANGES = 200, 8  # in the table, and as plots
SHARES = ("beyond", "missing before", "missing")  # of Comparison.changes


def columns_section(model, found):
    """What the columns hold, in training and now, and plots of those that changed most."""
    described = described_encoder(model.encoder)
    if not found.comparison:
        rows = [
            tag("tr", column_head(name) + cell(shown(column["kind"])) + cell(shown(column_in_words(column))))
            for name, column in list(described.items())[:MOST_COLUMNS]
        ]
        return html_table("Columns", [("Column", {}), ("Kind", {}), ("In training", {})], rows)
    changes = found.comparison.changes().sort_values("distance", ascending=False, kind="stable")
    told = set(found.comparison.changed().index)
    rows = [
        column_row(name, described[name], changes.loc[name], found, name in told)
        for name in changes.index[:MOST_COLUMNS]
    ]
    names = ["Column", "Distance", "Kind", "In training", "Now", "Outside", "Missing before", "Missing now"]
    numbers = ("Distance", "Outside", "Missing before", "Missing now")
    head = [(name, {"class_": "number"} if name in numbers else {}) for name in names]
    text = (
        "Distance is the largest change, since training, in the share of any group of values: 0 if nothing "
    )
    text += "changed, 1 if old and new values have nothing in common. Outside is the share of values beyond "
    text += "the training range, or in levels that were rare or unknown. Marked columns changed much."
    caption = f"Columns, those that changed most first ({len(rows):,} of {len(changes):,})"
    plots = [
        figure(
            printable(name)[:CELL_LETTERS],
            change_plot(name, model.kinds[name], found.comparison.shares(name), quantiles_of(model, name)),
        )
        for name in changes.index[:MOST_CHANGES]
    ]
    note = "Filled areas and dots show these rows, dashed lines and rings the training rows. Each bin of a "
    note += "number holds a twentieth of the training rows; the two outermost bins lie beyond their range."
    return (
        tag("p", escape(text))
        + html_table(caption, head, rows)
        + tag("h3", "The columns that changed most")
        + tag("p", escape(note))
        + grid(plots)
    )


def quantiles_of(model, name):
    return model.summary[name].get("quantiles")


def column_head(name):
    return cell(shown(name), sort=printable(name)[:CELL_LETTERS], name="th", scope="row")


def column_row(name, column, change, found, is_told):
    """One column in training and now."""
    mark = tag("span", "changed", class_="badge close") if is_told else ""
    cells = column_head(name) + numeric(change["distance"], f"{mark} {number(change['distance'], 2)}")
    cells += cell(shown(column["kind"])) + cell(shown(column_in_words(column), 160))
    cells += cell(shown(values_now(name, column["kind"], found)), class_="together")
    cells += "".join(numeric(change[key], percent(change[key])) for key in SHARES)
    return tag("tr", cells)


def values_now(name, kind, found):
    """What a column holds now: a range, or the most frequent value; nothing if all cells are missing."""
    if kind == "number":
        return "{:.6g} to {:.6g}".format(*found.ranges[name]) if name in found.ranges else ""
    shares = found.comparison.shares(name)[1]
    if shares.empty or not shares.max() > 0:
        return ""
    words = level_name(shares.idxmax(), kind)
    return f"mostly {words}, {percent(shares.max())}"
