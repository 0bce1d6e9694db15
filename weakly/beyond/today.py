"""What one would use today: the paper's methods and plain classifiers, at several label budgets.

    from weakly.beyond.today import today_runs, today_ranks
    runs = today_runs("results")        # of results/today_runs.csv, which `experiments.py today` writes
    ranks = today_ranks(runs)           # a DataFrame; weakly/beyond/today_text.py writes all of them

All functions take the runs, one row each: method, dataset, n_labeled, run, auc_pr. Runs of the same number
have the same draw for all methods of a data set and a label budget, so differences are paired by it, and
averages, ranks and losses rest on the draws that all compared methods have (`compared`).
"""

import numpy as np
import pandas as pd
from scipy.stats import t

from weakly.judging.effects import Lead
from weakly.judging.ranks import LEVEL, clique_letters, nemenyi_critical_difference
from weakly.judging.statistics import average_ranks, friedman
from weakly.judging.tables import PAPER_SET_UP, in_paper_order
from weakly.methods import METHODS
from weakly.running.configuration import PREPARED
from weakly.running.paper_experiments import EXPERIMENTS
from weakly.running.runs_file import SET_UP, RunsFile, latest_runs

# These methods see labels that the others lack: RoSAS stops early on a fully labelled validation split. So
# they are not ranked, never count as the best, and are compared only with their own base.
MORE_LABELS = ("rosas-validated",)
PAIRS = (
    ("prenet", "cross-entropy"),
    ("prenet", "logistic-converged"),
    ("prenet", "xgbod"),
    ("prenet", "xgboost"),
    ("xgboost-half", "xgboost"),
    ("xgbod", "xgboost-half"),
    ("xgbod", "catboost"),
    ("prenet", "catboost"),
    ("prenet", "random-forest"),
    ("rosas-validated", "rosas"),
)
# The methods in question; figures show the others in grey.
IN_FOCUS = ("prenet", "cross-entropy", "logistic-converged", "xgbod", "random-forest", "xgboost", "catboost")
FEWEST_DRAWS = 10  # a method with fewer, where others have them, is only compared in pairs
# Sets on which methods differ so much that an average may rest on one of them alone.
DECISIVE_SETS = ("thyroid", "fraud")
ALL_BUDGETS = "all"  # instead of a label budget: all of them
CELL = ["n_labeled", "dataset", "method"]
AVERAGE_SET = "average of the data sets"  # instead of a data set: all of them


def today_runs(results_dir, scaling=PREPARED):
    """The runs of the experiment with one scaling: exact data, the latest data, settings and code."""
    runs = RunsFile(results_dir, "today").read()
    set_up = PAPER_SET_UP | {"protocol": "independent", "scaling": scaling}
    asked = {name: (value,) for name, value in set_up.items()} | EXPERIMENTS["today"].sweeps
    as_asked = runs[SET_UP].isin(asked).all(axis=1)
    runs = latest_runs(runs[as_asked & (runs["data_status"] == "exact")])
    return runs[runs["settings"] == runs.groupby(["method", "dataset"])["settings"].transform("last")]


def display_name(method):
    """A method's name in tables and figures; one that is not in METHODS keeps its own."""
    return METHODS[method].column if method in METHODS else method


def in_method_order(names):
    """Names of methods as in METHODS, then all others by name."""
    known = list(METHODS)
    return sorted(set(names), key=lambda name: (known.index(name) if name in known else len(known), name))


def budgets(runs):
    """The numbers of labelled anomalies, ascending."""
    return sorted(int(number) for number in runs["n_labeled"].unique())


def without_more_labels(runs):
    """The runs of the methods that use the same labels."""
    return runs[~runs["method"].isin(MORE_LABELS)]


def compared(runs):
    """The runs that averages, ranks and losses compare: same labels, the same draws, at least FEWEST_DRAWS.

    Means over different draws would compare the draws.
    """
    runs, cell = without_more_labels(runs), ["n_labeled", "dataset"]
    draws = runs.groupby(CELL)["run"].transform("nunique")
    runs = runs[draws >= min(FEWEST_DRAWS, draws.max())]
    n_methods = runs.groupby(cell)["method"].transform("nunique")
    return runs[runs.groupby([*cell, "run"])["method"].transform("nunique") == n_methods]


def draws_in_words(runs):
    """The number of draws of each method, and of those that comparisons rest on, as a text without period."""
    counts = runs.groupby(CELL)["run"].nunique().groupby("method").min()
    groups = counts.groupby(counts).groups
    if len(groups) == 1:
        return f"{counts.iloc[0]} of every method"
    common = compared(runs).groupby(["n_labeled", "dataset"])["run"].nunique().min()
    texts = [f"comparisons of all methods rest on the {common} draws that they have in common"]
    for n_draws in sorted(groups, reverse=True):
        names = ", ".join(display_name(name) for name in in_method_order(groups[n_draws]))
        texts.append(f"{n_draws} of {names}")
    return "; ".join(texts)


