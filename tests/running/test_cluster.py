"""Runs on a Dask cluster: a real scheduler and real workers on the loopback, on the synthetic set."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import distributed
import numpy as np
import pytest

from weakly.errors import UserError
from weakly.loading.fetching import SourceFinder
from weakly.loading.store import prepare_all
from weakly.running import cluster
from weakly.running.configuration import Cell
from weakly.running.planning import identified
from weakly.running.processes import ONE_THREAD, run_cells

ROOT = Path(__file__).resolve().parent.parent.parent
MEASURED = "run seed auc_roc auc_pr auc_pr_weighted mean_score_anomalies mean_score_normals".split()
LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard")
GOOD_WORKER = ("--nthreads", "1", "--memory-limit", "0")


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """A scheduler without workers: its address, and start(), whose worker is killed at the end."""
    folder = tmp_path_factory.mktemp("dask")
    environment = {
        name: value for name, value in os.environ.items() if name not in (*ONE_THREAD, "PRENET_DATA")
    }

    def start(*arguments, cwd=ROOT, **variables):
        command = [sys.executable, "-m", "dask", *map(str, arguments), *LOOPBACK]
        started = subprocess.Popen(command, cwd=cwd, env=environment | variables, stdout=log, stderr=log)
        stack.callback(started.wait)
        stack.callback(started.kill)
        return started

    def start_worker(*options, **variables):
        local = ("--no-nanny", "--local-directory", folder, "--scheduler-file", folder / "scheduler.json")
        return start("worker", *local, *options, **variables)

    with open(folder / "log.txt", "w") as log, contextlib.ExitStack() as stack:
        start("scheduler", "--port", "0", "--scheduler-file", folder / "scheduler.json")
        deadline = time.monotonic() + 30
        while not (folder / "scheduler.json").exists():
            assert time.monotonic() < deadline, (folder / "log.txt").read_text()
            time.sleep(0.05)
        time.sleep(0.1)
        address = json.loads((folder / "scheduler.json").read_text())["address"]
        yield SimpleNamespace(address=address, start_worker=start_worker)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset")
    prepare_all(["demo"], SourceFinder(folder / "raw", offline=True), folder)
    return folder


@pytest.fixture(scope="module")
def cells(data_dir):
    asked = {"method": "prenet", "dataset": "demo", "data_dir": str(data_dir)}
    return [identified(Cell(n_labeled=n_labeled, **asked)) for n_labeled in (60, 30)]


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
    workers, lost = [], []

    def start_workers(_):  # no worker is there yet: they are started when the driver waits for them
        workers.extend(dask.start_worker(*GOOD_WORKER, **dict.fromkeys(ONE_THREAD, "1")) for _ in range(2))
        wait_for_workers(dask, 2)

    monkeypatch.setattr(cluster, "time", SimpleNamespace(sleep=start_workers))
    drop = cluster.ClusterWorkers.drop
    monkeypatch.setattr(
        cluster.ClusterWorkers, "drop", lambda *arguments: lost.append(drop(*arguments)) or lost[-1]
    )
    outcomes = three_runs(cells, dask.address)
    made = [next(outcomes)]
    # each has a run in hand: the driver gives out the next before it hands back one
    os.kill(workers[0].pid, signal.SIGKILL)
    made += outcomes
    assert "has no workers: waiting for one" in capsys.readouterr().err
    assert lost == ["the worker was lost, and so were those that tried it before"]
    assert len(made) == 6 and measured(made) == measured(list(three_runs(cells)))


def test_a_worker_with_other_settings_is_left_out_and_the_others_do_its_runs(dask, cells, capsys):
    dask.start_worker("--nthreads", "2", "--memory-limit", "1GB", OMP_NUM_THREADS="1")
    dask.start_worker(*GOOD_WORKER, cwd=cells[0].data_dir, **dict.fromkeys(ONE_THREAD, "1"))
    wait_for_workers(dask, 3)
    made = list(three_runs(cells[1:], dask.address))
    assert len(measured(made)) == 3
    missing = " ".join(f"{name}=1" for name in ONE_THREAD if name != "OMP_NUM_THREADS")
    told = capsys.readouterr().err
    assert f"is not used: it must be started with {missing} --nthreads 1 --memory-limit 0." in told
    assert "is not used: it must be started inside a clone of this project." in told


@pytest.mark.parametrize("other", ["data_sha256", "settings", "code", "numpy", "data_dir"])
def test_other_data_settings_code_or_versions_are_refused(dask, cells, monkeypatch, capsys, other):
    cell, reason = cells[1], f"is not used: its {other} for prenet on demo differ from the driver's; restart"
    if other == "numpy":
        monkeypatch.setitem(cluster.VERSIONS, "numpy", "1.0")
        reason = f"is not used: its numpy {np.__version__} for prenet on demo differ"
    elif other == "data_sha256":
        reason = "is not used: demo is not prepared in the version that was planned: "
    elif other == "data_dir":
        reason = "is not used: demo is not prepared: run `python data_prep.py"
    if other != "numpy":
        cell = replace(cell, **{other: "other"})
    with pytest.raises(UserError, match="none of the . workers of tcp://.* is usable"):
        list(three_runs([cell], dask.address))
    assert reason in capsys.readouterr().err


def test_a_scheduler_that_cannot_be_reached(cells, monkeypatch):
    monkeypatch.setattr(cluster.ClusterWorkers, "seconds_to_connect", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(UserError, match=f"cannot reach a Dask scheduler at {address}"):
            next(three_runs(cells, address))
