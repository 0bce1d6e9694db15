"""The claims of the paper as a checklist: what its own values say, what ours say, with old and new draws.

    from judging.claims import judge_claims
    for judged in judge_claims("results/reference"):
        print(judged.claim.text, judged.verdict, judged.evidence)

One function per claim, in the paper's order; its decorator holds the text, the section and the rule. The
same function judges all sources (sources.py); the rules and what the verdicts mean are in claim_rules.py.
Data sets of status `exact` count; where an experiment has none, its `partial` ones do, and are counted apart.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from judging.claim_rules import (
    ALL_METHODS,
    CLAIM_VERDICTS,
    DEPEND_ON_LABELS_ONLY,
    TABLE_METHODS,
    UNTESTABLE,
    Finding,
    best_rank,
    conover_better,
    disagreements,
    fewer_labels,
    gain_over,
    highest_mean,
    improved_as_quoted,
    improved_per_set,
    increases_with_labels,
    moves,
    not_worse_than,
    on_most_sets,
    one_layer_is_better,
    robust,
    scored_as_predicted,
    scored_in_order,
    significant,
    significant_per_set,
    stable,
    wins_over,
)
from judging.sources import NotTestable, OurTables, PublishedTables, listed
from judging.statistics import MIN_SETS
from methods import METHODS, method_group

APPENDIX = method_group("appendix")
TWO_LAYERS = [name for name in METHODS if name.endswith("-two-layers")]


@dataclass(frozen=True)
class Claim:
    """What the paper says, where, by which rule it is judged, and the function that applies the rule."""

    text: str
    section: str
    rule: str
    judge: Callable
    caveat: str = ""  # what must be known beside the verdict


@dataclass(frozen=True)
class Judged:
    """A claim and what each source says about it, the paper's own values first."""

    claim: Claim
    findings: dict[str, Finding]  # by the title of the source

    @property
    def ours(self) -> Finding:
        """Ours with the authors' draws, which is what counts."""
        return self.findings[OurTables("").title]

    @property
    def verdict(self) -> str:
        return self.ours.verdict

    @property
    def evidence(self) -> str:
        return self.ours.evidence


CLAIMS: list[Claim] = []


def claim(text, section, rule, caveat=""):
    """Put a function, from a source to a Finding, on the list of claims."""

    def register(judge):
        CLAIMS.append(Claim(text, section, rule, judge, caveat))
        return judge

    return register


# What claims of one kind are judged by.
SIGNIFICANT = (
    "Every method: PReNet ahead by the sum of signed ranks, and p < {level} in the paired two-sided Wilcoxon "
    "test over data sets."
)
BEST_MEAN = "The highest mean, and the 95% interval of the lead over the runner-up above 0."
AS_QUOTED = (
    "Every method: at least nine tenths of the quoted improvement of the mean; for ours, of the improvement "
    "that the paper's table gives on the same sets."
)
PER_SET = "Most of the named sets: above by the lower figure or more, to within a percentage point."
PER_SET_RUNS = (
    "On at least {claimed} of 12 sets, or that share of ours, p < 0.05 in a Wilcoxon test over the runs."
)
FEWER = (
    "Most sets: at most 0.01 below the other's AUC-PR with 120 labels; weakened where at most 0.01 below the "
    "other's with as few labels."
)
STABLE = "Every data set: {what} at most 0.05 lower."
ON_MOST = "Every method: ahead on more than half of the sets."
BEST_RANK = "The lowest average ordinal rank by AUC-PR, by half a rank or more."
CONOVER = "Every method: a better average rank, and a Holm-adjusted p < 0.05 in Conover's test."
SHARED_ROWS = "The 28 unseen sets share most of their rows, so their p-values are too small."
UNSEEN_COLUMNS = f"{DEPEND_ON_LABELS_ONLY}. {SHARED_ROWS}"


# ---------------------------------------------------------------------------- abstract and Sec. 4


@claim(
    "It significantly outperforms nine competing methods on seen anomalies.",
    "abstract, Sec. 1",
    SIGNIFICANT.format(level=0.05),
)
def nine_on_seen(source):
    return significant(source, "seen", methods=ALL_METHODS)


@claim(
    "It significantly outperforms nine competing methods on unseen anomalies.",
    "abstract, Sec. 1",
    SIGNIFICANT.format(level=0.05),
    UNSEEN_COLUMNS,
)
def nine_on_unseen(source):
    return significant(source, "unseen", methods=ALL_METHODS)


