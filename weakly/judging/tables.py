"""Tables of results: averaged from the runs, read and written in the layout of the paper's Table 2.

In memory a table has a row per data set, metric and method: dataset, size, D, status, runs, metric, method,
mean, std, and for a sweep, before these, the parameter and its value. On disk, as in results/seen.csv and
published/seen.csv, it has a row per data set and two columns per metric and method, auc_pr_prenet and
auc_pr_prenet_std.
"""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from weakly.errors import UserError
from weakly.loading.registry import KNOWN_SETS, SEEN_SETS
from weakly.loading.unseen import UNSEEN_SETS, with_all_others_seen
from weakly.methods import METHODS
from weakly.running.configuration import PREPARED
from weakly.running.runs_file import SET_UP, SWEEP, RunsFile, latest_runs
from weakly.writing import written_whole

AVERAGE = "Average"  # how the names of average rows start
METRICS = {"auc_pr": "AUC-PR", "auc_pr_weighted": "AUC-PR, weighted", "auc_roc": "AUC-ROC"}
PAPER_METRICS = ("auc_pr", "auc_roc")  # those that the paper prints
PAPER_SET_UP: dict[str, Any] = {
    "protocol": "released", "n_labeled": 60, "contamination": 0.02, "scaling": PREPARED
}  # fmt: skip
ROW = [*SWEEP, "dataset", "size", "D", "status", "runs"]  # the columns of a table on disk before its metrics


def table_suffix(protocol, n_labeled, contamination, scaling):
    """The ending of a table's file name for a set-up other than the paper's, which has ''.

    None marks what the experiment varies or sets itself.
    """
    values = protocol, n_labeled, contamination, scaling
    texts = "_{}", "_{}labels", "_{:g}contamination", "_{}"
    others = zip(texts, values, PAPER_SET_UP.values())
    return "".join(text.format(value) for text, value, usual in others if value not in (usual, None))


def paper_runs(results_dir, experiment, *protocols, **set_up):
    """The runs of the paper's set-up on real data, under `released` or the protocols named.

    set_up: other values of its columns, such as n_labeled=(5, 20). Uses the latest data, code and settings,
    those of a method's newest runs on a data set. `score` is the AUC-PR to compare with the paper.
    """
    runs = RunsFile(results_dir, experiment).read()
    wanted = {name: (value,) for name, value in PAPER_SET_UP.items()}
    wanted |= {"protocol": protocols or ("released",)} | set_up
    is_asked = runs[SET_UP].isin(wanted).all(axis=1) & (runs["data_status"] != "synthetic")
    runs = latest_runs(runs[is_asked])
    runs = runs[runs["settings"] == runs.groupby(["method", "dataset"])["settings"].transform("last")]
    runs = repeat_without_labels(runs, [])
    return runs.assign(score=runs["auc_pr_weighted"].fillna(runs["auc_pr"]))


def repeat_without_labels(runs, names):
    """Runs of methods without labels (iForest) for all sets with the same unseen class, as in Table 3.

    Such a method is run once per unseen class; names are the data sets that the table should contain.
    """
    without_labels = [name for name, method in METHODS.items() if not method.uses_labels]
    once = runs["dataset"].str.contains("->") & runs["method"].isin(without_labels)
    sizes = runs[~once].groupby("dataset")["rows"].last()
    parts = [runs[~once]]
    for name in dict.fromkeys([*runs["dataset"][~once], *names]):
        if "->" in name and once.any():
            part = runs[once & (runs["dataset"] == with_all_others_seen(name))]
            parts.append(part.assign(dataset=name, rows=sizes.get(name)))
    return pd.concat(parts)


def in_paper_order(names):
    """Names of data sets as in Tables 2 and 3, then all others."""
    known = (*KNOWN_SETS, *UNSEEN_SETS)
    return sorted(set(names), key=lambda name: (known.index(name) if name in known else len(known), name))


