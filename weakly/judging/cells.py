"""How close our numbers are to the published ones."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from weakly.judging import tables
from weakly.judging.tables import AVERAGE, METRICS, averaged_sets, find_table, with_averages
from weakly.methods import METHODS
from weakly.paths import PUBLISHED

# the experiments whose numbers the paper prints: in which table, and what about
PRINTED = {
    "seen": ("Table 2", "seen anomalies"),
    "unseen": ("Table 3", "unseen anomalies"),
    "ablation": ("Table 4", "ablation"),
}
TITLES = {experiment: f"{place}, {about}" for experiment, (place, about) in PRINTED.items()}
# the tables that another experiment is compared with, and the metric that another metric is compared with
PUBLISHED_IN = {"interpretations": ("seen", "ablation")}
PUBLISHED_METRIC = {"auc_pr_weighted": "auc_pr"}
SUMMARY_ROWS = (AVERAGE, "P-value")
REPRODUCED_WITHIN, CLOSE_WITHIN = 0.01, 0.03
PAPER_RUNS = 10  # behind a published mean
PRINTING_ERROR = 0.0005  # error of a number printed with three decimals
BORDER = 1e-9  # a difference equal to the limit counts as within it, despite binary rounding
VERDICTS = {
    "reproduced": f"within {REPRODUCED_WITHIN}, or within the interval of the difference",
    "close": f"within {CLOSE_WITHIN}",
    "differs": f"by more than {CLOSE_WITHIN}",
}
CELL_COLUMNS = [
    "dataset", "method", "metric", "published", "reproduced", "std", "runs", "difference", "interval",
    "data_status", "verdict",
]  # fmt: skip


def printed_table(experiment):
    """The paper's table with its Average and P-value rows, whose numbers are also in `mean`."""
    names = PUBLISHED_IN.get(experiment, (experiment,))
    return _printed_in(*(PUBLISHED / f"{name}.csv" for name in names)).copy()


@cache  # published values do not change
def _printed_in(*paths):
    parts = [tables.from_paper_layout(tables.read_frame(path, ["dataset"])) for path in paths]
    return pd.concat(parts).drop_duplicates(["dataset", "metric", "method"])  # PReNet is in Table 4 again


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

    An interpretation is compared with the published values of the method that it interprets, and our Average
    with the published values on our sets, rounded once, so that every view shows FSNet's .3215 as .322.
    """
    averaged = averaged_sets(reproduced)[0].index.intersection(published["dataset"])
    ours_of = published[published["dataset"].isin(averaged)].groupby(["metric", "method"], as_index=False)
    average = ours_of["mean"].mean().round(6).assign(dataset=AVERAGE)
    expected = pd.concat([published, average])[["dataset", "metric", "method", "mean"]]
    expected = expected.set_axis(["dataset", "of_metric", "of_method", "published"], axis=1)
    of_method = [METHODS[name].interpretation_of or name for name in reproduced["method"]]
    table = reproduced.assign(of_metric=reproduced["metric"].replace(PUBLISHED_METRIC), of_method=of_method)
    table = table.merge(expected).dropna(subset=["mean", "published"])
    if reproduced["dataset"].str.contains("->").any():
        # the paper repeats iForest's seen results, with another share of test anomalies
        table = table[(table["metric"] == "auc_roc") | table["method"].map(lambda n: METHODS[n].uses_labels)]
    table = table.rename(columns={"mean": "reproduced", "status": "data_status"})
    table = table.assign(runs=table["runs"].astype(float) if "runs" in table else np.nan)
    table["difference"] = table["reproduced"] - table["published"]
    table["interval"] = interval_of(table["std"], table["runs"])
    column = pd.MultiIndex.from_frame(table[["metric", "method"]])
    of_average = table[table["dataset"].isin(averaged)].groupby(["metric", "method"])["interval"]
    of_average = of_average.agg(interval_of_average).reindex(column).set_axis(table.index)
    table["interval"] = table["interval"].mask(table["dataset"] == AVERAGE, of_average)
    table["verdict"] = [verdict(*pair) for pair in zip(table["difference"], table["interval"])]
    return table[CELL_COLUMNS].reset_index(drop=True)


def comparisons(results_dir):
    """{experiment: its difference_table}, for those of PRINTED that were run on real data."""
    found = {experiment: comparison(results_dir, experiment) for experiment in PRINTED}
    return {experiment: table for experiment, table in found.items() if len(table)}


def comparison(results_dir, experiment):
    """The difference_table of one experiment, empty if there is nothing to compare."""
    table, published = find_table(results_dir, experiment), published_table(experiment)
    return pd.DataFrame() if table is None else difference_table(with_averages(table), published)


def verdict_counts(table):
    """Cells by verdict, one row per metric and method, over the exact data sets."""
    exact = table[table["data_status"] == "exact"]
    counts = exact.groupby(["metric", "method", "verdict"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(VERDICTS), fill_value=0)
    return counts.loc[[key for key in product(METRICS, METHODS) if key in counts.index]]