@claim(
    "An anomaly is expected to score higher than a normal instance while less than 2/3 of U are anomalies.",
    "Sec. 4.2, App. A",
    "Every rate and data set: the mean score of test anomalies is above that of test normals.",
)
def theorem_order(source):
    return scored_in_order(source, beyond=False)


@claim(
    "By the same formula the order is reversed once more than 2/3 of U are anomalies.",
    "Sec. 4.2, App. A",
    "Every rate beyond 2/3 and data set: the mean score of test normals is above that of test anomalies.",
    "The theorem guarantees nothing beyond 2/3; this follows from the two expected scores that it gives.",
)
def theorem_limit(source):
    return scored_in_order(source, beyond=True)


@claim(
    "The expected scores are (c1 + c2) / 2 for an anomaly and (c2 + c3 + epsilon (c1 + c2)) / 2 for a normal "
    "instance.",
    "Sec. 4.2",
    "Every rate and data set, both kinds of rows: the mean score is within 0.5, an eighth of the margin "
    "m = 4, of the expected one.",
)
def theorem_values(source):
    return scored_as_predicted(source)


# ---------------------------------------------------------------------------- Secs. 5.2, 5.4: seen anomalies


@claim(
    "All deep methods are better with one hidden layer than with two or more.",
    "Sec. 5.2, App. B.2.2",
    "Every method: a higher mean AUC-PR with one layer of 20 units than with two, and higher on most sets.",
)
def one_hidden_layer(source):
    return one_layer_is_better(source, TWO_LAYERS)


@claim("PReNet has the best average AUC-PR on seen anomalies.", "Sec. 5.4", BEST_MEAN)
def best_on_seen(source):
    return highest_mean(source, "seen")


@claim(
    "On seen anomalies its AUC-PR is significantly better than that of each of the six competing methods.",
    "Sec. 5.4",
    SIGNIFICANT.format(level=0.05),
)
def significant_on_seen(source):
    return significant(source, "seen")


@claim(
    "The average AUC-PR improvements on seen anomalies that the text quotes, 3.7% over DevNet to 331.85% "
    "over iForest.",
    "Sec. 5.4",
    AS_QUOTED,
    f"In the paper itself, {listed(disagreements('seen'))}.",
)
def improvement_on_seen(source):
    return improved_as_quoted(source, "seen")


@claim("It is significantly better than DevNet on six data sets.", "Sec. 5.4", PER_SET_RUNS.format(claimed=6))
def devnet_on_six(source):
    return significant_per_set(source, "devnet", claimed=6)


@claim(
    "It is 3%-6% better than DevNet on census, bac, news20 and thyroid and 10%-20% on campaign and w7a.",
    "Sec. 5.4",
    PER_SET,
)
def devnet_per_set(source):
    return improved_per_set(source, "seen", "devnet")


@claim("It is significantly better than DSAD on eight data sets.", "Sec. 5.4", PER_SET_RUNS.format(claimed=8))
def dsad_on_eight(source):
    return significant_per_set(source, "dsad", claimed=8)


@claim(
    "It is 20%-320% better than DSAD on donors, fuz, w7a, campaign, news20 and thyroid.", "Sec. 5.4", PER_SET
)
def dsad_per_set(source):
    return improved_per_set(source, "seen", "dsad")


@claim(
    "On seen anomalies its AUC-ROC is significantly better, against DevNet at the 90% level.",
    "Sec. 5.4",
    SIGNIFICANT.format(level="0.05 (DevNet: 0.1)"),
)
def significant_auc_roc_on_seen(source):
    return significant(source, "seen", "auc_roc", levels={"devnet": 0.1})


@claim(
    "The average AUC-ROC improvements on seen anomalies that the text quotes, 2.9% over DSAD to 40.7% over "
    "iForest.",
    "Sec. 5.4",
    AS_QUOTED,
)
def improvement_auc_roc_on_seen(source):
    return improved_as_quoted(source, "seen", "auc_roc")


@claim(
    "The results of all methods generally increase with the number of labelled anomalies.",
    "Sec. 5.4",
    "Every method: AUC-PR with 120 labels above that with 15, on average and on most of the sets.",
)
def more_labels_help(source):
    return increases_with_labels(source, [name for name in TABLE_METHODS if METHODS[name].uses_labels])


@claim("With 50%-75% fewer labels it is as good as DevNet on dos, fuz, w7a and campaign.", "Sec. 5.4", FEWER)
def fewer_labels_than_devnet(source):
    named = ("dos", "fuz", "w7a", "campaign")
    return fewer_labels(source, ["devnet"], lambda name: name in named, (60, 30))


