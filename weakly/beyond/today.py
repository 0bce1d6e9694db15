"""What one would use today: the paper's methods and plain classifiers, at several label budgets.

    from weakly.beyond.today import average_auc_pr, today_runs
    runs = today_runs("results")        # of results/today_runs.csv, which `experiments.py today` writes
    table = average_auc_pr(runs)        # a DataFrame; weakly/beyond/today_text.py writes all of them

All functions take the runs, one row each: method, dataset, n_labeled, run, auc_pr. Runs of the same number
have the same draw for all methods of a data set and a label budget, so differences are paired by it, and
averages and losses rest on the draws that all compared methods have (`compared`).
"""

import pandas as pd
from scipy.stats import t

from weakly.judging.effects import Lead
from weakly.judging.ranks import LEVEL
from weakly.judging.tables import paper_runs
from weakly.methods import METHODS
from weakly.running.configuration import PREPARED
from weakly.running.paper_experiments import EXPERIMENTS

PAIRS = (  # whose differences are shown draw by draw
    ("prenet", "cross-entropy"), ("prenet", "logistic-converged"), ("prenet", "xgbod"),
    ("prenet", "catboost"), ("xgbod", "catboost"), ("xgbod", "xgboost-shallow"), ("xgbod", "xgboost-half"),
)  # fmt: skip
# The methods in question; figures show the others in grey.
IN_FOCUS = ("prenet", "cross-entropy", "logistic-converged", "xgbod", "random-forest", "xgboost", "catboost")
FEWEST_DRAWS = 10  # a method with fewer, where others have them, is only compared in pairs
DECISIVE = "thyroid"  # methods differ so much on it that an average may rest on it alone
CELL = ["n_labeled", "dataset", "method"]
AVERAGE_SET = "average of the data sets"  # instead of a data set: all of them


def today_runs(results_dir, scaling=PREPARED, contamination=0.02):
    """The runs of the experiment with one scaling and contamination rate, on exact data."""
    set_up = {"scaling": (scaling,), "contamination": (contamination,)} | EXPERIMENTS["today"].sweeps
    runs = paper_runs(results_dir, "today", "independent", **set_up)
    return runs[(runs["data_status"] == "exact") & runs["method"].isin(METHODS)]


def display_name(method):
    """A method's name in tables and figures."""
    return METHODS[method].column


def in_method_order(names):
    """Names of methods as in METHODS."""
    return [name for name in METHODS if name in set(names)]


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


def mean_auc_pr(runs):
    """Mean AUC-PR over runs: a row per budget and data set, a column per method, NaN if not run."""
    means = runs.groupby(CELL)["auc_pr"].mean().unstack("method")
    return means[in_method_order(means)]


def compared_means(runs):
    """The means of the methods that can be compared: with enough draws, on all data sets and budgets."""
    return mean_auc_pr(compared(runs)).dropna(axis=1)


def average_auc_pr(runs):
    """The averages over data sets that can be compared: a row per method, a column per budget."""
    return compared_means(runs).groupby("n_labeled").mean().T


def losses(runs):
    """The best method's mean AUC-PR minus a method's: a row per budget and data set, a column per method."""
    means = compared_means(runs)
    return means.rsub(means.max(axis=1), axis=0)


def t_interval(values):
    """The mean of values and its 95% interval by Student's t; a single value has no interval."""
    values = pd.Series(values, dtype=float)
    half = t.ppf(1 - LEVEL / 2, len(values) - 1) * values.sem()
    return Lead(values.mean(), values.mean() - half, values.mean() + half)


def leads_as_text(table):
    return [str(Lead(*lead)) for lead in table[list(Lead._fields)].itertuples(index=False)]


def pair_differences(runs, method, other):
    """AUC-PR of a method minus another's over the draws that both have: n_labeled, dataset, mean, draws."""
    both, place = runs[runs["method"].isin((method, other))], ["n_labeled", "dataset"]
    by_draw = both.pivot(index=[*place, "run"], columns="method", values="auc_pr")
    by_draw = by_draw.reindex(columns=[method, other]).dropna()
    gaps = by_draw[method] - by_draw[other]
    return gaps.groupby(place).agg(mean="mean", draws="size").reset_index()


def paired_leads(runs, pairs=PAIRS):
    """Each pair per budget: n_labeled, method, other, mean, low, high, without_thyroid, draws.

    The interval of the mean is a 95% one over data sets; `without_thyroid` is the mean over the others.
    """
    rows = []
    for method, other in pairs:
        for n_labeled, part in pair_differences(runs, method, other).groupby("n_labeled"):
            means = part.set_index("dataset")["mean"]
            without = means.drop(DECISIVE, errors="ignore").mean()
            rows.append((n_labeled, method, other, *t_interval(means), without, part["draws"].min()))
    columns = ["n_labeled", "method", "other", *Lead._fields, f"without_{DECISIVE}", "draws"]
    return pd.DataFrame(rows, columns=columns)


def averaged_over_sets(runs):
    """The runs of the average: AUC-PR of a run number averaged over all data sets of its budget."""
    n_sets = runs.groupby("n_labeled")["dataset"].nunique()
    means = runs.groupby(["method", "n_labeled", "run"])["auc_pr"].agg(["mean", "size"]).reset_index()
    complete = means["size"] == means["n_labeled"].map(n_sets)
    return means[complete].rename(columns={"mean": "auc_pr"}).assign(dataset=AVERAGE_SET)


def budget_curves(runs):
    """Mean AUC-PR and half its 95% interval over draws: method, x (the label budget), mean, spread."""
    scores = runs.rename(columns={"n_labeled": "x"}).groupby(["method", "x"])["auc_pr"]
    return scores.agg(mean="mean", spread=lambda part: t_interval(part).high - part.mean()).reset_index()
