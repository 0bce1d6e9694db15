"""The prepared store: dataset/prepared/<name>/ with X.npy and y.npy, made from source files, opened by runs.

X is three CSR arrays for news20. Any number of processes can memory-map them. dataset/manifest.csv records
the sources of each.
"""

import hashlib
import json
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
from weakly.loading.encoders import check_data_set, make_demo
from weakly.loading.files import bounded_memory
from weakly.loading.finding import data_status, find_local, find_remote, is_part_only
from weakly.loading.registry import (
    ADDED_SETS,
    CLASSES,
    DATA_SETS,
    DEMO,
    KNOWN_SETS,
    OUTSIDE_SETS,
    SEEN_SETS,
    parse_unseen,
)  # fmt: skip
from weakly.loading.row_order import OWN_ORDER, known_order
from weakly.loading.splits import (
    ABSENT,
    ANOMALY,
    NORMAL,
    TEST_SHARE,
    contamination_count,
    released_contamination,
    split_rows,
    view_roles,
)  # fmt: skip
from weakly.source_code import hash_of_modules
from weakly.writing import written_whole

ENCODING = 5  # increase it when an encoder's output changes, so that data is prepared again
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
        view = parse_unseen(self.name)
        if self.status != "partial" or (view is None and self.name not in DATA_SETS):
            return None
        if view is None:
            entry = DATA_SETS[self.name]
            return entry.anomalies / (entry.rows - entry.anomalies)
        unsw, unseen = DATA_SETS[view.source], DATA_SETS[CLASSES[view.source][view.unseen - 1]]
        # all of the unseen class, 20% of the normals
        return unseen.anomalies / (TEST_SHARE * (unsw.rows - unsw.anomalies))

    def split(self, protocol, seed, n_labeled, contamination):
        """The Split of one run; protocol `released` ignores the seed."""
        return split_rows(self.X, self.y, protocol, seed, n_labeled, contamination, self._contamination_rows)

    def _contamination_rows(self, rate):
        """released_contamination, cached in a file for other processes: drawing takes 6 seconds for donors.

        The file's name contains the hash of the code that drew the rows, so other code draws its own.
        The draws are one stream, so the rows of a lower rate are the first ones of a higher rate.
        """
        if sparse.issparse(self.X):
            return released_contamination(self.X, self.y, rate)
        view = parse_unseen(self.name)
        # the draws depend on the seen classes only
        pool = "_of_" + "".join(map(str, view.seen)) if view else ""
        path = self.folder / f"contamination{pool}_{hash_of_modules('weakly.loading.splits')}.npy"
        n_rows = contamination_count(self.y, rate)
        with suppress(DataError):  # not there yet, or damaged
            rows = _load_array(path)
            if rows.dtype == np.float32 and rows.shape[1:] == self.X.shape[1:] and len(rows) >= n_rows:
                return rows[:n_rows]
        rows = released_contamination(self.X, self.y, rate)
        # the folder is not writable: draw again next time
        with suppress(DataError), written_whole(path) as file:
            np.save(file, rows)
        return rows


def load_data(name, data_dir="dataset"):
    """Open a prepared data set, or a view of one such as rec,fuz->dos, without reading it into memory."""
    view = parse_unseen(name)
    source = view.source if view else name
    folder = Path(data_dir) / "prepared" / source
    meta = _read_meta(folder)
    if meta is None:
        raise DataError(f"{source} is not prepared: run `python data_prep.py --datasets {source}`.")
    if (folder / "X.npy").exists():
        X = _load_array(folder / "X.npy")
    else:
        X = sparse.csr_matrix(
            tuple(_load_array(folder / f"X_{part}.npy") for part in CSR_PARTS), meta["shape"]
        )
    classes = np.asarray(_load_array(folder / "y.npy"))  # 0 for normal rows, from 1 on the anomaly classes
    y = view_roles(classes, view) if view else np.where(classes > 0, ANOMALY, NORMAL)
    return PreparedData(name, X, y, meta["status"], meta["fingerprint"], meta["order"], folder)


