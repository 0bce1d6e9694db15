"""The rules by which claims.py judges the paper's claims: scores in, a verdict and its evidence out.

The verdicts, the same for all claims:
  supported          as the paper says, in direction, size and significance
  weakened           the direction is the paper's, the size or the significance is not
  contradicted       the direction is not the paper's
  not testable here  the results are missing, or the paper does not print what the rule needs

A claim about several methods or data sets has a part for each. About *every* one of them it is supported only
if all parts are; about *most* of them, or about examples, if more than half are. Else it is weakened if more
than half of the parts at least have the paper's direction, and contradicted otherwise. Where a rule has a
threshold, the evidence says what half of it and twice as much would give.
"""

from typing import NamedTuple

import pandas as pd

from judging.sources import NotTestable, data_in_words, display, listed
from judging.statistics import (
    LEVEL,
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
from judging.tables import METRICS
from methods import METHODS, method_group

CLAIM_VERDICTS = ("supported", "weakened", "contradicted", "not testable here")
SUPPORTED, WEAKENED, CONTRADICTED, UNTESTABLE = CLAIM_VERDICTS
TABLE_METHODS = method_group("table")  # PReNet and the six competing methods of Tables 2 and 3
ALL_METHODS = method_group("table", "appendix")  # and the three of App. C.1
COMPARABLE = 0.01  # AUC-PR; the run-to-run spread of most cells
STABLE = 0.05  # AUC-PR
NEAR = 0.5  # scores; an eighth of the margin m = 4
SHORTFALL = 0.1  # of a quoted improvement, that is forgiven
POINTS = 1.0  # per cent, that a quoted improvement on a single set may be missed by
MOST_LABELS = 120  # of Figs. 2 and 3
DEPEND_ON_LABELS_ONLY = (
    "The printed unseen columns of XGBOD, PUMAD and FEAWAD hardly depend on the unseen class, so they were "
    "very likely scored on seen anomalies"
)


class Finding(NamedTuple):
    """What one source says about a claim."""

    verdict: str  # one of CLAIM_VERDICTS
    evidence: str  # the figures, or what is missing
    status: str = ""  # of the data: exact, partial or printed


class Part(NamedTuple):
    verdict: str
    text: str


# ---------------------------------------------------------------------------- from parts to a verdict


def counted(parts, *verdicts):
    return sum(part.verdict in verdicts for part in parts)


def of_every(parts):
    """The verdict on a claim about every one of its parts."""
    if counted(parts, SUPPORTED) == len(parts):
        return SUPPORTED
    return WEAKENED if counted(parts, SUPPORTED, WEAKENED) > len(parts) / 2 else CONTRADICTED


def of_most(parts):
    """The verdict on a claim about most of its parts, or about examples."""
    if counted(parts, SUPPORTED) > len(parts) / 2:
        return SUPPORTED
    return WEAKENED if counted(parts, SUPPORTED, WEAKENED) > len(parts) / 2 else CONTRADICTED


def by_direction(is_right, is_enough):
    """The verdict on a single statement: whether its direction and its size are the paper's."""
    return SUPPORTED if is_right and is_enough else WEAKENED if is_right else CONTRADICTED


def grouped(parts, words):
    """Parts as text, by verdict: words are {verdict: what it means here}."""
    groups = {verdict: [part.text for part in parts if part.verdict == verdict] for verdict in CLAIM_VERDICTS}
    return "; ".join(f"{words[verdict]} {listed(texts)}" for verdict, texts in groups.items() if texts)


def at_half_and_twice(rule, threshold, unit=""):
    """The Finding of rule(threshold), with what it would be at half the threshold and at twice."""
    finding = rule(threshold)
    others = {value: rule(value).verdict for value in (threshold / 2, 2 * threshold)}
    if set(others.values()) == {finding.verdict}:
        text = f"The same at half and at twice the threshold of {threshold:g}{unit}."
    else:
        text = "; ".join(f"at {value:g}{unit}: {verdict}" for value, verdict in others.items())
        text = f"With another threshold than {threshold:g}{unit}, {text}."
    return finding._replace(evidence=f"{finding.evidence} {text}")


# ---------------------------------------------------------------------------- wording


def p_text(value):
    return "p < 0.001" if value < 0.001 else f"p {value:.3f}"


def direction_text(values, method):
    """`ahead on 6 of 8` or `behind on 5 of 8`; where the signed ranks say otherwise, both."""
    won, lost, total = sets_won(values, method)
    rank_sum = signed_rank_sum(values, method)
    if rank_sum * (won - lost) > 0:
        return f"ahead on {won} of {total}" if rank_sum > 0 else f"behind on {lost} of {total}"
    by_ranks = "ahead" if rank_sum > 0 else "behind" if rank_sum < 0 else "level"
    return f"{by_ranks} by ranks, higher on {won} and lower on {lost} of {total}"


def not_run(wanted, run):
    missing = [name for name in wanted if name not in run]
    return f"; not run, or on too few sets: {display(missing)}" if missing else ""


def place_of_prenet(values, decimals):
    """PReNet's place and all methods, best first."""
    names = list(values.index)
    return f"PReNet is number {names.index('prenet') + 1} of {len(names)}: " + listed(
        f"{METHODS[name].column} {values[name]:.{decimals}f}" for name in names
    )


def said(text, scores, metric="auc_pr"):
    return f"{text[0].upper()}{text[1:]} ({METRICS[metric]}, {scores.words})."


# ---------------------------------------------------------------------------- rules on scores


def significant(source, experiment, metric="auc_pr", methods=TABLE_METHODS, levels=None, level=LEVEL):
    """Every method: PReNet ahead by the signed ranks, and p below the level (Wilcoxon, two-sided)."""
    scores = source.scores(experiment, metric, methods)
    values, parts = scores.values, []
    p_values = wilcoxon_p_values(values)
    for method, p_value in p_values.items():
        is_ahead = signed_rank_sum(values, method) > 0
        verdict = by_direction(is_ahead, p_value < (levels or {}).get(method, level))
        text = f"{METHODS[method].column} ({direction_text(values, method)}, {p_text(p_value)}, "
        parts.append(Part(verdict, f"{text}lead {scores.lead(method)})"))
    words = {
        SUPPORTED: f"significantly better than {counted(parts, SUPPORTED)} of {len(parts)}:",
        WEAKENED: "ahead, but not significantly:",
        CONTRADICTED: "not better than",
    }
    text = grouped(parts, words) + not_run(methods, values)
    text = f"{said(text, scores, metric)} The smallest p that {len(values)} sets can give"
    text += f" is {smallest_p(len(values)):.2g}."
    return Finding(of_every(parts), text, scores.status)


def highest_mean(source, experiment, methods=TABLE_METHODS):
    """PReNet has the highest mean, and the interval of its lead over the runner-up is above 0."""
    scores = source.scores(experiment, "auc_pr", methods)
    complete = scores.values.dropna()
    if len(complete) < MIN_SETS:
        few = f"Only {len(complete)} data sets have all of {display(scores.values)}"
        raise NotTestable(f"{few}, at least {MIN_SETS} are needed.")
    means = complete.mean().sort_values(ascending=False, kind="stable")
    rival = means.drop("prenet").idxmax()
    ahead = scores._replace(values=complete).lead(rival)
    is_best = means["prenet"] == means.max()
    text = f"{place_of_prenet(means, 3)}; lead over {METHODS[rival].column} {ahead}"
    text += not_run(methods, scores.values)
    return Finding(by_direction(is_best, ahead.low > 0), said(text, scores), scores.status)


def best_rank(source, experiment):
    """PReNet has the lowest average rank, and is ahead of the next one by half a rank or more."""
    scores = source.scores(experiment, "auc_pr", ALL_METHODS)
    ranks = average_ranks(scores.values).sort_values("ordinal", kind="stable")["ordinal"]
    gap = ranks.drop("prenet").min() - ranks["prenet"]
    text = place_of_prenet(ranks, 2) + not_run(ALL_METHODS, scores.values)

    def rule(margin):
        return Finding(by_direction(gap > 0, gap >= margin), said(text, scores), scores.status)

    return at_half_and_twice(rule, 0.5, " ranks")


def conover_better(source, experiment, but=()):
    """Every method but some: a better average rank, and significantly so by Conover's test."""
    scores = source.scores(experiment, "auc_pr", ALL_METHODS)
    p_values, ranks = conover(scores.values), average_ranks(scores.values)["ordinal"]
    p_values = p_values.drop([name for name in but if name in p_values]).dropna()
    if p_values.empty:
        raise NotTestable(
            f"Conover's test needs three methods and {MIN_SETS} data sets that all of them have."
        )
    parts = []
    for name, p_value in p_values.items():
        rank = f"rank {ranks[name]:.2f} against {ranks['prenet']:.2f}"
        verdict = by_direction(ranks[name] > ranks["prenet"], p_value < LEVEL)
        parts.append(Part(verdict, f"{METHODS[name].column} ({rank}, {p_text(p_value)})"))
    words = {
        SUPPORTED: f"significantly better than {counted(parts, SUPPORTED)} of {len(parts)}:",
        WEAKENED: "a better rank, but not significantly:",
        CONTRADICTED: "not better than",
    }
    text = grouped(parts, words) + not_run([name for name in ALL_METHODS if name not in but], scores.values)
    return Finding(of_every(parts), said(text, scores), scores.status)


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
    text = grouped(parts, words) + not_run(methods, scores.values)
    return Finding(of_every(parts), said(text, scores), scores.status)


def improved_as_quoted(source, experiment, metric="auc_pr"):
    """Every method: PReNet's mean is above its mean by nine tenths of the quoted figure or more.

    Ours is held against the figure that the paper's table gives on the same data sets.
    """
    scores = source.scores(experiment, metric, TABLE_METHODS)
    gains, figures = improvements(scores.values), quoted(experiment, metric).set_index("method")["value"]
    printed = improvements(published_scores(experiment, metric, scores.values.index))
    gains = gains[gains.index.isin(figures.index) & printed.reindex(gains.index).notna()].dropna()
    if gains.empty:
        raise NotTestable(f"Of {display(figures.index)} none has enough data sets.")

    def rule(shortfall):
        parts = []
        for name, gain in gains.items():
            target, where = figures[name], "quoted"
            if scores.status != "printed":
                target, where = printed[name], "in the paper's table on these sets"
            verdict = by_direction(gain > 0, gain >= (1 - shortfall) * target)
            parts.append(Part(verdict, f"{METHODS[name].column} {gain:+.1f}% ({target:.1f}% {where})"))
        words = {
            SUPPORTED: f"as much as claimed over {counted(parts, SUPPORTED)} of {len(parts)}:",
            WEAKENED: "less:",
            CONTRADICTED: "no improvement:",
        }
        return Finding(of_every(parts), said(grouped(parts, words), scores, metric), scores.status)

    return at_half_and_twice(rule, SHORTFALL)


def disagreements(experiment, metric="auc_pr"):
    """Where the figures of the text are not those of the paper's own table, in words."""
    figures, recomputed = (
        quoted(experiment, metric).set_index("method"),
        improvements(published_scores(experiment, metric)),
    )
    return [
        f"{METHODS[name].column} is {recomputed[name]:.1f}% in the table, {row['value']:g}% in the text"
        for name, row in figures.iterrows()
        if not agrees(row["kind"], row["value"], recomputed[name])
    ]


def improved_per_set(source, experiment, method):
    """Most of the named sets: PReNet above a method by the quoted per cent, to within a point."""
    figures = quoted(experiment, per_set=True)
    figures = figures[figures["method"] == method].set_index("dataset")["value"]
    scores = source.scores(experiment, "auc_pr", ["prenet", method], at_least=1)
    pairs = scores.values.loc[scores.values.index.isin(figures.index)].dropna()
    if pairs.empty:
        raise NotTestable("None of the named data sets counts here.")
    gains = 100 * (pairs["prenet"] / pairs[method] - 1)

    def rule(points):
        parts = [
            Part(
                by_direction(gain > 0, gain >= figures[name] - points),
                f"{name} {gain:+.1f}% (claimed {figures[name]:g}%)",
            )
            for name, gain in gains.items()
        ]
        words = {SUPPORTED: "as claimed:", WEAKENED: "better, but by less:", CONTRADICTED: "not better:"}
        head = f"on {len(parts)} of the {len(figures)} named sets, {grouped(parts, words)}"
        return Finding(of_most(parts), said(head, scores), scores.status)

    return at_half_and_twice(rule, POINTS, " points")


def significant_per_set(source, method, claimed, of=12):
    """PReNet better than a method over the runs of a set, p < 0.05, on the claimed share of the sets."""
    runs = source.runs("seen", ["prenet", method])
    counts = {"significantly better": [], "no difference": [], "significantly worse": []}
    for name in runs["prenet"].index:
        of_set = pd.DataFrame({other: values.loc[name] for other, values in runs.items()})  # runs by methods
        kind = "no difference"
        if wilcoxon_p_values(of_set, at_least=2)[method] < LEVEL:
            kind = f"significantly {'better' if signed_rank_sum(of_set, method) > 0 else 'worse'}"
        counts[kind].append(f"{name} {(of_set['prenet'] - of_set[method]).mean():+.3f}")
    better, _, worse = map(len, counts.values())
    total = len(runs["prenet"])
    texts = "; ".join(f"{kind} on {len(sets)}: {listed(sets)}" for kind, sets in counts.items())
    verdict = by_direction(better > worse, better / total >= claimed / of)
    n_runs = runs["prenet"].shape[1]
    text = f"{texts} (Wilcoxon over {n_runs} runs of a set, AUC-PR, {data_in_words(total, 'exact')})."
    return Finding(verdict, text[0].upper() + text[1:], "exact")


# ---------------------------------------------------------------------------- rules on the ablation


def against(scores, variant):
    """PReNet against a variant: gain in per cent, sets won, sets, text."""
    values = scores.values
    gain, (won, _, total) = improvements(values)[variant], sets_won(values, variant)
    means = values[["prenet", variant]].dropna().mean()
    text = (
        f"mean {means['prenet']:.3f} against {METHODS[variant].column}'s {means[variant]:.3f} ({gain:+.1f}%)"
    )
    text += f", {direction_text(values, variant)} sets, {p_text(wilcoxon_p_values(values)[variant])}"
    return gain, won, total, f"{text}, lead {scores.lead(variant)}"


def claimed_gain(scores, variant):
    """The quoted gain over a variant; for ours, what the paper's table gives on the same sets."""
    if scores.status != "printed":
        return improvements(published_scores("ablation", "auc_pr", scores.values.index))[variant]
    row = quoted("ablation").set_index("method").loc[variant]
    return 100 / (1 - row["value"] / 100) - 100 if row["kind"].startswith("loss") else row["value"]


def gain_over(source, variant, share_won=0.0):
    """PReNet's mean is above a variant's by nine tenths of the claimed gain, and on enough of the sets."""
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    gain, won, total, text = against(scores, variant)
    target = claimed_gain(scores, variant)
    loss = f"a loss of {as_quoted('loss', gain):.1f}%: " if variant == "ldm" else ""

    def rule(shortfall):
        enough = gain >= (1 - shortfall) * target and won >= share_won * total
        claimed = f"{loss}{text}; claimed {target:+.1f}%"
        return Finding(by_direction(gain > 0, enough), said(claimed, scores), scores.status)

    return at_half_and_twice(rule, SHORTFALL)


def wins_over(source, variant, but):
    """PReNet is above a variant on all sets but some; in direction, on more than half of them."""
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    _, won, total, text = against(scores, variant)
    return Finding(by_direction(won > total / 2, won >= total - but), said(text, scores), scores.status)


def not_worse_than(source, variant):
    """PReNet's mean is above a variant's, and so is its AUC-PR on more than half of the sets."""
    scores = source.scores("ablation", "auc_pr", ["prenet", variant])
    gain, won, total, text = against(scores, variant)
    return Finding(by_direction(gain > 0, won > total / 2), said(text, scores), scores.status)


def one_layer_is_better(source, names):
    """Every method: the mean with one hidden layer is above that with two, and on most of the sets."""
    values, parts, sets = source.readings(names), [], 0
    for name in names:
        base = METHODS[name].reading_of
        pairs = values.reindex(columns=[base, name]).dropna()
        if pairs.empty:
            continue
        means, won, sets = pairs.mean(), int((pairs[base] > pairs[name]).sum()), len(pairs)
        text = f"{METHODS[base].column} {means[base]:.3f} against {means[name]:.3f} with two, "
        text += f"better with one on {won} of {sets} sets"
        parts.append(Part(by_direction(means[base] > means[name], won > sets / 2), text))
    words = {SUPPORTED: "one layer is better for", WEAKENED: "on average only for", CONTRADICTED: "not for"}
    text = f"{grouped(parts, words)} (AUC-PR, {data_in_words(sets, 'exact')})."
    return Finding(of_every(parts), text[0].upper() + text[1:], "exact")


# ---------------------------------------------------------------------------- rules on sweeps


def fewer_labels(source, rivals, wanted, labels):
    """Most sets: PReNet with fewer labels is as good as the best rival with 120, to within 0.01.

    In direction, it is as good as that rival with as few labels. The first of `labels` decides.
    """
    few = labels[0]
    at, status, data = source.sweep("labels", "n_labeled", [*labels, MOST_LABELS], wanted)
    run = [name for name in rivals if name in at[MOST_LABELS]]
    if not run:
        raise NotTestable(f"{display(rivals)} not run; {source.command('labels')} does it.")
    target, alike = at[MOST_LABELS][run].max(axis=1).dropna(), at[few][run].max(axis=1)
    rival = display(run) if len(run) == 1 else "the best of " + display(run)

    def rule(tolerance):
        ours, parts = at[few]["prenet"], []
        for name, value in target.items():
            verdict = by_direction(ours[name] >= alike[name] - tolerance, ours[name] >= value - tolerance)
            parts.append(Part(verdict, f"{name} {ours[name]:.3f} against {value:.3f}"))
        words = {
            SUPPORTED: f"as good on {counted(parts, SUPPORTED)} of {len(parts)} sets:",
            WEAKENED: f"only as good as with as many, {few}, labels:",
            CONTRADICTED: "not even that:",
        }
        head = f"PReNet with {few} labels against {rival} with {MOST_LABELS}: {grouped(parts, words)}"
        fewer = [
            f"with {n} on {int((at[n]['prenet'].reindex(target.index) >= target - tolerance).sum())}"
            for n in labels[1:]
        ]
        more = f"; as good {listed(fewer)} of {len(parts)}" if fewer else ""
        return Finding(of_most(parts), f"{head}{more} (AUC-PR, {data}).", status)

    return at_half_and_twice(rule, COMPARABLE)


def increases_with_labels(source, methods):
    """Every method: AUC-PR with 120 labels is above that with 15, on average and on most of the sets."""
    at, status, data = source.sweep("labels", "n_labeled", [15, MOST_LABELS], lambda name: "->" not in name)
    parts = []
    for name in [name for name in methods if name in at[15]]:
        gains = (at[MOST_LABELS][name] - at[15][name]).dropna()
        if gains.empty:
            continue
        won = int((gains > 0).sum())
        text = f"{METHODS[name].column} {gains.mean():+.3f}, up on {won} of {len(gains)}"
        parts.append(Part(by_direction(gains.mean() > 0, won > len(gains) / 2), text))
    words = {SUPPORTED: "from 15 to 120 labels:", WEAKENED: "on average only:", CONTRADICTED: "not for"}
    text = f"{grouped(parts, words)} (AUC-PR, {data})."
    return Finding(of_every(parts), text[0].upper() + text[1:], status)


def stable(falls, what, status, data):
    """Every data set: AUC-PR falls by 0.05 at most. (In direction: it does so on more than half of them.)"""
    most = falls.sort_values(ascending=False).head(3)

    def rule(limit):
        parts = [Part(SUPPORTED if fall <= limit else CONTRADICTED, "") for fall in falls]
        within = (
            f"AUC-PR falls by at most {limit:g} on {counted(parts, SUPPORTED)} of {len(parts)} sets {what}"
        )
        worst = listed(f"{name} {-fall:+.3f}" for name, fall in most.items())
        return Finding(of_every(parts), f"{within}; the most on {worst} ({data}).", status)

    return at_half_and_twice(rule, STABLE)


def robust(source, parameter, default, others):
    """The largest fall below the default value's AUC-PR, per data set."""
    at, status, data = source.sweep("sensitivity", parameter, (default, *others), at_least=MIN_SETS)
    lowest = pd.concat([at[value]["prenet"] for value in others], axis=1).min(axis=1)
    what = f"for {', '.join(f'{value:g}' for value in others)} instead of {default:g}"
    return stable(at[default]["prenet"] - lowest, what, status, data)


def moves(source, parameter, start, end, named, sign):
    """Most of the named sets: AUC-PR moves as claimed from one value to another, by more than 0.01."""
    at, status, data = source.sweep("sensitivity", parameter, (start, end), lambda name: name in named)
    changes = at[end]["prenet"] - at[start]["prenet"]

    def rule(least):
        parts = [
            Part(by_direction(sign * change > 0, sign * change > least), f"{name} {change:+.3f}")
            for name, change in changes.items()
        ]
        words = {SUPPORTED: "as claimed:", WEAKENED: "a little:", CONTRADICTED: "not:"}
        head = f"from {start:g} to {end:g}, on {len(parts)} of the {len(named)} named sets, "
        text = f"{head}{grouped(parts, words)} (AUC-PR, {data})."
        return Finding(of_most(parts), text[0].upper() + text[1:], status)

    return at_half_and_twice(rule, COMPARABLE)


# ---------------------------------------------------------------------------- rules on the theorem


def theorem_points(source, beyond=False):
    """The points of theorem.csv below, or beyond, a share of 2/3, their status, and the data in words."""
    table, status = source.theorem()
    table = table[(table["share"] >= 2 / 3) == beyond]
    if table.empty:
        raise NotTestable("No share of this size was run; ./run_contamination.sh --theorem has them.")
    shares = f"shares of {table['share'].min():.2f} to {table['share'].max():.2f}"
    return table, status, f"{data_in_words(table['dataset'].nunique(), status)}, {shares}"


def scored_in_order(source, beyond):
    """Every point: test anomalies score higher than test normals; beyond 2/3 the theorem has it reversed."""
    table, status, data = theorem_points(source, beyond)
    gap = table["mean_score_anomalies"] - table["mean_score_normals"]
    least = table.loc[gap.idxmin()]
    parts = [Part(SUPPORTED if (value > 0) != beyond else CONTRADICTED, "") for value in gap]
    text = (
        f"anomalies are above normals at {(gap > 0).sum()} of {len(table)} points, least by {gap.min():+.2f}"
    )
    text += f" on {least['dataset']} at a share of {least['share']:.2f}"
    means = table[
        ["mean_score_anomalies", "predicted_anomalies", "mean_score_normals", "predicted_normals"]
    ].mean()
    text += f"; mean score of anomalies {means.iloc[0]:.2f} (predicted {means.iloc[1]:.2f})"
    text += f", of normals {means.iloc[2]:.2f} (predicted {means.iloc[3]:.2f})"
    return Finding(of_every(parts), f"{text[0].upper()}{text[1:]} ({data}).", status)


def scored_as_predicted(source):
    """Every point and kind of row: the mean score is within 0.5 of the expected one."""
    table, status, data = theorem_points(source)

    def rule(near):
        parts, texts = [], []
        for kind in ("anomalies", "normals"):
            distance = table[f"mean_score_{kind}"] - table[f"predicted_{kind}"]
            within = distance.abs() <= near
            parts += [Part(SUPPORTED if one else CONTRADICTED, "") for one in within]
            off = f"on average {distance.mean():+.2f} off"
            texts.append(f"{kind} within {near:g} at {within.sum()} of {len(table)} points, {off}")
        text = "; ".join(texts)
        return Finding(of_every(parts), f"{text[0].upper()}{text[1:]} ({data}).", status)

    return at_half_and_twice(rule, NEAR)
