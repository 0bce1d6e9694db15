"""Runs on a Dask cluster: a real scheduler and real workers on the loopback, on the synthetic set."""

import contextlib
import subprocess
import sys
from dataclasses import replace

import distributed
import pytest
from drivers import ENVIRONMENT, ROOT, planned

from weakly.errors import UserError
from weakly.running import cluster
from weakly.running.processes import ONE_THREAD, run_cells

MEASURED = "run seed auc_roc auc_pr auc_pr_weighted mean_score_anomalies mean_score_normals".split()
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """A Dask cluster without workers, and a function that starts one, which is killed at the end."""
    options = "--nthreads 1 --memory-limit 0 --no-nanny --no-dashboard --host 127.0.0.1".split()
    options += ["--local-directory", tmp_path_factory.mktemp("dask")]
    environment = ENVIRONMENT | dict.fromkeys(ONE_THREAD, "1")

    def start_worker():
        command = [sys.executable, "-m", "dask", "worker", local.scheduler_address, *options]
        started = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        stack.callback(started.wait)
        stack.callback(started.kill)
        return started

    with contextlib.ExitStack() as stack:
        local = distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None)
        stack.enter_context(local)
        yield local, start_worker


@pytest.fixture(scope="module")
def cells(demo_dir):
    """Two cells, of a method whose runs take a moment."""
    of_many_trees = ("iforest", demo_dir, "--set", "n_trees=400", "--n-labeled")
    return [planned(*of_many_trees, number) for number in (60, 30)]


def three_runs(cells, address=None):
    return run_cells(dict.fromkeys(cells, (0, 1, 2)), 1, address)


def measured(outcomes):
    """What is the same in every repetition of the runs; times are not."""
    assert [error for _, _, error in outcomes if error] == []
    return sorted((cell.n_labeled, *(result[name] for name in MEASURED)) for cell, result, _ in outcomes)


def test_a_worker_killed_while_working_costs_a_retry_and_the_results_are_those_of_a_local_run(
    dask, cells, monkeypatch, capsys
):
    workers, (dask_cluster, start_worker) = [], dask

    def start_workers(message):  # no worker is there yet: they are started when the driver waits for them
        assert "has no workers: waiting for one" in message
        workers.extend(start_worker() for _ in range(2))
        dask_cluster.wait_for_workers(2)

    monkeypatch.setattr(cluster, "tell", start_workers)
    outcomes = three_runs(cells, dask_cluster.scheduler_address)
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
        list(three_runs([cell], dask[0].scheduler_address))
    assert f"is not used: {reason}" in capsys.readouterr().err


def test_a_scheduler_that_cannot_be_reached(cells, monkeypatch):
    monkeypatch.setattr(cluster.ClusterWorkers, "seconds_to_connect", 1)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(UserError, match=f"cannot reach a Dask scheduler at {address}"):
            next(three_runs(cells, address))