@claim(
    "With 87.5% fewer labels it is better than DSAD on donors, w7a, campaign, news20 and thyroid.",
    "Sec. 5.4",
    FEWER,
)
def fewer_labels_than_dsad(source):
    named = ("donors", "w7a", "campaign", "news20", "thyroid")
    return fewer_labels(source, ["dsad"], lambda name: name in named, (15,))


# ---------------------------------------------------------------------------- Sec. 5.5: unseen anomalies


@claim("PReNet has the best average AUC-PR on unseen anomalies.", "Sec. 5.5", BEST_MEAN, SHARED_ROWS)
def best_on_unseen(source):
    return highest_mean(source, "unseen")


@claim(
    "On unseen anomalies it improves DevNet by more than 11%, DSAD by 17%, FSNet by 30%, cFSNet by 20%, "
    "REPEN by 27%.",
    "Sec. 5.5",
    AS_QUOTED,
)
def improvement_on_unseen(source):
    return improved_as_quoted(source, "unseen")


@claim("It is 20%-130% better than DevNet on eight unseen sets, twice over 100%.", "Sec. 5.5", PER_SET)
def devnet_per_unseen_set(source):
    return improved_per_set(source, "unseen", "devnet")


@claim(
    "On unseen anomalies its AUC-PR is better than that of all competing methods at the 99% level.",
    "Sec. 5.5",
    SIGNIFICANT.format(level=0.01),
    SHARED_ROWS,
)
def significant_on_unseen(source):
    return significant(source, "unseen", level=0.01)


@claim(
    "On unseen anomalies it is similarly superior in AUC-ROC.",
    "Sec. 5.5",
    SIGNIFICANT.format(level=0.01),
    SHARED_ROWS,
)
def significant_auc_roc_on_unseen(source):
    return significant(source, "unseen", "auc_roc", level=0.01)


@claim(
    "On unseen anomalies it is better than the best competing methods with 50%-87.5% fewer labels.",
    "Sec. 5.5",
    FEWER,
)
def fewer_labels_on_unseen(source):
    return fewer_labels(source, TABLE_METHODS[1:], lambda name: "->" in name, (60, 30, 15))


# ---------------------------------------------------------------------------- Sec. 5.6


@claim(
    "It is stable with up to 10% contamination on all data sets but news20.",
    "Sec. 5.6",
    STABLE.format(what="the mean AUC-PR at 10% contamination, against 0%,"),
)
def stable_under_contamination(source):
    sweep = ("contamination", "contamination", (0.0, 0.1), lambda name: name != "news20", MIN_SETS)
    at, status, data = source.sweep(*sweep)
    return stable(at[0.0]["prenet"] - at[0.1]["prenet"], "from 0% to 10%", status, data)


@claim(
    "Three-way relations are better than two-way ones, TRM, on nearly all data sets, by 5.6% on average.",
    "Sec. 5.6",
    "A mean AUC-PR higher by nine tenths of the figure (for ours, of what the paper's table gives on the "
    "same sets), and higher on at least three quarters of the sets.",
)
def three_way(source):
    return gain_over(source, "trm", share_won=0.75)


@claim(
    "Pairs are better than single instances, iPReNet, on 11 of 12 data sets.",
    "Sec. 5.6",
    "Higher on all sets but at most one; weakened if on more than half.",
)
def pairs_instead_of_instances(source):
    return wins_over(source, "iprenet", but=1)


@claim(
    "Without the feature layer, LDM, the average AUC-PR loses over 10%.",
    "Sec. 5.6",
    "A mean AUC-PR higher by nine tenths of the figure, for ours of what the paper's table gives on the same "
    "sets.",
)
def feature_layer(source):
    return gain_over(source, "ldm")


NOT_BETTER = "PReNet's mean AUC-PR is higher, and its AUC-PR on more than half of the sets."


@claim("Two more hidden layers, A2H, are not better on average.", "Sec. 5.6", NOT_BETTER)
def deeper(source):
    return not_worse_than(source, "a2h")


@claim("Non-linear relations, NPR, are not better on average.", "Sec. 5.6", NOT_BETTER)
def non_linear(source):
    return not_worse_than(source, "npr")


@claim(
    "It is robust in the margin m.",
    "Sec. 5.6",
    STABLE.format(what="AUC-PR with m = 0.5, 1, 2 and 8, against 4,"),
)
def robust_in_margin(source):
    return robust(source, "margin", 4.0, (0.5, 1.0, 2.0, 8.0))


@claim(
    "It works well even with a margin of 0.25.",
    "Sec. 5.6",
    STABLE.format(what="AUC-PR with m = 0.25, against 4,"),
)
def small_margin(source):
    return robust(source, "margin", 4.0, (0.25,))


