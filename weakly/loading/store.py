"""Prepare data sets: from source files to the arrays that runs open (arrays.py), and a manifest of them."""

import re
import sys
from pathlib import Path

import pandas as pd

from weakly.errors import DataError
from weakly.loading.arrays import fingerprint_of, read_meta, save_data
from weakly.loading.fetching import find_local, find_remote, is_partial
from weakly.loading.files import bounded_memory
from weakly.loading.readers import check_data_set, make_demo
from weakly.loading.registry import ADDED_SETS, DATA_SETS, KNOWN_SETS, OUTSIDE_SETS, SEEN_SETS
from weakly.loading.row_order import OWN_ORDER, known_order
from weakly.loading.unseen import DEMO
from weakly.writing import written_whole

MANIFEST_COLUMNS = """name rows features anomalies paper_rows paper_features paper_anomaly_rate status order
    source sha256""".split()
COUNTS = "rows features anomalies paper_rows paper_features".split()


def prepare(name, finder, data_dir):
    """Bring one data set up to date; return its status, or `missing`. DataError for a bad file."""
    folder = Path(data_dir) / "prepared" / name
    meta = read_meta(folder)
    if name == DEMO:
        if meta is None:
            X, y = make_demo()
            origin = {"source": "generated", "sha256": fingerprint_of(X)}
            save_data(folder, X, y, "generated", status="synthetic", **origin)
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
    print_error(f"Preparing {name} from {' and '.join(str(file.path) for file in files)}")
    status = "partial" if is_partial(files) else "exact"
    X, y = _read_arrays(entry, recipe, files, status)
    fingerprint = fingerprint_of(X, y)
    order = known_order(entry, files, fingerprint)
    if status == "exact" and order == OWN_ORDER and name in SEEN_SETS:
        print_error(f"{name}: the rows may not be in the authors' order; if so, `released` draws others.")
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
        size = f"{source} gives {X.shape[0]:,} rows and {X.shape[1]:,} features"
        wanted = f"{entry.name} must have {entry.rows:,} and {entry.features:,}"
        raise DataError(f"{size}, but {wanted} (a part of the data belongs in dataset/raw/partial/).")
    return X, y


def print_error(line):
    print(line, file=sys.stderr, flush=True)


def prepare_all(names, finder, data_dir="dataset"):
    """Prepare data sets and write dataset/manifest.csv; return {name: status} and {name: why it failed}."""
    statuses, errors = {}, {}
    for name in names:
        try:
            statuses[name] = prepare(name, finder, data_dir)
        except DataError as error:
            errors[name] = str(error)
            print_error(f"{name}: {error}")
    path, text = Path(data_dir) / "manifest.csv", manifest_table(data_dir).to_csv(index=False).encode()
    if not path.exists() or path.read_bytes() != text:
        with written_whole(path) as file:
            file.write(text)
    return statuses, errors


def manifest_table(data_dir):
    """One row per data set of the paper, prepared or not, and per other prepared data set."""
    rows = []
    for name in [*DATA_SETS, DEMO, *OUTSIDE_SETS, *ADDED_SETS]:
        meta = read_meta(Path(data_dir) / "prepared" / name) or {"status": "missing"}
        if name in OUTSIDE_SETS and meta["status"] == "missing":
            continue
        entry = DATA_SETS.get(name)
        paper = (entry.rows, entry.features, entry.anomaly_rate) if entry else (None, None, None)
        size = (*meta.get("shape", (None, None)), meta.get("anomalies"))
        origin = (meta.get(key) for key in ("status", "order", "source", "sha256"))
        rows.append((name, *size, *paper, *origin))
    return pd.DataFrame(rows, columns=MANIFEST_COLUMNS).astype(dict.fromkeys(COUNTS, "Int64"))
