"""HTML building blocks for the report on the paper: badges, its tables, links to the sources."""

import re
from html import escape
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from weakly.judging.tables import comparable
from weakly.methods import METHODS
from weakly.numbers import count, number, p_value, signed
from weakly.reporting.elements import command_line, table, tag

MARKS = {  # every verdict has its own sign, so that none depends on colour alone
    "reproduced": "✓", "close": "≈", "differs": "✕",
    "supported": "✓", "weakened": "≈", "contradicted": "✕", "not testable here": "?",
    "not so on partial data": "✕", "not diagnostic": "○",
}  # fmt: skip
LONG = 40  # letters, from which on a text may be broken into lines
TINTS = (0.01, 0.03, 0.1)  # above which a difference gets a stronger colour


def missing(what, command):
    """A note about missing results, and the command that produces them."""
    made_by = f"To produce it, run {command_line(command)}."
    return tag("p", f"{escape(what)}: not run yet. {made_by}", class_="missing")


def follow(folder, anchor, files=(), command=""):
    """The sources of a number: a permalink, links to its files, and the command."""
    parts = [tag("a", "permalink", href=f"#{anchor}", aria_label=f"link to {anchor}")]
    parts += [tag("a", escape(name), href=quote(name)) for name in files if (Path(folder) / name).is_file()]
    parts += [command_line(command)] if command else []
    return tag("p", " ".join(parts), class_="follow")


def scope(text):
    """Which of the filters act on a part of the page."""
    return tag("p", f"Filters that apply here: {escape(text)}", class_="scope")


def with_spread(mean, std):
    return number(mean) if pd.isna(std) else f"{number(mean)} ± {number(std)}"


def dataset_name(name):
    """A data set's name as text, `rec,fuz->dos` with spaces and an arrow."""
    return str(name).replace("->", " → ").replace(",", ", ")


def slug(*names):
    """A name for an anchor, of letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(names).lower().replace("->", "-to-")).strip("-")


def verdict_mark(verdict):
    """The sign of a verdict, and its word for screen readers."""
    sign = tag("span", MARKS[verdict], class_="mark", aria_hidden="true")
    return sign + tag("span", verdict, class_="away")


def badge(verdict):
    sign = tag("span", MARKS.get(verdict, "?"), aria_hidden="true")
    return tag("span", f"{sign} {escape(verdict)}", class_=f"badge {verdict.replace(' ', '-')}")


def tint(difference):
    """The class of a cell: above or below the published value, and by how much."""
    strength = sum(abs(difference) > limit for limit in TINTS)
    return f"{'above' if difference > 0 else 'below'}{strength}" if strength else ""


def row_header(name, status, anchor=""):
    """The head of a data set's row, with its name as a link; marked if its data is not the paper's."""
    note = tag("span", escape(status), class_="tag") if status != "exact" else ""
    text = escape(dataset_name(name))
    text = tag("a", text, href=f"#{anchor}") if anchor else text
    return tag("th", f"{text} {note}", scope="row", data_sort=dataset_name(name))


# ---------------------------------------------------------------------------- the paper's tables


def difference_cell(cell):
    """The gap above, ours and the published value below; colour and verdict where the data is the paper's."""
    counted = cell.data_status == "exact"
    partial = "" if cell.data_status.startswith("exact") else "partial"
    colour = f"{tint(cell.difference)} {partial}".strip() or None
    mark = verdict_mark(cell.verdict) if counted else ""
    gap = tag("b", mark + signed(cell.difference))
    values = tag("small", f"{number(cell.reproduced)} / {number(cell.published)}")
    spread = "" if pd.isna(cell.std) else f" ± {number(cell.std)} over {cell.runs:.0f} runs"
    interval = "" if pd.isna(cell.interval) else f", its interval ± {number(cell.interval, 4)}"
    verdict = cell.verdict if counted else f"{cell.data_status} data, not counted"
    title = f"{dataset_name(cell.dataset)}, {METHODS[cell.method].column}: ours {number(cell.reproduced)}"
    title += f"{spread}, published {number(cell.published)}, difference {signed(cell.difference, 4)}"
    return tag(
        "td",
        gap + values,
        class_=colour,
        title=f"{title}{interval} ({verdict})",
        data_method=cell.method,
        data_verdict=cell.verdict if counted else "none",
        data_reproduced=f"{cell.reproduced:.6f}",
        data_published=f"{cell.published:.6f}",
        data_difference=f"{cell.difference:.6f}",
    )


