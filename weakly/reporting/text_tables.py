"""Tables as text, for compare.py and for write_up.py, which fills them into the pages.

pandas' to_string prints them. Its to_markdown needs tabulate, a dependency that as_markdown's five lines
avoid.
"""

import re

import pandas as pd

from weakly.methods import METHODS
from weakly.numbers import number, p_value

NO_BREAK = "\u00a0"
LETTER = re.compile("[A-Za-z]")


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
