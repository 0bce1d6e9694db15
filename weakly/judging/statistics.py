"""The paper's statistics on our tables and the published ones: averages, improvements, tests, ranks.

    from weakly.judging.statistics import statistics_tables
    tables = statistics_tables("results/reference")      # {title: DataFrame}

`compare.py` prints them. A statistic covers the data sets that the compared methods have in common; with
fewer than MIN_SETS it is NaN. Only data sets of status `exact` count. Where an experiment has none, its
`partial` ones are used, and the title says so.
"""

from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata

from weakly.judging import cells
from weakly.judging.cells import PRINTED, printed_table, published_table
from weakly.judging.ranks import conover_p_values, signed_rank_p
from weakly.judging.tables import METRICS, PAPER_METRICS, by_method, comparable, counted_status, find_table
from weakly.loading.unseen import UNSEEN_SETS, with_all_others_seen
from weakly.methods import METHODS
from weakly.paths import PUBLISHED

MIN_SETS = 6  # with five pairs, the two-sided Wilcoxon test cannot fall below 0.05
# the rows of Table 3 that do not share test anomalies: per unseen class the one with all other classes seen
ONE_PER_UNSEEN_CLASS = list(dict.fromkeys(map(with_all_others_seen, UNSEEN_SETS)))
EXPLANATION = (
    "Improvement: by how many per cent PReNet's mean is above the method's. p-value: paired Wilcoxon "
    "signed-rank test of PReNet against the method, two-sided, ignoring data sets with no difference "
    "(zero_method='wilcox'). Ranks: 1 is best, ties averaged, a missing cell not ranked; percentile: "
    "1 − (rank − 1) / methods ranked. Conover p: post-hoc test after Friedman's, on the data sets that all "
    f"methods have, Holm-adjusted over all pairs. Empty: fewer than {MIN_SETS} data sets in common. Data "
    "sets are not independent: dos, rec, fuz and bac have the same normal rows, and the "
    "28 unseen sets share most of theirs, so these p-values are too small. One of the tables below "
    "uses one set per unseen class instead. With n sets, the smallest possible p-value of the Wilcoxon test "
    "is 2 / 2^n: 0.008 with eight, 0.125 with four."
)


# ---------------------------------------------------------------------------- scores: data sets by methods


def scores(table, metric="auc_pr", statuses=("exact",)):
    """The comparable scores on data sets of these statuses; a published table, without statuses, counts."""
    if "status" in table:
        table = comparable(table[table["status"].isin(statuses)])
    return by_method(table, metric).dropna(axis=1, how="all").dropna(how="all")


def counted_scores(table, metric="auc_pr"):
    """The scores that count and their status: `exact`, or `partial` if there are no others."""
    status = counted_status(table["status"][(table["metric"] == metric) & table["mean"].notna()])
    return scores(table, metric, (status,)), status


def published_scores(experiment, metric="auc_pr", datasets=None):
    """The same from published/, of all data sets or of the named ones."""
    values = _published_scores(cells.PUBLISHED, experiment, metric)
    return values.copy() if datasets is None else values[values.index.isin(datasets)]


@cache  # nearly every claim and table asks for them
def _published_scores(folder, experiment, metric):
    """All of them; folder, which tests change, only distinguishes one set of values from another."""
    return scores(published_table(experiment), metric)


def quoted(experiment, metric="auc_pr", per_set=False):
    """What the paper's text quotes, on average or per data set: method, dataset, kind, value."""
    table = pd.read_csv(PUBLISHED / "quoted.csv")
    chosen = (
        (table["experiment"] == experiment)
        & (table["metric"] == metric)
        & (table["dataset"].notna() == per_set)
    )
    return table[chosen].drop(columns=["experiment", "metric"]).reset_index(drop=True)


def as_quoted(kind, improvement):
    """An improvement in the terms of a quoted figure: a loss is in per cent of PReNet's mean."""
    return 100 - 100 / (1 + improvement / 100) if kind.startswith("loss") else improvement


def agrees(kind, quoted_value, recomputed):
    """Whether the text agrees with the table: to within a point, or at least the figure if it says so."""
    return bool(
        recomputed >= quoted_value if kind.endswith("at least") else abs(recomputed - quoted_value) <= 1
    )


# ---------------------------------------------------------------------------- statistics


def _others(values):
    return [name for name in values if name != "prenet"] if "prenet" in values else []


def wilcoxon_p_values(values, at_least=MIN_SETS):
    """The p-value of PReNet against each method: paired Wilcoxon signed-rank test, two-sided (Sec. 5.3).

    The rows of values are data sets (at least MIN_SETS) or the runs of one data set.
    """
    p_values = {}
    for method in _others(values):
        differences = signed_differences(values, method)
        p_values[method] = signed_rank_p(differences) if len(differences) >= at_least else np.nan
    return pd.Series(p_values, dtype=float)


def signed_differences(values, method):
    """PReNet minus a method on the data sets that both have, to the six decimals that tables have."""
    differences = values["prenet"].to_numpy() - values[method].to_numpy()
    return differences[~np.isnan(differences)].round(6)


