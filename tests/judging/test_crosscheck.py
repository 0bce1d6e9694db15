"""The cross-check with another implementation: its cells and means by hand, and the files it writes."""

import numpy as np
import pandas as pd
import pytest
from test_tables import run_row

from weakly.beyond.crosscheck import crosscheck_cells, crosscheck_methods, write_crosscheck
from weakly.methods import METHODS
from weakly.paths import PUBLISHED
from weakly.reporting.text_tables import NO_BREAK
from weakly.running.runs_file import RunsFile

pytestmark = pytest.mark.filterwarnings("error")  # a user would see it
IN_UNIT_RANGE = {"38_thyroid": True, "40_vowels": False}
THEIRS = pd.read_csv(PUBLISHED / "adgym.csv").set_index(["dataset", "seed", "n_labeled"])
KEY = ["dataset", "n_labeled", "run", "method"]


def theirs(dataset, run, method="prenet", n_labeled=10):
    return THEIRS.loc[(dataset, run + 1, n_labeled), f"auc_pr_{method}"]


def run_of(method, dataset, run, protocol="outside", n_labeled=10, off=0.0, **changed):
    """A run whose AUC-PR is `off` above ADGym's."""
    base = METHODS[method].interpretation_of or method
    row = dict(
        auc_pr=theirs(dataset, run, base, n_labeled) + off,
        method=method,
        dataset=dataset,
        run=run,
        seed=run,
        protocol=protocol,
        n_labeled=n_labeled,
    )
    # one version of the data of each set, whatever the protocol
    row |= {"data_sha256": dataset, "data_status": "exact"} | changed
    return run_row(experiment="crosscheck", **row)


@pytest.fixture
def results(tmp_path):
    """PReNet in five cells, 0.01 and 0.03 above and 0.02 below ADGym and equal; behind a scaler in one."""
    runs_file = RunsFile(tmp_path, "crosscheck")
    runs_file.open_for_append()
    for row in (
        run_of("devnet", "38_thyroid", 0, data_status="synthetic"),  # these two are no cells
        run_of("repen", "40_vowels", 0, protocol="released"),
        run_of("prenet", "38_thyroid", 0, off=0.01),
        run_of("prenet", "38_thyroid", 1, off=0.03),
        run_of("prenet", "40_vowels", 0, off=-0.02),
        run_of("prenet", "40_vowels", 2),
        run_of("prenet", "40_vowels", 2, "outside-scaled", off=-0.2),
        run_of("dsad-adgym", "40_vowels", 0, off=0.004),
        run_of("logistic", "38_thyroid", 0, "outside-scaled", off=-0.1),
        run_of("prenet", "38_thyroid", 2, n_labeled=5),
    ):
        runs_file.append(row)
    return tmp_path


def test_a_cell_has_theirs_and_ours_with_and_without_a_scaler(results):
    table = crosscheck_cells(results, IN_UNIT_RANGE)
    cells = table.set_index(KEY)
    value = theirs("40_vowels", 2)
    both = cells.loc[("40_vowels", 10, 2, "prenet")]
    assert both[["theirs", "ours", "ours_scaled"]].tolist() == pytest.approx([value, value, value - 0.2])
    scaled = cells.loc[("38_thyroid", 10, 0, "logistic")]
    assert np.isnan(scaled["ours"]) and scaled["ours_scaled"] == pytest.approx(scaled["theirs"] - 0.1)
    of = cells["theirs"]
    assert of["38_thyroid", 5, 2, "prenet"] == theirs("38_thyroid", 2, n_labeled=5)
    # an interpretation is compared with its method's column
    assert of["40_vowels", 10, 0, "dsad-adgym"] == theirs("40_vowels", 0, "dsad")
    assert table.groupby("dataset")["features_0_1"].first().to_dict() == IN_UNIT_RANGE
    # what was not run, or not on these draws, is no cell
    assert table.groupby("method").size().to_dict() == {"prenet": 5, "dsad-adgym": 1, "logistic": 1}


def test_means_by_hand(results):
    """Off by 0.01, 0.03, 0.02, 0 and 0: a mean of 0.012."""
    both = crosscheck_methods(crosscheck_cells(results, dict.fromkeys(IN_UNIT_RANGE, True)))
    assert set(both["data"]) == {"features 0-1"}
    row = both.set_index("method").loc["prenet"]
    values = [theirs("38_thyroid", run) for run in (0, 1)] + [theirs("38_thyroid", 2, n_labeled=5)]
    values = np.array([*values, *(theirs("40_vowels", run) for run in (0, 2))])
    ours = values + [0.01, 0.03, 0, -0.02, 0]
    assert row[["cells", "theirs", "ours", "ours_difference"]].tolist() == pytest.approx(
        [5, values.mean(), ours.mean(), 0.012]
    )
    deviations = [np.r_[part[:3] - part[:3].mean(), part[3:] - part[3:].mean()] for part in (ours, values)]
    assert row["ours_within"] == pytest.approx(np.corrcoef(*deviations)[0, 1])
    # behind the scaler one cell of five was run: its mean would not be comparable
    assert row[["ours_scaled", "ours_scaled_difference"]].isna().all()
    # sets with features between 0 and 1 are counted by themselves
    methods = crosscheck_methods(crosscheck_cells(results, IN_UNIT_RANGE)).set_index(["data", "method"])
    row = methods.loc[("features 0-1", "prenet")]
    assert (row["cells"], row["ours_difference"]) == (3, pytest.approx(0.04 / 3))
    scaled = methods.loc[("features 0-1", "logistic")]
    assert (
        scaled["ours_scaled_difference"] == pytest.approx(0.1)
        and np.isnan(scaled[["ours", "ours_within"]]).all()
    )
    # two cells of one data set lie on a line
    assert methods.loc[("other features", "prenet"), "ours_within"] == pytest.approx(1)


def test_three_files_are_written(results):
    paths = write_crosscheck(results, IN_UNIT_RANGE)
    names = ["crosscheck_cells.csv", "crosscheck_methods.csv", "crosscheck.md"]
    assert [path.name for path in paths] == names
    assert [len(pd.read_csv(path)) > 0 for path in paths[:2]] == [True, True]
    text = paths[2].read_text().replace(NO_BREAK, " ")
    assert "between 0 and 1 without scaling: 38_thyroid." in text and "nan" not in text.lower()
    of_sets = [line.strip("| ").split(" | ") for line in text.partition("## By data set")[2].splitlines()[2:]]
    titles, _, thyroid, vowels = of_sets
    assert titles == ["data set", "PReNet", "Logistic", "DSAD, all as in ADGym"]
    value, adgym = theirs("38_thyroid", 0, "logistic"), theirs("40_vowels", 0, "dsad")
    assert thyroid[::2] == ["38_thyroid", f"{value:.3f} / – / {value - 0.1:.3f}"] and thyroid[3] == "–"
    assert vowels[::3] == ["40_vowels", f"{adgym:.3f} / {adgym + 0.004:.3f} / –"] and vowels[2] == "–"
    text = write_crosscheck(results, {})[-1].read_text()  # the data is no longer prepared
    assert "without scaling: none." in text and "| 40_vowels" in text
    text = write_crosscheck(results / "nowhere", {})[-1].read_text()
    assert "There are no runs" in text and "|" not in text
