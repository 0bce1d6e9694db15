"""Workers on other machines for processes.py: those of a Dask scheduler, each with one run at a time.

    python -m dask scheduler --port 8786   # inside a clone, on one machine; the next line on each machine
    python -m dask worker tcp://HOST:8786 --nworkers 4 --nthreads 1 --memory-limit 0
    python experiments.py seen --cluster tcp://HOST:8786

A worker must have the driver's code, library versions and data, and one thread; otherwise it is not used, and
a message says why. A relative --data-dir refers to the worker's clone. If a worker is lost, another one gets
its run.
"""

import contextlib
import functools
import importlib.util
import os
import sys
import time
from concurrent.futures import CancelledError
from dataclasses import replace
from importlib.machinery import ModuleSpec

import distributed

from weakly.environment import package_versions
from weakly.errors import DataError, UserError
from weakly.paths import ROOT
from weakly.running.configuration import IDENTITY_COLUMNS
from weakly.running.planning import identified
from weakly.running.processes import ONE_THREAD, attempt

VERSIONS = package_versions()  # of this process: after a change, restart the workers


class WorkerRefused(Exception):
    """Why a worker cannot give the results that the driver itself would."""


class ClusterWorkers:
    """The driver's side: the workers that a scheduler has, which may come and go."""

    retries = 2  # how often a run is retried when its worker is lost
    patience = 1.0  # seconds to wait for a run before looking after the workers
    seconds_to_connect = 8

    def __init__(self, scheduler):
        self._scheduler, self._executors, self._refused = scheduler, {}, set()  # executors by address
        try:
            timeout = self.seconds_to_connect
            self._client = distributed.Client(scheduler, timeout=timeout, set_as_default=False)
        except (OSError, ValueError) as error:  # a TimeoutError is an OSError
            raise UserError(f"cannot reach a Dask scheduler at {scheduler}: {error}") from None
        with contextlib.suppress(ModuleNotFoundError):  # of the folder
            if self._client.run_on_scheduler(importlib.util.find_spec, __name__):
                return
        self.close()
        raise UserError(f"start the scheduler {scheduler} inside a clone of this project")

    def names(self, unfinished):
        """The addresses of the workers to use now; waits while the scheduler has none."""
        for look in range(sys.maxsize):
            try:
                there = set(self._client.nthreads())
            except (OSError, CancelledError):
                lost = f"the scheduler {self._scheduler} was lost; every finished run is kept"
                raise UserError(lost) from None
            for address in set(self._executors) - there:
                # cancels its run, which would otherwise wait for the worker to return
                self._executors.pop(address).shutdown(wait=False)
            for address in there - set(self._executors) - self._refused:
                self._add(address)
            if self._executors:
                break
            if there:
                none_of = f"none of the {len(there)} workers of {self._scheduler}"
                raise UserError(f"{none_of} is usable: see the messages above")
            if look == 0:
                tell(f"{self._scheduler} has no workers: waiting for one (Ctrl-C to stop).")
            time.sleep(self.patience)
        return list(self._executors)

    def _add(self, address):
        """Start to use a worker if it can unpickle our calls, which would crash it outside a clone."""
        self._executors[address] = self._client.get_executor(workers=[address], pure=False)
        find = functools.partial(self._client.run, workers=[address], on_error="return")
        found = find(importlib.util.find_spec, __name__).get(address)
        if not isinstance(found, ModuleSpec):  # but None, or an error
            self.drop(address, WorkerRefused("it must be started inside a clone of this project"))

    def submit(self, address, cell, run):
        """A Future of a run's outcome."""
        return self._executors[address].submit(attempt_checked, cell, run, VERSIONS)

    def drop(self, address, problem):
        """Stop using a worker; returns a sentence if it was lost, None if it refused the run."""
        self._executors.pop(address, None)
        if isinstance(problem, (CancelledError, distributed.KilledWorker)):
            return "the worker was lost, and so were those that tried it before"
        self._refused.add(address)
        reason = problem if isinstance(problem, WorkerRefused) else f"{type(problem).__name__}: {problem}"
        tell(f"The worker {address} is not used: {reason}.")
        return None

    def close(self):
        with contextlib.suppress(OSError):
            self._client.close(timeout=1)  # waiting runs are dropped; workers finish their current run


def tell(sentence):
    print(sentence, file=sys.stderr, flush=True)


def attempt_checked(cell, run, versions):
    """On a worker: attempt a run if it can only give what the driver would get; else WorkerRefused."""
    worker = distributed.get_worker()
    # more threads change the order of sums
    missing = [f"{name}=1" for name in ONE_THREAD if os.environ.get(name) != "1"]
    missing += ["--nthreads 1"] if worker.state.nthreads != 1 else []
    missing += ["--memory-limit 0"] if worker.memory_manager.memory_limit else []
    if missing:
        raise WorkerRefused(f"it must be started with {' '.join(missing)}")
    cell = replace(cell, data_dir=str(ROOT / cell.data_dir))
    try:
        here = identified(cell)
    except DataError as error:
        raise WorkerRefused(str(error).rstrip(".")) from None
    other = [name for name in IDENTITY_COLUMNS if getattr(here, name) != getattr(cell, name)]
    other += [f"{name} {VERSIONS.get(name)}" for name in versions if versions[name] != VERSIONS.get(name)]
    if other:
        differ = f"its {', '.join(other)} for {cell.method} on {cell.dataset} differ from the driver's"
        raise WorkerRefused(f"{differ}; restart it in a clone like the driver's, with the same data")
    return attempt(cell, run)
