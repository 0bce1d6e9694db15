"""Static care: ruff and mypy as pyproject.toml sets them up, shellcheck; their caches are in the clone."""

import subprocess
import sys
from pathlib import Path

import pytest
from drivers import ROOT

BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"], ["shellcheck", ".ci/run"]],
    ids=" ".join,
)
def test_no_complaints(command):
    scripts = [path.name for path in ROOT.glob("*.sh")] if command[0] == "shellcheck" else []
    done = subprocess.run(
        [BIN / command[0], *command[1:], *scripts], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