def _load_array(path):
    """Memory-map an array in copy-on-write pages: TensorFlow copies read-only memory."""
    try:
        return np.load(path, mmap_mode="c", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(
            f"{path} cannot be read: {error}; delete its folder and prepare the data again."
        ) from None


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
    parts = _parts(X)
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
            for part, array in {**parts, "y": y}.items():
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
        return meta["status"] if meta else _prepare_demo(folder)
    found = find_local(KNOWN_SETS[name], finder)
    if meta and (found is None or (meta["status"] == "exact" and is_part_only(*found))):
        return meta[
            "status"
        ]  # only partial files are left, or none: data prepared from the earlier ones is still good
    found = found or find_remote(KNOWN_SETS[name], finder)
    if found is None:
        return "missing"
    recipe, files = found
    origin = {
        "source": ";".join(file.label for file in files),
        "sha256": ";".join(file.sha256 for file in files),
    }
    if meta and all(meta[key] == value for key, value in origin.items()):
        return meta["status"]
    X, y, about = _read_files(KNOWN_SETS[name], recipe, files, log)
    save_data(folder, X, y, **about, **origin)
    return about["status"]


def where_from(name, finder, data_dir):
    """Where `prepare` would take a data set from on this machine, as text."""
    entry = KNOWN_SETS[name]
    if found := find_local(entry, finder):
        return " and ".join(str(file.path) for file in found[1])
    if _read_meta(Path(data_dir) / "prepared" / name):
        return "prepared before"
    places = [url for url in finder.source_urls if finder.reaches(url)]
    if any(
        all(finder.reaches(*file.addresses, public=True) for file in recipe.files) for recipe in entry.recipes
    ):
        places.append("its public address")
    if entry.pypi and finder.reaches(finder.pip_settings[0]):
        places.append(f"{entry.pypi[0]} on pip's index")
    return " or ".join(places) or f"missing; put one of these files, packed or plain, into {data_dir}/raw/"


def _prepare_demo(folder):
    X, _, classes = make_demo()
    origin = {"source": "generated", "sha256": hashlib.sha256(X.tobytes()).hexdigest(), "order": "generated"}
    save_data(folder, X, classes, status="synthetic", **origin)
    return "synthetic"


def _read_files(entry, recipe, files, log):
    """X and y that a recipe makes from these files, and their status, order and fingerprint."""
    source = " and ".join(str(file.path) for file in files)
    log(f"Preparing {entry.name} from {source}")
    with bounded_memory(source):
        X, y = recipe.read(*(file.path for file in files))
        X = check_data_set(X, y, source)
    status = data_status(entry, recipe, files, X.shape, source)
    fingerprint = fingerprint_of(X, y)
    order = known_order(entry.name, files, fingerprint)
    if status == "exact" and order == OWN_ORDER and entry.name in SEEN_SETS:
        log(
            f"{entry.name}: these rows may not be in the authors' order; "
            "in that case `released` draws different rows than theirs."
        )
    return X, y, {"status": status, "order": order, "fingerprint": fingerprint}


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
    for name in [*DATA_SETS, DEMO, *OUTSIDE_SETS, *ADDED_SETS]:
        meta = _read_meta(Path(data_dir) / "prepared" / name) or {"status": "missing"}
        if name in OUTSIDE_SETS and meta["status"] == "missing":
            continue
        entry = DATA_SETS.get(name)
        paper = (entry.rows, entry.features, entry.anomaly_rate) if entry else (None, None, None)
        found = (*meta.get("shape", (None, None)), meta.get("anomalies"))
        rows.append(
            (name, *found, *paper, *(meta.get(key) for key in ("status", "order", "source", "sha256")))
        )
    return pd.DataFrame(rows, columns=MANIFEST_COLUMNS).astype(dict.fromkeys(COUNTS, "Int64"))


def write_manifest(data_dir):
    """dataset/manifest.csv: manifest_table as a file, written only when it changes."""
    path = Path(data_dir) / "manifest.csv"
    text = manifest_table(data_dir).to_csv(index=False).encode()
    if not path.exists() or path.read_bytes() != text:
        with written_whole(path) as file:
            file.write(text)
