"""Files that are written whole: what is no regular file, and what a link points to."""

import os
import stat

import pytest

from weakly.writing import copy_aside, written_whole


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
