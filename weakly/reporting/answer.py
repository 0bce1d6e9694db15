"""The first screen of the page: the answer as a short text, three cards and one figure."""

from functools import partial

import numpy as np

from weakly.judging.headline import headline, own_numbers, scaling_part
from weakly.judging.sources import AS_PUBLISHED, INDEPENDENT, RELEASED
from weakly.judging.tables import METRICS
from weakly.methods import METHODS
from weakly.numbers import number
from weakly.reporting.charts import draw_intervals
from weakly.reporting.pictures import Panel

SMALLEST_RANGE = 0.02  # of an axis of leads
MUCH_HIGHER = 0.05  # average AUC-PR above the published values from which a method is mentioned
DRAWS = {source: f"with {source} draws" for source in (RELEASED, INDEPENDENT)}
DRAWS = {AS_PUBLISHED: "as published"} | DRAWS


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
    n_sets = own_cells(found)["dataset"].nunique()
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
        side, size = "leads" if scaled[1] > 0 else "trails", number(abs(scaled[1]))
        yield f"With released draws and another scaling of its inputs it {side} {name} by {size}."
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


def own_cells(found):
    """PReNet's cells of Table 2 on exact data."""
    return found.exact_cells["seen"].query("method == 'prenet'")


def own_gaps(found):
    """How close PReNet's own numbers are, and which are not reproduced, as sentences."""
    cells = own_cells(found)
    for metric, sizes in cells["difference"].abs().groupby(cells["metric"], sort=False):
        yield f"{METRICS[metric]}: mean |difference| {number(sizes.mean())}, largest {number(sizes.max())}"
    missed = cells[cells["verdict"] != "reproduced"].itertuples()
    texts = [f"{METRICS[row.metric]} on {row.dataset}, by {abs(row.difference):.4f}" for row in missed]
    if texts:
        yield f"Not reproduced: {listed(texts)}."


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
