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

    def run(answer="", requirements="requirements.txt"):
        variables = {"PYTHON": "./base", "REQUIREMENTS": requirements, "PIP_ANSWER": answer}
        command = ["bash", "-euo", "pipefail", "-c", "source ./setup_env.sh; exit 0"]
        how = {"stderr": subprocess.PIPE, "text": True, "timeout": 30}
        done = subprocess.run(command, cwd=tmp_path, env={**os.environ, **variables}, **how)
        return done.stderr, done.returncode

    def asked():
        return (tmp_path / "asked").read_text().splitlines() if (tmp_path / "asked").exists() else []

    return SimpleNamespace(folder=tmp_path, run=run, asked=asked)


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
    assert clone.run()[1] == 0 and clone.asked()[2 - fits :] == [LOCKED] * fits  # again after a failure


def test_a_linked_environment_is_not_emptied(clone, tmp_path_factory):
    target = tmp_path_factory.mktemp("other project")
    (target / "thesis.txt").write_text("years")
    (clone.folder / ".venv").symlink_to(target)
    stderr, code = clone.run()
    assert code == 1 and len(stderr.splitlines()) == 1 and f"{target} would be emptied" in stderr
    assert [path.name for path in target.iterdir()] == ["thesis.txt"] and not clone.asked()
