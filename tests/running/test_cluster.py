"""Runs on a Dask cluster: a real scheduler and real workers on the loopback, on the synthetic set."""

import contextlib
import json
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import distributed
import pytest
from drivers import ENVIRONMENT, ROOT, planned

from weakly.errors import UserError
from weakly.running import cluster
from weakly.running.processes import ONE_THREAD, run_cells

MEASURED = "run seed auc_roc auc_pr auc_pr_weighted mean_score_anomalies mean_score_normals".split()
pytestmark = pytest.mark.slow
GOOD_WORKER = ("--nthreads", "1", "--memory-limit", "0")


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """A scheduler without workers: its address, and start_worker(), whose process is killed at the end."""
    folder = tmp_path_factory.mktemp("dask")
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in ONE_THREAD}

    def start(*arguments, **variables):
        loopback = ("--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", folder / "scheduler.json")
        command = list(map(str, [sys.executable, "-m", "dask", *arguments, *loopback]))
        started = subprocess.Popen(command, cwd=ROOT, env=environment | variables, stdout=log, stderr=log)
        stack.callback(started.wait)
        stack.callback(started.kill)
        return started

    def start_worker(*options, **variables):
        return start("worker", "--no-nanny", "--local-directory", folder, *options, **variables)

    with open(folder / "log.txt", "w") as log, contextlib.ExitStack() as stack:
        start("scheduler", "--port", "0")
        deadline, address = time.monotonic() + 30, None
        while address is None:
            assert time.monotonic() < deadline, (folder / "log.txt").read_text()
            time.sleep(0.05)
            with contextlib.suppress(FileNotFoundError, ValueError):  # not there yet, or not whole
                address = json.loads((folder / "scheduler.json").read_text())["address"]
        yield SimpleNamespace(address=address, start_worker=start_worker)


@pytest.fixture(scope="module")
def cells(demo_dir):
    """Two cells, of a method whose runs take a moment."""
    of_many_trees = ("iforest", demo_dir, "--set", "n_trees=400", "--n-labeled")
    return [planned(*of_many_trees, number) for number in (60, 30)]


def three_runs(cells, address=None):
    return run_cells(dict.fromkeys(cells, (0, 1, 2)), 1, address)


def wait_for_workers(dask, number):
    with distributed.Client(dask.address, set_as_default=False) as client:
        client.wait_for_workers(number, timeout=60)


def measured(outcomes):
    """What is the same in every repetition of the runs; times are not."""
    assert [error for _, _, error in outcomes if error] == []
    return sorted((cell.n_labeled, *(result[name] for name in MEASURED)) for cell, result, _ in outcomes)


def test_a_worker_killed_while_working_costs_a_retry_and_the_results_are_those_of_a_local_run(
    dask, cells, monkeypatch, capsys
):
    workers = []

    def start_workers(message):  # no worker is there yet: they are started when the driver waits for them
        assert "has no workers: waiting for one" in message
        workers.extend(dask.start_worker(*GOOD_WORKER, **dict.fromkeys(ONE_THREAD, "1")) for _ in range(2))
        wait_for_workers(dask, 2)

    monkeypatch.setattr(cluster, "tell", start_workers)
    outcomes = three_runs(cells, dask.address)
    made = [next(outcomes)]
    workers[0].kill()  # each has a run in hand: the driver gives out the next before it hands back one
    made += outcomes
    assert capsys.readouterr().err.count("was lost; retrying") == 1
    assert len(made) == 6 and measured(made) == measured(list(three_runs(cells)))


@pytest.mark.parametrize("other, reason", [
    ("data_sha256", "demo is not prepared in the version that was planned"),
    ("data_dir", "demo is not prepared: run `python data_prep.py"),
    ("settings", "the code, a setting or a library was changed"),
    ("code", "the code, a setting or a library was changed"),
])  # fmt: skip
def test_other_data_settings_or_code_are_refused(dask, cells, capsys, other, reason):
    cell = replace(cells[1], **{other: "other"})
    with pytest.raises(UserError, match="none of the . workers of tcp://.* is usable"):
        list(three_runs([cell], dask.address))
    assert f"is not used: {reason}" in capsys.readouterr().err


def test_a_scheduler_that_cannot_be_reached(cells, monkeypatch):
    monkeypatch.setattr(cluster.ClusterWorkers, "seconds_to_connect", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(UserError, match=f"cannot reach a Dask scheduler at {address}"):
            next(three_runs(cells, address))
