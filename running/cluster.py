"""Workers on other machines for processes.py: those of a Dask scheduler, with one run each at a time.

    python -m dask scheduler --port 8786   # inside a clone, on one machine; the next in one on each
    python -m dask worker tcp://HOST:8786 --nworkers 4 --nthreads 1 --memory-limit 0
    python experiments.py seen --cluster tcp://HOST:8786

A worker must have the driver's code, library versions and data, and one thread; else it is left out, with a
sentence that says why. A relative --data-dir is meant inside the worker's clone; what is not prepared there
is prepared from the folder that PRENET_DATA names there. A run whose worker is lost is given to another
one.
"""

import contextlib
import functools
import hashlib
import importlib.util
import os
import sys
import time
from concurrent.futures import CancelledError
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import distributed

from common import source_code
from common.errors import DataError, UserError
from common.paths import ROOT
from common.versions import PACKAGES, version
from loading.fetching import SourceFinder
from loading.registry import source_of
from loading.store import load_data, prepare
from methods import METHODS
from running.processes import ONE_THREAD, attempt

# as they were when this process began: after a change of the code, workers must be started again
SOURCES = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in source_code.SOURCES.items()}
VERSIONS = {name: version(name) for name in PACKAGES}


class WorkerRefused(Exception):
    """Why a worker cannot do what the driver itself would do."""


class ClusterWorkers:
    """The driver's side: the workers that a scheduler has, which may come and go."""

    retries = 2  # how often a run is tried again whose worker was lost
    seconds_between_looks = 1.0
    seconds_to_connect = 8

    def __init__(self, scheduler):
        self._scheduler, self._workers, self._refused = scheduler, {}, set()  # _workers: executor -> address
        try:
            self._client = distributed.Client(
                scheduler, timeout=self.seconds_to_connect, set_as_default=False
            )
        except (OSError, ValueError) as error:  # a TimeoutError is an OSError
            raise UserError(f"no Dask scheduler can be reached at {scheduler}: {error}") from None
        with contextlib.suppress(ModuleNotFoundError):  # of the folder
            if self._client.run_on_scheduler(importlib.util.find_spec, "running.cluster"):
                return
        self.close()
        raise UserError(f"the scheduler {scheduler} must be started inside a clone of this project")

    def current(self, wanted):
        """The workers to use now; while the scheduler has none at all, waits for one."""
        looks = 0
        while True:
            try:
                there = self._client.nthreads().keys()
            except (OSError, CancelledError):
                raise UserError(
                    f"the scheduler {self._scheduler} was lost; every finished run is kept"
                ) from None
            for worker, address in list(self._workers.items()):
                if address not in there:
                    del self._workers[worker]
                    worker.shutdown(wait=False)  # cancels its run, which would wait for it to come back
            for address in there - set(self._workers.values()) - self._refused:
                self._add(address)
            if self._workers:
                return list(self._workers)
            if there:
                raise UserError(f"none of the {len(there)} workers of {self._scheduler} can be used")
            if looks == 0:
                print(
                    f"{self._scheduler} has no workers: waiting for one (Ctrl-C stops).",
                    file=sys.stderr,
                    flush=True,
                )
            looks += 1
            time.sleep(self.seconds_between_looks)

    def _add(self, address):
        """Begin to use a worker, if it can read what it will be sent: outside a clone, that would end it."""
        worker = self._client.get_executor(workers=[address], pure=False)
        self._workers[worker] = address
        find = functools.partial(self._client.run, workers=[address], on_error="return")
        found = find(importlib.util.find_spec, "running.cluster").get(address)
        if not isinstance(found, ModuleSpec):  # but None, or an error
            self.drop(worker, WorkerRefused("it must be started inside a clone of this project"))

    def call(self, cell, run):
        """What to submit for a run: a function and its arguments."""
        return attempt_checked, cell, run, _fingerprint(cell.dataset, cell.data_dir), SOURCES, VERSIONS

    def drop(self, worker, problem):
        """Do without a worker; returns a sentence if it was lost, None if it refused the run."""
        address = self._workers.pop(worker, None)
        if isinstance(problem, (CancelledError, distributed.KilledWorker)):
            return "the worker was lost, and so were those that tried it before"
        self._refused.add(address)
        reason = problem if isinstance(problem, WorkerRefused) else f"{type(problem).__name__}: {problem}"
        print(f"The worker {address} is left out: {reason}.", file=sys.stderr, flush=True)
        return None

    def close(self):
        with contextlib.suppress(OSError):
            # runs that wait are forgotten; a worker ends the one that it has in hand
            self._client.close(timeout=1)


@functools.cache
def _fingerprint(name, data_dir):
    return load_data(name, data_dir).fingerprint


# ---------------------------------------------------------------------------- on a worker


def attempt_checked(cell, run, fingerprint, sources, versions):
    """processes.attempt, if this worker has the driver's data, code and versions; else WorkerRefused."""
    check_start(distributed.get_worker())
    method = METHODS[cell.method].module
    importlib.import_module(method)
    used = {*sys.modules, *source_code.modules_reached([method])}  # also what it will import in a function
    changed = [
        f"{name.replace('.', '/')}.py"
        for name, digest in sources.items()
        if name in used and SOURCES.get(name) != digest
    ]
    changed += [f"{name} {VERSIONS[name]}" for name, version in versions.items() if VERSIONS[name] != version]
    if changed:
        raise WorkerRefused(
            f"its {', '.join(changed)} differ from the driver's; start it again in a clone like the driver's"
        )
    cell = replace(cell, data_dir=str(ROOT / cell.data_dir))
    found = find_data(cell.dataset, cell.data_dir)
    if found != fingerprint:
        raise WorkerRefused(
            f"its {cell.dataset} is other data (SHA-256 {found[:12]}) than the driver's ({fingerprint[:12]})"
        )
    return attempt(cell, run)


def check_start(worker):
    """One thread, as their number decides the order of sums; no memory limit, which would end a worker."""
    missing = [f"{name}=1" for name in ONE_THREAD if os.environ.get(name) != "1"]
    missing += ["--nthreads 1"] if worker.state.nthreads != 1 else []
    missing += ["--memory-limit 0"] if worker.memory_manager.memory_limit else []
    if missing:
        raise WorkerRefused(f"it must be started with {' '.join(missing)}")


def find_data(name, data_dir):
    """The fingerprint of a data set in data_dir, prepared from PRENET_DATA if it is not there."""
    sources = [os.environ["PRENET_DATA"]] if os.environ.get("PRENET_DATA") else []
    finder = SourceFinder(Path(data_dir) / "raw", sources, offline=True)
    for pause in (0, 1, 3):  # another worker may be preparing it too, and just be putting its folder in place
        time.sleep(pause)
        try:
            with contextlib.suppress(DataError):
                return load_data(name, data_dir).fingerprint
            prepare(source_of(name), finder, data_dir, log=print)
            return load_data(name, data_dir).fingerprint
        except DataError as error:
            problem = str(error).rstrip(".")
    raise WorkerRefused(problem)
