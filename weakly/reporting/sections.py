"""What the sections of the page show, as data for page.html."""

import re
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from weakly.judging.cells import TITLES, published_table
from weakly.judging.claims import NEW, OURS, PAPER
from weakly.judging.effects import Lead
from weakly.judging.headline import what_matters
from weakly.judging.leads import MAIN_TABLES, Size
from weakly.judging.printed import impossible_cells, printed_beside_lowest
from weakly.judging.sources import AS_PUBLISHED, INDEPENDENT, RELEASED
from weakly.judging.tables import METRICS, PAPER_METRICS, by_method, find_table, in_paper_order
from weakly.loading.registry import SEEN_SETS
from weakly.methods import METHODS, method_group
from weakly.numbers import count_of, number
from weakly.reporting.answer import interval_panel
from weakly.reporting.charts import ROW, draw_marker, draw_ranks, draw_runs
from weakly.reporting.figures import NEW_DRAWS, dataset_name, panels_of
from weakly.reporting.pictures import Panel
from weakly.reporting.sweeps import FIGURES, KINDS, read_figure
from weakly.reporting.tables import difference_matrix, frame_table, protocol_matrix

SOURCES = {PAPER: AS_PUBLISHED, OURS: RELEASED, NEW: INDEPENDENT}  # titles in claims.py, and their names here
NO_VALUES = (
    "The paper prints no values for its curves. Hollow markers are the values of its Tables 2 and 3; those "
    "outside a panel's range are not drawn."
)
NEWS20 = "news20 was not run: most methods need dense rows, and the others take minutes per run."


class Figure(NamedTuple):
    """A figure of the page; without panels and table it is missing."""

    anchor: str
    title: str
    command: str
    files: Sequence = ()
    panels: Sequence = ()
    class_: str = "panels"
    again: Sequence = ()  # (text, panels), folded below
    findings: Sequence = ()  # claims that it shows
    text: str = ""
    key: Sequence = ()  # (swatch or None, text) of its legend
    table: object = None


def swatch(method):
    """The colour and marker of a method, for a legend."""
    return Panel(partial(draw_marker, method), size=(14, 14), margins=(0, 0, 0, 0))


# ---------------------------------------------------------------------------- claims


def in_short(evidence):
    """The first part of some evidence without what is in brackets, which is folded below."""
    return re.sub(r" \([^)]*\)", "", evidence.split(";")[0]).rstrip(".") + "."


def claim_panel(one):
    """The size of a main claim in every source; None if no source has it."""
    leads = {source: size.lead for source, size in one.sizes.items() if isinstance(size, Size)}
    how = {"decimals": 2 if one.key == "theorem" else 3, "unprinted": "the paper prints no value"}
    return interval_panel(leads, one.quantity, **how) if leads else None


def claim_rivals(one):
    """Which other method is strongest, where that differs between the sources."""
    rivals = {source: size.rival for source, size in one.sizes.items() if isinstance(size, Size)}
    if len(set(rivals.values())) < 2:
        return ""
    return "; strongest: " + ", ".join(f"{name} ({source})" for source, name in rivals.items())


# ---------------------------------------------------------------------------- Tables 2 to 4


def heat_maps(found, experiment):
    """The gap between measured and published values, one table per metric."""
    table = found.cells[experiment]
    for metric in PAPER_METRICS:
        part = table[table["metric"] == metric]
        if len(part):
            weighted = ", weighted to the paper's share of anomalies where data is partial"
            caption = f"{METRICS[metric]}{weighted * bool(part['weighted'].any())}"
            attributes = {"data-metric": metric, "class": "scroll heat"}
            names = f"{caption}: gap, then measured / published", part, f"{experiment}-{metric}"
            yield difference_matrix(*names, **attributes)


