"""A result knows which code and data made it: what changes them, and what the driver then does."""

import functools
import os
import py_compile
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drivers import ENVIRONMENT, ROOT, parsed

from weakly import environment, own_modules, source_code
from weakly.loading.arrays import load_data, save_data
from weakly.loading.registry import DATA_SETS
from weakly.methods import METHODS
from weakly.running.configuration import Cell
from weakly.running.planning import identified, requested_cells
from weakly.running.single_run import CodeChanged, checked_code, code_hash, run_once

WITHOUT_NETWORK = ("iforest_baseline", "xgbod", "weakly.beyond.classifiers")
NETWORKS = [name for name, method in METHODS.items() if method.module not in WITHOUT_NETWORK]


@pytest.fixture
def changed_hashes(monkeypatch):
    """A function: the methods whose hash another text of one of our files changes."""
    today = {method: code_hash(method) for method in METHODS}

    def changed(module, old, new):
        text = own_modules.text_of(module)
        assert text.count(old) == 1, f"{module}.py has {text.count(old)} times {old!r}"
        monkeypatch.setitem(own_modules.texts, module, text.replace(old, new))
        names = [method for method in METHODS if code_hash(method) != today[method]]
        monkeypatch.setitem(own_modules.texts, module, text)
        return names

    return changed


def methods_of(*modules):
    return [name for name, method in METHODS.items() if method.module in modules]


@pytest.mark.parametrize("module, old, new", [
    ("prenet", "return self._score_linear(", "return -self._score_linear("),
    ("prenet", "added_units = (1000, 250)", "added_units = (1000, 20)"),
    ("prenet", "return total / (2 * self.ensemble_size)", "return total / self.ensemble_size"),
])  # fmt: skip
def test_the_code_of_a_detector_counts(changed_hashes, module, old, new):
    assert changed_hashes(module, old, new) == methods_of(
        "prenet", "weakly.beyond.interpretations"
    )  # which derive from it


@pytest.mark.parametrize("module, old, new", [
    ("prenet", "added_units = (1000, 250)  # of", "# of A2H\n\n    added_units = (\n        1000, 250)  #"),
    ("prenet", 'PAIR_ORDERS = ("released", "paper")', "PAIR_ORDERS = (\n    'released',\n    'paper',\n)"),
    ("prenet", '"""PReNet: pairwise relation', '"""PReNet, pairwise relation'),
    ("prenet", '    """Pairwise relation prediction with', '    """Prediction with'),
    ("prenet", '    """Eq. 6, with psi computed once', '    """Equation 6, with psi computed once'),
    ("prenet", 'main(["seen", "--methods", "prenet", *sys.argv[1:]])', 'main(["seen"])'),
    ("weakly.methods", 'METHODS = {\n', 'METHODS = {\n    "mine": Method("Mine", "mine", "Mine"),\n'),
    ("weakly.loading.registry", "import readers\n", "import readers\n\nNEW = 1\n"),
    ("weakly.loading.store", '"manifest.csv"', '"list.csv"'),
    ("weakly.writing", "fsync(file", "fdatasync(file"),
    ("experiments", "import argparse", "import argparse\nimport this"),
])  # fmt: skip
def test_what_decides_no_number_does_not_count(changed_hashes, module, old, new):
    assert changed_hashes(module, old, new) == []


def test_the_code_that_detectors_share_counts(changed_hashes):
    everything, of_networks = list(METHODS), [name for name in METHODS if name in NETWORKS]
    for methods, module, old, new in (
        (of_networks, "training.loop", "rho=0.9, epsilon=1e-7", "rho=0.9, epsilon=1e-8"),
        # which is imported inside a function
        (of_networks, "training.sparse_loop", "2 * self._l2 * scale", "self._l2 * scale"),
        (everything, "loading.splits", "TEST_SHARE = 0.2", "TEST_SHARE = 0.3"),
        (everything, "running.single_run", "scores[~y_test].mean()", "scores.mean()"),
        (everything, "running.single_run", "seed=run)", "seed=0)"),
        (everything, "loading.arrays", "np.where(classes > 0", "np.where(classes > 1"),  # labels
        (everything, "loading.arrays", "entry.anomalies / normals", "1.0"),  # odds
        (everything, "loading.arrays", "released_contamination(self.X, self.y,", "self.X[:9] or (self.y,"),
        (everything, "loading.unseen", "tuple(sorted(codes", "tuple(reversed(codes"),
        (everything, "training.number_scaler", "tail=0.25, reach=3", "tail=0.25, reach=2"),
        (everything, "training.detector", "scores = self._score(X)", "scores = -self._score(X)"),
    ):
        assert changed_hashes(f"weakly.{module}", old, new) == methods


