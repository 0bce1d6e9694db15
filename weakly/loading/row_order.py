"""The row order, which decides the authors' draws, and the proof that it is theirs.

published/authors_files.csv lists the files in the authors' public repositories. The trees of those
repositories name each file with its git blob id: the SHA-1 of `blob <size>`, a zero byte and the content. So
a table can be proved to be theirs to the last byte without their file: written in their format
(write_as_authors), it has the same id. The list also has the SHA-256 of files that we have.
"""

import csv
import hashlib
import os
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.paths import PUBLISHED

GIT_BLOB, SHA256 = "git blob id", "SHA-256"  # the two kinds of digests that can identify a file
OWN_ORDER = "the source's own"
WEKA_SEED = 42  # the authors' ARFF files record the filter that shuffled them: Randomize-S42


@dataclass(frozen=True)
class AuthorsFile:
    """A line of published/authors_files.csv, or of adbench_files.csv: a file in a public repository."""

    repository: str
    branch: str
    folder: str
    file: str
    git_blob: str
    sha256: str  # empty if we do not have the content

    @property
    def address(self):
        path = f"{self.repository}/{self.branch}/{self.folder}/{self.file}"
        return f"https://raw.githubusercontent.com/{quote(path)}"

    @property
    def digests(self):
        """The digests that a download of it must have."""
        return {GIT_BLOB: self.git_blob} | ({SHA256: self.sha256} if self.sha256 else {})


def read_public_files(name):
    """All lines of a table of published/; a file appears once for each repository that holds it."""
    with open(PUBLISHED / name, newline="", encoding="utf-8") as file:
        return [AuthorsFile(**line) for line in csv.DictReader(file)]


AUTHORS_FILES, ADBENCH_FILES = map(read_public_files, ("authors_files.csv", "adbench_files.csv"))


def git_blob_hash(size):
    """A new SHA-1 object that gives the git blob id after it is fed a content of `size` bytes."""
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)


def git_blob_id(content):
    """The id that git gives a file with this content (bytes)."""
    digest = git_blob_hash(len(content))
    digest.update(content)
    return digest.hexdigest()


def file_digest(path, kind):
    """The hex digest of a file: its SHA-256 or its git blob id."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest = git_blob_hash(size) if kind == GIT_BLOB else hashlib.sha256()
            while chunk := file.read(2**20):
                digest.update(chunk)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    return digest.hexdigest()


def known_order(entry, files, fingerprint):
    """How well the row order of a DataSet's arrays is known: `proved: ...`, `inferred: ...` or the source's.

    It is proved if the only file is the authors' own, by its git blob id, or if a test writes these arrays as
    the authors' file.
    """
    git_blob = file_digest(files[0].path, GIT_BLOB)
    if len(files) == 1 and git_blob in {line.git_blob for line in AUTHORS_FILES}:
        return f"proved: git blob {git_blob[:12]}"
    return entry.order if fingerprint == entry.fingerprint else OWN_ORDER


# ---------------------------------------------------------------------------- Weka's order


def in_authors_order(names, X, y, authors_file):
    """X and y shuffled as Weka does it if that gives the authors' file byte for byte, else as they are."""
    order = weka_order(len(y))
    git_blob = git_blob_id(write_as_authors(names, X[order], y[order]))
    is_authors = any((line.file, line.git_blob) == (authors_file, git_blob) for line in AUTHORS_FILES)
    return (X[order], y[order]) if is_authors else (X, y)


def write_as_authors(names, X, y):
    """A table as one of the authors' CSV files (bytes).

    Numbers have at most six decimals, `class` is the last column, lines end as on Windows.
    """
    cells = np.column_stack([X, y]).astype(np.float64)
    values, places = np.unique(cells, return_inverse=True)
    texts = np.array([f"{value:.6f}".rstrip("0").rstrip(".") for value in values], object)
    table = pd.DataFrame(texts[places].reshape(cells.shape), columns=[*names, "class"])
    return table.to_csv(index=False, lineterminator="\r\n").encode()


def java_random(seed, bounds):
    """Yield nextInt(bound) for each of the bounds, as a new java.util.Random(seed) gives them.

    It is a 48-bit linear congruence.
    """
    state = (seed ^ 0x5DEECE66D) % 2**48
    for bound in bounds:
        while True:
            state = (state * 0x5DEECE66D + 0xB) % 2**48
            bits = state >> 17  # the upper 31
            if bound & (bound - 1) == 0:  # a power of two takes the upper bits
                yield bound * bits >> 31
                break
            in_whole_round = bits - bits % bound + bound <= 2**31
            if in_whole_round:  # the last block is shorter, which would favour small remainders: draw again
                yield bits % bound
                break


def weka_order(n_rows, seed=WEKA_SEED):
    """The position of each row before Weka's Randomize filter: X[weka_order(len(X))] is the shuffled table.

    From the last row down to the second, each is swapped with a random row up to and including itself.
    """
    order = list(range(n_rows))
    last_rows = range(n_rows - 1, 0, -1)
    for row, other in zip(last_rows, java_random(seed, (row + 1 for row in last_rows))):
        order[row], order[other] = order[other], order[row]
    return np.array(order)
