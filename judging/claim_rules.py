"""The rules by which claims.py judges the paper's claims: tables of results in, verdict and evidence out."""

from dataclasses import dataclass

import pandas as pd

from judging.statistics import (
    LEVEL,
    MIN_SETS,
    agrees,
    average_ranks,
    conover,
    counted_scores,
    improvements,
    published_scores,
    quoted,
    scores,
    wilcoxon_p_values,
)  # fmt: skip
from judging.tables import METRICS, counted_status, find_table, read_frame, read_table
from methods import METHODS, method_group

HOLDS, IN_PART, FAILS, UNTESTED = CLAIM_VERDICTS = ("holds", "holds in part", "does not hold", "not tested")
TABLE_METHODS = method_group("table")  # PReNet and the six competing methods of Tables 2 and 3
ALL_METHODS = method_group("table", "appendix")  # and the three of App. C.1
COMPARABLE = 0.01  # AUC-PR; the run-to-run spread of most cells
STABLE = 0.05  # AUC-PR
NEAR = 0.5  # scores; an eighth of the margin m = 4
MOST_LABELS = 120  # of Figs. 2 and 3


@dataclass(frozen=True)
class Claim:
    text: str
    section: str
    verdict: str  # one of CLAIM_VERDICTS
    evidence: str  # our figures, or what to run
    rule: str = ""
    published: str = ""  # whether the published numbers support the claim, where they are printed


class NotTested(Exception):
    """Why a claim cannot be judged: what is missing, and the command that makes it."""


class Results:
    """The tables of one folder and one protocol (suffix '' or '_independent')."""

    def __init__(self, results_dir, suffix=""):
        self.results_dir, self.suffix = results_dir, suffix

    def command(self, experiment, *options):
        driver = "contamination" if experiment == "theorem" else experiment
        options += ("--theorem",) * (experiment == "theorem")
        options += ("--protocol independent",) * (self.suffix == "_independent")
        return " ".join([f"./run_{driver}.sh", *options])

    def table(self, experiment, *options, read=read_table):
        table = find_table(self.results_dir, experiment, self.suffix, read)
        if table is None:
            raise NotTested(f"{self.command(experiment, *options)} makes the results for it.")
        return table

    def scores(self, experiment, metric, methods, at_least=MIN_SETS):
        """The scores that count, of those of `methods` with enough data sets, and the data in words."""
        options = ["--methods all"] if set(methods) & set(method_group("appendix")) else []
        values, status = counted_scores(self.table(experiment, *options), metric)
        values = values[[name for name in methods if name in values]]
        values = values[values["prenet"].notna()] if "prenet" in values else values.iloc[:0]
        values = values.loc[:, values.notna().sum() >= at_least]
        if values.shape[1] < 2:
            other = display(methods[1:]) if len(methods) == 2 else "another method"
            needs = f"It needs PReNet and {other} on at least {at_least} data set{'s' * (at_least > 1)}"
            raise NotTested(f"{needs}; {self.command(experiment, *options)} runs them.")
        return values, data_in_words(len(values), status)

    def sweep(self, experiment, parameter, needed, wanted=lambda name: True, at_least=1):
        """{value: scores on the data sets that count} of a parameter, which must have the needed values."""
        table = self.table(experiment)
        table = table[(table["parameter"] == parameter) & table["dataset"].map(wanted)]
        status = counted_status(table["status"][table["mean"].notna()])
        by_value = {float(value): scores(part, statuses=(status,)) for value, part in table.groupby("value")}
        if any(value not in by_value or "prenet" not in by_value[value] for value in needed):
            raise NotTested(
                f"Values of {parameter} or data sets are missing; {self.command(experiment)} runs them."
            )
        at_value = [by_value[value]["prenet"].dropna() for value in needed]
        common = [name for name in at_value[0].index if all(name in other.index for other in at_value)]
        if len(common) < at_least:
            few = f"Only {data_in_words(len(common), status)}, at least {at_least} are needed"
            raise NotTested(f"{few}; {self.command(experiment)} runs more.")
        at = {value: part.loc[part.index.isin(common)] for value, part in by_value.items()}
        return at, data_in_words(len(common), status)


