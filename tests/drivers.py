"""Starting the experiments as a user does, in processes of their own; and a worker in this process."""

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


def start(
    data_dir, results_dir, *options, script="experiments.py", experiment="seen", datasets="demo", **how
):
    """A driver that has been started on a synthetic data set, in a process group of its own.

    It has one worker unless options say otherwise: a second one takes seconds to start.
    """
    command = [sys.executable, ROOT / script, *([experiment] if script == "experiments.py" else [])]
    command += ["--datasets", datasets, "--offline", "--jobs", 1]
    command += ["--data-dir", data_dir, "--results-dir", results_dir, *options]
    return subprocess.Popen(
        list(map(str, command)), cwd=ROOT, env=ENVIRONMENT, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how,
    )  # fmt: skip


def finish(process):
    """What a driver printed, to stdout and stderr, when it has ended without an error."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, err


def allow_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where the tests run in the background


def parsed(*options):
    """The completed arguments of one experiment."""
    import experiments  # which most tests do without

    (args,) = experiments.complete_all(experiments.make_parser().parse_args(options))
    return args


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
