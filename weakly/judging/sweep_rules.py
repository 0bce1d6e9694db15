"""Rules about sweeps: numbers of labels, contamination, hyperparameters, and the theorem's shares."""

import numpy as np
import pandas as pd

from weakly.judging.cells import BORDER
from weakly.judging.score_rules import COMPARABLE
from weakly.judging.sources import NotTestable, data_in_words, display, listed
from weakly.judging.statistics import MIN_SETS
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
)
from weakly.methods import METHODS
from weakly.numbers import signed

STABLE = 0.05  # AUC-PR
NEAR = 0.5  # scores; an eighth of the margin m = 4
FEWEST_LABELS, MOST_LABELS = 15, 120  # of Figs. 2 and 3


# ---------------------------------------------------------------------------- labels


def fewer_labels(source, rivals, wanted, labels, sign):
    """Most sets: PReNet with fewer labels is better than the best rival with 120 by 0.01 (sign +1).

    Or it is as good, at most 0.01 below (sign -1). Weakened where that holds only against the rival with as
    few labels. The first of `labels` decides.
    """
    few = labels[0]
    at, status, data = source.sweep("labels", "n_labeled", [*labels, MOST_LABELS], wanted)
    run = [name for name in rivals if name in at[MOST_LABELS] and name in at[few]]
    if not run:
        raise NotTestable(f"{display(rivals)} not run: run {source.command('labels')}.")
    target, alike = at[MOST_LABELS][run].max(axis=1).dropna(), at[few][run].max(axis=1)
    rival, good = display(run) if len(run) == 1 else "the best of " + display(run), "as good"
    good = "better" if sign > 0 else good

    def rule(tolerance):
        least, parts = sign * tolerance - BORDER, []
        for name, value in target.items():
            own = at[few].at[name, "prenet"]
            is_enough, is_right = own - value >= least, own - alike.get(name, np.inf) >= least
            verdict = by_direction(is_enough or is_right, is_enough)
            parts.append(Part(verdict, f"{name} {own:.3f} versus {value:.3f}"))
        words = {
            SUPPORTED: f"{good} on {counted(parts, SUPPORTED)} of {len(parts)} sets:",
            WEAKENED: f"{good} only when both have {few} labels:",
            CONTRADICTED: "not even with equal labels:",
        }
        head = f"PReNet with {few} labels versus {rival} with {MOST_LABELS}: {grouped(parts, words)}"
        gaps = {n: at[n]["prenet"].reindex(target.index) - target for n in labels[1:]}
        fewer = listed(f"with {n} on {int((gap >= least).sum())}" for n, gap in gaps.items())
        more = f"; {good} {fewer} of {len(parts)}" if gaps else ""
        return Finding(of_most(parts), f"{head}{more} (AUC-PR, {data}).", status)

    return at_half_and_twice(rule, COMPARABLE)


def increases_with_labels(source, methods, is_unseen, combine):
    """AUC-PR with 120 labels is above that with 15, on average and on most of the sets, method by method."""
    needed = [FEWEST_LABELS, MOST_LABELS]
    at, status, data = source.sweep("labels", "n_labeled", needed, lambda name: ("->" in name) == is_unseen)
    parts = []
    for name in [name for name in methods if name in at[FEWEST_LABELS] and name in at[MOST_LABELS]]:
        gains = (at[MOST_LABELS][name] - at[FEWEST_LABELS][name]).dropna()
        if len(gains):
            won = int((gains > 0).sum())
            text = f"{METHODS[name].column} {signed(gains.mean())}, up on {won} of {len(gains)}"
            parts.append(Part(by_direction(gains.mean() > 0, won > len(gains) / 2), text))
    words = {SUPPORTED: "from 15 to 120 labels:", WEAKENED: "on average only:", CONTRADICTED: "not for"}
    missing = missing_from(at[FEWEST_LABELS], methods)
    text = f"{capital(grouped(parts, words))}{not_run(missing)} (AUC-PR, {data})." if parts else ""
    return Finding(combine(parts, missing), text, status)


# ---------------------------------------------------------------------------- stability


def changes_of(at, default, others, only_falls=False):
    """Per data set the largest change of PReNet's AUC-PR from its value at the default, with its sign."""
    changes = pd.concat({value: at[value]["prenet"] - at[default]["prenet"] for value in others}, axis=1)
    changes = changes.clip(upper=0) if only_falls else changes
    return changes.apply(lambda row: row.loc[row.abs().idxmax()], axis=1)


def stable(changes, what, status, data):
    """Every data set: AUC-PR changes by 0.05 at most."""
    most = changes.reindex(changes.abs().sort_values(ascending=False, kind="stable").index).head(3)

    def rule(limit):
        parts = [Part(SUPPORTED if abs(change) <= limit + BORDER else CONTRADICTED) for change in changes]
        sets = f"{counted(parts, SUPPORTED)} of {len(parts)} sets"
        worst = listed(f"{name} {signed(change)}" for name, change in most.items())
        text = f"AUC-PR changes by at most {limit:g} on {sets} {what}; largest changes: {worst} ({data})."
        return Finding(of_every(parts), text, status)

    return at_half_and_twice(rule, STABLE)


