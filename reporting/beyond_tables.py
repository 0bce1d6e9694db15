"""The tables of REPRODUCTION.md beyond the paper: the cross-check, today's methods, where time goes."""

import functools

import pandas as pd

from judging.tables import read_frame
from judging.today import today_pairs, today_ranks, today_runs
from methods import METHODS
from reporting.crosscheck_text import method_table
from reporting.today_text import average_table, pair_table, ranks_table, regret_table


def tables_beyond(folder):
    """{name: function that makes the table} from the results in a folder."""
    runs = functools.cache(lambda: today_runs(folder))

    def pair(method, other):
        return pair_table(today_pairs(runs(), [(method, other)]), method, other)

    return {
        "crosscheck-0-1": lambda: crosscheck_table(folder, "features 0-1"),
        "crosscheck-all": lambda: crosscheck_table(folder, "all"),
        "bench-parts": lambda: bench_parts_table(folder),
        "today-average": lambda: average_table(runs()),
        "today-ranks": lambda: ranks_table(today_ranks(runs())),
        "today-regret": lambda: regret_table(runs()),
        "today-control": lambda: pair("prenet", "cross-entropy"),
        "today-logistic": lambda: pair("prenet", "logistic-converged"),
        "today-xgboost": lambda: pair("prenet", "xgboost"),
        "today-catboost": lambda: pair("prenet", "catboost"),
        "today-rosas": lambda: pair("rosas-validated", "rosas"),
    }


def crosscheck_table(folder, data):
    """AUC-PR of ADGym and ours, per method, on all data sets or on those with features between 0 and 1."""
    methods = pd.read_csv(folder / "crosscheck_methods.csv")
    return method_table(methods[(methods["metric"] == "auc_pr") & (methods["data"] == data)])


def bench_parts_table(folder):
    """Where XGBOD's and FEAWAD's time goes: the plain way / ours, in seconds, and their ratio."""
    table = read_frame(folder / "bench_parts.csv", ("dataset", "method", "part"))
    times = zip(table["plain_seconds"], table["our_seconds"], table["plain_over_ours"])
    cells = [f"{plain:.1f} / {ours:.1f} = {ratio:.1f}" for plain, ours, ratio in times]
    names = table["method"].map(lambda name: METHODS[name].column) + ", " + table["part"]
    shown = table.assign(cell=cells, name=names).pivot(index="name", columns="dataset", values="cell")
    return shown.loc[names.drop_duplicates(), table["dataset"].unique()].rename_axis("seconds")
