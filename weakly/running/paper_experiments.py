"""The experiments: what each table and figure of the paper consists of, and those beyond the paper."""

from dataclasses import dataclass, field

from weakly.loading.registry import OUTSIDE_SETS, SEEN_SETS
from weakly.loading.splits import OUTSIDE_PROTOCOLS, PAPER_PROTOCOLS
from weakly.loading.unseen import DEMO, UNSEEN_DEMO_SETS, UNSEEN_SETS
from weakly.methods import METHODS, method_group
from weakly.running.configuration import PREPARED

# those available as the paper describes them
EXACT_SETS = ("donors", "census", "fraud", "celeba", "bac", "w7a", "campaign", "thyroid")


# The 14 unseen sets on which the methods work best: the paper's choice, but it has no list (Sec. 5.5).
# Our rule: the highest published AUC-PR, averaged over the six methods that use labels.
FIGURE_3_SETS = (
    "dos->bac", "dos,fuz->bac", "rec,dos->bac",
    "bac->dos", "bac,fuz->dos", "fuz->dos", "rec->dos", "rec,bac->dos", "rec,fuz->dos",
    "bac->rec", "bac,fuz->rec", "dos->rec", "dos,bac->rec", "fuz->rec",
)  # fmt: skip
# the initial weights, everything, the split, the labelled anomalies, the contamination
DRAW_PROTOCOLS = ("released", "redrawn", "redrawn-split", "redrawn-labels", "redrawn-contamination")
THEOREM_RATES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.66)  # of contamination with --theorem, beyond those of Fig. 4
COSTLY_SETS = ("donors", "census")  # at these rates they need a million draws and more than a gigabyte


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper: its data sets, its methods and what it varies, one at a time."""

    regenerates: str
    data_sets: tuple
    methods: list
    sweeps: dict = field(default_factory=dict)  # {parameter: values}
    demo_sets: tuple = (DEMO,)
    in_paper: bool = True  # what `all` runs
    protocols: tuple = PAPER_PROTOCOLS  # possible protocols; the first is the default
    each_protocol: bool = False  # whether all of them are run in turn
    runs: int = 10
    others: tuple = ()  # data sets of other experiments that can be named
    adds_to: str = ""  # the experiment to which its runs and tables belong, if not to itself

    def has(self, name):
        """Whether a data set belongs to the experiment, or is its demo."""
        kinds = {kind_of(other) for other in (*self.data_sets, *self.others)}
        return name in self.demo_sets or kind_of(name) in kinds


def kind_of(name):
    """What a data set is used for: Table 2, Table 3 or the cross-check."""
    return "outside" if name in OUTSIDE_SETS else "unseen" if "->" in name else "seen"


EXPERIMENTS = {
    "seen": Experiment("Table 2", SEEN_SETS, method_group("table")),
    "unseen": Experiment("Table 3", UNSEEN_SETS, method_group("table"), demo_sets=UNSEEN_DEMO_SETS),
    "labels": Experiment(
        "Figs. 2 and 3", (*SEEN_SETS, *FIGURE_3_SETS),
        [name for name in method_group("table") if METHODS[name].uses_labels],
        {"n_labeled": (15, 30, 60, 90, 120)}, demo_sets=(DEMO, UNSEEN_DEMO_SETS[0]),
    ),
    "contamination": Experiment("Fig. 4", SEEN_SETS, ["prenet"], {"contamination": (0.0, 0.02, 0.05, 0.1)}),
    "ablation": Experiment("Table 4", SEEN_SETS, ["prenet", *method_group("ablation")]),
    "sensitivity": Experiment(
        "Fig. 5", SEEN_SETS, ["prenet"],
        {
            "margin": (0.25, 0.5, 1.0, 2.0, 4.0, 8.0),
            "ensemble_size": (1, 5, 10, 20, 30, 50),
            "l2": (0.001, 0.005, 0.01, 0.05, 0.1),
        },
    ),
    "interpretations": Experiment(
        "not in the paper: other interpretations of what its text leaves open", EXACT_SETS,
        method_group("interpretation"), in_paper=False,
    ),
    "today": Experiment(
        "not in the paper: what one would use today", EXACT_SETS, method_group("table", "appendix", "today"),
        {"n_labeled": (5, 20, 60)}, in_paper=False, protocols=("independent",),
    ),
    "scaling": Experiment(
        "not in the paper: its scaling of the features, and one learned from the training rows", EXACT_SETS,
        [*method_group("table", "appendix", "today"), "dsad-autoencoder"],
        {"scaling": (PREPARED, "cut", "fences")}, in_paper=False, protocols=("independent", "released"),
        others=tuple(OUTSIDE_SETS),
    ),
    "crosscheck": Experiment(
        "not in the paper: comparison with another implementation's results", tuple(OUTSIDE_SETS),
        [*"prenet devnet dsad repen feawad xgbod logistic random-forest xgboost catboost".split(),
         *method_group("outside")],
        {"n_labeled": (5, 10, 20)}, in_paper=False, protocols=OUTSIDE_PROTOCOLS, each_protocol=True, runs=3,
        others=EXACT_SETS,
    ),
    "draws": Experiment(
        "not in the paper: Table 2 with one random draw varied and all others fixed", EXACT_SETS,
        ["prenet", "devnet"], in_paper=False, protocols=DRAW_PROTOCOLS, each_protocol=True, adds_to="seen",
    ),
}  # fmt: skip
