"""Rules about variants of PReNet and of the other deep methods: Table 4, and one hidden layer or two."""

from weakly.judging.score_rules import SHORTFALL, direction_text
from weakly.judging.sources import NotTestable
from weakly.judging.statistics import (
    as_quoted,
    improvements,
    published_scores,
    quoted,
    sets_won,
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
    grouped,
    missing_from,
    of_every,
    said,
)
from weakly.methods import METHODS
from weakly.numbers import p_text, signed


def against(scores, variant):
    """PReNet compared with a variant: gain in per cent, sets won, sets, text."""
    values = scores.values
    gain, (won, _, total) = improvements(values)[variant], sets_won(values, variant)
    means, name = values[["prenet", variant]].dropna().mean(), METHODS[variant].column
    text = f"mean {means['prenet']:.3f} versus {name}'s {means[variant]:.3f} ({signed(gain, 1)}%)"
    text += f", {direction_text(values, variant)}, {p_text(wilcoxon_p_values(values)[variant])}"
    return gain, won, total, f"{text}, lead {scores.lead(variant)}"


def claimed_gain(scores, variant):
    """The quoted gain over a variant; for our runs, the gain in the paper's table on the same sets."""
    if scores.status != "printed":
        return improvements(published_scores("ablation", "auc_pr", scores.values.index))[variant]
    row = quoted("ablation").set_index("method").loc[variant]
    return 100 / (1 - row["value"] / 100) - 100 if row["kind"].startswith("loss") else row["value"]


def gain_over(source, variant, share_won=0.0):
    """PReNet's mean is above a variant's by nine tenths of the claimed gain, and on enough of the sets."""
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    gain, won, total, text = against(scores, variant)
    if source.is_yardstick:
        raise NotTestable(f"Ours is compared with: {text}.")
    target = claimed_gain(scores, variant)
    loss = f"a loss of {as_quoted('loss', gain):.1f}%: " if variant == "ldm" else ""

    def rule(shortfall):
        is_enough = gain >= (1 - shortfall) * target and won >= share_won * total
        claimed = f"{loss}{text}; claimed {signed(target, 1)}%"
        return Finding(by_direction(gain > 0, is_enough), said(claimed, scores), scores.status)

    return at_half_and_twice(rule, SHORTFALL, " of the figure")


def wins_over(source, variant, but):
    """PReNet is above a variant on all sets but a few; the direction holds if it is on more than half."""
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    _, won, total, text = against(scores, variant)
    return Finding(by_direction(won > total / 2, won >= total - but), said(text, scores), scores.status)


def better_than_variant(source, variant):
    """PReNet's mean is above a variant's, and so is its AUC-PR on more than half of the sets."""
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    gain, won, total, text = against(scores, variant)
    return Finding(by_direction(gain > 0, won > total / 2), said(text, scores), scores.status)


def one_layer_is_better(source, names):
    """Every method: the mean with one hidden layer is above that with two, and on most of the sets."""
    values, parts = source.interpretations(names), []
    for name in names:
        base = METHODS[name].interpretation_of
        pairs = values.reindex(columns=[base, name]).dropna()
        if pairs.empty:
            continue
        means, won = pairs.mean(), int((pairs[base] > pairs[name]).sum())
        text = f"{METHODS[base].column} ({means[base]:.3f} versus {means[name]:.3f} with two, "
        text += f"better with one on {won} of {len(pairs)} sets)"
        parts.append(Part(by_direction(means[base] > means[name], won > len(pairs) / 2), text))
    words = {SUPPORTED: "one layer is better for", WEAKENED: "on average only for", CONTRADICTED: "not for"}
    missing = missing_from(values, names)
    return Finding(
        of_every(parts, missing), f"{capital(grouped(parts, words))} (AUC-PR, exact data).", "exact"
    )
