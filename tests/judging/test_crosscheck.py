"""The cross-check with another implementation: its cells and means by hand, and the files it writes."""

import numpy as np
import pandas as pd
import pytest
from test_tables import run_row

from weakly.beyond.crosscheck import (
    crosscheck_cells,
    crosscheck_methods,
    outside_results,
    set_table,
    with_interpretations,
    write_crosscheck,
)
from weakly.methods import METHODS, method_group
from weakly.paths import PUBLISHED
from weakly.reporting.text_tables import NO_BREAK
from weakly.reporting.write_up import REFERENCE
from weakly.running.runs_file import RunsFile

pytestmark = pytest.mark.filterwarnings("error")  # a user would see it
IN_UNIT_RANGE = {"38_thyroid": True, "40_vowels": False}
THEIRS = pd.read_csv(PUBLISHED / "adgym.csv").set_index(["dataset", "seed", "n_labeled"])


def theirs(dataset, run, column, n_labeled=10):
    return THEIRS.loc[(dataset, run + 1, n_labeled), column]


def run_of(method, dataset, run, protocol="outside", n_labeled=10, off=0.0, **changed):
    """A run whose AUC-PR is `off` above ADGym's."""
    base = METHODS[method].interpretation_of or method
    row = dict(auc_pr=theirs(dataset, run, f"auc_pr_{base}", n_labeled) + off, auc_roc=0.5 + run / 100)
    row |= dict(method=method, dataset=dataset, run=run, seed=run, protocol=protocol, n_labeled=n_labeled)
    # one version of the data of each set, whatever the protocol
    return run_row(
        experiment="crosscheck", **row | {"data_sha256": dataset, "data_status": "exact"} | changed
    )


def save(folder, rows):
    runs_file = RunsFile(folder, "crosscheck")
    runs_file.open_for_append()
    for row in rows:
        runs_file.append(row)


@pytest.fixture
def results(tmp_path):
    """PReNet in four cells, 0.01 and 0.03 above and 0.02 below ADGym and equal; behind a scaler in one."""
    save(
        tmp_path,
        [
            run_of("prenet", "38_thyroid", 0, off=0.01),
            run_of("prenet", "38_thyroid", 1, off=0.03),
            run_of("prenet", "40_vowels", 0, off=-0.02),
            run_of("prenet", "40_vowels", 2),
            run_of("prenet", "40_vowels", 2, "outside-scaled", off=-0.2),
            run_of("dsad-adgym", "40_vowels", 0, off=0.004),
            run_of("logistic", "38_thyroid", 0, "outside-scaled", off=-0.1),
            run_of("prenet", "38_thyroid", 2, data_sha256="38_thyroid", n_labeled=5, off=0.0),
        ],
    )
    return tmp_path


def cell_of(cells, dataset, run, method, metric="auc_pr", n_labeled=10):
    key = cells.set_index(["dataset", "n_labeled", "run", "metric", "method"])
    return key.loc[(dataset, n_labeled, run, metric, method)]


def test_a_cell_has_theirs_and_ours_with_and_without_a_scaler(results):
    cells = crosscheck_cells(results, IN_UNIT_RANGE)
    value = theirs("40_vowels", 2, "auc_pr_prenet")
    both = cell_of(cells, "40_vowels", 2, "prenet")
    assert both[["theirs", "ours", "ours_scaled"]].tolist() == pytest.approx([value, value, value - 0.2])
    only = cell_of(cells, "38_thyroid", 0, "prenet")
    assert only["ours"] == pytest.approx(only["theirs"] + 0.01) and np.isnan(only["ours_scaled"])
    scaled = cell_of(cells, "38_thyroid", 0, "logistic")
    assert np.isnan(scaled["ours"]) and scaled["ours_scaled"] == pytest.approx(scaled["theirs"] - 0.1)
    assert cell_of(cells, "38_thyroid", 2, "prenet", n_labeled=5)["theirs"] == theirs(
        "38_thyroid", 2, "auc_pr_prenet", 5
    )
    assert cell_of(cells, "38_thyroid", 0, "prenet", "auc_roc")["theirs"] == theirs(
        "38_thyroid", 0, "auc_roc_prenet"
    )
    assert cells.groupby("dataset")["features_0_1"].first().to_dict() == IN_UNIT_RANGE


