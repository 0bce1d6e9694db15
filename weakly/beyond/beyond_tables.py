"""The tables of REPRODUCTION.md and docs/ beyond the paper: cross-check, today's methods, scaling, growth."""

import functools

import pandas as pd

from weakly.beyond import scaling
from weakly.beyond.crosscheck import few_rows_table, method_table
from weakly.beyond.today import average_auc_pr, budgets, display_name, in_method_order, today_runs
from weakly.beyond.today_text import budget_table, left_out_lines, pair_table, regret_table
from weakly.judging.effects import contamination_kinds
from weakly.judging.tables import in_paper_order
from weakly.reporting.text_tables import kinds_table
from weakly.running.configuration import PREPARED
from weakly.running.runs_file import RunsFile, latest_runs

SHORT = ("prenet", "fsnet", "logistic-converged", "xgbod")  # the methods of a short table


def tables_beyond(folder):
    """{name: function that makes the table} from the results in a folder."""
    runs = functools.cache(lambda: today_runs(folder))
    scaled = functools.cache(lambda: scaling.scaling_runs(folder))

    return {
        "crosscheck-0-1": lambda: crosscheck_table(folder, "features 0-1"),
        "crosscheck-other": lambda: crosscheck_table(folder, "other features"),
        "few-rows": lambda: few_rows_table(folder),
        "today-draws": lambda: " ".join(left_out_lines(runs())),
        "today-fraud": lambda: fraud_table(folder),
        "today-times": lambda: times_table(runs()),
        "today-average": lambda: budget_table(runs()),
        "today-scaled": lambda: scaled_table(folder),
        "today-regret": lambda: regret_table(runs()),
        "today-control": lambda: pair_table(runs(), "prenet", "cross-entropy"),
        "today-logistic": lambda: pair_table(runs(), "prenet", "logistic-converged"),
        "today-xgbod": lambda: pair_table(runs(), "prenet", "xgbod"),
        "today-xgbod-catboost": lambda: pair_table(runs(), "xgbod", "catboost"),
        "today-shallow": lambda: pair_table(runs(), "xgbod", "xgboost-shallow"),
        "contamination-kinds": lambda: kinds_table(contamination_kinds(folder)),
        "scaling-sets": lambda: scaling.sets_table(scaled(), SHORT),
        "scaling-averages": lambda: scaling.averages_table(scaled()),
        "scaling-leads": lambda: scaling.leads_table(scaled()),
        "scaling-candidates": lambda: scaling.candidates_table(scaling.candidates(folder)),
        "growth": lambda: growth_table(folder),
    }


def crosscheck_table(folder, data):
    """AUC-PR of ADGym and ours, per method, on data sets with features between 0 and 1 or on the others."""
    methods = pd.read_csv(folder / "crosscheck_methods.csv")
    return method_table(methods[(methods["metric"] == "auc_pr") & (methods["data"] == data)])


def scaled_table(folder):
    """Average AUC-PR per method and budget: min-max / cut / fences."""
    tables = [average_auc_pr(today_runs(folder, name)) for name in scaling.SHOWN]
    methods = [name for name in tables[0].index if all(name in table.index for table in tables)]
    texts = [table.loc[methods].map("{:.3f}".format) for table in tables]
    shown = texts[0] + " / " + texts[1] + " / " + texts[2]
    shown = shown.rename(index=display_name, columns=lambda number: f"{number} labels")
    return shown.rename_axis(" / ".join(scaling.SHOWN.values()))


def fraud_table(folder):
    """AUC-PR on fraud with each contamination rate that was run, of the methods and draws that have both.

    At the paper's 2% every unlabelled anomaly is in U twelve to fourteen times; at 0.1% none is there twice.
    """
    runs = latest_runs(RunsFile(folder, "today").read())
    runs = runs[(runs["dataset"] == "fraud") & (runs["scaling"] == PREPARED)]
    runs = runs[runs["n_labeled"].isin(budgets(today_runs(folder)))]
    n_rates = runs.groupby(["method", "n_labeled", "run"])["contamination"].transform("nunique")
    runs = runs[n_rates == runs["contamination"].nunique()]
    means = runs.groupby(["method", "contamination", "n_labeled"])["auc_pr"].mean().unstack("n_labeled")
    order = [(name, rate) for name in in_method_order(runs["method"]) for rate in (0.02, 0.001)]
    shown = means.reindex(order)
    shown.index = [f"{display_name(name)}, {100 * rate:g}%" for name, rate in order]
    return shown.rename(columns=lambda number: f"{number} labels").rename_axis("method, contamination")


def times_table(runs):
    """Seconds of a fit on one core, the median of all runs on a data set."""
    medians = runs.groupby(["method", "dataset"])["fit_seconds"].median().unstack("dataset")
    shown = medians.loc[in_method_order(medians.index), in_paper_order(medians.columns)]
    return shown.map("{:.1f}".format).rename(index=display_name).rename_axis("seconds per fit")


def growth_table(folder):
    """PReNet's time and memory with more rows, features or labelled anomalies."""
    table = pd.read_csv(folder / "growth.csv")
    sizes = ["rows", "features", "labeled"]
    table[sizes] = table[sizes].map("{:,}".format)
    table["sparse"] = table["sparse"].map({True: "sparse", False: "dense"})
    titles = {"features": "features", "labeled": "labelled anomalies", "sparse": "kind"}
    titles |= {"fit_seconds": "fit, s", "score_seconds": "scoring all rows, s"}
    titles |= {"fit_mb": "fit, MB", "score_mb": "scoring, MB"}
    return table.set_index("rows")[list(titles)].rename(columns=titles)
