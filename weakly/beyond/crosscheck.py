"""Our results compared with those of another implementation, on the same draws.

    python experiments.py crosscheck  # writes crosscheck_cells.csv, crosscheck_methods.csv and crosscheck.md

ADGym (Jiang et al., NeurIPS 2023; repository Minqi824/ADGym) commits the raw results of its baselines on
ADBench's data sets. published/adgym.csv has the results of those methods that we also have. Protocol
`outside` rebuilds its draws; `outside-scaled` adds a MinMaxScaler in front of our detectors.
"""

from itertools import product

import numpy as np
import pandas as pd

from weakly.beyond.result_files import write_results
from weakly.beyond.today import display_name, today_runs
from weakly.judging.tables import METRICS, column_of
from weakly.loading.splits import OUTSIDE, OUTSIDE_SCALED
from weakly.methods import METHODS, method_group
from weakly.paths import PUBLISHED
from weakly.running.configuration import PREPARED
from weakly.running.runs_file import RunsFile, latest_runs

PLACE_OF_RUN = ["dataset", "n_labeled", "run"]
FEW_DRAWS = 3
OURS = {"ours": OUTSIDE, "ours_scaled": OUTSIDE_SCALED}
COLUMNS = {  # of crosscheck_methods that are shown, and their titles
    "theirs": "ADGym",
    "ours": "measured",
    "ours_difference": "mean |difference|",
    "ours_correlation": "correlation",
    "ours_within": "within data sets",
    "ours_scaled": "measured, scaled",
    "ours_scaled_difference": "mean |difference|, scaled",
}


def outside_results():
    """ADGym's results, a row per cell, metric and method; its seed s is run s - 1.

    Those of a method are repeated for every interpretation that is compared with them.
    """
    frame = pd.read_csv(PUBLISHED / "adgym.csv")
    frame["run"] = frame["seed"] - 1
    outside = method_group("outside")
    pairs = [(metric, name) for metric in METRICS for name in METHODS if name not in outside]
    parts = []
    for metric, name in [*pairs, *((metric, name) for name in outside for metric in METRICS)]:
        column = column_of(metric, METHODS[name].interpretation_of if name in outside else name)
        if column in frame:
            parts.append(frame[PLACE_OF_RUN].assign(metric=metric, method=name, theirs=frame[column]))
    return pd.concat(parts, ignore_index=True)


def crosscheck_cells(results_dir, in_unit_range):
    """Every cell of ADGym that we have run: theirs, ours with unscaled features, and ours with a scaler.

    in_unit_range: {data set: whether its unscaled features lie between 0 and 1}.
    """
    runs = latest_runs(RunsFile(results_dir, "crosscheck").read())
    runs = runs[(runs["scaling"] == PREPARED) & (runs["data_status"] != "synthetic")]
    cells, key = outside_results(), [*PLACE_OF_RUN, "metric", "method"]
    for name, protocol in OURS.items():
        part = runs[runs["protocol"] == protocol]
        long = part.melt([*PLACE_OF_RUN, "method"], list(METRICS), var_name="metric", value_name=name)
        cells = cells.merge(long, "left", key)
    cells = cells[cells[list(OURS)].notna().any(axis=1)]
    columns = ["dataset", "features_0_1", "n_labeled", "run", "metric", "method", "theirs", *OURS]
    return cells.assign(features_0_1=cells["dataset"].map(in_unit_range))[columns]


def crosscheck_methods(cells):
    """Per metric, kind of data set and method: means, mean |difference| and correlations over its cells.

    The correlation over all cells mostly shows that data sets differ; `within` is that of the deviations from
    each data set's mean. Cells are those run in at least one of the two ways; a way that was not run in all
    of them is missing.
    """
    in_range = cells["features_0_1"]  # missing for a data set that is no longer prepared
    kinds = {"all": True, "features 0-1": in_range.isin([True]), "other features": in_range.isin([False])}
    rows = []
    for metric, (kind, is_of_kind), method in product(METRICS, kinds.items(), METHODS):
        own = cells[(cells["metric"] == metric) & (cells["method"] == method) & is_of_kind]
        if len(own):
            row = {"metric": metric, "data": kind, "method": method, "sets": own["dataset"].nunique()}
            row |= {"cells": len(own), "theirs": own["theirs"].mean()}
            rows.append(row | agreement(own, "ours") | agreement(own, "ours_scaled"))
    return pd.DataFrame(rows)