def test_what_was_not_run_is_no_cell(results):
    cells = crosscheck_cells(results, IN_UNIT_RANGE)
    assert set(cells["method"]) == {"prenet", "dsad-adgym", "logistic"}
    assert (cells[cells["metric"] == "auc_pr"].groupby("method").size() == [1, 1, 5]).all()
    # ADGym has no AUC-ROC of logistic regression
    assert set(cells.loc[cells["metric"] == "auc_roc", "method"]) == {"prenet", "dsad-adgym"}


def test_synthetic_runs_and_those_of_other_protocols_are_left_out(tmp_path):
    save(
        tmp_path,
        [
            run_of("prenet", "38_thyroid", 0, data_status="synthetic"),
            run_of("prenet", "40_vowels", 0, protocol="released"),
        ],
    )
    assert crosscheck_cells(tmp_path, {}).empty


def test_means_by_hand(results):
    """Off by 0.01, 0.03, 0.02, 0 and 0: a mean of 0.012."""
    methods = crosscheck_methods(crosscheck_cells(results, IN_UNIT_RANGE))
    row = methods.set_index(["metric", "data", "method"]).loc[("auc_pr", "all", "prenet")]
    values = np.array(
        [theirs("38_thyroid", run, "auc_pr_prenet") for run in (0, 1)]
        + [theirs("40_vowels", run, "auc_pr_prenet") for run in (0, 2)]
        + [theirs("38_thyroid", 2, "auc_pr_prenet", 5)]
    )
    ours = values + [0.01, 0.03, -0.02, 0, 0]
    assert (row["sets"], row["cells"]) == (2, 5)
    assert row["theirs"] == pytest.approx(values.mean())
    assert row["ours"] == pytest.approx(ours.mean())
    assert row["ours_difference"] == pytest.approx(0.012)
    covariance = ((ours - ours.mean()) * (values - values.mean())).mean()
    assert row["ours_correlation"] == pytest.approx(covariance / ours.std() / values.std())
    # behind the scaler one cell of five was run: its mean would not be comparable
    assert row[["ours_scaled", "ours_scaled_difference", "ours_scaled_correlation"]].isna().all()
    row = methods.set_index(["metric", "data", "method"]).loc[("auc_pr", "all", "logistic")]
    assert row["ours_scaled_difference"] == pytest.approx(0.1) and np.isnan(row["ours"])


def test_sets_with_features_between_0_and_1_are_counted_by_themselves(results):
    methods = crosscheck_methods(crosscheck_cells(results, IN_UNIT_RANGE))
    row = methods.set_index(["metric", "data", "method"]).loc[("auc_pr", "features 0-1", "prenet")]
    assert (row["sets"], row["cells"]) == (1, 3)
    assert row["ours_difference"] == pytest.approx(0.04 / 3)
    # two cells of one data set: they lie on a line
    row = methods.set_index(["metric", "data", "method"]).loc[("auc_pr", "other features", "prenet")]
    assert (row["sets"], row["cells"], row["ours_within"]) == (1, 2, pytest.approx(1))


def test_correlation_within_data_sets_does_not_count_that_sets_differ():
    """Ours rises with theirs from set to set, but falls with it on each."""
    rows = [("a", 0.1, 0.2), ("a", 0.2, 0.1), ("b", 0.8, 0.9), ("b", 0.9, 0.8)]
    cells = pd.DataFrame(rows, columns=["dataset", "theirs", "ours"])
    cells = cells.assign(metric="auc_pr", method="prenet", features_0_1=True, ours_scaled=np.nan)
    row = crosscheck_methods(cells).set_index(["metric", "data", "method"]).loc[("auc_pr", "all", "prenet")]
    assert row["ours_correlation"] > 0.9 and row["ours_within"] == pytest.approx(-1)


def test_means_of_a_data_set(results):
    table = set_table(crosscheck_cells(results, IN_UNIT_RANGE))
    value = np.mean([theirs("40_vowels", run, "auc_pr_prenet") for run in (0, 2)])
    scaled = theirs("40_vowels", 2, "auc_pr_prenet") - 0.2
    assert table.loc["40_vowels", "PReNet"] == f"{value:.3f} / {value - 0.01:.3f} / {scaled:.3f}"
    assert list(table.index) == ["38_thyroid", "40_vowels"] and table.loc["40_vowels", "Logistic"] == "-"


