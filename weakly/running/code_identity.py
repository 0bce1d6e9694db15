"""Which code made a run: a hash of all our code that decides its numbers, stored in the result files.

    code_hash("prenet")      # of prenet.py, devnet.py, training/, weakly/loading/splits.py, ...

It covers the detector's module, the splits, the metrics and everything that these import, including imports
inside functions. It ignores comments, docstrings, formatting and what a file does as a script.
"""

import functools

from weakly.methods import METHODS
from weakly.running.configuration import PREPARED
from weakly.source_code import hash_of_modules

MEASURING = ("weakly.loading.splits", "weakly.running.single_run")
SCALING = "weakly.training.number_scaler"  # only where it changes the features


@functools.cache
def code_hash(method, scaling=PREPARED):
    """The hash of the code behind the runs of a method: 16 hexadecimal digits."""
    entry, measuring = METHODS[method], MEASURING if scaling == PREPARED else (*MEASURING, SCALING)
    return hash_of_modules(entry.module, *measuring, title=f"{entry.module}.{entry.class_name}")
