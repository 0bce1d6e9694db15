"""A result knows which code and data made it: what changes them, and what the driver then does."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drivers import ENVIRONMENT, ROOT, experiment_here, finish, planned, start
from toys import save_rows

from weakly import environment, source_code
from weakly.loading.arrays import load_data
from weakly.loading.registry import DATA_SETS
from weakly.methods import METHODS
from weakly.running import single_run
from weakly.running.single_run import CodeChanged, checked_code, code_hash, run_once

WITHOUT_NETWORK = ("iforest_baseline", "xgbod", "weakly.beyond.classifiers")
NETWORKS = [name for name, method in METHODS.items() if method.module not in WITHOUT_NETWORK]
# weakly.beyond.interpretations derives from prenet
OF_PRENET = [
    name for name, method in METHODS.items() if method.module in ("prenet", "weakly.beyond.interpretations")
]
ALL = list(METHODS)
TODAY = {method: code_hash(method) for method in METHODS}


def changed_methods():
    """The methods that have another code than when the tests began."""
    return [method for method in METHODS if code_hash(method) != TODAY[method]]


@pytest.mark.parametrize("module, old, new, of_whom", [
    ("prenet", "return self._score_linear(", "return -self._score_linear(", OF_PRENET),
    ("weakly.training.loop", "rho=0.9, epsilon=1e-7", "rho=0.9, epsilon=1e-8", NETWORKS),
    # imported inside a function
    ("weakly.training.sparse_loop", "2 * self._l2 * scale", "self._l2 * scale", NETWORKS),
    ("weakly.loading.splits", "TEST_SHARE = 0.2", "TEST_SHARE = 0.3", ALL),
    ("weakly.running.single_run", "cell.protocol, run, cell", "cell.protocol, 0, cell", ALL),
    ("weakly.loading.arrays", "np.where(classes > 0", "np.where(classes > 1", ALL),
    # what decides no number: comments, formatting, docstrings, scripts, tables, files
    ("prenet", "added_units = (1000, 250)  # of", "added_units = (\n        1000, 250)  #", []),
    ("prenet", '"""PReNet: pairwise relation', '"""PReNet, pairwise relation', []),
    ("weakly.methods", 'METHODS = {\n', 'METHODS = {\n    "mine": Method("Mine", "mine", "Mine"),\n', []),
    ("weakly.writing", "fsync(file", "fdatasync(file", []),
])  # fmt: skip
def test_what_decides_a_number_counts(monkeypatch, module, old, new, of_whom):
    text = source_code.text_of(module)
    assert text.count(old) == 1, f"{module}.py has {text.count(old)} times {old!r}"
    monkeypatch.setitem(source_code.texts, module, text.replace(old, new))
    assert changed_methods() == of_whom


@pytest.mark.parametrize("library, of_whom", [("numpy", ALL), ("keras", NETWORKS), ("matplotlib", [])])
def test_versions_of_the_libraries_that_a_method_imports_count(monkeypatch, library, of_whom):
    version_of = environment.version_of
    monkeypatch.setattr(source_code, "version_of", lambda name: "0" if name == library else version_of(name))
    assert changed_methods() == of_whom


def test_methods_of_one_class_have_one_code_and_the_sizes_of_the_papers_data_count(monkeypatch):
    assert (
        TODAY["prenet"] == TODAY["trm"] and len({TODAY[name] for name in ("prenet", "fsnet", "cfsnet")}) == 3
    )
    monkeypatch.setitem(DATA_SETS, "dos", replace(DATA_SETS["dos"], anomalies=1_635))
    assert changed_methods() == ALL


@pytest.mark.slow
def test_no_tensorflow_is_needed():
    """And its switches in the environment, which change numbers, are cleared."""
    code = "import os, sys; from weakly.running.single_run import code_hash; code_hash('prenet'); "
    code += "import prenet; print('tensorflow' in sys.modules, 'XLA_FLAGS' in os.environ)"
    environment = ENVIRONMENT | {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, cwd=ROOT, env=environment, text=True) == "False False\n"


# ---------------------------------------------------------------------------- one run


def test_contamination_is_kept_for_its_own_code_only(tmp_path, monkeypatch):
    save_rows(tmp_path)
    data = load_data("x", tmp_path)
    for code in ("one", "other"):
        monkeypatch.setattr("weakly.loading.arrays.hash_of_modules", lambda name, code=code: code)
        first, second = (data.split("released", 0, 60, 0.02).extra for _ in range(2))
        assert not isinstance(first, np.memmap) and isinstance(second, np.memmap)  # from the file
        np.testing.assert_array_equal(first, second)


def test_code_or_settings_that_were_changed_make_no_result(tmp_path, monkeypatch):
    save_rows(tmp_path)
    cell = planned("iforest", tmp_path, dataset="x")
    assert run_once(cell, 0)["code"] == cell.code == checked_code(cell)
    text = source_code.text_of("iforest_baseline")
    monkeypatch.setitem(source_code.texts, "iforest_baseline", text.replace("return -self", "return self"))
    with pytest.raises(CodeChanged, match="was changed since"):
        run_once(cell, 0)
    monkeypatch.undo()
    monkeypatch.setitem(METHODS, "iforest", replace(METHODS["iforest"], settings=(("n_trees", 5),)))
    with pytest.raises(CodeChanged, match="the code, a setting or a library was changed since"):
        run_once(cell, 0)


def test_a_run_uses_the_data_that_it_was_planned_with_and_says_which(tmp_path):
    cells = []
    for turned in (False, True):
        save_rows(tmp_path, turned=turned)
        cells.append(planned("iforest", tmp_path, dataset="x"))
    first, second = (run_once(cell, 0) for cell in cells)
    assert [first["data_sha256"], second["data_sha256"]] == [cell.data_sha256 for cell in cells]
    assert all(first[name] != second[name] for name in ("data_sha256", "auc_pr"))


def test_rows_that_are_kept_are_those_of_the_same_set_up_and_seed(tmp_path):
    save_rows(tmp_path)
    common = ("--protocol", "independent", "--n-labeled", 5)
    ranks = ["--scaling", "ranks"]
    changes = [["--n-labeled", 6], [], ranks, [*ranks, "--contamination", 0.1]]  # one thing at a time
    cells = [planned("logistic", tmp_path, *common, *change, dataset="x") for change in changes]
    results = []
    for forget in (False, True):
        for cell, run in [(cells[0], 0), *((cell, 1) for cell in cells)]:
            if forget:
                single_run._kept.clear()
            results.append(run_once(cell, run)["mean_score_normals"])
    assert results[:5] == results[5:] and len(set(results)) == 5


def test_weights_of_partial_data_are_not_kept_for_exact_data(tmp_path):
    weighted = []
    for status in ("partial", "exact"):
        save_rows(tmp_path, "thyroid", status)
        weighted.append(run_once(planned("iforest", tmp_path, dataset="thyroid"), 0)["auc_pr_weighted"])
    assert weighted[0] > 0 and weighted[1] == ""


# ---------------------------------------------------------------------------- the driver


def run_iforest(clone, n_runs, code=0, **variables):
    """What runs of iForest printed, on the synthetic set, with the scripts of a clone."""
    options = ("--methods", "iforest", "--runs", n_runs)
    environment = ENVIRONMENT | variables
    return finish(start(clone / "dataset", clone / "results", *options, root=clone, env=environment), code)


EDIT = """
import os, sys
if os.environ.get("EDIT") and "multiprocessing" in " ".join(sys.orig_argv) and "-c" in sys.orig_argv:
    path = os.environ["EDIT"]
    text = open(path).read()
    open(path, "w").write(text.replace("return -self.forest_", "return self.forest_"))
