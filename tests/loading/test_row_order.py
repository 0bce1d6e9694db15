"""The authors' row order, proved by the git blob ids of their files: row_order.py."""

import hashlib
import subprocess
import zipfile
from urllib.parse import unquote

import data_prep
from weakly.loading import readers
from weakly.loading.arrays import load_data
from weakly.loading.registry import ADBENCH_FILES, CREDITCARD_URL, DATA_SETS, KNOWN_SETS
from weakly.loading.row_order import AUTHORS_FILES, git_blob_id, java_random, weka_order, write_as_authors

BLOBS = {line.file: line.git_blob for line in AUTHORS_FILES}
CAMPAIGN, CELEBA = "bank-additional-full_normalised.csv", "celeba_baldvsnonbald_normalised.csv"
BANK_CSV = "bank-additional/bank-additional-full.csv"
CELEBA_NAMES = [f"A{number}" for number in range(39)]


def bank_names(path):
    return readers.bank_names(readers.bank_table(path).drop(columns="y"))


def written(data, names, file):
    """Prepared data written as the authors write it: their file, as its id shows."""
    content = write_as_authors(names, data.X, data.y)
    assert git_blob_id(content) == BLOBS[file]
    sums = {line.sha256 for line in AUTHORS_FILES if line.file == file}
    assert sums == {hashlib.sha256(content).hexdigest()}
    assert (data.status, data.order) == ("exact", f"proved: git blob {BLOBS[file][:12]}")
    return content


def prepare(name, source, data_dir):
    command = f"--offline --source {source} --data-dir {data_dir} --datasets {name}"
    assert data_prep.main(command.split()) == 0
    return load_data(name, data_dir)


def test_blob_id_is_gits():
    answer = subprocess.check_output(["git", "hash-object", "--stdin"], input=b"a,class\r\n")
    assert git_blob_id(b"a,class\r\n") == answer.decode().strip()


def test_random_numbers_are_those_of_java():
    """Values that java.util.Random of OpenJDK 17 printed.

    2**30 + 1 is a bound at which half of the draws are repeated.
    """
    bounds = [10, 7, 16, 1000, 3, 2**30 + 1, 2**30 + 1, 2**30 + 1, 2, 100, 41188, 1]
    drawn = [0, 5, 10, 884, 0, 595021505, 196118093, 969067502, 0, 92, 4600, 0]
    assert list(java_random(42, bounds)) == drawn
    assert list(java_random(0, [100] * 3)) == [60, 48, 29]
    # the loop of Weka's Instances.randomize, run by Java
    assert weka_order(12).tolist() == [0, 1, 6, 7, 3, 5, 10, 11, 9, 8, 4, 2]
    assert weka_order(1).tolist() == [0] and weka_order(0).tolist() == []
    # java.util.Random(42) gives 1562431130 (% 3 = 2) and 117392763 (its upper bit is 0)
    assert weka_order(3).tolist() == [1, 0, 2]


def test_campaign_is_the_authors_file_byte_for_byte(real_data, prepared_dir, tmp_path):
    """The prepared table, written as they write it, has the id of their file: all of it is theirs."""
    data = prepare("campaign", real_data, prepared_dir)
    content = written(data, bank_names(real_data / "bank-additional.zip"), CAMPAIGN)
    # their file, where it can be had, gives the same arrays, and so does ADBench's
    (tmp_path / CAMPAIGN).write_bytes(content)
    for source in (tmp_path, real_data / "adbench"):
        same = prepare("campaign", source, tmp_path / "dataset")
        assert (same.fingerprint, same.order) == (data.fingerprint, data.order)


def test_celeba_of_adbench_is_the_authors_file_byte_for_byte(real_data, prepared_dir):
    written(prepare("celeba", real_data, prepared_dir), CELEBA_NAMES, CELEBA)


def test_bank_file_in_another_order(real_data, tmp_path, capsys):
    """Its rows can't be brought into the authors' order: they stay as they are, and that is said."""
    with zipfile.ZipFile(real_data / "bank-additional.zip") as archive:
        header, *lines = archive.read(BANK_CSV).decode().splitlines(keepends=True)
    (tmp_path / "bank-additional-full.csv").write_text("".join([header, *reversed(lines)]))
    data = prepare("campaign", tmp_path, tmp_path / "dataset")
    assert (data.status, data.order) == ("exact", "the source's own")
    assert data.y.tolist() == [int('"yes"' in line.rpartition(";")[2]) for line in reversed(lines)]
    assert "campaign: the rows may not be in the authors' order" in capsys.readouterr().err


def test_every_public_file_is_used_and_pinned():
    files = [file for entry in KNOWN_SETS.values() for recipe in entry.recipes for file in recipe.files]
    listed = {line.address for line in (*AUTHORS_FILES, *ADBENCH_FILES)}
    used = {address for file in files for address in file.addresses}
    assert used == {*listed, CREDITCARD_URL} and all(address.startswith("https://") for address in used)
    assert len(AUTHORS_FILES) == 24
    # one id in all repositories
    assert {line.file: line.git_blob for line in reversed(AUTHORS_FILES)} == BLOBS
    for file in files:
        assert {unquote(url).rpartition("/")[2] for url in file.addresses} == {*file.digests} <= {*file.names}
        for name in {*file.names} & {*BLOBS}:
            assert file.digests[name]["git blob id"] == BLOBS[name] and len(BLOBS[name]) == 40
    for name, file in (("campaign", CAMPAIGN), ("celeba", CELEBA)):
        assert DATA_SETS[name].order == f"proved: git blob {BLOBS[file][:12]}"
