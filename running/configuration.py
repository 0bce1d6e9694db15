"""What is to be run: its identity, the plan that asks for it, the cell that a worker is sent, and its row.

Identity       what makes two runs runs of the same thing: only these are averaged
Configuration  an identity that was asked for, with what its row, its table and its detector need besides
Cell           the runs of a configuration that are missing: all that a worker has to know
row_of_run     the row of the runs file: a configuration and what one of its runs measured
"""

from dataclasses import asdict, astuple, dataclass, fields, replace


@dataclass(frozen=True)
class Identity:
    """What the numbers of a run depend on, but for its seed; the fields are columns of the runs file."""

    method: str
    dataset: str
    protocol: str
    n_labeled: int
    contamination: float
    data_sha256: str  # of the prepared arrays
    data_status: str  # whether they are the paper's
    settings: str  # of the detector, as describe_settings has them
    code: str  # its hash

    @property
    def place(self) -> tuple[str, str, str, int, float]:
        """Method, data set and set-up, whatever it is made with."""
        return astuple(self)[: len(PLACE)]


IDENTITY_COLUMNS = [field.name for field in fields(Identity)]
PLACE = IDENTITY_COLUMNS[:5]


@dataclass(frozen=True)
class Configuration:
    """One method on one data set at one point of a sweep, as an experiment asks for it."""

    experiment: str
    identity: Identity
    rows: int
    features: int
    row_order: str  # how far it is known
    overrides: tuple = ()  # (name, value) pairs of detector parameters other than the method's own
    point: tuple = ()  # (parameter, value) of a sweep

    @property
    def work(self):
        """About how long a run takes, in units of the shortest.

        Training takes its time on any data, the rest grows with the data.
        """
        return 1 + self.rows * min(self.features, 100_000) / 3e7

    def cell(self, runs, data_dir):
        return Cell(*self.identity.place, tuple(runs), data_dir, self.overrides)


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

    @property
    def training(self):
        """The cell without its runs and its unseen class: cells with the same one share their fits."""
        seen, _, _ = self.dataset.partition("->")
        return replace(self, dataset=",".join(sorted(seen.split(","))), runs=())

    def __str__(self):
        overrides = "".join(f", {name}={value}" for name, value in self.overrides)
        where = f"{self.method} on {self.dataset}, {self.n_labeled} labels"
        return f"{where}, contamination {self.contamination:g}{overrides}"


def row_of_run(configuration, measured):
    """The columns of the runs file; `measured` has the code too: that of the worker, which made the run."""
    data = {"rows": configuration.rows, "features": configuration.features}
    return {"experiment": configuration.experiment} | asdict(configuration.identity) | data | measured
