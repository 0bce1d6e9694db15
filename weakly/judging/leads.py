"""PReNet's lead over each method, the methods' ranks, and the sizes of the main claims' effects.

A lead is PReNet's mean minus the method's, over the data sets that both have, with its 95% interval
(effects.py). The paper's values are those on our data sets, so that all sources are comparable. A size is one
number per source, positive where the paper is right.
"""

from contextlib import suppress
from itertools import product
from typing import NamedTuple

import pandas as pd

from weakly.judging.effects import Lead, lead
from weakly.judging.ranks import nemenyi_critical_difference
from weakly.judging.sources import ALL_METHODS, AS_PUBLISHED, INDEPENDENT, RELEASED, NotTestable
from weakly.judging.statistics import MIN_SETS, average_ranks
from weakly.judging.tables import PAPER_METRICS
from weakly.methods import METHODS

MAIN_TABLES = ("seen", "unseen")
FEWEST_SETS = 4  # with fewer, an interval over data sets says nothing


def all_scores(sources):
    """{(experiment, metric, source): scores of all methods that have enough data sets}; sources by name."""
    found = {}
    for name, experiment, metric in product(sources, MAIN_TABLES, PAPER_METRICS):
        with suppress(NotTestable):
            found[experiment, metric, name] = sources[name].scores(experiment, metric, ALL_METHODS)
    return found


def lead_table(scores):
    """The leads over all methods; scores: see all_scores."""
    rows = []
    for (experiment, metric, source), of_source in scores.items():
        for method in of_source.values.columns.drop("prenet"):
            n_sets = len(of_source.values[["prenet", method]].dropna())
            about = experiment, metric, method, source, n_sets, of_source.status
            rows.append((*about, *of_source.lead(method)))
    columns = ["experiment", "metric", "method", "source", "sets", "status", *Lead._fields]
    return pd.DataFrame(rows, columns=columns)


def strongest_other(leads, experiment, source, metric="auc_pr"):
    """The row of the strongest other method: PReNet leads it by least, or trails it by most; None without.

    Only methods that every source has are considered, so that all sources choose from the same ones.
    """
    part = leads[(leads["experiment"] == experiment) & (leads["metric"] == metric)]
    n_sources = part["source"].nunique()
    common = part.groupby("method")["source"].transform("nunique") == n_sources
    part = part[common & (part["source"] == source)]
    return None if part.empty else part.loc[part["mean"].idxmin()]


class Ranking(NamedTuple):
    """Average ranks of the methods over the data sets that all of them have, the best first."""

    experiment: str
    metric: str
    source: str
    status: str
    ranks: pd.Series
    n_sets: int
    critical_difference: float  # Nemenyi, 5%


def rankings(scores):
    """The ranking of each experiment, metric and source; scores: see all_scores."""
    found = []
    for (experiment, metric, source), of_source in scores.items():
        values = of_source.values.dropna().round(6)  # the decimals that tables have
        if len(values) < MIN_SETS or values.shape[1] < 3:
            continue
        ranks = average_ranks(values)["ordinal"].sort_values(kind="stable")
        distance = nemenyi_critical_difference(values.shape[1], len(values))
        found.append(Ranking(experiment, metric, source, of_source.status, ranks, len(values), distance))
    return found


def gap_table(scores, experiment):
    """PReNet's mean AUC-PR minus each method's: published, released, independent.

    Over the data sets that both have under both protocols. Runs of `independent` have their own split and
    labels; ahead and behind count the sets where the mean difference is more than twice its spread.
    """
    sources = [scores.get((experiment, "auc_pr", source)) for source in (AS_PUBLISHED, RELEASED, INDEPENDENT)]
    if None in sources or any(source.runs is None for source in sources[1:]):
        return pd.DataFrame()
    rows, common = {}, set.intersection(*(set(one.values) for one in sources))
    for method in [name for name in METHODS if name in common - {"prenet"}]:
        gaps = pd.concat([one.values["prenet"] - one.values[method] for one in sources], axis=1).dropna()
        drawn = (sources[-1].runs["prenet"] - sources[-1].runs[method]).loc[gaps.index]
        mean, spread = drawn.mean(axis=1), 2 * drawn.std(axis=1, ddof=0)
        row = {"data sets": len(gaps)} | dict(zip(("published", "released", "independent"), gaps.mean()))
        row["spread over splits"] = drawn.mean().std(ddof=0)
        row |= {"ahead": int((mean > spread).sum()), "behind": int((mean < -spread).sum())}
        rows[METHODS[method].column] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


class Size(NamedTuple):
    """The size of a claimed effect according to one source, and what it is compared with."""

    lead: Lead
    rival: str  # the other method's name, if any
    status: str


def over_sets(differences):
    """The mean of differences (data sets), with its interval if there are enough sets."""
    return lead(differences.to_frame().T, FEWEST_SETS)


def lead_over_strongest(source, experiment, methods):
    """The lead over the strongest other method: the one that PReNet leads by least, or trails by most."""
    scores = source.scores(experiment, "auc_pr", methods)
    leads = {name: scores.lead(name) for name in scores.values.columns.drop("prenet")}
    rival = min(leads, key=lambda name: leads[name].mean)
    return Size(leads[rival], METHODS[rival].column, scores.status)


def change_in_sweep(source, experiment, parameter, at, than_at, rival=None, **chosen):
    """PReNet at one value of a parameter minus the rival, or itself, at another one."""
    values, status, _ = source.sweep(experiment, parameter, (at, than_at), **chosen)
    if rival and rival not in values[than_at]:
        raise NotTestable(f"{METHODS[rival].column} was not run.")
    gaps = (values[at]["prenet"] - values[than_at][rival or "prenet"]).dropna()
    return Size(over_sets(gaps), METHODS[rival].column if rival else f"no {parameter}", status)


def score_gap(source):
    """By how much test anomalies score above test normals, for shares of anomalies in U below 2/3."""
    table, status, _ = source.theorem()
    return Size(over_sets(table.groupby("dataset")["gap"].mean()), "normals", status)
