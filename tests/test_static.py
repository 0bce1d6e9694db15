"""Static care: ruff and mypy as pyproject.toml sets them up, shellcheck, and known holes in what is installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def check(*command):
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff():
    check(BIN / "ruff", "check", "--no-cache", ".")


def test_mypy(tmp_path):
    check(BIN / "mypy", "--cache-dir", tmp_path)


def test_shellcheck():
    check(BIN / "shellcheck", *ROOT.glob("*.sh"), ROOT / ".ci" / "run")


def test_known_vulnerabilities():
    """pip-audit asks a service on the internet and is no requirement: `pip install pip-audit` makes this test run."""
    audit = shutil.which("pip-audit", path=str(BIN)) or shutil.which("pip-audit")
    if audit is None:
        pytest.skip("pip-audit is not installed")
    command = [audit, "--requirement", ROOT / "requirements.txt", "--disable-pip", "--no-deps", "--strict"]
    done = subprocess.run(command, capture_output=True, text=True)
    if "ConnectionError" in done.stderr or "could not be audited" in done.stderr:
        pytest.skip("its service cannot be reached")
    assert done.returncode == 0, done.stdout + done.stderr
