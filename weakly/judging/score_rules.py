"""Rules about the scores of Tables 2 to 4: is PReNet better, by how much, on how many data sets?

Each rule takes a source (sources.py) and its subject, and returns a Finding (verdicts.py).
"""

import pandas as pd
from scipy.stats import mannwhitneyu

from weakly.judging.cells import BORDER
from weakly.judging.ranks import LEVEL
from weakly.judging.sources import NotTestable, data_in_words, display, listed
from weakly.judging.statistics import (
    MIN_SETS,
    agrees,
    as_quoted,
    average_ranks,
    conover,
    improvements,
    published_scores,
    quoted,
    sets_won,
    signed_rank_sum,
    smallest_p,
    wilcoxon_p_values,
)
from weakly.judging.verdicts import (
    CONTRADICTED,
    SUPPORTED,
    WEAKENED,
    Finding,
    Part,
    at_half_and_twice,
    by_direction,
    capital,
    counted,
    grouped,
    missing_from,
    not_run,
    of_every,
    of_most,
    said,
)
from weakly.methods import METHODS, method_group
from weakly.numbers import p_text, signed

TABLE_METHODS = method_group("table")  # PReNet and the six competing methods of Tables 2 and 3
ALL_METHODS = method_group("table", "appendix")  # and the three of App. C.1
WITH_LABELS = [name for name in TABLE_METHODS if METHODS[name].uses_labels]
COMPARABLE = 0.01  # AUC-PR; the run-to-run spread of most cells
SHORTFALL = 0.1  # the share of a quoted improvement that may be missing
POINTS = 1.0  # percentage points by which a quoted improvement on a single set may be missed
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


def significant(source, experiment, metric="auc_pr", methods=TABLE_METHODS, levels=None, level=LEVEL):
    """Every method: PReNet ahead by the signed ranks, and p below the level (Wilcoxon, two-sided)."""
    scores = source.scores(experiment, metric, methods)
    values, parts = scores.values, []
    for method, p_value in wilcoxon_p_values(values).items():
        is_ahead, is_small = signed_rank_sum(values, method) > 0, p_value < (levels or {}).get(method, level)
        text = f"{METHODS[method].column} ({direction_text(values, method)}, {p_text(p_value)}, "
        text += f"lead {scores.lead(method)})"
        parts.append(Part(by_direction(is_ahead, is_small), text, bool(is_small and not is_ahead)))
    words = {
        SUPPORTED: f"significantly better than {counted(parts, SUPPORTED)} of {len(parts)}:",
        WEAKENED: "ahead, but not significantly:",
        CONTRADICTED: "not better than",
    }
    missing = missing_from(values, methods)
    text = said(grouped(parts, words) + not_run(missing), scores, metric)
    text += f" The smallest p that {len(values)} sets can give is {smallest_p(len(values)):.2g}."
    return Finding(of_every(parts, missing), text, scores.status)


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
        raise NotTestable(
            f"Conover's test needs three methods and {MIN_SETS} data sets that all of them have."
        )
    parts = []
    for name, p_value in p_values.items():
        is_ahead, is_small = ranks[name] > ranks["prenet"], p_value < LEVEL
        rank = f"rank {ranks[name]:.2f} versus {ranks['prenet']:.2f}"
        text = f"{METHODS[name].column} ({rank}, {p_text(p_value)})"
        parts.append(Part(by_direction(is_ahead, is_small), text, bool(is_small and not is_ahead)))
    words = {
        SUPPORTED: f"significantly better than {counted(parts, SUPPORTED)} of {len(parts)}:",
        WEAKENED: "a better rank, but not significantly:",
        CONTRADICTED: "not better than",
    }
    missing = missing_from(scores.values, [name for name in ALL_METHODS if name not in but])
    text = said(grouped(parts, words) + not_run(missing), scores)
    return Finding(of_every(parts, missing), text, scores.status)


