"""Rules about Tables 2 to 4: is PReNet better, by how much, and on how many data sets?

Each rule takes a source (sources.py) and its subject, and returns a Finding (verdicts.py).
"""

import numpy as np
import pandas as pd

from weakly.judging import statistics
from weakly.judging.cells import BORDER
from weakly.judging.ranks import LEVEL, holm
from weakly.judging.sources import ALL_METHODS, PRINTED, TABLE_METHODS, NotTestable, display, listed
from weakly.judging.statistics import MIN_SETS, improvements, sets_won, signed_rank_sum, wilcoxon_p_values
from weakly.judging.verdicts import UNTESTABLE, Finding, Part, at_half_and_twice, finding_on
from weakly.methods import METHODS
from weakly.numbers import p_text, p_value, signed

COMPARABLE = 0.01  # AUC-PR; the run-to-run spread of most cells
CLEAR_RANKS = 0.5  # by how much the best average rank must be ahead
SHORTFALL = 0.1  # the share of a quoted improvement that may be missing
POINTS = 1.0  # percentage points by which a quoted improvement on a single set may be missed


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
    shown = listed(f"{METHODS[name].column} {values[name]:.{decimals}f}" for name in names)
    return f"PReNet is ranked {names.index('prenet') + 1} of {len(names)}: {shown}"


def significant(source, experiment, methods=TABLE_METHODS, metric="auc_pr", level=LEVEL, levels=None):
    """Every method: PReNet ahead by the signed ranks, and p below the level (Wilcoxon, two-sided, Holm)."""
    scores = source.scores(experiment, metric, methods)
    values, parts = scores.values, []
    uncorrected = wilcoxon_p_values(values)
    for method, p in holm(uncorrected).items():
        is_ahead, is_small = signed_rank_sum(values, method) > 0, p < (levels or {}).get(method, level)
        text = f"{METHODS[method].column} ({direction_text(values, method)}, {p_text(p)}, uncorrected "
        text += f"{p_value(uncorrected[method])}, lead {scores.lead(method)})"
        parts.append(Part(text, is_ahead, is_small, is_small))
    words = ("significantly better than {n} of {total}:", "ahead, but not significantly:", "not better than")
    least, n = statistics.smallest_p(len(values)), len(parts)
    after = f" The smallest p that {len(values)} sets can give is {least:.2g}, corrected for {n} methods "
    after += f"{min(1, n * least):.2g}."
    start = per_unseen_class(values) if experiment == "unseen" else ""
    return finding_on(parts, scores, words, methods, metric, start=start, after=after)


def per_unseen_class(values):
    """On unseen classes the independent comparison comes first: one data set per unseen class."""
    chosen = values[values.index.isin(statistics.ONE_PER_UNSEEN_CLASS)]
    if chosen.empty:
        return ""
    won = {name: sets_won(chosen, name) for name in values.columns.drop("prenet")}
    texts = listed(f"{METHODS[name].column} on {ahead} of {total}" for name, (ahead, _, total) in won.items())
    text = f"one set per unseen class, where no p can be below {statistics.smallest_p(len(chosen)):g}: ahead "
    return f"{text}of {texts}. Over all {len(values)} sets, which share rows, so that p is too small: "


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
    return finding_on([Part(text, means["prenet"] == means.max(), ahead.low > 0)], scores, wanted=methods)


def best_rank(source, experiment):
    """PReNet has the lowest average rank, and is ahead of the next one by half a rank or more."""
    scores = source.scores(experiment, "auc_pr", ALL_METHODS)
    ranks = statistics.average_ranks(scores.values)["ordinal"].sort_values(kind="stable")
    gap, text = ranks.drop("prenet").min() - ranks["prenet"], place_of_prenet(ranks, 2)

    def rule(margin):
        return finding_on([Part(text, gap > 0, gap >= margin)], scores, wanted=ALL_METHODS)

    return at_half_and_twice(rule, CLEAR_RANKS, " ranks")


