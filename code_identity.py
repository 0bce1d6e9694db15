"""Which code made a run: a hash of all of ours that decides its numbers, as a column of the result files.

    code_hash("prenet")      # of prenet.py, devnet.py, detector.py, training.py, splits.py, ...

It covers the detector's module, splits.py, single_run.py and all that these import, also inside functions.
Comments, docstrings, formatting and what a file does as a script play no part. Neither do methods.py, whose
settings have a column of their own, and the data_*.py: what they make has a hash of its own (data_sha256).
"""

import ast
import functools
import hashlib
from pathlib import Path

from methods import METHODS

MEASURING = ("splits", "single_run")
NOT_FOLLOWED = ("data_", "methods")  # how the names of such modules start
ROOT = Path(__file__).resolve().parent
# as they were when this process began, which is what it runs: a later change counts from the next start on
SOURCES = {path.stem: path.read_text("utf-8", "replace") for path in ROOT.glob("*.py") if path.is_file()}


@functools.cache
def code_hash(method):
    """The hash of the code behind the runs of a method: 16 hexadecimal digits."""
    entry = METHODS[method]
    return hash_of_modules(entry.module, *MEASURING, title=f"{entry.module}.{entry.class_name}")


def hash_of_modules(*names, title=""):
    """The hash of some modules of ours and of all that they import."""
    reached = modules_reached(names)
    texts = [title, *(f"{name}: {reached[name]}" for name in sorted(reached))]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def modules_reached(names):
    """These modules of ours and all that they import, directly or not, as {name: canonical text}."""
    waiting, reached = list(names), {}
    while waiting:
        name = waiting.pop()
        if name in SOURCES and name not in reached and not name.startswith(NOT_FOLLOWED):
            reached[name], further = digested(SOURCES[name])
            waiting += further
    return reached


@functools.cache
def digested(source):
    """The canonical text of a file without its part as a script, and the names of what it imports."""
    tree = ast.parse(source)
    tree.body = [statement for statement in tree.body if not is_script_part(statement)]
    return canonical(tree), tuple(imported(tree))


def is_script_part(statement):
    """Whether a statement is `if __name__ == "__main__":`."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"


def imported(tree):
    """The names of the modules that a file imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def canonical(value):
    """A syntax tree as text, without docstrings and positions, and the same in all versions of Python.

    ast.dump is not: newer versions have more fields, and leave others out. Here empty fields are left out.
    """
    if isinstance(value, list):
        return f"[{', '.join(canonical(item) for item in value if not is_docstring(item))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = ((name, field) for name, field in ast.iter_fields(value) if field is not None and field != [])
    return f"{type(value).__name__}({', '.join(f'{name}={canonical(field)}' for name, field in fields)})"


def is_docstring(item):
    """Whether a statement is a mere text, which does nothing."""
    value = getattr(item, "value", None) if isinstance(item, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