def matrix(caption, statuses, cells, anchors="", **attributes):
    """The layout of the paper's tables: a row per data set of {name: status}, a column per method.

    cells: {(data set, method): complete <td> element}; anchors: what the rows' anchors begin with.
    """
    there = {method for dataset, method in cells if dataset != "Average"}
    methods = [name for name in METHODS if name in there]
    rows = {"body": [], "foot": []}
    for dataset, status in statuses.items():
        anchor = slug(anchors, dataset) if anchors and dataset != "Average" else ""
        content = row_header(dataset, status, anchor)
        for method in methods:
            content += cells.get((dataset, method)) or tag("td", "–", data_method=method, class_="empty")
        if dataset == "Average":
            rows["foot"].append(tag("tr", content))
        else:
            named = {"data_set": dataset_name(dataset), "data_status": status, "id": anchor or None}
            rows["body"].append(tag("tr", content, **named))
    head = [("Data set", {})] + [(METHODS[name].column, {"data_method": name}) for name in methods]
    return table(caption, head, rows["body"], rows["foot"], **attributes)


def difference_matrix(caption, part, **attributes):
    """One metric of one experiment, ours compared with published."""
    cells = {(cell.dataset, cell.method): difference_cell(cell) for cell in part.itertuples()}
    return matrix(caption, dict(zip(part["dataset"], part["data_status"])), cells, **attributes)


def value_line(mean, std):
    return tag("div", tag("b", number(mean)) + ("" if pd.isna(std) else tag("small", f"±{number(std)}")))


def protocol_table(caption, released, independent, metric, **attributes):
    """Mean and spread with the authors' draws, over initial weights; below it with new draws, over splits."""
    both = comparable(released).merge(
        comparable(independent), on=["dataset", "metric", "method"], suffixes=("", "_drawn")
    )
    both = both[(both["metric"] == metric) & both["mean"].notna() & both["mean_drawn"].notna()]
    cells = {}
    for cell in both.itertuples():
        lines = value_line(cell.mean, cell.std) + value_line(cell.mean_drawn, cell.std_drawn)
        cells[cell.dataset, cell.method] = tag(
            "td",
            lines,
            data_method=cell.method,
            class_="two" if cell.status.startswith("exact") else "two partial",
            data_sort=number(cell.mean_drawn),
        )
    return matrix(caption, dict(zip(both["dataset"], both["status"])), cells, **attributes) if cells else ""


# ---------------------------------------------------------------------------- any other table


def frame_table(caption, frame, name="", **attributes):
    """Any table of numbers and texts; two levels of columns are two rows of heads; methods filter."""
    columns = [column if isinstance(column, tuple) else ("", column) for column in frame.columns]
    head = [(name or str(frame.index.name or "Method").capitalize(), {})]
    for (_, column), dtype in zip(columns, frame.dtypes):
        head.append((str(column), {"class_": "number"} if pd.api.types.is_numeric_dtype(dtype) else {}))
    groups = [(group, len(list(members))) for group, members in groupby(group for group, _ in columns)]
    rows = [
        frame_row(METHODS[label].column if label in METHODS else str(label), columns, values)
        for label, values in zip(frame.index, frame.itertuples(index=False, name=None))
    ]
    has_groups = any(group for group, _ in groups)
    return table(caption, head, rows, groups=[("", 1), *groups] if has_groups else None, **attributes)


def frame_row(label, columns, values):
    """One row of a frame_table, of the columns (group, name)."""
    cells = [tag("th", escape(label), scope="row", data_sort=label)]
    for (group, column), value in zip(columns, values):
        text = escape(formatted(f"{group} {column}".strip(), value))
        kind = "number" if not isinstance(value, str) else "long" if len(value) > LONG else None
        cells.append(tag("td", text, class_=kind, data_sort=sort_key(value)))
    keys = {method.column: key for key, method in METHODS.items()}
    return tag("tr", "".join(cells), data_method=keys.get(label))


def sort_key(value):
    """What a column is sorted by; nine digits, because the last ones differ between processors."""
    if pd.isna(value):
        return ""
    return f"{value:.9g}" if isinstance(value, float) else value


def formatted(what, value):
    """A value formatted by its column's name: p-values with three digits, percentages one, ranks two.

    Percentages are changes, with their sign, except the shares of classes in a variance.
    """
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "–"
    if isinstance(value, int) or re.match("(data )?sets", what):
        return count(value)
    if re.search(r"\bp\b|p-value", what):
        return p_value(value, 4 if "recomputed" in what else 3)
    if "%" in what:
        return number(value, 1) if "class" in what else signed(value, 1)
    return number(value, 2 if "ordinal" in what else 3)
