"""Workers on other machines for processes.py: those of a Dask scheduler, each with one run at a time.

    python -m dask scheduler --port 8786   # inside a clone, on one machine; the next line on each machine
    python -m dask worker tcp://HOST:8786 --nworkers 4 --nthreads 1 --memory-limit 0
    python experiments.py seen --cluster tcp://HOST:8786

A worker must have the driver's code, library versions and data, and one thread; otherwise it is not used, and
a message says why. A relative --data-dir refers to the worker's clone; data sets that are not prepared there
are prepared from the folder in the worker's PRENET_DATA. If a worker is lost, another one gets its run.
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

from weakly import source_code
from weakly.errors import DataError, UserError
from weakly.loading.fetching import SourceFinder
from weakly.loading.registry import source_of
from weakly.loading.store import load_data, prepare
from weakly.methods import METHODS
from weakly.paths import ROOT
from weakly.running.processes import ONE_THREAD, attempt
from weakly.versions import PACKAGES, version

# as they were when this process started: after a change of the code, restart the workers
SOURCES = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in source_code.SOURCES.items()}
VERSIONS = {name: version(name) for name in PACKAGES}


class WorkerRefused(Exception):
    """Why a worker cannot give the results that the driver itself would."""


class ClusterWorkers:
    """The driver's side: the workers that a scheduler has, which may come and go."""

    retries = 2  # how often a run is retried when its worker is lost
    seconds_between_looks = 1.0
    seconds_to_connect = 8

    def __init__(self, scheduler):
        self._scheduler, self._workers, self._refused = scheduler, {}, set()  # _workers: executor -> address
        try:
            self._client = distributed.Client(
                scheduler, timeout=self.seconds_to_connect, set_as_default=False
            )
        except (OSError, ValueError) as error:  # a TimeoutError is an OSError
            raise UserError(f"cannot reach a Dask scheduler at {scheduler}: {error}") from None
        with contextlib.suppress(ModuleNotFoundError):  # of the folder
            if self._client.run_on_scheduler(importlib.util.find_spec, "weakly.running.cluster"):
                return
        self.close()
        raise UserError(f"start the scheduler {scheduler} inside a clone of this project")

    def current(self, wanted):
        """The workers to use now; waits while the scheduler has none."""
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
                    worker.shutdown(
                        wait=False
                    )  # cancels its run, which would otherwise wait for the worker to return
            for address in there - set(self._workers.values()) - self._refused:
                self._add(address)
            if self._workers:
                return list(self._workers)
            if there:
                raise UserError(
                    f"none of the {len(there)} workers of {self._scheduler} is usable: see the messages above"
                )
            if looks == 0:
                print(
                    f"{self._scheduler} has no workers: waiting for one (Ctrl-C to stop).",
                    file=sys.stderr,
                    flush=True,
                )
            looks += 1
            time.sleep(self.seconds_between_looks)

    def _add(self, address):
        """Start to use a worker if it can unpickle our calls, which would crash it outside a clone."""
        worker = self._client.get_executor(workers=[address], pure=False)
        self._workers[worker] = address
        find = functools.partial(self._client.run, workers=[address], on_error="return")
        found = find(importlib.util.find_spec, "weakly.running.cluster").get(address)
        if not isinstance(found, ModuleSpec):  # but None, or an error
            self.drop(worker, WorkerRefused("it must be started inside a clone of this project"))

    def call(self, cell, run):
        """What to submit for a run: a function and its arguments."""
        return attempt_checked, cell, run, _fingerprint(cell.dataset, cell.data_dir), SOURCES, VERSIONS

    def drop(self, worker, problem):
        """Stop using a worker; returns a sentence if it was lost, None if it refused the run."""
        address = self._workers.pop(worker, None)
        if isinstance(problem, (CancelledError, distributed.KilledWorker)):
            return "the worker was lost, and so were those that tried it before"
        self._refused.add(address)
        reason = problem if isinstance(problem, WorkerRefused) else f"{type(problem).__name__}: {problem}"
        print(f"The worker {address} is not used: {reason}.", file=sys.stderr, flush=True)
        return None

    def close(self):
        with contextlib.suppress(OSError):
            # waiting runs are dropped; workers finish their current run
            self._client.close(timeout=1)


@functools.cache
def _fingerprint(name, data_dir):
    return load_data(name, data_dir).fingerprint


# ---------------------------------------------------------------------------- on a worker


def attempt_checked(cell, run, fingerprint, sources, versions):
    """Call processes.attempt if this worker has the driver's data, code and versions; else WorkerRefused."""
    check_start(distributed.get_worker())
    method = METHODS[cell.method].module
    importlib.import_module(method)
    used = {*sys.modules, *source_code.modules_reached([method])}  # including imports inside functions
    changed = [
        f"{name.replace('.', '/')}.py"
        for name, digest in sources.items()
        if name in used and SOURCES.get(name) != digest
    ]
    changed += [f"{name} {VERSIONS[name]}" for name, version in versions.items() if VERSIONS[name] != version]
    if changed:
        raise WorkerRefused(
            f"its {', '.join(changed)} differ from the driver's; restart it in a clone like the driver's"
        )
    cell = replace(cell, data_dir=str(ROOT / cell.data_dir))
    found = find_data(cell.dataset, cell.data_dir)
    if found != fingerprint:
        raise WorkerRefused(
            f"its {cell.dataset} (SHA-256 {found[:12]}) differs from the driver's ({fingerprint[:12]})"
        )
    return attempt(cell, run)


def check_start(worker):
    """Check for one thread, because more change the order of sums, and for no memory limit."""
    missing = [f"{name}=1" for name in ONE_THREAD if os.environ.get(name) != "1"]
    missing += ["--nthreads 1"] if worker.state.nthreads != 1 else []
    missing += ["--memory-limit 0"] if worker.memory_manager.memory_limit else []
    if missing:
        raise WorkerRefused(f"it must be started with {' '.join(missing)}")


def find_data(name, data_dir):
    """The fingerprint of a data set in data_dir, prepared from PRENET_DATA if it is not there."""
    sources = [os.environ["PRENET_DATA"]] if os.environ.get("PRENET_DATA") else []
    finder = SourceFinder(Path(data_dir) / "raw", sources, offline=True)
    for pause in (0, 1, 3):  # another worker may be preparing it at the same time
        time.sleep(pause)
        try:
            with contextlib.suppress(DataError):
                return load_data(name, data_dir).fingerprint
            prepare(source_of(name), finder, data_dir, log=print)
            return load_data(name, data_dir).fingerprint
        except DataError as error:
            problem = str(error).rstrip(".")
    raise WorkerRefused(problem)