def averages(runs):
    """Runs of one set-up as a table: every data set, then the Average; for a sweep, once for each value.

    Standard deviations are those of the runs themselves (population, ddof=0), as in the authors' scripts.
    """
    methods = [name for name in METHODS if name in set(runs["method"])]
    cells = [(metric, method) for metric in METRICS if runs[metric].notna().any() for method in methods]
    sweep, rows = [name for name in SWEEP if name in runs], []
    for at, part in runs.groupby(sweep, sort=False) if sweep else [((), runs)]:
        for dataset in in_paper_order(part["dataset"]):
            of_set = part[part["dataset"] == dataset]
            row = dict(zip(sweep, at)) | {"dataset": dataset, "size": of_set["rows"].iloc[0]}
            row |= {"D": of_set["features"].iloc[0], "status": of_set["data_status"].iloc[0]}
            row |= {"runs": of_set.groupby("method").size().min()}
            for metric, method in cells:
                values = of_set.loc[of_set["method"] == method, metric]
                spread = values.std(ddof=0) if len(values) > 1 else np.nan  # for one run it would be 0
                rows.append(row | {"metric": metric, "method": method, "mean": values.mean(), "std": spread})
    return with_averages(pd.DataFrame(rows))


def with_averages(table):
    """A table with its averages, which are never stored: for a sweep, one after the sets of each value.

    Sets with unseen classes have a separate Average.
    """
    sweep = [name for name in SWEEP if name in table]
    parts = []
    for _, part in table.groupby(sweep, sort=False) if sweep else [((), table)]:
        parts.append(part)
        unseen, cells = part["dataset"].str.contains("->"), part[["metric", "method"]].drop_duplicates()
        for kind, sets in (("seen", part[~unseen]), ("unseen", part[unseen])):
            averaged, status = averaged_sets(sets)
            if len(averaged):
                name = AVERAGE if unseen.all() or not unseen.any() else f"{AVERAGE} {kind}"
                means = averaged.mean().reindex(pd.MultiIndex.from_frame(cells)).to_numpy()
                n_sets = f"{len(averaged)} set{'s' * (len(averaged) > 1)}"
                row = cells.assign(dataset=name, status=f"{status}, {n_sets}", mean=means)
                parts.append(row.assign(**part[sweep].iloc[0]))
    counts = [name for name in ("size", "D", "runs") if name in table]
    return pd.concat(parts or [table], ignore_index=True).astype(dict.fromkeys(counts, "Int64"))


def averaged_sets(table):
    """The means that a table's Average is over, a column per metric and method, and the status of their data.

    Uses the `exact` data sets that have all columns or, if there are none, the `partial` ones, and only the
    paper's if it has any of them. A column that none of them has is dropped.
    """
    is_papers = table["dataset"].isin([*SEEN_SETS, *UNSEEN_SETS])
    table = table[is_papers] if is_papers.any() else table
    for status in ("exact", "partial"):
        part = table[table["status"] == status]
        means = part.pivot(index="dataset", columns=["metric", "method"], values="mean")
        means = means.loc[part["dataset"].unique()].dropna(axis=1, how="all").dropna()
        if len(means):
            break
    return means, status


def counted_status(statuses):
    """The status of the data sets that count: `exact` if any of these is, else `partial`."""
    return "exact" if (statuses == "exact").any() else "partial"


def by_method(table, metric="auc_pr", values="mean", rows="dataset"):
    """One metric of a table in the paper's layout: a row per data set, a column per method."""
    part = table[table["metric"] == metric]
    matrix = part.pivot(index=rows, columns="method", values=values)
    columns = pd.Index([name for name in METHODS if name in matrix])
    return matrix.reindex(index=pd.Index(part[rows].unique(), name=rows), columns=columns)


def is_replaced(table, values="mean"):
    """Which rows are plain AUC-PR that a weighted one replaces in comparisons with the paper.

    Partial data has one: test anomalies are weighted to the paper's class ratio.
    """
    is_weighted = (table["metric"] == "auc_pr_weighted") & table[values].notna()
    if not is_weighted.any():
        return is_weighted
    cells = pd.MultiIndex.from_frame(table[[name for name in (*SWEEP, "dataset", "method") if name in table]])
    return (table["metric"] == "auc_pr") & cells.isin(cells[is_weighted])


def comparable(table, values="mean"):
    """The table with the AUC-PR that can be compared with the paper; `weighted` says which one it is."""
    weighted = table["metric"] == "auc_pr_weighted"
    kept = ~is_replaced(table, values) & (~weighted | table[values].notna())
    return table.assign(metric=table["metric"].mask(weighted, "auc_pr"), weighted=weighted)[kept]


