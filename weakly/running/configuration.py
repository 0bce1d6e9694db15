"""What is to be run: its identity, the plan that asks for it, the cell that a worker is sent, and its row.

Identity       what two runs must share to be averaged
Configuration  a requested identity, with what its row, its table and its detector need in addition
Cell           the missing runs of a configuration: all that a worker needs to know
row_of_run     the row of the runs file: a configuration and what one of its runs measured
"""

from dataclasses import asdict, astuple, dataclass, fields, replace
from typing import Any

PREPARED = "prepared"  # the scaling that changes nothing: features as data_prep.py made them


@dataclass(frozen=True)
class Identity:
    """What the numbers of a run depend on, except its seed; the fields are columns of the runs file."""

    method: str
    dataset: str
    protocol: str
    n_labeled: int
    contamination: float
    scaling: str  # of the features, by what the training rows teach; PREPARED: as they are
    data_sha256: str  # of the prepared arrays
    data_status: str  # whether they are the paper's
    settings: str  # of the detector, as describe_settings has them
    code: str  # its hash

    @property
    def place(self) -> tuple[str, str, str, int, float, str]:
        """Method, data set and set-up, without data version, settings and code."""
        return astuple(self)[: len(PLACE)]


IDENTITY_COLUMNS = [field.name for field in fields(Identity)]
PLACE = IDENTITY_COLUMNS[:6]


@dataclass(frozen=True)
class Configuration:
    """One method on one data set at one point of a sweep, as requested by an experiment."""

    experiment: str
    identity: Identity
    rows: int
    features: int
    row_order: str  # how well it is known
    overrides: tuple = ()  # (name, value) pairs of detector parameters other than the method's own
    point: tuple = ()  # (parameter, value) of a sweep

    @property
    def work(self):
        """Roughly how long a run takes, relative to the shortest.

        Training takes the same time on any data; the rest grows with the data.
        """
        return 1 + self.rows * min(self.features, 100_000) / 3e7

    def cell(self, runs, data_dir):
        place: dict[str, Any] = dict(zip(PLACE, self.identity.place))
        return Cell(**place, runs=tuple(runs), data_dir=data_dir, overrides=self.overrides)


@dataclass(frozen=True)
class Cell:
    """Runs of one method on one data set."""

    method: str
    dataset: str
    protocol: str
    n_labeled: int
    contamination: float
    runs: tuple
    data_dir: str = "dataset"
    overrides: tuple = ()
    scaling: str = PREPARED

    @property
    def training(self):
        """The cell without its runs and its unseen class: cells that have it in common share their fits."""
        seen, _, _ = self.dataset.partition("->")
        return replace(self, dataset=",".join(sorted(seen.split(","))), runs=())

    def __str__(self):
        overrides = "".join(f", {name}={value}" for name, value in self.overrides)
        where = f"{self.method} on {self.dataset}, {self.n_labeled} labels"
        scaling = "" if self.scaling == PREPARED else f", scaling {self.scaling}"
        return f"{where}, contamination {self.contamination:g}{scaling}{overrides}"


def row_of_run(configuration, measured):
    """The columns of the runs file; `measured` includes the code hash, from the worker that made the run."""
    data = {"rows": configuration.rows, "features": configuration.features}
    return {"experiment": configuration.experiment} | asdict(configuration.identity) | data | measured
