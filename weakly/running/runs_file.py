"""The runs file: one CSV row per run, appended as runs end, with everything its numbers depend on.

results/seen_runs.csv is written by one process at a time. Runs of different configurations (protocol, labels,
contamination, settings, data, code) are never averaged.
"""

import csv
import fcntl
import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd

from weakly.command_line import MOST
from weakly.errors import UserError
from weakly.loading.unseen import source_of
from weakly.running.configuration import IDENTITY_COLUMNS
from weakly.writing import copy_aside, os_errors_tell

SET_UP = ["protocol", "n_labeled", "contamination", "scaling"]
SWEEP = ["parameter", "value"]  # what an experiment varies; only in tables
DATA = ["data_sha256", "data_status"]  # of the prepared arrays, and whether they are the paper's
# what identifies a run: two rows that agree in all of it are the same run made twice
IDENTITY = ["experiment", *IDENTITY_COLUMNS, "run", "seed"]
RUN_COLUMNS = (
    "experiment method dataset protocol run seed n_labeled contamination auc_roc auc_pr auc_pr_weighted "
    "mean_score_anomalies mean_score_normals fit_seconds score_seconds data_status rows features data_sha256 "
    "settings code scaling"
).split()
TEXTS = "experiment method dataset protocol data_status data_sha256 settings code scaling".split()
# auc_pr_weighted: test anomalies weighted to the paper's class ratio; empty if the data has that ratio
MAY_BE_EMPTY = ["auc_pr_weighted", "mean_score_anomalies", "mean_score_normals"]
AUCS = ["auc_roc", "auc_pr", "auc_pr_weighted"]
ENDING = "_runs.csv"  # of a runs file


@contextmanager
def only_writer(results_dir):
    """Lock a results folder, after waiting for a driver that uses it; a dead one leaves no lock behind."""
    folder = Path(results_dir)
    with os_errors_tell(folder / ".lock"):
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / ".lock", "a")  # noqa: SIM115
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting = f"{folder} is in use by another driver; waiting until it ends (Ctrl-C to stop)."
            print(waiting, file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:  # some network file systems
            print(f"{folder} cannot be locked: run only one driver at a time.", file=sys.stderr)
        yield


class RunsFile:
    """results/<experiment>_runs.csv, written by one process only: see only_writer."""

    def __init__(self, results_dir, experiment):
        self.label, self.path = experiment, Path(results_dir) / f"{experiment}{ENDING}"

    def read(self):
        """All runs; only the newest of each that was made twice."""
        if not self.path.exists():
            return pd.DataFrame(columns=RUN_COLUMNS)
        texts = dict.fromkeys(TEXTS, str)
        try:
            runs = pd.read_csv(self.path, dtype=texts, keep_default_na=False, float_precision="round_trip")
            if list(runs) != RUN_COLUMNS:
                raise ValueError("it does not have the columns of one")
            numbers = [name for name in RUN_COLUMNS if name not in TEXTS]
            for name in numbers:
                runs[name] = pd.to_numeric(runs[name])
            is_wrong = runs[numbers].drop(columns=MAY_BE_EMPTY).isna().any(axis=1)
            is_wrong |= (runs["seed"] != runs["run"]) | ~runs["run"].isin(range(MOST + 1))
            # with the rounding error of an area
            is_wrong |= ((runs[AUCS] - 0.5).abs() > 0.5 + 1e-9).any(axis=1)
            if is_wrong.any():
                raise ValueError(f"line {is_wrong.argmax() + 2} has an impossible seed or AUC, or lacks one")
        except (ValueError, OSError) as error:
            raise UserError(f"{self.path} cannot be read as a table of runs: {error}") from None
        return runs.drop_duplicates(IDENTITY, keep="last")

    def open_for_append(self):
        """Prepare the file for `append`: create it with its header, or drop an incomplete last line.

        A file that loses something is copied first.
        """
        header = ",".join(RUN_COLUMNS).encode() + b"\r\n"
        with os_errors_tell(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            content = self.path.read_bytes() if self.path.exists() else b""
            first, last = content.partition(b"\n")[0], content.rpartition(b"\n")[2]
            if header.startswith(content):  # empty, or the header itself was cut off
                self.path.write_bytes(header)
            elif first.rstrip(b"\r") != header.rstrip() or b"\r" in last[:-1]:
                what_to_do = "move it, or choose another --results-dir"
                raise UserError(f"{self.path} is not a runs file of this version: {what_to_do}")
            elif last:
                copy = copy_aside(self.path)
                print(f"{self.path}: dropping the last line, which is incomplete; {copy.name} has it")
                os.truncate(self.path, len(content) - len(last))

    def adopt(self, wanted):
        """Copy the wanted runs that other experiments of the folder have made; they keep its name.

        Table 2's PReNet is also a column of Table 4 and a point of every curve. Returns how many were copied.
        """
        key, tables = [*IDENTITY_COLUMNS, "run"], [self.read()]
        for path in sorted(set(self.path.parent.glob(f"*{ENDING}")) - {self.path}):
            with suppress(UserError):  # that file's own experiment will say what is wrong with it
                tables.append(RunsFile(path.parent, path.name.removesuffix(ENDING)).read())
        together = pd.concat([table.astype(object) for table in tables])
        is_wanted = together.set_index(IDENTITY_COLUMNS).index.isin([cell.identity for cell in wanted])
        is_new = ~together.duplicated(key) & (np.arange(len(together)) >= len(tables[0]))
        adopted = together[is_wanted & is_new]
        for row in adopted.where(adopted.notna(), "").to_dict("records"):
            self.append(row)
        return len(adopted)

    def count(self):
        """The number of runs in the file."""
        with os_errors_tell(self.path):
            return self.path.read_bytes().count(b"\n") - 1

    def append(self, row):
        # r+: a file that was moved or deleted is not created again without its header
        with os_errors_tell(self.path), open(self.path, "r+", newline="") as file:
            file.seek(0, os.SEEK_END)
            csv.writer(file).writerow([row[name] for name in RUN_COLUMNS])
            file.flush()
            os.fsync(file.fileno())


def select_runs(runs, current, todays):
    """The runs to show in one table with `current`, the requested cells of one point.

    Earlier runs of that set-up are included if their method is one of `todays`, cells of any data set, with
    their settings and code. A data set that was run in several versions is shown in that of `current`, or
    else in the latest. For a sweep, the parameter and its value are added as columns.
    """
    same = ["method", *SET_UP, "settings", "code"]
    todays_values = [tuple(getattr(cell, name) for name in same) for cell in todays]
    runs = runs[runs.set_index(same).index.isin(todays_values)]
    asked_for = runs.set_index(IDENTITY_COLUMNS).index.isin([cell.identity for cell in current])
    # requested runs count as the latest
    runs = latest_runs(pd.concat([runs[~asked_for], runs[asked_for]]))
    return runs.assign(**dict(zip(SWEEP, current[0].point)))


def latest_runs(runs):
    """The runs on the latest version of every data set by the latest code, so that versions are not mixed.

    Data sets with unseen classes count as one, because they share a matrix. The latest is the last written.
    """
    latest = runs.groupby(runs["dataset"].map(source_of))[DATA].transform("last")
    runs = runs[(runs[DATA] == latest).all(axis=1)]
    cells = runs.groupby(["method", "dataset", *SET_UP, "settings"])
    return runs[runs["code"] == cells["code"].transform("last")]
