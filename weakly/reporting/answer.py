"""The first screen of the page: the answer as a short text, three cards and one figure."""

from functools import partial
from typing import NamedTuple

import pandas as pd

from weakly.judging.cells import published_table
from weakly.judging.effects import Lead
from weakly.judging.leads import closest_rival, interval_is_above_zero
from weakly.judging.sources import AS_PUBLISHED, REDRAWN, RELEASED, PublishedTables
from weakly.judging.tables import METRICS, PAPER_METRICS
from weakly.judging.verdicts import CLAIM_VERDICTS, UNTESTABLE, capital
from weakly.methods import METHODS
from weakly.numbers import number, signed
from weakly.reporting.charts import draw_intervals
from weakly.reporting.pictures import Panel

TESTED = [verdict for verdict in CLAIM_VERDICTS if verdict != UNTESTABLE]
SMALLEST_RANGE = 0.02  # of an axis of leads
MUCH_HIGHER = 0.05  # average AUC-PR above the published values from which a method is mentioned


def listed(names):
    """`A`, `A and B`, `A, B and C`."""
    names = list(names)
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


# ---------------------------------------------------------------------------- in words


def own_cells(found):
    """PReNet's cells of Table 2 on exact data."""
    cells = found.exact_cells.get("seen")
    return None if cells is None else cells[cells["method"] == "prenet"]


def sentence(found):
    """Are PReNet's own numbers reproduced, and is its lead?"""
    own = own_cells(found)
    if own is None or own.empty:
        return "No data set that is exactly the paper's has been run yet, so there is no answer."
    n_good = (own["verdict"] == "reproduced").sum()
    are = "are" if n_good > 0.75 * len(own) else "are only in part" if n_good else "are not"
    text = f"PReNet's own results {are} reproduced: {n_good} of its {len(own)} values in Table 2, on the "
    text += f"{own['dataset'].nunique()} data sets that are exactly the paper's."
    return f"{text} {about_the_lead(found)}".strip()


def about_the_lead(found):
    """What remains of the lead over the closest rival, and why."""
    rows = {
        source: closest_rival(found.leads, "seen", source) for source in (AS_PUBLISHED, RELEASED, REDRAWN)
    }
    rows = {source: row for source, row in rows.items() if row is not None}
    if len(rows) < 2:
        return ""
    last = rows.get(REDRAWN, rows.get(RELEASED))
    with_ = {AS_PUBLISHED: "as published", RELEASED: "with the authors' draws", REDRAWN: "with new draws"}
    parts = [f"{lead_text(row)} {with_[source]} ({name(row)})" for source, row in rows.items()]
    verdict = "Its lead is confirmed" if interval_is_above_zero(last) else "Its lead is not confirmed"
    text = f"{verdict}: over its closest rival in mean AUC-PR it is {listed(parts)}."
    higher = higher_than_published(found)
    text += f" {higher} score well above their published values." if higher else ""
    return text + about_unseen(found)


def about_unseen(found):
    """PReNet compared with its closest rival on unseen classes, as a sentence; empty if not run."""
    row = closest_rival(found.leads, "unseen", RELEASED)
    if row is None:
        return ""
    data = ", tested on partial data only," if row["status"] == "partial" else ""
    stands = "leads" if row["mean"] > 0 else "trails"
    return f" On unseen classes{data} it {stands} {name(row)} by {number(abs(row['mean']))}."


def lead_text(row):
    return signed(row["mean"]) + (
        "" if pd.isna(row["low"]) else f" [{signed(row['low'])}, {signed(row['high'])}]"
    )


def name(row):
    return METHODS[row["method"]].column


def higher_than_published(found):
    """The methods that score clearly above their published AUC-PR on exact data, in words."""
    cells = found.exact_cells["seen"].query("metric == 'auc_pr' and method != 'prenet'")
    gaps = cells.groupby("method")["difference"].mean()
    return listed(METHODS[name].column for name in METHODS if gaps.get(name, 0) > MUCH_HIGHER)


# ---------------------------------------------------------------------------- cards


class Card(NamedTuple):
    title: str
    large: str
    lines: list
    source: tuple  # anchor, files, command
    panel: Panel | None = None
    bars: dict = {}


def cards(found):
    made = own_numbers_card(found), lead_card(found), claims_card(found)
    return [card for card in made if card]


