"""What one would use today: the paper's methods and plain classifiers, at several label budgets.

    from weakly.beyond.today import regrets, today_runs
    runs = today_runs("results")        # of results/today_runs.csv, which `experiments.py today` writes
    table = regrets(runs)               # a DataFrame; weakly/beyond/today_text.py writes all of them

All functions take the runs, one row each: method, dataset, n_labeled, run, auc_pr. Runs of the same number
have the same draw for all methods of a data set and a label budget, so differences are paired by it, and
averages and losses rest on the draws that all compared methods have (`compared`).
"""

import pandas as pd
from scipy.stats import t

from weakly.judging.effects import Lead
from weakly.judging.ranks import LEVEL
from weakly.judging.tables import PAPER_SET_UP, in_paper_order
from weakly.methods import METHODS
from weakly.running.configuration import PREPARED
from weakly.running.paper_experiments import EXPERIMENTS
from weakly.running.runs_file import SET_UP, RunsFile, latest_runs

PAIRS = (  # whose differences are shown draw by draw
    ("prenet", "cross-entropy"), ("prenet", "logistic-converged"), ("prenet", "xgbod"),
    ("prenet", "catboost"), ("xgbod", "catboost"), ("xgbod", "xgboost-shallow"), ("xgbod", "xgboost-half"),
)  # fmt: skip
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


def compared(runs):
    """The runs that averages and losses compare: the same draws, at least FEWEST_DRAWS.

    Means over different draws would compare the draws.
    """
    cell = ["n_labeled", "dataset"]
    draws = runs.groupby(CELL)["run"].transform("nunique")
    runs = runs[draws >= min(FEWEST_DRAWS, draws.max())]
    n_methods = runs.groupby(cell)["method"].transform("nunique")
    return runs[runs.groupby([*cell, "run"])["method"].transform("nunique") == n_methods]


def draws_in_words(runs):
    """The number of draws of each method, as a text without period."""
    counts = runs.groupby(CELL)["run"].nunique().groupby("method").min()
    groups = counts.groupby(counts).groups
    most, *fewer = sorted(groups, reverse=True)
    texts = [f"{n} of {', '.join(map(display_name, in_method_order(groups[n])))}" for n in fewer]
    return f"{most} of every method" + (f", but {'; '.join(texts)}" if fewer else "")


def mean_auc_pr(runs, n_labeled):
    """Mean AUC-PR over runs at one budget: a row per data set, a column per method, NaN if not run."""
    at = runs[runs["n_labeled"] == n_labeled]
    means = at.groupby(["dataset", "method"])["auc_pr"].mean().unstack("method")
    return means.loc[in_paper_order(means.index), in_method_order(means.columns)]


def average_auc_pr(runs):
    """The average over data sets: a row per method, a column per budget, NaN where a data set is missing.

    Only methods that can be compared with all others, on all data sets of a budget, have one.
    """
    columns = {number: mean_auc_pr(compared(runs), number).dropna(axis=1).mean() for number in budgets(runs)}
    table = pd.DataFrame(columns)
    return table.loc[in_method_order(table.index)].rename_axis("method")


def cell_means(runs):
    """All means as they are written: n_labeled, dataset, method, auc_pr, runs."""
    cells = runs.groupby(CELL)["auc_pr"].agg(auc_pr="mean", runs="size").reset_index()
    sets, names = in_paper_order(cells["dataset"]), in_method_order(cells["method"])
    order = {"dataset": sets.index, "method": names.index, "n_labeled": int}
    return cells.sort_values(CELL, key=lambda column: column.map(order[column.name]), ignore_index=True)


