"""Rules about sweeps: numbers of labels, contamination, hyperparameters, and the theorem's shares."""

import numpy as np
import pandas as pd

from weakly.judging.cells import BORDER
from weakly.judging.score_rules import COMPARABLE
from weakly.judging.sources import NotTestable, data_in_words, display, listed
from weakly.judging.statistics import MIN_SETS
from weakly.judging.verdicts import (
    NOT_DIAGNOSTIC,
    SUPPORTED,
    Finding,
    at_half_and_twice,
    capital,
    of_every,
    of_most,
    of_parts,
    part,
)
from weakly.methods import METHODS
from weakly.numbers import signed

STABLE = 0.05  # AUC-PR
NEAR = 0.5  # scores; an eighth of the margin m = 4
FEWEST_LABELS, MOST_LABELS = 15, 120  # of Figs. 2 and 3
LIMIT = 2 / 3  # of the theorem; beyond this share of anomalies it predicts the opposite order


# ---------------------------------------------------------------------------- labels


def fewer_labels(source, rivals, datasets, labels, sign):
    """Most sets: PReNet with fewer labels is better than the best rival with 120 by 0.01 (sign +1).

    Or it is as good, at most 0.01 below (sign -1). Weakened where that holds only against the rival with as
    few labels. The first of `labels` decides.
    """
    few = labels[0]
    sweep = source.sweep("labels", "n_labeled", [*labels, MOST_LABELS], datasets)
    at = sweep.at
    run = [name for name in rivals if name in at[MOST_LABELS] and name in at[few]]
    if not run:
        raise NotTestable(f"{display(rivals)} not run: run {source.command('labels')}.")
    target, alike = at[MOST_LABELS][run].max(axis=1).dropna(), at[few][run].max(axis=1)
    rival = display(run) if len(run) == 1 else "the best of " + display(run)
    good = "better" if sign > 0 else "as good"

    def rule(tolerance):
        least, parts = sign * tolerance - BORDER, []
        for name, value in target.items():
            own = at[few].at[name, "prenet"]
            is_enough, is_right = own - value >= least, own - alike.get(name, np.inf) >= least
            parts.append(part(f"{name} {own:.3f} versus {value:.3f}", is_enough or is_right, is_enough))
        gaps = {n: at[n]["prenet"].reindex(target.index) - target for n in labels[1:]}
        fewer = listed(f"with {n} on {int((gap >= least).sum())}" for n, gap in gaps.items())
        more = f" ({good} {fewer} of {len(parts)})" if gaps else ""
        words = (
            f"{good} on {{n}} of {{total}} sets:",
            f"{good} only when both have {few} labels:",
            "not even with equal labels:",
        )
        start = f"PReNet with {few} labels versus {rival} with {MOST_LABELS}{more}: "
        return of_parts(parts, words, sweep, combine=of_most, start=start)

    return at_half_and_twice(rule, COMPARABLE)


def increases_with_labels(source, methods, datasets, is_of_most=False):
    """AUC-PR with 120 labels is above that with 15, on average and on most of the sets, method by method."""
    sweep = source.sweep("labels", "n_labeled", [FEWEST_LABELS, MOST_LABELS], datasets)
    few, most = sweep.at[FEWEST_LABELS], sweep.at[MOST_LABELS]
    parts = []
    for name in [name for name in methods if name in few and name in most]:
        gains = (most[name] - few[name]).dropna()
        if len(gains):
            won = int((gains > 0).sum())
            text = f"{METHODS[name].column} {signed(gains.mean())}, up on {won} of {len(gains)}"
            parts.append(part(text, gains.mean() > 0, won > len(gains) / 2))
    words = ("from 15 to 120 labels:", "on average only:", "not for")
    combine = of_most if is_of_most else of_every
    return of_parts(parts, words, sweep, combine=combine, wanted=methods)


# ---------------------------------------------------------------------------- stability


def changes_of(at, default, others, only_falls=False):
    """Per data set the largest change of PReNet's AUC-PR from its value at the default, with its sign."""
    changes = pd.concat({value: at[value]["prenet"] - at[default]["prenet"] for value in others}, axis=1)
    changes = changes.clip(upper=0) if only_falls else changes
    return changes.apply(lambda row: row.loc[row.abs().idxmax()], axis=1)


def stable(changes, what, sweep):
    """Every data set: AUC-PR changes by 0.05 at most."""
    most = changes.reindex(changes.abs().sort_values(ascending=False, kind="stable").index).head(3)

    def rule(limit):
        within = changes.abs() <= limit + BORDER
        sets = f"{within.sum()} of {len(within)} sets"
        worst = listed(f"{name} {signed(change)}" for name, change in most.items())
        text = f"AUC-PR changes by at most {limit:g} on {sets} {what}; largest changes: {worst}"
        return Finding(of_every([part("", one) for one in within]), f"{text} ({sweep.words}).", sweep.status)

    return at_half_and_twice(rule, STABLE)