# ---------------------------------------------------------------------------- means


def mean_auc_pr(runs, n_labeled):
    """Mean AUC-PR over runs at one budget: a row per data set, a column per method, NaN if not run."""
    at = runs[runs["n_labeled"] == n_labeled]
    means = at.groupby(["dataset", "method"])["auc_pr"].mean().unstack("method")
    return means.loc[in_paper_order(means.index), in_method_order(means.columns)]


def ranked_auc_pr(runs, n_labeled):
    """The means of the methods that are ranked: compared with all others, on all data sets."""
    return mean_auc_pr(compared(runs), n_labeled).dropna(axis=1)


def left_out(runs, n_labeled):
    """The methods that were run at a budget, but not with enough draws on all of its data sets."""
    ranked = ranked_auc_pr(runs, n_labeled)
    return [name for name in mean_auc_pr(without_more_labels(runs), n_labeled) if name not in ranked]


def average_auc_pr(runs):
    """The average over data sets: a row per method, a column per budget, NaN where a data set is missing."""
    columns = {n_labeled: ranked_auc_pr(runs, n_labeled).mean() for n_labeled in budgets(runs)}
    table = pd.DataFrame(columns)
    return table.loc[in_method_order(table.index)].rename_axis("method")


def today_means(runs):
    """All means as they are written: n_labeled, dataset, method, auc_pr, runs."""
    cells = runs.groupby(CELL)["auc_pr"].agg(auc_pr="mean", runs="size").reset_index()
    sets, names = in_paper_order(cells["dataset"]), in_method_order(cells["method"])
    order = {"dataset": sets.index, "method": names.index, "n_labeled": int}
    return cells.sort_values(CELL, key=lambda column: column.map(order[column.name]), ignore_index=True)


# ---------------------------------------------------------------------------- ranks