NAMED_MOVE = "Most of the named sets: AUC-PR {what} by more than 0.01."


@claim(
    "Larger margins are better, especially on thyroid and dos.",
    "Sec. 5.6",
    NAMED_MOVE.format(what="rises from m = 0.25 to m = 8"),
)
def larger_margins(source):
    return moves(source, "margin", 0.25, 8.0, ("thyroid", "dos"), +1)


@claim(
    "It is very stable in the ensemble size E.",
    "Sec. 5.6",
    STABLE.format(what="AUC-PR with E = 1, 5, 10, 20 and 50, against 30,"),
    "E only adds a constant to every score, so no result can depend on it.",
)
def robust_in_ensemble_size(source):
    return robust(source, "ensemble_size", 30.0, (1.0, 5.0, 10.0, 20.0, 50.0))


@claim(
    "It is robust in lambda from 0.001 to 0.01.",
    "Sec. 5.6",
    STABLE.format(what="AUC-PR with lambda = 0.001 and 0.005, against 0.01,"),
)
def robust_in_lambda(source):
    return robust(source, "l2", 0.01, (0.001, 0.005))


@claim(
    "Larger lambda, 0.05 or 0.1, lowers AUC-PR on a few data sets such as rec, bac, news20 and thyroid.",
    "Sec. 5.6",
    NAMED_MOVE.format(what="falls from lambda = 0.01 to 0.1"),
)
def large_lambda(source):
    return moves(source, "l2", 0.01, 0.1, ("rec", "bac", "news20", "thyroid"), -1)


# ---------------------------------------------------------------------------- App. C


@claim("On seen anomalies it is better than XGBOD, PUMAD and FEAWAD on most data sets.", "App. C.1", ON_MOST)
def three_more_on_seen(source):
    return on_most_sets(source, "seen", APPENDIX)


@claim(
    "On unseen anomalies it is better than XGBOD, PUMAD and FEAWAD on most data sets.",
    "App. C.1",
    ON_MOST,
    UNSEEN_COLUMNS,
)
def three_more_on_unseen(source):
    return on_most_sets(source, "unseen", APPENDIX)


@claim("It has the best average rank of all ten methods on seen anomalies.", "App. C.2", BEST_RANK)
def best_rank_on_seen(source):
    return best_rank(source, "seen")


@claim(
    "It has the best average rank of all ten methods on unseen anomalies.",
    "App. C.2",
    BEST_RANK,
    UNSEEN_COLUMNS,
)
def best_rank_on_unseen(source):
    return best_rank(source, "unseen")


@claim(
    "By Conover's test it is significantly better on seen anomalies than all methods but DevNet and DSAD.",
    "App. C.2",
    CONOVER,
)
def conover_on_seen(source):
    return conover_better(source, "seen", but=("devnet", "dsad"))


@claim(
    "By Conover's test it is significantly better on unseen anomalies than all other methods.",
    "App. C.2",
    CONOVER,
    UNSEEN_COLUMNS,
)
def conover_on_unseen(source):
    return conover_better(source, "unseen")


# ---------------------------------------------------------------------------- judging them


def sources_of(results_dir):
    """What every claim is tested on, the paper's own values first."""
    ours = OurTables(results_dir)
    return [PublishedTables(), PublishedTables(ours), ours, OurTables(results_dir, new_draws=True)]


def judged_by(one, source):
    """What one source says about a claim."""
    try:
        return one.judge(source)
    except NotTestable as reason:
        return Finding(UNTESTABLE, str(reason))


def judge_claims(results_dir):
    """All claims of the paper, in its order, each with what every source says about it."""
    sources = sources_of(results_dir)
    return [Judged(one, {source.title: judged_by(one, source) for source in sources}) for one in CLAIMS]


def verdict_counts_of_claims(judged):
    """How many claims have which verdict: a row per source and status of its data, a column per verdict."""
    rows = {}
    for one in judged:
        for title, finding in one.findings.items():
            status = f", {finding.status} data" if finding.status in ("exact", "partial") else ""
            where = f"{title}{status}" if finding.verdict != UNTESTABLE else title
            rows.setdefault(where, dict.fromkeys(CLAIM_VERDICTS, 0))[finding.verdict] += 1
    order = [source.title for source in sources_of("")]
    names = sorted(rows, key=lambda name: next(i for i, title in enumerate(order) if name.startswith(title)))
    return pd.DataFrame([rows[name] for name in names], index=pd.Index(names, name="judged on"))