def regrets(runs):
    """The loss from always using one method, per budget and over all: mean and largest loss, and where.

    A loss is the best method's mean AUC-PR on a data set minus this method's. n_labeled (a number, or `all`),
    method, mean_loss, largest_loss, dataset, at (the budget of the largest), cells (data sets times budgets
    that the method was run on); those run on all first, because fewer cells have another mean.
    """
    means, parts = cell_means(compared(runs)), []
    means["loss"] = means.groupby(["n_labeled", "dataset"])["auc_pr"].transform("max") - means["auc_pr"]
    for n_labeled, at in [*means.groupby("n_labeled"), (ALL_BUDGETS, means)]:
        losses = at.groupby("method")["loss"]
        worst = at.loc[losses.idxmax()].set_index("method")
        part = pd.DataFrame({"mean_loss": losses.mean(), "largest_loss": worst["loss"]})
        part = part.assign(dataset=worst["dataset"], at=worst["n_labeled"], cells=losses.size())
        part = part.sort_values(["cells", "mean_loss"], ascending=[False, True], kind="stable").reset_index()
        part.insert(0, "n_labeled", n_labeled)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def t_interval(values):
    """The mean of values and its 95% interval by Student's t; a single value has no interval."""
    values = pd.Series(values, dtype=float)
    half = t.ppf(1 - LEVEL / 2, len(values) - 1) * values.sem()
    return Lead(values.mean(), values.mean() - half, values.mean() + half)


def leads_as_text(table):
    return [str(Lead(*lead)) for lead in table[list(Lead._fields)].itertuples(index=False)]


def pair_differences(runs, method, other):
    """AUC-PR of a method minus another's per budget and data set, over the draws that both have.

    n_labeled, dataset, mean, low, high (95% over draws), draws.
    """
    both, cell = runs[runs["method"].isin((method, other))], ["n_labeled", "dataset"]
    by_draw = both.pivot(index=[*cell, "run"], columns="method", values="auc_pr")
    by_draw = by_draw.reindex(columns=[method, other]).dropna()
    gaps = (by_draw[method] - by_draw[other]).groupby(cell)
    rows = [(*place, *t_interval(values), len(values)) for place, values in gaps]
    return pd.DataFrame(rows, columns=[*cell, *Lead._fields, "draws"])


def paired_leads(runs, pairs=PAIRS):
    """Each pair per budget: n_labeled, method, other, mean, low, high, sets, ahead, above, below, draws, ...

    The interval of the mean is a 95% one over data sets. `ahead` counts the data sets with a mean above 0,
    `above` and `below` those whose own interval, over draws, is above or below 0 (missing with a single
    draw). `without_thyroid` and its like are the means over the other data sets.
    """
    rows = []
    for method, other in pairs:
        for n_labeled, part in pair_differences(runs, method, other).groupby("n_labeled"):
            means = part.set_index("dataset")["mean"]
            row = {"n_labeled": n_labeled, "method": method, "other": other, **t_interval(means)._asdict()}
            row |= {"sets": len(part), "ahead": (means > 0).sum(), "above": pd.NA, "below": pd.NA}
            if part["low"].notna().any():
                row |= {"above": (part["low"] > 0).sum(), "below": (part["high"] < 0).sum()}
            row["draws"] = part["draws"].min()
            without = {f"without_{name}": means.drop(name, errors="ignore").mean() for name in DECISIVE_SETS}
            rows.append(row | without)
    columns = ["n_labeled", "method", "other", *Lead._fields, "sets", "ahead", "above", "below", "draws"]
    return pd.DataFrame(rows, columns=[*columns, *(f"without_{name}" for name in DECISIVE_SETS)])


def averaged_over_sets(runs):
    """The runs of the average: AUC-PR of a run number averaged over all data sets of its budget."""
    n_sets = runs.groupby("n_labeled")["dataset"].nunique()
    means = runs.groupby(["method", "n_labeled", "run"])["auc_pr"].agg(["mean", "size"]).reset_index()
    complete = means["size"] == means["n_labeled"].map(n_sets)
    return means[complete].rename(columns={"mean": "auc_pr"}).assign(dataset=AVERAGE_SET)


def budget_curves(runs):
    """Mean AUC-PR and half its 95% interval over draws: method, n_labeled, mean, half."""
    intervals = runs.groupby(["method", "n_labeled"])["auc_pr"].apply(t_interval)
    rows = [(*place, interval.mean, interval.high - interval.mean) for place, interval in intervals.items()]
    return pd.DataFrame(rows, columns=["method", "n_labeled", "mean", "half"])