def protocol_tables(found, experiment):
    """Results with both protocols, and PReNet's lead under each; empty if one was not run."""
    released, independent = (find_table(found.folder, experiment + end) for end in ("", "_independent"))
    if independent is None:
        return []
    draws = "above, with released draws, ± over initial weights; below, with independent draws, "
    pair = released, independent
    tables = [protocol_matrix(f"{METRICS[one]}: {draws}± over splits", *pair, one) for one in PAPER_METRICS]
    if experiment in found.gaps:
        caption = "What remains of PReNet's lead in AUC-PR with independent draws"
        tables.append(frame_table(f"{caption}: its mean minus the method's", found.gaps[experiment]))
    return [table for table in tables if table]


# ---------------------------------------------------------------------------- ranks, leads, statistics


def rank_panels(found, experiment, metric):
    """Critical-difference diagrams: the paper's values, released and independent draws."""
    for one in found.rankings:
        if (one.experiment, one.metric) == (experiment, metric):
            sets = f"{one.n_sets} {'partial ' * (one.status == 'partial')}sets"
            title = f"{one.source.capitalize()}, {sets}"
            words = ", ".join(f"{name} {rank:.2f}" for name, rank in one.ranks.items())
            yield Panel(
                partial(draw_ranks, one.ranks, one.critical_difference),
                title,
                f"{title}: average ranks, {words}",
                size=(330, ROW * (len(one.ranks) + 2) + 24),
                margins=(100, 94, 2, 20),
            )


def lead_panels(found, experiment, metric):
    """The forest plot: a panel per method with its lead in every source, all on one scale."""
    table = found.leads.query("experiment == @experiment and metric == @metric")
    values = table[[*Lead._fields]].to_numpy().ravel()
    for method in [name for name in METHODS if name in set(table["method"])]:
        part = table[table["method"] == method].set_index("source")
        leads = {source: Lead(*part.loc[source, [*Lead._fields]]) for source in part.index}
        title = f"over {METHODS[method].column}, {part['sets'].max()} sets"
        title += ", partial data" * ("partial" in set(part["status"]))
        named = {"title": title, "attributes": {"data-method": method}, "unprinted": "not printed"}
        yield interval_panel(leads, f"PReNet's lead {title}", values, **named)


def statistics_frames(found):
    """(title, frame) of the paper's tests on our results and on the published ones, and of what matters."""
    yield from found.statistics.items()
    if found.statistics:
        yield "The printed unseen columns: shares of their variance (AUC-PR)", found.unseen_shares
        for experiment in MAIN_TABLES:
            title = f"{TITLES[experiment]}: printed AUC-PR, and the lowest average precision that any ranking"
            n_below = count_of(len(impossible_cells(experiment)), "cell is", "cells are")
            names = {name: method.column for name, method in METHODS.items()}
            frame = printed_beside_lowest(experiment).rename(index=dataset_name, columns=names)
            yield f"{title} has ({n_below} below it)", frame
    if "seen" in found.tables:
        yield "Methods beside their variants (AUC-PR, exact data, the authors' draws)", what_matters(found)
    if len(found.spreads):
        title = "What affects the numbers: standard deviation of AUC-PR when one factor is redrawn"
        yield title, found.spreads.round(4)
        title = "What single factors contribute to the variance of AUC-PR, in per cent (they need not add up)"
        yield title, found.contributions.round(1)


def statistics_tables(found):
    for title, table in statistics_frames(found):
        if table.columns.nlevels == 2 and "average" in table.columns.get_level_values(1):
            table = table.swaplevel(axis=1)[list(dict.fromkeys(table.columns.get_level_values(1)))]
        yield frame_table(title, table, class_="scroll wrapped")


# ---------------------------------------------------------------------------- figures


