"""The experiments beyond the paper, `today` and `crosscheck`, from the command line."""

import numpy as np
import pandas as pd
import pytest
from drivers import parsed

import experiments
from weakly.loading.registry import OUTSIDE_SETS
from weakly.methods import METHODS, method_group
from weakly.paths import PUBLISHED
from weakly.running.paper_experiments import DRAW_PROTOCOLS, EXPERIMENTS
from weakly.running.planning import why_not_sparse


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("dataset")


@pytest.fixture
def start(runs_here, data_dir, tmp_path):
    """A function that starts an experiment in this process; its results are in tmp_path."""
    where = ["--offline", "--data-dir", str(data_dir), "--results-dir", str(tmp_path), "--jobs", "1"]
    return lambda *options: experiments.main([*options, *where])


# ---------------------------------------------------------------------------- from end to end


@pytest.mark.parametrize(
    "name, methods, protocol",
    [("today", "logistic,cross-entropy", "independent"), ("crosscheck", "logistic", "outside")],
)
def test_on_synthetic_data(start, tmp_path, capsys, monkeypatch, name, methods, protocol):
    monkeypatch.setitem(EXPERIMENTS[name].sweeps, "n_labeled", (20,))  # to save time
    assert start(name, "--demo", "--methods", methods, "--protocol", protocol) == 0
    out = capsys.readouterr().out
    runs = pd.read_csv(tmp_path / f"{name}_runs.csv")
    assert set(runs["protocol"]) == {protocol} and set(runs["method"]) == set(methods.split(","))
    table = pd.read_csv(tmp_path / f"{name}_synthetic.csv")
    assert table["value"].tolist() == [20]
    for method in methods.split(","):
        assert table[f"auc_pr_{method}"].between(0.01, 1).all()
        assert METHODS[method].column in out
    # synthetic numbers are not held against ADGym's, nor called what one would use today
    assert not list(tmp_path.glob("*.md"))