def robust(source, parameter, default, others, only_falls=False):
    """The largest change from the default value's AUC-PR, or the largest fall, per data set."""
    at, status, data = source.sweep("sensitivity", parameter, (default, *others), at_least=MIN_SETS)
    what = f"for {', '.join(f'{value:g}' for value in others)} instead of {default:g}"
    return stable(changes_of(at, default, others, only_falls), what, status, data)


def stable_under_rates(source, rates, beyond):
    """The largest change from the AUC-PR without contamination; also reports a further rate."""
    wanted = (
        "contamination",
        "contamination",
        (0.0, *rates, beyond),
        lambda name: name != "news20",
        MIN_SETS,
    )
    at, status, data = source.sweep(*wanted)
    what = f"for {', '.join(f'{100 * rate:g}%' for rate in rates)} instead of 0%"
    finding = stable(changes_of(at, 0.0, rates), what, status, data)
    further = changes_of(at, 0.0, (beyond,))
    within = int((further.abs() <= STABLE + BORDER).sum())
    worst = f"largest on {further.abs().idxmax()} {signed(further[further.abs().idxmax()])}"
    text = f" At {100 * beyond:g}%: within {STABLE:g} on {within} of {len(further)}, {worst}."
    return finding._replace(evidence=finding.evidence + text)


def moves(source, parameter, start, end, named=None, sign=1):
    """Most sets, or most of the named ones: AUC-PR moves as claimed between two values, by more than 0.01."""
    at, status, data = source.sweep(
        "sensitivity", parameter, (start, end), lambda name: named is None or name in named
    )
    changes = at[end]["prenet"] - at[start]["prenet"]

    def rule(least):
        parts = [
            Part(by_direction(sign * change > 0, sign * change > least + BORDER), f"{name} {signed(change)}")
            for name, change in changes.items()
        ]
        words = {SUPPORTED: "as claimed:", WEAKENED: "a little:", CONTRADICTED: "not:"}
        which = "" if named is None else f" ({len(parts)} of the {len(named)} named sets tested)"
        text = f"From {start:g} to {end:g}{which}: {grouped(parts, words)} (AUC-PR, {data})."
        return Finding(of_most(parts), text, status)

    return at_half_and_twice(rule, COMPARABLE)


# ---------------------------------------------------------------------------- the theorem


def theorem_points(source, beyond=False):
    """The points of theorem.csv below, or beyond, a share of 2/3, their status, and the data in words."""
    table, status = source.theorem()
    table = table[(table["share"] >= 2 / 3) == beyond]
    if table.empty:
        raise NotTestable(f"No share of this size was run: run {source.command('theorem')}.")
    shares = f"shares of {table['share'].min():.2f} to {table['share'].max():.2f}"
    return table, status, f"{data_in_words(table['dataset'].nunique(), status)}, {shares}"


def scored_in_order(source):
    """Every point below 2/3: test anomalies score above test normals; also reports the points beyond."""
    table, status, data = theorem_points(source)
    gap = table["mean_score_anomalies"] - table["mean_score_normals"]
    least = table.loc[gap.idxmin()]
    parts = [Part(SUPPORTED if value > 0 else CONTRADICTED) for value in gap]
    text = f"Anomalies are above normals at {(gap > 0).sum()} of {len(table)} points; the smallest gap is "
    text += f"{signed(gap.min(), 2)}, on {least['dataset']} at a share of {least['share']:.2f} ({data})."
    return Finding(of_every(parts), text + beyond_the_limit(source), status)


def beyond_the_limit(source):
    """What happens where the theorem's formulas reverse the order, as a sentence."""
    try:
        table, _, _ = theorem_points(source, beyond=True)
    except NotTestable:
        return ""
    above = (table["mean_score_anomalies"] > table["mean_score_normals"]).sum()
    text = f" Beyond 2/3, where its formulas put normals above anomalies, anomalies stay above at {above} of"
    means = table.mean(numeric_only=True)
    text += f" {len(table)} points: mean scores {means['mean_score_anomalies']:.2f} and "
    text += f"{means['mean_score_normals']:.2f}, predicted {means['predicted_anomalies']:.2f} and "
    return f"{text}{means['predicted_normals']:.2f}."


def scored_as_predicted(source):
    """Every point and kind of row: the mean score is within 0.5 of the expected one."""
    table, status, data = theorem_points(source)

    def rule(near):
        parts, texts = [], []
        for kind in ("anomalies", "normals"):
            distance = table[f"mean_score_{kind}"] - table[f"predicted_{kind}"]
            within = distance.abs() <= near + BORDER
            parts += [Part(SUPPORTED if one else CONTRADICTED) for one in within]
            off = f"on average {signed(distance.mean(), 2)} off"
            texts.append(f"{kind} within {near:g} at {within.sum()} of {len(table)} points, {off}")
        return Finding(of_every(parts), f"{capital('; '.join(texts))} ({data}).", status)

    return at_half_and_twice(rule, NEAR)