def conover_better(source, experiment, but=()):
    """Every method but some: a better average rank, and significantly so by Conover's test.

    On the data sets that all methods have.
    """
    scores = source.scores(experiment, "auc_pr", ALL_METHODS)
    scores = scores.restricted(scores.values.dropna())
    ranks = statistics.average_ranks(scores.values)["ordinal"]
    parts = []
    for name, p in statistics.conover(scores.values).drop(list(but), errors="ignore").dropna().items():
        text = f"{METHODS[name].column} (rank {ranks[name]:.2f} versus {ranks['prenet']:.2f}, {p_text(p)})"
        parts.append(Part(text, ranks[name] > ranks["prenet"], p < LEVEL, p < LEVEL))
    if not parts:
        needs = f"three methods and {MIN_SETS} data sets that all of them have"
        raise NotTestable(f"Conover's test needs {needs}.")
    start = "significantly better than {n} of {total}:"
    words = (start, "a better rank, but not significantly:", "not better than")
    return finding_on(parts, scores, words, [name for name in ALL_METHODS if name not in but])


def on_most_sets(source, experiment, methods):
    """Every method: PReNet's AUC-PR is higher on more than half of the data sets."""
    scores = source.scores(experiment, "auc_pr", ["prenet", *methods])
    parts = []
    for method in scores.values.columns.drop("prenet"):
        won, lost, total = sets_won(scores.values, method)
        text = f"{METHODS[method].column} (ahead on {won}, behind on {lost} of {total}, "
        parts.append(Part(f"{text}lead {scores.lead(method)})", won > lost, won > total / 2))
    words = ("better than", "better, but not on most sets, than", "not better than")
    return finding_on(parts, scores, words, methods)


def nearly_best_everywhere(source, methods=TABLE_METHODS):
    """Every data set: PReNet's AUC-PR is the highest, or at most 0.01 below the highest."""
    scores = source.scores("seen", "auc_pr", methods)
    scores = scores.restricted(scores.values.dropna())
    own, rivals = scores.values["prenet"], scores.values.drop(columns="prenet")

    def rule(tolerance):
        parts = []
        for name, best in rivals.max(axis=1).items():
            text = f"{name} {own[name]:.3f} ({METHODS[rivals.loc[name].idxmax()].column} {best:.3f})"
            parts.append(Part(text, own[name] >= best - tolerance - BORDER))
        near = f"the best or within {tolerance:g} of it on {{n}} of {{total}} sets:"
        return finding_on(parts, scores, (near, "", "further below the best:"), methods)

    return at_half_and_twice(rule, COMPARABLE)


def significant_per_set(source, method, claimed, of=12):
    """PReNet better than a method over the new draws of a set, p < 0.05, on the claimed share of the sets.

    With new draws the runs of two methods are pairs, because they share the split and the labels. With the
    authors' draws only the seed differs, which no test can judge: the variation over seeds is reported.
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
    verdict = Part(text, better > worse, better / len(gaps) >= claimed / of).verdict
    return Finding(verdict, f"{text[0].upper()}{text[1:]} ({data}).", scores.status)


def claimed_gains(scores, experiment, metric="auc_pr"):
    """The quoted improvements over each method; for our runs, those of the paper's table on the same sets."""
    figures = statistics.quoted(experiment, metric).set_index("method")["gain"]
    if scores.status == PRINTED:
        return figures
    printed = improvements(statistics.published_scores(experiment, metric, scores.values.index))
    return printed[printed.index.isin(figures.index)].dropna()


def improved_as_quoted(source, experiment, metric="auc_pr"):
    """Every method: PReNet's mean is above its mean by nine tenths of the quoted figure or more."""
    scores = source.scores(experiment, metric, TABLE_METHODS)
    gains, claimed = improvements(scores.values), claimed_gains(scores, experiment, metric)
    gains = gains[gains.index.isin(claimed.index)].dropna()
    figures = statistics.quoted(experiment, metric)["method"]
    if gains.empty:
        raise NotTestable(f"None of {display(figures)} has enough data sets.")
    if source.is_yardstick:
        here = listed(f"{METHODS[name].column} {signed(gain, 1)}%" for name, gain in gains.items())
        raise NotTestable(f"Ours are compared with: {here}.")
    where = "{:g}% quoted" if scores.status == PRINTED else "{:.1f}% in the paper's table on these sets"

    def rule(shortfall):
        parts = []
        for name, gain in gains.items():
            text = f"{METHODS[name].column} {signed(gain, 1)}% ({where.format(claimed[name])})"
            parts.append(Part(text, gain > 0, gain >= (1 - shortfall) * claimed[name]))
        words = ("as much as claimed over {n} of {total}:", "less:", "no improvement:")
        return finding_on(parts, scores, words, figures, metric)

    return at_half_and_twice(rule, SHORTFALL, " of the figure")