def own_numbers_card(found):
    """How many of PReNet's own numbers are reproduced, and how close they are."""
    own = own_cells(found)
    if own is None or own.empty:
        return None
    lines = []
    for metric in PAPER_METRICS:
        sizes = own.loc[own["metric"] == metric, "difference"].abs()
        if len(sizes):
            largest = f"mean |difference| {number(sizes.mean())}, largest {number(sizes.max())}"
            lines.append(f"{METRICS[metric]}: {largest}")
    n_good = (own["verdict"] == "reproduced").sum()
    missed = own[own["verdict"] != "reproduced"]
    texts = [
        f"{METRICS[row.metric]} on {row.dataset}, by {abs(row.difference):.4f}" for row in missed.itertuples()
    ]
    lines += [f"Not reproduced: {listed(texts)}."] if texts else []
    source = "table-seen", ["seen_vs_published.csv"], "./run_seen.sh"
    return Card("PReNet's own numbers", f"{n_good} of {len(own)} reproduced", lines, source)


def interval_panel(rows, label, values=None, decimals=3, **named):
    """A row per source: its lead and interval; rows: (source, Lead or None, note).

    The range contains 0 and all values, without any given those of the leads.
    """
    values = [value for _, lead, _ in rows for value in lead or ()] if values is None else list(values)
    values = [0.0, *(value for value in values if value == value)]
    width = max(values) - min(values)
    wider = max(SMALLEST_RANGE - width, 0.12 * width) / 2
    draw = partial(draw_intervals, rows, (min(values) - wider, max(values) + wider), decimals)
    shape = {"size": (368, 20 * len(rows) + 24), "margins": (108, 162, 2, 22)}
    return Panel(named.pop("title", ""), draw, label, **shape, **named)


def lead_card(found):
    """The lead over the best rival: as published, with the authors' draws, with new draws."""
    rows = {
        source: closest_rival(found.leads, "seen", source) for source in (AS_PUBLISHED, RELEASED, REDRAWN)
    }
    there = {source: row for source, row in rows.items() if row is not None}
    if RELEASED not in there:
        return None
    leads = {source: Lead(row["mean"], row["low"], row["high"]) for source, row in there.items()}
    label = f"PReNet's lead in AUC-PR over the best rival: {', '.join(f'{s} {v}' for s, v in leads.items())}"
    panel = interval_panel([(source, leads.get(source), "not run") for source in rows], label)
    rivals = listed(f"{name(row)} ({source})" for source, row in there.items())
    line = f"AUC-PR, Table 2, 95% intervals. Closest rival: {rivals}."
    source = "leads", ["leads.csv"], "./run_seen.sh --protocol independent"
    first, last = there.get(AS_PUBLISHED), there[list(there)[-1]]
    large = "" if first is None else f"{signed(first['mean'])} → {signed(last['mean'])}"
    return Card("What remains of the lead", large, [line], source, panel)


def claims_card(found):
    """The claims by verdict, for exact and partial data, and what the paper's own values support."""
    bars = {}
    for status in ("exact", "partial"):
        verdicts = [one.verdict for one in found.claims if one.ours.status == status]
        if verdicts:
            bars[status] = {verdict: verdicts.count(verdict) for verdict in TESTED}
    if not bars:
        return None
    exact = [one.verdict for one in found.claims if one.ours.status == "exact"]
    own = [one.findings[PublishedTables().title].verdict for one in found.claims]
    line = f"{capital(', '.join(TESTED[:-1]))} or {TESTED[-1]}, with the authors' draws. "
    line += f"The paper's own printed values support {own.count(TESTED[0])} of the "
    line += f"{len(own) - own.count(UNTESTABLE)} claims that they can test."
    large = f"{exact.count(TESTED[0])} of {len(exact)} supported"
    source = "claims", ["claims.csv"], "python compare.py"
    return Card("Claims by verdict", large, [line], source, bars=bars)


def picture_caption(cells):
    """What the first figure shows."""
    n_sets = published_table("seen")["dataset"].nunique()
    return (
        f"AUC-PR of Table 2 on the {cells['dataset'].nunique()} of {n_sets} data sets that are exactly the "
        "paper's, from the published value (ring) to ours (dot), with the difference. The mean difference is "
        "next to the method's name. Coloured: the verdict is “differs”."
    )