def today_ranks(runs):
    """Average ranks per budget, the best first: n_labeled, method, rank, cliques, critical_difference, ...

    A rank is that of the mean AUC-PR on a data set, ties averaged. The Friedman test needs PReNet and six
    data sets, as everywhere (judging/statistics.py). Columns are the same in each row of a budget but for
    method, rank and cliques.
    """
    parts = []
    for n_labeled in budgets(runs):
        means = ranked_auc_pr(runs, n_labeled).round(6)  # the decimals that tables have
        if means.shape[1] < 2:
            continue
        ranks = average_ranks(means)["ordinal"].sort_values(kind="stable")
        distance = nemenyi_critical_difference(means.shape[1], len(means))
        statistic, p_value = friedman(means)
        part = pd.DataFrame({"n_labeled": n_labeled, "method": ranks.index, "rank": ranks.to_numpy()})
        of_budget = {"critical_difference": distance, "friedman": statistic, "friedman_p": p_value}
        part = part.assign(cliques=part["method"].map(clique_letters(ranks, distance)), **of_budget)
        parts.append(part.assign(methods=means.shape[1], sets=len(means)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


# ---------------------------------------------------------------------------- regret


def losses(runs):
    """Per budget, data set and method: the best method's mean AUC-PR there minus this method's."""
    means = today_means(compared(runs))
    best = means.groupby(["n_labeled", "dataset"])["auc_pr"].transform("max")
    return means.assign(loss=best - means["auc_pr"])


def significantly_behind(runs):
    """{method: budgets} at which a method is significantly behind the one with the best rank (Nemenyi)."""
    behind: dict[str, list] = {}
    for n_labeled, part in today_ranks(runs).groupby("n_labeled"):
        far = part["rank"] - part["rank"].min() >= part["critical_difference"]
        for method in part["method"][far]:
            behind.setdefault(method, []).append(n_labeled)
    return {method: behind[method] for method in in_method_order(behind)}


def today_regret(runs):
    """The loss from always using one method, per budget and over all: mean and largest loss, and where.

    n_labeled (a number, or `all`), method, mean_loss, largest_loss, dataset, at (the budget of the largest),
    cells (data sets times budgets that the method was run on); those run on all first, by their mean.
    """
    table, parts = losses(runs), []
    for n_labeled in [*budgets(table), ALL_BUDGETS]:
        at = table if n_labeled == ALL_BUDGETS else table[table["n_labeled"] == n_labeled]
        rows = []
        for method, part in at.groupby("method"):
            worst = part.loc[part["loss"].idxmax()]
            row = {"n_labeled": n_labeled, "method": method, "mean_loss": part["loss"].mean()}
            where = {"largest_loss": worst["loss"], "dataset": worst["dataset"], "at": worst["n_labeled"]}
            rows.append(row | where | {"cells": len(part)})
        # a method that was run on fewer cells has another mean
        order = {"by": ["cells", "mean_loss"], "ascending": [False, True]}
        parts.append(pd.DataFrame(rows).sort_values(**order, kind="stable"))
    return pd.concat(parts, ignore_index=True)


def today_best(runs):
    """The best method per data set and budget, and the next: n_labeled, dataset, best, auc_pr, second, ..."""
    rows = []
    for n_labeled in budgets(runs):
        for dataset, means in mean_auc_pr(compared(runs), n_labeled).iterrows():
            ordered = means.dropna().sort_values(ascending=False, kind="stable")
            row = {"n_labeled": n_labeled, "dataset": dataset}
            row |= {"best": ordered.index[0], "auc_pr": ordered.iloc[0]}
            if len(ordered) > 1:
                row |= {"second": ordered.index[1], "second_auc_pr": ordered.iloc[1]}
            rows.append(row)
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------------- two methods, paired


def t_interval(values):
    """The mean of values and its 95% interval by Student's t; a single value has no interval."""
    values = np.asarray(values, float)
    if len(values) < 2:
        return Lead(float(values.mean()) if len(values) else np.nan, np.nan, np.nan)
    half = t.ppf(1 - LEVEL / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Lead(float(values.mean()), float(values.mean() - half), float(values.mean() + half))


def pair_differences(runs, method, other):
    """AUC-PR of a method minus another's per budget and data set, over the draws that both have.

    n_labeled, dataset, mean, low, high (95% over draws), draws.
    """
    both, rows = runs[runs["method"].isin((method, other))], []
    for n_labeled in budgets(both):
        at = both[both["n_labeled"] == n_labeled]
        for dataset in in_paper_order(at["dataset"]):
            by_draw = at[at["dataset"] == dataset].pivot(index="run", columns="method", values="auc_pr")
            by_draw = by_draw.reindex(columns=[method, other]).dropna()
            if len(by_draw):
                interval = t_interval(by_draw[method] - by_draw[other])._asdict()
                rows.append({"n_labeled": n_labeled, "dataset": dataset, **interval, "draws": len(by_draw)})
    return pd.DataFrame(rows, columns=["n_labeled", "dataset", *Lead._fields, "draws"])


def today_pairs(runs, pairs=PAIRS):
    """Each pair per budget: n_labeled, method, other, mean, low, high, sets, ahead, above, below, draws, ...

    The interval of the mean is a 95% one over data sets. `ahead` counts the data sets with a mean above 0,
    `above` and `below` those whose own interval, over draws, is above or below 0 (missing with a single
    draw). `without_thyroid` and its like are the means over the other data sets.
    """
    rows = []
    for method, other in pairs:
        for n_labeled, part in pair_differences(runs, method, other).groupby("n_labeled"):
            counts = {"sets": len(part), "ahead": (part["mean"] > 0).sum()}
            has_intervals = part["low"].notna().any()
            counts |= {
                "above": (part["low"] > 0).sum() if has_intervals else pd.NA,
                "below": (part["high"] < 0).sum() if has_intervals else pd.NA,
                "draws": part["draws"].min(),
            }
            means = part.set_index("dataset")["mean"]
            others = {f"without_{name}": means.drop(name, errors="ignore").mean() for name in DECISIVE_SETS}
            row = {"n_labeled": n_labeled, "method": method, "other": other}
            rows.append(row | t_interval(part["mean"])._asdict() | counts | others)
    columns = ["n_labeled", "method", "other", *Lead._fields, "sets", "ahead", "above", "below", "draws"]
    return pd.DataFrame(rows, columns=[*columns, *(f"without_{name}" for name in DECISIVE_SETS)])


# ---------------------------------------------------------------------------- curves over the label budgets


def averaged_over_sets(runs):
    """The runs of the average: AUC-PR of a run number averaged over all data sets of its budget."""
    n_sets = runs.groupby("n_labeled")["dataset"].nunique()
    means = runs.groupby(["method", "n_labeled", "run"])["auc_pr"].agg(["mean", "size"]).reset_index()
    complete = means["size"] == means["n_labeled"].map(n_sets)
    return means[complete].rename(columns={"mean": "auc_pr"}).assign(dataset=AVERAGE_SET)


def budget_curves(runs):
    """Mean AUC-PR and half its 95% interval over draws: method, n_labeled, mean, half."""
    rows = []
    for (method, n_labeled), values in runs.groupby(["method", "n_labeled"])["auc_pr"]:
        interval = t_interval(values)
        row = {"method": method, "n_labeled": n_labeled, "mean": interval.mean}
        rows.append(row | {"half": interval.high - interval.mean})
    return pd.DataFrame(rows)
