"""Which code made a run: a hash of all of ours that decides its numbers, as a column of the result files.

    code_hash("prenet")      # of prenet.py, devnet.py, training/, loading/splits.py, ...

It covers the detector's module, the splits, the measures and all that these import, also inside functions.
Comments, docstrings, formatting and what a file does as a script play no part.
"""

import functools

from common.source_code import hash_of_modules
from methods import METHODS

MEASURING = ("loading.splits", "running.single_run")


@functools.cache
def code_hash(method):
    """The hash of the code behind the runs of a method: 16 hexadecimal digits."""
    entry = METHODS[method]
    return hash_of_modules(entry.module, *MEASURING, title=f"{entry.module}.{entry.class_name}")