def sets_won(values, method):
    """The number of data sets on which PReNet is above a method, below it, and the total."""
    differences = signed_differences(values, method)
    return int((differences > 0).sum()), int((differences < 0).sum()), len(differences)


def signed_rank_sum(values, method):
    """Wilcoxon's rank sum of PReNet's wins minus that of its losses: the direction of the test."""
    differences = signed_differences(values, method)
    differences = differences[differences != 0]
    return float(rankdata(np.abs(differences)) @ np.sign(differences))


def smallest_p(n_sets):
    """The smallest two-sided p-value that the signed-rank test can give over this many data sets."""
    return min(1.0, 2.0 ** (1 - n_sets))


def improvements(values):
    """By how many per cent PReNet's mean is above each method's, over the data sets that both have."""
    others = values[_others(values)]
    if others.empty:
        return pd.Series(np.nan, index=others.columns, dtype=float)
    # PReNet's scores once per method, on the data sets that the method has
    prenet = others.where(others.isna(), values["prenet"], axis=0)
    return 100 * (prenet.mean() / others[prenet.notna()].mean() - 1)


def average_ranks(values):
    """Average ordinal and percentile rank per method (App. C.2): ties averaged, a missing cell not ranked."""
    return pd.DataFrame(
        {
            "ordinal": values.rank(axis=1, ascending=False).mean(),
            "percentile": values.rank(axis=1, pct=True).mean(),
        }
    )


def _complete(values):
    """The data sets that all methods with enough sets have; None if too few are left."""
    values = values.loc[:, values.notna().sum() >= MIN_SETS].dropna()
    return values if "prenet" in values and values.shape[0] >= MIN_SETS and values.shape[1] >= 3 else None


def friedman(values):
    """Statistic and p-value of the Friedman test: do the methods differ at all?"""
    complete = _complete(values)
    if complete is None or (complete.nunique(axis=1) == 1).all():
        return np.nan, np.nan
    return tuple(float(value) for value in friedmanchisquare(*complete.T.to_numpy()))


def conover(values):
    """PReNet's p-value against each method in Conover's test (App. C.2), Holm-adjusted over all pairs."""
    p_values, complete = pd.Series(np.nan, index=_others(values), dtype=float), _complete(values)
    if complete is None:
        return p_values
    found = conover_p_values(complete.to_numpy())[complete.columns.get_loc("prenet")]
    return p_values.fillna(pd.Series(found, index=complete.columns))


def statistics(values):
    """All of the above, one row per method."""
    ranks = average_ranks(values)
    shared = values[values["prenet"].notna()] if "prenet" in values else values
    table = {
        "average": values.mean(),
        "improvement %": improvements(values),
        "p-value": wilcoxon_p_values(values),
        "ordinal rank": ranks["ordinal"],
        "percentile": ranks["percentile"],
        "Conover p": conover(values),
        "sets": shared.notna().sum(),
    }
    return pd.DataFrame(table).reindex(values.columns).astype({"sets": "Int64"})


# ---------------------------------------------------------------------------- tables to print or to render


def readable(table):
    """Display names as index; three decimals, per cents with one, p-values in full."""
    table = table.rename(index=lambda name: METHODS[name].column if name in METHODS else name)
    for column in table.select_dtypes("number"):
        name = column[-1] if isinstance(column, tuple) else column
        if not name.endswith(("p", "p-value")):
            table[column] = table[column].round(1 if name.endswith("%") else 3)
    return table


def heading(experiment):
    place, about = PRINTED[experiment]
    return f"{about.capitalize()} ({place})"


def _described(values, status):
    return f"{len(values)} {status} sets"


def experiment_tables(results_dir, experiment):
    """{title: table} per metric: methods by published (all sets, ours) and ours (both protocols)."""
    tables = {}
    ours, independent = (find_table(results_dir, experiment, suffix) for suffix in ("", "_independent"))
    for metric in PAPER_METRICS:
        published = published_scores(experiment, metric)
        if ours is None or published.empty:
            continue
        values, status = counted_scores(ours, metric)
        if values.empty:
            continue
        alike = published.loc[published.index.isin(values.index), published.columns.isin(values.columns)]
        groups = {
            f"published, all {len(published)} sets": published,
            f"published, our {len(alike)} sets": alike,
        }
        groups[f"ours, {_described(values, status)}"] = values
        if independent is not None:
            again = counted_scores(independent, metric)
            groups[f"ours, independent, {_described(*again)}"] = again[0]
        columns = {name: statistics(group) for name, group in groups.items() if len(group)}
        table = pd.concat(columns, axis=1)
        order = [name for name in METHODS if name in table.index]
        tables[f"{heading(experiment)}: {METRICS[metric]}"] = readable(table.loc[order])
    return tables