def agreement(cells, name):
    """How a column of our results agrees with theirs."""
    # a mean over some of the cells would not be comparable with the others
    ours = cells[name] if cells[name].notna().all() else pd.Series(np.nan, cells.index)
    both = pd.DataFrame({"ours": ours, "theirs": cells["theirs"]})
    within = both - both.groupby(cells["dataset"]).transform("mean")
    return {
        name: ours.mean(),
        f"{name}_difference": (ours - cells["theirs"]).abs().mean(),
        f"{name}_correlation": ours.corr(cells["theirs"], min_periods=2),
        f"{name}_within": within["ours"].corr(within["theirs"], min_periods=2),
    }


def few_rows_table(results_dir, methods=("prenet", "xgbod", "xgboost-shallow", "catboost")):
    """AUC-PR on the paper's sets cut to ADGym's 3,000 rows and with all rows: a column per method.

    The mean over the sets that all methods have in both ways, and over the draws that all have.
    """
    few = latest_runs(RunsFile(results_dir, "crosscheck").read())
    few, tables = few[(few["protocol"] == OUTSIDE) & (few["scaling"] == PREPARED)], {}
    for rows, part in {"3,000": few, "all": today_runs(results_dir)}.items():
        part = part[part["method"].isin(methods) & (part["run"] < FEW_DRAWS)]
        tables[rows] = part.groupby(["n_labeled", "dataset", "method"])["auc_pr"].mean().unstack()
    table = pd.concat(tables, names=["rows"]).reindex(columns=methods).dropna()
    both = table[table.groupby(["n_labeled", "dataset"]).transform("size") == len(tables)]
    return (
        both.groupby(["n_labeled", "rows"])
        .mean()
        .rename(columns=display_name)
        .rename_axis(["labels", "rows"])
    )


def write_crosscheck(results_dir, in_unit_range):
    """Write the results of the cross-check; returns the paths."""
    cells, few_rows = crosscheck_cells(results_dir, in_unit_range), few_rows_table(results_dir)
    tables = {"crosscheck_cells": cells, "crosscheck_methods": crosscheck_methods(cells)}
    parts = [*crosscheck_parts(cells)]
    if len(few_rows):
        parts += [
            "## The paper's sets cut to 3,000 rows by ADGym's draws, and with all rows: AUC-PR",
            few_rows,
        ]
    return write_results(results_dir, "crosscheck", parts, tables)


def crosscheck_parts(cells):
    """The headings, paragraphs and tables of crosscheck.md: per method, and per data set and method."""
    yield "# An outside implementation"
    if cells.empty:
        yield "There are no runs of methods and data sets for which ADGym has results."
        return
    unscaled = cells.loc[cells["features_0_1"].isin([True]), "dataset"].unique()
    where = "none of them do all features lie between 0 and 1 without scaling."
    if len(unscaled):
        names = ", ".join(unscaled)
        where = f"{len(unscaled)} of them all features lie between 0 and 1 without scaling: {names}."
    yield (
        f"ADGym's committed results and our runs on its draws: {cells['dataset'].nunique()} data sets, "
        f"5, 10 and 20 labels, three draws each. On {where} "
        "'Scaled' is our run with a MinMaxScaler; ADGym never scales. Logistic regression is the control: "
        "apart from the draws it has no random part. 'Within data sets' is the correlation of the deviations "
        "from each data set's mean. '-' means not run."
    )
    for (metric, data), part in crosscheck_methods(cells).groupby(["metric", "data"], sort=False):
        if part["theirs"].notna().any():
            yield from (f"## {METRICS[metric]}, {data}", method_table(part))
    yield from ("## AUC-PR by data set: ADGym / measured / measured with a scaler", set_table(cells))


def digits(value):
    return "-" if pd.isna(value) else f"{value:.3f}"


def method_table(part):
    """A row per method, from crosscheck_methods."""
    table = part.set_index("method").rename(index=lambda name: METHODS[name].column)
    shown = table[list(COLUMNS)].rename(columns=COLUMNS).map(digits)
    return table[["cells"]].astype(str).join(shown).rename_axis("method")


def set_table(cells):
    """A row per data set, a column per method: mean AUC-PR of theirs, ours and ours scaled."""
    part = cells[cells["metric"] == "auc_pr"]
    means = part.groupby(["dataset", "method"], sort=False)[["theirs", *OURS]].mean()
    table = means.map(digits).agg(" / ".join, axis=1).unstack("method").fillna("-")
    table = table.reindex(index=part["dataset"].unique(), columns=[name for name in METHODS if name in table])
    return table.rename(columns=lambda name: METHODS[name].column).rename_axis("data set")
