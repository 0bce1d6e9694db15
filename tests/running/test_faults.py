"""Killed drivers and workers, full disks, folders used twice: nothing is lost, nothing is wrong."""

import csv
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import drivers
import numpy as np
import pandas as pd
import pytest
from drivers import ENVIRONMENT, ROOT, allow_ctrl_c, finish

import experiments
from iforest_baseline import IForest
from weakly.errors import UserError
from weakly.loading.fetching import SourceFinder
from weakly.loading.store import prepare_all
from weakly.loading.unseen import UNSEEN_DEMO_SETS
from weakly.running import single_run
from weakly.running.configuration import Cell
from weakly.running.processes import run_cells
from weakly.running.provenance import Session, read_sessions
from weakly.running.runs_file import IDENTITY, RunsFile, only_writer
from weakly.writing import PART

QUICK = ("--methods", "iforest", "--set", "n_trees=5")
DEATH = "the worker process died, perhaps out of memory: try fewer --jobs"
RUNS = 30


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset")
    prepare_all(["demo"], SourceFinder(folder / "raw", offline=True), folder)
    return folder


started = []


@pytest.fixture(autouse=True)
def nothing_left_behind():
    yield
    while started:
        process = started.pop()
        if process.returncode is None:  # its test failed
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def start(*arguments, **options):
    started.append(drivers.start(*arguments, **options))
    return started[-1]


