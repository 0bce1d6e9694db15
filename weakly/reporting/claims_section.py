"""The claims on the page: the eight main ones with small plots, the others folded."""

from html import escape

from weakly.judging.claims import verdict_counts_of_claims
from weakly.judging.sizes import Size
from weakly.judging.sources import AS_PUBLISHED, REDRAWN, RELEASED, OurTables, PublishedTables
from weakly.judging.verdicts import CLAIM_VERDICTS, UNTESTABLE, capital
from weakly.reporting.charts import interval_range, intervals
from weakly.reporting.elements import foldable, tag
from weakly.reporting.markup import badge, follow, frame_table

SOURCES = {  # the titles in claims.py, and their names here
    PublishedTables().title: AS_PUBLISHED,
    OurTables("").title: RELEASED,
    OurTables("", new_draws=True).title: REDRAWN,
}


def claims_section(found):
    """The main claims, the others, and the number of claims by verdict."""
    main = {one.judged.claim.key for one in found.main_claims}
    others = [one for one in found.claims if one.claim.key not in main]
    counts = frame_table("Claims by verdict and source", verdict_counts_of_claims(found.claims))
    return (
        tag("div", "".join(main_claim(found, one) for one in found.main_claims), class_="main-claims")
        + foldable(f"The other {len(others)} claims", others_list(found, others), id="other-claims")
        + foldable("Verdict counts", counts)
    )


def others_list(found, others):
    """All other claims as a list with its own filters."""
    return (
        claims_filter()
        + tag("ul", "".join(other_claim(found, one) for one in others), class_="claims")
        + tag("p", "No claim matches these filters.", class_="no-match", id="no-claim", hidden="")
    )


def claims_filter():
    """Filters for the list below only."""
    options = "".join(tag("option", verdict, value=verdict) for verdict in CLAIM_VERDICTS)
    text = tag("label", "Text " + tag("input", type="search", name="text", placeholder="such as DevNet"))
    verdict = tag(
        "label", "Verdict " + tag("select", tag("option", "all", value="") + options, name="verdict")
    )
    return tag(
        "form", tag("span", "Filter this list:") + text + verdict + tag("output", aria_live="polite"),
        id="claim-filters", hidden="", aria_label="Filters for the list of claims",
    )  # fmt: skip


def verdicts(one):
    """The verdicts of all sources side by side, the paper's own values first."""
    cells = [
        tag("div", tag("small", escape(name)) + badge(one.findings[title].verdict))
        for title, name in SOURCES.items()
    ]
    return tag("div", "".join(cells), class_="says")


def heading(one):
    section = tag("span", escape(one.claim.section), class_="section")
    return f"{escape(one.claim.text)} {section}"


def evidence(one):
    """A claim's caveat and, folded, its rule and the figures of all sources."""
    caveat = tag("p", escape(one.claim.caveat), class_="evidence") if one.claim.caveat else ""
    lines = {"The rule": one.claim.rule} | {title: found.evidence for title, found in one.findings.items()}
    figures = "".join(tag("dt", escape(title)) + tag("dd", escape(line)) for title, line in lines.items())
    return caveat + foldable("The rule, and all figures", tag("dl", figures))


def main_claim(found, one):
    """A claim with its verdicts and a plot of its size in every source."""
    leads = {source: size.lead for source, size in one.sizes.items() if isinstance(size, Size)}
    rivals = {source: size.rival for source, size in one.sizes.items() if isinstance(size, Size)}
    rows = [
        (source, leads.get(source), "the paper prints no value" if source == AS_PUBLISHED else "not run")
        for source in one.sizes
    ]
    decimals = 2 if one.key == "theorem" else 3
    label = f"{one.quantity}: " + ", ".join(f"{source} {lead}" for source, lead in leads.items())
    plot = intervals(rows, interval_range(leads.values()), label, decimals) if leads else ""
    if len(set(rivals.values())) > 1:
        rival = "; closest: " + ", ".join(f"{name} ({source})" for source, name in rivals.items())
    else:
        rival = ""
    status = " · partial data" if one.judged.ours.status == "partial" else ""
    caption = tag(
        "figcaption", escape(f"{capital(one.quantity)}, 95% interval over data sets and runs{rival}{status}")
    )
    files, command = ["main_claims.csv", "claims.csv"], "python compare.py"
    anchor = f"claim-{one.judged.claim.key}"
    first = one.judged.evidence.split(";")[0].rstrip(".")
    text = tag("h3", heading(one.judged)) + verdicts(one.judged)
    text += tag("p", escape(f"{first}."), class_="evidence") + evidence(one.judged)
    return tag(
        "article",
        tag("div", text + follow(found.folder, anchor, files, command))
        + tag("figure", plot + caption if plot else ""),
        id=anchor,
    )


def other_claim(found, one):
    """A claim as an entry of the list."""
    anchor = f"claim-{one.claim.key}"
    text = tag("p", heading(one)) + tag("p", escape(one.evidence), class_="evidence") + evidence(one)
    is_open = "untested" if one.verdict == UNTESTABLE else "tested"
    return tag(
        "li",
        verdicts(one) + tag("div", text + follow(found.folder, anchor, ["claims.csv"], "python compare.py")),
        id=anchor,
        class_=is_open,
        data_verdicts=" | ".join(dict.fromkeys(one.findings[title].verdict for title in SOURCES)),
    )
