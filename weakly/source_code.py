"""Which code decides a run: our modules without comments, docstrings and formatting; library versions."""

import ast
import functools
import hashlib
import sys

from weakly.environment import version_of
from weakly.paths import ROOT

IS_CLONE = (ROOT / "experiments.py").is_file()  # not an installed package, which has others beside it
# modules that are imported for a run, but decide no number of it
DECIDE_NOTHING = {
    *"weakly weakly.environment weakly.errors weakly.paths weakly.source_code weakly.writing".split(),
    "weakly.methods",  # the class of a method is in the title of its hash, and its settings have a column
    "weakly.loading.registry",  # where files are; the numbers that paper_odds reads are in the title, too
}
texts: dict[str, str] = {}  # of our modules, as they were when this process first used them


@functools.cache
def path_of(name):
    """The file of a module, None if it was not ours when first asked; a package's first, as Python does."""
    first = name.partition(".")[0]
    if not IS_CLONE and first != "weakly" and (ROOT / first).is_dir():
        return None
    path = ROOT.joinpath(*name.split("."))
    files = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((file for file in files if file.is_file()), None)


def text_of(name):
    """The text of a module of ours."""
    if name not in texts:
        texts[name] = path_of(name).read_text("utf-8", "replace")
    return texts[name]


def hash_of_modules(*names, title=""):
    """The hash of modules of ours, of all that they import, and of the versions of the libraries they use."""
    reached, libraries = modules_reached(names)
    versions = [(name, version_of(name)) for name in sorted(libraries)]
    parts = [title, str(versions), *(f"{name}: {reached[name]}" for name in sorted(reached))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def modules_reached(names):
    """These modules of ours and all that they import, directly or not, as {name: canonical text}.

    Also the names of the libraries that they import.
    """
    waiting, reached, libraries = list(names), {}, set()
    while waiting:
        name = waiting.pop()
        if name in reached or name in DECIDE_NOTHING:
            continue
        if path_of(name):
            reached[name], further = digested(text_of(name))
            waiting += further
        elif not path_of(library := name.partition(".")[0]):
            libraries.add(library)
    return reached, libraries - sys.stdlib_module_names


@functools.cache
def digested(source):
    """The canonical text of a file without its script part, and the names of its imports."""
    tree = ast.parse(source)
    tree.body = [statement for statement in tree.body if not is_script_part(statement)]
    return ast.unparse(WithoutTexts().visit(tree)), tuple(imported(tree))


def is_script_part(statement):
    """Whether a statement is `if __name__ == "__main__":`."""
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"


def imported(tree):
    """The names of what a file imports, anywhere in it: modules, the packages around them, parts of them.

    Relative imports are forbidden: see pyproject.toml.
    """
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]  # from training import loop
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))


class WithoutTexts(ast.NodeTransformer):
    """Drops strings that stand alone, such as docstrings: they do nothing."""

    def visit_Expr(self, node):
        value = node.value
        return None if isinstance(value, ast.Constant) and isinstance(value.value, str) else node
