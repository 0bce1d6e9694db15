"""Prepare the data sets.

    python data_prep.py                               # everything that can be had, and a table of what there is
    python data_prep.py --source DIR --datasets thyroid,bac
    python data_prep.py --list                        # the data sets of the paper and where they are published

Files are taken from dataset/raw/, then from each --source (a folder or an http(s) address; default: the environment
variable PRENET_DATA), then from their public addresses. What comes from a folder named partial/ is marked `partial`.
Afterwards dataset/prepared/<name>/ holds X.npy and y.npy (X as three CSR arrays for news20), which any number of
processes can memory-map, and dataset/manifest.csv says what each was made from. The 28 sets of Table 3 (rec,fuz->dos) are
views on one of them, `unsw`: lists of positions, no copies.

A fresh `python data_prep.py` on the authors' files prints, among others: thyroid 7,200 x 21 with 534 anomalies,
bac 95,329 x 196 with 2,329, w7a 49,749 x 300 with 1,479.
"""

import argparse
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

from code_identity import hash_of_modules
from command_line import add_data_arguments, make_finder, prepared_names
from data_encoders import check_data_set, make_demo
from data_files import DataError, bounded_memory
from data_order import OWN_ORDER
from data_registry import (
    CLASSES,
    DATA_SETS,
    DEMO,
    SEEN_SETS,
    data_status,
    find_local,
    find_remote,
    how_to_get,
    is_partial,
    list_data_sets,
    parse_unseen,
    row_order,
)  # fmt: skip
from data_sources import written_whole
from splits import (
    ABSENT,
    ANOMALY,
    NORMAL,
    TEST_SHARE,
    contamination_count,
    released_contamination,
    split_rows,
    view_roles,
)  # fmt: skip

ENCODING = 5  # raise it when an encoder changes what it writes, so that prepared data is made anew
MANIFEST_COLUMNS = "name rows features anomalies paper_rows paper_features paper_anomaly_rate status order source sha256".split()
COUNTS = "rows features anomalies paper_rows paper_features".split()
CSR_PARTS = ("data", "indices", "indptr")


# ---------------------------------------------------------------------------- prepared data


@dataclass(frozen=True)
class PreparedData:
    """A data set on disk, or a view on one: X (n, D) memory-mapped float32 or CSR, y (n,) the role of each row."""

    name: str
    X: Any
    y: np.ndarray  # NORMAL or ANOMALY; in a set with an unseen class also HELD_OUT and ABSENT
    status: str
    fingerprint: str  # SHA-256 of the arrays themselves: results made from equal data have equal ones
    order: str  # how far it is known that the rows stand as in the authors' file
    folder: Path

    @property
    def size(self):
        """Rows of this data set; X may have more."""
        return int(np.count_nonzero(self.y != ABSENT))

    def paper_odds(self):
        """Test anomalies per normal test row in the paper, None where they are the same here."""
        if self.status != "partial":
            return None
        view = parse_unseen(self.name)
        if view is None:
            entry = DATA_SETS[self.name]
            return entry.anomalies / (entry.rows - entry.anomalies)
        unsw, unseen = DATA_SETS[view.source], DATA_SETS[CLASSES[view.source][view.unseen - 1]]
        return unseen.anomalies / (TEST_SHARE * (unsw.rows - unsw.anomalies))  # all of the unseen class, 20% of the normals

    def split(self, protocol, seed, n_labeled, contamination):
        """The Split of one run; the seed plays no part in protocol `released`."""
        return split_rows(self.X, self.y, protocol, seed, n_labeled, contamination, self._contamination_rows)

    def _contamination_rows(self, rate):
        """released_contamination, kept in a file for the other processes: for donors it takes 6 seconds to draw.

        The file's name has the hash of the code that drew them: other code draws its own.
        The draws are one stream, so the rows of a lower rate are the first ones of a higher.
        """
        if sparse.issparse(self.X):
            return released_contamination(self.X, self.y, rate)
        view = parse_unseen(self.name)
        pool = "_of_" + "".join(map(str, view.seen)) if view else ""  # the draws depend on the seen classes only
        path = self.folder / f"contamination{pool}_{hash_of_modules('splits')}.npy"
        n_rows = contamination_count(self.y, rate)
        with suppress(DataError):  # not there yet, or damaged
            rows = _load_array(path)
            if rows.dtype == np.float32 and rows.shape[1:] == self.X.shape[1:] and len(rows) >= n_rows:
                return rows[:n_rows]
        rows = released_contamination(self.X, self.y, rate)
        with suppress(DataError), written_whole(path) as file:  # a folder that cannot be written to: drawn again next time
            np.save(file, rows)
        return rows


