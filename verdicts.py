"""How near the reproduced numbers come to the published ones, cell by cell, and what new draws leave of PReNet's lead."""

from pathlib import Path

import pandas as pd

from methods import METHODS, make_detector
from tables import METRICS, ResultsError, RunsFile, averaged_rows, describe_settings, latest_runs, repeat_without_labels

PUBLISHED = Path(__file__).parent / "published"
TITLES = {"seen": "Table 2, seen anomalies", "unseen": "Table 3, unseen anomalies", "ablation": "Table 4, ablation"}
EXPERIMENTS = tuple(TITLES)  # those of which the paper prints the numbers
PUBLISHED_IN = {"readings": "seen"}  # the table that another experiment is held against
REPRODUCED_WITHIN, CLOSE_WITHIN = 0.01, 0.03
VERDICTS = {
    "reproduced": f"within 2 standard deviations of our runs, or {REPRODUCED_WITHIN}",
    "close": f"within {CLOSE_WITHIN}",
    "differs": f"by more than {CLOSE_WITHIN}",
}
PUBLISHED_METRIC = {"auc_pr_weighted": "auc_pr"}  # what a metric of ours is held against, if it has another name in the paper


def published_table(experiment):
    """The paper's table, indexed by data set, without its Average and P-value rows."""
    table = pd.read_csv(PUBLISHED / f"{PUBLISHED_IN.get(experiment, experiment)}.csv", index_col="dataset")
    return table.drop(index=["Average", "P-value"], errors="ignore")


def verdict(difference, std):
    """How near a reproduced mean is to the published one; std is that of our runs, NaN for averages."""
    size = abs(difference)
    if size <= max(REPRODUCED_WITHIN, 0 if pd.isna(std) else 2 * std):
        return "reproduced"
    return "close" if size <= CLOSE_WITHIN else "differs"


def difference_table(reproduced, published):
    """One row per data set, method and metric that both tables have: published, reproduced, std, difference, status, verdict.

    A reading is held against the published values of the method that it is a reading of.
    """
    published = published.copy()
    columns = [f"{metric}_{method}" for metric in METRICS for method in METHODS if f"{metric}_{method}" in reproduced]
    # the paper's Average is over all its sets; ours is held against the published values of the sets that it is over
    published.loc["Average"] = published.loc[averaged_rows(reproduced, columns)["dataset"]].mean()
    rows, is_unseen = [], reproduced["dataset"].str.contains("->").any()
    for _, row in reproduced[reproduced["dataset"].isin(published.index)].iterrows():
        for column in columns:
            metric, method = column.rsplit("_", 1)
            published_column = f"{PUBLISHED_METRIC.get(metric, metric)}_{METHODS[method].reading_of or method}"
            expected = published.get(published_column, {}).get(row["dataset"])
            if is_unseen and metric != "auc_roc" and not METHODS[method].uses_labels:
                continue  # the paper repeats iForest's seen results, with another share of anomalies in the test set
            if pd.notna(expected) and pd.notna(row[column]):
                std, difference = row[f"{column}_std"], row[column] - expected
                values = (expected, row[column], std, difference)
                rows.append((row["dataset"], method, metric, *values, row["status"], verdict(difference, std)))
    return pd.DataFrame(rows, columns="dataset method metric published reproduced std difference data_status verdict".split())


def comparisons(results_dir):
    """{experiment: its difference_table}, for the experiments that were run on real data in the paper's set-up."""
    tables = {experiment: comparison(results_dir, experiment) for experiment in EXPERIMENTS}
    return {experiment: table for experiment, table in tables.items() if len(table)}


def comparison(results_dir, experiment):
    """The difference_table of one experiment, empty if there is nothing to compare."""
    path = Path(results_dir) / f"{experiment}.csv"
    return difference_table(read_table(path), published_table(experiment)) if path.exists() else pd.DataFrame()


def read_table(path):
    try:
        table = pd.read_csv(path, float_precision="round_trip")
    except (ValueError, OSError) as error:
        raise ResultsError(f"{path} cannot be read as a table of results: {error}") from None
    if not {"dataset", "status"} <= set(table):
        raise ResultsError(f"{path} is not a table of results: it has no columns dataset and status")
    return table


def verdict_counts(table):
    """Cells by verdict, one row per metric and method, over the exact data sets."""
    exact = table[table["data_status"] == "exact"]
    counts = exact.groupby(["metric", "method", "verdict"]).size().unstack(fill_value=0).reindex(columns=list(VERDICTS), fill_value=0)
    order = [key for metric in METRICS for method in METHODS if (key := (metric, method)) in counts.index]
    return counts.loc[order]


def gap_table(results_dir, experiment):
    """How much of PReNet's lead survives new draws: its mean AUC-PR minus each method's, published, released and independent.

    Over the data sets that both have under both protocols. The spread of `independent` is over runs, each of which has its own
    split and labels; ahead and behind count the sets where the mean difference is more than twice its spread. Empty without
    runs of both protocols.
    """
    runs = RunsFile(results_dir, experiment).read()
    status = "exact" if (runs["data_status"] == "exact").any() else "partial"
    runs = runs[(runs["data_status"] == status) & (runs["n_labeled"] == 60) & (runs["contamination"] == 0.02)]
    runs = latest_runs(runs)
    usual = {method: describe_settings(make_detector(method)) for method in set(runs["method"])}
    runs = repeat_without_labels(runs[runs["settings"] == runs["method"].map(usual)], [])
    runs["score"] = runs["auc_pr_weighted"].fillna(runs["auc_pr"])
    runs = runs[runs["protocol"].isin(["released", "independent"])]
    tables = {protocol: part.pivot_table("score", ["dataset", "run"], "method") for protocol, part in runs.groupby("protocol")}
    if len(tables) < 2 or any("prenet" not in table for table in tables.values()):
        return pd.DataFrame()
    published, rows = published_table(experiment), []
    for method in METHODS:
        if method == "prenet" or any(method not in table for table in tables.values()) or f"auc_pr_{method}" not in published:
            continue
        gaps = {protocol: (table["prenet"] - table[method]).dropna().unstack("run") for protocol, table in tables.items()}
        sets = gaps["released"].index.intersection(gaps["independent"].index).intersection(published.index)
        if sets.empty:
            continue
        drawn = gaps["independent"].loc[sets]
        mean, spread = drawn.mean(axis=1), drawn.std(axis=1, ddof=0)
        rows.append({
            "method": METHODS[method].column, "data sets": len(sets),
            "published": (published["auc_pr_prenet"] - published[f"auc_pr_{method}"]).loc[sets].mean(),
            "released": gaps["released"].loc[sets].mean(axis=1).mean(), "independent": mean.mean(),
            "spread over splits": drawn.mean().std(ddof=0),
            "ahead": int((mean > 2 * spread).sum()), "behind": int((mean < -2 * spread).sum()),
        })  # fmt: skip
    return pd.DataFrame(rows).set_index("method") if rows else pd.DataFrame()
