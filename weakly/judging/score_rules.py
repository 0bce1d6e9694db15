"""Rules about the scores of Tables 2 and 3: is PReNet better, and on how many data sets?

Each rule takes a source (sources.py) and its subject, and returns a Finding (verdicts.py).
"""

import numpy as np
import pandas as pd

from weakly.judging.cells import BORDER
from weakly.judging.ranks import LEVEL, holm
from weakly.judging.sources import ALL_METHODS, PRINTED, TABLE_METHODS, NotTestable, display, listed
from weakly.judging.statistics import (
    MIN_SETS,
    ONE_PER_UNSEEN_CLASS,
    average_ranks,
    conover,
    sets_won,
    signed_rank_sum,
    smallest_p,
    wilcoxon_p_values,
)
from weakly.judging.verdicts import (
    UNTESTABLE,
    Finding,
    at_half_and_twice,
    by_direction,
    capital,
    of_one,
    of_parts,
    part,
)
from weakly.methods import METHODS
from weakly.numbers import p_text, p_value, signed

COMPARABLE = 0.01  # AUC-PR; the run-to-run spread of most cells
CLEAR_RANKS = 0.5  # by how much the best average rank must be ahead


def direction_text(values, method):
    """`ahead on 6 of 8` or `behind on 5 of 8`; both if the signed ranks say otherwise."""
    won, lost, total = sets_won(values, method)
    rank_sum = signed_rank_sum(values, method)
    if rank_sum * (won - lost) > 0:
        return f"ahead on {won} of {total}" if rank_sum > 0 else f"behind on {lost} of {total}"
    sizes = f"the {'wins' if rank_sum > 0 else 'losses'} are larger" if rank_sum else "equally large"
    return f"{won} wins and {lost} losses on {total}, {sizes}"


def place_of_prenet(values, decimals):
    """PReNet's place and all methods, best first."""
    names = list(values.index)
    return f"PReNet is ranked {names.index('prenet') + 1} of {len(names)}: " + listed(
        f"{METHODS[name].column} {values[name]:.{decimals}f}" for name in names
    )


# ---------------------------------------------------------------------------- over data sets


def significant(source, experiment, methods=TABLE_METHODS, metric="auc_pr", level=LEVEL, levels=None):
    """Every method: PReNet ahead by the signed ranks, and p below the level (Wilcoxon, two-sided, Holm)."""
    scores = source.scores(experiment, metric, methods)
    values, parts = scores.values, []
    uncorrected = wilcoxon_p_values(values)
    for method, p in holm(uncorrected).items():
        is_ahead, is_small = signed_rank_sum(values, method) > 0, p < (levels or {}).get(method, level)
        text = f"{METHODS[method].column} ({direction_text(values, method)}, {p_text(p)}, uncorrected "
        text += f"{p_value(uncorrected[method])}, lead {scores.lead(method)})"
        parts.append(part(text, is_ahead, is_small, is_small))
    words = ("significantly better than {n} of {total}:", "ahead, but not significantly:", "not better than")
    least, n = smallest_p(len(values)), len(parts)
    after = f" The smallest p that {len(values)} sets can give is {least:.2g}, corrected for {n} methods "
    after += f"{min(1, n * least):.2g}."
    start = per_unseen_class(values, experiment)
    return of_parts(parts, words, scores, metric, wanted=methods, start=start, after=after)


def per_unseen_class(values, experiment):
    """On unseen classes the independent comparison comes first: one data set per unseen class."""
    chosen = values[values.index.isin(ONE_PER_UNSEEN_CLASS)]
    if experiment != "unseen" or chosen.empty:
        return ""
    won = {name: sets_won(chosen, name) for name in values.columns.drop("prenet")}
    texts = listed(f"{METHODS[name].column} on {ahead} of {total}" for name, (ahead, _, total) in won.items())
    text = (
        f"one set per unseen class, where no p can be below {smallest_p(len(chosen)):g}: ahead of {texts}. "
    )
    return f"{text}Over all {len(values)} sets, which share rows, so that p is too small: "


def highest_mean(source, experiment, methods=TABLE_METHODS):
    """PReNet has the highest mean, and the interval of its lead over the runner-up is above 0."""
    scores = source.scores(experiment, "auc_pr", methods)
    complete = scores.values.dropna()
    if len(complete) < MIN_SETS:
        few = f"Only {len(complete)} data sets have results for all of {display(scores.values)}"
        raise NotTestable(f"{few}, but at least {MIN_SETS} are needed.")
    scores, means = scores.restricted(complete), complete.mean().sort_values(ascending=False, kind="stable")
    rival = means.drop("prenet").idxmax()
    ahead = scores.lead(rival)
    text = f"{place_of_prenet(means, 3)}; lead over {METHODS[rival].column} {ahead}"
    return of_one(means["prenet"] == means.max(), ahead.low > 0, text, scores, methods)


def best_rank(source, experiment):
    """PReNet has the lowest average rank, and is ahead of the next one by half a rank or more."""
    scores = source.scores(experiment, "auc_pr", ALL_METHODS)
    ranks = average_ranks(scores.values).sort_values("ordinal", kind="stable")["ordinal"]
    gap, text = ranks.drop("prenet").min() - ranks["prenet"], place_of_prenet(ranks, 2)

    def rule(margin):
        return of_one(gap > 0, gap >= margin, text, scores, ALL_METHODS)

    return at_half_and_twice(rule, CLEAR_RANKS, " ranks")


