"""Static care: ruff and mypy as pyproject.toml sets them up, shellcheck; their caches are in the clone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from drivers import ROOT

BIN = Path(sys.executable).parent
LONGEST_FUNCTION = 40  # lines


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


def test_no_function_is_too_long():
    too_long = []
    for path in (*ROOT.glob("*.py"), *ROOT.glob("weakly/**/*.py"), *ROOT.glob("tools/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = node.end_lineno - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    too_long.append(f"{path.relative_to(ROOT)}: {node.name} has {lines} lines")
    assert not too_long, "\n".join(too_long)
