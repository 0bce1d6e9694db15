"""Starting the experiments as a user does, in processes of their own or in this one."""

import contextlib
import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PRENET_DATA"}


def start(data_dir, results_dir, *options, root=ROOT, experiment="seen", datasets="demo", **how):
    """A driver that has been started on a synthetic data set, in a process group of its own.

    It has one worker unless options say otherwise: a second one takes seconds to start.
    """
    command = [sys.executable, root / "experiments.py", experiment, "--datasets", datasets, "--offline"]
    command += ["--jobs", 1, "--data-dir", data_dir, "--results-dir", results_dir, *options]
    streams = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    how = {"cwd": root, "env": ENVIRONMENT, "text": True, "start_new_session": True, **streams, **how}
    return subprocess.Popen(list(map(str, command)), **how)


def finish(process, code=0):
    """What a driver printed, to stdout and stderr, when it has ended with this exit code."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == code and "Traceback" not in err, err
    return out, err


def experiment_here(data_dir, results_dir, *options):
    """The exit code of an experiment in this process; see workers_here."""
    import experiments  # which most tests do without

    where = ["--offline", "--jobs", 1, "--data-dir", data_dir, "--results-dir", results_dir]
    try:
        return experiments.main(list(map(str, [*options, *where])))
    except SystemExit as stop:
        return stop.code


def allow_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in the background


def parsed(*options):
    """The completed arguments of one experiment."""
    import experiments

    (args,) = experiments.complete_all(experiments.make_parser().parse_args(list(map(str, options))))
    return args


def planned(method, data_dir, *options, dataset="demo"):
    """The cell that a driver plans for a prepared data set, with its data, settings and code."""
    from weakly.loading.arrays import load_data
    from weakly.running.planning import requested_cell

    args = parsed("seen", "--methods", method, "--data-dir", data_dir, *options)
    return requested_cell(args, method, load_data(dataset, data_dir))


class ExecutorHere(Executor):
    """Makes calls in this process, which has imported everything already."""

    def submit(self, function, *arguments):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


@contextlib.contextmanager
def workers_here():
    """Runs are made in this process: a worker's own takes seconds to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weakly.running.processes.new_process", ExecutorHere)
        patch.delenv("PRENET_DATA", raising=False)
        yield


def measured(path):
    """Everything about the runs of a file but their times and order."""
    import pandas as pd

    from weakly.running.runs_file import IDENTITY

    runs = pd.read_csv(path, float_precision="round_trip").sort_values(IDENTITY, ignore_index=True)
    return runs.drop(columns=["fit_seconds", "score_seconds"])