def test_an_interpretation_is_compared_with_its_methods_column(results):
    again = with_interpretations(outside_results()).set_index(
        ["dataset", "n_labeled", "run", "metric", "method"]
    )
    for name in method_group("outside"):
        base = METHODS[name].interpretation_of
        for metric in ("auc_pr", "auc_roc"):
            value = again.loc[("40_vowels", 20, 1, metric, name), "theirs"]
            assert value == theirs("40_vowels", 1, f"{metric}_{base}", 20)
    cell = cell_of(crosscheck_cells(results, IN_UNIT_RANGE), "40_vowels", 0, "dsad-adgym")
    assert cell["ours"] - cell["theirs"] == pytest.approx(0.004)


def test_three_files_are_written(results):
    paths = write_crosscheck(results, IN_UNIT_RANGE)
    assert [path.name for path in paths] == [
        "crosscheck_cells.csv",
        "crosscheck_methods.csv",
        "crosscheck.md",
    ]
    assert len(pd.read_csv(paths[0])) == 5 + 1 + 1 + 5 + 1
    table = pd.read_csv(paths[1]).set_index(["metric", "data", "method"])
    assert table.loc[("auc_pr", "all", "prenet"), "ours_difference"] == pytest.approx(0.012)
    text = paths[2].read_text()
    assert "On 1 of them all features lie between 0 and 1 without scaling: 38_thyroid." in text
    (line,) = [line for line in text.splitlines() if line.startswith("| 38_thyroid")]
    value = theirs("38_thyroid", 0, "auc_pr_logistic")
    assert f"{value:.3f} / - / {value - 0.1:.3f}" in line.replace(NO_BREAK, " ")
    assert "0.012" in text and "DSAD, all as in ADGym" in text


def test_what_was_not_run_is_a_dash_in_the_text(results):
    text = write_crosscheck(results, IN_UNIT_RANGE)[2].read_text()
    assert "nan" not in text.lower()


@pytest.mark.parametrize("ranges", [{}, {"38_thyroid": False, "40_vowels": False}], ids=["unknown", "none"])
def test_no_data_set_between_0_and_1(results, ranges):
    """Where other data sets than those of earlier runs are asked for, the range of theirs is not known."""
    text = write_crosscheck(results, ranges)[2].read_text()
    assert "On none of them do all features lie between 0 and 1 without scaling." in text
    assert "features 0-1" not in text
    assert "| 40_vowels" in text and "nan" not in text.lower()


def test_nothing_run_yet_is_a_sentence(tmp_path):
    paths = write_crosscheck(tmp_path, {})
    text = paths[-1].read_text()
    assert "There are no runs" in text and "|" not in text


# ---------------------------------------------------------------------------- what REPRODUCTION.md says


@pytest.fixture(scope="module")
def committed():
    cells = pd.read_csv(REFERENCE / "crosscheck_cells.csv").query("metric == 'auc_pr'")
    return cells.assign(difference=cells["ours"] - cells["theirs"])


def test_means_that_agree_and_those_that_do_not(committed):
    means = committed.groupby(["method", "features_0_1"])["difference"].mean().unstack()
    for name, largest in (("repen-supervised", 0.015), ("dsad-adgym", 0.015), ("feawad", 0.021)):
        assert means.loc[name].abs().max() <= largest, name
    assert means.loc["repen-known-only"].round(2).to_dict() == {True: -0.03, False: 0.06}
    assert means.loc["repen"].max() < -0.05


@pytest.mark.parametrize("name, sets", [
    ("prenet", {"25_musk", "24_mnist", "30_satellite"}),
    ("devnet", {"25_musk", "24_mnist", "30_satellite", "26_optdigits"}),
])  # fmt: skip
def test_the_unscaled_sets_on_which_networks_differ(committed, name, sets):
    own = committed[(committed["method"] == name) & ~committed["features_0_1"]]
    differences = own["difference"].abs().groupby(own["dataset"]).mean()
    assert len(differences) == 9 and set(differences.index[differences > 0.08]) == sets
