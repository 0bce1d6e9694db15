"""Pieces of HTML for report.py: elements, numbers, sortable tables. Everything that comes from a file is escaped here."""

import re
from html import escape

import pandas as pd

from methods import METHODS

MARKS = {  # every verdict has a sign of its own, so that none is told by colour alone
    "reproduced": "✓", "close": "≈", "differs": "✕",
    "holds": "✓", "holds in part": "≈", "does not hold": "✕", "not tested": "?",
}  # fmt: skip
EMPTY_ELEMENTS = ("img", "input", "meta")  # which have no end tag
TINTS = (0.01, 0.03, 0.1)  # above which a difference gets a stronger colour


def tag(name, content="", /, **attributes):
    """An element. content is HTML; values of attributes are escaped, those that are None left out, and _ in names is a hyphen."""
    texts = [f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items() if value is not None]
    return f"<{name}{''.join(texts)}>" + ("" if name in EMPTY_ELEMENTS else f"{content}</{name}>")


def missing(what, command):
    return tag("p", f"{escape(what)}: not run yet. {tag('code', escape(command))} makes it.", class_="missing")


def number(value):
    return "–" if pd.isna(value) else f"{value:.3f}"


def signed(value):
    """A difference with its sign, as typography wants the minus; what rounds to nothing has none."""
    text = f"{value:+.3f}".replace("-", "−")
    return text if float(f"{value:.3f}") else text[1:]


def with_spread(mean, std):
    return number(mean) if pd.isna(std) else f"{number(mean)} ± {number(std)}"


def dataset_name(name):
    """A data set's name as text, `rec,fuz->dos` with spaces and an arrow."""
    return str(name).replace("->", " → ").replace(",", ", ")


def verdict_mark(verdict):
    """The sign of a verdict, and the word for those who do not see it."""
    return tag("span", MARKS[verdict], class_="mark", aria_hidden="true") + tag("span", verdict, class_="away")


def badge(verdict):
    sign = tag("span", MARKS.get(verdict, "?"), aria_hidden="true")
    return tag("span", f"{sign} {escape(verdict)}", class_=f"badge {verdict.replace(' ', '-')}")


def tint(difference):
    """The class of a cell: above or below the published value, and by how much."""
    strength = sum(abs(difference) > limit for limit in TINTS)
    return f"{'above' if difference > 0 else 'below'}{strength}" if strength else None


def row_header(name, status):
    """The name of a data set at the head of its row, marked if its data is not the paper's."""
    note = tag("span", escape(status), class_="tag") if status != "exact" else ""
    return tag("th", f"{escape(dataset_name(name))} {note}", scope="row", data_sort=dataset_name(name))


def table(caption, head, rows, foot=(), groups=None, **attributes):
    """A table in a container of its own that scrolls sideways; every column can be sorted by the button at its head.

    head: (text, attributes) per column; rows and foot: complete <tr> elements; groups: (text, columns) above the head.
    """
    cells = "".join(tag("th", tag("button", escape(text), type="button"), scope="col", **more) for text, more in head)
    above = "".join(tag("th", escape(text), scope="colgroup", colspan=n) if text else tag("td", colspan=n) for text, n in groups or ())
    above = tag("tr", above) if above else ""
    content = tag("caption", tag("span", escape(caption))) + tag("thead", above + tag("tr", cells)) + tag("tbody", "".join(rows))
    content += tag("tfoot", "".join(foot)) if foot else ""
    return tag("div", tag("table", content), **{"class_": "scroll"} | attributes, tabindex=0, role="group", aria_label=caption)


def value_line(mean, std):
    return tag("div", tag("b", number(mean)) + ("" if pd.isna(std) else tag("small", f"±{number(std)}")))


def difference_cell(cell):
    """Reproduced mean and spread above, published and difference below; verdict and colour only where the data is the paper's."""
    counted = cell.data_status == "exact"
    colour = tint(cell.difference) if cell.data_status.startswith("exact") else "partial"
    mark = verdict_mark(cell.verdict) if counted else ""
    below = tag("div", tag("span", number(cell.published)) + tag("span", mark + signed(cell.difference), class_="difference"))
    content = tag("div", value_line(cell.reproduced, cell.std) + below, class_="cell")
    return tag(
        "td", content, class_=colour, data_method=cell.method, data_verdict=cell.verdict if counted else "none",
        data_reproduced=number(cell.reproduced), data_published=number(cell.published), data_difference=f"{cell.difference:.6f}",
    )  # fmt: skip


