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
from collections import Counter
from concurrent import futures

from tqdm import tqdm

from weakly.methods import METHODS
from weakly.running.single_run import run_once

CELLS_PER_PROCESS = 40
ONE_THREAD = "OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS".split()
ONE_THREAD += ["TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"]


def attempt(cell, run, refused=()):
    """What a worker calls: run_once as (result, None), or (None, why) if the run failed.

    An error of one of the types in `refused` is raised.
    """
    try:
        return run_once(cell, run), None
    except refused:
        raise
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
    waiting = {cell: list(runs) for cell, runs in missing.items()}  # the first cell comes next
    in_hand, last = {}, {}  # future -> (worker, cell, run); worker -> the cell it had last
    deaths = Counter()  # (cell, run) -> how many workers died in it
    ended = []
    while waiting or in_hand:
        idle = set(workers.names()) - {worker for worker, _, _ in in_hand.values()}
        while waiting and idle:
            worker = idle.pop()
            taken = {cell.training for _, cell, _ in in_hand.values()}
            cell = last[worker] = next_cell(waiting, last.get(worker), taken)
            run = waiting[cell].pop(0)
            if not waiting[cell]:
                del waiting[cell]
            in_hand[workers.submit(worker, cell, run)] = worker, cell, run
        yield from ended  # only now, so that no worker waits while the driver writes
        ended = []
        for future in futures.wait(in_hand, workers.patience, futures.FIRST_COMPLETED).done:
            worker, cell, run = in_hand.pop(future)
            try:
                ended.append((cell, *future.result()))
            except Exception as problem:  # an error of the worker, not of the run
                death = workers.drop(worker, problem)
                deaths[cell, run] += death is not None  # otherwise it refused the run
                if deaths[cell, run] > workers.retries:
                    ended.append((cell, None, f"run {run}: {death}"))
                else:
                    waiting = {cell: [run, *waiting.pop(cell, [])], **waiting}  # comes next
                    if death:
                        print(f"{cell}, run {run}: {death}; retrying.", file=sys.stderr, flush=True)
    yield from ended


def next_cell(waiting, last, taken):
    """The next cell of a worker: its last one, or else a free one, preferably similar to its last.

    taken: what other workers are learning from; a cell that could share their fits is left to them.
    """
    if last in waiting:
        return last

    def reluctance(cell):
        parts = ("training", "dataset", "method")
        return cell.training in taken, last and [getattr(cell, x) != getattr(last, x) for x in parts]

    return min(waiting, key=reluctance)  # the first of equals


class LocalWorkers:
    """`jobs` processes on this machine, each started when there is work for it.

    A process is replaced after some cells, because TensorFlow never frees a compiled graph, some 12 MB.
    """

    retries = 1  # how often a run is retried when its worker dies
    patience = None  # seconds to wait for a run before looking after the workers: a death ends its future

    def __init__(self, jobs):
        self._jobs, self._processes, self._cells = jobs, {}, {}

    def names(self):
        """The workers to use now."""
        return range(self._jobs)

    def submit(self, worker, cell, run):
        """A Future of a run's outcome; it raises BrokenProcessPool if the process dies."""
        if len(self._cells.setdefault(worker, set()) | {cell}) > CELLS_PER_PROCESS:
            self.drop(worker)
        if worker not in self._processes:
            self._processes[worker], self._cells[worker] = new_process(), set()
        self._cells[worker].add(cell)
        try:
            return self._processes[worker].submit(attempt, cell, run)
        except futures.BrokenExecutor as problem:  # it died since its last run
            future = futures.Future()
            future.set_exception(problem)
            return future

    def drop(self, worker, problem=None):
        """Stop using the process of a worker; returns a sentence for the case that it died."""
        self._processes.pop(worker).shutdown(wait=False)
        return "the worker process died, perhaps out of memory: try fewer --jobs"

    def close(self):
        for process in multiprocessing.active_children():
            process.kill()  # TensorFlow takes a second or two to end by itself
        for worker in self._processes.values():
            worker.shutdown()


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
    driver = multiprocessing.parent_process()

    def wait():
        if driver:
            driver.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
