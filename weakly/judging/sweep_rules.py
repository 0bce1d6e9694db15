"""Rules about sweeps: numbers of labels, contamination, hyperparameters, and the theorem's shares."""

from itertools import product

import numpy as np
import pandas as pd

from weakly.judging import verdicts
from weakly.judging.cells import BORDER
from weakly.judging.sources import NotTestable, display, listed
from weakly.judging.statistics import MIN_SETS
from weakly.judging.table_rules import COMPARABLE
from weakly.judging.verdicts import Finding, Part, at_half_and_twice, finding_on, verdict_on
from weakly.methods import METHODS
from weakly.numbers import signed

STABLE = 0.05  # AUC-PR
NEAR = 0.5  # scores; an eighth of the margin m = 4
FEWEST_LABELS, MOST_LABELS = 15, 120  # of Figs. 2 and 3


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
            parts.append(Part(f"{name} {own:.3f} versus {value:.3f}", is_enough or is_right, is_enough))
        gaps = {n: at[n]["prenet"].reindex(target.index) - target for n in labels[1:]}
        fewer = listed(f"with {n} on {int((gap >= least).sum())}" for n, gap in gaps.items())
        more = f" ({good} {fewer} of {len(parts)})" if gaps else ""
        start = f"PReNet with {few} labels versus {rival} with {MOST_LABELS}{more}: "
        as_few = f"{good} only when both have {few} labels:"
        words = (f"{good} on {{n}} of {{total}} sets:", as_few, "not even with equal labels:")
        return finding_on(parts, sweep, words, is_of_most=True, start=start)

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
            parts.append(Part(text, gains.mean() > 0, won > len(gains) / 2))
    words = ("from 15 to 120 labels:", "on average only:", "not for")
    return finding_on(parts, sweep, words, methods, is_of_most=is_of_most)


def robust(
    source, parameter, default, others, only_falls=False, experiment="sensitivity", but=(), beyond=None
):
    """Every data set but some: AUC-PR changes, or falls, by at most 0.05 from that at the default value.

    Also reports a further value that the claim is not about.
    """
    further = [] if beyond is None else [beyond]
    needed = [default, *others, *further]
    sweep = source.sweep(experiment, parameter, needed, but=but, at_least=MIN_SETS)
    all_changes = pd.DataFrame({n: sweep.at[n]["prenet"] - sweep.at[default]["prenet"] for n in needed})
    changes = all_changes[others].clip(upper=0) if only_falls else all_changes[others]
    changes = changes.apply(lambda row: row.loc[row.abs().idxmax()], axis=1)  # the largest, with its sign
    most = changes.reindex(changes.abs().sort_values(ascending=False, kind="stable").index).head(3)
    is_rate = parameter == "contamination"
    shown = {value: f"{100 * value:g}%" if is_rate else f"{value:g}" for value in needed}
    what = f"for {', '.join(shown[value] for value in others)} instead of {shown[default]}"

    def rule(limit):
        within = changes.abs() <= limit + BORDER
        worst = listed(f"{name} {signed(change)}" for name, change in most.items())
        text = f"AUC-PR changes by at most {limit:g} on {within.sum()} of {len(within)} sets {what}; "
        text += f"largest changes: {worst} ({sweep.words})."
        return Finding(verdict_on([Part("", one) for one in within]), text, sweep.status)

    finding = at_half_and_twice(rule, STABLE)
    for value in further:
        changes = all_changes[value]
        within, worst = int((changes.abs() <= STABLE + BORDER).sum()), changes.abs().idxmax()
        text = f" At {shown[value]}: within {STABLE:g} on {within} of {len(changes)}, largest on {worst} "
        finding = finding._replace(evidence=f"{finding.evidence}{text}{signed(changes[worst])}.")
    return finding


def moves(source, parameter, start, end, datasets=None, sign=1):
    """Most sets, or most of the named ones: AUC-PR moves as claimed between two values, by more than 0.01."""
    sweep = source.sweep("sensitivity", parameter, (start, end), datasets)
    changes = sweep.at[end]["prenet"] - sweep.at[start]["prenet"]

    def rule(least):
        as_claimed = [(f"{name} {signed(change)}", sign * change) for name, change in changes.items()]
        parts = [Part(text, change > 0, change > least + BORDER) for text, change in as_claimed]
        words = ("as claimed:", "a little:", "not:")
        which = f" ({len(parts)} of the {len(datasets)} named sets tested)" if datasets else ""
        text = f"From {start:g} to {end:g}{which}: "
        return finding_on(parts, sweep, words, is_of_most=True, start=text)

    return at_half_and_twice(rule, COMPARABLE)


def scored_in_order(source):
    """Every point below 2/3: test anomalies score above test normals. If they do so at most points beyond
    2/3, too, where the theorem predicts the opposite, the order says nothing about the theorem.
    """
    table, status, data = source.theorem()
    gap, least = table["gap"], table.loc[table["gap"].idxmin()]
    verdict = verdict_on([Part("", one) for one in gap > 0])
    text = f"Anomalies are above normals at {(gap > 0).sum()} of {len(table)} points; the smallest gap is "
    text += f"{signed(gap.min(), 2)}, on {least['dataset']} at a share of {least['share']:.2f} ({data})."
    beyond, _, _ = source.theorem(is_beyond=True)
    if len(beyond):
        n_above = (beyond["gap"] > 0).sum()
        text += " Beyond 2/3, where its formulas put normals above anomalies, anomalies stay above at "
        columns = ["_".join(pair) for pair in product(("mean_score", "predicted"), ("anomalies", "normals"))]
        scores = "mean scores {:.2f} and {:.2f}, predicted {:.2f} and {:.2f}".format(*beyond[columns].mean())
        text += f"{n_above} of {len(beyond)} points: {scores}."
        is_as_much = verdict == verdicts.SUPPORTED and n_above > len(beyond) / 2
        verdict = verdicts.NOT_DIAGNOSTIC if is_as_much else verdict
    return Finding(verdict, text, status)


def scored_as_predicted(source):
    """Every point and kind of row: the mean score is within 0.5 of the expected one."""
    table, status, data = source.theorem()

    def rule(near):
        parts, texts = [], []
        for kind in ("anomalies", "normals"):
            distance = table[f"mean_score_{kind}"] - table[f"predicted_{kind}"]
            within = distance.abs() <= near + BORDER
            parts += [Part("", one) for one in within]
            off = f"on average {signed(distance.mean(), 2)} off"
            texts.append(f"{kind} within {near:g} at {within.sum()} of {len(table)} points, {off}")
        return Finding(verdict_on(parts), f"{'; '.join(texts).capitalize()} ({data}).", status)

    return at_half_and_twice(rule, NEAR)