def test_methods_of_one_class_have_one_code():
    assert code_hash("prenet") == code_hash("trm") != code_hash("devnet")
    assert code_hash("fsnet") != code_hash("cfsnet")  # two classes of one file


def test_the_numbers_behind_the_odds_count(monkeypatch):
    today = code_hash("prenet")
    monkeypatch.setitem(DATA_SETS, "dos", replace(DATA_SETS["dos"], anomalies=1_635))
    assert code_hash("prenet") != today


def test_the_text_of_a_tree_by_hand():
    tree = source_code.ast.parse('def f(a, *, b=None):\n    "Text."\n    return {**a, "b": b}  # so\n')
    assert source_code.canonical(tree.body) == (
        "[FunctionDef(name='f', args=arguments(args=[arg(arg='a')], kwonlyargs=[arg(arg='b')], "
        "kw_defaults=[Constant()]), "
        "body=[Return(value=Dict(keys=[None, Constant(value='b')], "
        "values=[Name(id='a', ctx=Load()), Name(id='b', ctx=Load())]))])]"
    )


def test_helpers_count_wherever_they_are(monkeypatch, tmp_path):
    """In a package, a subpackage, a folder without __init__.py, by a relative import, with any name.

    A package goes before a module of its name, as in Python.
    """
    files = {
        "mine.py": "from parts import a\nimport parts.deep.b\nfrom loose.c import one\nimport weaklyd",
        "parts/__init__.py": "ZERO = 0",
        "parts/a.py": "from . import e\nfrom .deep.b import two",
        "parts/deep/__init__.py": "from ..f import three",
        **dict.fromkeys(
            ("parts/deep/b.py", "parts/e.py", "parts/f.py", "loose/c.py", "weaklyd.py"), "ONE = 1"
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "parts.py").touch()
    monkeypatch.setattr(own_modules, "ROOT", tmp_path)
    for cached in (source_code.is_ours, source_code.package_of):
        monkeypatch.setattr(source_code, cached.__name__, functools.cache(cached.__wrapped__))
    hashes, texts = set(), {}
    for module in (own_modules, source_code):
        monkeypatch.setattr(module, "texts", texts)
    for name in ("", *files):
        texts.clear()
        with open(tmp_path / (name or "mine.py"), "a") as file:
            file.write(f"\nTWO = {name!r}")
        hashes.add(source_code.hash_of_modules("mine"))
    assert len(hashes) == len(files) + 1


def test_the_packages_beside_an_installed_one_are_not_ours(monkeypatch, tmp_path):
    for name in ("numpy/__init__.py", "weakly/__init__.py", "prenet.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(own_modules, "ROOT", tmp_path)
    monkeypatch.setattr(own_modules, "IS_CLONE", False)
    ours = [name for name in ("numpy", "weakly", "prenet") if own_modules.path_of(name)]
    assert ours == ["weakly", "prenet"]


def test_versions_of_the_libraries_that_a_method_imports_count(monkeypatch):
    today = {method: code_hash(method) for method in METHODS}
    for library, of_whom in (("numpy", list(METHODS)), ("keras", NETWORKS), ("matplotlib", [])):
        monkeypatch.setitem(environment._versions, library, "0.1")
        assert [method for method in METHODS if code_hash(method) != today[method]] == of_whom
        monkeypatch.undo()


def test_a_library_in_another_version_than_the_one_counted_is_refused(tmp_path, monkeypatch):
    assert environment.replaced_libraries() == []
    monkeypatch.setattr(np, "__version__", "1.0")
    with pytest.raises(CodeChanged, match="^numpy .1.0 is imported, .* was installed. was changed after the"):
        checked_code(Cell(method="iforest", dataset="demo"))


def test_versions_in_spite_of_broken_packages_and_of_a_library_without_one(tmp_path, monkeypatch):
    for name in ("~umpy-1.0", "numpy-", "-", "tensorflow"):
        (tmp_path / f"{name}.dist-info").mkdir()
    (tmp_path / "unpacked.py").write_text("__version__ = '1.2'")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(environment, "_versions", {})
    assert environment.version_of("numpy") == np.__version__
    assert environment.version_of("unpacked") == "1.2" and environment.version_of("absent") is None
    assert environment.package_versions()["scikit-learn"]


def test_no_tensorflow_is_needed():
    """And its switches in the environment, which change numbers, are cleared."""
    code = "import os, sys; from weakly.running.single_run import code_hash; code_hash('prenet'); "
    code += "import prenet; print('tensorflow' in sys.modules, 'XLA_FLAGS' in os.environ)"
    environment = ENVIRONMENT | {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, cwd=ROOT, env=environment, text=True) == "False False\n"


def test_contamination_is_kept_for_its_own_code_only(tmp_path, monkeypatch):
    y = np.repeat([0, 1], [100, 20])
    rows = np.random.default_rng(0).random((120, 40), dtype=np.float32)
    save_data(tmp_path / "prepared" / "x", rows, y, status="exact", source="", sha256="")
    data = load_data("x", tmp_path)
    for code in ("one", "other"):
        monkeypatch.setattr("weakly.loading.arrays.hash_of_modules", lambda name, code=code: code)
        first, second = (data.split("released", 0, 60, 0.02).extra for _ in range(2))
        assert not isinstance(first, np.memmap) and isinstance(second, np.memmap)  # from the file
        np.testing.assert_array_equal(first, second)


IMPORTS = """
import early  # which imports weakly itself
from weakly.own_modules import text_of
from weakly.source_code import hash_of_modules

planned, old = hash_of_modules("mine"), open("mine.py").read()
open("mine.py", "w").write("VALUE = 3")
import mine
open("mine.py", "w").write(old)
print(mine.VALUE, text_of("mine"), hash_of_modules("mine") == planned, "weakly" in text_of("early"))
"""


def test_what_is_hashed_is_what_was_imported(tmp_path):
    """Not what the file held before or after, nor a .pyc file whose text was replaced by one of its size."""
    for name in ("__init__", "environment", "own_modules", "paths", "source_code"):
        (tmp_path / "weakly").mkdir(exist_ok=True)
        shutil.copy(ROOT / "weakly" / f"{name}.py", tmp_path / "weakly")
    for name, text in {"experiments": "", "early": "import weakly", "mine": "VALUE = 1"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    done = lambda code: subprocess.check_output([sys.executable, "-c", code], cwd=tmp_path, text=True)  # noqa: E731
    assert done(IMPORTS) == "3 VALUE = 3 False True\n"
    mine = tmp_path / "mine.py"
    py_compile.compile(mine)
    written = mine.stat().st_mtime_ns
    mine.write_text("VALUE = 2")
    os.utime(mine, ns=(written, written))
    assert done("import mine; print(mine.VALUE)") == "1\n"  # as Python alone does
    assert done("import weakly, mine; print(mine.VALUE)") == "2\n"


def test_code_or_settings_that_were_changed_make_no_result(tmp_path, monkeypatch):
    y, X = np.repeat([0, 1], [100, 20]), np.random.default_rng(0).random((120, 40), dtype=np.float32)
    save_data(tmp_path / "prepared" / "x", X, y, status="exact")
    cell = identified(Cell(method="iforest", dataset="x", data_dir=str(tmp_path)))
    assert run_once(cell, 0)["code"] == cell.code
    text = own_modules.text_of("iforest_baseline")
    monkeypatch.setitem(own_modules.texts, "iforest_baseline", text.replace("return -self", "return self"))
    with pytest.raises(CodeChanged, match="was changed after the start"):
        run_once(cell, 0)
    monkeypatch.undo()
    monkeypatch.setitem(METHODS, "iforest", replace(METHODS["iforest"], settings=(("n_trees", 5),)))
    with pytest.raises(CodeChanged, match="the code, a setting or a library was changed after the start"):
        run_once(cell, 0)


def test_a_run_uses_the_data_that_it_was_planned_with_and_says_which(tmp_path):
    y, X = np.repeat([0, 1], [100, 20]), np.random.default_rng(0).random((120, 40), dtype=np.float32)
    versions = []
    for rows in (X, X[::-1]):
        save_data(tmp_path / "prepared" / "x", rows, y, status="exact")
        versions.append(identified(Cell(method="iforest", dataset="x", data_dir=str(tmp_path))))
    made = [run_once(cell, 0) for cell in versions]
    assert [run["data_sha256"] for run in made] == [cell.data_sha256 for cell in versions]
    assert made[0]["data_sha256"] != made[1]["data_sha256"] and made[0]["auc_pr"] != made[1]["auc_pr"]
    assert identified(versions[0]) == versions[0]  # as on a worker of a cluster


def test_the_methods_of_one_start_get_the_same_data(tmp_path, monkeypatch):
    """Though another driver prepares other data between them."""
    y, X = np.repeat([0, 1], [100, 20]), np.random.default_rng(0).random((120, 40), dtype=np.float32)

    def identified_late(cell):
        save_data(tmp_path / "prepared" / "thyroid", np.roll(X, len(steps), axis=1), y, status="exact")
        steps.append(cell)
        return identified(cell)

    steps = []
    identified_late(Cell(method="iforest", dataset="thyroid", data_dir=str(tmp_path)))
    monkeypatch.setattr("weakly.running.planning.identified", identified_late)
    args = parsed("seen", "--datasets", "thyroid", "--methods", "iforest,xgbod", "--data-dir", str(tmp_path))
    cells = requested_cells(args, ["thyroid"])
    assert len(cells) == 2 and len({cell.data_sha256 for cell in cells}) == 1


def test_weights_of_partial_data_are_not_kept_for_exact_data(tmp_path):
    y, X = np.repeat([0, 1], [100, 20]), np.random.default_rng(0).random((120, 40), dtype=np.float32)
    weighted = []
    for status in ("partial", "exact"):
        save_data(tmp_path / "prepared" / "thyroid", X, y, status=status)
        cell = identified(Cell(method="iforest", dataset="thyroid", data_dir=str(tmp_path)))
        weighted.append(run_once(cell, 0)["auc_pr_weighted"])
    assert weighted[0] > 0 and weighted[1] == ""


# ---------------------------------------------------------------------------- the driver


@pytest.fixture
def clone(tmp_path):
    """A copy of the project's scripts, to change."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for path in ROOT.glob("*.py"):
        shutil.copy(path, folder)
    for path in ROOT.glob("*/__init__.py"):
        shutil.copytree(path.parent, folder / path.parent.name)
    (folder / "published").symlink_to(ROOT / "published")
    return folder


def change(folder, module, old, new):
    path = folder / f"{module}.py"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def run_iforest(clone, n_runs=2, **variables):
    """Runs of iForest on the synthetic set, with the scripts of a clone; a finished process."""
    command = [sys.executable, clone / "experiments.py", "seen", "--datasets", "demo", "--methods", "iforest"]
    command += ["--runs", n_runs, "--jobs", 1]
    command += ["--offline", "--data-dir", clone / "dataset", "--results-dir", clone / "results"]
    how = {"cwd": clone, "env": ENVIRONMENT | variables, "text": True, "capture_output": True, "timeout": 300}
    return subprocess.run(list(map(str, command)), **how)


def test_runs_of_other_code_are_kept_made_again_and_not_shown(clone):
    assert run_iforest(clone).returncode == 0
    before = (clone / "results" / "seen_runs.csv").read_bytes()
    assert "2 of 2 runs exist already and are kept." in run_iforest(clone).stdout
    assert (clone / "results" / "seen_runs.csv").read_bytes() == before
    # anomalies now have the lowest scores
    change(clone, "iforest_baseline", "return -self.forest_", "return self.forest_")
    out = run_iforest(clone).stdout
    assert "runs exist already" not in out
    told = "2 earlier runs were made with other data, settings, code or libraries: they are kept, "
    assert f"{told}but not used." in out
    assert (clone / "results" / "seen_runs.csv").read_bytes().startswith(before)
    runs = pd.read_csv(clone / "results" / "seen_runs.csv")
    assert sorted(runs["run"]) == [0, 0, 1, 1] and runs["code"].nunique() == 2
    old, new = runs["auc_roc"][:2].mean(), runs["auc_roc"][2:].mean()
    assert new == pytest.approx(1 - old)
    (table,) = pd.read_csv(clone / "results" / "seen_synthetic.csv").to_dict("records")
    assert table["runs"] == 2 and table["auc_roc_iforest"] == pytest.approx(new, abs=1e-6)


EDIT = """
import os, sys
if os.environ.get("EDIT") and "multiprocessing" in " ".join(sys.orig_argv) and "-c" in sys.orig_argv:
    path = os.environ["EDIT"]
    text = open(path).read()
    open(path, "w").write(text.replace("return -self.forest_", "return self.forest_"))
"""


def test_code_edited_between_planning_and_a_worker_s_import_is_not_recorded_as_the_old_one(clone):
    (clone / "sitecustomize.py").write_text(EDIT)  # which every process imports when it starts
    done = run_iforest(clone, EDIT=str(clone / "iforest_baseline.py"), PYTHONPATH=str(clone))
    assert done.returncode == 1 and "a setting or a library was changed after the start" in done.stderr
    assert pd.read_csv(clone / "results" / "seen_runs.csv").empty
    assert run_iforest(clone).returncode == 0  # with the new code
    assert len(pd.read_csv(clone / "results" / "seen_runs.csv")) == 2


def test_data_changed_in_place_is_refused_when_a_driver_or_a_worker_starts(clone):
    run_iforest(clone)
    (path,) = clone.glob("dataset/prepared/demo/*/X.npy")
    np.save(path, np.load(path)[::-1])
    done = run_iforest(clone, 3)
    assert done.returncode == 2 and "was changed after it was prepared: delete it" in done.stderr
    assert len(pd.read_csv(clone / "results" / "seen_runs.csv")) == 2