def load_data(name, data_dir="dataset"):
    """Open a prepared data set, or a view such as rec,fuz->dos on one, without reading it into memory."""
    view = parse_unseen(name)
    source = view.source if view else name
    folder = Path(data_dir) / "prepared" / source
    meta = _read_meta(folder)
    if meta is None:
        raise DataError(f"{source} is not prepared: run `python data_prep.py --datasets {source}`.")
    if (folder / "X.npy").exists():
        X = _load_array(folder / "X.npy")
    else:
        X = sparse.csr_matrix(tuple(_load_array(folder / f"X_{part}.npy") for part in CSR_PARTS), meta["shape"])
    classes = np.asarray(_load_array(folder / "y.npy"))  # 0 for normal rows, from 1 on the anomaly classes
    y = view_roles(classes, view) if view else np.where(classes > 0, ANOMALY, NORMAL)
    return PreparedData(name, X, y, meta["status"], meta["fingerprint"], meta["order"], folder)


def _load_array(path):
    """Memory-map an array, in private pages that are shared until written to: TensorFlow copies what it may not write."""
    try:
        return np.load(path, mmap_mode="c", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {error}; delete its folder and prepare the data again.") from None


def fingerprint_of(X, y):
    """SHA-256 of the arrays of a data set, as hex digits."""
    digest = hashlib.sha256()
    for array in (*_parts(X).values(), y):
        digest.update(np.ascontiguousarray(array))  # type: ignore[arg-type]
    return digest.hexdigest()


def _parts(X):
    """A matrix as the arrays that it is kept in, under the names of their files."""
    return {f"X_{part}": getattr(X, part) for part in CSR_PARTS} if sparse.issparse(X) else {"X": X}


def save_data(folder, X, y, order=OWN_ORDER, fingerprint=None, **meta):
    """Write the arrays into a new folder and put it in place of the old one when it is whole."""
    parts = _parts(X)
    meta |= {"encoding": ENCODING, "shape": X.shape, "anomalies": int(np.count_nonzero(y)), "order": order}
    meta["fingerprint"] = fingerprint or fingerprint_of(X, y)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for left in folder.parent.glob(f".{folder.name}-*"):  # of a preparation that was killed
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
    """What save_data wrote about a data set; None if it is not prepared, or by an encoder of another version."""
    try:
        meta = json.loads((folder / "meta.json").read_text())
    except (OSError, ValueError):
        return None
    return meta if meta["encoding"] == ENCODING else None


# ---------------------------------------------------------------------------- preparation


def prepare(name, finder, data_dir, log):
    """Bring one data set up to date; return its status, or `missing`. Raises DataError for a file that is there but bad."""
    folder = Path(data_dir) / "prepared" / name
    meta = _read_meta(folder)
    if name == DEMO:
        if meta is None:
            X, _, classes = make_demo()
            origin = {"source": "generated", "sha256": hashlib.sha256(X.tobytes()).hexdigest(), "order": "generated"}
            save_data(folder, X, classes, status="synthetic", **origin)
        return "synthetic"
    found = find_local(name, finder)
    if meta and (found is None or (meta["status"] == "exact" and is_partial(*found))):
        return meta["status"]  # the files are gone, or only lesser ones are left: what was made from them is still good
    found = found or find_remote(name, finder)
    if found is None:
        return "missing"
    recipe, files = found
    origin = {"source": ";".join(file.label for file in files), "sha256": ";".join(file.sha256 for file in files)}
    if meta and all(meta[key] == value for key, value in origin.items()):
        return meta["status"]
    source = " and ".join(str(file.path) for file in files)
    log(f"Preparing {name} from {source}")
    with bounded_memory(source):
        X, y = recipe.read(*(file.path for file in files))
        X = check_data_set(X, y, source)
    status = data_status(name, recipe, files, X.shape, source)
    fingerprint = fingerprint_of(X, y)
    order = row_order(name, files, fingerprint)
    if status == "exact" and order == OWN_ORDER and name in SEEN_SETS:
        log(f"{name}: it is not known that these rows stand in the authors' order; if not, `released` draws other rows than theirs.")
    save_data(folder, X, y, status=status, order=order, fingerprint=fingerprint, **origin)
    return status


def _print_error(line):
    print(line, file=sys.stderr, flush=True)


def prepare_all(names, finder, data_dir="dataset", log=_print_error):
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
    """One row per data set of the registry, from what is prepared now."""
    rows = []
    for name in [*DATA_SETS, DEMO]:
        meta = _read_meta(Path(data_dir) / "prepared" / name) or {"status": "missing"}
        entry = DATA_SETS.get(name)
        paper = (entry.rows, entry.features, entry.anomaly_rate) if entry else (None, None, None)
        found = (*meta.get("shape", (None, None)), meta.get("anomalies"))
        rows.append((name, *found, *paper, *(meta.get(key) for key in ("status", "order", "source", "sha256"))))
    return pd.DataFrame(rows, columns=MANIFEST_COLUMNS).astype(dict.fromkeys(COUNTS, "Int64"))


def write_manifest(data_dir):
    """dataset/manifest.csv: manifest_table as a file, touched only when it changes."""
    path = Path(data_dir) / "manifest.csv"
    text = manifest_table(data_dir).to_csv(index=False).encode()
    if not path.exists() or path.read_bytes() != text:
        with written_whole(path) as file:
            file.write(text)


# ---------------------------------------------------------------------------- command line


def print_manifest(table):
    shown = table.drop(columns="sha256").fillna({"source": "", "order": ""}).rename(columns={"paper_anomaly_rate": "paper_anomalies"})
    for name in COUNTS:
        shown[name] = [f"{value:,}" if pd.notna(value) else "-" for value in shown[name]]
    shown["paper_anomalies"] = [f"{value:g}%" if pd.notna(value) else "-" for value in shown["paper_anomalies"]]
    print(shown.to_string(index=False))


def main(argv=None):
    parser = argparse.ArgumentParser(description="Prepare the paper's data sets; the top of this file tells how sources are found.")
    parser.add_argument("--datasets", type=prepared_names, metavar="A,B", help="only these (default: all)")
    parser.add_argument("--list", action="store_true", help="show the data sets, their source files and where those are published")
    add_data_arguments(parser)
    args = parser.parse_args(argv)
    if args.list:
        print(list_data_sets())
        return 0
    try:
        statuses, errors = prepare_all(args.datasets or [*DATA_SETS, DEMO], make_finder(args), args.data_dir)
    except DataError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        _print_error("Stopped. What is prepared so far is kept.")
        return 130
    table = manifest_table(args.data_dir)
    print_manifest(table[table["name"].isin(args.datasets)] if args.datasets else table)
    missing = [name for name, status in statuses.items() if status == "missing"]
    for name in missing:
        _print_error(how_to_get(name, args.data_dir))
    return 1 if errors or (missing and args.datasets) else 0


if __name__ == "__main__":
    sys.exit(main())