def column_of(metric, method):
    return f"{metric}_{method}"


def paper_layout(table):
    """A table as it is written, with a row per data set; it has the same metrics and methods for each."""
    cells = list(dict.fromkeys(zip(table["metric"], table["method"])))
    names = [name for name in ROW if name in table]
    means, spreads = (table[name].to_numpy().reshape(-1, len(cells)).T for name in ("mean", "std"))
    columns = {}
    for cell, mean, spread in zip(cells, means, spreads):
        columns |= {column_of(*cell): mean, f"{column_of(*cell)}_std": spread}
    rows = table[names].iloc[:: len(cells)].reset_index(drop=True)
    return pd.concat([rows, pd.DataFrame(columns)], axis=1)


def from_paper_layout(frame):
    """The table in memory of one on disk; unknown metrics and methods are dropped."""
    cells = [cell for cell in product(METRICS, METHODS) if column_of(*cell) in frame]
    columns = [column_of(*cell) for cell in cells]
    rows = frame[[name for name in ROW if name in frame]]
    table = rows.loc[rows.index.repeat(len(cells))].reset_index(drop=True)
    return table.assign(
        metric=[metric for metric, _ in cells] * len(frame),
        method=[method for _, method in cells] * len(frame),
        mean=frame[columns].to_numpy(float).ravel(),
        std=frame.reindex(columns=[f"{name}_std" for name in columns]).to_numpy(float).ravel(),
    )


def read_frame(path, texts=("dataset", "status"), numbers=()):
    """The rows of a file as they are on disk; it must have these columns, and a data set in each row."""
    try:
        frame = pd.read_csv(path, dtype=dict.fromkeys(texts, str), float_precision="round_trip")
    except (ValueError, OSError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path} cannot be read as a table of results: {reason}") from None
    missing = [name for name in (*texts, *numbers) if name not in frame]
    if missing:
        raise UserError(f"{path} is not a table of results: it has no column {', '.join(missing)}")
    of_metrics = [column_of(*cell) for cell in product(METRICS, METHODS)]
    for name in (*numbers, *of_metrics, *(f"{name}_std" for name in of_metrics)):
        if name in frame and len(frame) and not pd.api.types.is_numeric_dtype(frame[name]):
            raise UserError(f"{path} has values in column {name} that are not numbers")
    return frame[frame["dataset"].notna()].reset_index(drop=True)


def read_table(path, is_sweep=False):
    """Read a table of results; UserError says in one sentence what is wrong with the file."""
    frame = read_frame(path, ("dataset", "status", *SWEEP[:is_sweep]), SWEEP[1:] if is_sweep else ())
    twice = frame.duplicated([name for name in (*SWEEP, "dataset") if name in frame])
    if twice.any():
        raise UserError(f"{path} has two rows for {frame['dataset'][twice].iloc[0]}")
    # an Average is computed anew; tables on disk had one once
    return from_paper_layout(frame[~frame["dataset"].str.startswith(AVERAGE)].reset_index(drop=True))


def find_table(results_dir, name, read=read_table):
    """The table of a name such as seen or seen_independent; None if it is not there or empty."""
    path = Path(results_dir) / f"{name}.csv"
    table = read(path) if path.exists() and path.stat().st_size else ()
    return table if len(table) else None


def write_tables(runs, results_dir, experiment, suffix=""):
    """Write the tables of one set-up: <experiment><suffix>.csv, and a separate one for synthetic data.

    Returns {path: table}.
    """
    written = {}
    for is_synthetic, ending in ((False, ""), (True, "_synthetic")):
        part = runs[(runs["data_status"] == "synthetic") == is_synthetic]
        if len(part):
            path, table = Path(results_dir) / f"{experiment}{suffix}{ending}.csv", averages(part)
            write_table(paper_layout(table[~table["dataset"].str.startswith(AVERAGE)]), path)
            written[path] = table
    return written


def write_table(frame, path):
    """Write a table as it is; readers never see a partly written file."""
    with written_whole(Path(path)) as file:
        frame.to_csv(file, index=False, float_format="%.6f")
