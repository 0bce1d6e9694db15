"""The text of our own code, without comments, docstrings and formatting, and its hashes."""

import ast
import functools
import hashlib

from weakly.paths import ROOT


def module_name(path):
    """The name under which a file of ours is imported, such as weakly.training.loop."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


# as they were when this process started, which is the code it runs: later changes need a restart
SOURCES = {
    module_name(path): path.read_text("utf-8", "replace")
    for path in (*ROOT.glob("*.py"), *ROOT.glob("weakly/**/*.py"), *ROOT.glob("tools/*.py"))
    if path.is_file()
}


def hash_of_modules(*names, title=""):
    """The hash of some modules of ours and of all that they import."""
    reached = modules_reached(names)
    texts = [title, *(f"{name}: {reached[name]}" for name in sorted(reached))]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def is_followed(name):
    """Whether a module can change the numbers of a run.

    The table of methods cannot, because its settings have their own column. Neither can what all
    commands share, nor the code that prepares data, which has its own hash (data_sha256).
    """
    is_shared = name.startswith("weakly.") and name.count(".") == 1
    return name == "weakly.loading.splits" or not (is_shared or name.startswith("weakly.loading."))


def modules_reached(names):
    """These modules of ours and all that they import, directly or not, as {name: canonical text}."""
    waiting, reached = list(names), {}
    while waiting:
        name = waiting.pop()
        if name in SOURCES and name not in reached and is_followed(name):
            reached[name], further = digested(SOURCES[name])
            waiting += further
    return reached


@functools.cache
def digested(source):
    """The canonical text of a file without its script part, and the names of its imports."""
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
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)  # from training import loop


def canonical(value):
    """A syntax tree as text, without docstrings and positions, and the same in all versions of Python.

    ast.dump is not: newer versions have more fields, and omit others. Here empty fields are omitted.
    """
    if isinstance(value, list):
        return f"[{', '.join(canonical(item) for item in value if not is_docstring(item))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    fields = ((name, field) for name, field in ast.iter_fields(value) if field is not None and field != [])
    return f"{type(value).__name__}({', '.join(f'{name}={canonical(field)}' for name, field in fields)})"


def is_docstring(item):
    """Whether a statement is just a string, which does nothing."""
    value = getattr(item, "value", None) if isinstance(item, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
