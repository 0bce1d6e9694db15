"""A result knows which code made it: what changes the code of a method, and what the driver then does."""

import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from drivers import ENVIRONMENT, ROOT

from weakly import source_code
from weakly.loading.store import load_data, save_data
from weakly.methods import METHODS
from weakly.running.configuration import code_hash

WITHOUT_NETWORK = ("iforest_baseline", "xgbod", "weakly.beyond.classifiers")
NETWORKS = [name for name, method in METHODS.items() if method.module not in WITHOUT_NETWORK]


@pytest.fixture
def changed_hashes(monkeypatch):
    """A function: the methods whose hash another text of one of our files changes."""
    today = {method: code_hash(method) for method in METHODS}

    def changed(module, old, new):
        text = source_code.SOURCES[module]
        assert text.count(old) == 1, f"{module}.py has {text.count(old)} times {old!r}"
        monkeypatch.setitem(source_code.SOURCES, module, text.replace(old, new))
        code_hash.cache_clear()
        names = [method for method in METHODS if code_hash(method) != today[method]]
        monkeypatch.setitem(source_code.SOURCES, module, text)
        return names

    yield changed
    code_hash.cache_clear()


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
        (everything, "training.detector", "scores = self._score(X)", "scores = -self._score(X)"),
    ):
        assert changed_hashes(f"weakly.{module}", old, new) == methods


def test_methods_of_one_class_have_one_code():
    assert code_hash("prenet") == code_hash("trm") != code_hash("devnet")
    assert code_hash("fsnet") != code_hash("cfsnet")  # two classes of one file


def test_the_text_of_a_tree_by_hand():
    tree = source_code.ast.parse('def f(a, *, b=None):\n    "Text."\n    return {**a, "b": b}  # so\n')
    assert source_code.canonical(tree.body) == (
        "[FunctionDef(name='f', args=arguments(args=[arg(arg='a')], kwonlyargs=[arg(arg='b')], "
        "kw_defaults=[Constant()]), "
        "body=[Return(value=Dict(keys=[None, Constant(value='b')], "
        "values=[Name(id='a', ctx=Load()), Name(id='b', ctx=Load())]))])]"
    )


def test_no_tensorflow_is_needed():
    code = "import sys; from weakly.running.configuration import code_hash; code_hash('prenet'); "
    code += "print('tensorflow' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True) == "False\n"


def test_contamination_is_kept_for_its_own_code_only(tmp_path, monkeypatch):
    y = np.repeat([0, 1], [100, 20])
    rows = np.random.default_rng(0).random((120, 40), dtype=np.float32)
    save_data(tmp_path / "prepared" / "x", rows, y, status="exact", source="", sha256="")
    data = load_data("x", tmp_path)
    for code in ("one", "other"):
        monkeypatch.setattr("weakly.loading.store.hash_of_modules", lambda name, code=code: code)
        first, second = (data.split("released", 0, 60, 0.02).extra for _ in range(2))
        assert not isinstance(first, np.memmap) and isinstance(second, np.memmap)  # from the file
        np.testing.assert_array_equal(first, second)


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


def run_iforest(clone):
    """Two runs of iForest on the synthetic set, with the scripts of a clone; returns what was printed."""
    command = [sys.executable, clone / "experiments.py", "seen", "--datasets", "demo", "--methods", "iforest"]
    command += ["--runs", "2"]
    command += ["--offline", "--data-dir", clone / "dataset", "--results-dir", clone / "results"]
    how = {"cwd": clone, "env": ENVIRONMENT, "text": True, "capture_output": True, "timeout": 300}
    done = subprocess.run(list(map(str, command)), **how)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_runs_of_other_code_are_kept_made_again_and_not_shown(clone):
    run_iforest(clone)
    before = (clone / "results" / "seen_runs.csv").read_bytes()
    assert "2 of 2 runs exist already and are kept." in run_iforest(clone)
    assert (clone / "results" / "seen_runs.csv").read_bytes() == before
    # anomalies now have the lowest scores
    change(clone, "iforest_baseline", "return -self.forest_", "return self.forest_")
    out = run_iforest(clone)
    assert "runs exist already" not in out
    told = "2 earlier runs were made with other data, settings or code: they are kept, "
    assert f"{told}but not used." in out
    assert (clone / "results" / "seen_runs.csv").read_bytes().startswith(before)
    runs = pd.read_csv(clone / "results" / "seen_runs.csv")
    assert sorted(runs["run"]) == [0, 0, 1, 1] and runs["code"].nunique() == 2
    old, new = runs["auc_roc"][:2].mean(), runs["auc_roc"][2:].mean()
    assert new == pytest.approx(1 - old)
    (table,) = pd.read_csv(clone / "results" / "seen_synthetic.csv").to_dict("records")
    assert table["runs"] == 2 and table["auc_roc_iforest"] == pytest.approx(new, abs=1e-6)
