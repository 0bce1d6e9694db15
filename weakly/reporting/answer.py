"""The first screen of the page: the answer as a short text, three cards and one figure."""

from html import escape

import pandas as pd

from weakly.judging.cells import TITLES, published_table
from weakly.judging.effects import Lead
from weakly.judging.leads import interval_is_above_zero, strongest_other
from weakly.judging.sources import AS_PUBLISHED, REDRAWN, RELEASED, PublishedTables
from weakly.judging.tables import METRICS, PAPER_METRICS
from weakly.judging.verdicts import CLAIM_VERDICTS, UNTESTABLE, capital
from weakly.methods import METHODS, method_group
from weakly.numbers import number, signed
from weakly.reporting.charts import dumbbells, interval_range, intervals, verdict_bar
from weakly.reporting.elements import tag
from weakly.reporting.markup import follow, missing
from weakly.reporting.svg import grid

TESTED = [verdict for verdict in CLAIM_VERDICTS if verdict != UNTESTABLE]
MUCH_HIGHER = 0.05  # average AUC-PR above the published values from which a method is mentioned


def listed(names):
    """`A`, `A and B`, `A, B and C`."""
    names = list(names)
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def answer(found):
    """The first screen as HTML."""
    return (
        tag("p", escape(sentence(found)), class_="lead")
        + tag("div", "".join(card for card in cards(found) if card), class_="cards")
        + picture(found)
    )


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
        source: strongest_other(found.leads, "seen", source) for source in (AS_PUBLISHED, RELEASED, REDRAWN)
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
    row = strongest_other(found.leads, "unseen", RELEASED)
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


def cards(found):
    return own_numbers_card(found), lead_card(found), claims_card(found)


def card(title, large, rest):
    return tag("section", tag("h2", escape(title)) + tag("b", escape(large), class_="large") + rest)


def own_numbers_card(found):
    """How many of PReNet's own numbers are reproduced, and how close they are."""
    own = own_cells(found)
    if own is None or own.empty:
        return ""
    lines = []
    for metric in PAPER_METRICS:
        sizes = own.loc[own["metric"] == metric, "difference"].abs()
        if len(sizes):
            text = (
                f"{METRICS[metric]}: mean |difference| {number(sizes.mean())}, largest {number(sizes.max())}"
            )
            lines.append(tag("p", text))
    n_good = (own["verdict"] == "reproduced").sum()
    missed = own[own["verdict"] != "reproduced"]
    texts = [
        f"{METRICS[row.metric]} on {row.dataset}, by {abs(row.difference):.4f}" for row in missed.itertuples()
    ]
    lines += [tag("p", escape(f"Not reproduced: {listed(texts)}."))] if texts else []
    source = follow(found.folder, "table-seen", ["seen_vs_published.csv"], "./run_seen.sh")
    return card("PReNet's own numbers", f"{n_good} of {len(own)} reproduced", "".join(lines) + source)


def lead_card(found):
    """The lead over the best rival: as published, with the authors' draws, with new draws."""
    rows = {
        source: strongest_other(found.leads, "seen", source) for source in (AS_PUBLISHED, RELEASED, REDRAWN)
    }
    there = {source: row for source, row in rows.items() if row is not None}
    if RELEASED not in there:
        return ""
    leads = {source: Lead(row["mean"], row["low"], row["high"]) for source, row in there.items()}
    drawn = [(source, leads.get(source), "not run") for source in rows]
    label = f"PReNet's lead in AUC-PR over the best rival: {', '.join(f'{s} {v}' for s, v in leads.items())}"
    last = list(there)[-1]
    rivals = listed(f"{name(row)} ({source})" for source, row in there.items())
    plot = intervals(drawn, interval_range(leads.values()), label)
    text = tag("p", escape(f"AUC-PR, Table 2, 95% intervals. Closest rival: {rivals}."))
    source = follow(found.folder, "leads", ["leads.csv"], "./run_seen.sh --protocol independent")
    large = (
        f"{signed(there[AS_PUBLISHED]['mean'])} → {signed(there[last]['mean'])}"
        if AS_PUBLISHED in there
        else ""
    )
    return card("What remains of the lead", large, plot + text + source)


def claims_card(found):
    """The claims by verdict, for exact and partial data, and what the paper's own values support."""
    rows = ""
    for status in ("exact", "partial"):
        verdicts = [one.verdict for one in found.claims if one.ours.status == status]
        if verdicts:
            counts = {verdict: verdicts.count(verdict) for verdict in TESTED}
            rows += tag("div", tag("span", f"{status} data") + verdict_bar(counts), class_="of-status")
    if not rows:
        return ""
    exact = [one.verdict for one in found.claims if one.ours.status == "exact"]
    own = [one.findings[PublishedTables().title].verdict for one in found.claims]
    printed = f"The paper's own printed values support {own.count(TESTED[0])} of the "
    printed += f"{len(own) - own.count(UNTESTABLE)} claims that they can test."
    legend = f"{capital(', '.join(TESTED[:-1]))} or {TESTED[-1]}, with the authors' draws"
    source = follow(found.folder, "claims", ["claims.csv"], "python compare.py")
    rest = rows + tag("p", escape(f"{legend}. {printed}")) + source
    return card("Claims by verdict", f"{exact.count(TESTED[0])} of {len(exact)} supported", rest)


# ---------------------------------------------------------------------------- the picture


def picture(found):
    """Published to ours, a dumbbell per method and data set of Table 2 that we have exactly."""
    cells = found.exact_cells.get("seen")
    if cells is None or cells.empty:
        return missing(TITLES["seen"], "./run_seen.sh")
    cells = cells[cells["metric"] == "auc_pr"]
    methods = [method for method in method_group("table", "appendix") if method in set(cells["method"])]
    panels = [dumbbells(method, cells[cells["method"] == method]) for method in methods]
    n_sets = published_table("seen")["dataset"].nunique()
    caption = f"AUC-PR of Table 2 on the {cells['dataset'].nunique()} of {n_sets} data sets that are exactly "
    caption += "the paper's, from the published value (ring) to ours (dot), with the difference. The mean "
    caption += "difference is next to the method's name. Coloured: the verdict is “differs”."
    source = follow(found.folder, "picture", ["seen_vs_published.csv"], "./run_seen.sh --methods all")
    return tag(
        "figure", grid(panels, "panels narrow") + tag("figcaption", escape(caption)) + source,
        id="picture", class_="first",
    )  # fmt: skip
