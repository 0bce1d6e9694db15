"""Tables as Markdown; pandas' to_markdown needs tabulate, which as_markdown's five lines avoid."""

import re

import pandas as pd

from weakly.methods import METHODS
from weakly.numbers import number, p_value

NO_BREAK, BAR = "\u00a0", "\\|"
LETTER = re.compile("[A-Za-z]")


def kinds_table(table):
    """contamination_kinds with one column per method: the authors' / copies of training anomalies / none."""
    shown = {
        METHODS[method].column: table[method].map("{:.3f}".format).agg(" / ".join, axis=1)
        for method in table.columns.unique(0)
    }
    return pd.DataFrame(shown).rename_axis("authors' / training only / none")


def as_markdown(table):
    """A table for GitHub; numbers that belong together, `0.30 ± 0.01 / 0.29`, stay on one line."""
    shown = table.reset_index()
    names = [name if isinstance(name, tuple) else (name,) for name in shown.columns]
    titles = [", ".join(filter(None, map(str, name))) for name in names]
    columns = [[cell_text(cell, title) for cell in shown.iloc[:, n]] for n, title in enumerate(titles)]
    lines = [["" if title == "index" else title for title in titles], ["---"] * len(titles), *zip(*columns)]
    return "\n".join(f"| {' | '.join(text.replace('|', BAR) for text in line)} |" for line in lines)


def cell_text(cell, column):
    if pd.isna(cell) or not isinstance(cell, float):
        text = "" if pd.isna(cell) else str(cell)
    elif "p-value" in column or column.endswith("Conover p"):
        text = p_value(cell, 4 if "recomputed" in column else 3)
    else:
        text = number(cell, 1 if "%" in column else 3)
    return text if LETTER.search(text) else text.replace(" ", NO_BREAK)
