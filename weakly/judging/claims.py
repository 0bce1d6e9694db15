"""The claims of the paper as a checklist, judged on its own values and on our runs, released and independent.

    from weakly.judging.claims import judge_claims
    for judged in judge_claims(sources_by_name("results/reference")):
        print(judged.claim.text, judged.ours.shown, judged.evidence)

published/claims.json has an entry per claim, in the paper's order: text, section, the rule in words, and the
name of the function that applies it, with its arguments. The same function judges all sources (sources.py).
verdicts.py explains the verdicts; score_rules.py, gain_rules.py and sweep_rules.py apply the rules. Only data
sets of status `exact` count. Where an experiment has none, its `partial` ones are used and counted apart.
`main` lists the claims that sum up the paper, each with the size of its effect (leads.py).
"""

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from weakly.judging import gain_rules, leads, score_rules, sweep_rules
from weakly.judging.sources import (
    ALL_METHODS,
    APPENDIX,
    TABLE_METHODS,
    WITH_LABELS,
    NotTestable,
    OurTables,
    PublishedTables,
)
from weakly.judging.verdicts import CLAIM_VERDICTS, UNTESTABLE, Finding, on_its_data
from weakly.methods import METHODS
from weakly.paths import PUBLISHED

GROUPS = {  # what `methods` may be in claims.json
    "table": TABLE_METHODS, "appendix": APPENDIX, "all": ALL_METHODS, "labelled": WITH_LABELS,
    "two layers": [name for name in METHODS if name.endswith("-two-layers")],
}  # fmt: skip
PAPER, OURS, NEW = PublishedTables().title, OurTables("").title, OurTables("", new_draws=True).title


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, its section, the rule that judges it, in words and as a function."""

    key: str  # a short name: the claim's anchor on the page
    text: str
    section: str
    judge: Callable  # of a source
    rule: str  # in words
    caveat: str = ""  # what a reader must know in addition to the verdict
    counts: str = OURS  # the title of the source whose verdict counts


@dataclass(frozen=True)
class Judged:
    """A claim and what each source says about it, the paper's own values first."""

    claim: Claim
    findings: dict[str, Finding] = field(default_factory=dict)  # by the title of the source

    @property
    def ours(self) -> Finding:
        """Our finding that counts: with the authors' draws, or with new ones where the claim needs them."""
        return self.findings[self.claim.counts]

    @property
    def verdict(self) -> str:
        return self.ours.verdict

    @property
    def evidence(self) -> str:
        return self.ours.evidence


class MainClaim(NamedTuple):
    judged: Judged
    key: str  # a short name, for files
    quantity: str  # what the sizes are
    sizes: dict  # {source: Size, or a text that says why there is none}


def bound(modules, name, arguments):
    """The function of this name in one of the modules, with its arguments; it only needs a source."""
    function = next(getattr(module, name) for module in modules if hasattr(module, name))
    methods = {"methods": GROUPS[arguments["methods"]]} if "methods" in arguments else {}
    return functools.partial(function, **arguments | methods)


def read_claim(key, text, section, rule, arguments, in_words, caveat="", counts=""):
    """A claim from its entry in claims.json."""
    judge = bound((score_rules, gain_rules, sweep_rules), rule, arguments)
    return Claim(key, text, section, judge, in_words, caveat, counts or OURS)


ENTRIES = json.loads((PUBLISHED / "claims.json").read_text("utf-8"))
CLAIMS = [read_claim(**entry) for entry in ENTRIES["claims"]]


def claim_of(key):
    """The claim of a key, such as nine-on-seen."""
    return next(one for one in CLAIMS if one.key == key)


def tried(function, source):
    """What a function says about a source, or why the source cannot tell, as a text."""
    try:
        return function(source)
    except NotTestable as reason:
        return str(reason)


def judged_by(one, source):
    """What one source says about a claim."""
    found = tried(one.judge, source)
    return Finding(UNTESTABLE, found) if isinstance(found, str) else on_its_data(found)


@functools.cache
def in_paper(key):
    """What the paper's values say about the claim of a key, independent of our results."""
    return judged_by(claim_of(key), PublishedTables())


def judge_claims(sources):
    """All claims of the paper, in its order, each judged on the paper's own values and on every source.

    sources: see sources_by_name.
    """
    return [
        Judged(one, {PAPER: in_paper(one.key)} | {s.title: judged_by(one, s) for s in sources.values()})
        for one in CLAIMS
    ]


def main_claims(sources, judged):
    """The main claims with their verdicts, from judge_claims, and their sizes by source."""
    by_key, found = {one.claim.key: one for one in judged}, []
    for entry in ENTRIES["main"]:
        if entry["claim"] in by_key:
            measure = bound((leads,), entry["size"], entry["arguments"])
            of_sources = {name: tried(measure, source) for name, source in sources.items()}
            found.append(MainClaim(by_key[entry["claim"]], entry["key"], entry["quantity"], of_sources))
    return found


# ---------------------------------------------------------------------------- how many of which verdict


def counts_by_data(judged):
    """{exact or partial: {verdict: number of claims}} of our verdicts that count, without untested claims."""
    counts = {}
    for one in judged:
        if one.verdict != UNTESTABLE:
            counts.setdefault(one.ours.status, dict.fromkeys(CLAIM_VERDICTS, 0))[one.verdict] += 1
    return {status: {verdict: n for verdict, n in counts[status].items() if n} for status in sorted(counts)}


def verdict_counts_of_claims(judged):
    """The number of claims by verdict: a row per source and status of its data, a column per verdict."""
    rows = []
    for title in judged[0].findings if judged else ():
        for verdict, _, status, _ in sorted(one.findings[title] for one in judged):
            is_ours = status in ("exact", "partial") and verdict != UNTESTABLE
            rows.append((f"{title}, {status} data" if is_ours else title, verdict))
    table = pd.DataFrame(rows, columns=["judged on", "verdict"])
    counts = table.groupby(["judged on", "verdict"], sort=False).size().unstack(fill_value=0)
    return counts.reindex(columns=list(CLAIM_VERDICTS), fill_value=0).rename_axis(columns=None)