def on_most_sets(source, experiment, methods):
    """Every method: PReNet's AUC-PR is higher on more than half of the data sets."""
    scores = source.scores(experiment, "auc_pr", ["prenet", *methods])
    parts = []
    for method in scores.values.columns.drop("prenet"):
        won, lost, total = sets_won(scores.values, method)
        text = f"{METHODS[method].column} (ahead on {won}, behind on {lost} of {total}, "
        parts.append(Part(by_direction(won > lost, won > total / 2), f"{text}lead {scores.lead(method)})"))
    words = {
        SUPPORTED: "better than",
        WEAKENED: "better, but not on most sets, than",
        CONTRADICTED: "not better than",
    }
    missing = missing_from(scores.values, methods)
    text = said(grouped(parts, words) + not_run(missing), scores)
    return Finding(of_every(parts, missing), text, scores.status)


def nearly_best_everywhere(source, methods=TABLE_METHODS):
    """Every data set: PReNet's AUC-PR is the highest, or at most 0.01 below the highest."""
    scores = source.scores("seen", "auc_pr", methods)
    complete = scores.values.dropna()
    rivals, missing = complete.drop(columns="prenet"), missing_from(complete, methods)

    def rule(tolerance):
        parts = []
        for name, best in rivals.max(axis=1).items():
            own, rival = complete.at[name, "prenet"], METHODS[rivals.loc[name].idxmax()].column
            verdict = SUPPORTED if own >= best - tolerance - BORDER else CONTRADICTED
            parts.append(Part(verdict, f"{name} {own:.3f} ({rival} {best:.3f})"))
        near = f"the best or within {tolerance:g} of it"
        words = {
            SUPPORTED: f"{near} on {counted(parts, SUPPORTED)} of {len(parts)} sets:",
            CONTRADICTED: "further below the best:",
        }
        text = said(grouped(parts, words) + not_run(missing), scores.restricted(complete))
        return Finding(of_every(parts, missing), text, scores.status)

    return at_half_and_twice(rule, COMPARABLE)


# ---------------------------------------------------------------------------- improvements in per cent


def improved_as_quoted(source, experiment, metric="auc_pr"):
    """Every method: PReNet's mean is above its mean by nine tenths of the quoted figure or more.

    Ours is compared with the figure that the paper's table gives on the same data sets.
    """
    scores = source.scores(experiment, metric, TABLE_METHODS)
    gains, figures = improvements(scores.values), quoted(experiment, metric).set_index("method")["value"]
    printed = improvements(published_scores(experiment, metric, scores.values.index))
    gains = gains[gains.index.isin(figures.index) & printed.reindex(gains.index).notna()].dropna()
    if gains.empty:
        raise NotTestable(f"None of {display(figures.index)} has enough data sets.")
    if source.is_yardstick:
        here = listed(f"{METHODS[name].column} {signed(gain, 1)}%" for name, gain in gains.items())
        raise NotTestable(f"Ours are compared with: {here}.")

    def rule(shortfall):
        parts = []
        for name, gain in gains.items():
            target, where = figures[name], f"{figures[name]:g}% quoted"
            if scores.status != "printed":
                target, where = printed[name], f"{printed[name]:.1f}% in the paper's table on these sets"
            verdict = by_direction(gain > 0, gain >= (1 - shortfall) * target)
            parts.append(Part(verdict, f"{METHODS[name].column} {signed(gain, 1)}% ({where})"))
        words = {
            SUPPORTED: f"as much as claimed over {counted(parts, SUPPORTED)} of {len(parts)}:",
            WEAKENED: "less:",
            CONTRADICTED: "no improvement:",
        }
        missing = missing_from(gains, figures.index)
        text = said(grouped(parts, words) + not_run(missing), scores, metric)
        return Finding(of_every(parts, missing), text, scores.status)

    return at_half_and_twice(rule, SHORTFALL, " of the figure")


def disagreements(experiment, metric="auc_pr"):
    """Where the figures in the text differ from the paper's own table, as a sentence."""
    figures = quoted(experiment, metric).set_index("method")
    in_table = improvements(published_scores(experiment, metric))
    wrong = []
    for name, row in figures.iterrows():
        value = as_quoted(row["kind"], in_table[name])
        if not agrees(row["kind"], row["value"], value):
            wrong.append(
                f"{METHODS[name].column} is {value:.1f}% in the table, {row['value']:g}% in the text"
            )
    return f"In the paper itself, {listed(wrong)}." if wrong else ""


