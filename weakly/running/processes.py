"""Make the runs of cells on several workers, and return each run as it ends.

A worker is an executor of concurrent.futures with room for one call: here a pool of one process, in
cluster.py Dask's executor for one of its workers. (A local Dask cluster would listen on a port where any user
of the machine could have code executed.) The number and kind of workers do not change the results. A worker
finishes its cell and continues with similar cells, so that the data is opened and the network compiled once
for all their runs, and Table 3's sets with the same seen classes share their fits. A failing run does not
affect others. If its worker dies, a run is retried; if that dies too, the run is given up.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections import defaultdict
from concurrent import futures

from tqdm import tqdm

from weakly.methods import METHODS
from weakly.running.single_run import run_once

CELLS_PER_PROCESS = 40
ONE_THREAD = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS".split()
ONE_THREAD += ["TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"]


def attempt(cell, run):
    """What a worker calls: run_once as (result, None), or (None, why) if the run failed."""
    try:
        return run_once(cell, run), None
    except Exception as error:  # any error concerns this run only; the others continue
        return None, f"run {run}: {type(error).__name__}: {error}"


def run_cells(missing, jobs, cluster=None):
    """Make the runs {cell: run numbers} on `jobs` processes or a Dask cluster, and show the progress.

    Yields (cell, measured, None) per run, and (cell, None, why) per run that failed or killed its workers.
    """
    if cluster is not None:
        from weakly.running.cluster import ClusterWorkers  # imports distributed, which only this needs
    n_runs = sum(map(len, missing.values()))
    every = 0.5 if sys.stderr.isatty() else 30  # seconds; in a log file, a line every half minute is enough
    how = {"mininterval": every, "smoothing": 0, "dynamic_ncols": True, "unit": "run"}
    with (
        contextlib.closing(LocalWorkers(jobs) if cluster is None else ClusterWorkers(cluster)) as workers,
        tqdm(total=n_runs, disable=not n_runs, **how) as progress,
    ):
        for cell, measured, error in outcomes(missing, workers):
            yield cell, measured, error
            progress.set_description(f"{cell.dataset} {METHODS[cell.method].column}", refresh=False)
            progress.update()


def outcomes(missing, workers):
    """Give every idle worker a run, as long as there are any; yields the outcome of each: see run_cells."""
    waiting = defaultdict(list)  # the runs that could share fits: {cell.training: [(cell, run)]}
    for cell, runs in missing.items():
        waiting[cell.training] += [(cell, run) for run in runs]
    in_hand, last = {}, {}  # future -> (worker, cell, run); worker -> what it has learned from
    retried, ended = set(), []
    while waiting or in_hand:
        try:
            hand_out(waiting, in_hand, last, workers)
        finally:
            yield from ended  # only now, so that no worker waits while the driver writes
        ended = []
        for future in futures.wait(in_hand, 1.0, futures.FIRST_COMPLETED).done:
            worker, cell, run = in_hand.pop(future)
            try:
                ended.append((cell, *future.result()))
            except Exception as problem:  # an error of the worker, not of the run
                death = workers.drop(worker, problem)  # None if it refused the run
                if death and (cell, run) in retried:
                    ended.append((cell, None, f"run {run}: {death}"))
                    continue
                waiting[cell.training].insert(0, (cell, run))
                if death:
                    retried.add((cell, run))
                    print(f"{cell}, run {run}: {death}; retrying.", file=sys.stderr, flush=True)
    yield from ended


def hand_out(waiting, in_hand, last, workers):
    """Give every idle worker a run, and take those of lost workers back.

    A worker gets runs that could share its last fit, or else such that no other worker learns from.
    """
    names = set(workers.names())
    for future, (worker, _, _) in in_hand.items():
        if worker not in names:
            future.cancel()  # it would wait for the worker to return
    idle = names - {worker for worker, _, _ in in_hand.values()}
    while waiting and idle:
        worker = idle.pop()
        if last.get(worker) not in waiting:
            taken = {cell.training for _, cell, _ in in_hand.values()}
            last[worker] = min(waiting, key=taken.__contains__)  # the first of equals
        cell, run = waiting[last[worker]].pop(0)
        if not waiting[last[worker]]:
            del waiting[last[worker]]
        in_hand[workers.submit(worker, cell, run)] = worker, cell, run


class LocalWorkers:
    """`jobs` processes on this machine, each started when there is work for it.

    A process is replaced after some cells, because TensorFlow never frees a compiled graph, some 12 MB.
    """

    def __init__(self, jobs):
        self._jobs, self._processes = jobs, defaultdict(lambda: (new_process(), set()))

    def names(self):
        """The workers to use now."""
        return range(self._jobs)

    def submit(self, worker, cell, run):
        """A Future of a run's outcome; it raises BrokenProcessPool if the process dies."""
        if len(self._processes[worker][1] | {cell}) > CELLS_PER_PROCESS:
            self.drop(worker)
        process, cells = self._processes[worker]
        cells.add(cell)
        try:
            return process.submit(attempt, cell, run)
        except futures.BrokenExecutor:  # it died since its last run
            self.drop(worker)
            return self.submit(worker, cell, run)

    def drop(self, worker, problem=None):
        """Stop using the process of a worker; returns a sentence for the case that it died."""
        self._processes.pop(worker)[0].shutdown(wait=False)
        return "the worker process died, perhaps out of memory: try fewer --jobs"

    def close(self):
        for process in multiprocessing.active_children():
            process.kill()  # TensorFlow takes a second or two to end by itself
        for process, _ in self._processes.values():
            process.shutdown()


def new_process():
    """An executor with one process of one thread, which ends with this one and leaves Ctrl-C to it."""
    os.environ |= dict.fromkeys(ONE_THREAD, "1")  # read by the libraries when the new process imports them
    executor = futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), end_with_driver)
    earlier = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which a new process inherits
    try:
        executor.submit(int)
    finally:
        signal.signal(signal.SIGINT, earlier)
    return executor


def end_with_driver():
    """End this process when the driver is gone, even during a run: nothing would receive the result."""

    def wait():
        if driver := multiprocessing.parent_process():
            driver.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
