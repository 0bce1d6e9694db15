"""The first screen of the page: the answer as a short text, three cards and one figure."""

from functools import partial
from typing import NamedTuple

import numpy as np

from weakly.judging.cells import published_table
from weakly.judging.claims import PAPER, counts_by_data
from weakly.judging.headline import chance_to_show, headline, own_numbers, scaling_part
from weakly.judging.sources import AS_PUBLISHED, INDEPENDENT, RELEASED
from weakly.judging.tables import METRICS, PAPER_METRICS
from weakly.judging.verdicts import SUPPORTED, UNTESTABLE
from weakly.methods import METHODS
from weakly.numbers import number, p_text, signed
from weakly.reporting.charts import draw_intervals
from weakly.reporting.pictures import Panel

SMALLEST_RANGE = 0.02  # of an axis of leads
MUCH_HIGHER = 0.05  # average AUC-PR above the published values from which a method is mentioned
DRAWS = {
    AS_PUBLISHED: "as published",
    RELEASED: "with the authors' draws",
    INDEPENDENT: "with independent draws",
}


def listed(names):
    """`A`, `A and B`, `A, B and C`."""
    names = list(names)
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


# ---------------------------------------------------------------------------- in words


def sentence(found):
    """Are PReNet's own numbers reproduced, and is its lead?"""
    own = own_numbers(found)
    if own is None or not own.cells:
        return "No data set that is exactly the paper's has been run yet, so there is no answer."
    share = own.reproduced / own.cells
    are = "are" if share > 0.75 else "are only in part" if share else "are not"
    n_sets = found.exact_cells["seen"].query("method == 'prenet'")["dataset"].nunique()
    text = (
        f"PReNet's own results {are} reproduced: {own.reproduced} of its {own.cells} values in Table 2, on "
    )
    text += f"the {n_sets} data sets that are exactly the paper's."
    return " ".join([text, *about_the_lead(found), *about_unseen(found)])


def about_the_lead(found):
    """What remains of the lead over the strongest other method, and why."""
    rows = headline(found)
    if len(rows) < 2:
        return
    leads = []
    for source, row in rows.iterrows():
        without = f"; {row['without']} without {row['moved by']}" * (source == RELEASED)
        leads.append(f"{row['lead']} {DRAWS[source]} ({METHODS[row['method']].column}{without})")
    verdict = "confirmed" if rows["lead"].iloc[-1].low > 0 else "not confirmed"
    yield f"Its lead is {verdict}: over the strongest other method in mean AUC-PR it is {listed(leads)}."
    method = rows["method"].iloc[-1]
    scaled = scaling_part(found.folder, method)
    if scaled is not None:
        name = METHODS[method].column
        yield f"With another scaling of its inputs it trails {name} by {number(abs(scaled[1]))}."
    cells = found.exact_cells["seen"].query("metric == 'auc_pr' and method != 'prenet'")
    gaps = cells.groupby("method")["difference"].mean()
    higher = listed(METHODS[name].column for name in METHODS if gaps.get(name, 0) > MUCH_HIGHER)
    if higher:
        yield f"{higher} score well above their published values."


def about_unseen(found):
    """PReNet compared with the strongest other method on unseen classes."""
    rows = headline(found, "unseen")
    if RELEASED in rows.index:
        row = rows.loc[RELEASED]
        status = set(found.leads.query("experiment == 'unseen' and source == @RELEASED")["status"])
        data = " (partial data)" if "partial" in status else ""
        stands = "leads" if row["lead"].mean > 0 else "trails"
        size = number(abs(row["lead"].mean))
        yield f"On unseen classes{data} it {stands} {METHODS[row['method']].column} by {size}."


# ---------------------------------------------------------------------------- cards


class Card(NamedTuple):
    title: str
    large: str
    lines: list
    source: tuple  # anchor, files, command
    panel: Panel | None = None
    bars: dict = {}  # {name: counts by verdict}, never changed


def cards(found):
    made = own_numbers_card(found), lead_card(found), claims_card(found)
    return [card for card in made if card]