def larger_than_over_devnet(source, experiment, methods):
    """Every other deep method: PReNet's improvement over it is larger than that over DevNet."""
    scores = source.scores(experiment, "auc_pr", methods)
    gains = improvements(scores.values)
    if "devnet" not in gains:
        raise NotTestable("DevNet was not run.")
    others = gains.drop("devnet").items()
    parts = [Part(f"{METHODS[n].column} {signed(gain, 1)}%", gain > gains["devnet"]) for n, gain in others]
    words, start = ("more over", "", "not more over"), f"over DevNet {signed(gains['devnet'], 1)}%; "
    return finding_on(parts, scores, words, methods, start=start)


def improved_per_set(source, experiment, method):
    """Most of the named sets: PReNet above a method by the quoted per cent, to within a point."""
    figures = statistics.quoted(experiment, per_set=True)
    figures = figures[figures["method"] == method].set_index("dataset")["value"]
    scores = source.scores(experiment, "auc_pr", ["prenet", method], at_least=1)
    pairs = scores.values.loc[scores.values.index.isin(figures.index)].dropna()
    gains = 100 * (pairs["prenet"] / pairs[method] - 1)

    def rule(points):
        parts = []
        for name, gain in gains.items():
            text = f"{name} {signed(gain, 1)}% (claimed {figures[name]:g}%)"
            parts.append(Part(text, gain > 0, gain >= figures[name] - points - BORDER))
        words = ("as claimed:", "better, but by less:", "not better:")
        start = f"{len(parts)} of the {len(figures)} named sets tested; "
        return finding_on(parts, scores, words, is_of_most=True, start=start)

    return at_half_and_twice(rule, POINTS, " percentage point")


def against(source, variant):
    """PReNet compared with a variant: the scores, gain in per cent, sets won, sets, text."""
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    values = scores.values
    gain, (won, _, total) = improvements(values)[variant], sets_won(values, variant)
    means, name = values.dropna().mean(), METHODS[variant].column
    text = f"mean {means['prenet']:.3f} versus {name}'s {means[variant]:.3f} ({signed(gain, 1)}%)"
    text += f", {direction_text(values, variant)}, {p_text(wilcoxon_p_values(values)[variant])}"
    return scores, gain, won, total, f"{text}, lead {scores.lead(variant)}"


def gain_over_variant(source, variant, share_won=0.0):
    """PReNet's mean is above a variant's by nine tenths of the claimed gain, and on enough of the sets."""
    scores, gain, won, total, text = against(source, variant)
    if source.is_yardstick:
        raise NotTestable(f"Ours is compared with: {text}.")
    target = claimed_gains(scores, "ablation")[variant]
    loss = f"a loss of {100 - 100 / (1 + gain / 100):.1f}%: " if variant == "ldm" else ""
    text = f"{loss}{text}; claimed {signed(target, 1)}%"

    def rule(shortfall):
        is_enough = gain >= (1 - shortfall) * target and won >= share_won * total
        return finding_on([Part(text, gain > 0, is_enough)], scores)

    return at_half_and_twice(rule, SHORTFALL, " of the figure")


def better_than_variant(source, variant, all_but=None):
    """PReNet's mean is above a variant's and its AUC-PR on most sets, or the latter on all sets but a few."""
    scores, gain, won, total, text = against(source, variant)
    is_on_most = won > total / 2
    holds = (gain > 0, is_on_most) if all_but is None else (is_on_most, won >= total - all_but)
    return finding_on([Part(text, *holds)], scores)


def one_layer_is_better(source, methods):
    """Every method: the mean with one hidden layer is above that with two, and on most of the sets."""
    scores, parts = source.interpretations(methods), []
    for name in methods:
        base = METHODS[name].interpretation_of
        pairs = scores.values.reindex(columns=[base, name]).dropna()
        if len(pairs):
            means, won = pairs.mean(), int((pairs[base] > pairs[name]).sum())
            text = f"{METHODS[base].column} ({means[base]:.3f} versus {means[name]:.3f} with two, "
            text += f"better with one on {won} of {len(pairs)} sets)"
            parts.append(Part(text, means[base] > means[name], won > len(pairs) / 2))
    return finding_on(parts, scores, ("one layer is better for", "on average only for", "not for"), methods)