def robust(source, parameter, default, others, only_falls=False):
    """The largest change from the default value's AUC-PR, or the largest fall, per data set."""
    sweep = source.sweep("sensitivity", parameter, (default, *others), at_least=MIN_SETS)
    what = f"for {', '.join(f'{value:g}' for value in others)} instead of {default:g}"
    return stable(changes_of(sweep.at, default, others, only_falls), what, sweep)


def stable_under_rates(source, rates, beyond):
    """The largest change from the AUC-PR without contamination; also reports a further rate."""
    sweep = source.contamination(0.0, *rates, beyond, at_least=MIN_SETS)
    what = f"for {', '.join(f'{100 * rate:g}%' for rate in rates)} instead of 0%"
    finding = stable(changes_of(sweep.at, 0.0, rates), what, sweep)
    further = changes_of(sweep.at, 0.0, (beyond,))
    within = int((further.abs() <= STABLE + BORDER).sum())
    worst = f"largest on {further.abs().idxmax()} {signed(further[further.abs().idxmax()])}"
    text = f" At {100 * beyond:g}%: within {STABLE:g} on {within} of {len(further)}, {worst}."
    return finding._replace(evidence=finding.evidence + text)


def moves(source, parameter, start, end, datasets=None, sign=1):
    """Most sets, or most of the named ones: AUC-PR moves as claimed between two values, by more than 0.01."""
    sweep = source.sweep("sensitivity", parameter, (start, end), datasets)
    changes = sweep.at[end]["prenet"] - sweep.at[start]["prenet"]

    def rule(least):
        as_claimed = [(f"{name} {signed(change)}", sign * change) for name, change in changes.items()]
        parts = [part(text, change > 0, change > least + BORDER) for text, change in as_claimed]
        words = ("as claimed:", "a little:", "not:")
        which = f" ({len(parts)} of the {len(datasets)} named sets tested)" if datasets else ""
        text = f"From {start:g} to {end:g}{which}: "
        return of_parts(parts, words, sweep, combine=of_most, start=text)

    return at_half_and_twice(rule, COMPARABLE)


# ---------------------------------------------------------------------------- the theorem


def theorem_points(source, is_beyond=False):
    """The points of theorem.csv below, or beyond, a share of 2/3, their status, and the data in words."""
    table, status = source.theorem()
    table = table[(table["share"] >= LIMIT) == is_beyond]
    if table.empty and not is_beyond:
        raise NotTestable(f"No share of this size was run: run {source.command('theorem')}.")
    shares = f"shares of {table['share'].min():.2f} to {table['share'].max():.2f}"
    return table, status, f"{data_in_words(table['dataset'].nunique(), status)}, {shares}"


def gaps_of(table):
    """By how much test anomalies score above test normals, at every point."""
    return table["mean_score_anomalies"] - table["mean_score_normals"]


def scored_in_order(source):
    """Every point below 2/3: test anomalies score above test normals. If they do so at most points beyond
    2/3, too, where the theorem predicts the opposite, the order says nothing about the theorem.
    """
    table, status, data = theorem_points(source)
    gap = gaps_of(table)
    least = table.loc[gap.idxmin()]
    verdict = of_every([part("", one) for one in gap > 0])
    text = f"Anomalies are above normals at {(gap > 0).sum()} of {len(table)} points; the smallest gap is "
    text += f"{signed(gap.min(), 2)}, on {least['dataset']} at a share of {least['share']:.2f} ({data})."
    beyond, _, _ = theorem_points(source, is_beyond=True)
    if len(beyond):
        n_above = (gaps_of(beyond) > 0).sum()
        text += " Beyond 2/3, where its formulas put normals above anomalies, anomalies stay above at "
        text += f"{n_above} of {len(beyond)} points: mean scores " + ", predicted ".join(
            f"{beyond[f'{kind}_anomalies'].mean():.2f} and {beyond[f'{kind}_normals'].mean():.2f}"
            for kind in ("mean_score", "predicted")
        )
        text += "."
        verdict = NOT_DIAGNOSTIC if verdict == SUPPORTED and n_above > len(beyond) / 2 else verdict
    return Finding(verdict, text, status)


def scored_as_predicted(source):
    """Every point and kind of row: the mean score is within 0.5 of the expected one."""
    table, status, data = theorem_points(source)

    def rule(near):
        parts, texts = [], []
        for kind in ("anomalies", "normals"):
            distance = table[f"mean_score_{kind}"] - table[f"predicted_{kind}"]
            within = distance.abs() <= near + BORDER
            parts += [part("", one) for one in within]
            off = f"on average {signed(distance.mean(), 2)} off"
            texts.append(f"{kind} within {near:g} at {within.sum()} of {len(table)} points, {off}")
        return Finding(of_every(parts), f"{capital('; '.join(texts))} ({data}).", status)

    return at_half_and_twice(rule, NEAR)
