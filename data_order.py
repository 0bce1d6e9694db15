"""The order of the rows, by which the authors' draws go, and how far it is known to be theirs.

The trees of the authors' public repositories name each data file with its git blob id: the SHA-1 of `blob <size>`, a zero byte and
the content. So a table can be proved to be theirs to the last byte without having their file: written as they write it, it has the
same id. published/authors_files.csv lists their files with these ids, and SHA-256 where the content is at hand.
"""

import csv
import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pandas as pd

OWN_ORDER = "the source's own"
WEKA_SEED = 42  # the authors' ARFF files record the filter that shuffled them: Randomize-S42
GIT_BLOB, SHA256 = "git blob id", "SHA-256"  # the two kinds of digests that a file can be pinned by


@dataclass(frozen=True)
class AuthorsFile:
    """A line of published/authors_files.csv: a file in one of the authors' public repositories."""

    repository: str
    branch: str
    folder: str
    file: str
    git_blob: str
    sha256: str  # empty where the content is not at hand

    @property
    def address(self):
        path = f"{self.repository}/{self.branch}/{self.folder}/{self.file}"
        return f"https://raw.githubusercontent.com/{quote(path)}"

    @property
    def digests(self):
        """What a download of it must have."""
        return {GIT_BLOB: self.git_blob} | ({SHA256: self.sha256} if self.sha256 else {})


def read_authors_files():
    """All lines of published/authors_files.csv; a file is there once for each repository that holds it."""
    path = Path(__file__).resolve().parent / "published" / "authors_files.csv"
    with open(path, newline="", encoding="utf-8") as file:
        return [AuthorsFile(**line) for line in csv.DictReader(file)]


AUTHORS_FILES = read_authors_files()


def git_blob_id(content):
    """The id that git gives a file with this content (bytes)."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def write_as_authors(names, X, y):
    """A table as one of the authors' CSV files (bytes): at most six decimals, `class` last, lines ended as on Windows."""
    cells = np.column_stack([X, y]).astype(np.float64)
    values, places = np.unique(cells, return_inverse=True)
    texts = np.array([f"{value:.6f}".rstrip("0").rstrip(".") for value in values], object)
    table = pd.DataFrame(texts[places].reshape(cells.shape), columns=[*names, "class"])
    return table.to_csv(index=False, lineterminator="\r\n").encode()


def java_random(seed, bounds):
    """Yield nextInt(bound) for each of the bounds, as a new java.util.Random(seed) gives them: a 48-bit linear congruence."""
    state = (seed ^ 0x5DEECE66D) % 2**48
    for bound in bounds:
        while True:
            state = (state * 0x5DEECE66D + 0xB) % 2**48
            bits = state >> 17  # the upper 31
            if bound & (bound - 1) == 0:  # a power of two takes the upper bits
                yield bound * bits >> 31
                break
            if bits - bits % bound + bound <= 2**31:  # else the last, shorter round of remainders: drawn again
                yield bits % bound
                break


def weka_order(n_rows, seed=WEKA_SEED):
    """Where each row stood before Weka's Randomize filter: X[weka_order(len(X))] is the shuffled table.

    From the last row down to the second, each changes places with a random one of those up to it.
    """
    order = list(range(n_rows))
    last_rows = range(n_rows - 1, 0, -1)
    for row, other in zip(last_rows, java_random(seed, (row + 1 for row in last_rows))):
        order[row], order[other] = order[other], order[row]
    return np.array(order)
