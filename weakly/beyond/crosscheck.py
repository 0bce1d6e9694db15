"""Our results compared with those of another implementation, on the same draws.

    python experiments.py crosscheck  # writes crosscheck_cells.csv, crosscheck_methods.csv and crosscheck.md

ADGym (Jiang et al., NeurIPS 2023; repository Minqi824/ADGym) commits the raw results of its baselines on
ADBench's data sets. published/adgym.csv has the results of those methods that we also have. Protocol
`outside` rebuilds its draws; `outside-scaled` adds a MinMaxScaler in front of our detectors.
"""

import numpy as np
import pandas as pd

from weakly.beyond.result_files import write_results
from weakly.beyond.today import display_name, today_runs
from weakly.judging.tables import METRICS, column_of
from weakly.loading.splits import OUTSIDE, OUTSIDE_SCALED
from weakly.methods import METHODS
from weakly.paths import PUBLISHED
from weakly.running.configuration import PREPARED
from weakly.running.runs_file import RunsFile, latest_runs

PLACE_OF_RUN = ["dataset", "n_labeled", "run"]
OURS = {"ours": OUTSIDE, "ours_scaled": OUTSIDE_SCALED}
COLUMNS = {  # of crosscheck_methods that are shown, and their titles
    "theirs": "theirs",
    "ours": "ours",
    "ours_difference": "mean |difference|",
    "ours_correlation": "correlation",
    "ours_within": "within data sets",
    "ours_scaled": "ours, scaled",
    "ours_scaled_difference": "mean |difference|, scaled",
}


def outside_results():
    """ADGym's results, a row per cell, metric and method; its seed s is run s - 1."""
    frame = pd.read_csv(PUBLISHED / "adgym.csv")
    columns = {column_of(metric, method): (metric, method) for metric in METRICS for method in METHODS}
    known = [name for name in columns if name in frame]
    results = frame.assign(run=frame["seed"] - 1).melt(PLACE_OF_RUN, known, "column", "theirs")
    names = results.pop("column").map(columns)
    return results.assign(metric=names.str[0], method=names.str[1])


def with_interpretations(results):
    """The results, with those of each method repeated for every interpretation compared with them."""
    of = {name: method.interpretation_of for name, method in METHODS.items() if method.group == "outside"}
    again = [results[results["method"] == base].assign(method=name) for name, base in of.items()]
    return pd.concat([results, *again], ignore_index=True)


def crosscheck_cells(results_dir, in_unit_range):
    """Every cell of ADGym that we have run: theirs, ours with unscaled features, and ours with a scaler.

    in_unit_range: {data set: whether its unscaled features lie between 0 and 1}.
    """
    runs = latest_runs(RunsFile(results_dir, "crosscheck").read())
    runs = runs[(runs["scaling"] == PREPARED) & (runs["data_status"] != "synthetic")]
    cells, key = with_interpretations(outside_results()), [*PLACE_OF_RUN, "metric", "method"]
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
    for metric in METRICS:
        for kind, is_of_kind in kinds.items():
            part = cells[(cells["metric"] == metric) & is_of_kind]
            for method in [name for name in METHODS if name in set(part["method"])]:
                own = part[part["method"] == method]
                row = {"metric": metric, "data": kind, "method": method, "sets": own["dataset"].nunique()}
                row |= {"cells": len(own), "theirs": own["theirs"].mean()}
                for name in OURS:
                    row |= agreement(own, name)
                rows.append(row)
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
    """AUC-PR on the paper's sets cut to ADGym's 3,000 rows and with all rows, over the sets that have both.

    A row per number of labels and of rows, a column per method; PReNet also with the cut scaling.
    """
    few = latest_runs(RunsFile(results_dir, "crosscheck").read())
    few = few[few["protocol"] == OUTSIDE]
    every = pd.concat([today_runs(results_dir, scaling) for scaling in (PREPARED, "cut")])
    names = set(few["dataset"]) & set(every["dataset"])
    tables = []
    for rows, part in {"3,000": few, "all": every}.items():
        part = part[part["dataset"].isin(names) & part["method"].isin(methods)]
        column = part["method"].map(display_name) + part["scaling"].map({PREPARED: ""}).fillna(", cut")
        part = part[part["run"] < part.groupby(column)["run"].nunique().min()]  # the draws that all have
        means = part.groupby(["n_labeled", "dataset", column])["auc_pr"].mean().unstack().dropna()
        sets = means.groupby("n_labeled").size()
        tables.append(means.groupby("n_labeled").mean().assign(rows=rows, sets=sets))
    table = pd.concat(tables).rename_axis("labels").set_index(["rows", "sets"], append=True)
    both = table.groupby("labels").transform("size") == 2
    return table[both].sort_index()


def write_crosscheck(results_dir, in_unit_range):
    """Write the results of the cross-check; returns the paths."""
    cells = crosscheck_cells(results_dir, in_unit_range)
    tables = {"crosscheck_cells": cells, "crosscheck_methods": crosscheck_methods(cells)}
    parts = [*crosscheck_parts(cells), *few_rows_parts(results_dir)]
    return write_results(results_dir, "crosscheck", parts, tables)


def few_rows_parts(results_dir):
    """The paper's sets with ADGym's number of rows, where they were run."""
    table = few_rows_table(results_dir)
    if len(table):
        yield from (
            "## The paper's sets cut to 3,000 rows by ADGym's draws, and with all rows: AUC-PR",
            table,
        )


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
        f"ADGym's committed results and ours on its draws: {cells['dataset'].nunique()} data sets, 5, 10 and "
        f"20 labels, three draws each. On {where} "
        "'Scaled' is ours with a MinMaxScaler; theirs is never scaled. Logistic regression is the control: "
        "apart from the draws it has no random part. 'Within data sets' is the correlation of the deviations "
        "from each data set's mean. '-' means not run."
    )
    for (metric, data), part in crosscheck_methods(cells).groupby(["metric", "data"], sort=False):
        if part["theirs"].notna().any():
            yield from (f"## {METRICS[metric]}, {data}", method_table(part))
    yield from ("## AUC-PR by data set: theirs / ours / ours scaled", set_table(cells))


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