def larger_than_over_devnet(source, experiment):
    """Every other deep method: PReNet's improvement over it is larger than that over DevNet."""
    scores = source.scores(experiment, "auc_pr", WITH_LABELS)
    gains = improvements(scores.values)
    if "devnet" not in gains:
        raise NotTestable("DevNet was not run.")
    parts = [
        Part(
            SUPPORTED if gain > gains["devnet"] else CONTRADICTED,
            f"{METHODS[name].column} {signed(gain, 1)}%",
        )
        for name, gain in gains.drop("devnet").items()
    ]
    missing = missing_from(gains, WITH_LABELS[1:])
    text = f"over DevNet {signed(gains['devnet'], 1)}%; "
    text += grouped(parts, {SUPPORTED: "more over", CONTRADICTED: "not more over"}) + not_run(missing)
    return Finding(of_every(parts, missing), said(text, scores), scores.status)


def improved_per_set(source, experiment, method):
    """Most of the named sets: PReNet above a method by the quoted per cent, to within a point."""
    figures = quoted(experiment, per_set=True)
    figures = figures[figures["method"] == method].set_index("dataset")["value"]
    scores = source.scores(experiment, "auc_pr", ["prenet", method], at_least=1)
    pairs = scores.values.loc[scores.values.index.isin(figures.index)].dropna()
    gains = 100 * (pairs["prenet"] / pairs[method] - 1)

    def rule(points):
        parts = [
            Part(
                by_direction(gain > 0, gain >= figures[name] - points - BORDER),
                f"{name} {signed(gain, 1)}% (claimed {figures[name]:g}%)",
            )
            for name, gain in gains.items()
        ]
        words = {SUPPORTED: "as claimed:", WEAKENED: "better, but by less:", CONTRADICTED: "not better:"}
        head = f"{len(parts)} of the {len(figures)} named sets tested; {grouped(parts, words)}"
        return Finding(of_most(parts), said(head, scores), scores.status)

    return at_half_and_twice(rule, POINTS, " percentage point")


# ---------------------------------------------------------------------------- over the runs of single sets


def significant_per_set(source, method, claimed, of=12):
    """PReNet better than a method over the runs of a set, p < 0.05, on the claimed share of the sets.

    With new draws the runs of two methods are pairs, because they share the split and the labels (Wilcoxon).
    With the authors' draws only the seed differs, and run r of one method is unrelated to run r of another
    (Mann-Whitney).
    """
    runs = source.runs("seen", ["prenet", method])
    n_sets, n_runs = runs["prenet"].shape
    if min(n_sets, n_runs) < MIN_SETS:
        needed = f"This needs {MIN_SETS} exact data sets with {MIN_SETS} runs each"
        raise NotTestable(f"{needed}: run {source.command('seen')}.")
    counts = {"significantly better": [], "no difference": [], "significantly worse": []}
    for name in runs["prenet"].index:
        of_set = pd.DataFrame({other: values.loc[name] for other, values in runs.items()})  # runs by methods
        p_value, is_above = paired_test(of_set, method) if source.has_pairs else unpaired_test(of_set, method)
        kind = "no difference"
        if p_value < LEVEL:
            kind = f"significantly {'better' if is_above else 'worse'}"
        counts[kind].append(f"{name} {signed((of_set['prenet'] - of_set[method]).mean())}")
    better, _, worse = map(len, counts.values())
    texts = "; ".join(f"{kind} on {len(sets)}: {listed(sets)}" for kind, sets in counts.items())
    test = "Wilcoxon" if source.has_pairs else "Mann-Whitney"
    data = f"{test} over {n_runs} runs of a set, AUC-PR, {data_in_words(n_sets, 'exact')}"
    verdict = by_direction(better > worse, better / n_sets >= claimed / of)
    return Finding(verdict, f"{capital(texts)} ({data}).", "exact")


def paired_test(runs, method):
    """p-value over the runs of one data set as pairs, and whether PReNet is above by the signed ranks."""
    return wilcoxon_p_values(runs)[method], signed_rank_sum(runs, method) > 0


def unpaired_test(runs, method):
    """p-value over the runs of one data set as two samples, and whether PReNet is above by the ranks."""
    ours, others = runs["prenet"].dropna(), runs[method].dropna()
    statistic, p_value = mannwhitneyu(ours, others)
    return p_value, statistic > len(ours) * len(others) / 2