# ---------------------------------------------------------------------------- wording


def data_in_words(n_sets, status):
    sets = f"set{'s' * (n_sets != 1)}"
    return f"{n_sets} exact data {sets}" if status == "exact" else f"partial data, {n_sets} {sets}"


def listed(texts):
    return ", ".join(texts) or "none"


def display(names):
    return listed(METHODS[name].column for name in names)


def p_text(value):
    return "p < 0.001" if value < 0.001 else f"p {value:.3f}"


def by_count(passed, total):
    return HOLDS if passed == total else FAILS if passed == 0 else IN_PART


def compared(words, chosen, p_values):
    """`significantly better than DevNet (p 0.016), ...`, or nothing if there is no such method."""
    names = [f"{METHODS[name].column} ({p_text(p_values[name])})" for name in chosen.index[chosen]]
    return [f"{words} {listed(names)}"] if names else []


def by_significance(better, undecided, worse, p_values):
    """Verdict and evidence from what PReNet is better than, or not, or worse than, with p-values."""
    texts = compared("significantly better than", better, p_values)
    texts += compared("not significantly better than", undecided, p_values)
    texts += compared("significantly worse than", worse, p_values)
    return by_count(better.sum(), len(better)), f"{better.sum()} of {len(better)}: {'; '.join(texts)}"


def place_of_prenet(values, decimals):
    """PReNet's place and all methods, best first."""
    names = list(values.index)
    return f"PReNet is number {names.index('prenet') + 1} of {len(names)}: " + listed(
        f"{METHODS[name].column} {values[name]:.{decimals}f}" for name in names
    )


def capped(verdict, evidence, wanted, run):
    """A competing method that was not run keeps a claim from holding in full."""
    missing = [name for name in wanted if name not in run]
    if not missing:
        return verdict, evidence
    evidence += f"; not run, or on too few sets: {display(missing)}"
    return IN_PART if verdict == HOLDS else verdict, evidence


# ---------------------------------------------------------------------------- rules on scores


def highest_mean(values):
    complete = values.dropna()
    if len(complete) < MIN_SETS:
        raise NotTested(
            f"Only {len(complete)} data sets have all of {display(values)}, at least {MIN_SETS} are needed."
        )
    means = complete.mean().sort_values(ascending=False, kind="stable")
    return HOLDS if means["prenet"] == means.max() else FAILS, place_of_prenet(means, 3)


def significant(values, levels=None):
    """Better in the mean and p below 0.05, or below another level for a method in `levels`."""
    p_values, gains = wilcoxon_p_values(values), improvements(values)
    passes = p_values < pd.Series(levels or {}, dtype=float).reindex(p_values.index).fillna(LEVEL)
    better, worse = passes & (gains > 0), passes & (gains <= 0)
    return by_significance(better, ~passes, worse, p_values)


def against(values, variant):
    """PReNet against a variant: (gain in per cent, sets won, sets, text)."""
    pairs = values[["prenet", variant]].dropna()
    means, won, gain = pairs.mean(), (pairs["prenet"] > pairs[variant]).sum(), improvements(values)[variant]
    text = (
        f"mean {means['prenet']:.3f} against {METHODS[variant].column}'s {means[variant]:.3f} ({gain:+.1f}%)"
    )
    text += f", better on {won} of {len(pairs)} sets, {p_text(wilcoxon_p_values(values)[variant])}"
    return gain, won, len(pairs), text


def better_on_average(values, variant):
    gain, _, _, text = against(values, variant)
    return HOLDS if gain > 0 else FAILS, text


def on_most_sets(values):
    texts, passed = [], 0
    for method in values.columns.drop("prenet"):
        _, won, total, _ = against(values, method)
        passed += won > total / 2
        texts.append(f"{METHODS[method].column} on {won} of {total}")
    return by_count(passed, len(texts)), f"better than {listed(texts)}"


