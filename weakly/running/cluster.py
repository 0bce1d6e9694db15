"""Workers on other machines for processes.py: those of a Dask scheduler, each with one run at a time.

    python -m dask scheduler --port 8786   # inside a clone, on one machine; the next line on each machine
    python -m dask worker tcp://HOST:8786 --nworkers 4 --nthreads 1 --memory-limit 0
    python experiments.py seen --cluster tcp://HOST:8786

A worker must have the driver's code, library versions and data, and one thread; otherwise it is not used, and
a message says why. A relative --data-dir refers to the worker's clone. If a worker is lost, another one gets
its run.
"""

import contextlib
import os
import sys
import time
from concurrent.futures import CancelledError
from dataclasses import replace

import distributed

from weakly.errors import UserError
from weakly.loading.arrays import load_data
from weakly.paths import ROOT
from weakly.running.processes import ONE_THREAD, attempt
from weakly.running.single_run import checked_code


class ClusterWorkers:
    """The driver's side: the workers that a scheduler has, which may come and go."""

    seconds_to_connect = 8

    def __init__(self, scheduler):
        self._scheduler, self._seen, self._refused = scheduler, set(), set()  # addresses of workers
        self._is_waiting = False
        try:
            timeout = self.seconds_to_connect
            self._client = distributed.Client(scheduler, timeout=timeout, set_as_default=False)
        except (OSError, ValueError) as error:  # a TimeoutError is an OSError
            raise UserError(f"cannot reach a Dask scheduler at {scheduler}: {error}") from None

    def names(self):
        """The addresses of the workers to use now; waits a moment if the scheduler has none."""
        try:
            present = set(self._client.nthreads())
            if not present and not self._is_waiting:
                tell(f"{self._scheduler} has no workers: waiting for one (Ctrl-C to stop).")
            if not present:
                time.sleep(1.0)  # not longer: runs that have ended are to be written
            self._is_waiting = not present
            for address in present - self._seen:
                self._seen.add(address)
                missing = self._client.run(missing_options, workers=[address], on_error="return")
                # an error if it cannot import this module: our calls would crash it
                if problem := missing.get(address):
                    self.drop(address, problem)
        except (OSError, CancelledError):
            lost = f"the scheduler {self._scheduler} was lost; every finished run is kept"
            raise UserError(lost) from None
        if present and present <= self._refused:
            none_of = f"none of the {len(present)} workers of {self._scheduler}"
            raise UserError(f"{none_of} is usable: see the messages above")
        return present - self._refused

    def submit(self, address, cell, run):
        """A Future of a run's outcome."""
        executor = self._client.get_executor(workers=[address], pure=False)
        return executor.submit(attempt_on_worker, cell, run)

    def drop(self, address, problem):
        """Stop using a worker; returns a sentence if it was lost, None if it refused the run."""
        if isinstance(problem, (CancelledError, distributed.KilledWorker)):
            return "the worker was lost"
        self._refused.add(address)
        why = " ".join(str(problem).split()).rstrip(". ")  # Dask's messages have several lines
        tell(f"The worker {address} is not used: {why}.")
        return None

    def close(self):
        with contextlib.suppress(OSError):
            self._client.close(timeout=1)  # waiting runs are dropped; workers finish their current run


def tell(sentence):
    print(sentence, file=sys.stderr, flush=True)


def missing_options(dask_worker):
    """On a worker: a sentence about what its start lacks; more threads change the order of sums."""
    missing = [f"{name}=1" for name in ONE_THREAD if os.environ.get(name) != "1"]
    missing += ["--nthreads 1"] if dask_worker.state.nthreads != 1 else []
    missing += ["--memory-limit 0"] if dask_worker.memory_manager.memory_limit else []
    return f"it must be started with {' '.join(missing)}" if missing else None


def attempt_on_worker(cell, run):
    """On a worker: an error if its code or its data are not those of the driver, otherwise as `attempt`."""
    checked_code(cell)
    cell = replace(cell, data_dir=str(ROOT / cell.data_dir))
    load_data(cell.dataset, cell.data_dir, cell.data_sha256, cell.data_status)
    return attempt(cell, run)
