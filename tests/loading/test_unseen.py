"""The 28 data sets with unseen classes: what they are made from, and that the class stays out of training."""

import numpy as np
import pytest

from weakly.loading.arrays import load_data, save_data
from weakly.loading.options import data_set_names
from weakly.loading.registry import SEEN_SETS
from weakly.loading.splits import HELD_OUT, PAPER_PROTOCOLS, Split
from weakly.loading.unseen import CLASSES, UNSEEN_DEMO_SETS, UNSEEN_SETS, with_all_others_seen
from weakly.running import single_run
from weakly.running.configuration import Cell
from weakly.running.single_run import fit, run_once


@pytest.fixture(scope="module")
def small_unsw(tmp_path_factory):
    """A small `unsw` in which column k is 1 for rows of class k, contamination included, and 0 for others."""
    folder = tmp_path_factory.mktemp("dataset")
    classes = np.random.default_rng(0).permutation(np.repeat(np.arange(5), [2_000, 120, 110, 100, 90]))
    X = np.zeros((len(classes), 45), np.float32)
    X[np.arange(len(classes)), classes] = 1
    X[:, 5:] = np.random.default_rng(1).random((len(classes), 40))
    save_data(folder / "prepared" / "unsw", X, classes, status="partial", source="", sha256="")
    return folder


@pytest.mark.parametrize("protocol", PAPER_PROTOCOLS)
@pytest.mark.parametrize("name", UNSEEN_SETS[::3])
def test_held_out_class_is_only_in_the_test_set(small_unsw, protocol, name):
    data = load_data(name, small_unsw)
    code = {one: place for place, one in enumerate(CLASSES["unsw"], start=1)}
    classes = np.load(data.folder / "y.npy")
    pool, _, unseen = name.partition("->")
    seen = {code[one] for one in pool.split(",")}
    split = data.split(protocol, 3, 60, 0.1)
    # by the rows themselves: a synthetic one that took over a feature of a held-out row would show
    training = split.stack(data.X)[np.concatenate([split.unlabeled, split.anomalies])]
    class_columns = np.flatnonzero(training[:, :5].any(axis=0))
    assert set(class_columns) <= {0} | seen and code[unseen] not in class_columns
    assert set(classes[split.anomalies]) <= seen and len(split.anomalies) == 60
    if protocol != "independent":
        assert split.extra.shape[0] == int(2_000 / 9) and (split.unlabeled < len(classes)).sum() == 1_600
    else:
        assert np.count_nonzero(classes[split.unlabeled]) == int(1_600 / 9)
    # all of the held-out class and 20% of the normal rows, nothing else
    test_classes, counts = np.unique(classes[split.test], return_counts=True)
    assert dict(zip(test_classes, counts)) == {0: 400, code[unseen]: (classes == code[unseen]).sum()}
    assert not set(split.test) & {*split.unlabeled, *split.anomalies}
    assert data.X.filename == load_data("dos->bac", small_unsw).X.filename  # a view, no copy
    assert data.size == 2_000 + sum((classes == one).sum() for one in {*seen, code[unseen]})


def test_weights_give_the_papers_ratio(small_unsw, monkeypatch):
    """On dos->bac the paper has 2,329 test anomalies for 18,600 normal rows; here it is 90 for 400."""
    assert load_data("dos->bac", small_unsw).paper_odds() == pytest.approx(2_329 / 18_600)
    monkeypatch.setattr("weakly.loading.arrays.PreparedData.paper_odds", lambda self: 3 * 90 / 400)
    result = run_once(Cell(method="iforest", dataset="dos->bac", data_dir=str(small_unsw)), 0)
    data = load_data("dos->bac", small_unsw)
    split = data.split("released", 0, 60, 0.02)
    # weight 3: each anomaly three times
    tripled = np.concatenate([split.test, *2 * [split.test[data.y[split.test] == HELD_OUT]]])
    monkeypatch.setattr("weakly.loading.arrays.PreparedData.paper_odds", lambda self: None)
    other_split = Split(split.unlabeled, split.anomalies, tripled, split.extra)
    monkeypatch.setattr("weakly.loading.arrays.PreparedData.split", lambda self, *args: other_split)
    monkeypatch.setattr("weakly.running.single_run._kept", {})
    repeated = run_once(Cell(method="iforest", dataset="dos->bac", data_dir=str(small_unsw)), 0)
    assert result["auc_pr_weighted"] == pytest.approx(repeated["auc_pr"], abs=1e-12)
    assert result["auc_pr_weighted"] > result["auc_pr"]
    assert result["auc_roc"] == pytest.approx(repeated["auc_roc"]) and repeated["auc_pr_weighted"] == ""


@pytest.mark.slow
def test_unseen_classes_share_the_fits_on_their_seen_ones(small_unsw, monkeypatch):
    """Two fits serve two runs on three sets, and give what a fit of each run's own gives."""
    fits = []
    monkeypatch.setattr(single_run, "fit", lambda *of_run: fits.append(fit(*of_run)) or fits[-1])
    monkeypatch.setattr(single_run, "_fits", {})

    def all_runs(clear_fits):
        for name in ("dos,rec->bac", "rec,dos->fuz", "dos->bac"):
            for run in (0, 1):
                if clear_fits:
                    single_run._fits.clear()
                set_up = {"contamination": 0.1, "data_dir": str(small_unsw)}
                yield run_once(Cell(method="logistic", dataset=name, **set_up), run)

    def numbers(results):
        return [{key: value for key, value in one.items() if "seconds" not in key} for one in results]

    shared = list(all_runs(clear_fits=False))
    assert len(fits) == 4 and [one["fit_seconds"] for one in shared] == [*fits[:2], *fits[:2], *fits[2:]]
    assert numbers(shared) == numbers(all_runs(clear_fits=True)) and len(fits) == 10
    assert shared[0]["auc_pr"] != shared[2]["auc_pr"]  # the test anomalies differ


@pytest.mark.parametrize("text, names", [
    ("thyroid,rec,fuz->dos", ["thyroid", "rec,fuz->dos"]),
    ("bac;dos->fuz", ["bac", "dos->fuz"]),
    ("bac,dos->fuz", ["dos,bac->fuz"]),  # classes before an arrow belong to it, in any order
    (",".join([*SEEN_SETS, *UNSEEN_SETS, *UNSEEN_DEMO_SETS]), [*SEEN_SETS, *UNSEEN_SETS, *UNSEEN_DEMO_SETS]),
])  # fmt: skip
def test_names(text, names):
    assert data_set_names(text) == names


@pytest.mark.parametrize("text", ["rec,fuz-", "dos->dos", "dos->", ";"])
def test_wrong_names(text):
    with pytest.raises(Exception, match="unknown data set .*known: donors|no data set given"):
        data_set_names(text)


def test_set_of_methods_without_labels():
    assert with_all_others_seen("dos->bac") == "rec,dos,fuz->bac"
    assert with_all_others_seen("rec,fuz->dos") == "rec,bac,fuz->dos"
