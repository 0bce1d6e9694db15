"""The claims of the paper as a checklist, judged on its own values and on our runs, released and independent.

published/claims.json has an entry per claim, in the paper's order: with the name and the arguments of its
rule, a function of table_rules.py or sweep_rules.py. The same rule judges all sources (sources.py);
verdicts.py explains the verdicts.
Only data sets of status `exact` count. Where an experiment has none, its `partial` ones are used and counted
apart. `main` lists the claims that sum up the paper, each with the size of its effect (leads.py).
"""

import functools
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from weakly.judging import leads, sweep_rules, table_rules
from weakly.judging.sources import NotTestable, OurTables, PublishedTables
from weakly.judging.verdicts import CLAIM_VERDICTS, UNTESTABLE, Finding, on_its_data
from weakly.methods import METHODS, method_group
from weakly.paths import PUBLISHED

GROUPS = {  # what `methods` may be in claims.json
    "table": method_group("table"), "appendix": method_group("appendix"),
    "all": method_group("table", "appendix"),
    "labelled": [name for name in method_group("table") if METHODS[name].uses_labels],
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
    findings: dict[str, Finding]  # by the title of the source

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


def bound(name, arguments):
    """The rule or size of this name with its arguments; it only needs a source."""
    modules = (table_rules, sweep_rules, leads)
    function = next(getattr(module, name) for module in modules if hasattr(module, name))
    if isinstance(arguments.get("methods"), str):
        arguments = arguments | {"methods": GROUPS[arguments["methods"]]}
    return functools.partial(function, **arguments)


def read_claim(rule, arguments, in_words, **texts):
    return Claim(judge=bound(rule, arguments), rule=in_words, **texts)


ENTRIES = json.loads((PUBLISHED / "claims.json").read_text("utf-8"))
CLAIMS = [read_claim(**entry) for entry in ENTRIES["claims"]]


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
def in_paper(one):
    """What the paper's values say about a claim, independent of our results."""
    return judged_by(one, PublishedTables())


def judge_claims(sources):
    """All claims of the paper, in its order, each judged on the paper's own values and on every source."""
    ours = sources.values()
    return [
        Judged(one, {PAPER: in_paper(one)} | {s.title: judged_by(one, s) for s in ours}) for one in CLAIMS
    ]


def main_claims(sources, judged):
    """The main claims with their verdicts, from judge_claims, and their sizes by source."""
    by_key, found = {one.claim.key: one for one in judged}, []
    for entry in ENTRIES["main"]:
        if entry["claim"] in by_key:
            measure = bound(entry["size"], entry["arguments"])
            of_sources = {name: tried(measure, source) for name, source in sources.items()}
            found.append(MainClaim(by_key[entry["claim"]], entry["key"], entry["quantity"], of_sources))
    return found


def counts_by_data(judged):
    """{exact or partial: {verdict: number of claims}} of our verdicts that count, without untested claims."""
    counts = Counter((one.ours.status, one.verdict) for one in judged if one.verdict != UNTESTABLE)
    ordered = sorted(counts, key=lambda key: (key[0], CLAIM_VERDICTS.index(key[1])))
    return {of: {v: counts[of, v] for status, v in ordered if status == of} for of, _ in ordered}


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
