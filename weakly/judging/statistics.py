"""The paper's statistics on our tables and the published ones: averages, improvements, tests, ranks.

A statistic covers the data sets that the compared methods have in common; with fewer than MIN_SETS it is NaN.
Only data sets of status `exact` count. Where an experiment has none, its `partial` ones are used, and the
title says so.
"""

from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from scipy.stats import t as student

from weakly.judging import cells
from weakly.judging.cells import PRINTED, printed_table, published_table
from weakly.judging.ranks import holm, signed_rank_p
from weakly.judging.tables import METRICS, PAPER_METRICS, by_method, comparable, counted_status, find_table
from weakly.loading.unseen import UNSEEN_SETS, with_all_others_seen
from weakly.methods import METHODS
from weakly.paths import PUBLISHED

MIN_SETS = 6  # with five pairs, the two-sided Wilcoxon test cannot fall below 0.05
# the rows of Table 3 that do not share test anomalies: per unseen class the one with all other classes seen
ONE_PER_UNSEEN_CLASS = list(dict.fromkeys(map(with_all_others_seen, UNSEEN_SETS)))
OWN = {"released": "", "independent": "_independent"}  # our tables' files
TOO_SMALL = " (28 sets that share rows: p-values are too small)"
INDEPENDENT_SETS = "One set per unseen class (AUC-PR; with four sets no p-value can be below 0.125)"
EXPLANATION = (
    "Printed: what the paper's tables, text and App. C.2 give; published: recomputed from its printed AUCs. "
    "Improvement: by how many per cent PReNet's mean is above the method's. p-value: paired Wilcoxon "
    "signed-rank test of PReNet against the method, two-sided, ignoring data sets with no difference "
    "(zero_method='wilcox'), of one method alone; claims correct it for their number of methods (Holm). "
    "Ranks: 1 is best, ties averaged, a missing cell not ranked; percentile: 1 − (rank − 1) / methods. "
    "Conover p: his post-hoc test, on the data sets that all methods have, Holm-adjusted over "
    f"all pairs. Empty: fewer than {MIN_SETS} data sets in common. Data sets are not independent: dos, rec, "
    "fuz and bac have the same normal rows, and the 28 unseen sets share most of theirs, so these p-values "
    "are too small; the table with one set per unseen class has independent test anomalies. With n sets, the "
    "smallest possible p-value of the Wilcoxon test is 2 / 2^n: 0.008 with eight, 0.125 with four."
)


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
    """What the paper's text quotes, on average or per data set; gain is the improvement in per cent."""
    table = pd.read_csv(PUBLISHED / "quoted.csv")
    is_asked = (table["experiment"] == experiment) & (table["metric"] == metric)
    table = table[is_asked & (table["dataset"].notna() == per_set)].reset_index(drop=True)
    is_loss = table["kind"].str.startswith("loss")  # in per cent of PReNet's mean
    gain = table["value"].mask(is_loss, 100 / (1 - table["value"] / 100) - 100)
    return table.drop(columns=["experiment", "metric"]).assign(gain=gain)


def _others(values):
    return [name for name in values if name != "prenet"] if "prenet" in values else []


def wilcoxon_p_values(values):
    """The p-value of PReNet against each method: paired Wilcoxon signed-rank test, two-sided (Sec. 5.3).

    The rows of values are data sets (at least MIN_SETS) or the runs of one data set.
    """
    p_values = {}
    for method in _others(values):
        differences = signed_differences(values, method)
        p_values[method] = signed_rank_p(differences) if len(differences) >= MIN_SETS else np.nan
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
    ordinal, percentile = values.rank(axis=1, ascending=False), values.rank(axis=1, pct=True)
    return pd.DataFrame({"ordinal": ordinal.mean(), "percentile": percentile.mean()})


def conover(values):
    """PReNet's p-value against each method in Conover's test after Friedman's, Holm-adjusted over all pairs.

    A t-test on rank sums (Conover, Practical Nonparametric Statistics, 1999, Sec. 5.8), on the data sets that
    all methods with enough sets have. The paper names no adjustment for the number of pairs. Unadjusted, its
    own values make DSAD significant on seen anomalies, contrary to App. C.2. With Holm's adjustment they
    agree with its statement if FEAWAD's missing cell is ranked last; without that data set FEAWAD is not
    significant.
    """
    missing = pd.Series(np.nan, index=_others(values), dtype=float)
    complete = values.loc[:, values.notna().sum() >= MIN_SETS].dropna()
    n, k = complete.shape
    if "prenet" not in complete or n < MIN_SETS or k < 3:
        return missing
    ranks = complete.rank(axis=1)
    sums, freedom, squares = ranks.sum(), (n - 1) * (k - 1), np.square(ranks.to_numpy()).sum()
    spread = np.sqrt(2 * (n * squares - np.square(sums).sum()) / freedom)
    p_values = {}
    for one, other in combinations(["prenet", *complete.columns.drop("prenet")], 2):
        gap = abs(sums[one] - sums[other])
        # the same order on all data sets leaves no variance to test with
        p_values[one, other] = 2 * student.sf(gap / spread, freedom) if spread else float(gap == 0)
    return missing.fillna(holm(pd.Series(p_values))["prenet"])


