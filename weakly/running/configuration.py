"""A cell: one method on one data set in one set-up. Its runs differ only in their seed.

Experiments ask for cells, the runs file has their identity in its columns, and a worker is sent one to run.
"""

import functools
from dataclasses import asdict, dataclass, fields

from weakly.methods import METHODS
from weakly.source_code import hash_of_modules

PREPARED = "prepared"  # the scaling that changes nothing: features as data_prep.py made them
MEASURING = ("weakly.loading.splits", "weakly.running.single_run")
SCALING_CODE = "weakly.training.number_scaler"  # only where it changes the features


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
    code: str = ""  # its hash
    # what its rows, its table and its detector need in addition
    experiment: str = ""
    rows: int = 0
    features: int = 0
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

    def row(self, measured):
        """A run as a row of the runs file; `measured` has the code hash of the worker that made the run."""
        return asdict(self) | measured

    def __str__(self):
        overrides = "".join(f", {name}={value}" for name, value in self.overrides)
        where = f"{self.method} on {self.dataset}, {self.n_labeled} labels"
        scaling = "" if self.scaling == PREPARED else f", scaling {self.scaling}"
        return f"{where}, contamination {self.contamination:g}{scaling}{overrides}"


IDENTITY_COLUMNS = [field.name for field in fields(Cell)][:10]
PLACE = IDENTITY_COLUMNS[:6]  # method, data set and set-up, without data version, settings and code


@functools.cache
def code_hash(method, scaling=PREPARED):
    """The hash of the code that decides the numbers of a method's runs: 16 hexadecimal digits.

    It covers the detector's module, the splits, the metrics and everything that these import.
    """
    entry, measuring = METHODS[method], MEASURING if scaling == PREPARED else (*MEASURING, SCALING_CODE)
    return hash_of_modules(entry.module, *measuring, title=f"{entry.module}.{entry.class_name}")
