"""dataset/croissant.json: valid Croissant, and in agreement with the registry and authors_files.csv."""

import json

import pandas as pd
import pytest

from weakly.loading.registry import DATA_SETS
from weakly.loading.row_order import AUTHORS_FILES
from weakly.paths import ROOT

CROISSANT = json.loads((ROOT / "dataset" / "croissant.json").read_text())


@pytest.fixture(scope="module")
def records():
    """The rows of its two tables, after mlcroissant has found nothing to complain about."""
    croissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    described = croissant.Dataset(jsonld=CROISSANT)
    issues = described.metadata.ctx.issues
    assert not issues.errors and not issues.warnings

    def rows(name):
        return [
            {key.partition("/")[2]: value for key, value in row.items()} for row in described.records(name)
        ]

    return {name: rows(name) for name in ("data_sets", "files")}


def test_data_sets_are_those_of_the_registry(records):
    assert [row["name"] for row in records["data_sets"]] == list(DATA_SETS)
    for row in records["data_sets"]:
        entry = DATA_SETS[row["name"]]
        assert (row["rows"], row["features"], row["anomalies"]) == (
            entry.rows,
            entry.features,
            entry.anomalies,
        )
        assert row["licence"] and row["licence_url"].startswith("https://") and row["citation"]
        if entry.fingerprint:
            assert row["sha256_in_reference_runs"] == entry.fingerprint
            assert row["row_order_in_reference_runs"] == entry.order


def test_files_are_those_of_the_authors(records):
    kept = ("repository", "branch", "folder", "file", "git_blob", "sha256", "address")
    assert records["files"] == [{key: getattr(line, key) for key in kept} for line in AUTHORS_FILES]


def test_hashes_are_those_of_the_registry():
    known = {}
    for file in (file for entry in DATA_SETS.values() for recipe in entry.recipes for file in recipe.files):
        known |= {name: digests.get("SHA-256") for name, digests in file.digests.items()}
    described = {one["name"]: one.get("sha256") for one in CROISSANT["distribution"]}
    repositories = {line.repository for line in AUTHORS_FILES}
    assert {name: known[name] for name in described.keys() - repositories} == {
        name: sha256 for name, sha256 in described.items() if name not in repositories
    }


def test_columns_are_those_of_the_file(real_data):
    (thyroid,) = (one for one in CROISSANT["recordSet"] if one["name"] == "thyroid")
    header = pd.read_csv(real_data / "annthyroid_21feat_normalised.csv", nrows=0)
    assert [field["name"] for field in thyroid["field"]] == list(header.columns)
