"""Run cells (all runs of one method on one data set) in several processes, and return each run as it ends.

A worker makes one call at a time, with the interface of concurrent.futures: submit returns a Future. Here it
is a fresh process with one thread, in cluster.py a worker of a Dask cluster. The number and kind of workers
do not change the results. A worker finishes its cell and continues with similar cells, so that the data is
opened and the network compiled once for all their runs, and Table 3's sets with the same seen classes share
their fits. A failing run does not affect others. If its worker dies, the run is retried; if it dies again,
only its cell is lost.
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

from weakly.loading.splits import TRAINING_COPIES
from weakly.loading.store import load_data
from weakly.methods import make_detector
from weakly.running.code_identity import code_hash
from weakly.running.configuration import PREPARED, Cell
from weakly.running.single_run import detector_seed, fit, measure, rows_of_run
from weakly.training.number_scaler import NumberScaler

CELLS_PER_PROCESS = 40
ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)


def run_once(cell, run):
    """Fit and score one run of a cell, with seed = run; returns what was measured, and by which code."""
    # quick, and the data on disk may change while a cluster's worker is running
    data = load_data(cell.dataset, cell.data_dir)
    rows = _rows_of_run(cell, data, seed=run)
    detector, seconds = _fitted(cell, data, rows, detector_seed(cell.protocol, run))
    measured = measure(detector, rows)
    note = f"run {run}: {measured['note']}" if measured["note"] else None
    made_by = {"run": run, "seed": run, "code": code_hash(cell.method, cell.scaling)}
    return measured | {"fit_seconds": seconds, "note": note} | made_by


def attempt(cell, run):
    """What a worker calls: run_once as (result, None), or (None, why) if the run failed."""
    try:
        return run_once(cell, run), None
    except Exception as error:  # any error concerns this run only; the others continue
        return None, f"run {run}: {type(error).__name__}: {error}"


_kept = {}  # the rows of the last run, under their key


def _rows_of_run(cell, data, seed):
    """The rows of a run; `released` has one split for all seeds, so it is cached."""
    seed = None if cell.protocol in ("released", TRAINING_COPIES) else seed
    set_up = (cell.protocol, cell.n_labeled, cell.contamination)
    key = (data.fingerprint, cell.data_dir, cell.dataset, *set_up, cell.scaling, seed)
    if key not in _kept:
        _kept.clear()  # before the next is made, so that only one is in memory
        rows = rows_of_run(data, cell.protocol, seed, cell.n_labeled, cell.contamination)
        _kept[key] = rows if cell.scaling == PREPARED else rescaled(rows, cell.scaling)
    return _kept[key]


def rescaled(rows, scaling):
    """The rows of a run with their features scaled by what its training rows teach."""
    learned_from = np.concatenate([rows.split.unlabeled, rows.split.anomalies])
    scaler = NumberScaler(scaling).fit(rows.training[learned_from])
    return rows._replace(training=scaler.transform(rows.training), X_test=scaler.transform(rows.X_test))


_fits = {}  # {cell.training: {what a detector learned from: the detector and the seconds of its fit}}


def _fitted(cell, data, rows, seed):
    """A detector fitted to the rows of a run, and the seconds that its fit took.

    Table 3's sets with the same seen classes have the same training rows, so their runs share a fit.
    """
    if "->" not in cell.dataset:
        return _new_fit(cell, rows, seed)
    if cell.training not in _fits:
        _fits.clear()  # a worker is given the cells that share fits one after the other
    fits = _fits.setdefault(cell.training, {})
    arrays = (rows.split.unlabeled, rows.split.anomalies, rows.split.extra)
    learned_from = (data.fingerprint, seed, *map(_digest, arrays))
    if learned_from not in fits:
        fits[learned_from] = _new_fit(cell, rows, seed)
    return fits[learned_from]


def _new_fit(cell, rows, seed):
    detector = make_detector(cell.method, random_state=seed, **dict(cell.overrides))
    return detector, fit(detector, rows)


def _digest(array):
    return hashlib.sha256(b"" if array is None else array.tobytes()).digest()


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
    """A run that a worker is working on."""

    worker: Any
    cell: Cell
    run: int


class Schedule:
    """Which runs are waiting, which are in progress, and the outcomes of the others."""

    def __init__(self, cells, workers):
        self._workers = workers
        self._waiting = {cell: list(cell.runs) for cell in cells}  # the first cell comes next
        self._in_hand = {}  # future -> Task
        self._last = {}  # worker -> the cell it had last
        self._deaths = Counter()  # (cell, run) -> how many workers died in it

    def outcomes(self):
        """Yield the outcome of every run; see run_cells."""
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
            except Exception as problem:  # an error of the worker, not of the run
                ended += self._retry(task, problem)
        return ended

    def _retry(self, task, problem):
        """Move the run of a lost worker to the front, or give up its cell; returns the outcomes."""
        worker, cell, run = task
        death = self._workers.drop(worker, problem)  # None if it refused the run
        self._deaths[cell, run] += death is not None
        others = self._waiting.pop(cell, [])
        if self._deaths[cell, run] > self._workers.retries:
            return [(cell, None, death)]  # its other runs would probably fail too
        self._waiting = {cell: [run, *others], **self._waiting}
        if death:
            print(f"{cell}, run {run}: {death}; retrying.", file=sys.stderr, flush=True)
        return []


def connected_workers(address):
    from weakly.running.cluster import ClusterWorkers  # imports distributed, which only this needs

    return ClusterWorkers(address)


def _next_cell(waiting, last, taken):
    """The next cell of a worker: its last one, or else a free one, preferably similar to its last.

    taken: what other workers are learning from; a cell that could share their fits is left to them.
    """
    if last in waiting:
        return last

    def reluctance(cell):
        parts = ("training", "dataset", "method")
        return cell.training in taken, last and [getattr(cell, x) != getattr(last, x) for x in parts]

    return min(waiting, key=reluctance)  # the first of equals


# ---------------------------------------------------------------------------- processes


class LocalWorkers:
    """Up to `jobs` processes on this machine, started when there is work for them."""

    retries = 1  # how often a run is retried when its worker dies
    seconds_between_looks = None  # a dying process ends its future, so no polling is needed

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
        """Remove a worker that died; returns how it died."""
        self._workers.remove(worker)
        return str(problem)

    def close(self):
        for worker in self._workers:
            worker.stop()


class LocalWorker:
    """A process with one thread, which is replaced by a fresh one after some cells.

    TensorFlow never frees a compiled graph, some 12 MB.
    """

    def __init__(self):
        self._start()

    def _start(self):
        self._cells = set()  # that it has worked on
        for name in ONE_THREAD:  # read by the libraries when the new process imports them
            os.environ[name] = "1"
        context = multiprocessing.get_context("spawn")
        self._pipe, other_end = context.Pipe()
        self.process = context.Process(target=_work, args=(other_end,), daemon=True)
        # the new process starts with this mask: the driver handles Ctrl-C, even while a worker imports
        resource_tracker.ensure_running()  # which would take the mask away when it starts
        earlier = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, earlier)
        other_end.close()

    def submit(self, *call):
        """A Future of a call in the process: a function and its arguments, of which the first is a cell.

        It raises ConnectionError if the process dies.
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
            hint = ", perhaps out of memory: try fewer --jobs" if reason == "SIGKILL" else ""
            future.set_exception(ConnectionError(f"the worker process died ({reason}{hint})"))


def _work(pipe):
    """A worker's process: make calls as they arrive, until the other end closes the pipe."""
    threading.Thread(target=_end_with_driver, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, *arguments = pipe.recv()
            pipe.send(function(*arguments))


def _end_with_driver():
    """End this process when the driver is gone, even during a run: nothing would receive the result."""
    if driver := multiprocessing.parent_process():
        driver.join()
    os._exit(1)
