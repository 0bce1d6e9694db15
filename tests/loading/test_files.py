"""Tests of weakly/loading/files.py: every packing opens, every damage is told in a sentence."""

import bz2
import gzip
import lzma
import zipfile

import pytest
from archives import CONTENT, all_files, tar_bytes, zip_bytes

from weakly.errors import DataError
from weakly.loading import files

ENTRIES = [("folder/a.csv", CONTENT), ("folder/read.me", b"words"), ("__MACOSX/._a.csv", b"2")]
FORMATS = {
    "a.csv": CONTENT,
    "A.CSV.GZ": gzip.compress(CONTENT),
    "a.csv.bz2": bz2.compress(CONTENT),
    "a.csv.xz": lzma.compress(CONTENT),
    "a.zip": zip_bytes(*ENTRIES),
    "a.tar.gz": tar_bytes(ENTRIES),
    "a.tar.xz": tar_bytes(ENTRIES, lzma.compress),
}


def write(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


def read(path, member=None):
    with files.open_data_file(path, member) as stream:
        return stream.read()


@pytest.mark.parametrize("name", FORMATS)
def test_round_trip_and_bomb(tmp_path, monkeypatch, name):
    path = write(tmp_path, name, FORMATS[name])
    assert read(path) == CONTENT and all_files(tmp_path) == [name]
    if ".tar" not in name:
        monkeypatch.setattr(files, "SIZE_LIMIT", len(CONTENT))  # is not one byte short
        assert read(path) == CONTENT
    monkeypatch.setattr(files, "SIZE_LIMIT", 5000)
    with pytest.raises(DataError, match="expands to more than 5000 bytes"):
        read(path)


@pytest.mark.parametrize("name", ["a.zip", "a.tar.gz"])
def test_named_member(tmp_path, name):
    path = write(tmp_path, name, FORMATS[name])
    assert read(path, "read.me") == read(path, "folder/read.me") == b"words"
    with pytest.raises(DataError, match="exactly one b.csv, but holds 0|holds no b.csv"):
        read(path, "b.csv")
    with pytest.raises(DataError, match="exactly one data file, but holds 2"):
        read(write(tmp_path, "b.zip", zip_bytes(("a.csv", b"1"), ("b.data", b"2"))))
    with zipfile.ZipFile(tmp_path / "c.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("../a.csv", CONTENT)
    with pytest.raises(DataError, match="unsupported compression"):
        read(tmp_path / "c.zip")