def p_value_table(results_dir):
    """The printed p-values, the same recomputed from the printed AUCs, and ours."""
    rows = []
    for experiment in PRINTED:
        printed = (
            printed_table(experiment).query("dataset == 'P-value'").set_index(["metric", "method"])["mean"]
        )
        ours = find_table(results_dir, experiment)
        for metric in PAPER_METRICS:
            own = wilcoxon_p_values(counted_scores(ours, metric)[0]) if ours is not None else {}
            for method, recomputed in wilcoxon_p_values(published_scores(experiment, metric)).items():
                expected = printed[metric, method]
                if pd.isna(expected):
                    continue
                # printed to three decimals, it seems after rounding to four
                agree = "yes" if abs(expected - recomputed) <= 0.00055 + 1e-9 else "no"
                p_values = {"printed p-value": expected, "recomputed p-value": recomputed, "agree": agree}
                p_values["our p-value"] = own.get(method, np.nan)
                rows.append(
                    {"method": method, "experiment": experiment, "metric": METRICS[metric]} | p_values
                )
    return readable(pd.DataFrame(rows).set_index("method"))


def rank_table(results_dir):
    """App. C.2: the printed average ranks, the same recomputed from the printed AUC-PR, and ours."""
    printed, columns = pd.read_csv(PUBLISHED / "ranks.csv", index_col="method"), {}
    for experiment in ("seen", "unseen"):
        recomputed, ours = average_ranks(published_scores(experiment)), find_table(results_dir, experiment)
        own = (
            average_ranks(counted_scores(ours)[0])
            if ours is not None
            else pd.DataFrame(columns=recomputed.columns, dtype=float)
        )
        for kind in recomputed:
            columns[f"{experiment}, {kind}", "printed"] = printed[f"{kind}_{experiment}"]
            columns[f"{experiment}, {kind}", "recomputed"] = recomputed[kind]
            columns[f"{experiment}, {kind}", "ours"] = own[kind]
    return readable(pd.DataFrame(columns).loc[printed.index])


def improvement_table(results_dir):
    """Secs. 5.4 to 5.6: the average improvements that the text quotes, the published table's, and ours."""
    rows = []
    for experiment in PRINTED:
        ours = find_table(results_dir, experiment)
        for metric in PAPER_METRICS:
            recomputed = improvements(published_scores(experiment, metric))
            own = improvements(counted_scores(ours, metric)[0]) if ours is not None else {}
            for row in quoted(experiment, metric).itertuples():
                value = as_quoted(row.kind, recomputed[row.method])
                cells = {
                    "method": row.method,
                    "experiment": experiment,
                    "metric": METRICS[metric],
                    "quoted": f"{row.kind} {row.value:g}%",
                }
                cells |= {
                    "published table %": value,
                    "agree": "yes" if agrees(row.kind, row.value, value) else "no",
                }
                rows.append(cells | {"ours %": as_quoted(row.kind, own.get(row.method, np.nan))})
    return readable(pd.DataFrame(rows).set_index("method"))


def friedman_table(results_dir):
    """The Friedman test over all methods, per experiment, on the published AUC-PR and on ours."""
    rows = {}
    for experiment in PRINTED:
        ours = find_table(results_dir, experiment)
        values = {"published": published_scores(experiment)} | (
            {"ours": counted_scores(ours)[0]} if ours is not None else {}
        )
        tests = {name: friedman(value) for name, value in values.items()}
        rows[heading(experiment)] = {
            (name, label): number
            for name, test in tests.items()
            for label, number in zip(("statistic", "p-value"), test)
        }
    return readable(pd.DataFrame.from_dict(rows, orient="index"))


def unseen_class_table(results_dir):
    """PReNet against each method on the four sets with all other classes seen: one per unseen class."""
    tables = {"published": published_scores("unseen")}
    for name, suffix in {"ours": "", "ours, independent": "_independent"}.items():
        table = find_table(results_dir, "unseen", suffix)
        if table is not None:
            tables[name] = counted_scores(table)[0]
    columns = {}
    for name, values in tables.items():
        values = values[values.index.isin(ONE_PER_UNSEEN_CLASS)]
        for method in _others(values):
            won, lost, total = sets_won(values, method)
            text = f"ahead on {won}, behind on {lost} of {total}"
            lead = signed_differences(values, method).mean() if total else np.nan
            columns.setdefault((name, "lead"), {})[method] = lead
            columns.setdefault((name, "sets"), {})[method] = text
    table = pd.DataFrame(columns)
    return readable(table.loc[[name for name in METHODS if name in table.index]].rename_axis("method"))


def statistics_tables(results_dir):
    """{title: table} of all statistics, ready to be shown; EXPLANATION says what the columns are."""
    tables = {}
    for experiment in PRINTED:
        tables |= experiment_tables(results_dir, experiment)
    tables["P-values: printed, recomputed from the printed AUCs, and ours"] = p_value_table(results_dir)
    tables["Average ranks by AUC-PR (App. C.2)"] = rank_table(results_dir)
    tables["Improvements quoted in the text (Secs. 5.4 to 5.6)"] = improvement_table(results_dir)
    tables["Friedman test on AUC-PR"] = friedman_table(results_dir)
    title = "One set per unseen class (AUC-PR; with four sets no p-value can be below 0.125)"
    tables[title] = unseen_class_table(results_dir)
    return tables
