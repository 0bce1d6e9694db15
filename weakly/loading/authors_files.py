"""The files in the authors' public repositories, as published/authors_files.csv lists them.

The trees of those repositories name each file with its git blob id: the SHA-1 of `blob <size>`, a zero byte
and the content. So a table can be proved to be theirs to the last byte without their file: written in their
format (write_as_authors), it has the same id. The list also has the SHA-256 of files that we have.
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


@dataclass(frozen=True)
class AuthorsFile:
    """A line of published/authors_files.csv: a file in one of the authors' public repositories."""

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


def read_authors_files():
    """All lines of published/authors_files.csv; a file appears once for each repository that holds it."""
    with open(PUBLISHED / "authors_files.csv", newline="", encoding="utf-8") as file:
        return [AuthorsFile(**line) for line in csv.DictReader(file)]


AUTHORS_FILES = read_authors_files()


def git_blobs_of(name):
    """The git blob id of the authors' file of this name, as a set: all their repositories have the same."""
    return {line.git_blob for line in AUTHORS_FILES if line.file == name}


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


def write_as_authors(names, X, y):
    """A table as one of the authors' CSV files (bytes).

    Numbers have at most six decimals, `class` is the last column, lines end as on Windows.
    """
    cells = np.column_stack([X, y]).astype(np.float64)
    values, places = np.unique(cells, return_inverse=True)
    texts = np.array([f"{value:.6f}".rstrip("0").rstrip(".") for value in values], object)
    table = pd.DataFrame(texts[places].reshape(cells.shape), columns=[*names, "class"])
    return table.to_csv(index=False, lineterminator="\r\n").encode()
