"""Killed drivers and workers, full disks, folders used twice: nothing is lost, nothing is wrong."""

import csv
import os
import resource
import signal
import subprocess
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import drivers
import numpy as np
import pandas as pd
import pytest
from drivers import ExecutorHere, allow_ctrl_c, experiment_here, finish, measured

from iforest_baseline import IForest
from weakly.loading.unseen import UNSEEN_DEMO_SETS
from weakly.running import processes
from weakly.running.configuration import Cell
from weakly.running.processes import run_cells
from weakly.running.provenance import read_sessions
from weakly.running.runs_file import IDENTITY, RunsFile, only_writer

QUICK = ("--datasets", "demo", "--methods", "iforest", "--set", "n_trees=5")
RUNS_FILE = "seen_n_trees=5_runs.csv"


@pytest.fixture
def start():
    """drivers.start, and what its processes leave behind is ended if their test fails."""
    started = []
    yield lambda *arguments, **options: started.append(drivers.start(*arguments, **options)) or started[-1]
    for process in started:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def workers_of(driver):
    """Process numbers of a driver's workers (its other child keeps track of shared memory)."""
    listed = subprocess.run(["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True).stdout
    lines = [line.split(maxsplit=2) for line in listed.splitlines()]
    return [int(pid) for pid, parent, args in lines if parent == str(driver) and "spawn_main" in args]


def is_alive(pid):
    """Whether a process runs; one that is dead and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def count_runs(path):
    return path.read_bytes().count(b"\n") - 1 if path.exists() else 0


def wait_for(process, path, n_workers, n_made):
    """The workers of a driver, when it has this many and has made so many runs."""
    wait_until(lambda: len(workers_of(process.pid)) >= n_workers and count_runs(path) >= n_made)
    return workers_of(process.pid)


# --- kills


@pytest.mark.slow
def test_kills_lose_nothing_and_change_nothing(start, demo_dir, runs_here, tmp_path):
    """SIGKILL of the driver with its workers while these start, of the driver alone, of a worker in a run."""
    options = ("--methods", "iforest", "--runs", 30)
    assert experiment_here(demo_dir, tmp_path / "undisturbed", "seen", "--datasets", "demo", *options) == 0
    runs_file, seen = tmp_path / "killed" / "seen_runs.csv", b""
    for victim, n_made in (("all", 0), ("driver", 3), ("worker", 8)):
        process = start(demo_dir, runs_file.parent, *options)
        workers = wait_for(process, runs_file, 1, n_made)
        if victim == "worker":
            os.kill(workers[0], signal.SIGKILL)
            err = finish(process)[1]
            assert "; retrying." in err and "waiting" not in err  # the dead have left no lock
            break
        (os.killpg if victim == "all" else os.kill)(process.pid, signal.SIGKILL)
        process.communicate()
        wait_until(lambda: not any(map(is_alive, workers)), 2)  # noqa: B023, none goes on without its driver
        content = runs_file.read_bytes() if runs_file.exists() else b""
        assert content.startswith(seen)  # what was once written stays
        seen = content[: content.rfind(b"\n") + 1]
    assert runs_file.read_bytes().startswith(seen) and seen.count(b"\n") > 3
    undisturbed, killed = measured(tmp_path / "undisturbed" / "seen_runs.csv"), measured(runs_file)
    assert len(killed) == 30 and not killed.duplicated(IDENTITY).any()
    pd.testing.assert_frame_equal(killed, undisturbed, check_exact=True)


@pytest.mark.slow
@pytest.mark.parametrize("stop, n_made", [(signal.SIGINT, 0), (signal.SIGTERM, 3)])
def test_ctrl_c_and_sigterm_end_everything_within_2_seconds(start, demo_dir, tmp_path, stop, n_made):
    """Ctrl-C reaches the workers too, SIGTERM of a container or job scheduler the driver alone.

    While the workers import, and when they have made runs, which are then printed and counted.
    """
    process = start(demo_dir, tmp_path, *QUICK, "--runs", 5000, "--jobs", 2, preexec_fn=allow_ctrl_c)
    workers = wait_for(process, tmp_path / RUNS_FILE, 2, n_made)
    (os.killpg if stop == signal.SIGINT else os.kill)(process.pid, stop)
    pressed = time.monotonic()
    out, err = finish(process, 130)
    assert time.monotonic() - pressed < 2 and not any(map(is_alive, workers))
    assert "run the same command to resume" in err
    if n_made:
        (session,) = read_sessions(tmp_path / "seen_n_trees=5_provenance.json")
        assert " runs in 0:" in out and session["runs_made"] == count_runs(tmp_path / RUNS_FILE)


def test_a_run_that_kills_its_worker_twice_is_reported_and_the_others_go_on(monkeypatch, capsys):
    """All other runs are made once, on four workers."""
    cells = [Cell(method="iforest", dataset="demo", n_labeled=n_labeled) for n_labeled in (15, 60, 90)]
    deadly = (cells[1], 3)
    deaths = [BrokenProcessPool() for _ in range(3)]

    class DyingHere(ExecutorHere):
        def submit(self, function, *arguments):
            if arguments[:2] != deadly:
                return super().submit(function, *arguments)
            if len(deaths) == 3:
                raise deaths.pop()  # it died before it got the run, which is no retry
            future = Future()
            future.set_exception(deaths.pop())
            return future

    monkeypatch.setattr(processes, "new_process", DyingHere)
    monkeypatch.setattr(processes, "attempt", lambda cell, run: (run, None))
    outcomes = list(run_cells({cell: list(range(30)) for cell in cells}, 4))
    ended = [(cell, run) for cell, run, error in outcomes if not error]
    assert len(ended) == 89 and {*ended, deadly} == {(cell, run) for cell in cells for run in range(30)}
    ((cell, error),) = [(cell, error) for cell, _, error in outcomes if error]
    assert cell == deadly[0] and "died, perhaps out of memory: try fewer --jobs" in error
    assert not deaths and "iforest on demo, 60 labels" in capsys.readouterr().err


# --- two drivers


@pytest.mark.slow
def test_a_second_driver_waits_and_waiting_can_be_stopped(start, demo_dir, tmp_path):
    with only_writer(tmp_path):
        stopped, second = (
            start(demo_dir, tmp_path, *QUICK, "--runs", 1, preexec_fn=allow_ctrl_c) for _ in range(2)
        )
        for waiting in (stopped, second):
            assert f"{tmp_path} is in use by another driver; waiting" in waiting.stderr.readline()
        stopped.send_signal(signal.SIGINT)
        finish(stopped, 130)
        assert not (tmp_path / RUNS_FILE).exists()
    finish(second)
    assert count_runs(tmp_path / RUNS_FILE) == 1


# --- disks and foreign files


@pytest.fixture(scope="module")
def made(demo_dir, tmp_path_factory):
    """The runs file of a dozen quick runs, as bytes."""
    folder = tmp_path_factory.mktemp("dozen")
    with drivers.workers_here():
        assert experiment_here(demo_dir, folder, "seen", *QUICK, "--runs", 12) == 0
    return (folder / RUNS_FILE).read_bytes()


@pytest.fixture
def path(made, tmp_path):
    """It, in a folder of its own."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / RUNS_FILE).write_bytes(made)
    return tmp_path / "results" / RUNS_FILE


def test_a_last_line_cut_off_anywhere_is_dropped_and_no_neighbour_is_lost(made, path, capsys):
    runs, copy = RunsFile(path.parent, RUNS_FILE.removesuffix("_runs.csv")), Path(f"{path}.bak")
    *kept, last = made.splitlines(keepends=True)
    kept = b"".join(kept)
    # at last what a power failure can leave behind
    for rest in (*(last[:length] for length in range(1, len(last), 7)), last[:20] + 300 * b"\0"):
        copy.unlink(missing_ok=True)
        path.write_bytes(kept + rest)
        runs.open_for_append()
        assert path.read_bytes() == kept and copy.read_bytes() == kept + rest
        printed = capsys.readouterr().out
        assert f"dropping the last line, which is incomplete; {copy.name} has it" in printed


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_the_next_start_resumes(start, demo_dir, runs_here, made, path):
    size = len(made) + 500  # in the middle of the second new line, as on a disk that is full
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: E731
    _, err = finish(start(demo_dir, path.parent, *QUICK, "--runs", 16, preexec_fn=limit), 2)
    assert f"{path} cannot be written: File too large" in err
    assert path.read_bytes().startswith(made) and len(path.read_bytes()) == size
    assert experiment_here(demo_dir, path.parent, "seen", *QUICK, "--runs", 16) == 0
    assert sorted(measured(path)["run"]) == list(range(16))


def changed(start, *cells):
    """A function that replaces cells of the third line of a runs file by other texts."""

    def change(made):
        rows = list(csv.reader(made.decode().splitlines()))
        rows[2][start : start + len(cells)] = cells
        return "".join(",".join(row) + "\r\n" for row in rows).encode()

    return change


@pytest.mark.parametrize("change, message", [
    (changed(22, "x"), "Expected 22 fields in line 3, saw 23"),
    (changed(9, "abc"), 'of runs: Unable to parse string "abc"'),
    (changed(8, "7.5"), "of runs: line 3 has an impossible seed or AUC"),
    (changed(4, "2"), "of runs: line 3 has an impossible seed or AUC"),
    (lambda made: made.replace(b"scaling", b"scale"), "is not a runs file of this version"),
])  # fmt: skip
def test_a_damaged_file_stops_it_and_is_kept(demo_dir, made, path, capsys, change, message):
    path.write_bytes(change(made))
    assert experiment_here(demo_dir, path.parent, "seen", *QUICK) == 2
    err = capsys.readouterr().err
    assert str(path) in err and message in err and path.read_bytes() == change(made)


# --- numbers


def test_constant_scores_are_recorded_and_reported(demo_dir, runs_here, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(IForest, "decision_function", lambda self, X: np.zeros(len(X)))
    assert experiment_here(demo_dir, tmp_path, "seen", *QUICK, "--runs", 1) == 0
    note = "all 2,000 test scores are 0: the detector does not distinguish any rows."
    assert "NOTE iforest on demo, 60 labels" in (out := capsys.readouterr().out) and note in out
    assert measured(tmp_path / RUNS_FILE)["auc_roc"].tolist() == [0.5]


def test_the_order_of_data_sets_and_methods_does_not_change_results(runs_here, demo_dir, tmp_path):
    """--jobs, resumed runs and a Dask cluster are compared in test_experiments.py and test_cluster.py."""
    for order in (1, -1):
        datasets, methods = ";".join(UNSEEN_DEMO_SETS[::order]), ",".join(["logistic", "iforest"][::order])
        options = ("unseen", "--datasets", datasets, "--methods", methods, "--runs", 1)
        assert experiment_here(demo_dir, tmp_path / str(order), *options) == 0
    one, other = (measured(tmp_path / name / "unseen_runs.csv") for name in ("1", "-1"))
    assert len(one) == 4
    pd.testing.assert_frame_equal(one, other, check_exact=True)
