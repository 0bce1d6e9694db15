"""The prepared store: dataset/prepared/<name>/ with X.npy and y.npy, made from source files, opened by runs.

X is three CSR arrays for news20. Any number of processes can memory-map them. Beside them are the rows that
contaminate U under `released`. dataset/manifest.csv records the sources of each.
"""

import hashlib
import json
import re
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from weakly.errors import DataError
from weakly.loading import registry, splits
from weakly.loading.fetching import find_local, find_remote, is_partial
from weakly.loading.files import bounded_memory
from weakly.loading.readers import check_data_set, make_demo
from weakly.loading.registry import DATA_SETS, DEMO, KNOWN_SETS, OUTSIDE_SETS, parse_unseen
from weakly.loading.row_order import OWN_ORDER, known_order
from weakly.loading.splits import ABSENT, ANOMALY, NORMAL, released_contamination, split_rows, view_roles
from weakly.source_code import hash_of_modules
from weakly.writing import written_whole

ENCODING = 5  # increase it when an encoder's output changes, so that data is prepared again
KEPT_RATE = 0.02  # of contamination: all tables of the paper have it, and the draws take seconds
MANIFEST_COLUMNS = """name rows features anomalies paper_rows paper_features paper_anomaly_rate status order
    source sha256""".split()
COUNTS = "rows features anomalies paper_rows paper_features".split()
CSR_PARTS = ("data", "indices", "indptr")


# ---------------------------------------------------------------------------- prepared data


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
        return int(np.count_nonzero(self.y != ABSENT))

    def paper_odds(self):
        """Test anomalies per normal test row in the paper; None if the same here."""
        view, entry = parse_unseen(self.name), DATA_SETS.get(registry.source_of(self.name))
        if self.status != "partial" or entry is None:
            return None
        normals = entry.rows - entry.anomalies
        if view is None:
            return entry.anomalies / normals
        unseen = DATA_SETS[registry.CLASSES[view.source][view.unseen - 1]]
        return unseen.anomalies / (splits.TEST_SHARE * normals)  # all of the unseen class, 20% of the normals

    def split(self, protocol, seed, n_labeled, contamination):
        """The Split of one run; protocol `released` ignores the seed."""
        needs_authors_draw = protocol in ("released", *splits.ONE_DRAW) and not sparse.issparse(self.X)
        kept = self._kept_contamination() if needs_authors_draw else None
        return split_rows(self.X, self.y, protocol, seed, n_labeled, contamination, kept)

    def _kept_contamination(self):
        """The contamination of `released`, drawn by the first run of each code on these seen classes."""
        view = parse_unseen(self.name)
        pool = "_of_" + "".join(map(str, view.seen)) if view else ""
        path = self.folder / f"contamination{pool}_{hash_of_modules('weakly.loading.splits')}.npy"
        with suppress(DataError):  # there is none yet
            return _load_array(path)
        rows = released_contamination(self.X, self.y, KEPT_RATE)
        # if the folder is not writable, every run draws them
        with suppress(DataError), written_whole(path) as file:
            np.save(file, rows)
        return rows


def load_data(name, data_dir="dataset"):
    """Open a prepared data set, or a view of one such as rec,fuz->dos, without reading it into memory."""
    view, source = parse_unseen(name), registry.source_of(name)
    folder = Path(data_dir) / "prepared" / source
    meta = _read_meta(folder)
    if meta is None:
        raise DataError(f"{source} is not prepared: run `python data_prep.py --datasets {source}`.")
    if (folder / "X.npy").exists():
        X = _load_array(folder / "X.npy")
    else:
        parts = tuple(_load_array(folder / f"X_{part}.npy") for part in CSR_PARTS)
        X = sparse.csr_matrix(parts, meta["shape"])
    classes = np.asarray(_load_array(folder / "y.npy"))  # 0 for normal rows, from 1 on the anomaly classes
    y = view_roles(classes, view) if view else np.where(classes > 0, ANOMALY, NORMAL)
    return PreparedData(name, X, y, meta["status"], meta["fingerprint"], meta["order"], folder)


