"""Run cells (all runs of one method on one data set) on several processes, and hand back each run as it ends.

A worker makes one call at a time, behind the interface of concurrent.futures: submit gives a Future. Here
it is a fresh process of one thread, in cluster.py a worker of a Dask cluster; how many there are and of
which kind does not change the results. A worker keeps a cell to its end, and goes on with cells like it:
the data is opened and the network compiled once for all their runs. A run that fails costs only itself; one
whose worker dies is tried again, and then costs only its cell.
"""

import contextlib
import hashlib
import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter
from concurrent import futures
from multiprocessing import resource_tracker
from typing import Any, NamedTuple

import numpy as np

from loading.store import load_data
from methods import make_detector
from running.code_identity import code_hash
from running.configuration import Cell
from running.single_run import detector_seed, measure, rows_of_run

CELLS_PER_PROCESS = 40
FITS_KEPT = 40
ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)


def run_once(cell, run):
    """Fit and score one run of a cell, with seed = run; returns what was measured, and by which code."""
    rows = _rows_of_run(cell, seed=run)
    seed = detector_seed(cell.protocol, run)
    detector = make_detector(cell.method, random_state=seed, **dict(cell.overrides))
    measured = _measure_once_fitted(cell, detector, rows) if "->" in cell.dataset else measure(detector, rows)
    note = f"run {run}: {measured['note']}" if measured["note"] else None
    return measured | {"run": run, "seed": run, "code": code_hash(cell.method), "note": note}


def attempt(cell, run):
    """What a worker does: run_once as (result, None), or (None, why) if the run failed."""
    try:
        return run_once(cell, run), None
    except Exception as error:  # whatever it is, it belongs to this run, and the others go on
        return None, f"run {run}: {type(error).__name__}: {error}"


class AlreadyFitted:
    """A detector that has learned from these rows before."""

    needs_validation = False

    def __init__(self, detector):
        self.decision_function = detector.decision_function

    def fit_rows(self, X, unlabeled, anomalies):
        """Nothing is left to do."""


_fits = {}  # the last FITS_KEPT detectors and the seconds that they took, under what they learned from


def _measure_once_fitted(cell, detector, rows):
    """measure, but sets with the same seen classes and other unseen ones share one fit, and its seconds."""
    arrays = (rows.split.unlabeled, rows.split.anomalies, rows.split.extra)
    digests = tuple(
        hashlib.sha256(np.ascontiguousarray(array)).digest() for array in arrays if array is not None
    )
    key = (
        cell.method,
        cell.overrides,
        cell.data_dir,
        cell.protocol,
        detector.random_state,
        rows.seed,
        *digests,
    )
    if key in _fits:
        fitted, seconds = _fits[key]
        return measure(AlreadyFitted(fitted), rows) | {"fit_seconds": seconds}
    measured = measure(detector, rows)
    _fits[key] = detector, measured["fit_seconds"]
    if len(_fits) > FITS_KEPT:
        del _fits[next(iter(_fits))]
    return measured


_kept = {}  # the rows of the last run, under their key


def _rows_of_run(cell, seed):
    """The rows of a run; `released` has one split for all seeds, so it is made once and kept."""
    # quick, and a worker of a cluster may live longer than the data on disk
    data = load_data(cell.dataset, cell.data_dir)
    seed = None if cell.protocol == "released" else seed
    set_up = (cell.protocol, cell.n_labeled, cell.contamination)
    key = (data.fingerprint, cell.data_dir, cell.dataset, *set_up, seed)
    if key not in _kept:
        _kept.clear()  # before the next is made, so that there is only ever one
        _kept[key] = rows_of_run(data, cell.protocol, seed, cell.n_labeled, cell.contamination)
    return _kept[key]


# ---------------------------------------------------------------------------- handing out the runs


def run_cells(cells, jobs, cluster=None):
    """Run all cells on `jobs` processes, or on the Dask cluster with this address.

    Yields (cell, result, None) per run, (cell, None, why) per failed run and per cell given up because its
    worker died.
    """
    workers = LocalWorkers(jobs) if cluster is None else connected_workers(cluster)
    try:
        yield from Schedule(cells, workers).outcomes()
    finally:
        workers.close()


class Task(NamedTuple):
    """A run that a worker has in hand."""

    worker: Any
    cell: Cell
    run: int


