"""Rules about the scores of Tables 2 and 3: is PReNet better, and on how many data sets?

Each rule takes a source (sources.py) and its subject, and returns a Finding (verdicts.py).
"""

import pandas as pd
from scipy.stats import mannwhitneyu

from weakly.judging.cells import BORDER
from weakly.judging.ranks import LEVEL, holm
from weakly.judging.sources import (
    ALL_METHODS,
    TABLE_METHODS,
    NotTestable,
    data_in_words,
    display,
    listed,
)
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
    Part,
    at_half_and_twice,
    by_direction,
    capital,
    missing_from,
    not_run,
    of_parts,
    said,
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
        parts.append(Part(by_direction(is_ahead, is_small), text, bool(is_small and not is_ahead)))
    words = ("significantly better than {n} of {total}:", "ahead, but not significantly:", "not better than")
    least, n = smallest_p(len(values)), len(parts)
    after = f" The smallest p that {len(values)} sets can give is {least:.2g}, corrected for {n} methods "
    after += f"{min(1, n * least):.2g}."
    missing, start = missing_from(values, methods), per_unseen_class(values, experiment)
    return of_parts(parts, words, scores, metric, missing=missing, start=start, after=after)


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
    rival, missing = means.drop("prenet").idxmax(), missing_from(complete, methods)
    ahead = scores.lead(rival)
    is_best, is_clear = means["prenet"] == means.max(), ahead.low > 0 and not missing
    text = f"{place_of_prenet(means, 3)}; lead over {METHODS[rival].column} {ahead}{not_run(missing)}"
    return Finding(by_direction(is_best, is_clear), said(text, scores), scores.status)


def best_rank(source, experiment):
    """PReNet has the lowest average rank, and is ahead of the next one by half a rank or more."""
    scores = source.scores(experiment, "auc_pr", ALL_METHODS)
    ranks = average_ranks(scores.values).sort_values("ordinal", kind="stable")["ordinal"]
    gap, missing = ranks.drop("prenet").min() - ranks["prenet"], missing_from(ranks, ALL_METHODS)
    text = said(place_of_prenet(ranks, 2) + not_run(missing), scores)

    def rule(margin):
        return Finding(by_direction(gap > 0, gap >= margin and not missing), text, scores.status)

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
        parts.append(Part(by_direction(is_ahead, is_small), text, bool(is_small and not is_ahead)))
    words = (
        "significantly better than {n} of {total}:",
        "a better rank, but not significantly:",
        "not better than",
    )
    missing = missing_from(scores.values, [name for name in ALL_METHODS if name not in but])
    return of_parts(parts, words, scores, missing=missing)


def on_most_sets(source, experiment, methods):
    """Every method: PReNet's AUC-PR is higher on more than half of the data sets."""
    scores = source.scores(experiment, "auc_pr", ["prenet", *methods])
    parts = []
    for method in scores.values.columns.drop("prenet"):
        won, lost, total = sets_won(scores.values, method)
        text = f"{METHODS[method].column} (ahead on {won}, behind on {lost} of {total}, "
        parts.append(Part(by_direction(won > lost, won > total / 2), f"{text}lead {scores.lead(method)})"))
    words = ("better than", "better, but not on most sets, than", "not better than")
    return of_parts(parts, words, scores, missing=missing_from(scores.values, methods))


def nearly_best_everywhere(source, methods=TABLE_METHODS):
    """Every data set: PReNet's AUC-PR is the highest, or at most 0.01 below the highest."""
    scores = source.scores("seen", "auc_pr", methods)
    complete = scores.values.dropna()
    rivals, missing = complete.drop(columns="prenet"), missing_from(complete, methods)

    def rule(tolerance):
        parts = []
        for name, best in rivals.max(axis=1).items():
            own, rival = complete.at[name, "prenet"], METHODS[rivals.loc[name].idxmax()].column
            verdict = by_direction(own >= best - tolerance - BORDER)
            parts.append(Part(verdict, f"{name} {own:.3f} ({rival} {best:.3f})"))
        words = (
            f"the best or within {tolerance:g} of it on {{n}} of {{total}} sets:",
            "",
            "further below the best:",
        )
        return of_parts(parts, words, scores.restricted(complete), missing=missing)

    return at_half_and_twice(rule, COMPARABLE)


# ---------------------------------------------------------------------------- over the runs of single sets


def significant_per_set(source, method, claimed, of=12):
    """PReNet better than a method over the new draws of a set, p < 0.05, on the claimed share of the sets.

    With new draws the runs of two methods are pairs, because they share the split and the labels (Wilcoxon).
    With the authors' draws only the seed differs: the runs are one draw of the data, so that a test over them
    (Mann-Whitney) is about the variation over seeds, and not about the data set.
    """
    runs = source.runs("seen", ["prenet", method])
    n_sets, n_runs = runs["prenet"].shape
    if min(n_sets, n_runs) < MIN_SETS:
        needed = f"This needs {MIN_SETS} exact data sets with {MIN_SETS} runs each"
        raise NotTestable(f"{needed}: run {source.command('seen')}.")
    counts = {"significantly better": [], "no difference": [], "significantly worse": []}
    for name in runs["prenet"].index:
        of_set = pd.DataFrame({other: values.loc[name] for other, values in runs.items()})  # runs by methods
        p, is_above = paired_test(of_set, method) if source.has_pairs else unpaired_test(of_set, method)
        kind = f"significantly {'better' if is_above else 'worse'}" if p < LEVEL else "no difference"
        counts[kind].append(f"{name} {signed((of_set['prenet'] - of_set[method]).mean())}")
    better, _, worse = map(len, counts.values())
    text = "; ".join(f"{kind} on {len(sets)}: {listed(sets)}" for kind, sets in counts.items())
    data = f"over {n_runs} runs of a set, AUC-PR, {data_in_words(n_sets, 'exact')}"
    if not source.has_pairs:
        start = "Not a test of data sets, but variation over seeds"
        return Finding(UNTESTABLE, f"{start}: {text} (Mann-Whitney {data}).", "exact")
    verdict = by_direction(better > worse, better / n_sets >= claimed / of)
    return Finding(verdict, f"{capital(text)} (Wilcoxon {data}).", "exact")


def paired_test(runs, method):
    """p-value over the runs of one data set as pairs, and whether PReNet is above by the signed ranks."""
    return wilcoxon_p_values(runs)[method], signed_rank_sum(runs, method) > 0


def unpaired_test(runs, method):
    """p-value over the runs of one data set as two samples, and whether PReNet is above by the ranks."""
    ours, others = runs["prenet"].dropna(), runs[method].dropna()
    statistic, p = mannwhitneyu(ours, others)
    return p, statistic > len(ours) * len(others) / 2