def best_rank(values):
    ranks = average_ranks(values).sort_values("ordinal", kind="stable")
    evidence = (
        f"{place_of_prenet(ranks['ordinal'], 2)}; its percentile is {ranks.loc['prenet', 'percentile']:.3f}"
    )
    return HOLDS if ranks.loc["prenet", "ordinal"] == ranks["ordinal"].min() else FAILS, evidence


def conover_better(values, but=()):
    """Significantly better by Conover's test than all methods but some, of which nothing is asked."""
    p_values, ranks = conover(values), average_ranks(values)["ordinal"]
    p_values = p_values.drop([name for name in but if name in p_values]).dropna()
    if p_values.empty:
        raise NotTested(f"Conover's test needs three methods and {MIN_SETS} data sets that all of them have.")
    passes, ahead = p_values < LEVEL, ranks[p_values.index] > ranks["prenet"]
    return by_significance(passes & ahead, ~passes, passes & ~ahead, p_values)


# ---------------------------------------------------------------------------- rules on whole tables


def on_both(results, experiment, check, metric="auc_pr", methods=TABLE_METHODS):
    """A check on our scores and on the published ones, of all data sets and of ours."""
    published = published_scores(experiment, metric)
    published = published[[name for name in methods if name in published]]
    in_paper = ": ".join(check(published))
    try:
        values, data = results.scores(experiment, metric, methods)
        verdict, evidence = check(values)
        verdict, evidence = capped(verdict, evidence, methods, values)
    except NotTested as reason:
        return UNTESTED, str(reason), f"{in_paper}."
    alike = published.loc[published.index.isin(values.index), published.columns.isin(values.columns)]
    if len(alike.dropna()) >= MIN_SETS and alike.shape != published.shape:
        in_paper += f" (on our {len(alike)} sets and {alike.shape[1]} methods alone: {check(alike)[0]})"
    return verdict, f"{evidence} ({METRICS[metric]}, {data}).", f"{in_paper}."


def improved_as_quoted(results, experiment, metric="auc_pr"):
    """Our improvements against the quoted ones, and the quoted ones against the published table."""
    figures, published = quoted(experiment, metric).set_index("method"), published_scores(experiment, metric)
    recomputed, wrong = improvements(published), []
    for name, row in figures.iterrows():
        if not agrees(row["kind"], row["value"], recomputed[name]):
            in_table = f"{METHODS[name].column} is {recomputed[name]:.1f}% in the table"
            wrong.append(f"{in_table}, {row['value']:g}% in the text")
    agreement = by_count(len(figures) - len(wrong), len(figures))
    in_paper = f"{agreement}: {listed(wrong or ['the text agrees with the table'])}."
    try:
        values, data = results.scores(experiment, metric, TABLE_METHODS)
    except NotTested as reason:
        return UNTESTED, str(reason), in_paper
    ours, alike = improvements(values), improvements(published.loc[published.index.isin(values.index)])
    ours = ours[ours.index.isin(figures.index)].dropna()
    passed, texts = (ours >= 0.9 * figures["value"].reindex(ours.index)).sum(), []
    for name, gain in ours.items():
        also = f", published values of our sets {alike[name]:.1f}%" if pd.notna(alike[name]) else ""
        texts.append(f"{METHODS[name].column} {gain:.1f}% (quoted {figures.loc[name, 'value']:g}%{also})")
    if not texts:
        few = (
            f"Of {display(figures.index)} none has enough data sets; {results.command(experiment)} runs them."
        )
        return UNTESTED, few, in_paper
    evidence = f"{passed} of {len(ours)}: {'; '.join(texts)}"
    verdict, evidence = capped(by_count(passed, len(ours)), evidence, figures.index, ours)
    return verdict, f"{evidence} ({METRICS[metric]}, {data}).", in_paper