class Schedule:
    """Which runs wait, who has which in hand, and what came of the others."""

    def __init__(self, cells, workers):
        self._workers = workers
        self._waiting = {cell: list(cell.runs) for cell in cells}  # the first cell is the most urgent
        self._in_hand = {}  # future -> Task
        self._last = {}  # worker -> the cell it had last
        self._deaths = Counter()  # (cell, run) -> how many workers it has cost

    def outcomes(self):
        """Yield what comes of every run; see run_cells."""
        ended = []
        while self._waiting or self._in_hand:
            self._hand_out()
            yield from ended  # only now, so that no worker waits while the driver writes
            ended = self._collect()
        yield from ended

    def _hand_out(self):
        """Give every idle worker a run, as long as there are any."""
        unfinished = len(self._in_hand) + sum(map(len, self._waiting.values()))
        idle = set(self._workers.current(unfinished)) - {task.worker for task in self._in_hand.values()}
        while self._waiting and idle:
            worker = idle.pop()
            taken = {task.cell.training for task in self._in_hand.values()}
            cell = self._last[worker] = _next_cell(self._waiting, self._last.get(worker), taken)
            run = self._waiting[cell].pop(0)
            if not self._waiting[cell]:
                del self._waiting[cell]
            self._in_hand[worker.submit(*self._workers.call(cell, run))] = Task(worker, cell, run)

    def _collect(self):
        """Wait until runs have ended; returns their outcomes."""
        pause, ended = self._workers.seconds_between_looks, []
        for future in futures.wait(self._in_hand, pause, futures.FIRST_COMPLETED).done:
            task = self._in_hand.pop(future)
            try:
                ended.append((task.cell, *future.result()))
            except Exception as problem:  # of the worker, not of the run
                ended += self._retry(task, problem)
        return ended

    def _retry(self, task, problem):
        """Put the run of a lost worker back to the front, or give its cell up; returns the outcomes."""
        worker, cell, run = task
        death = self._workers.drop(worker, problem)  # None if it refused the run
        self._deaths[cell, run] += death is not None
        others = self._waiting.pop(cell, [])
        if self._deaths[cell, run] > self._workers.retries:
            return [(cell, None, death)]  # its other runs would hardly do better
        self._waiting = {cell: [run, *others], **self._waiting}
        if death:
            print(f"{cell}, run {run}: {death}; it is tried again.", file=sys.stderr, flush=True)
        return []


def connected_workers(address):
    from running.cluster import ClusterWorkers  # imports distributed, which only this needs

    return ClusterWorkers(address)


def _next_cell(waiting, last, taken):
    """The cell a worker goes on with: its last one, else one that nobody has, like its last one if any."""
    if last in waiting:
        return last

    def reluctance(cell):
        likeness = ("training", "dataset", "method")
        return cell.training in taken, last and [getattr(cell, x) != getattr(last, x) for x in likeness]

    return min(waiting, key=reluctance)  # the first of equals


# ---------------------------------------------------------------------------- processes


class LocalWorkers:
    """Up to `jobs` processes on this machine, started when there is work for them."""

    retries = 1  # how often a run is tried again whose worker died
    seconds_between_looks = None  # a process that dies ends its future: nobody has to look

    def __init__(self, jobs):
        self._jobs, self._workers = jobs, []

    def current(self, wanted):
        """The workers to use now, no more than wanted."""
        while len(self._workers) < min(self._jobs, wanted):
            self._workers.append(LocalWorker())
        return self._workers

    def call(self, cell, run):
        """What to submit for a run: a function and its arguments."""
        return attempt, cell, run

    def drop(self, worker, problem):
        """Do without a worker that died; returns how it did."""
        self._workers.remove(worker)
        return str(problem)

    def close(self):
        for worker in self._workers:
            worker.stop()


class LocalWorker:
    """A process of one thread, which makes way for a fresh one after some cells.

    TensorFlow never frees a compiled graph, some 12 MB.
    """

    def __init__(self):
        self._start()

    def _start(self):
        self._cells = set()  # that it has had
        for name in ONE_THREAD:  # read by the libraries when the new process imports them
            os.environ[name] = "1"
        context = multiprocessing.get_context("spawn")
        self._pipe, other_end = context.Pipe()
        self.process = context.Process(target=_work, args=(other_end,), daemon=True)
        # the new process begins with this mask: Ctrl-C is the driver's to handle, even while a worker imports
        resource_tracker.ensure_running()  # which would take the mask away when it starts
        earlier = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, earlier)
        other_end.close()

    def submit(self, *call):
        """A Future of what the process makes of a function and its arguments, a cell first.

        It has a ConnectionError if the process dies.
        """
        if len(self._cells | {call[1]}) > CELLS_PER_PROCESS:
            self.stop()
            self._start()
        self._cells.add(call[1])
        future = futures.Future()
        threading.Thread(target=self._wait, args=(future, call), daemon=True).start()
        return future

    def stop(self):
        self.process.kill()
        self.process.join()

    def _wait(self, future, call):
        try:
            self._pipe.send(call)
            future.set_result(self._pipe.recv())
        except (EOFError, OSError):  # killed, out of memory, crashed
            self.process.join()
            code = self.process.exitcode
            reason = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
            hint = ", as when memory runs out: fewer --jobs need less" if reason == "SIGKILL" else ""
            future.set_exception(ConnectionError(f"the worker process died ({reason}{hint})"))


def _work(pipe):
    """A worker's process: make calls as they come in, until the other end closes the pipe."""
    threading.Thread(target=_end_with_driver, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, *arguments = pipe.recv()
            pipe.send(function(*arguments))


def _end_with_driver():
    """End this process as soon as the driver is gone, even in a run: nobody would take its result."""
    if driver := multiprocessing.parent_process():
        driver.join()
    os._exit(1)