def _load_array(path):
    """Memory-map an array in copy-on-write pages: TensorFlow copies read-only memory."""
    try:
        return np.load(path, mmap_mode="c", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        why = f"{error}; delete its folder and prepare the data again"
        raise DataError(f"{path} cannot be read: {why}.") from None


def fingerprint_of(X, y):
    """SHA-256 of the arrays of a data set, as hex digits."""
    digest = hashlib.sha256()
    for array in (*_parts(X).values(), y):
        digest.update(np.ascontiguousarray(array))  # type: ignore[arg-type]
    return digest.hexdigest()


def _parts(X):
    """A matrix as the arrays it is stored in, under the names of their files."""
    return {f"X_{part}": getattr(X, part) for part in CSR_PARTS} if sparse.issparse(X) else {"X": X}


def save_data(folder, X, y, order=OWN_ORDER, fingerprint=None, **meta):
    """Write the arrays into a new folder, which replaces the old one when complete."""
    meta |= {"encoding": ENCODING, "shape": X.shape, "anomalies": int(np.count_nonzero(y)), "order": order}
    meta["fingerprint"] = fingerprint or fingerprint_of(X, y)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for left in folder.parent.glob(f".{folder.name}-*"):  # left by a preparation that was killed
            if time.time() - left.stat().st_mtime > 3_600:
                shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
            new = Path(scratch, "new")
            new.mkdir()
            for part, array in {**_parts(X), "y": y}.items():
                np.save(new / f"{part}.npy", array)
            (new / "meta.json").write_text(json.dumps(meta))
            if folder.exists():
                folder.rename(Path(scratch, "old"))
            new.rename(folder)
    except OSError as error:
        raise DataError(f"{folder} cannot be written: {error.strerror}.") from error


def _read_meta(folder):
    """What save_data recorded about a set; None if not prepared, or by another version of the encoders."""
    try:
        meta = json.loads((folder / "meta.json").read_text())
    except (OSError, ValueError):
        return None
    return meta if meta["encoding"] == ENCODING else None


# ---------------------------------------------------------------------------- preparation


def prepare(name, finder, data_dir, log):
    """Bring one data set up to date; return its status, or `missing`. DataError for a bad file."""
    folder = Path(data_dir) / "prepared" / name
    meta = _read_meta(folder)
    if name == DEMO:
        if meta is None:
            X, classes = make_demo()
            sha256 = hashlib.sha256(X.tobytes()).hexdigest()
            save_data(folder, X, classes, "generated", status="synthetic", source="generated", sha256=sha256)
        return "synthetic"
    entry = KNOWN_SETS[name]
    local = find_local(entry, finder)
    if meta and (local is None or (meta["status"] == "exact" and is_partial(local[1]))):
        return meta["status"]  # with partial files or none, what was prepared from earlier ones is still good
    recipe, files = local or find_remote(entry, finder) or (None, [])
    if recipe is None:
        return "missing"
    origin = {key: ";".join(getattr(file, key) for file in files) for key in ("source", "sha256")}
    if meta and all(meta[key] == value for key, value in origin.items()):
        return meta["status"]
    log(f"Preparing {name} from {' and '.join(str(file.path) for file in files)}")
    status = "partial" if is_partial(files) else "exact"
    X, y = _read_arrays(entry, recipe, files, status)
    fingerprint = fingerprint_of(X, y)
    order = known_order(entry, files, fingerprint)
    if status == "exact" and order == OWN_ORDER and name in registry.SEEN_SETS:
        log(f"{name}: these rows may not be in the authors' order; if so, `released` draws other rows.")
    save_data(folder, X, y, order, fingerprint, status=status, **origin)
    return status


def _read_arrays(entry, recipe, files, status):
    """X and y that a recipe makes from these files; DataError for bad ones."""
    source = " and ".join(str(file.path) for file in files)
    try:
        with bounded_memory(source):
            X, y = recipe.read(*(file.path for file in files))
            X = check_data_set(X, y, source)
    except DataError:
        raise
    except Exception as error:  # on an untrusted table, pandas, numpy and scikit-learn raise a dozen kinds
        # numpy counts rows from 0, and has advice for programmers behind a semicolon
        why = re.sub(r"at row (\d+), column", lambda row: f"in row {int(row[1]) + 1}, column", str(error))
        why = why.partition("; use ")[0].strip().rstrip(".")
        raise DataError(f"{source} is not a table of {entry.name}: {why}.") from error
    if status == "exact" and entry.rows and X.shape != (entry.rows, entry.features):
        raise DataError(
            f"{source} gives {X.shape[0]:,} rows and {X.shape[1]:,} features, "
            f"but {entry.name} must have {entry.rows:,} and {entry.features:,} "
            "(a part of the data belongs in dataset/raw/partial/)."
        )
    return X, y


def where_from(name, finder, data_dir):
    """Which local files `prepare` would make a data set from, as text."""
    if local := find_local(KNOWN_SETS[name], finder):
        return " and ".join(str(file.path) for file in local[1])
    if _read_meta(Path(data_dir) / "prepared" / name):
        return "prepared before"
    return f"missing; put one of these files, packed or plain, into {data_dir}/raw/"


def print_error(line):
    print(line, file=sys.stderr, flush=True)


def prepare_all(names, finder, data_dir="dataset", log=print_error):
    """Prepare several data sets and write the manifest; return {name: status} and {name: why it failed}."""
    statuses, errors = {}, {}
    for name in names:
        try:
            statuses[name] = prepare(name, finder, data_dir, log)
        except DataError as error:
            errors[name] = str(error)
            log(f"{name}: {error}")
    write_manifest(data_dir)
    return statuses, errors


def manifest_table(data_dir):
    """One row per data set of the paper, prepared or not, and per other prepared data set."""
    rows = []
    for name in [*DATA_SETS, DEMO, *OUTSIDE_SETS, *registry.ADDED_SETS]:
        meta = _read_meta(Path(data_dir) / "prepared" / name) or {"status": "missing"}
        if name in OUTSIDE_SETS and meta["status"] == "missing":
            continue
        entry = DATA_SETS.get(name)
        paper = (entry.rows, entry.features, entry.anomaly_rate) if entry else (None, None, None)
        size = (*meta.get("shape", (None, None)), meta.get("anomalies"))
        origin = (meta.get(key) for key in ("status", "order", "source", "sha256"))
        rows.append((name, *size, *paper, *origin))
    return pd.DataFrame(rows, columns=MANIFEST_COLUMNS).astype(dict.fromkeys(COUNTS, "Int64"))


def write_manifest(data_dir):
    """dataset/manifest.csv: manifest_table as a file, written only when it changes."""
    path = Path(data_dir) / "manifest.csv"
    text = manifest_table(data_dir).to_csv(index=False).encode()
    if not path.exists() or path.read_bytes() != text:
        with written_whole(path) as file:
            file.write(text)
