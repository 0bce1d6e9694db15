"""PReNet's lead over each method, the methods' ranks, and the sizes of the main claims' effects.

    from weakly.judging.leads import all_scores, lead_table
    leads = lead_table(all_scores(sources_by_name("results/reference")))

A lead is PReNet's mean minus the method's, over the data sets that both have, with its 95% interval
(effects.py). The paper's values are those on our data sets, so that all sources are comparable. A size is one
number per source, positive where the paper is right.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from weakly.judging.effects import Lead, lead
from weakly.judging.ranks import nemenyi_critical_difference
from weakly.judging.sources import ALL_METHODS, AS_PUBLISHED, INDEPENDENT, RELEASED, NotTestable
from weakly.judging.statistics import MIN_SETS, average_ranks
from weakly.judging.sweep_rules import gaps_of, theorem_points
from weakly.judging.tables import PAPER_METRICS
from weakly.methods import METHODS

MAIN_TABLES = ("seen", "unseen")
COLUMNS = ["experiment", "metric", "method", "source", "sets", "status", "mean", "low", "high"]


def all_scores(sources):
    """{(experiment, metric, source): scores of all methods that have enough data sets}; sources by name."""
    found = {}
    for name, source in sources.items():
        for experiment in MAIN_TABLES:
            for metric in PAPER_METRICS:
                try:
                    found[experiment, metric, name] = source.scores(experiment, metric, ALL_METHODS)
                except NotTestable:
                    continue
    return found


def lead_table(scores):
    """The leads over all methods; scores: see all_scores."""
    rows = []
    for key, of_source in scores.items():
        experiment, metric, source = key
        for method in of_source.values.columns.drop("prenet"):
            n_sets = len(of_source.values[["prenet", method]].dropna())
            about = experiment, metric, method, source, n_sets, of_source.status
            rows.append((*about, *of_source.lead(method)))
    return pd.DataFrame(rows, columns=COLUMNS)


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
        about = experiment, metric, source, of_source.status
        found.append(Ranking(*about, ranks=ranks, n_sets=len(values), critical_difference=distance))
    return found


def gap_table(scores, experiment):
    """PReNet's mean AUC-PR minus each method's: published, released, independent.

    Over the data sets that both have under both protocols. The spread of `independent` is over runs, each of
    which has its own split and labels; ahead and behind count the sets where the mean difference is more than
    twice its spread. Empty without all three sources.
    """
    sources = [scores.get((experiment, "auc_pr", source)) for source in (AS_PUBLISHED, RELEASED, INDEPENDENT)]
    if None in sources or any(source.runs is None for source in sources[1:]):
        return pd.DataFrame()
    rows = {}
    for method in sources[0].values.columns.drop("prenet"):
        if any(method not in one.values for one in sources):
            continue
        gaps = pd.concat([one.values["prenet"] - one.values[method] for one in sources], axis=1).dropna()
        new = sources[-1].runs
        drawn = (new["prenet"] - new[method]).loc[gaps.index]
        mean, spread = drawn.mean(axis=1), drawn.std(axis=1, ddof=0)
        means = dict(zip(("published", "released", "independent"), gaps.mean()))
        rows[METHODS[method].column] = {"data sets": len(gaps)} | means | {
            "spread over splits": drawn.mean().std(ddof=0),
            "ahead": int((mean > 2 * spread).sum()),
            "behind": int((mean < -2 * spread).sum()),
        }  # fmt: skip
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


# ---------------------------------------------------------------------------- sizes of the main claims

FEWEST_SETS = 4  # with fewer, an interval over data sets says nothing


class Size(NamedTuple):
    """The size of a claimed effect according to one source, and what it is compared with."""

    lead: Lead
    rival: str  # the other method's name, if any
    status: str


def over_sets(differences):
    """The mean of {data set: difference}, with its interval if there are enough sets."""
    found = lead({name: [value] for name, value in differences.items()})
    return found if len(differences) >= FEWEST_SETS else Lead(found.mean, np.nan, np.nan)


def lead_over_strongest(source, experiment, methods):
    """The lead over the strongest other method: the one that PReNet leads by least, or trails by most."""
    scores = source.scores(experiment, "auc_pr", methods)
    leads = {name: scores.lead(name) for name in scores.values.columns.drop("prenet")}
    rival = min(leads, key=lambda name: leads[name].mean)
    return Size(leads[rival], METHODS[rival].column, scores.status)


def lead_over_variant(source, variant):
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    return Size(scores.lead(variant), METHODS[variant].column, scores.status)


def half_the_labels(source, datasets):
    """PReNet with 60 labels against DevNet with 120, on the data sets that the claim names."""
    at, status, _ = source.sweep("labels", "n_labeled", (60, 120), datasets)
    if "devnet" not in at[120]:
        raise NotTestable("DevNet was not run.")
    return Size(over_sets((at[60]["prenet"] - at[120]["devnet"]).dropna()), "DevNet", status)


def under_contamination(source):
    """What 5% contamination changes in PReNet's AUC-PR."""
    at, status, _ = source.contamination(0.0, 0.05)
    return Size(over_sets((at[0.05]["prenet"] - at[0.0]["prenet"]).dropna()), "no contamination", status)


def score_gap(source):
    """By how much test anomalies score above test normals, for shares of anomalies in U below 2/3."""
    table, status, _ = theorem_points(source)
    return Size(over_sets(gaps_of(table).groupby(table["dataset"]).mean()), "normals", status)
