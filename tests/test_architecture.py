"""Who may import whom: the folders' one direction, and what stays free of TensorFlow and of the network."""

import ast
from functools import cache

import pytest

from weakly.methods import METHODS
from weakly.paths import ROOT
from weakly.source_code import imported, is_script_part, modules_reached, text_of

BELOW_RUNNING = {"common", "loading", "training", "detectors"}
MAY_IMPORT = {
    "common": set(),
    "loading": {"common"},
    "training": {"common"},
    "methods": set(),
    "detectors": {"common", "loading", "training"},
    "drawing": {"common", "methods"},
    "own_data": {"common", "loading", "training", "methods", "drawing"},
    "running": {*BELOW_RUNNING, "methods"},
    "judging": {*BELOW_RUNNING, "methods", "running"},
    "reporting": {*BELOW_RUNNING, "methods", "running", "judging", "drawing"},
}
MAY_IMPORT |= dict.fromkeys(("commands", "tools"), {*MAY_IMPORT, "commands"})
DRAWING = {f"weakly.reporting.{name}" for name in ("pages", "palette", "pictures")}  # of all pages
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text("utf-8")
    for path in (*ROOT.glob("*.py"), *ROOT.glob("weakly/**/*.py"), *ROOT.glob("tools/*.py"))
    if path.name != "__init__.py"
}
DETECTORS = {method.module for method in METHODS.values()}
BEYOND = {"rosas_layers": "training"}  # what other modules of weakly/beyond/ import


def layer(module):
    """The room of a module: weakly.loading.store is in `loading`, and weakly.errors is `common`."""
    package, _, name = module.rpartition(".")
    if module in DETECTORS or module == "weakly.methods":
        return "detectors" if module in DETECTORS else "methods"
    if module in DRAWING:
        return "drawing"
    if package == "weakly.beyond":
        return BEYOND.get(name, "reporting")
    if module.startswith("weakly"):
        return "common" if package in ("", "weakly") and name not in MAY_IMPORT else module.split(".")[1]
    return "tools" if module.startswith("tools") else "commands"


@cache
def imports_of(module, in_functions):
    """What a module imports, but for its part as a script; without functions, what importing it imports."""
    tree = ast.parse(SOURCES[module])
    tree.body = [statement for statement in tree.body if not is_script_part(statement)]
    for node in [] if in_functions else list(ast.walk(tree)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = []
    return set(imported(tree))


def reached_by_import(module):
    """Everything that importing a module imports, as far as it goes through our own code."""
    waiting, reached = [module], set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += imports_of(name, in_functions=False) if name in SOURCES else []
    return {name.partition(".")[0] for name in reached}


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_imports_go_one_way(module):
    own = layer(module)
    ours = {name for name in imports_of(module, in_functions=True) if name in SOURCES}
    wrong = {name for name in ours if layer(name) not in MAY_IMPORT[own] | {own}}
    assert not wrong, f"{module} ({own}) imports {', '.join(sorted(wrong))}"


@pytest.mark.parametrize(
    "module", sorted(name for name in SOURCES if layer(name) in ("judging", "drawing", "reporting"))
)
def test_judging_drawing_and_reporting_come_without_tensorflow(module):
    assert not reached_by_import(module) & {"tensorflow", "keras"}


def test_what_decides_a_run_imports_only_what_its_text_names():
    """Otherwise the hash of its code would miss something. (The network code also names keras and tf.)"""
    reached, _ = modules_reached([*DETECTORS, "weakly.running.single_run"])
    hidden = {"import_module", "__import__", "exec", "eval", "runpy", "exec_module", "load_module"}
    hiding = set()
    for module in reached:
        nodes = ast.walk(ast.parse(text_of(module)))
        names = {getattr(node, "attr", getattr(node, "id", "")) for node in nodes}
        hiding |= {module} if names & hidden else set()
    assert hiding == {"weakly.training.network"}


def test_only_the_network_code_imports_requests():
    with_requests = [name for name in SOURCES if "requests" in imports_of(name, in_functions=True)]
    assert with_requests == ["weakly.loading.fetching"]
