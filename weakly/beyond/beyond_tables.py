"""The tables of REPRODUCTION.md beyond the paper: the cross-check, today's methods."""

import functools

import pandas as pd

from weakly.beyond import scaling_text
from weakly.beyond.crosscheck import few_rows
from weakly.beyond.crosscheck_text import method_table
from weakly.beyond.scaling import SHOWN, candidates, scaling_runs
from weakly.beyond.today import (
    average_auc_pr,
    budgets,
    display_name,
    in_method_order,
    today_pairs,
    today_ranks,
    today_runs,
)
from weakly.beyond.today_text import (
    average_table,
    behind_in_words,
    left_out_lines,
    pair_table,
    ranks_table,
    regret_table,
)
from weakly.judging.effects import contamination_kinds
from weakly.judging.tables import in_paper_order
from weakly.reporting.text_tables import kinds_table
from weakly.running.configuration import PREPARED
from weakly.running.runs_file import RunsFile, latest_runs

SHORT = ("prenet", "fsnet", "logistic-converged", "xgbod")  # the methods of a short table


def tables_beyond(folder):
    """{name: function that makes the table} from the results in a folder."""
    runs = functools.cache(lambda: today_runs(folder))

    def pair(method, other):
        return pair_table(today_pairs(runs(), [(method, other)]), method, other)

    return {
        "crosscheck-0-1": lambda: crosscheck_table(folder, "features 0-1"),
        "crosscheck-other": lambda: crosscheck_table(folder, "other features"),
        "today-draws": lambda: " ".join(left_out_lines(runs())),
        "today-behind": lambda: behind_in_words(runs()),
        "today-fraud": lambda: fraud_table(folder),
        "today-times": lambda: times_table(runs()),
        "today-average": lambda: average_table(runs()),
        "today-ranks": lambda: ranks_table(today_ranks(runs())),
        "today-regret": lambda: regret_table(runs()),
        "today-control": lambda: pair("prenet", "cross-entropy"),
        "today-logistic": lambda: pair("prenet", "logistic-converged"),
        "today-xgboost": lambda: pair("prenet", "xgboost"),
        "today-xgbod": lambda: pair("prenet", "xgbod"),
        "today-xgboost-half": lambda: pair("xgboost-half", "xgboost"),
        "today-xgbod-catboost": lambda: pair("xgbod", "catboost"),
        "today-catboost": lambda: pair("prenet", "catboost"),
        "today-shallow": lambda: pair("xgbod", "xgboost-shallow"),
        "today-scaled": lambda: scaled_table(folder),
        "growth": lambda: growth_table(folder),
        "few-rows": lambda: few_rows_table(folder),
        "contamination-kinds": lambda: kinds_table(contamination_kinds(folder)),
        "scaling-sets": lambda: scaling_text.sets_table(scaling_runs(folder), SHORT),
        "scaling-averages": lambda: scaling_text.averages_table(scaling_runs(folder)),
        "scaling-released": lambda: scaling_text.averages_table(scaling_runs(folder, "released")),
        "scaling-leads": lambda: scaling_text.leads_table(scaling_runs(folder)),
        "scaling-candidates": lambda: scaling_text.candidates_table(candidates(folder)),
    }


def crosscheck_table(folder, data):
    """AUC-PR of ADGym and ours, per method, on data sets with features between 0 and 1 or on the others."""
    methods = pd.read_csv(folder / "crosscheck_methods.csv")
    return method_table(methods[(methods["metric"] == "auc_pr") & (methods["data"] == data)])


def scaled_table(folder):
    """Average AUC-PR per method and budget: min-max / cut / fences."""
    tables = [average_auc_pr(today_runs(folder, scaling)) for scaling in SHOWN]
    methods = [name for name in tables[0].index if all(name in table.index for table in tables)]
    texts = [table.loc[methods].map("{:.3f}".format) for table in tables]
    shown = texts[0] + " / " + texts[1] + " / " + texts[2]
    shown = shown.rename(index=display_name, columns=lambda number: f"{number} labels")
    return shown.rename_axis(" / ".join(SHOWN.values()))


def few_rows_table(folder):
    """The paper's sets cut to 3,000 rows, and whole: AUC-PR of some methods."""
    table = few_rows(folder).rename(columns={"n_labeled": "labels"}).set_index("labels")
    names = {
        name: display_name(name.removesuffix(", cut")) + name[-5:] * name.endswith(", cut") for name in table
    }
    return table[["rows", "sets", *(name for name in table if name not in ("rows", "sets"))]].rename(
        columns=names
    )


def fraud_table(folder):
    """AUC-PR on fraud with each contamination rate that was run, of the methods that have them all.

    At the paper's 2% every unlabelled anomaly is in U twelve to fourteen times; at 0.1% none is there twice.
    """
    runs = latest_runs(RunsFile(folder, "today").read())
    runs = runs[(runs["dataset"] == "fraud") & (runs["scaling"] == PREPARED)]
    runs = runs[runs["n_labeled"].isin(budgets(today_runs(folder)))]
    n_rates = runs.groupby(["method", "n_labeled"])["contamination"].transform("nunique")
    runs = runs[n_rates == runs["contamination"].nunique()]
    # the draws that both have
    kinds = runs.groupby(["method", "n_labeled", "run"])["contamination"].transform("nunique")
    runs = runs[kinds == runs["contamination"].nunique()]
    means = runs.groupby(["method", "contamination", "n_labeled"])["auc_pr"].mean().unstack("n_labeled")
    order = [(name, rate) for name in in_method_order(runs["method"]) for rate in (0.02, 0.001)]
    shown = means.reindex([key for key in order if key in means.index])
    shown.index = [f"{display_name(name)}, {100 * rate:g}%" for name, rate in shown.index]
    return shown.rename(columns=lambda number: f"{number} labels").rename_axis("method, contamination")


def times_table(runs):
    """Seconds of a fit on one core, the median of all runs on a data set."""
    medians = runs.groupby(["method", "dataset"])["fit_seconds"].median().unstack("dataset")
    shown = medians.loc[in_method_order(medians.index), in_paper_order(medians.columns)]
    return shown.map("{:.1f}".format).rename(index=display_name).rename_axis("seconds per fit")


def growth_table(folder):
    """PReNet's time and memory with more rows, features or labelled anomalies."""
    table = pd.read_csv(folder / "growth.csv")
    kinds = table["sparse"].map({True: ", sparse", False: ""})
    shown = {
        "rows": table["rows"].map("{:,}".format),
        "features": table["features"].map("{:,}".format) + kinds,
    }
    shown |= {"labelled anomalies": table["labeled"].map("{:,}".format)}
    shown |= {"fit, s": table["fit_seconds"].map("{:.2f}".format)}
    shown |= {"scoring all rows, s": table["score_seconds"].map("{:.3f}".format)}
    shown |= {
        "fit, MB": table["fit_mb"].map("{:.0f}".format),
        "scoring, MB": table["score_mb"].map("{:.0f}".format),
    }
    return pd.DataFrame(shown).set_index("rows")
