"""The protocol of the cross-check: ADGym's draws, a validation part, a scaler, and its data sets.

The procedure, in ADGym's own words of code, is written out in drawn_by_numpy: on numpy's global stream.
"""
# ruff: noqa: NPY002

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from weakly.loading import store
from weakly.loading.arrays import load_data, save_data
from weakly.loading.fetching import SourceFinder
from weakly.loading.registry import ADBENCH_FILES, DATA_SETS, KNOWN_SETS, OUTSIDE_SETS
from weakly.loading.row_order import file_digest
from weakly.loading.splits import OUTSIDE_PROTOCOLS, split_outside, split_rows
from weakly.paths import PUBLISHED
from weakly.running.single_run import rows_of_run


def drawn_by_numpy(y, seed, n_labeled):
    """Training rows in their order, which of these have a label, and test rows, drawn from the stream."""
    numpy_state = np.random.get_state()
    np.random.seed(seed)
    rows = np.random.choice(np.arange(len(y)), 3000, replace=False) if len(y) > 3000 else np.arange(len(y))
    train, test = train_test_split(rows, test_size=0.3, stratify=y[rows])
    labeled = np.random.choice(np.where(y[train] == 1)[0], n_labeled, replace=False)
    np.random.set_state(numpy_state)
    return train, labeled, test


def roles(n_normals, n_anomalies):
    return np.random.default_rng(0).permutation(np.repeat([0, 1], [n_normals, n_anomalies]))


@pytest.mark.parametrize("n_normals, n_train, n_test, run", [(900, 700, 300, 0), (8000, 2100, 900, 2)])
def test_the_split_is_the_literal_procedure(n_normals, n_train, n_test, run):
    y = roles(n_normals, 100 if n_normals < 8000 else 400)
    train, labeled, test = drawn_by_numpy(y, run + 1, 10)
    split = split_outside(y, run, 10)
    np.testing.assert_array_equal(split.test, test)
    np.testing.assert_array_equal(split.anomalies, train[labeled])
    np.testing.assert_array_equal(split.unlabeled, np.delete(train, labeled))
    assert len(split.test) == n_test and len(split.unlabeled) == n_train - 10 and len(split.anomalies) == 10
    everything = np.concatenate([split.unlabeled, split.anomalies, split.test])
    assert len(set(everything)) == len(everything)
    for protocol in OUTSIDE_PROTOCOLS:  # they have no contamination of their own
        same = split_rows(np.zeros((len(y), 2)), y, protocol, seed=run, n_labeled=10, contamination=0.5)
        np.testing.assert_array_equal(same.unlabeled, split.unlabeled)
    with pytest.raises(ValueError, match="7 training anomalies, fewer than 10"):
        split_outside(roles(200, 10), 0, 10)


def test_the_scaler_sees_training_rows_only(tmp_path):
    """400 rows whose features have ranges of their own, 50 of them anomalies."""
    X = np.random.default_rng(0).random((400, 3)) * [1, 100, 0.01] - [0, 50, 0]
    save_data(tmp_path / "prepared" / "made", X.astype(np.float32), roles(350, 50), status="exact")
    data = load_data("made", tmp_path)
    plain, behind = (
        rows_of_run(data, protocol, seed=1, n_labeled=10, contamination=0.02)
        for protocol in OUTSIDE_PROTOCOLS
    )
    used = np.concatenate([plain.split.unlabeled, plain.split.anomalies])
    np.testing.assert_array_equal(plain.training, data.X)
    np.testing.assert_array_equal(plain.X_test, data.X[plain.split.test])
    low, high = plain.training[used].min(axis=0), plain.training[used].max(axis=0)
    np.testing.assert_allclose(behind.X_test, (plain.X_test - low) / (high - low), atol=1e-5)
    training = behind.training[used]
    np.testing.assert_allclose([training.min(axis=0), training.max(axis=0)], [[0] * 3, [1] * 3], atol=1e-6)
    assert behind.X_test.min() < 0 or behind.X_test.max() > 1  # ranges that it has not seen
    np.testing.assert_array_equal(behind.y_test, data.y[plain.split.test] == 1)


def test_draws_are_adgyms(real_data):
    """A random forest depends on every row and on their order: equal numbers mean equal draws."""
    published = pd.read_csv(PUBLISHED / "adgym.csv").set_index(["dataset", "seed", "n_labeled"])
    for name in ("38_thyroid", "40_vowels", "6_cardio"):
        with np.load(real_data / "adbench" / f"{name}.npz") as file:
            X, y = file["X"], file["y"].astype(int)
        for seed in (1, 2, 3):
            split = split_outside(y, seed - 1, 10)
            train, labeled, _ = drawn_by_numpy(y, seed, 10)
            np.testing.assert_array_equal(train[labeled], split.anomalies)
            known = np.isin(np.arange(len(train)), labeled).astype(int)
            forest = RandomForestClassifier(random_state=seed).fit(X[train], known)
            auc_pr = average_precision_score(y[split.test], forest.predict_proba(X[split.test])[:, 1])
            assert auc_pr == pytest.approx(published.loc[(name, seed, 10), "auc_pr_random-forest"], abs=1e-6)


def test_the_sets_are_those_of_the_published_table():
    names = pd.read_csv(PUBLISHED / "adgym.csv")["dataset"].unique().tolist()
    assert list(OUTSIDE_SETS) == names and len(names) == 19
    assert not set(OUTSIDE_SETS) & set(DATA_SETS) and list(KNOWN_SETS) == [*DATA_SETS, *names]


@pytest.mark.parametrize("folder, status", [("", "exact"), ("adbench", "exact"), ("partial", "partial")])
def test_a_set_is_found_in_a_source_folder_and_in_its_adbench(tmp_path, folder, status):
    path = tmp_path / "source" / folder / "40_vowels.npz"
    path.parent.mkdir(parents=True)
    # a small file as ADBench has them: features of any size and whole numbers as labels
    X, y = np.random.default_rng(0).random((60, 4)) * 9, (np.arange(60) % 6 == 0).astype(int)
    np.savez(path, X=X, y=y)
    finder = SourceFinder(tmp_path / "raw", [str(tmp_path / "source")], offline=True)
    assert store.prepare_all(["40_vowels"], finder, tmp_path) == ({"40_vowels": status}, {})
    data = load_data("40_vowels", tmp_path)
    np.testing.assert_array_equal(data.X, X.astype(np.float32))  # as it comes: nothing is scaled
    np.testing.assert_array_equal(data.y, y)
    table = pd.read_csv(tmp_path / "manifest.csv", index_col="name")
    assert table.loc["40_vowels", ["rows", "features", "anomalies"]].tolist() == [60, 4, 10]
    # no share of anomalies in the paper
    assert rows_of_run(data, "outside", seed=0, n_labeled=5, contamination=0.02).weights is None


def test_the_files_at_hand_have_the_git_blob_ids_of_the_registry(real_data):
    for line in ADBENCH_FILES:
        path = next(real_data.rglob(line.file), None)
        if path is None:
            assert line.file in ("3_backdoor.npz", "9_census.npz", "36_speech.npz")
        else:
            digests = {kind: file_digest(path, kind) for kind in line.digests}
            assert digests == line.digests and len(line.git_blob) == 40