def conover_better(source, experiment, but=()):
    """Every method but some: a better average rank, and significantly so by Conover's test.

    On the data sets that all methods have.
    """
    scores = source.scores(experiment, "auc_pr", ALL_METHODS)
    scores = scores.restricted(scores.values.dropna())
    p_values, ranks = conover(scores.values), average_ranks(scores.values)["ordinal"]
    p_values = p_values.drop([name for name in but if name in p_values]).dropna()
    if p_values.empty:
        needs = f"three methods and {MIN_SETS} data sets that all of them have"
        raise NotTestable(f"Conover's test needs {needs}.")
    parts = []
    for name, p in p_values.items():
        is_ahead, is_small = ranks[name] > ranks["prenet"], p < LEVEL
        text = f"{METHODS[name].column} (rank {ranks[name]:.2f} versus {ranks['prenet']:.2f}, {p_text(p)})"
        parts.append(part(text, is_ahead, is_small, is_small))
    words = (
        "significantly better than {n} of {total}:",
        "a better rank, but not significantly:",
        "not better than",
    )
    return of_parts(parts, words, scores, wanted=[name for name in ALL_METHODS if name not in but])


def on_most_sets(source, experiment, methods):
    """Every method: PReNet's AUC-PR is higher on more than half of the data sets."""
    scores = source.scores(experiment, "auc_pr", ["prenet", *methods])
    parts = []
    for method in scores.values.columns.drop("prenet"):
        won, lost, total = sets_won(scores.values, method)
        text = f"{METHODS[method].column} (ahead on {won}, behind on {lost} of {total}, "
        parts.append(part(f"{text}lead {scores.lead(method)})", won > lost, won > total / 2))
    words = ("better than", "better, but not on most sets, than", "not better than")
    return of_parts(parts, words, scores, wanted=methods)


def nearly_best_everywhere(source, methods=TABLE_METHODS):
    """Every data set: PReNet's AUC-PR is the highest, or at most 0.01 below the highest."""
    scores = source.scores("seen", "auc_pr", methods)
    scores = scores.restricted(scores.values.dropna())
    own, rivals = scores.values["prenet"], scores.values.drop(columns="prenet")

    def rule(tolerance):
        parts = []
        for name, best in rivals.max(axis=1).items():
            text = f"{name} {own[name]:.3f} ({METHODS[rivals.loc[name].idxmax()].column} {best:.3f})"
            parts.append(part(text, own[name] >= best - tolerance - BORDER))
        words = (
            f"the best or within {tolerance:g} of it on {{n}} of {{total}} sets:",
            "",
            "further below the best:",
        )
        return of_parts(parts, words, scores, wanted=methods)

    return at_half_and_twice(rule, COMPARABLE)


# ---------------------------------------------------------------------------- over the runs of single sets


def significant_per_set(source, method, claimed, of=12):
    """PReNet better than a method over the new draws of a set, p < 0.05, on the claimed share of the sets.

    With new draws the runs of two methods are pairs, because they share the split and the labels (Wilcoxon).
    With the authors' draws only the seed differs. That is one draw of the data, which no test over its runs
    can judge: the variation over seeds is reported instead.
    """
    scores = source.scores("seen", "auc_pr", ["prenet", method])
    if scores.status == PRINTED:
        raise NotTestable("The paper prints only means, without single runs or standard deviations.")
    ours, others = (scores.runs_of(name) for name in ("prenet", method))
    gaps = ours - others
    if not source.has_pairs:
        spread = np.hypot(ours.std(axis=1, ddof=0), others.std(axis=1, ddof=0))  # of unrelated runs
        means = zip(gaps.index, ours.mean(axis=1) - others.mean(axis=1), spread)
        text = listed(f"{name} {signed(mean)} ± {std:.3f}" for name, mean, std in means)
        data = f"mean difference ± standard deviation over seeds, AUC-PR, {scores.words}"
        return Finding(UNTESTABLE, f"Seeds of one draw, which is no test: {text} ({data}).", scores.status)
    if gaps.shape[1] < MIN_SETS:
        raise NotTestable(f"This needs {MIN_SETS} runs of each set: run {source.command('seen')}.")
    counts = {"significantly better": [], "no difference": [], "significantly worse": []}
    for name in gaps.index:
        of_set = pd.DataFrame({"prenet": ours.loc[name], method: others.loc[name]})  # runs by methods
        kind = "better" if signed_rank_sum(of_set, method) > 0 else "worse"
        kind = f"significantly {kind}" if wilcoxon_p_values(of_set)[method] < LEVEL else "no difference"
        counts[kind].append(f"{name} {signed(gaps.loc[name].mean())}")
    better, _, worse = map(len, counts.values())
    text = "; ".join(f"{kind} on {len(sets)}: {listed(sets)}" for kind, sets in counts.items())
    data = f"Wilcoxon over {gaps.shape[1]} runs of a set, AUC-PR, {scores.words}"
    verdict = by_direction(better > worse, better / len(gaps) >= claimed / of)
    return Finding(verdict, f"{capital(text)} ({data}).", scores.status)
