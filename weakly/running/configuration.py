"""A cell: one method on one data set in one set-up. Its runs differ only in their seed.

Experiments ask for cells, the runs file has their identity in its columns, and a worker is sent one to run.
"""

from dataclasses import dataclass, fields

PREPARED = "prepared"  # the scaling that changes nothing: features as data_prep.py made them


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What is to be run. The fields up to `code` are its identity: what averaged runs have in common."""

    method: str
    dataset: str
    protocol: str = "released"
    n_labeled: int = 60
    contamination: float = 0.02
    scaling: str = PREPARED  # of the features, by what the training rows teach
    data_sha256: str = ""  # of the prepared arrays
    data_status: str = ""  # whether they are the paper's
    settings: str = ""  # of the detector, as describe_settings has them
    code: str = ""  # the hash of our modules and library versions
    # what its rows, its table and its detector need in addition
    experiment: str = ""
    row_order: str = ""  # how well it is known
    data_dir: str = "dataset"
    overrides: tuple = ()  # (name, value) pairs of detector parameters other than the method's own
    point: tuple = ()  # (parameter, value) of a sweep

    @property
    def identity(self):
        return tuple(getattr(self, name) for name in IDENTITY_COLUMNS)

    @property
    def training(self):
        """What its detectors learn from: cells that differ only in the unseen class share their fits."""
        seen, _, _ = self.dataset.partition("->")
        set_up = (self.protocol, self.n_labeled, self.contamination, self.scaling)
        return self.method, *sorted(seen.split(",")), *set_up, self.overrides, self.data_dir

    def __str__(self):
        overrides = "".join(f", {name}={value}" for name, value in self.overrides)
        where = f"{self.method} on {self.dataset}, {self.n_labeled} labels"
        scaling = "" if self.scaling == PREPARED else f", scaling {self.scaling}"
        return f"{where}, contamination {self.contamination:g}{scaling}{overrides}"


IDENTITY_COLUMNS = [field.name for field in fields(Cell)][:10]
PLACE = IDENTITY_COLUMNS[:6]  # method, data set and set-up, without data version, settings and code
