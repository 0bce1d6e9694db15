"""Our results compared with those of another implementation, on the same draws.

    python experiments.py crosscheck  # writes crosscheck_cells.csv, crosscheck_methods.csv and crosscheck.md

ADGym (Jiang et al., NeurIPS 2023; repository Minqi824/ADGym) commits the raw results of its baselines on
ADBench's data sets. published/adgym.csv has the results of those methods that we also have. Protocol
`outside` rebuilds its draws; `outside-scaled` adds a MinMaxScaler in front of our detectors.
"""

import pandas as pd

from weakly.beyond.result_files import write_results
from weakly.beyond.today import display_name, in_method_order, today_runs
from weakly.judging.tables import column_of, paper_runs
from weakly.loading.splits import OUTSIDE, OUTSIDE_SCALED
from weakly.methods import METHODS
from weakly.numbers import number
from weakly.paths import PUBLISHED
from weakly.running.paper_experiments import EXPERIMENTS

CELL = ["dataset", "n_labeled", "run", "method"]
OURS = {OUTSIDE: "ours", OUTSIDE_SCALED: "ours_scaled"}
KINDS = {True: "features 0-1", False: "other features"}  # of data sets
COLUMNS = {  # of crosscheck_methods, and their titles
    "theirs": "ADGym",
    "ours": "measured",
    "ours_difference": "mean |difference|",
    "ours_within": "correlation within data sets",
    "ours_scaled": "measured, scaled",
    "ours_scaled_difference": "mean |difference|, scaled",
}
FEW_ROWS_METHODS, FEW_DRAWS = ["prenet", "xgbod", "xgboost-shallow", "catboost"], 3


def crosscheck_runs(results_dir):
    """The runs of the experiment with both protocols."""
    return paper_runs(results_dir, "crosscheck", *OURS, **EXPERIMENTS["crosscheck"].sweeps)


def outside_results():
    """ADGym's AUC-PR, a row per cell; its seed s is run s - 1.

    Those of a method are repeated for each of its interpretations.
    """
    frame = pd.read_csv(PUBLISHED / "adgym.csv")
    frame["run"] = frame["seed"] - 1
    parts = []
    for name, method in METHODS.items():
        column = column_of("auc_pr", method.interpretation_of or name)
        if column in frame:
            parts.append(frame[CELL[:3]].assign(method=name, theirs=frame[column]))
    return pd.concat(parts)


def crosscheck_cells(results_dir, in_unit_range):
    """AUC-PR in every cell of ADGym that we have run: theirs, ours with unscaled features and with a scaler.

    in_unit_range: {data set: whether its unscaled features lie between 0 and 1}.
    """
    ours = crosscheck_runs(results_dir).pivot(index=CELL, columns="protocol", values="auc_pr")
    ours = ours.reindex(columns=OURS).rename(columns=OURS)
    cells = outside_results().merge(ours, on=CELL)
    cells.insert(1, "features_0_1", cells["dataset"].map(in_unit_range))
    return cells


def crosscheck_methods(cells):
    """Per kind of data set and method: means, mean |difference| and the correlation within data sets.

    Data sets differ so much that all results would correlate: it is that of the deviations from each data
    set's mean. Cells are those run in at least one of the two ways; a way that was not run in all of them is
    missing, because its mean would not be comparable.
    """
    rows = []
    for (in_range, method), own in cells.groupby(["features_0_1", "method"], sort=False):
        row = {"data": KINDS[in_range], "method": method, "cells": len(own), "theirs": own["theirs"].mean()}
        for name in OURS.values():
            row[name] = own[name].mean(skipna=False)
            row[f"{name}_difference"] = (own[name] - own["theirs"]).abs().mean(skipna=False)
        both = own[["ours", "theirs"]]
        deviations = both - both.groupby(own["dataset"]).transform("mean")
        row["ours_within"] = deviations["ours"].corr(deviations["theirs"], min_periods=max(2, len(own)))
        rows.append(row)
    return pd.DataFrame(rows, columns=["data", "method", "cells", *COLUMNS])


def few_rows_table(results_dir):
    """AUC-PR on the paper's sets cut to ADGym's 3,000 rows and with all rows: a column per method.

    The mean over the sets that all methods have in both ways, and over the draws that all have.
    """
    few, tables = crosscheck_runs(results_dir).query("protocol == @OUTSIDE"), {}
    for rows, part in {"3,000": few, "all": today_runs(results_dir)}.items():
        part = part[part["run"] < FEW_DRAWS]
        tables[rows] = part.groupby(["n_labeled", "dataset", "method"])["auc_pr"].mean().unstack()
    table = pd.concat(tables, names=["rows"]).reindex(columns=FEW_ROWS_METHODS).dropna()
    both = table[table.groupby(["n_labeled", "dataset"]).transform("size") == len(tables)]
    means = both.groupby(["n_labeled", "rows"]).mean()
    return means.rename(columns=display_name).rename_axis(["labels", "rows"])


def write_crosscheck(results_dir, in_unit_range):
    """Write the results of the cross-check; returns the paths."""
    cells = crosscheck_cells(results_dir, in_unit_range)
    methods = crosscheck_methods(cells)
    parts = crosscheck_parts(cells, methods, few_rows_table(results_dir))
    tables = {"crosscheck_cells": cells, "crosscheck_methods": methods}
    return write_results(results_dir, "crosscheck", parts, tables)


def crosscheck_parts(cells, methods, few_rows):
    """The headings, paragraphs and tables of crosscheck.md: per method, and per data set and method."""
    yield "# An outside implementation"
    if cells.empty:
        yield "There are no runs of methods and data sets for which ADGym has results."
        return
    in_range = cells.loc[cells["features_0_1"].eq(True), "dataset"].unique()
    yield (
        f"AUC-PR of ADGym and of our runs on its draws: {cells['dataset'].nunique()} data sets, 5, 10 and 20 "
        "labels, three draws each. These have all features between 0 and 1 without scaling: "
        f"{', '.join(in_range) or 'none'}. 'Scaled' is our run with a MinMaxScaler; ADGym never scales. "
        "Logistic regression is the control: apart from the draws it has no random part. The correlation is "
        "that of the deviations from each data set's mean. A dash or an empty cell means not run."
    )
    for kind, part in methods.groupby("data"):
        shown = part.drop(columns="data").set_index("method").rename(index=display_name, columns=COLUMNS)
        yield from (f"## {kind.capitalize()}", shown)
    yield from ("## By data set: ADGym / measured / measured with a scaler", set_table(cells))
    if len(few_rows):
        yield from ("## The paper's sets cut to 3,000 rows by ADGym's draws, and with all rows", few_rows)


def set_table(cells):
    """A row per data set, a column per method: mean AUC-PR of theirs, ours and ours scaled."""
    means = cells.groupby(["dataset", "method"])[["theirs", *OURS.values()]].mean()
    table = means.map(number).agg(" / ".join, axis=1).unstack("method").fillna(number(None))
    table = table.loc[cells["dataset"].unique(), in_method_order(table.columns)]
    return table.rename(columns=display_name).rename_axis("data set")
