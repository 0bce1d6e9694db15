"""Run cells (all runs of one method on one data set) on several processes, and hand back each run as it ends.

Every worker is a fresh process with one thread, so that results do not depend on how many there are. A worker keeps a
cell to its end: the data is opened and the network compiled once for all its runs. One that fails, or dies, costs
only its own cell.
"""

import contextlib
import functools
import multiprocessing
import os
import signal
import time
from dataclasses import dataclass, field
from multiprocessing import connection

from sklearn.metrics import average_precision_score, roc_auc_score

from data_prep import load_data
from methods import make_detector

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")


@dataclass(frozen=True)
class Cell:
    """The missing runs of one method on one data set."""

    method: str
    dataset: str
    protocol: str
    n_labeled: int
    contamination: float
    runs: tuple
    data_dir: str = "dataset"
    settings: dict = field(default_factory=dict, hash=False)

    def __str__(self):
        return f"{self.method} on {self.dataset}"


def run_cell(cell):
    """Fit and score each run of a cell; yields one dict of results per run. Run r has seed r."""
    for run in cell.runs:
        seed = run
        rows, split, X_test, y_test = _training_data(
            cell.data_dir, cell.dataset, cell.protocol, None if cell.protocol == "released" else seed, cell.n_labeled, cell.contamination
        )
        detector = make_detector(cell.method, random_state=seed, **cell.settings)
        start = time.perf_counter()
        detector.fit_rows(rows, split.unlabeled, split.anomalies)
        fitted = time.perf_counter()
        scores = detector.decision_function(X_test)
        scored = time.perf_counter()
        yield {
            "run": run,
            "seed": seed,
            "auc_roc": roc_auc_score(y_test, scores),
            "auc_pr": average_precision_score(y_test, scores),
            "fit_seconds": fitted - start,
            "score_seconds": scored - fitted,
        }


@functools.lru_cache(maxsize=1)
def _training_data(data_dir, dataset, protocol, seed, n_labeled, contamination):
    """Rows, split and test set of a run; `released` has one for all seeds, so it is made once per cell and kept."""
    data = load_data(dataset, data_dir)
    split = data.split(protocol, seed, n_labeled, contamination)
    return split.stack(data.X), split, data.X[split.test], data.y[split.test]


# ---------------------------------------------------------------------------- processes


def run_cells(cells, jobs):
    """Run all cells on `jobs` processes; yields (cell, result, None) per run and (cell, None, why) per failed cell."""
    waiting = list(cells)
    context = multiprocessing.get_context("spawn")
    workers = {}  # connection: (process, its cell)
    try:
        for _ in range(min(jobs, len(waiting))):
            _start_worker(context, workers, waiting.pop(0))
        while workers:
            for receiver in connection.wait(list(workers)):
                process, cell = workers[receiver]
                try:
                    kind, value = receiver.recv()
                except (EOFError, OSError):  # the worker is gone: killed, out of memory, crashed
                    del workers[receiver]
                    process.join()
                    yield cell, None, f"the worker process died ({_exit_reason(process.exitcode)})"
                    if waiting:
                        _start_worker(context, workers, waiting.pop(0))
                    continue
                if kind == "result":
                    yield cell, value, None
                    continue
                if kind == "failed":
                    yield cell, None, value
                if waiting:  # "failed" or "done": on to the next cell
                    workers[receiver] = (process, waiting.pop(0))
                    with contextlib.suppress(OSError):  # it has just died: the next recv tells
                        receiver.send(workers[receiver][1])
                else:
                    del workers[receiver]
                    receiver.close()  # which ends the worker
                    process.join()
    finally:
        for process, _ in workers.values():
            process.kill()
            process.join()


def _start_worker(context, workers, cell):
    receiver, sender = context.Pipe()
    for name in ONE_THREAD:  # read by the libraries when the new process imports them
        os.environ[name] = "1"
    process = context.Process(target=_work, args=(sender,), daemon=True)
    process.start()
    sender.close()
    receiver.send(cell)
    workers[receiver] = (process, cell)


def _work(pipe):
    """A worker: run cells as they come in, until the other end closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    while True:
        try:
            cell = pipe.recv()
        except EOFError:
            return
        try:
            for result in run_cell(cell):
                pipe.send(("result", result))
        except BrokenPipeError:
            return
        except Exception as error:  # any failure belongs to this cell, the others go on
            pipe.send(("failed", f"{type(error).__name__}: {error}"))
        else:
            pipe.send(("done", None))


def _exit_reason(code):
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
