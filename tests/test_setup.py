"""setup_env.sh, with a Python that notes what pip is asked for instead of installing it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# -m venv copies this script into .venv; -m pip writes its arguments to a file and answers as the test says
BASE = f"""#!/bin/bash
case $2 in
  venv) rm -rf .venv/* && mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  pip)
    echo "${{*:6}}" >>asked
    sleep "${{PIP_SECONDS:-0}}"
    case $* in *--require-hashes*) echo "$PIP_ANSWER" >&2; [ -z "$PIP_ANSWER" ] ;; esac ;;
  *) exec "{sys.executable}" "$@" ;;
esac
"""
LOCKED = "--require-hashes -r requirements.lock -r requirements.txt"
LOCKED_TESTS = LOCKED.replace("requirements.", "requirements-dev.")
NO_WHEEL = "ERROR: No matching distribution found for numpy==2.2.6"


@pytest.fixture
def clone(tmp_path):
    for path in (ROOT / "setup_env.sh", *ROOT.glob("requirements*")):
        shutil.copy(path, tmp_path)
    (tmp_path / "base").write_text(BASE)
    (tmp_path / "base").chmod(0o755)
    return tmp_path


def start(clone, answer="", seconds=0, requirements="requirements.txt"):
    told = {
        "PYTHON": "./base",
        "REQUIREMENTS": requirements,
        "PIP_ANSWER": answer,
        "PIP_SECONDS": str(seconds),
    }
    command = ["bash", "-euo", "pipefail", "-c", "source ./setup_env.sh; exit 0"]
    return subprocess.Popen(
        command,
        cwd=clone,
        env={**os.environ, **told},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end(started):
    stderr = started.communicate(timeout=30)[1]
    return started.returncode, stderr


def asked(clone):
    return (clone / "asked").read_text().splitlines() if (clone / "asked").exists() else []


def wait_for(clone, count):
    deadline = time.monotonic() + 20
    while len(asked(clone)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_locks_are_installed_once(clone):
    assert end(start(clone))[0] == 0
    assert asked(clone) == [LOCKED]
    assert end(start(clone, requirements="requirements-dev.txt"))[0] == 0
    assert asked(clone) == [LOCKED, LOCKED_TESTS]
    assert end(start(clone)) == end(start(clone, requirements="requirements-dev.txt")) == (0, "")
    assert len(asked(clone)) == 2


def test_a_changed_lock_is_installed(clone):
    end(start(clone))
    with open(clone / "requirements.lock", "a") as lock:
        lock.write("# newer\n")
    assert end(start(clone))[0] == 0
    assert asked(clone) == [LOCKED, LOCKED]


MISSING = "ERROR: Hashes are required in --require-hashes mode, but they are missing from some requirements."


@pytest.mark.parametrize("answer", [NO_WHEEL, MISSING])
def test_where_the_lock_does_not_fit_the_list_is_installed(clone, answer):
    code, stderr = end(start(clone, answer))
    assert code == 0 and answer in stderr
    assert stderr.count("requirements.lock does not fit this platform: installing requirements.txt") == 1
    assert asked(clone) == [LOCKED, "-r requirements.txt"]
    assert end(start(clone)) == (0, "")


@pytest.mark.parametrize(
    "answer",
    [
        f"WARNING: Retrying after connection broken by 'NewConnectionError'\n{NO_WHEEL}",
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
    ],
)
def test_other_failures_do_not_leave_the_lock(clone, answer):
    code, stderr = end(start(clone, answer))
    assert code == 1 and answer in stderr and "does not fit" not in stderr
    assert asked(clone) == [LOCKED]
    assert end(start(clone))[0] == 0
    assert asked(clone) == [LOCKED, LOCKED]


def test_a_linked_environment_is_not_emptied(clone, tmp_path_factory):
    target = tmp_path_factory.mktemp("other project")
    (target / "thesis.txt").write_text("years")
    (clone / ".venv").symlink_to(target)
    code, stderr = end(start(clone))
    assert code == 1 and len(stderr.splitlines()) == 1 and f"{target} would be emptied" in stderr
    assert [path.name for path in target.iterdir()] == ["thesis.txt"] and not asked(clone)


def test_a_second_start_waits_for_the_first(clone):
    first = start(clone, seconds=0.5)
    wait_for(clone, 1)
    waiting = "Another start is installing into .venv: waiting until it ends (Ctrl-C to stop).\n"
    assert end(start(clone)) == (0, waiting)
    assert end(first)[0] == 0 and asked(clone) == [LOCKED]


def test_a_killed_start_leaves_no_lock(clone):
    first = start(clone, seconds=60)
    wait_for(clone, 1)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    code, stderr = end(start(clone))
    assert code == 0 and "waiting" not in stderr
    assert asked(clone) == [LOCKED, LOCKED]


def test_the_pip_of_a_killed_start_is_waited_for(clone):
    first = start(clone, seconds=0.7)
    wait_for(clone, 1)
    first.kill()
    code, stderr = end(start(clone))
    assert code == 0 and "waiting" in stderr
    assert asked(clone) == [LOCKED, LOCKED]
