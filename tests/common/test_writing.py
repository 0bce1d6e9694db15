"""Files that are written whole: what is no regular file, and what a link points to."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from drivers import ROOT

from weakly.errors import DataError
from weakly.writing import copy_aside, is_standard_output, is_written_through, refuse_source, written_whole


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


def test_a_fifo_stays_one_and_is_written_to(tmp_path):
    fifo, read = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()), daemon=True)
    reader.start()
    write(fifo)
    reader.join(timeout=10)
    assert read == [b"new"] and stat.S_ISFIFO(fifo.lstat().st_mode) and is_written_through(fifo)
    assert os.listdir(tmp_path) == ["fifo"]


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


@pytest.mark.parametrize("name, reason", [("loop", "symbolic links"), ("folder", "Is a directory")])
def test_a_link_to_itself_and_a_folder_are_refused(tmp_path, name, reason):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match=f"{name} cannot be written: .*{reason}"):
        write(tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["folder", "loop"]


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


@pytest.mark.parametrize("n_characters", [10, 10**6])  # less and more than what Python buffers
def test_a_command_ends_quietly_when_nobody_reads_on(n_characters):
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        write(f"/dev/fd/{writing}")
    code = f"""import argparse
from weakly.command_line import user_errors_end
with user_errors_end(argparse.ArgumentParser()):
    print("x" * {n_characters})
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, timeout=60)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