def workers_of(driver):
    """Process numbers of a driver's workers (its other child keeps track of shared memory)."""
    listed = subprocess.run(
        ["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True
    ).stdout.splitlines()
    return [
        int(line.split()[0]) for line in listed if line.split()[1] == str(driver) and "spawn_main" in line
    ]


def is_alive(pid):
    """Whether a process runs; one that is dead and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_dead(pids):
    wait_until(lambda: not any(map(is_alive, pids)), 2)


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def count_runs(path):
    return path.read_bytes().count(b"\n") - 1 if path.exists() else 0


def measured(path):
    """Everything about the runs of a file but their times and order."""
    runs = pd.read_csv(path, float_precision="round_trip").sort_values(IDENTITY, ignore_index=True)
    return runs.drop(columns=["fit_seconds", "score_seconds"])


# --- crashes


def test_kills_lose_nothing_and_change_nothing(data_dir, tmp_path):
    """SIGKILL of the driver with its workers while these start, of the driver alone, of a worker in a run."""
    options = ("--methods", "iforest", "--runs", RUNS)
    finish(start(data_dir, tmp_path / "undisturbed", *options))
    runs_file, seen = tmp_path / "killed" / "seen_runs.csv", b""
    for victim, n_made in (("all", 0), ("driver", 5), ("worker", 12)):
        process = start(data_dir, runs_file.parent, *options, "--jobs", 2)
        wait_until(lambda: len(workers_of(process.pid)) == 2)  # noqa: B023
        wait_until(lambda: count_runs(runs_file) >= n_made)  # noqa: B023
        workers = workers_of(process.pid)
        if victim == "worker":
            os.kill(workers[0], signal.SIGKILL)
            assert "; retrying." in finish(process)[1]
            continue
        (os.killpg if victim == "all" else os.kill)(process.pid, signal.SIGKILL)
        process.communicate()
        wait_until_dead(workers)  # none goes on without its driver
        content = runs_file.read_bytes() if runs_file.exists() else b""
        assert content.startswith(seen)  # what was once written stays
        seen = content[: content.rfind(b"\n") + 1]
    undisturbed, killed = measured(tmp_path / "undisturbed" / "seen_runs.csv"), measured(runs_file)
    assert len(killed) == RUNS and not killed.duplicated(IDENTITY).any()
    pd.testing.assert_frame_equal(killed, undisturbed, check_exact=True)


@pytest.fixture(scope="module")
def dozen(data_dir, tmp_path_factory):
    """A results folder with 12 quick runs."""
    folder = tmp_path_factory.mktemp("dozen")
    finish(start(data_dir, folder, *QUICK, "--runs", 12))
    return folder


@pytest.fixture
def results(dozen, tmp_path):
    """A copy of it."""
    return Path(shutil.copytree(dozen, tmp_path / "results"))


def run(data_dir, results_dir, *options):
    """An experiment in this process, which must end with an error before it has any worker."""
    where = ("--offline", "--data-dir", str(data_dir), "--results-dir", str(results_dir))
    with pytest.raises(SystemExit) as caught:
        experiments.main(["seen", "--datasets", "demo", *where, *options])
    assert caught.value.code == 2 and not multiprocessing.active_children()


def test_a_last_line_cut_off_anywhere_is_dropped_and_no_neighbour_is_lost(data_dir, results, capsys):
    runs = RunsFile(results, "seen_n_trees=5")
    content = runs.path.read_bytes()
    *kept, last = content.splitlines(keepends=True)
    for length in range(1, len(last)):
        runs.path.write_bytes(b"".join(kept) + last[:length])
        runs.open_for_append()
        assert runs.path.read_bytes() == b"".join(kept)
        told, copy = capsys.readouterr().out, runs.path.with_name(f"{runs.path.name}.bak")
        assert f"dropping the last line, which is incomplete; {copy.name} has it" in told
        assert copy.read_bytes() == b"".join(kept) + last[:length]
        copy.unlink()
    runs.path.write_bytes(b"".join(kept) + last[:20] + 300 * b"\0")  # what a power failure can leave behind
    out, _ = finish(start(data_dir, results, *QUICK, "--runs", 12))
    assert "dropping the last line, which is incomplete" in out and "11 of 12 runs exist already" in out
    assert runs.path.read_bytes().startswith(b"".join(kept)) and len(measured(runs.path)) == 12


def test_a_file_with_the_line_ends_of_an_old_mac_is_refused_and_kept(data_dir, results, capsys):
    path = results / "seen_n_trees=5_runs.csv"
    header, rows = path.read_bytes().split(b"\r\n", 1)
    for ending in (b"\r", b"\r\n"):  # of the header
        rewritten = header + ending + rows.replace(b"\r\n", b"\r")
        path.write_bytes(rewritten)
        run(data_dir, results, *QUICK)
        assert f"{path} does not have the line ends of a file of this version" in capsys.readouterr().err
        assert path.read_bytes() == rewritten


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_everything_within_2_seconds(data_dir, tmp_path, stop):
    """Ctrl-C reaches the workers too, SIGTERM of a container or job scheduler the driver alone.

    At a moment when the workers import, and when they have made runs, which are then told of and counted.
    """
    for pause, made in ((0.5, 0), (0, 3)) if stop == signal.SIGINT else ((0, 3),):
        method = "devnet" if made and stop == signal.SIGINT else "iforest"  # TensorFlow starts slowly
        options = ("--methods", method, "--runs", 5000, "--jobs", 2)
        process = start(data_dir, tmp_path, *options, preexec_fn=allow_ctrl_c)
        workers = []
        while len(workers) < 2 and process.poll() is None:
            workers = workers_of(process.pid)
        time.sleep(pause)
        while count_runs(tmp_path / "seen_runs.csv") < made and process.poll() is None:
            time.sleep(0.02)
        (os.killpg if stop == signal.SIGINT else os.kill)(process.pid, stop)
        pressed = time.monotonic()
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - pressed < 2 and not any(map(is_alive, workers))
        assert process.returncode == 130 and "run the same command to resume" in err
        assert "Traceback" not in err
        assert not made or " runs in 0:" in out
    (session,) = read_sessions(tmp_path / "seen_provenance.json")
    assert session["runs_made"] == count_runs(tmp_path / "seen_runs.csv")


def iforest(data_dir, n_labeled, **settings):
    where = {"dataset": "demo", "data_dir": str(data_dir)}
    return Cell(method="iforest", n_labeled=n_labeled, overrides=tuple(settings.items()), **where)


def kill_workers_of(cells, times):
    """The outcomes of cells on one worker, which is killed after its first run and so often in all."""
    outcomes = []
    for outcome in run_cells(dict.fromkeys(cells, range(30)), 1):
        outcomes.append(outcome)
        if len(outcomes) == 1:
            threading.Thread(target=kill_each_child, args=(times,), daemon=True).start()
            time.sleep(0.1)
    return outcomes


def kill_each_child(times):
    killed = set()
    while len(killed) < times:
        for child in multiprocessing.active_children():
            if child.pid not in killed:
                child.kill()
                killed.add(child.pid)
        time.sleep(0.005)


def test_a_run_whose_worker_is_killed_is_tried_again(data_dir, capsys):
    cell = iforest(data_dir, 60, n_trees=30)
    outcomes = kill_workers_of([cell], 1)
    assert sorted(result["run"] for _, result, error in outcomes if not error) == list(range(30))
    assert f"{DEATH}; retrying." in capsys.readouterr().err


def test_a_run_that_kills_its_worker_twice_is_reported_and_costs_its_own_cell_only(data_dir):
    first, second = (iforest(data_dir, count, n_trees=30) for count in (60, 30))
    outcomes = kill_workers_of([first, second], 2)
    failed = [(cell, error) for cell, _, error in outcomes if error]
    assert failed == [(first, DEATH)]
    assert sum(cell == second for cell, _, _ in outcomes) == 30


def test_what_a_killed_driver_was_writing_is_cleared_away_and_nothing_else(tmp_path):
    old, new = tmp_path / f".seen.csv.0a1b2c3d{PART}", tmp_path / "figures" / f".labels.png.0a1b2c3d{PART}"
    foreign = [tmp_path / name for name in (".holiday.1a2b3c4d.part", ".film.part", f"x{PART}")]
    new.parent.mkdir()
    (tmp_path / f".folder.0a1b2c3d{PART}").mkdir()
    for path in (old, new, *foreign):
        path.touch()
    for path in (old, *foreign):
        os.utime(path, (0, 0))
    with only_writer(tmp_path):
        assert not old.exists() and new.exists()  # somebody may be writing it just now
        assert all(path.exists() for path in foreign)


@pytest.mark.parametrize("make, message", [
    (lambda lock, mine: lock.symlink_to(mine), "cannot be written: Too many levels of symbolic links"),
    (lambda lock, mine: lock.hardlink_to(mine), "is not a lock of this project: move it"),
    (lambda lock, mine: lock.mkdir(), "cannot be written: Is a directory"),
])  # fmt: skip
def test_a_lock_that_is_not_ours_is_refused(tmp_path, make, message):
    (tmp_path / "mine").write_text("mine")
    make(tmp_path / ".lock", tmp_path / "mine")
    with pytest.raises(UserError, match=f".lock {message}"), only_writer(tmp_path):
        pass
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_folder_where_the_provenance_belongs_is_told(tmp_path):
    (tmp_path / "seen_provenance.json").mkdir()
    with pytest.raises(UserError, match="seen_provenance.json cannot be written: Is a directory"):
        Session(tmp_path, "seen", []).save()


# --- two drivers


def test_a_second_driver_waits_and_both_do_their_runs(data_dir, tmp_path):
    first = start(data_dir, tmp_path, *QUICK, "--runs", 20)
    wait_until((tmp_path / "seen_n_trees=5_runs.csv").exists)
    second = start(data_dir, tmp_path, *QUICK, "--runs", 25)
    told = second.stderr.readline()
    assert f"{tmp_path} is in use by process {first.pid} of " in told
    assert "(python experiments.py seen" in told and "waiting" in told
    finish(first)
    out, _ = finish(second)
    assert "20 of 25 runs exist already" in out
    assert sorted(measured(tmp_path / "seen_n_trees=5_runs.csv")["run"]) == list(range(25))


def test_the_lock_of_a_dead_driver_is_taken_over_and_waiting_can_be_stopped(data_dir, tmp_path):
    first = start(data_dir, tmp_path, *QUICK, "--runs", 5000)
    wait_until((tmp_path / "seen_n_trees=5_runs.csv").exists)
    stopped, second = (
        start(data_dir, tmp_path, *QUICK, "--runs", 2, preexec_fn=allow_ctrl_c) for _ in range(2)
    )
    for waiting in (stopped, second):
        assert "waiting" in waiting.stderr.readline()
    stopped.send_signal(signal.SIGINT)
    assert stopped.wait(5) == 130
    os.killpg(first.pid, signal.SIGKILL)
    finish(second)
    first.communicate(), stopped.communicate()


# --- disks and foreign files


def test_a_full_disk_ends_it_with_a_sentence_and_the_next_start_repairs_the_file(data_dir, results):
    path = results / "seen_n_trees=5_runs.csv"
    before = path.read_bytes()
    size = len(before) + 500  # in the middle of the second new line, as on a disk that is full
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: E731
    process = start(data_dir, results, *QUICK, "--runs", 16, preexec_fn=limit)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2 and f"{path} cannot be written: File too large" in err
    assert "Traceback" not in err
    assert path.read_bytes().startswith(before) and len(path.read_bytes()) == size
    out, _ = finish(start(data_dir, results, *QUICK, "--runs", 16))
    assert "dropping the last line, which is incomplete" in out and sorted(measured(path)["run"]) == list(
        range(16)
    )


def test_results_moved_or_deleted_in_a_run_end_it_with_a_sentence(data_dir, results):
    process = start(data_dir, results, *QUICK, "--runs", 5000)
    wait_until(lambda: count_runs(results / "seen_n_trees=5_runs.csv") > 14)
    moved = results.rename(results.with_name("moved"))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2 and "cannot be written: No such file or directory" in err
    assert "Traceback" not in err and not results.exists()
    assert measured(moved / "seen_n_trees=5_runs.csv")["run"].is_unique


def test_closed_standard_streams_do_not_reach_into_files(data_dir, results):
    """Descriptor 2 would otherwise be that of a file which a worker or the driver opens."""
    before = (results / "seen_n_trees=5_runs.csv").read_bytes()
    command = f"exec {sys.executable} {ROOT}/experiments.py seen --datasets demo {' '.join(QUICK)} --runs 13"
    command += f" --jobs 1 --offline --data-dir {data_dir} --results-dir {results} <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], cwd=ROOT, env=ENVIRONMENT, timeout=60).returncode == 0
    after = (results / "seen_n_trees=5_runs.csv").read_bytes()
    assert after.startswith(before) and len(measured(results / "seen_n_trees=5_runs.csv")) == 13


def test_a_damaged_provenance_is_kept(data_dir, results, capsys):
    path = results / "seen_n_trees=5_provenance.json"
    path.write_text('{"sessions": [')
    Path(f"{path}.bak").write_text("older")
    out, _ = finish(start(data_dir, results, *QUICK, "--runs", 13))
    assert f"{path} is damaged: {path.name}.bak2 keeps what it held." in out
    assert Path(f"{path}.bak2").read_text() == '{"sessions": [' and len(read_sessions(path)) == 1
    assert Path(f"{path}.bak").read_text() == "older"


def test_a_folder_that_cannot_be_written_to_is_told_before_work_starts(
    data_dir, tmp_path, monkeypatch, capsys
):
    (tmp_path / "file").write_text("mine")
    run(data_dir, tmp_path / "file", *QUICK)
    assert f"error: {tmp_path / 'file'} is a file, not a folder" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "mine"
    monkeypatch.setattr("weakly.running.runs_file.FREE_BYTES", 2**62)
    with (
        pytest.raises(UserError, match="its disk has less than .* MB free"),
        only_writer(tmp_path / "results"),
    ):
        pass


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a folder read-only")
def test_a_read_only_folder(data_dir, results):
    before = {path: path.read_bytes() for path in results.iterdir()}
    mount = f'mount --bind {results} {results} && mount -o remount,ro,bind {results} && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable, ROOT / "experiments.py", "seen"]
    command += ["--datasets", "demo", *QUICK, "--runs", "2"]
    command += ["--offline", "--data-dir", data_dir, "--results-dir", results]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=ENVIRONMENT)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("mounting is not permitted here")
    assert done.returncode == 2 and f"{results}/.lock cannot be written: Read-only" in done.stderr
    assert {path: path.read_bytes() for path in results.iterdir()} == before


@pytest.mark.parametrize("change, message", [
    (lambda row: row[:-5], "has no "),
    (lambda row: [*row, "x"], "Expected 22 fields in line 3, saw 23"),
    (lambda row: ["abc" if cell == row[9] else cell for cell in row], 'Unable to parse string "abc"'),
])  # fmt: skip
def test_a_damaged_line_in_the_middle_stops_it_before_work_starts(data_dir, results, capsys, change, message):
    path = results / "seen_n_trees=5_runs.csv"
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    rows[2] = change(rows[2])
    damaged = "".join(",".join(row) + "\r\n" for row in rows)
    path.write_text(damaged, newline="")
    run(data_dir, results, *QUICK)
    err = capsys.readouterr().err
    assert f"{path} cannot be read as a table of runs: " in err and message in err
    assert path.read_bytes() == damaged.encode()


def test_runs_of_other_data_or_settings_are_kept_but_never_averaged_with_new_ones(data_dir, tmp_path):
    finish(start(data_dir, tmp_path, "--methods", "iforest", "--runs", 2))
    path = tmp_path / "seen_runs.csv"
    before, values = path.read_text(), measured(path)["auc_pr"]
    sha, settings = (pd.read_csv(path)[name][0] for name in ("data_sha256", "settings"))
    strange = (
        "".join(f"{line}\r\n" for line in before.splitlines())
        .replace(sha, 64 * "a", 1)
        .replace(settings, "n_trees=7 subsample=9", 2)
    )
    strange = strange.replace(f",{values[0]}", ",0.99").replace(f",{values[1]}", ",0.98")
    path.write_text(strange, newline="")
    out, _ = finish(start(data_dir, tmp_path, "--methods", "iforest", "--runs", 2))
    assert "2 earlier runs were made with other data, settings, code or libraries: they are kept" in out
    assert path.read_bytes().startswith(strange.encode()) and len(measured(path)) == 4
    table = pd.read_csv(tmp_path / "seen_synthetic.csv").iloc[0]
    assert table["auc_pr_iforest"] == pytest.approx(values.mean(), abs=1e-6) and table["runs"] == 2


# --- numbers: more in test_numbers.py


class TellsNothing(IForest):
    """A detector that gives all rows the same score."""

    def fit_rows(self, X, unlabeled, anomalies):
        pass

    def decision_function(self, X):
        return np.zeros(len(X))


def test_constant_scores_are_recorded_and_reported(data_dir, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(single_run, "make_detector", lambda *_, **__: TellsNothing())
    run_here = lambda missing, *_: ((cell, single_run.run_once(cell, 0), None) for cell in missing)  # noqa: E731
    monkeypatch.setattr(experiments, "run_cells", run_here)
    where = ["--offline", "--data-dir", str(data_dir), "--results-dir", str(tmp_path)]
    options = "seen --datasets demo --methods iforest --runs 1".split()
    assert experiments.main([*options, *where]) == 0
    told = "run 0: all 2,000 test scores are 0: the detector does not distinguish any rows."
    assert f"NOTE iforest on demo, 60 labels, contamination 0.02: {told}" in capsys.readouterr().out
    assert measured(tmp_path / "seen_runs.csv")["auc_roc"].tolist() == [0.5]


# --- determinism


def test_the_order_of_data_sets_and_methods_does_not_change_results(runs_here, data_dir, tmp_path):
    """--jobs, resumed runs and a Dask cluster are compared in test_experiments.py and test_cluster.py."""
    for order in (1, -1):
        datasets, methods = ";".join(UNSEEN_DEMO_SETS[::order]), ",".join(["devnet", "iforest"][::order])
        where = ("--offline", "--data-dir", data_dir, "--results-dir", tmp_path / str(order), "--jobs", 1)
        options = ("unseen", "--datasets", datasets, "--methods", methods, "--runs", 1, *where)
        assert experiments.main(list(map(str, options))) == 0
    one, other = (measured(tmp_path / name / "unseen_runs.csv") for name in ("1", "-1"))
    assert len(one) == 4
    pd.testing.assert_frame_equal(one, other, check_exact=True)


# --- load


def test_hundreds_of_tasks_on_four_workers(data_dir, tmp_path, monkeypatch, record_property):
    """Every task once; afterwards no process and no file is left."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # of the workers
    cells = [iforest(data_dir, n_labeled, n_trees=2, subsample=16) for n_labeled in range(10, 30)]
    children = set(multiprocessing.active_children())
    ended = run_cells(dict.fromkeys(cells, range(20)), 4)
    outcomes = [(cell.n_labeled, result["run"]) for cell, result, error in ended if not error]
    assert sorted(outcomes) == [(cell.n_labeled, run) for cell in cells for run in range(20)]
    record_property("tasks", len(outcomes))
    assert set(multiprocessing.active_children()) == children
    assert not list(tmp_path.iterdir())
