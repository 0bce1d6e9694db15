"""The prepared arrays of a data set, and the rows that a run gets of them.

dataset/prepared/<name>/<hash>/ holds X.npy and y.npy (X as CSR arrays for news20), which any number of
processes can memory-map, and the rows that contaminate U under `released`. It is named after the hash of its
arrays: a driver goes on with its version while another prepares the next. <name>/meta.json names the newest.
"""

import functools
import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from weakly.errors import DataError
from weakly.loading import splits
from weakly.loading.registry import DATA_SETS
from weakly.loading.unseen import CLASSES, parse_unseen, source_of
from weakly.source_code import hash_of_modules
from weakly.writing import written_whole

ENCODING = 6  # increase it when an encoder's output changes, so that data is prepared again
KEPT_RATE = 0.02  # of contamination: all tables of the paper have it, and the draws take seconds
CSR_PARTS = ("data", "indices", "indptr")
HASH_DIGITS = 16  # of a fingerprint, in the names of files and folders
UNREADABLE = (OSError, ValueError, EOFError)  # what numpy raises for a file that is missing or damaged
# in copy-on-write pages: TensorFlow copies read-only memory
_load_array = functools.partial(np.load, mmap_mode="c", allow_pickle=False)


@dataclass(frozen=True)
class PreparedData:
    """A data set on disk, or a view of one: X (n, D) memory-mapped float32 or CSR, y (n,) the rows' roles."""

    name: str
    X: Any
    y: np.ndarray  # NORMAL or ANOMALY; in a set with an unseen class also HELD_OUT and ABSENT
    status: str
    fingerprint: str  # SHA-256 of the arrays themselves: equal data has equal hashes
    order: str  # how well the row order is known to be the authors'
    folder: Path

    @property
    def size(self):
        """Rows of this data set; X may have more."""
        return int(np.count_nonzero(self.y != splits.ABSENT))

    def paper_odds(self):
        """Test anomalies per normal test row in the paper; None if the same here."""
        view, entry = parse_unseen(self.name), DATA_SETS.get(source_of(self.name))
        if self.status != "partial" or entry is None:
            return None
        normals = entry.rows - entry.anomalies
        if view is None:
            return entry.anomalies / normals
        unseen = DATA_SETS[CLASSES[view.source][view.unseen - 1]]
        return unseen.anomalies / (splits.TEST_SHARE * normals)  # all of the unseen class, 20% of the normals

    def split(self, protocol, seed, n_labeled, contamination):
        """The Split of one run; protocol `released` ignores the seed."""
        needs_authors_draw = protocol in ("released", *splits.ONE_DRAW) and not sparse.issparse(self.X)
        kept = self._kept_contamination() if needs_authors_draw else None
        return splits.split_rows(self.X, self.y, protocol, seed, n_labeled, contamination, kept)

    def _kept_contamination(self):
        """The contamination of `released`, drawn by the first run of each code on these seen classes."""
        view = parse_unseen(self.name)
        pool = "_of_" + "".join(map(str, view.seen)) if view else ""
        start = f"contamination{pool}_{hash_of_modules(__name__)}_"
        for path in self.folder.glob(f"{start}*.npy"):
            with suppress(*UNREADABLE):
                rows = _load_array(path)
                if path.stem == start + fingerprint_of(rows)[:HASH_DIGITS]:
                    return rows
        rows = splits.released_contamination(self.X, self.y, KEPT_RATE)
        path = self.folder / f"{start}{fingerprint_of(rows)[:HASH_DIGITS]}.npy"
        # if the folder is not writable, every run draws them
        with suppress(DataError), written_whole(path) as file:
            np.save(file, rows)
        return rows


def load_data(name, data_dir="dataset", fingerprint="", status=""):
    """Memory-map a prepared data set, or a view of one such as rec,fuz->dos, the newest or this version."""
    source = source_of(name)
    folder = Path(data_dir) / "prepared" / source
    meta = read_meta(folder)
    if meta is None:
        raise DataError(f"{source} is not prepared: run `python data_prep.py --datasets {source}`.")
    fingerprint, status = fingerprint or meta["fingerprint"], status or meta["status"]
    folder /= fingerprint[:HASH_DIGITS]
    if not folder.is_dir():
        raise DataError(f"{source} is not prepared in the version that was planned: {folder} is missing.")
    files = map(Path.stat, sorted(folder.glob("[Xy]*.npy")))
    states = tuple((file.st_size, file.st_mtime_ns) for file in files)
    if not _are_intact(folder, fingerprint, states):
        raise DataError(f"{folder} was changed after it was prepared: delete it and prepare the data again.")
    X, classes = _open_arrays(folder)
    view = parse_unseen(name)
    y = splits.view_roles(classes, view) if view else np.where(classes > 0, splits.ANOMALY, splits.NORMAL)
    return PreparedData(name, X, y, status, fingerprint, meta["order"], folder)


@functools.cache
def _are_intact(folder, fingerprint, _states):
    """Whether the arrays of a folder have this hash; read once in a process for every state of the files."""
    try:
        X, classes = _open_arrays(folder)
    except UNREADABLE:
        return False
    has_types = X.dtype == np.float32 and classes.dtype.kind in "biu" and classes.dtype.isnative
    return has_types and classes.shape == X.shape[:1] and fingerprint_of(X, classes) == fingerprint


def _open_arrays(folder):
    """X, and the classes (n,) of its rows: 0 for normal ones, from 1 on for the anomaly classes."""
    if (folder / "X.npy").exists():
        X = _load_array(folder / "X.npy")
    else:
        *parts, shape = (_load_array(folder / f"X_{part}.npy") for part in (*CSR_PARTS, "shape"))
        X = sparse.csr_matrix(tuple(parts), shape)
    return X, np.asarray(_load_array(folder / "y.npy"))


def fingerprint_of(*arrays):
    """SHA-256 of arrays, dense or CSR, as hex digits."""
    digest = hashlib.sha256()
    for array in arrays:
        for part in [getattr(array, name) for name in CSR_PARTS] if sparse.issparse(array) else [array]:
            digest.update(np.ascontiguousarray(part))  # type: ignore[arg-type]
    return digest.hexdigest()


def save_data(folder, X, y, order="", fingerprint=None, **meta):
    """Write the arrays into a folder of their own, and then meta.json, which makes them the newest."""
    fingerprint = fingerprint or fingerprint_of(X, y)
    meta |= {"encoding": ENCODING, "shape": X.shape, "anomalies": int(np.count_nonzero(y)), "order": order}
    is_sparse = sparse.issparse(X)
    parts = {f"X_{part}": getattr(X, part) for part in (*CSR_PARTS, "shape")} if is_sparse else {"X": X}
    try:
        for part, array in {**parts, "y": y}.items():
            # a process that has mapped an older file of this name keeps it
            with written_whole(folder / fingerprint[:HASH_DIGITS] / f"{part}.npy") as file:
                np.save(file, array)
        with written_whole(folder / "meta.json") as file:
            file.write(json.dumps(meta | {"fingerprint": fingerprint}).encode())
    except OSError as error:  # of numpy, which gives no errno
        raise DataError(f"{folder} cannot be written: {error}.") from error


def read_meta(folder):
    """What save_data recorded about a set; None if not prepared, or by another version of the encoders."""
    try:
        meta = json.loads((folder / "meta.json").read_text())
        is_there = (folder / meta["fingerprint"][:HASH_DIGITS]).is_dir()
        return meta if is_there and meta["encoding"] == ENCODING else None
    except (OSError, ValueError, KeyError, TypeError):  # missing, or not what save_data wrote
        return None
