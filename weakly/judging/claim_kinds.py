"""What a claim is, and the rules that claims of one kind are judged by."""

from collections.abc import Callable
from dataclasses import dataclass, field

from weakly.judging.sources import OurTables
from weakly.judging.verdicts import Finding


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, its section, the rule that judges it, in words and as a function."""

    key: str  # a short name: the claim's anchor on the page
    text: str
    section: str
    rule: str
    judge: Callable  # of a source and the arguments
    arguments: dict = field(default_factory=dict)
    caveat: str = ""  # what a reader must know in addition to the verdict


@dataclass(frozen=True)
class Judged:
    """A claim and what each source says about it, the paper's own values first."""

    claim: Claim
    findings: dict[str, Finding]  # by the title of the source

    @property
    def ours(self) -> Finding:
        """Our finding with the authors' draws, which is the one that counts."""
        return self.findings[OurTables("").title]

    @property
    def verdict(self) -> str:
        return self.ours.verdict

    @property
    def evidence(self) -> str:
        return self.ours.evidence


# The rules for claims of one kind.
SIGNIFICANT = (
    "Every method: PReNet ahead by the sum of signed ranks, and p < {level} in the paired two-sided Wilcoxon "
    "test over data sets; contradicted if one is significantly better than PReNet."
)
BEST_MEAN = "The highest mean, and the 95% interval of the lead over the runner-up above 0."
AS_QUOTED = (
    "Every method: at least nine tenths of the quoted improvement of the mean; for ours, of the improvement "
    "that the paper's table gives on the same sets."
)
PER_SET = "Most of the named sets: above by the lower figure or more, to within a percentage point."
PER_SET_RUNS = (
    "On at least {claimed} of 12 sets, or that share of ours, p < 0.05 over the runs: Mann-Whitney with the "
    "authors' draws, where only the seed differs, Wilcoxon with new draws; weakened if better on more sets "
    "than worse."
)
AS_GOOD = (
    "Most sets: with the largest of these numbers of labels at most 0.01 below the other's AUC-PR with 120; "
    "weakened where that holds only against the other with as few labels."
)
BETTER_THAN = (
    "Most sets: with the largest of these numbers of labels at least 0.01 above the other's AUC-PR with 120; "
    "weakened where that holds only against the other with as few labels."
)
STABLE = "Every data set: {what} differs by at most 0.05."
MORE_LABELS = "{which}: AUC-PR with 120 labels above that with 15, on average and on most of the sets."
ON_MOST = "Every method: ahead on more than half of the sets."
BEST_RANK = "The lowest average ordinal rank by AUC-PR, by half a rank or more."
CONOVER = (
    "Every method: a better average rank, and a Holm-adjusted p < 0.05 in Conover's test, on the data sets "
    "that all methods have; contradicted if one is significantly better than PReNet."
)
SHARED_ROWS = "The 28 unseen sets share most of their rows: p-values and intervals over them are too small."
UNSEEN_COLUMNS = (
    "The printed unseen columns of XGBOD, PUMAD and FEAWAD hardly depend on the unseen class, so they were "
    f"very likely scored on seen anomalies. {SHARED_ROWS}"
)
BETTER_THAN_VARIANT = "PReNet's mean AUC-PR is higher, and its AUC-PR on more than half of the sets."
MOVE = "Most{which} sets: AUC-PR {what} by more than 0.01."
NO_TEST_NAMED = "The text names no test for single data sets, and may mean `substantially`."
