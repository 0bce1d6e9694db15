"""Tables as text, for compare.py and for write_up.py, which fills them into the pages.

pandas' to_string prints them. Its to_markdown needs tabulate, a dependency that as_markdown's five lines
avoid.
"""

import re

import pandas as pd

from weakly.judging.cells import TITLES, verdict_counts
from weakly.judging.tables import METRICS, by_method
from weakly.methods import METHODS
from weakly.numbers import number, p_value

NO_BREAK = "\u00a0"
LETTER = re.compile("[A-Za-z]")


def counts_table(tables):
    """Cells by verdict per experiment, metric and method, as a table to show."""
    rows = []
    for experiment, table in tables.items():
        for (metric, method), counts in verdict_counts(table).iterrows():
            names = {"metric": METRICS[metric], "method": METHODS[method].column}
            rows.append({"table": TITLES[experiment], **names, **counts})
    return pd.DataFrame(rows).set_index(["table", "metric", "method"]) if rows else pd.DataFrame()


def side_by_side(table, metric):
    """`ours ± std / published verdict` per data set and method; only exact data has a verdict."""
    part = table[table["metric"] == metric]
    spreads = part["std"].map(" ± {:.3f}".format).where(part["std"].notna(), "")
    cells = part["reproduced"].map("{:.3f}".format) + spreads + part["published"].map(" / {:.3f}".format)
    cells += (" " + part["verdict"]).where(part["data_status"] == "exact", "")
    shown = by_method(part.assign(cell=cells), metric, "cell")
    partial = set(part["dataset"][part["data_status"] == "partial"])
    shown = shown.rename(index=lambda name: name + " (partial)" * (name in partial))
    return shown.rename(columns=lambda name: METHODS[name].column)


def kinds_table(table):
    """contamination_kinds with one column per method: the authors' / copies of training anomalies / none."""
    shown = {
        METHODS[method].column: table[method].map("{:.3f}".format).agg(" / ".join, axis=1)
        for method in table.columns.unique(0)
    }
    return pd.DataFrame(shown).rename_axis("authors' / training only / none")


def as_text(table):
    """A table with all cells as text and its index as the first columns."""
    shown = table.reset_index()
    shown.columns = [
        ", ".join(filter(None, map(str, name))) if isinstance(name, tuple) else str(name)
        for name in shown.columns
    ]
    for name in shown.columns:
        shown[name] = [cell_text(cell, name) for cell in shown[name]]
    return shown.rename(columns={"index": ""})


def cell_text(cell, column):
    if pd.isna(cell) or not isinstance(cell, float):
        return "" if pd.isna(cell) else str(cell)
    if "p-value" in column or column.endswith("Conover p"):
        return p_value(cell, 4 if "recomputed" in column else 3)
    return number(cell, 1 if "%" in column else 3)


def unbroken(text):
    return text.replace(" ", NO_BREAK)


def as_markdown(table):
    """A table for GitHub; numbers that belong together, `0.30 ± 0.01 / 0.29`, stay on one line."""
    shown = as_text(table).map(lambda cell: str(cell) if LETTER.search(str(cell)) else unbroken(str(cell)))
    lines = [shown.columns, ["---"] * shown.shape[1], *shown.values.tolist()]
    texts = [" | ".join(str(cell).replace("|", "\\|") for cell in line) for line in lines]
    return "\n".join(f"| {text} |" for text in texts)
