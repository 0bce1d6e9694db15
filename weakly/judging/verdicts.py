"""What a verdict on a claim is, and how the parts of a claim make one.

The verdicts, the same for all claims:
  supported                 as the paper says, in direction, size and significance
  weakened                  the direction is the paper's, but not the size or the significance
  contradicted              the direction is not the paper's, whether or not the difference is significant
  not so on partial data    the same on data that is not the paper's, which cannot contradict it
  not diagnostic            it is as the paper says, but also where the paper expects the opposite
  not testable here         the results are missing, or the paper does not print what the rule needs

A claim about several methods or data sets has a part for each. A claim about *every* one is supported only if
all parts are and none is missing. A claim about *most* of them, or about examples, is supported if more than
half of the parts are. Otherwise it is weakened if more than half of the parts at least have the paper's
direction, and contradicted if not. A claim about every method is also contradicted if one method is
significantly better. Where a rule has a threshold, the evidence gives the verdicts at half and at twice it,
and a verdict that is another one there is marked as fragile.
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

    verdict: str
    text: str = ""
    is_reversed: bool = False  # significantly


def counted(parts, *verdicts):
    return sum(part.verdict in verdicts for part in parts)


def of_every(parts, missing=()):
    """The verdict on a claim about every one of its parts, some of which may be missing."""
    if any(part.is_reversed for part in parts):
        return CONTRADICTED
    if counted(parts, SUPPORTED) == len(parts) and parts and not missing:
        return SUPPORTED
    return _by_majority(parts)


def of_most(parts, missing=()):
    """The verdict on a claim about most of its parts, or about examples."""
    return SUPPORTED if counted(parts, SUPPORTED) > len(parts) / 2 else _by_majority(parts)


def _by_majority(parts):
    """Whether most parts at least have the paper's direction."""
    if not parts:
        raise NotTestable("None of what the claim is about was run.")
    return WEAKENED if counted(parts, SUPPORTED, WEAKENED) > len(parts) / 2 else CONTRADICTED


def by_direction(is_right, is_enough=True):
    """The verdict on a single statement: whether its direction and its size are the paper's."""
    return SUPPORTED if is_right and is_enough else WEAKENED if is_right else CONTRADICTED


def part(text, is_right, is_enough=True, is_significant=False):
    """A part by its direction and size; significant in the other direction is worse than not at all."""
    return Part(by_direction(is_right, is_enough), text, bool(is_significant and not is_right))


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


# ---------------------------------------------------------------------------- wording


def grouped(parts, words):
    """Parts as text by verdict: words say what supported, weakened and contradicted mean here.

    {n} and {total} in them are the numbers of such parts and of all.
    """
    groups = []
    for verdict, text in zip((SUPPORTED, WEAKENED, CONTRADICTED), words):
        texts = [part.text for part in parts if part.verdict == verdict]
        groups += [f"{text.format(n=len(texts), total=len(parts))} {listed(texts)}"] if texts else []
    return "; ".join(groups)


def not_run(data, wanted):
    """The methods that a claim is about and the data lacks, and a text that names them."""
    missing = [name for name in wanted if name not in data.values]
    why = f"not run, or on fewer than {MIN_SETS} sets"
    return missing, f"; not tested ({why}): {display(missing)}" if missing else ""


def capital(text):
    return text[0].upper() + text[1:]


def said(text, data, metric="auc_pr"):
    """A sentence with the metric and the data that it rests on, which are Scores or a Sweep."""
    return f"{capital(text)} ({METRICS[metric]}, {data.words})."


def of_one(is_right, is_enough, text, data, wanted=()):
    """The Finding of a single statement, whose data should have the wanted methods."""
    missing, note = not_run(data, wanted)
    verdict = by_direction(is_right, is_enough and not missing)
    return Finding(verdict, said(text + note, data), data.status)


def of_parts(parts, words, data, metric="auc_pr", combine=of_every, wanted=(), start="", after=""):
    """The Finding of several parts, with their texts grouped by verdict between a start and an ending."""
    missing, note = not_run(data, wanted)
    verdict = combine(parts, missing)  # raises NotTestable without any part
    text = said(f"{start}{grouped(parts, words)}{note}", data, metric)
    return Finding(verdict, text + after, data.status)
