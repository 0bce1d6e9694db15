"""What a verdict on a claim is, and how the parts of a claim make one.

The verdicts, the same for all claims:
  supported                 as the paper says, in direction, size and significance
  weakened                  the direction is the paper's, but not the size or the significance
  contradicted              the direction is not the paper's, whether or not the difference is significant
  not so on partial data    the same on data that is not the paper's, which cannot contradict it
  not diagnostic            it is as the paper says, but also where the paper expects the opposite
  not testable here         the results are missing, or the paper does not print what the rule needs

A claim about several methods or data sets has a part for each. A claim about *every* one is supported only if
all parts are and none is missing, and contradicted if one is significantly reversed. A claim about *most* of
them, or about examples, is supported if more than half of the parts are. Otherwise it is weakened if more
than half of the parts at least have the paper's direction, and contradicted if not. Where a rule has a
threshold, the evidence gives the verdicts at half and at twice it, and a verdict that is another one there is
marked as fragile.
"""

from typing import NamedTuple

from weakly.judging.sources import NotTestable, display, listed
from weakly.judging.statistics import MIN_SETS
from weakly.judging.tables import METRICS

CLAIM_VERDICTS = (
    "supported", "weakened", "contradicted", "not so on partial data", "not diagnostic", "not testable here"
)  # fmt: skip
SUPPORTED, WEAKENED, CONTRADICTED, NOT_SO_ON_PARTIAL, NOT_DIAGNOSTIC, UNTESTABLE = CLAIM_VERDICTS


class Finding(NamedTuple):
    """What one source says about a claim."""

    verdict: str  # one of CLAIM_VERDICTS
    evidence: str  # the figures, or what is missing
    status: str = ""  # of the data: exact, partial or printed
    is_fragile: bool = False  # whether half or twice the rule's threshold gives another verdict

    @property
    def shown(self):
        """The verdict with its mark, for every view."""
        return f"{self.verdict} (fragile)" if self.is_fragile else self.verdict


class Part(NamedTuple):
    """What holds for one method, data set or point that a claim is about."""

    text: str
    is_right: bool  # whether its direction is the paper's
    is_enough: bool = True
    is_significant: bool = False

    @property
    def verdict(self):
        return SUPPORTED if self.is_right and self.is_enough else WEAKENED if self.is_right else CONTRADICTED


def verdict_on(parts, missing=(), is_of_most=False):
    """The verdict on a claim about every one of its parts, some of which may be missing, or about most."""
    if not parts:
        raise NotTestable("None of what the claim is about was run.")
    supported = sum(part.verdict == SUPPORTED for part in parts)
    if supported > len(parts) / 2 if is_of_most else supported == len(parts) and not missing:
        return SUPPORTED
    is_reversed = not is_of_most and any(part.is_significant and not part.is_right for part in parts)
    is_right = sum(part.is_right for part in parts) > len(parts) / 2
    return WEAKENED if is_right and not is_reversed else CONTRADICTED


def on_its_data(finding):
    """The Finding as its data allows: partial data cannot contradict a published value."""
    is_too_much = finding.verdict == CONTRADICTED and finding.status == "partial"
    return finding._replace(verdict=NOT_SO_ON_PARTIAL) if is_too_much else finding


def at_half_and_twice(rule, threshold, unit=""):
    """The Finding of rule(threshold), with what it would be at half the threshold and at twice."""
    finding = rule(threshold)
    others = {value: on_its_data(rule(value)).verdict for value in (threshold / 2, 2 * threshold)}
    is_fragile = set(others.values()) != {on_its_data(finding).verdict}
    text = f"The verdict is the same at half and at twice the threshold of {threshold:g}{unit}."
    if is_fragile:
        text = "; ".join(f"at {value:g} {verdict}" for value, verdict in others.items())
        text = f"The threshold is {threshold:g}{unit}; {text}."
    return finding._replace(evidence=f"{finding.evidence} {text}", is_fragile=is_fragile)


def grouped(parts, words):
    """Parts as text by verdict; words name supported, weakened and contradicted ones, {n} of {total}."""
    groups = []
    for verdict, text in zip((SUPPORTED, WEAKENED, CONTRADICTED), words):
        texts = [part.text for part in parts if part.verdict == verdict]
        groups += [f"{text.format(n=len(texts), total=len(parts))} {listed(texts)}"] if texts else []
    return "; ".join(groups)


def finding_on(parts, data, words=None, wanted=(), metric="auc_pr", is_of_most=False, start="", after=""):
    """The Finding of a claim's parts, which rest on data: Scores or a Sweep.

    Texts are grouped by verdict where there are words for it. Wanted methods that the data lacks are named,
    and a claim about every one is not supported without them.
    """
    missing = [name for name in wanted if name not in data.values]
    note = f"; not tested (not run, or on fewer than {MIN_SETS} sets): {display(missing)}" if missing else ""
    verdict = verdict_on(parts, missing, is_of_most)
    text = start + (grouped(parts, words) if words else parts[0].text) + note
    text = f"{text[0].upper()}{text[1:]} ({METRICS[metric]}, {data.words}).{after}"
    return Finding(verdict, text, data.status)
