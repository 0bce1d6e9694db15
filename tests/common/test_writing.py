"""Files that are written whole: what is no regular file, and what a link points to."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from drivers import ROOT

from weakly.errors import DataError
from weakly.writing import copy_aside, is_standard_output, refuse_source, written_whole


def write(target, content=b"new"):
    with written_whole(target) as file:
        file.write(content)


def test_a_file_keeps_its_mode_and_is_on_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    path, events, replace = tmp_path / "file", [], os.replace
    path.touch(mode=0o600)
    monkeypatch.setattr(os, "fsync", lambda descriptor: events.append(os.fstat(descriptor).st_ino))
    monkeypatch.setattr(os, "replace", lambda *paths: events.append("named") or replace(*paths))
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and path.read_bytes() == b"new"
    copy = copy_aside(path)
    inodes = [one.stat().st_ino for one in (path, tmp_path, copy, tmp_path)]
    assert events == [inodes[0], "named", *inodes[1:]]


def test_of_a_link_the_target_is_replaced_whole(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"old")
    for name in ("file", "later"):
        (tmp_path / name).symlink_to(f"folder/{name}")
    with pytest.raises(RuntimeError), written_whole(tmp_path / "file") as file:
        file.write(b"half")
        raise RuntimeError
    assert (tmp_path / "folder" / "file").read_bytes() == b"old"
    for name in ("file", "later"):
        write(tmp_path / name)
        assert (tmp_path / name).is_symlink() and (tmp_path / "folder" / name).read_bytes() == b"new"
    assert len(os.listdir(tmp_path / "folder")) == 2  # nothing half written


def test_standard_output_by_any_name(tmp_path, monkeypatch):
    """A file that it was sent to is not replaced, because the shell holds it open."""
    code = """import sys
from weakly.writing import written_whole
for name in sys.argv[1:]:
    print("before", flush=True)
    with written_whole(name) as file:
        file.write(b"new")
    print("after", flush=True)
"""
    out, names = tmp_path / "out", ("-", "/proc/self/fd/1", tmp_path / "out")
    with open(out, "wb") as file:
        subprocess.run([sys.executable, "-c", code, *names], stdout=file, cwd=ROOT, check=True, timeout=60)
    assert out.read_bytes() == len(names) * b"before\nnewafter\n"
    monkeypatch.chdir(tmp_path)
    assert is_standard_output("-") and not is_standard_output(Path("-"))
    write(Path("-"))
    assert Path("-").read_bytes() == b"new"


def test_an_input_file_is_not_written_to(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(DataError, match="link is an input file, so it cannot be written to"):
        refuse_source(tmp_path / "link", os.stat(ROOT), os.stat(tmp_path / "file"))
    refuse_source(tmp_path / "other", os.stat(tmp_path / "file"))
    refuse_source(os.devnull, os.stat(os.devnull))
