"""Tests of weakly/loading/files.py: every packing opens, every damage is told in a sentence."""

import bz2
import gzip
import lzma
import sys
import tarfile
import zipfile

import pytest
from archives import CONTENT, all_files, odd_entry, tar_bytes, zip_bytes

from weakly.errors import DataError
from weakly.loading import files
from weakly.loading.files import open_data_file

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


def read(path, member=None, **settings):
    with open_data_file(path, member, **settings) as stream:
        return stream.read()


@pytest.mark.parametrize("name", FORMATS)
def test_round_trip_and_bomb(tmp_path, name):
    path = write(tmp_path, name, FORMATS[name])
    assert read(path) == read(str(path), limit=10**6) == CONTENT
    assert all_files(tmp_path) == [name]
    with pytest.raises(DataError, match="expands to more than 5000 bytes"):
        read(path, limit=5000)
    if ".tar" not in name:
        assert read(path, limit=len(CONTENT)) == CONTENT  # the limit is not one byte short


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


def test_unreadable_files_errors_of_the_caller_and_odd_entries(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(DataError, match="cannot be read"):
            read(path)
    path = write(tmp_path, "a.tar.xz", FORMATS["a.tar.xz"])
    with pytest.raises(OSError, match="mine"), open_data_file(path):
        raise OSError("mine")
    odd = [odd_entry("folder", tarfile.DIRTYPE), odd_entry("b.csv", tarfile.SYMTYPE, "/etc/passwd")]
    odd += [odd_entry("c.csv", tarfile.CHRTYPE)]
    assert read(write(tmp_path, "a.tar.gz", tar_bytes([*odd, ("folder/a.csv", CONTENT)]))) == CONTENT


def test_lines_are_followed_from_block_to_block(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LINE_LIMIT", 300_000)  # a block has 262,144 bytes
    assert len(read(write(tmp_path, "a.csv", b"x" * 299_999 + b"\n" + b"y" * 300_000))) == 600_000
    with pytest.raises(DataError, match="a line of more than 300,000 bytes"):
        read(write(tmp_path, "a.csv", b"x" * 200_000 + b"\n" + b"y" * 300_001))
    with pytest.raises(DataError, match="more than 2,048 cells"):
        read(write(tmp_path, "a.csv", b"x" * 261_000 + b"\n" + b"," * 1_000 + b"," * 1_100 + b"\n"))
    with pytest.raises(DataError, match="zero byte"):
        read(write(tmp_path, "a.csv", b"a,b\n1\0,2\n"))


def test_bounded_memory_says_so_and_leaves_no_limit_behind():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    message = "^a.csv needs more than 0.0625 GiB of memory.$"
    with pytest.raises(DataError, match=message), files.bounded_memory("a.csv", 2**26):
        raise MemoryError
    if sys.platform == "linux":
        with pytest.raises(DataError, match="GiB of memory"), files.bounded_memory("a.csv", 2**26):
            bytearray(2**28)
    with pytest.raises(ValueError, match="mine"), files.bounded_memory("a.csv"):
        raise ValueError("mine")
    assert resource.getrlimit(resource.RLIMIT_DATA) == before and len(bytearray(2**28)) == 2**28
