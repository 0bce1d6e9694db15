"""Our own modules: their files, and the texts that this process has made them from.

In a clone, a module of ours is compiled from the text that is kept here, never read from a .pyc file. So the
hash of a result is that of the code that ran, whatever becomes of the files before, during or after the run.
"""

import sys
from importlib.machinery import PathFinder, SourceFileLoader

from weakly.paths import ROOT

IS_CLONE = (ROOT / "experiments.py").is_file()  # not an installed package, which has others beside it
texts: dict[str, str] = {}  # of our modules, as they were when they were imported, or else first asked for


def path_of(name):
    """The file of a module of ours, None if it is not ours; of a package before a module, as Python does."""
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


def module_name(path):
    """The name under which a file of ours is imported, such as weakly.training.loop."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


class KeepsText(SourceFileLoader):
    """Loads a module from its text, and keeps that."""

    def get_code(self, fullname):
        source = self.get_data(self.path)
        texts[fullname] = source.decode("utf-8", "replace")
        return self.source_to_code(source, self.path)


class OwnModules:
    """Finds our modules where Python does, for KeepsText to load them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        file = path_of(name)
        spec = PathFinder.find_spec(name, path, target) if file else None
        if spec is None or not spec.has_location or not file.samefile(spec.origin):
            return None  # another module of this name, which the other finders find
        spec.loader = KeepsText(name, str(file))
        return spec


def keep_texts():
    """Keep the texts of all modules of ours from now on; not of an installed package, which makes no runs."""
    if IS_CLONE:
        sys.meta_path.insert(0, OwnModules)
        for name in filter(path_of, list(sys.modules)):  # such as a detector that has imported us
            text_of(name)