def own_numbers_card(found):
    """How many of PReNet's own numbers are reproduced, how, and how close they are."""
    own = own_numbers(found)
    if own is None or not own.cells:
        return None
    cells, lines = found.exact_cells["seen"].query("method == 'prenet'"), []
    for metric in PAPER_METRICS:
        sizes = cells.loc[cells["metric"] == metric, "difference"].abs()
        if len(sizes):
            largest = f"mean |difference| {number(sizes.mean())}, largest {number(sizes.max())}"
            lines.append(f"{METRICS[metric]}: {largest}")
    lines.append(f"{own.by_interval} lie within their interval, {own.by_rule} more within 0.01.")
    if own.auc_prs:
        below = f"{own.below} of {own.auc_prs} AUC-PRs lie below print ({p_text(own.p)})"
        lines.append(f"{below}: small, but systematic." if own.p < 0.05 else f"{below}.")
    missed = cells[cells["verdict"] != "reproduced"]
    texts = [
        f"{METRICS[row.metric]} on {row.dataset}, by {abs(row.difference):.4f}" for row in missed.itertuples()
    ]
    lines += [f"Not reproduced: {listed(texts)}."] if texts else []
    source = "table-seen", ["seen_vs_published.csv"], "./run_seen.sh"
    return Card("PReNet's own numbers", f"{own.reproduced} of {own.cells} reproduced", lines, source)


def interval_panel(leads, what, values=None, decimals=3, unprinted="not run", **named):
    """{source: Lead} as a row per source; the range contains 0 and all values, if given, or the leads."""
    values = [value for lead in leads.values() for value in lead] if values is None else list(values)
    values = [0.0, *(value for value in values if value == value)]
    width = max(values) - min(values)
    wider = max(SMALLEST_RANGE - width, 0.12 * width) / 2
    shown = {source: unprinted if source == AS_PUBLISHED else "not run" for source in DRAWS}
    shown |= {source: lead for source, lead in leads.items() if np.isfinite(lead.mean)}
    draw = partial(draw_intervals, shown, (min(values) - wider, max(values) + wider), decimals)
    label = f"{what}: {', '.join(f'{source} {lead}' for source, lead in leads.items())}"
    return Panel(draw=draw, label=label, size=(368, 84), margins=(108, 162, 2, 22), **named)


def lead_card(found):
    """The lead over the strongest other method: as published, released and independent."""
    rows = headline(found)
    if RELEASED not in rows.index:
        return None
    leads = dict(rows["lead"])
    panel = interval_panel(leads, "PReNet's lead in AUC-PR over the strongest other method")
    names = listed(f"{METHODS[row['method']].column} ({source})" for source, row in rows.iterrows())
    lines = [f"AUC-PR, Table 2, 95% intervals. Strongest other method: {names}."]
    if (chance := chance_to_show(found)) == chance:
        n_sets = rows["sets"].max()
        lines.append(
            f"The chance that {n_sets} sets show the published lead over DevNet is {100 * chance:.0f}%."
        )
    source = "leads", ["leads.csv"], "./run_seen.sh --protocol independent"
    first, last = leads.get(AS_PUBLISHED), list(leads.values())[-1]
    large = "" if first is None else f"{signed(first.mean)} → {signed(last.mean)}"
    return Card("What remains of the lead", large, lines, source, panel)


def claims_card(found):
    """The main claims by verdict, for exact and partial data, and what the paper's own values support."""
    judged = [one.judged for one in found.main_claims]
    bars = counts_by_data(judged)
    if not bars:
        return None
    own = [one.findings[PAPER].verdict for one in judged]
    line = f"The {len(judged)} main claims. The paper's own printed values support {own.count(SUPPORTED)} of "
    line += (
        f"the {len(own) - own.count(UNTESTABLE)} that they can test. Partial data cannot contradict a claim."
    )
    exact = bars.get("exact", {})
    large = f"{exact.get(SUPPORTED, 0)} of {sum(exact.values())} supported"
    return Card(
        "Main claims by verdict", large, [line], ("claims", ["claims.csv"], "python compare.py"), bars=bars
    )


def picture_caption(cells):
    """What the first figure shows."""
    n_sets = published_table("seen")["dataset"].nunique()
    return (
        f"AUC-PR of Table 2 on the {cells['dataset'].nunique()} of {n_sets} data sets that are exactly the "
        "paper's, from the published value (ring) to ours (dot), with the difference. The mean difference is "
        "next to the method's name. Coloured: the verdict is “differs”."
    )
