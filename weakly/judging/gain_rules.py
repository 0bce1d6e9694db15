"""Rules about improvements: of the mean in per cent, on single data sets, over variants (Table 4)."""

from weakly.judging.cells import BORDER
from weakly.judging.score_rules import direction_text
from weakly.judging.sources import TABLE_METHODS, WITH_LABELS, NotTestable, display, listed
from weakly.judging.statistics import (
    improvements,
    published_scores,
    quoted,
    sets_won,
    wilcoxon_p_values,
)
from weakly.judging.verdicts import (
    Finding,
    at_half_and_twice,
    capital,
    grouped,
    of_every,
    of_most,
    of_one,
    of_parts,
    part,
)
from weakly.methods import METHODS
from weakly.numbers import p_text, signed

SHORTFALL = 0.1  # the share of a quoted improvement that may be missing
POINTS = 1.0  # percentage points by which a quoted improvement on a single set may be missed


def claimed_gains(scores, experiment, metric="auc_pr"):
    """The quoted improvements over each method; for our runs, those of the paper's table on the same sets."""
    figures = quoted(experiment, metric).set_index("method")
    if scores.status != "printed":
        printed = improvements(published_scores(experiment, metric, scores.values.index))
        return printed[printed.index.isin(figures.index)].dropna()
    return figures["gain"]


def improved_as_quoted(source, experiment, metric="auc_pr"):
    """Every method: PReNet's mean is above its mean by nine tenths of the quoted figure or more."""
    scores = source.scores(experiment, metric, TABLE_METHODS)
    gains, claimed = improvements(scores.values), claimed_gains(scores, experiment, metric)
    gains = gains[gains.index.isin(claimed.index)].dropna()
    figures = quoted(experiment, metric)["method"]
    if gains.empty:
        raise NotTestable(f"None of {display(figures)} has enough data sets.")
    if source.is_yardstick:
        here = listed(f"{METHODS[name].column} {signed(gain, 1)}%" for name, gain in gains.items())
        raise NotTestable(f"Ours are compared with: {here}.")
    where = "{:g}% quoted" if scores.status == "printed" else "{:.1f}% in the paper's table on these sets"

    def rule(shortfall):
        parts = []
        for name, gain in gains.items():
            text = f"{METHODS[name].column} {signed(gain, 1)}% ({where.format(claimed[name])})"
            parts.append(part(text, gain > 0, gain >= (1 - shortfall) * claimed[name]))
        words = ("as much as claimed over {n} of {total}:", "less:", "no improvement:")
        return of_parts(parts, words, scores, metric, wanted=figures)

    return at_half_and_twice(rule, SHORTFALL, " of the figure")


def larger_than_over_devnet(source, experiment):
    """Every other deep method: PReNet's improvement over it is larger than that over DevNet."""
    scores = source.scores(experiment, "auc_pr", WITH_LABELS)
    gains = improvements(scores.values)
    if "devnet" not in gains:
        raise NotTestable("DevNet was not run.")
    others = gains.drop("devnet").items()
    parts = [part(f"{METHODS[n].column} {signed(gain, 1)}%", gain > gains["devnet"]) for n, gain in others]
    words, start = ("more over", "", "not more over"), signed(gains["devnet"], 1)
    return of_parts(parts, words, scores, wanted=WITH_LABELS, start=f"over DevNet {start}%; ")


def improved_per_set(source, experiment, method):
    """Most of the named sets: PReNet above a method by the quoted per cent, to within a point."""
    figures = quoted(experiment, per_set=True)
    figures = figures[figures["method"] == method].set_index("dataset")["value"]
    scores = source.scores(experiment, "auc_pr", ["prenet", method], at_least=1)
    pairs = scores.values.loc[scores.values.index.isin(figures.index)].dropna()
    gains = 100 * (pairs["prenet"] / pairs[method] - 1)

    def rule(points):
        parts = []
        for name, gain in gains.items():
            text = f"{name} {signed(gain, 1)}% (claimed {figures[name]:g}%)"
            parts.append(part(text, gain > 0, gain >= figures[name] - points - BORDER))
        words = ("as claimed:", "better, but by less:", "not better:")
        start = f"{len(parts)} of the {len(figures)} named sets tested; "
        return of_parts(parts, words, scores, combine=of_most, start=start)

    return at_half_and_twice(rule, POINTS, " percentage point")


# ---------------------------------------------------------------------------- variants of PReNet


def against(scores, variant):
    """PReNet compared with a variant: gain in per cent, sets won, sets, text."""
    values = scores.values
    gain, (won, _, total) = improvements(values)[variant], sets_won(values, variant)
    means, name = values[["prenet", variant]].dropna().mean(), METHODS[variant].column
    text = f"mean {means['prenet']:.3f} versus {name}'s {means[variant]:.3f} ({signed(gain, 1)}%)"
    text += f", {direction_text(values, variant)}, {p_text(wilcoxon_p_values(values)[variant])}"
    return gain, won, total, f"{text}, lead {scores.lead(variant)}"


def gain_over_variant(source, variant, share_won=0.0):
    """PReNet's mean is above a variant's by nine tenths of the claimed gain, and on enough of the sets."""
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    gain, won, total, text = against(scores, variant)
    if source.is_yardstick:
        raise NotTestable(f"Ours is compared with: {text}.")
    target = claimed_gains(scores, "ablation")[variant]
    loss = f"a loss of {100 - 100 / (1 + gain / 100):.1f}%: " if variant == "ldm" else ""

    def rule(shortfall):
        is_enough = gain >= (1 - shortfall) * target and won >= share_won * total
        return of_one(gain > 0, is_enough, f"{loss}{text}; claimed {signed(target, 1)}%", scores)

    return at_half_and_twice(rule, SHORTFALL, " of the figure")


def better_than_variant(source, variant, all_but=None):
    """PReNet's mean is above a variant's and its AUC-PR on most sets, or the latter on all sets but a few."""
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    gain, won, total, text = against(scores, variant)
    is_on_most = won > total / 2
    if all_but is None:
        return of_one(gain > 0, is_on_most, text, scores)
    return of_one(is_on_most, won >= total - all_but, text, scores)


def one_layer_is_better(source, methods):
    """Every method: the mean with one hidden layer is above that with two, and on most of the sets."""
    values, parts = source.interpretations(methods), []
    for name in methods:
        base = METHODS[name].interpretation_of
        pairs = values.reindex(columns=[base, name]).dropna()
        if pairs.empty:
            continue
        means, won = pairs.mean(), int((pairs[base] > pairs[name]).sum())
        text = f"{METHODS[base].column} ({means[base]:.3f} versus {means[name]:.3f} with two, "
        text += f"better with one on {won} of {len(pairs)} sets)"
        parts.append(part(text, means[base] > means[name], won > len(pairs) / 2))
    words = ("one layer is better for", "on average only for", "not for")
    verdict = of_every(parts, [name for name in methods if name not in values])
    return Finding(verdict, f"{capital(grouped(parts, words))} (AUC-PR, exact data).", "exact")