def statistics(values):
    """All of the above, one row per method."""
    ranks = average_ranks(values)
    shared = values[values["prenet"].notna()] if "prenet" in values else values
    table = {
        "average": values.mean().round(6), "improvement %": improvements(values),
        "p-value": wilcoxon_p_values(values), "ordinal rank": ranks["ordinal"],
        "percentile": ranks["percentile"], "Conover p": conover(values), "sets": shared.notna().sum(),
    }  # fmt: skip
    return pd.DataFrame(table).reindex(values.columns).astype({"sets": "Int64"})


def printed_statistics(experiment, metric):
    """The same as far as the paper prints them: in its tables, in the text, and the ranks of App. C.2."""
    table = by_method(printed_table(experiment), metric).T.reindex(columns=["Average", "P-value"])
    table = table.set_axis(["average", "p-value"], axis=1)
    table["improvement %"] = quoted(experiment, metric).set_index("method")["gain"]
    ranks = pd.read_csv(PUBLISHED / "ranks.csv", index_col="method")
    if metric == "auc_pr" and f"ordinal_{experiment}" in ranks:
        table["ordinal rank"] = ranks[f"ordinal_{experiment}"]
        table["percentile"] = ranks[f"percentile_{experiment}"]
    return table


def readable(table):
    """Display names as index; three decimals, per cents with one, p-values in full."""
    table = table.rename(index=lambda name: METHODS[name].column if name in METHODS else name)
    for column in table.select_dtypes("number"):
        name = column[-1] if isinstance(column, tuple) else column
        if not name.endswith(("p", "p-value")):
            table[column] = table[column].round(1 if name.endswith("%") else 3)
    return table


def own_tables(results_dir, experiment):
    """{name: table} of an experiment with the authors' draws and with new ones, as far as it was run."""
    tables = {name: find_table(results_dir, experiment + ending) for name, ending in OWN.items()}
    return {name: table for name, table in tables.items() if table is not None}


def experiment_tables(results_dir, experiment):
    """{title: table} per metric: as printed, recomputed from the printed AUCs (all sets, ours), and ours."""
    tables, own, (place, about) = {}, own_tables(results_dir, experiment), PRINTED[experiment]
    for metric in PAPER_METRICS:
        published = published_scores(experiment, metric)
        counted = {name: counted_scores(table, metric) for name, table in own.items()}
        if "released" not in counted or counted["released"][0].empty or published.empty:
            continue
        values, _ = counted["released"]
        alike = published.loc[published.index.isin(values.index), published.columns.isin(values.columns)]
        groups = {
            f"published, all {len(published)} sets": published,
            f"published, our {len(alike)} sets": alike,
        }
        groups |= {f"{name}, {len(part)} {status} sets": part for name, (part, status) in counted.items()}
        columns = {"printed": printed_statistics(experiment, metric)}
        columns |= {name: statistics(group) for name, group in groups.items() if len(group)}
        table = pd.concat(columns, axis=1)
        title = f"{about.capitalize()} ({place}): {METRICS[metric]}{TOO_SMALL * (experiment == 'unseen')}"
        tables[title] = readable(table.loc[[name for name in METHODS if name in table.index]])
    return tables


def unseen_class_table(results_dir):
    """PReNet against each method on the four sets with all other classes seen: one per unseen class."""
    tables = {"published": published_scores("unseen")}
    tables |= {name: counted_scores(table)[0] for name, table in own_tables(results_dir, "unseen").items()}
    columns = {}
    for name, values in tables.items():
        values = values[values.index.isin(ONE_PER_UNSEEN_CLASS)]
        for method in _others(values):
            (won, lost, total), gaps = sets_won(values, method), signed_differences(values, method)
            columns.setdefault((name, "lead"), {})[method] = gaps.mean() if total else np.nan
            columns.setdefault((name, "sets"), {})[method] = f"ahead on {won}, behind on {lost} of {total}"
    table = pd.DataFrame(columns)
    return readable(table.loc[[name for name in METHODS if name in table.index]].rename_axis("method"))


def statistics_tables(results_dir):
    """{title: table} of all statistics, ready to be shown; EXPLANATION says what the columns are.

    On unseen classes, the comparison over independent sets comes before that over all sets.
    """
    tables = {}
    for experiment in PRINTED:
        if experiment == "unseen":
            tables[INDEPENDENT_SETS] = unseen_class_table(results_dir)
        tables |= experiment_tables(results_dir, experiment)
    return tables
