"""Our results compared with those of another implementation, on the same draws.

ADGym (Jiang et al., NeurIPS 2023; repository Minqi824/ADGym) commits the raw results of its baselines on
ADBench's data sets. published/adgym.csv has the results of those methods that we also have. Protocol
`outside` rebuilds its draws; `outside-scaled` adds a MinMaxScaler in front of our detectors.
"""

import numpy as np
import pandas as pd

from weakly.beyond.today import today_runs
from weakly.judging.tables import METRICS, column_of
from weakly.loading.splits import OUTSIDE, OUTSIDE_SCALED
from weakly.methods import METHODS
from weakly.paths import PUBLISHED
from weakly.running.configuration import PREPARED
from weakly.running.runs_file import RunsFile, latest_runs

CELL = ["dataset", "n_labeled", "run"]
OURS = {"ours": OUTSIDE, "ours_scaled": OUTSIDE_SCALED}
CONTROL = "logistic"  # deterministic except for the draws: if it agrees, the draws are the same


def outside_results():
    """ADGym's results, a row per cell, metric and method; its seed s is run s - 1."""
    frame = pd.read_csv(PUBLISHED / "adgym.csv")
    frame = frame.assign(run=frame["seed"] - 1).set_index(CELL)
    parts = [
        frame[[column_of(metric, method)]]
        .set_axis(["theirs"], axis=1)
        .assign(metric=metric, method=method)
        .reset_index()
        for metric in METRICS
        for method in METHODS
        if column_of(metric, method) in frame
    ]
    return pd.concat(parts, ignore_index=True)


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
    runs = runs[runs["scaling"] == PREPARED]
    cells, key = with_interpretations(outside_results()), [*CELL, "metric", "method"]
    for name, protocol in OURS.items():
        part = runs[(runs["protocol"] == protocol) & (runs["data_status"] != "synthetic")]
        long = part.melt([*CELL, "method"], list(METRICS), var_name="metric", value_name=name)
        cells = cells.merge(long, "left", key)
    cells = cells[cells[list(OURS)].notna().any(axis=1)]
    return cells.assign(features_0_1=cells["dataset"].map(in_unit_range))[
        ["dataset", "features_0_1", "n_labeled", "run", "metric", "method", "theirs", *OURS]
    ]


def crosscheck_methods(cells):
    """Per metric, kind of data set and method: means, mean |difference| and correlations over its cells.

    The correlation over all cells mostly shows that data sets differ; `within` is that of the deviations from
    each data set's mean. Cells are those run in at least one of the two ways; a way that was not run in all
    of them is missing.
    """
    rows = []
    kinds = {
        "all": cells,
        "features 0-1": cells[cells["features_0_1"] == True],  # noqa: E712 (may be missing)
        "other features": cells[cells["features_0_1"] == False],  # noqa: E712
    }
    for (metric, kind), part in {
        (m, k): p[p["metric"] == m] for m in METRICS for k, p in kinds.items()
    }.items():
        for method in [name for name in METHODS if name in set(part["method"])]:
            own = part[part["method"] == method]
            row = {"metric": metric, "data": kind, "method": method, "sets": own["dataset"].nunique()}
            row |= {"cells": len(own), "theirs": own["theirs"].mean()}
            for name in OURS:
                # a mean over some of the cells would not be comparable with the others
                ours = own[name] if own[name].notna().all() else pd.Series(np.nan, own.index)
                row[name] = ours.mean()
                row[f"{name}_difference"] = (ours - own["theirs"]).abs().mean()
                row[f"{name}_correlation"] = ours.corr(own["theirs"], min_periods=2)
                both = pd.DataFrame({"ours": ours, "theirs": own["theirs"]})
                within = both - both.groupby(own["dataset"]).transform("mean")
                row[f"{name}_within"] = within["ours"].corr(within["theirs"], min_periods=2)
            rows.append(row)
    return pd.DataFrame(rows)


def few_rows(results_dir, methods=("prenet", "xgbod", "xgboost-shallow", "catboost")):
    """AUC-PR on the paper's sets cut to ADGym's 3,000 rows and with all rows, over the sets that have both.

    n_labeled, rows (`3,000` or `all`), sets, and a column per method; PReNet also with the cut scaling.
    """
    few = latest_runs(RunsFile(results_dir, "crosscheck").read())
    few = few[few["protocol"] == OUTSIDE]
    every = pd.concat([today_runs(results_dir, scaling) for scaling in (PREPARED, "cut")])
    parts = {"3,000": few, "all": every}
    names = set(few["dataset"]) & set(every["dataset"])
    tables = []
    for rows, part in parts.items():
        part = part[part["dataset"].isin(names) & part["method"].isin(methods)]
        column = part["method"].where(part["scaling"] == PREPARED, part["method"] + ", cut")
        part = part[part["run"] < part.groupby(column)["run"].nunique().min()]  # the draws that all have
        means = part.groupby(["n_labeled", "dataset", column])["auc_pr"].mean().unstack()
        table = means.dropna().groupby("n_labeled").mean()
        tables.append(table.assign(rows=rows, sets=means.dropna().groupby("n_labeled").size()))
    table = pd.concat(tables).reset_index()
    both = table.groupby("n_labeled")["rows"].transform("nunique") == 2
    return table[both].sort_values(["n_labeled", "rows"], ignore_index=True)


def crosscheck_sets(cells, metric="auc_pr"):
    """Per data set and method: theirs, ours and ours scaled, means over labels and runs."""
    part = cells[cells["metric"] == metric]
    # features_0_1 is missing for a data set that is no longer prepared
    by_set = part.groupby(["dataset", "features_0_1", "method"], sort=False, dropna=False)
    means = by_set[["theirs", *OURS]].mean()
    return means.reset_index()