def paper_figures(found):
    """Figs. 2 to 5 and the theorem's, with the authors' draws, and with new ones folded below."""
    by_key = {one.claim.key: one for one in found.claims}
    for name, (experiment, title, command, claims, _) in FIGURES.items():
        anchor, path = f"figure-{name.replace('_', '-')}", found.folder / f"{experiment}.csv"
        table = read_figure(path, name) if path.exists() else pd.DataFrame()
        if not len(table):
            yield Figure(anchor, title, command)
            continue
        runs_of = "contamination" if name == "theorem" else experiment
        yield Figure(
            anchor, title, command,
            files=[f"{experiment}.csv", f"{runs_of}_runs.csv", f"figures/{name}.png"],
            panels=panels_of(table, name),
            class_="panels by-three" if name == "sensitivity" else "panels",
            again=list(with_new_draws(found, name, experiment)),
            findings=[by_key[key] for key in claims if key in by_key],
            text=what_is_missing(table, name),
            key=THEOREM_KEY if name == "theorem" else (),
        )  # fmt: skip


def with_new_draws(found, name, experiment):
    """(text, panels) of the tables with redrawn or independent draws."""
    for set_up in NEW_DRAWS:
        path = found.folder / f"{experiment}{set_up}.csv"
        table = read_figure(path, name) if path.exists() and name != "theorem" else pd.DataFrame()
        if len(table):
            runs = " or ".join(f"{one:.0f}" for one in sorted(set(table["runs"].dropna())))
            yield f"The same with {set_up[1:]} draws ({runs} runs)", panels_of(table, name, set_up)


THEOREM_KEY = [
    *((kind, kind) for kind in KINDS),
    (None, "dashed: predicted"),
    (None, "dotted: a share of 2/3"),
]


def methods_key():
    """The methods of the paper's figures, for a legend."""
    return [(name, METHODS[name].column) for name in method_group("table") if METHODS[name].uses_labels]


def what_is_missing(table, name):
    """What the figure does not show, as sentences."""
    text = "Bands: one standard deviation over runs. "
    absent = [one for one in SEEN_SETS if one not in set(table["dataset"])]
    if name == "theorem":
        why = " Not shown, because these shares take long there or were not run: "
        text += "At a share of 2/3 the predicted scores meet."
        return text + (f"{why}{', '.join(absent)}." if absent else "")
    text += NO_VALUES
    if name != "labels_unseen":
        others = [one for one in absent if one != "news20"]
        text += f" Not run: {', '.join(others)}." if others else ""
        text += f" {NEWS20}" if "news20" in absent else ""
    if (table["status"] == "partial").any():
        text += " Where data is partial, AUC-PR is weighted to the paper's share of anomalies."
    return text


# ---------------------------------------------------------------------------- every run


def run_panels(found, experiment):
    """Every run of the paper's set-up with the published values: a panel per metric and data set."""
    runs = found.runs[experiment]
    by_set = dict(list(runs.groupby("dataset")))
    for metric, column in {"auc_pr": "score", "auc_roc": "auc_roc"}.items():
        published = by_method(published_table(experiment), metric)
        for dataset in in_paper_order(runs["dataset"]):
            printed = published.loc[dataset].dropna() if dataset in published.index else {}
            yield run_panel(dataset, by_set[dataset], dict(printed), metric, column)


def run_panel(dataset, runs, printed, metric, column):
    by_name = dict(list(runs.groupby("method")[column]))
    scores = {name: by_name[name].round(6).tolist() for name in METHODS if name in by_name}
    printed = {name: float(printed[name]) for name in scores if name in printed}
    words = []
    for name, values in scores.items():
        text = f"{METHODS[name].column}: mean {number(by_name[name].mean())}, {number(min(values))} to "
        text += f"{number(max(values))} in {len(values)} runs"
        words.append(text + (f", published {number(printed[name])}" if name in printed else ""))
    title = dataset_name(dataset)
    return Panel(
        partial(draw_runs, scores, printed),
        title,
        f"{title}: {'; '.join(words)}",
        runs["data_status"].iloc[0],
        {"data-set": title, "data-metric": metric, "class": "runs"},
        size=(250, ROW * len(scores) + 24),
        margins=(104, 12, 2, 20),
    )