def improved_per_set(results, experiment, method):
    """PReNet above a method on the sets that the text names, by the quoted per cent to within a point."""
    figures = quoted(experiment, per_set=True)
    figures = figures[figures["method"] == method].set_index("dataset")["value"]

    def check(values):
        pairs = values.loc[values.index.isin(figures.index), ["prenet", method]].dropna()
        gains = 100 * (pairs["prenet"] / pairs[method] - 1)
        passed = sum(gain >= figures[name] - 1 for name, gain in gains.items())
        texts = (f"{name} {gain:.1f}% (claimed {figures[name]:g}%)" for name, gain in gains.items())
        return passed, len(gains), listed(texts)

    passed, total, evidence = check(published_scores(experiment))
    in_paper = f"{by_count(passed, total)}: {evidence}."
    try:
        values, data = results.scores(experiment, "auc_pr", ["prenet", method], at_least=1)
        passed, total, evidence = check(values)
        if not total:
            command = results.command(experiment)
            raise NotTested(f"None of the named data sets counts; {command} runs those that can be had.")
    except NotTested as reason:
        return UNTESTED, str(reason), in_paper
    counted = f"{passed} of {total} named sets that count ({len(figures)} are named)"
    return by_count(passed, total), f"{counted}: {evidence} ({data} in all).", in_paper


def fewer_labels(results, rivals, wanted, labels):
    """PReNet with fewer labels against the best of the rivals with 120; the first of `labels` decides."""
    at, data = results.sweep("labels", "n_labeled", [*labels, MOST_LABELS], wanted)
    run = [name for name in rivals if name in at[MOST_LABELS]]
    target = at[MOST_LABELS][run].max(axis=1).dropna()
    if target.empty:
        raise NotTested(f"{display(rivals)} not run; {results.command('labels')} does it.")
    counts = {n: (at[n]["prenet"].reindex(target.index) >= target - COMPARABLE).sum() for n in labels}
    texts = [
        f"with {n} labels ({100 - 100 * n / MOST_LABELS:g}% fewer) on {count} of {len(target)} sets"
        for n, count in counts.items()
    ]
    figures = listed(
        f"{name} {at[labels[0]].loc[name, 'prenet']:.3f} against {target[name]:.3f}" for name in target.index
    )
    rival = display(run) if len(run) == 1 else "the best of " + display(run)
    evidence = f"as good as {rival} with {MOST_LABELS}: {', '.join(texts)}; with {labels[0]}: {figures}"
    return by_count(counts[labels[0]], len(target)), f"{evidence} (AUC-PR, {data}).", ""


def stable(falls, what, data):
    """Which data sets lose no more than 0.05 of AUC-PR."""
    worst = falls.sort_values(ascending=False)
    passed, most = (
        (falls <= STABLE).sum(),
        listed(f"{name} {-fall:+.3f}" for name, fall in worst.head(3).items()),
    )
    evidence = (
        f"AUC-PR falls by at most {STABLE:g} on {passed} of {len(falls)} sets {what}; the most on {most}"
    )
    return by_count(passed, len(falls)), f"{evidence} ({data}).", ""


def robust(results, parameter, default, others):
    """The largest fall below the default value's AUC-PR, per data set."""
    at, data = results.sweep("sensitivity", parameter, (default, *others), at_least=MIN_SETS)
    lowest = pd.concat([at[value]["prenet"] for value in others], axis=1).min(axis=1)
    return stable(
        at[default]["prenet"] - lowest,
        f"for {', '.join(f'{value:g}' for value in others)} instead of {default:g}",
        data,
    )


def theorem_points(results):
    """The points of theorem.csv below a share of 2/3 on the data that counts, and that data in words."""
    table = results.table("theorem", read=read_frame)
    status = counted_status(table["status"])
    table = table[(table["status"] == status) & (table["share"] < 2 / 3)].dropna(
        subset=["mean_score_anomalies", "mean_score_normals"]
    )
    if table.empty:
        raise NotTested(f"No scores of real data; {results.command('theorem')} makes them.")
    return (
        table,
        f"{data_in_words(table['dataset'].nunique(), status)}, shares up to {table['share'].max():.2f}",
    )
