"""The sizes of the main claims' effects: one number with its 95% interval per source (effects.py).

A size is positive where the paper is right. The paper's own is that of its printed values on our data sets.
"""

from typing import NamedTuple

import numpy as np

from weakly.judging.effects import Lead, lead
from weakly.judging.sources import NotTestable
from weakly.judging.sweep_rules import gaps_of, theorem_points
from weakly.methods import METHODS

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