def save_outside(folder, *names):
    """Small files with the names of ADBench's; the features of the first lie between 0 and 1."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for number, name in enumerate(names):
        y = np.repeat([0, 1], [240, 60])
        np.savez(
            folder / f"{name}.npz", X=rng.random((300, 4)) * (1 + 9 * number) + 0.3 * y[:, None] * number, y=y
        )


def test_the_cross_check_on_files_of_adbench(start, data_dir, tmp_path, capsys):
    """Both protocols in turn, side by side; a start with one data set leaves the others in the text."""
    save_outside(data_dir / "raw", "38_thyroid", "40_vowels")
    both = ["--datasets", "38_thyroid,40_vowels", "--methods", "logistic"]
    assert start("crosscheck", *both) == 0
    one = ["--datasets", "40_vowels", "--methods", "logistic", "--protocol", "outside-scaled"]
    assert start("crosscheck", *one) == 0
    assert (tmp_path / "crosscheck.csv").exists() and (tmp_path / "crosscheck_outside-scaled.csv").exists()
    cells = pd.read_csv(tmp_path / "crosscheck_cells.csv")
    assert len(cells) == 2 * 3 * 3  # data sets, labels and runs
    published = pd.read_csv(PUBLISHED / "adgym.csv").set_index(["dataset", "seed", "n_labeled"])
    for cell in cells.itertuples():
        key = (cell.dataset, cell.run + 1, cell.n_labeled)
        assert cell.theirs == pytest.approx(published.loc[key, "auc_pr_logistic"])
    assert cells["ours"].notna().all()
    assert cells["ours_scaled"].notna().all()
    text = (tmp_path / "crosscheck.md").read_text()
    assert "On 1 of them all features lie between 0 and 1 without scaling: 38_thyroid." in text
    assert "| 38_thyroid" in text and "| 40_vowels" in text
    assert f"Wrote {tmp_path / 'crosscheck.md'}\n" in capsys.readouterr().out


def test_a_method_that_adgym_has_not_is_run_without_a_comparison(start, data_dir, tmp_path):
    save_outside(data_dir / "raw", "38_thyroid")
    options = ["crosscheck", "--datasets", "38_thyroid", "--methods", "iforest", "--runs", "1"]
    assert start(*options) == 0
    assert "There are no runs" in (tmp_path / "crosscheck.md").read_text()
    # with other settings, runs have a file of their own, which is no comparison either
    (tmp_path / "crosscheck.md").unlink()
    assert start(*options, "--set", "n_trees=7") == 0
    assert (tmp_path / "crosscheck_n_trees=7.csv").exists() and not (tmp_path / "crosscheck.md").exists()


# ---------------------------------------------------------------------------- the command line


def test_defaults():
    today, seen = parsed("today"), parsed("seen")
    crosscheck, scaled = experiments.complete_all(experiments.make_parser().parse_args(["crosscheck"]))
    assert (crosscheck.protocol, scaled.protocol) == ("outside", "outside-scaled")
    assert (today.protocol, seen.protocol) == ("independent", "released")
    assert (today.runs, crosscheck.runs, seen.runs) == (10, 3, 10)
    assert EXPERIMENTS["today"].sweeps == {"n_labeled": (5, 20, 60)}
    assert EXPERIMENTS["crosscheck"].sweeps == {"n_labeled": (5, 10, 20)}
    assert today.methods == method_group("table", "appendix", "today")
    assert set(method_group("outside")) < set(crosscheck.methods)
    assert EXPERIMENTS["crosscheck"].data_sets == tuple(OUTSIDE_SETS)
    assert parsed("crosscheck", "--protocol", "outside-scaled").protocol == "outside-scaled"
    completed = experiments.complete_all(experiments.make_parser().parse_args(["all"]))
    assert not {"today", "crosscheck"} & {args.experiment for args in completed}


def test_draws_are_runs_of_table_2_with_one_protocol_after_the_other(start, tmp_path, capsys):
    assert start("draws", "--demo", "--methods", "iforest") == 0
    runs = pd.read_csv(tmp_path / "seen_runs.csv")
    assert runs["protocol"].tolist() == list(DRAW_PROTOCOLS) and set(runs["experiment"]) == {"seen"}
    tables = {path.name for path in tmp_path.glob("*_synthetic.csv")}
    assert tables == {"seen_synthetic.csv", *(f"seen_{name}_synthetic.csv" for name in DRAW_PROTOCOLS[1:])}
    assert "not in the paper: Table 2 with one random draw varied" in capsys.readouterr().out
    (args, *_) = experiments.complete_all(experiments.make_parser().parse_args(["draws"]))
    assert args.methods == ["prenet", "devnet"] and args.data_sets == EXPERIMENTS["draws"].data_sets


@pytest.mark.parametrize(
    "options, message",
    [
        ("crosscheck --protocol released", "invalid choice: 'released' (choose from "),
        ("today --protocol released", "invalid choice: 'released' (choose from "),
        ("seen --protocol outside", "invalid choice: 'outside' (choose from "),
        ("seen --datasets 38_thyroid", "'38_thyroid' is not a data set of the experiment `seen`"),
        ("today --datasets 38_thyroid", "'38_thyroid' is not a data set of the experiment `today`"),
        ("today --n-labeled 60", "argument --n-labeled: this experiment varies it"),
        ("scaling --scaling cur", "unknown scaling 'cur'; did you mean cut?"),
        ("seen --scaling cut,ranks", "invalid choice: 'cut,ranks'"),
        ("seen --methods xgbod --scaling cut", "XGBOD always gets its features as they are: no --scaling"),
        ("today --methods prenet,catboost --scaling ranks", "CatBoost always gets its features as they are"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(start, capsys, tmp_path, options, message):
    with pytest.raises(SystemExit) as caught:
        start(*options.split())
    assert caught.value.code == 2 and message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------- scaling


def test_scaling_on_synthetic_data(start, tmp_path):
    """Networks under both scalings, trees once; the same runs of another experiment are taken over."""
    assert start("today", "--demo", "--methods", "xgboost", "--scaling", "prepared") == 0
    assert start("scaling", "--demo", "--methods", "logistic,xgboost") == 0
    runs = pd.read_csv(tmp_path / "scaling_runs.csv").set_index(["method", "scaling"])
    scalings = ("prepared", "cut", "fences")
    assert set(runs.index) == {*(("logistic", scaling) for scaling in scalings), ("xgboost", "prepared")}
    assert runs.loc[("xgboost", "prepared"), "experiment"] == "today"
    assert runs["code"].nunique() == 2 and runs.loc["logistic", "auc_pr"].nunique() > 1
    assert start("scaling", "--demo", "--methods", "logistic,xgboost") == 0  # nothing is made or copied twice
    assert len(pd.read_csv(tmp_path / "scaling_runs.csv")) == 4


def test_sparse_rows_are_not_rescaled():
    args = parsed("seen", "--methods", "prenet", "--datasets", "news20", "--scaling", "cut")
    assert "leave out --scaling" in why_not_sparse(args, "prenet")
    assert why_not_sparse(parsed("seen", "--methods", "prenet", "--datasets", "news20"), "prenet") is None
