"""Result files: one CSV row per run, appended as runs end, and the paper's tables averaged from them.

results/seen_runs.csv keeps every run with all that its numbers depend on. results/seen.csv is computed from it and has
Table 2's layout; an experiment that varies a parameter has such rows for each of its values. Runs of different
configurations (protocol, labels, contamination, settings, data, code) are never averaged.
"""

import csv
import fcntl
import os
import platform
import shutil
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from data_registry import DATA_SETS, UNSEEN_SETS, source_of, with_all_others_seen
from data_sources import written_whole
from methods import METHODS
from provenance import command

SET_UP = ["protocol", "n_labeled", "contamination"]
SWEEP = ["parameter", "value"]  # what an experiment varies, of tables only
AVERAGE = "Average"  # how the names of average rows start
DATA = ["data_sha256", "data_status"]  # of the prepared arrays, and whether they are the paper's
# What identifies a run; two rows that agree in all of it are the same run made twice.
IDENTITY = ["experiment", "method", "dataset", *SET_UP, "run", "seed", *DATA, "settings", "code"]
RUN_COLUMNS = (
    "experiment method dataset protocol run seed n_labeled contamination auc_roc auc_pr auc_pr_weighted mean_score_anomalies "
    "mean_score_normals fit_seconds score_seconds data_status rows features data_sha256 settings code"
).split()
COLUMNS_BEFORE_CODE = RUN_COLUMNS[:-1]  # of an earlier version; the code of its runs reads as "", which is nobody's
# auc_pr_weighted: test anomalies weighted to the paper's class ratio; empty where the data has that ratio anyway
MAY_BE_EMPTY = ["auc_pr_weighted", "mean_score_anomalies", "mean_score_normals"]
TEXTS = ["experiment", "method", "dataset", "protocol", "data_status", "data_sha256", "settings", "code"]
FREE_BYTES = 2**24  # that the disk must have before work starts; a run takes some 400
METRICS = {"auc_pr": "AUC-PR", "auc_pr_weighted": "AUC-PR, weighted", "auc_roc": "AUC-ROC"}


class ResultsError(Exception):
    """A problem with a results file, in one clear sentence for the user."""


