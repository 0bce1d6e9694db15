"""The page's tables as data, which the macro `table` of macros.html turns into HTML."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import pandas as pd

from weakly.judging.tables import comparable, with_averages
from weakly.methods import METHODS
from weakly.numbers import count, number, p_value, signed
from weakly.reporting.figures import dataset_name

LONG = 40  # letters, from which on a text may be broken into lines
TINTS = (0.01, 0.03, 0.1)  # above which a difference gets a stronger colour


class Cell(NamedTuple):
    text: str = ""
    lines: tuple = ()  # (large, small) texts below each other, instead of one text
    attributes: dict = {}
    verdict: str = ""  # shown as a mark


class Row(NamedTuple):
    name: str
    cells: list
    attributes: dict = {}
    status: str = "exact"


class Table(NamedTuple):
    caption: str
    head: list  # (text, attributes) per column
    rows: list
    foot: Sequence = ()
    groups: Sequence = ()  # (text, number of columns) above the head
    attributes: dict = {}


# ---------------------------------------------------------------------------- a row per data set


def slug(*names):
    """A name for an anchor, of letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(names).lower().replace("->", "-to-")).strip("-")


def matrix(caption, statuses, cells, anchors="", **attributes):
    """The layout of the paper's tables: a row per data set of {name: status}, a column per method.

    cells: {(data set, method): Cell}; anchors: what the rows' anchors begin with.
    """
    there = {method for dataset, method in cells if dataset != "Average"}
    methods, rows = [name for name in METHODS if name in there], []
    for dataset, status in statuses.items():
        empty = {name: Cell("–", (), {"data-method": name, "class": "empty"}) for name in methods}
        of_row = [cells.get((dataset, name), empty[name]) for name in methods]
        named = {"data-set": dataset_name(dataset), "data-status": status}
        named |= {"id": slug(anchors, dataset)} if anchors else {}
        rows.append(Row(dataset_name(dataset), of_row, {} if dataset == "Average" else named, status))
    head = [("Data set", {})] + [(METHODS[name].column, {"data-method": name}) for name in methods]
    foot = [row for row in rows if row.name == "Average"]
    return Table(caption, head, [row for row in rows if row not in foot], foot, (), attributes)


def tint(difference):
    """The class of a cell: above or below the published value, and by how much."""
    strength = sum(abs(difference) > limit for limit in TINTS)
    return f"{'above' if difference > 0 else 'below'}{strength}" if strength else ""


def difference_cell(cell):
    """The gap above, both values below; colour and verdict where the data is the paper's."""
    counted = cell.data_status == "exact"
    spread = "" if pd.isna(cell.std) else f" ± {number(cell.std)} over {cell.runs:.0f} runs"
    interval = "" if pd.isna(cell.interval) else f", its interval ± {number(cell.interval, 4)}"
    title = f"{dataset_name(cell.dataset)}, {METHODS[cell.method].column}: measured {number(cell.reproduced)}"
    title += f"{spread}, published {number(cell.published)}, "
    title += f"difference {signed(cell.difference, 4)}{interval}"
    partial = "" if cell.data_status.startswith("exact") else "partial"
    attributes = {
        "class": f"{tint(cell.difference)} {partial}".strip() or None,
        "title": f"{title} ({cell.verdict if counted else f'{cell.data_status} data, not counted'})",
        "data-method": cell.method,
        "data-verdict": cell.verdict if counted else "none",
    }
    attributes |= {
        f"data-{name}": f"{getattr(cell, name):.6f}" for name in ("reproduced", "published", "difference")
    }
    lines = ((signed(cell.difference), f"{number(cell.reproduced)} / {number(cell.published)}"),)
    return Cell("", lines, attributes, cell.verdict if counted else "")


def difference_matrix(caption, part, anchors, **attributes):
    """One metric of one experiment, measured compared with published."""
    cells = {(cell.dataset, cell.method): difference_cell(cell) for cell in part.itertuples()}
    return matrix(caption, dict(zip(part["dataset"], part["data_status"])), cells, anchors, **attributes)


def protocol_matrix(caption, released, independent, metric):
    """Mean and spread of released draws, over initial weights; below, of independent ones, over splits."""
    released, independent = (comparable(with_averages(table)) for table in (released, independent))
    both = released.merge(independent, on=["dataset", "metric", "method"], suffixes=("", "_drawn"))
    both = both[(both["metric"] == metric) & both["mean"].notna() & both["mean_drawn"].notna()]
    cells = {}
    for cell in both.itertuples():
        pairs = (cell.mean, cell.std), (cell.mean_drawn, cell.std_drawn)
        lines = tuple((number(mean), "" if pd.isna(std) else f"±{number(std)}") for mean, std in pairs)
        class_ = "two" if cell.status.startswith("exact") else "two partial"
        attributes = {"data-method": cell.method, "class": class_, "data-sort": number(cell.mean_drawn)}
        cells[cell.dataset, cell.method] = Cell("", lines, attributes)
    statuses = dict(zip(both["dataset"], both["status"]))
    return matrix(caption, statuses, cells, **{"data-metric": metric}) if cells else None


# ---------------------------------------------------------------------------- any other table


def frame_table(caption, frame, name="", class_="scroll"):
    """Any table of numbers and texts; two levels of columns are two rows of heads; methods filter."""
    columns = [column if isinstance(column, tuple) else ("", column) for column in frame.columns]
    head = [(name or str(", ".join(filter(None, frame.index.names)) or "Method").capitalize(), {})]
    for (_, column), dtype in zip(columns, frame.dtypes):
        head.append((str(column), {"class": "number"} if pd.api.types.is_numeric_dtype(dtype) else {}))
    groups = [(group, len(list(members))) for group, members in groupby(group for group, _ in columns)]
    groups = [("", 1), *groups] if any(group for group, _ in groups) else []
    keys = {method.column: key for key, method in METHODS.items()}
    rows = []
    for label, values in zip(frame.index, frame.itertuples(index=False, name=None)):
        name = ": ".join(label) if isinstance(label, tuple) else str(label)
        name = METHODS[name].column if name in METHODS else name
        cells = [frame_cell(f"{group} {column}".strip(), v) for (group, column), v in zip(columns, values)]
        rows.append(Row(name, cells, {"data-method": keys.get(name)}))
    return Table(caption, head, rows, (), groups, {"class": class_})


def frame_cell(column, value):
    kind = "number" if not isinstance(value, str) else "long" if len(value) > LONG else None
    return Cell(formatted(column, value), (), {"class": kind, "data-sort": sort_key(value)})


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
