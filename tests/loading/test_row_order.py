"""The authors' row order, proved by the git blob ids of their files: row_order.py and authors_files.py."""

import hashlib
import subprocess
import zipfile

import pandas as pd

import data_prep
from loading import readers, store
from loading.authors_files import AUTHORS_FILES, git_blob_id, write_as_authors
from loading.recipes import KNOWN_DIGESTS, OTHER_SOURCES
from loading.registry import DATA_SETS
from loading.row_order import java_random, weka_order

BLOBS = {line.file: line.git_blob for line in AUTHORS_FILES}
CAMPAIGN, CELEBA = "bank-additional-full_normalised.csv", "celeba_baldvsnonbald_normalised.csv"
BANK_CSV = "bank-additional/bank-additional-full.csv"


def prepare(name, source, data_dir):
    assert (
        data_prep.main(
            ["--offline", "--source", str(source), "--data-dir", str(data_dir), "--datasets", name]
        )
        == 0
    )
    return store.load_data(name, data_dir)


def test_random_numbers_are_those_of_java():
    """Values that java.util.Random of OpenJDK 17 printed.

    2**30 + 1 is a bound at which half of the draws are repeated.
    """
    bounds = [10, 7, 16, 1000, 3, 2**30 + 1, 2**30 + 1, 2**30 + 1, 2, 100, 41188, 1]
    assert list(java_random(42, bounds)) == [
        0,
        5,
        10,
        884,
        0,
        595021505,
        196118093,
        969067502,
        0,
        92,
        4600,
        0,
    ]
    assert list(java_random(0, [100] * 3)) == [60, 48, 29]
    assert weka_order(12).tolist() == [
        0,
        1,
        6,
        7,
        3,
        5,
        10,
        11,
        9,
        8,
        4,
        2,
    ]  # the loop of Weka's Instances.randomize, run by Java
    assert weka_order(1).tolist() == [0] and weka_order(0).tolist() == []


def test_blob_id_is_gits():
    found = subprocess.run(
        ["git", "hash-object", "--stdin"], input=b"a,class\r\n", capture_output=True, check=True
    ).stdout
    assert git_blob_id(b"a,class\r\n") == found.decode().strip()


def test_campaign_is_the_authors_file_byte_for_byte(real_data, prepared_dir, tmp_path):
    """The prepared table, written as they write it, has the id of their file.

    Rows, order, columns, names and values are theirs.
    """
    data = prepare("campaign", real_data, prepared_dir)
    with zipfile.ZipFile(real_data / "bank-additional.zip") as archive, archive.open(BANK_CSV) as file:
        names = readers.bank_names(pd.read_csv(file, sep=";", keep_default_na=False).drop(columns="y"))
    content = write_as_authors(names, data.X, data.y)
    assert git_blob_id(content) == BLOBS[CAMPAIGN] == "070eccbd6d90f1bbd3ac82add35412f92cdb389a"
    assert hashlib.sha256(content).hexdigest() == KNOWN_DIGESTS[CAMPAIGN]["SHA-256"]
    assert data.order == "proved: git blob 070eccbd6d90"
    # and their file, where it can be had, gives the same arrays
    (tmp_path / CAMPAIGN).write_bytes(content)
    theirs = prepare("campaign", tmp_path, tmp_path / "dataset")
    assert (theirs.fingerprint, theirs.order) == (data.fingerprint, data.order)


def test_celeba_of_adbench_is_the_authors_file_byte_for_byte(real_data, prepared_dir):
    data = prepare("celeba", real_data, prepared_dir)
    content = write_as_authors([f"A{number}" for number in range(39)], data.X, data.y)
    assert git_blob_id(content) == BLOBS[CELEBA] == "82cfcc61a95214aabeda33e5900d70ec5a21b808"
    assert hashlib.sha256(content).hexdigest() == KNOWN_DIGESTS[CELEBA]["SHA-256"]
    assert data.order == "proved: git blob 82cfcc61a952"


def test_campaign_of_adbench_is_the_same(real_data, prepared_dir, tmp_path):
    ours = prepare("campaign", real_data, prepared_dir)
    theirs = prepare("campaign", real_data / "adbench", tmp_path)
    assert (theirs.fingerprint, theirs.order) == (ours.fingerprint, ours.order)


def test_bank_file_in_another_order(real_data, tmp_path, capsys):
    """Its rows can't be brought into the authors' order: they stay as they are, and that is said."""
    with zipfile.ZipFile(real_data / "bank-additional.zip") as archive:
        header, *lines = archive.read(BANK_CSV).decode().splitlines(keepends=True)
    (tmp_path / "bank-additional-full.csv").write_text("".join([header, *reversed(lines)]))
    data = prepare("campaign", tmp_path, tmp_path / "dataset")
    assert (data.status, data.order) == ("exact", "the source's own")
    assert data.y.tolist() == [int('"yes"' in line.rpartition(";")[2]) for line in reversed(lines)]
    assert "campaign: these rows may not be in the authors' order" in capsys.readouterr().err


# --- addresses


def test_every_address_is_one_of_the_authors_trees_or_a_named_source():
    listed = {line.address for line in AUTHORS_FILES}
    used = {
        address
        for entry in DATA_SETS.values()
        for recipe in entry.recipes
        for file in recipe.files
        for address in file.addresses
    }
    assert listed <= used  # no file of theirs is left lying
    assert all(address.startswith(OTHER_SOURCES) for address in used - listed)


def test_every_file_of_the_authors_is_pinned():
    assert len(AUTHORS_FILES) == 24
    for line in AUTHORS_FILES:
        assert KNOWN_DIGESTS[line.file]["git blob id"] == line.git_blob and len(line.git_blob) == 40
    assert {
        line.file: line.git_blob for line in reversed(AUTHORS_FILES)
    } == BLOBS  # one id for all repositories that hold it