@contextmanager
def only_writer(results_dir):
    """Keep other drivers out of a results folder, after waiting for one that is in it; a process that dies leaves no lock behind."""
    path = Path(results_dir) / ".lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(path.parent).free < FREE_BYTES:
            raise ResultsError(f"{results_dir} cannot be written: fewer than {FREE_BYTES // 2**20} MB are free on its disk")
        file = open(path, "a+")  # noqa: SIM115
    except OSError as error:
        raise ResultsError(f"{results_dir} cannot be written: {error.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            user = file.read() or "another process"
            print(f"{results_dir} is in use by {user}; waiting until it ends (Ctrl-C stops).", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:  # some network file systems
            print(f"{results_dir} is on a file system without locks: start one driver at a time only.", file=sys.stderr)
        file.truncate(0)
        file.write(f"process {os.getpid()} of {platform.node()} ({command()})")
        file.flush()
        for left in path.parent.glob("**/.*.part"):  # of a driver that was killed while it wrote
            if time.time() - left.stat().st_mtime > 60:
                left.unlink(missing_ok=True)
        yield


class RunsFile:
    """results/<experiment>_runs.csv, written by one process only: see only_writer."""

    def __init__(self, results_dir, experiment):
        self.path = Path(results_dir) / f"{experiment}_runs.csv"

    def read(self):
        """All runs, the newest of each where one was made twice."""
        if not self.path.exists():
            return pd.DataFrame(columns=RUN_COLUMNS)
        try:
            runs = pd.read_csv(self.path, dtype=dict.fromkeys(TEXTS, str), keep_default_na=False, float_precision="round_trip")
            runs = runs if "code" in runs else runs.assign(code="")
            if not set(IDENTITY) <= set(runs):
                raise ValueError("it has not the columns of one")
            for name in (name for name in runs if name in RUN_COLUMNS and name not in TEXTS):
                runs[name] = pd.to_numeric(runs[name])
                if name not in MAY_BE_EMPTY and runs[name].isna().any():
                    raise ValueError(f"line {runs[name].isna().argmax() + 2} has no {name}")
            runs = runs.reindex(columns=RUN_COLUMNS)  # an older file may lack a measured value
        except (ValueError, OSError) as error:
            raise ResultsError(f"{self.path} cannot be read as a table of runs: {error}") from None
        return runs.drop_duplicates(IDENTITY, keep="last")

    def open_for_append(self):
        """Make the file ready for `append`: create it with its header, or drop a half-written last line."""
        header = ",".join(RUN_COLUMNS) + "\r\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            content = self.path.read_bytes() if self.path.exists() else b""
            if header.encode().startswith(content):  # empty, or the header itself was cut off
                self.path.write_bytes(header.encode())
                return
            columns = content.splitlines()[0].decode(errors="replace").split(",")
            if columns not in (RUN_COLUMNS, COLUMNS_BEFORE_CODE):
                raise ResultsError(f"{self.path} has other columns than this version writes; move it away or choose another --results-dir")
            if not content.endswith(b"\n"):
                print(f"{self.path}: the last line was cut off in writing and is dropped")
                os.truncate(self.path, content.rfind(b"\n") + 1)
            if columns == COLUMNS_BEFORE_CODE:
                self._add_code_column(header)
        except OSError as error:
            raise ResultsError(f"{self.path} cannot be written: {error.strerror}") from None

    def _add_code_column(self, header):
        """Give the runs of an earlier version's file an empty `code`; all else stays as it is."""
        _, *lines = self.path.read_bytes().splitlines()
        with written_whole(self.path) as file:
            file.write(header.encode() + b"".join(line + b",\r\n" for line in lines))

    def append(self, row):
        try:
            with open(self.path, "a", newline="") as file:
                csv.writer(file).writerow([row[name] for name in RUN_COLUMNS])
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ResultsError(f"{self.path} cannot be written: {error.strerror}") from None


def describe_settings(detector):
    """A detector's parameters, but for the seed and those that are None, in one line that can be compared.

    An option that is added to a detector, with None as its default, so leaves earlier results valid.
    """
    parameters = sorted(detector.get_params().items())
    return " ".join(f"{name}={value}" for name, value in parameters if name != "random_state" and value is not None)


def table_suffix(protocol, n_labeled, contamination):
    """What distinguishes the table of another set-up from the paper's: '' for released, 60 labels and 2%; None is what varies."""
    parts = [] if protocol == "released" else [protocol]
    parts += [] if n_labeled in (60, None) else [f"{n_labeled}labels"]
    parts += [] if contamination in (0.02, None) else [f"{contamination:g}contamination"]
    return "".join("_" + part for part in parts)


def same_configuration(runs, common):
    """Which rows of runs have the method, data set, set-up, data, settings and code of `common`."""
    columns = ["method", "dataset", *SET_UP, *DATA, "settings", "code"]
    return (runs[columns] == [common[name] for name in columns]).all(axis=1)


def same_cells(runs, wanted):
    """Which rows of runs have the method, data set and set-up of one of `wanted`, whatever else they were made with."""
    columns = ["method", "dataset", *SET_UP]
    cells = {tuple(common[name] for name in columns) for common in wanted}
    return np.array([cell in cells for cell in runs[columns].itertuples(index=False, name=None)], bool)


def select_runs(runs, current, settings, codes):
    """The runs that belong into one table with `current`, the configurations just asked for, all of one set-up.

    Earlier runs of that set-up are shown too, of methods with these settings ({method: description}) and this code
    ({method: hash}). A data set that was run in several versions is shown in that of `current`, else in the latest. For
    a sweep, the parameter and its value are added as columns.
    """
    set_up = pd.Series({name: current[0][name] for name in SET_UP})
    runs = runs[(runs[SET_UP] == set_up).all(axis=1) & (runs["settings"] == runs["method"].map(settings))]
    runs = runs[runs["code"] == runs["method"].map(codes)]
    asked_for = np.any([same_configuration(runs, common) for common in current], axis=0)
    runs = latest_runs(pd.concat([runs[~asked_for], runs[asked_for]]))  # what was asked for counts as the latest
    return runs.assign(**{name: current[0][name] for name in SWEEP if name in current[0]})


def latest_runs(runs):
    """The runs on the latest version of every data set, and of those the ones by the latest code, never a mixture.

    Data sets with unseen classes are one, because they share a matrix. The latest is what was written last.
    """
    latest = runs.groupby(runs["dataset"].map(source_of))[DATA].transform("last")
    runs = runs[(runs[DATA] == latest).all(axis=1)]
    cells = runs.groupby(["method", "dataset", *SET_UP, "settings"])
    return runs[runs["code"] == cells["code"].transform("last")]


def repeat_without_labels(runs, names):
    """Runs of methods without labels (iForest) repeated for all data sets with the same unseen class, as in Table 3.

    Such a method is run once per unseen class; names are the data sets that the table shall have beside those of other methods.
    """
    once = runs["dataset"].str.contains("->") & ~runs["method"].map(lambda name: METHODS[name].uses_labels).astype(bool)
    sizes = runs[~once].groupby("dataset")["rows"].last()
    repeated = [
        runs[once & (runs["dataset"] == with_all_others_seen(name))].assign(dataset=name, rows=sizes.get(name))
        for name in dict.fromkeys([*runs["dataset"][~once], *names])
        if "->" in name and once.any()
    ]
    return pd.concat([runs[~once], *repeated])


def in_paper_order(names):
    """Names of data sets as in Tables 2 and 3, then all others."""
    known = (*DATA_SETS, *UNSEEN_SETS)
    return sorted(set(names), key=lambda name: (known.index(name) if name in known else len(known), name))


def paper_table(runs):
    """Runs of one set-up in the layout of Table 2: one row per data set, then the Average; for a sweep, so for each value.

    A standard deviation is over runs (ddof=0). Sets with unseen classes have an Average of their own.
    """
    methods = [name for name in METHODS if name in set(runs["method"])]
    metrics = [metric for metric in METRICS if runs[metric].notna().any()]
    if "parameter" not in runs:
        return _rows_and_average(runs, methods, metrics)
    parts = []
    for (parameter, value), part in runs.groupby(SWEEP, sort=False):
        parts.append(_rows_and_average(part, methods, metrics))
        parts[-1].insert(0, "value", value)
        parts[-1].insert(0, "parameter", parameter)
    return pd.concat(parts, ignore_index=True)


def _rows_and_average(runs, methods, metrics):
    rows = []
    for dataset in in_paper_order(runs["dataset"]):
        of_set = runs[runs["dataset"] == dataset]
        row = {"dataset": dataset, "size": of_set["rows"].iloc[0], "D": of_set["features"].iloc[0]}
        row |= {"status": of_set["data_status"].iloc[0], "runs": of_set.groupby("method").size().min()}
        for metric in metrics:
            for method in methods:
                values = of_set.loc[of_set["method"] == method, metric]
                row[f"{metric}_{method}"] = values.mean()
                row[f"{metric}_{method}_std"] = values.std(ddof=0) if len(values) > 1 else np.nan  # of one run it would be 0
        rows.append(row)
    table = pd.DataFrame(rows)
    averages, unseen = [], table["dataset"].str.contains("->")
    for kind, part in (("seen", table[~unseen]), ("unseen", table[unseen])):
        averaged = averaged_rows(part, [f"{metric}_{method}" for metric in metrics for method in methods])
        if len(averaged):
            name = AVERAGE if unseen.all() or not unseen.any() else f"{AVERAGE} {kind}"
            average = averaged.mean(numeric_only=True).to_dict()
            count = f"{len(averaged)} set{'s' if len(averaged) > 1 else ''}"
            averages.append(average | {"dataset": name, "status": f"{averaged['status'].iloc[0]}, {count}"})
    table = pd.concat([table, pd.DataFrame(averages)], ignore_index=True) if averages else table
    table[["size", "D", "runs"]] = table[["size", "D", "runs"]].astype("Int64")
    return table


def with_comparable_auc(table):
    """A table whose AUC-PR is the weighted one where there is one: the one that can be held against the paper."""
    weighted = [name for name in table if name.startswith("auc_pr_weighted_") and not name.endswith("_std")]
    plain = {name: name.replace("_weighted", "") for name in weighted}
    return table.assign(**{plain[name]: table[name].fillna(table[plain[name]]) for name in weighted})


def averaged_rows(table, columns):
    """The rows of a table that its Average is over: the `exact` ones that have all columns, if there are none the `partial`.

    A column that none of them has is left out: weighted AUC-PR on exact data, a method that was run on other data only.
    """
    for status in ("exact", "partial"):
        rows = table[table["status"] == status]
        rows = rows[["dataset", "status", *(name for name in columns if rows[name].notna().any())]].dropna()
        if len(rows):
            break
    return rows


def write_tables(runs, results_dir, experiment, suffix=""):
    """Write the tables of one set-up: real data to <experiment><suffix>.csv, synthetic data to a file of its own.

    Returns {path: table}.
    """
    written = {}
    for is_synthetic, name in ((False, f"{experiment}{suffix}.csv"), (True, f"{experiment}{suffix}_synthetic.csv")):
        part = runs[(runs["data_status"] == "synthetic") == is_synthetic]
        if len(part):
            path, table = Path(results_dir) / name, paper_table(part)
            write_table(table, path)
            written[path] = table
    return written


def write_table(table, path):
    """Write a table as CSV; nobody ever sees a half of it."""
    with written_whole(Path(path)) as file:
        table.to_csv(file, index=False, float_format="%.6f")
