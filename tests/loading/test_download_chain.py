"""From the authors' repositories to prepared data sets, on a server with small files under their names."""

import lzma
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from archives import tar_bytes, zip_bytes
from servers import serve_instead_of

import data_prep
from weakly.loading import row_order
from weakly.loading.arrays import load_data
from weakly.loading.registry import DATA_SETS, SEEN_SETS
from weakly.loading.row_order import AUTHORS_FILES, git_blob_id, write_as_authors

THYROID = "annthyroid_21feat_normalised.csv"
GITHUB = "https://raw.githubusercontent.com"
ATTACKS = {"Backdoor": 3, "backdoor": 3, "DoS": 5, "Fuzzers": 2, "Reconnaissance": 4}
NORMALS = 12


def rows_of(stem):
    """X (n, 3) and y (n,) of a file; those of UNSW-NB15 share their normal rows, each scaled over its own."""
    attack = stem.removeprefix("UNSW_NB15_traintest_")
    normals = np.random.default_rng(0).random((NORMALS, 3))
    anomalies = 1 + np.random.default_rng(len(stem)).random((ATTACKS.get(attack, 4), 3))
    X = np.concatenate([normals, anomalies])
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), np.repeat([0, 1], [len(normals), len(anomalies)])


def packed(name):
    """The content of a generated file, packed as its name says."""
    stem = name.split(".")[0]
    X, y = rows_of(stem)
    if ".svm" in name:
        lines = [f"{label} 1:{a:.6f} 2:{b:.6f} 3:{c:.6f}\n" for (a, b, c), label in zip(X, y)]
        return zip_bytes((f"{stem}.svm", "".join(lines)))
    content = write_as_authors(["a", "b", "c"], X, y)
    if name.endswith(".zip"):
        return zip_bytes((f"{stem}.csv", content.decode()))
    return tar_bytes([(f"{stem}.csv", content)], lzma.compress) if name.endswith(".tar.xz") else content


@pytest.fixture
def trees(server, monkeypatch):
    """The server with the authors' trees, at their public address as far as the project can see."""
    monkeypatch.delenv("PRENET_DATA", raising=False)
    contents = {line.file: packed(line.file) for line in AUTHORS_FILES}
    lines = [replace(line, git_blob=git_blob_id(contents[line.file]), sha256="") for line in AUTHORS_FILES]
    server.files = {unquote(line.address.removeprefix(GITHUB)): contents[line.file] for line in lines}
    monkeypatch.setattr(row_order, "AUTHORS_FILES", lines)
    digests = {line.file: line.digests for line in lines}
    for name, entry in DATA_SETS.items():
        anomalies = {"bac": 3, "dos": 5, "fuz": 2, "rec": 4, "unsw": 14}.get(name, 4)
        pinned = [[replace(file, digests=digests) for file in recipe.files] for recipe in entry.recipes]
        recipes = [replace(recipe, files=files) for recipe, files in zip(entry.recipes, pinned)]
        small = replace(entry, rows=NORMALS + anomalies, features=3, recipes=recipes, pypi=None)
        monkeypatch.setitem(DATA_SETS, name, small)
    serve_instead_of(GITHUB, server, monkeypatch)
    return server


def test_with_a_network_every_data_set_comes_out_exact(trees, tmp_path):
    assert data_prep.main(["--data-dir", str(tmp_path)]) == 0
    table = pd.read_csv(tmp_path / "manifest.csv", index_col="name")
    assert (table.loc[[*SEEN_SETS, "unsw"], "status"] == "exact").all()
    assert table.loc[list(SEEN_SETS), "order"].str.startswith("proved: git blob ").all()
    # the authors' files of several seen classes are on a Google Drive only; those of one class are enough
    assert table.loc["unsw", "source"] == ";".join(
        f"UNSW_NB15_traintest_{attack}.csv.zip" for attack in ("Backdoor", "DoS", "Reconnaissance", "Fuzzers")
    )
    assert load_data("rec,fuz->dos", tmp_path).size == NORMALS + 4 + 2 + 5
    assert set(trees.asked) <= set(trees.files)  # no address leads nowhere
    # each data set's file once, of the tree that is named first
    assert len(trees.asked) == len(set(trees.asked)) == 12
    assert data_prep.main(["--data-dir", str(tmp_path)]) == 0 and len(trees.asked) == 12  # nothing to fetch


def test_a_mirror_serves_what_the_first_tree_lost(trees, tmp_path):
    lost = [path for path in trees.files if path.startswith("/mala-lab/")]
    for path in lost:
        del trees.files[path]
    for path in [path for path in trees.files if path.startswith("/GuansongPang/deviation-network")]:
        trees.files[path] = b"<html>This repository is blocked here</html>"
    data_prep.main(["--data-dir", str(tmp_path)])
    table = pd.read_csv(tmp_path / "manifest.csv", index_col="name")
    found = table.index[table["status"] == "exact"]
    assert list(found) == ["donors", "census", "fraud", "celeba", "bac", "campaign", "thyroid"]
