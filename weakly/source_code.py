"""Which code decides a run: our modules, without comments, docstrings and formatting, and library versions.

The texts are those of the modules that this process has imported: see weakly/own_modules.py.
"""

import ast
import functools
import hashlib
import sys

from weakly.environment import version_of
from weakly.own_modules import path_of, text_of, texts

# modules that are imported for a run, but decide no number of it
DECIDE_NOTHING = {
    *"weakly weakly.environment weakly.errors weakly.own_modules weakly.paths weakly.source_code".split(),
    "weakly.writing",
    "weakly.methods",  # the class of a method is in the title of its hash, and its settings have a column
    "weakly.loading.registry",  # where files are; the numbers that paper_odds reads are in the title, too
}


def hash_of_modules(*names, title=""):
    """The hash of modules of ours, of all that they import, and of the versions of the libraries they use."""
    reached, libraries = modules_reached(names)
    versions = [(name, version_of(name)) for name in sorted(libraries)]
    texts = [title, str(versions), *(f"{name}: {reached[name]}" for name in sorted(reached))]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def modules_reached(names):
    """These modules of ours and all that they import, directly or not, as {name: canonical text}.

    Also the names of the libraries that they import.
    """
    waiting, reached, libraries = list(names), {}, set()
    while waiting:
        name = waiting.pop()
        if name in reached or name in DECIDE_NOTHING:
            continue
        if name in texts or is_ours(name):
            reached[name], further = digested(text_of(name), package_of(name))
            waiting += further
        elif not is_ours(library := name.partition(".")[0]):
            libraries.add(library)
    return reached, libraries - sys.stdlib_module_names


@functools.cache
def is_ours(name):
    """Whether a module of ours had this name when that was first asked; later ones count if imported."""
    return path_of(name) is not None


@functools.cache
def package_of(name):
    """What a dot stands for in the relative imports of a module of ours."""
    return name if path_of(name).name == "__init__.py" else name.rpartition(".")[0]


@functools.cache
def digested(source, package):
    """The canonical text of a file without its script part, and the names of its imports."""
    tree = ast.parse(source)
    tree.body = [statement for statement in tree.body if not is_script_part(statement)]
    return canonical(tree), tuple(imported(tree, package))


def is_script_part(statement):
    """Whether a statement is `if __name__ == "__main__":`."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"


def imported(tree, package=""):
    """The names of what a file imports, anywhere in it: modules, the packages around them, parts of them."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: 1 - node.level or None] if node.level else []
            module = ".".join([*parents, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]  # from training import loop
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))


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
