"""dataset/croissant.json: valid Croissant, and in agreement with the registry and authors_files.csv."""

import json

import pytest

from weakly.loading.registry import DATA_SETS, PUBLIC_FILES
from weakly.loading.row_order import AUTHORS_FILES
from weakly.paths import ROOT

CROISSANT = json.loads((ROOT / "dataset" / "croissant.json").read_text())


@pytest.fixture
def records():
    """The rows of its two tables, about which mlcroissant has nothing to complain."""
    croissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    described = croissant.Dataset(jsonld=CROISSANT)
    issues = described.metadata.ctx.issues
    assert not issues.errors and not issues.warnings
    return {
        name: [{key.partition("/")[2]: row[key] for key in row} for row in described.records(name)]
        for name in ("data_sets", "files")
    }


def test_records_are_those_of_the_registry_and_the_authors(records):
    assert [row["name"] for row in records["data_sets"]] == list(DATA_SETS)
    for row in records["data_sets"]:
        entry = DATA_SETS[row["name"]]
        assert all(row[key] == getattr(entry, key) for key in ("rows", "features", "anomalies"))
        assert row["licence"] and row["licence_url"].startswith("https://") and row["citation"]
        known = (row["sha256_in_reference_runs"], row["row_order_in_reference_runs"])
        assert not entry.fingerprint or known == (entry.fingerprint, entry.order)
    kept = ("repository", "branch", "folder", "file", "git_blob", "sha256", "address")
    assert records["files"] == [{key: getattr(line, key) for key in kept} for line in AUTHORS_FILES]


def test_hashes_are_those_of_the_registry():
    known = {name: digests.get("SHA-256") for name, _, digests in PUBLIC_FILES}
    repositories = {line.repository for line in AUTHORS_FILES}
    for one in CROISSANT["distribution"]:
        assert one["name"] in repositories or one.get("sha256") == known[one["name"]]