def matrix(caption, statuses, cells, **attributes):
    """The layout of the paper's tables: a row per data set of {name: status}, a column per method, the Average at the foot.

    cells: {(data set, method): complete <td> element}
    """
    methods = [name for name in METHODS if name in {method for dataset, method in cells if dataset != "Average"}]
    rows = {"body": [], "foot": []}
    for dataset, status in statuses.items():
        content = row_header(dataset, status)
        for method in methods:
            content += cells.get((dataset, method)) or tag("td", "–", data_method=method, class_="empty")
        if dataset == "Average":
            rows["foot"].append(tag("tr", content))
        else:
            rows["body"].append(tag("tr", content, data_set=dataset_name(dataset), data_status=status))
    head = [("Data set", {})] + [(METHODS[name].column, {"data_method": name}) for name in methods]
    return table(caption, head, rows["body"], rows["foot"], **attributes)


def difference_table(caption, part, **attributes):
    """One metric of one experiment, ours against published."""
    cells = {(cell.dataset, cell.method): difference_cell(cell) for cell in part.itertuples()}
    return matrix(caption, dict(zip(part["dataset"], part["data_status"])), cells, **attributes)


def protocol_table(caption, released, independent, metric, **attributes):
    """Mean and spread under both protocols: over initial weights with the authors' draws, below it over new splits and labels."""
    released, independent = released.set_index("dataset"), independent.set_index("dataset")
    cells, statuses = {}, {}
    for dataset in [name for name in released.index if name in independent.index]:
        for method in METHODS:
            # weighted to the paper's class ratio, as in the comparison, where both have such a value
            names = [name for name in (f"{metric}_weighted_{method}", f"{metric}_{method}") if name in released and name in independent]
            there = [name for name in names if pd.notna(released.at[dataset, name] + independent.at[dataset, name])]
            column = there[0] if there else None
            if column:
                pairs = [(source.at[dataset, column], source.at[dataset, f"{column}_std"]) for source in (released, independent)]
                content = tag("div", "".join(value_line(*pair) for pair in pairs), class_="cell")
                statuses[dataset] = str(released.at[dataset, "status"])
                colour = None if statuses[dataset].startswith("exact") else "partial"
                cells[dataset, method] = tag("td", content, data_method=method, class_=colour, data_sort=number(pairs[1][0]))
    return matrix(caption, statuses, cells, **attributes) if cells else ""


def frame_table(caption, frame, name="", **attributes):
    """Any table of numbers and texts; two levels of columns become two rows of heads. Rows of methods follow the filter."""
    columns = [column if isinstance(column, tuple) else ("", column) for column in frame.columns]
    groups = [("", 1)]
    for group, _ in columns:
        groups = [*groups[:-1], (group, groups[-1][1] + 1)] if groups[-1][0] == group and len(groups) > 1 else [*groups, (group, 1)]
    keys = {method.column: key for key, method in METHODS.items()}
    rows = []
    for label, values in zip(frame.index, frame.itertuples(index=False, name=None)):
        label = METHODS[label].column if label in METHODS else str(label)
        cells = [tag("th", escape(label), scope="row", data_sort=label)]
        for (group, column), value in zip(columns, values):
            is_number = not isinstance(value, str)
            text = escape(formatted(f"{group} {column}".strip(), value))
            cells.append(tag("td", text, class_="number" if is_number else None, data_sort=value if pd.notna(value) else ""))
        rows.append(tag("tr", "".join(cells), data_method=keys.get(label)))
    head = [(name or str(frame.index.name or "Method").capitalize(), {})]
    for (_, column), dtype in zip(columns, frame.dtypes):
        head.append((str(column), {"class_": "number"} if pd.api.types.is_numeric_dtype(dtype) else {}))
    return table(caption, head, rows, groups=groups if any(group for group, _ in groups) else None, **attributes)


def formatted(what, value):
    """A value as the name of its column wants it: p-values to three digits, per cents to one, ranks to two, whole numbers whole."""
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "–"
    if isinstance(value, int) or re.match("(data )?sets", what):
        return f"{value:,.0f}"
    if re.search(r"\bp\b|p-value", what):
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    if "%" in what:
        return f"{value:+.1f}".replace("-", "−")
    return f"{value:.2f}" if "ordinal" in what else number(value).replace("-", "−")
