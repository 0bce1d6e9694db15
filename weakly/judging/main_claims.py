"""The eight main claims of the paper, each with one number per source: the size of the claimed effect.

    sources = sources_by_name("results/reference")
    for one in main_claims(sources, judge_claims(sources)):
        print(one.judged.claim.text, one.sizes)

The verdicts are those of claims.py. A size is a mean difference with its 95% interval (effects.py). It is
positive where the paper is right. The paper's own size is that of its printed values on our data sets.
"""

from typing import NamedTuple

import numpy as np

from weakly.judging.claim_kinds import Judged
from weakly.judging.effects import Lead, lead
from weakly.judging.score_rules import ALL_METHODS, TABLE_METHODS
from weakly.judging.sources import NotTestable
from weakly.methods import METHODS


class Size(NamedTuple):
    """The size of a claimed effect according to one source, and the rival it refers to."""

    lead: Lead
    rival: str  # the closest rival's name, if any
    status: str


FEWEST_SETS = 4  # with fewer, an interval over data sets says nothing


def over_sets(differences):
    """The mean of {data set: difference}, with its interval if there are enough sets."""
    found = lead({name: [value] for name, value in differences.items()})
    return found if len(differences) >= FEWEST_SETS else Lead(found.mean, np.nan, np.nan)


class MainClaim(NamedTuple):
    judged: Judged
    key: str  # a short name, for anchors and files
    quantity: str  # what the sizes are
    sizes: dict  # {source: Size, or a text that says why there is none}


# ---------------------------------------------------------------------------- sizes


def least_lead(source, experiment, methods):
    """The lead over the method that PReNet leads by least, or trails by most."""
    scores = source.scores(experiment, "auc_pr", methods)
    leads = {name: scores.lead(name) for name in scores.values.columns.drop("prenet")}
    rival = min(leads, key=lambda name: leads[name].mean)
    return Size(leads[rival], METHODS[rival].column, scores.status)


def over_nine_seen(source):
    return least_lead(source, "seen", ALL_METHODS)


def over_nine_unseen(source):
    return least_lead(source, "unseen", ALL_METHODS)


def over_six_seen(source):
    return least_lead(source, "seen", TABLE_METHODS)


def over_six_unseen(source):
    return least_lead(source, "unseen", TABLE_METHODS)


def over_single_rows(source):
    """The lead over iPReNet, which learns from single rows instead of pairs."""
    scores = source.scores("ablation", "auc_pr", ["prenet", "iprenet"])
    return Size(scores.lead("iprenet"), METHODS["iprenet"].column, scores.status)


def half_the_labels(source):
    """PReNet with 60 labels against DevNet with 120, on the data sets that the claim names."""
    named = ("dos", "fuz", "w7a", "campaign")
    at, status, _ = source.sweep("labels", "n_labeled", (60, 120), lambda name: name in named)
    if "devnet" not in at[120]:
        raise NotTestable("DevNet was not run.")
    differences = (at[60]["prenet"] - at[120]["devnet"]).dropna()
    return Size(over_sets(differences), "DevNet", status)


def under_contamination(source):
    """What 5% contamination changes in PReNet's AUC-PR."""
    at, status, _ = source.sweep("contamination", "contamination", (0.0, 0.05), lambda name: name != "news20")
    changes = (at[0.05]["prenet"] - at[0.0]["prenet"]).dropna()
    return Size(over_sets(changes), "no contamination", status)


def score_gap(source):
    """By how much test anomalies score above test normals, for shares of anomalies in U below 2/3."""
    table, status = source.theorem()
    table = table[table["share"] < 2 / 3]
    gaps = (table["mean_score_anomalies"] - table["mean_score_normals"]).groupby(table["dataset"]).mean()
    return Size(over_sets(gaps), "normals", status)


CLOSEST = "AUC-PR lead over the closest of the {} methods that were run"
# the claim's function in "py", its short name, what its sizes are, the function that computes them
MAIN = (
    ("nine-on-seen", "nine-seen", CLOSEST.format("nine"), over_nine_seen),
    ("nine-on-unseen", "nine-unseen", CLOSEST.format("nine"), over_nine_unseen),
    ("best-on-seen", "best-seen", CLOSEST.format("six"), over_six_seen),
    ("best-on-unseen", "best-unseen", CLOSEST.format("six"), over_six_unseen),
    (
        "fewer-labels-than-devnet",
        "labels",
        "AUC-PR with 60 labels minus DevNet's with 120",
        half_the_labels,
    ),
    (
        "stable-under-contamination",
        "contamination",
        "change of AUC-PR at 5% contamination",
        under_contamination,
    ),
    ("pairs-instead-of-instances", "pairs", "AUC-PR lead over iPReNet", over_single_rows),
    ("theorem-order", "theorem", "mean score of anomalies minus that of normals", score_gap),
)


def size_by(measure, source):
    """The size according to one source, or why it has none."""
    try:
        return measure(source)
    except NotTestable as reason:
        return str(reason)


def main_claims(sources, judged):
    """The eight claims with their verdicts, from judge_claims, and their sizes by source."""
    by_key = {one.claim.key: one for one in judged}
    return [
        MainClaim(by_key[claim], key, quantity, {n: size_by(measure, s) for n, s in sources.items()})
        for claim, key, quantity, measure in MAIN
        if claim in by_key
    ]
