"""The cross-check with another implementation as tables and text: see weakly/beyond/crosscheck.py.

python experiments.py crosscheck    # writes crosscheck_cells.csv, crosscheck_methods.csv and crosscheck.md
"""

from pathlib import Path

import pandas as pd

from weakly.beyond.crosscheck import crosscheck_cells, crosscheck_methods, crosscheck_sets
from weakly.judging.tables import METRICS, write_table
from weakly.methods import METHODS
from weakly.reporting.text_tables import as_markdown
from weakly.writing import written_whole

SHOWN = {
    "theirs": "theirs",
    "ours": "ours",
    "ours_difference": "mean |difference|",
    "ours_correlation": "correlation",
    "ours_within": "within data sets",
    "ours_scaled": "ours, scaled",
    "ours_scaled_difference": "mean |difference|, scaled",
}


def write_crosscheck(results_dir, in_unit_range):
    """Write the results of the cross-check; returns the paths."""
    folder = Path(results_dir)
    cells = crosscheck_cells(folder, in_unit_range)
    tables = {"crosscheck_cells": cells, "crosscheck_methods": crosscheck_methods(cells)}
    written = []
    for name, table in tables.items():
        written.append(folder / f"{name}.csv")
        write_table(table, written[-1])
    written.append(folder / "crosscheck.md")
    with written_whole(written[-1]) as file:
        file.write(crosscheck_text(cells).encode())
    return written


def crosscheck_text(cells):
    """The cross-check as Markdown: per method, and per data set and method."""
    title = "# An outside implementation"
    if cells.empty:
        return f"{title}\n\nThere are no runs of methods and data sets for which ADGym has results.\n"
    sets = cells["dataset"].unique()
    lines = [
        title,
        "",
        f"ADGym's committed results and ours on its draws: {len(sets)} data sets, 5, 10 and 20 labels, three "
        f"draws each. {sets_in_unit_range(cells)} "
        "'Scaled' is ours with a MinMaxScaler; theirs is never scaled. Logistic regression is the control: "
        "apart from the draws it has no random part. 'Within data sets' is the correlation of the deviations "
        "from each data set's mean. '-' means not run.",
    ]
    methods = crosscheck_methods(cells)
    for (metric, data), part in methods.groupby(["metric", "data"], sort=False):
        if part["theirs"].notna().any():
            lines += ["", f"## {METRICS[metric]}, {data}", "", as_markdown(method_table(part))]
    return "\n".join(
        [*lines, "", "## AUC-PR by data set: theirs / ours / ours scaled", "", set_table(cells), ""]
    )


def sets_in_unit_range(cells):
    """A sentence: on which data sets no scaler is needed."""
    names = cells.loc[cells["features_0_1"] == True, "dataset"].unique()  # noqa: E712 (may be missing)
    if len(names) == 0:
        return "On none of them do all features lie between 0 and 1 without scaling."
    return f"On {len(names)} of them all features lie between 0 and 1 without scaling: {', '.join(names)}."


def digits(value):
    return "-" if pd.isna(value) else f"{value:.3f}"


def method_table(part):
    """A row per method, from crosscheck_methods."""
    table = part.set_index("method")[["cells", *SHOWN]].rename(columns=SHOWN)
    table.index = [METHODS[name].column for name in table.index]
    shown = table.drop(columns="cells").map(digits)
    return table[["cells"]].astype(str).join(shown).rename_axis("method")


def set_table(cells):
    """A row per data set, a column per method."""
    means = crosscheck_sets(cells)
    means["cell"] = means[["theirs", "ours", "ours_scaled"]].map(digits).agg(" / ".join, axis=1)
    table = means.pivot(index="dataset", columns="method", values="cell").fillna("-")
    table = table.reindex(index=means["dataset"].unique(), columns=[m for m in METHODS if m in table])
    return as_markdown(table.rename(columns=lambda name: METHODS[name].column).rename_axis("data set"))
