"""setup_env.sh, with a Python that notes what pip is asked for instead of installing it."""

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from drivers import ROOT

# -m venv copies this script into .venv; -m pip writes its arguments to a file and answers as the test says
BASE = f"""#!/bin/bash
case $2 in
  venv) rm -rf .venv/* && mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  pip)
    echo "${{*:6}}" >>asked
    while [ -e wait ]; do sleep 0.02; done
    case $* in *--require-hashes*) echo "$PIP_ANSWER" >&2; [ -z "$PIP_ANSWER" ] ;; esac ;;
  *) exec "{sys.executable}" "$@" ;;
esac
"""
LOCKED = "--require-hashes -r requirements.lock -r requirements.txt"
LOCKED_TESTS = LOCKED.replace("requirements.", "requirements-dev.")
WAITING = "Another start is installing into .venv: waiting until it ends (Ctrl-C to stop).\n"
NO_WHEEL = "ERROR: No matching distribution found for numpy==2.2.6"
MISSING = "ERROR: Hashes are required in --require-hashes mode, but they are missing from some requirements."


@pytest.fixture
def clone(tmp_path):
    for path in (ROOT / "setup_env.sh", *ROOT.glob("requirements*")):
        shutil.copy(path, tmp_path)
    (tmp_path / "base").write_text(BASE)
    (tmp_path / "base").chmod(0o755)

    def start(answer="", requirements="requirements.txt"):
        variables = {"PYTHON": "./base", "REQUIREMENTS": requirements, "PIP_ANSWER": answer}
        command = ["bash", "-euo", "pipefail", "-c", "source ./setup_env.sh; exit 0"]
        how = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        return subprocess.Popen(command, cwd=tmp_path, env={**os.environ, **variables}, **how)

    def run(*arguments):
        started = start(*arguments)
        return started.communicate(timeout=30)[1], started.returncode

    def asked():
        return (tmp_path / "asked").read_text().splitlines() if (tmp_path / "asked").exists() else []

    return SimpleNamespace(folder=tmp_path, start=start, run=run, asked=asked)


def test_the_locks_are_installed_once_and_again_when_they_change(clone):
    for requirements, locked in (("requirements.txt", LOCKED), ("requirements-dev.txt", LOCKED_TESTS)):
        assert clone.run("", requirements)[1] == 0 and clone.asked()[-1] == locked
        assert clone.run("", requirements) == clone.run() == ("", 0)
    with open(clone.folder / "requirements.lock", "a") as lock:
        lock.write("# newer\n")
    assert clone.run()[1] == 0 and clone.asked() == [LOCKED, LOCKED_TESTS, LOCKED]


@pytest.mark.parametrize("answer, fits", [
    (NO_WHEEL, False),
    (f"WARNING: Retrying after connection broken by 'NewConnectionError'\n{NO_WHEEL}", True),
    ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", True),
])  # fmt: skip
def test_only_where_the_lock_does_not_fit_the_list_is_installed(clone, answer, fits):
    stderr, code = clone.run(answer)
    assert answer in stderr and code == int(fits)
    no_fit = "requirements.lock does not fit this platform: installing requirements.txt"
    assert stderr.count(no_fit) == int(not fits)
    assert clone.asked() == [LOCKED] + ["-r requirements.txt"] * (not fits)
    assert (
        clone.run()[1] == 0 and clone.asked()[2 - fits :] == [LOCKED] * fits
    )  # and once more after a failure


def test_a_linked_environment_is_not_emptied(clone, tmp_path_factory):
    target = tmp_path_factory.mktemp("other project")
    (target / "thesis.txt").write_text("years")
    (clone.folder / ".venv").symlink_to(target)
    stderr, code = clone.run()
    assert code == 1 and len(stderr.splitlines()) == 1 and f"{target} would be emptied" in stderr
    assert [path.name for path in target.iterdir()] == ["thesis.txt"] and not clone.asked()
