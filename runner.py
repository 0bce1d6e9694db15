"""Run cells (all runs of one method on one data set) on several processes, and hand back each run as it ends.

Every worker is a fresh process with one thread, so that results do not depend on how many there are. A worker keeps a
cell to its end, and goes on with cells like it: the data is opened and the network compiled once for all their runs. A
run that fails costs only itself, a worker that dies only its cell.
"""

import contextlib
import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from multiprocessing import connection

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from data_prep import NORMAL, load_data
from methods import make_detector

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")


@dataclass(frozen=True)
class Cell:
    """Runs of one method on one data set."""

    method: str
    dataset: str
    protocol: str
    n_labeled: int
    contamination: float
    runs: tuple
    data_dir: str = "dataset"
    settings: tuple = ()  # (name, value) pairs of detector parameters other than the defaults

    def __str__(self):
        settings = "".join(f", {name}={value}" for name, value in self.settings)
        return f"{self.method} on {self.dataset}, {self.n_labeled} labels, contamination {self.contamination:g}{settings}"


def run_once(cell, run):
    """Fit and score one run of a cell, with seed = run; returns what was measured."""
    seed = run
    rows, split, X_test, y_test, weights = _training_data(cell, seed)
    detector = make_detector(cell.method, random_state=seed, **dict(cell.settings))
    start = time.perf_counter()
    detector.fit_rows(rows, split.unlabeled, split.anomalies)
    fitted = time.perf_counter()
    scores = detector.decision_function(X_test)
    scored = time.perf_counter()
    return {
        "run": run,
        "seed": seed,
        "auc_roc": roc_auc_score(y_test, scores),
        "auc_pr": average_precision_score(y_test, scores),
        "auc_pr_weighted": "" if weights is None else average_precision_score(y_test, scores, sample_weight=weights),
        "mean_score_anomalies": scores[y_test].mean(),
        "mean_score_normals": scores[~y_test].mean(),
        "fit_seconds": fitted - start,
        "score_seconds": scored - fitted,
    }


_kept = {}  # the training data of the last run, under its key


def _training_data(cell, seed):
    """Rows, split, test set and test weights of a run; `released` has one split for all seeds, so it is made once and kept."""
    key = (cell.data_dir, cell.dataset, cell.protocol, cell.n_labeled, cell.contamination, None if cell.protocol == "released" else seed)
    if key not in _kept:
        _kept.clear()  # before the next is made, so that there is only ever one
        data = load_data(cell.dataset, cell.data_dir)
        split = data.split(cell.protocol, seed, cell.n_labeled, cell.contamination)
        y_test = data.y[split.test] != NORMAL
        _kept[key] = split.stack(data.X), split, data.X[split.test], y_test, _paper_weights(y_test, data.paper_odds())
    return _kept[key]


def _paper_weights(y_test, paper_odds):
    """Weights (n,) that give the test set the paper's share of anomalies; None where it has that anyway."""
    if paper_odds is None:
        return None
    return np.where(y_test, paper_odds * np.count_nonzero(~y_test) / np.count_nonzero(y_test), 1.0)


# ---------------------------------------------------------------------------- processes


def run_cells(cells, jobs):
    """Run all cells on `jobs` processes; yields (cell, result, None) per run, (cell, None, why) per failed run or dead worker."""
    waiting = list(cells)  # the first is the most urgent
    context = multiprocessing.get_context("spawn")
    busy, processes = {}, []  # busy: connection -> (process, its cell)

    def start_worker():
        receiver, sender = context.Pipe()
        process = context.Process(target=_work, args=(sender,), daemon=True)
        process.start()
        sender.close()
        processes.append(process)
        give_cell(receiver, process)

    def give_cell(receiver, process):
        last = busy[receiver][1] if receiver in busy else waiting[0]
        # min takes the first of equals
        cell = min(waiting, key=lambda other: (other.dataset != last.dataset, other.method != last.method))
        waiting.remove(cell)
        busy[receiver] = (process, cell)
        with contextlib.suppress(OSError):  # it has just died: the next recv tells
            receiver.send(busy[receiver][1])

    for name in ONE_THREAD:  # read by the libraries when the new processes import them
        os.environ[name] = "1"
    try:
        while len(busy) < jobs and waiting:
            start_worker()
        while busy:
            for receiver in connection.wait(list(busy)):
                process, cell = busy[receiver]
                try:
                    kind, value = receiver.recv()
                except (EOFError, OSError):  # the worker is gone: killed, out of memory, crashed
                    del busy[receiver]
                    process.join()
                    yield cell, None, f"the worker process died ({_exit_reason(process.exitcode)})"
                    if waiting:
                        start_worker()
                    continue
                if kind == "result":
                    yield cell, value, None
                elif kind == "failed":
                    yield cell, None, value
                elif waiting:
                    give_cell(receiver, process)
                else:
                    del busy[receiver]
                    receiver.close()  # which ends the worker
    finally:
        for process, _ in busy.values():
            process.kill()
        for process in processes:
            process.join()


def _work(pipe):
    """A worker: run cells as they come in, until the other end closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    with contextlib.suppress(EOFError, OSError):
        while True:
            cell = pipe.recv()
            for run in cell.runs:
                try:
                    message = ("result", run_once(cell, run))
                except Exception as error:  # whatever it is, it belongs to this run, and the others go on
                    message = ("failed", f"run {run}: {type(error).__name__}: {error}")
                pipe.send(message)
            pipe.send(("done", None))


def _exit_reason(code):
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
