"""Static care: ruff and mypy as pyproject.toml sets them up, shellcheck, known holes in what is installed."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
LONGEST_FUNCTION = 40  # lines


def check(*command):
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff():
    check(BIN / "ruff", "check", "--no-cache", ".")


def test_format():
    check(BIN / "ruff", "format", "--check", "--no-cache", ".")


def test_no_function_is_too_long():
    too_long = []
    for path in (*ROOT.glob("*.py"), *ROOT.glob("weakly/**/*.py"), *ROOT.glob("tools/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = node.end_lineno - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    too_long.append(f"{path.relative_to(ROOT)}: {node.name} has {lines} lines")
    assert not too_long, "\n".join(too_long)


def test_mypy(tmp_path):
    check(BIN / "mypy", "--cache-dir", tmp_path)


def test_shellcheck():
    check(BIN / "shellcheck", *ROOT.glob("*.sh"), ROOT / ".ci" / "run")


def test_known_vulnerabilities():
    """pip-audit asks a service on the internet and is no requirement: installing it makes this test run."""
    audit = shutil.which("pip-audit", path=str(BIN)) or shutil.which("pip-audit")
    if audit is None:
        pytest.skip("pip-audit is not installed")
    command = [
        audit,
        "--requirement",
        ROOT / "requirements-dev.txt",
        "--disable-pip",
        "--no-deps",
        "--strict",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if "ConnectionError" in done.stderr or "could not be audited" in done.stderr:
        pytest.skip("its service cannot be reached")
    assert done.returncode == 0, done.stdout + done.stderr
