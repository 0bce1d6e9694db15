"""How close our numbers are to the published ones, and how PReNet's lead changes with new draws."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from weakly.judging.tables import (
    METRICS,
    averaged_sets,
    from_paper_layout,
    read_frame,
    read_table,
)
from weakly.methods import METHODS
from weakly.paths import PUBLISHED

# the experiments whose numbers the paper prints: in which table, and what about
PRINTED = {
    "seen": ("Table 2", "seen anomalies"),
    "unseen": ("Table 3", "unseen anomalies"),
    "ablation": ("Table 4", "ablation"),
}
TITLES = {experiment: f"{place}, {about}" for experiment, (place, about) in PRINTED.items()}
PUBLISHED_IN = {
    "interpretations": ("seen", "ablation")
}  # the tables that another experiment is compared with
PUBLISHED_METRIC = {
    "auc_pr_weighted": "auc_pr"
}  # the published metric that a metric is compared with, if not itself
SUMMARY_ROWS = ("Average", "P-value")
REPRODUCED_WITHIN, CLOSE_WITHIN = 0.01, 0.03
PAPER_RUNS = 10  # behind a published mean
PRINTING_ERROR = 0.0005  # error of a number printed with three decimals
BORDER = 1e-9  # a difference equal to the limit counts as within it, despite binary rounding
VERDICTS = {
    "reproduced": f"within {REPRODUCED_WITHIN}, or within the interval of the difference",
    "close": f"within {CLOSE_WITHIN}",
    "differs": f"by more than {CLOSE_WITHIN}",
}
CELL_COLUMNS = (
    "dataset method metric published reproduced std runs difference interval data_status verdict"
).split()


def printed_table(experiment):
    """The paper's table with its Average and P-value rows, whose numbers are also in `mean`."""
    names = PUBLISHED_IN.get(experiment, (experiment,))
    return _printed_in(*(PUBLISHED / f"{name}.csv" for name in names)).copy()


@cache  # published values do not change
def _printed_in(*paths):
    tables = pd.concat([from_paper_layout(read_frame(path, ["dataset"])) for path in paths])
    return tables.drop_duplicates(["dataset", "metric", "method"])  # PReNet is in Table 4 again


def published_table(experiment):
    """The paper's table without its Average and P-value rows."""
    table = printed_table(experiment)
    return table[~table["dataset"].isin(SUMMARY_ROWS)]


def interval_of(std, n_runs):
    """Half the width of the interval of a difference; NaN without a spread.

    Two standard errors of the difference between our mean over n_runs and theirs over 10, plus the rounding
    of the printed one. The paper prints no standard deviations, so ours is used for both.
    """
    return 2 * std * np.sqrt(1 / n_runs + 1 / PAPER_RUNS) + PRINTING_ERROR


def interval_of_average(intervals):
    """The same for the average over data sets whose differences have these intervals."""
    errors = np.asarray(intervals, float) - PRINTING_ERROR
    return float(np.sqrt(np.square(errors).sum()) / len(errors) + PRINTING_ERROR) if len(errors) else np.nan


def verdict(difference, interval):
    """How close a reproduced mean is to the published one; interval: see interval_of."""
    size = abs(difference) - BORDER
    if size <= max(REPRODUCED_WITHIN, 0 if pd.isna(interval) else interval):
        return "reproduced"
    return "close" if size <= CLOSE_WITHIN else "differs"


def difference_table(reproduced, published):
    """A row of CELL_COLUMNS per data set, method and metric that both tables have.

    An interpretation is compared with the published values of the method that it interprets.
    """
    expected = published.pivot(index="dataset", columns=["metric", "method"], values="mean")
    # the paper's Average is over all its sets; ours is compared with the published values on our sets
    averaged = averaged_sets(reproduced)[0].index.intersection(expected.index)
    if len(averaged):
        # rounded as tables are on disk, so that every view shows .3215, FSNet's average, as .322
        expected.loc["Average"] = expected.loc[averaged].mean().round(6)
    rows, is_unseen = [], reproduced["dataset"].str.contains("->").any()
    intervals = {}  # over the sets in the Average, per metric and method
    for cell in reproduced[reproduced["dataset"].isin(expected.index)].itertuples():
        method = METHODS[cell.method]
        if is_unseen and cell.metric != "auc_roc" and not method.uses_labels:
            continue  # the paper repeats iForest's seen results, with another share of test anomalies
        counterpart = PUBLISHED_METRIC.get(cell.metric, cell.metric), method.interpretation_of or cell.method
        value = expected.get(counterpart, {}).get(cell.dataset)
        if pd.notna(value) and pd.notna(cell.mean):
            of_column = intervals.setdefault((cell.metric, cell.method), [])
            is_average, n_runs = cell.dataset == "Average", getattr(cell, "runs", np.nan)
            interval = interval_of_average(of_column) if is_average else interval_of(cell.std, n_runs)
            if cell.dataset in averaged:
                of_column.append(interval)
            difference = cell.mean - value
            numbers = value, cell.mean, cell.std, n_runs, difference, interval
            judged = cell.status, verdict(difference, interval)
            rows.append((cell.dataset, cell.method, cell.metric, *numbers, *judged))
    return pd.DataFrame(rows, columns=CELL_COLUMNS)


def comparisons(results_dir):
    """{experiment: its difference_table}, for those of PRINTED that were run on real data."""
    tables = {experiment: comparison(results_dir, experiment) for experiment in PRINTED}
    return {experiment: table for experiment, table in tables.items() if len(table)}


def comparison(results_dir, experiment, suffix=""):
    """The difference_table of one experiment, empty if there is nothing to compare."""
    path = Path(results_dir) / f"{experiment}{suffix}.csv"
    if not path.exists():
        return pd.DataFrame()
    return difference_table(read_table(path), published_table(experiment))


def verdict_counts(table):
    """Cells by verdict, one row per metric and method, over the exact data sets."""
    exact = table[table["data_status"] == "exact"]
    counts = exact.groupby(["metric", "method", "verdict"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    return counts.loc[
        [key for metric in METRICS for method in METHODS if (key := (metric, method)) in counts.index]
    ]