"""


@pytest.mark.slow
def test_runs_of_other_code_are_kept_made_again_and_not_shown(clone):
    """Code that is edited between planning and a worker's import is not recorded as the old one."""
    path = clone / "results" / "seen_runs.csv"
    run_iforest(clone, 2)
    before = path.read_bytes()
    (clone / "sitecustomize.py").write_text(EDIT)  # which every process imports when it starts
    # from now on, anomalies have the lowest scores
    edited = {"EDIT": str(clone / "iforest_baseline.py"), "PYTHONPATH": str(clone)}
    out, err = run_iforest(clone, 3, 1, **edited)
    assert "2 of 3 runs exist already and are kept." in out
    assert "the code, a setting or a library was changed" in err and path.read_bytes() == before
    out, _ = run_iforest(clone, 2)
    assert "2 earlier runs were made with other data, settings, code or libraries: they are kept" in out
    assert path.read_bytes().startswith(before)
    runs = pd.read_csv(path)
    assert sorted(runs["run"]) == [0, 0, 1, 1] and runs["code"].nunique() == 2
    old, new = runs["auc_roc"][:2].mean(), runs["auc_roc"][2:].mean()
    assert new == pytest.approx(1 - old)
    (table,) = pd.read_csv(clone / "results" / "seen_synthetic.csv").to_dict("records")
    assert table["runs"] == 2 and table["auc_roc_iforest"] == pytest.approx(new, abs=1e-6)


def test_data_changed_in_place_is_refused(runs_here, tmp_path, capsys):
    options = ("seen", "--demo", "--methods", "iforest", "--runs")
    assert experiment_here(tmp_path, tmp_path / "results", *options, 1) == 0
    (path,) = tmp_path.glob("prepared/demo/*/X.npy")
    np.save(path, np.load(path)[::-1])
    assert experiment_here(tmp_path, tmp_path / "results", *options, 2) == 2
    assert "was changed after it was prepared: delete it" in capsys.readouterr().err
    assert len(pd.read_csv(tmp_path / "results" / "seen_runs.csv")) == 1
