"""Forged files for data_prep.py, and bombs for it and detect.py: one sentence, and nothing is executed.

test_data_prep.py and tests/own_data have more kinds of bad tables.
"""

import gzip
import io
import os
import struct
import subprocess
import sys

import numpy as np
import pytest
from archives import zip_bytes
from event_tables import events

import data_prep
from weakly.paths import ROOT

pytestmark = pytest.mark.slow
MATRIX, LABELS = np.random.default_rng(0).random((12, 3)), (np.arange(12) % 3 == 0).astype(int)


class Trap:
    """An object whose unpickling leaves a folder behind."""

    def __reduce__(self):
        return os.mkdir, ("executed",)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npy_header(shape, dtype, n_bytes=0):
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(n_bytes)


PICKLED = npy(np.array([Trap()], dtype=object))
ARRAYS = {
    "pickled": PICKLED,
    "pickled, called numbers": PICKLED.replace(b"'|O'", b"'<f8'"),
    "huge": npy_header((10**9, 10**9), "<f8"),
    "structured": npy_header((12, 3), [("a", "<f8")], 288),
    "nothing": b"",
    "text": npy(np.array(["a"] * 12)),
}


@pytest.mark.parametrize("place", ["X.npy", "y.npy"])
@pytest.mark.parametrize("kind", ARRAYS)
def test_forged_npz(tmp_path, monkeypatch, capsys, kind, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "source").mkdir()
    arrays = {"X.npy": npy(MATRIX), "y.npy": npy(LABELS)} | {place: ARRAYS[kind]}
    (tmp_path / "source" / "8_celeba.npz").write_bytes(zip_bytes(*arrays.items()))
    assert data_prep.main("--offline --data-dir out --datasets celeba --source source".split()) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("Preparing ")]
    (line,) = lines
    assert line.startswith("celeba: ") and line.isprintable() and line.endswith(".") and len(line) < 3_000
    assert not list((tmp_path / "out").glob("prepared/**/*.npy")) and not (tmp_path / "executed").exists()


BOUND = 2**28  # bytes of memory in this test, in place of 8 GiB


def gzipped(header, piece, times):
    """A .gz file of a header and a piece so many times: members of about a megabyte, packed once."""
    together = min(times, max(1, 2**20 // len(piece)))
    return gzip.compress(header) + gzip.compress(piece * together, 1) * (times // together)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
@pytest.mark.parametrize("kind", ["many rows", "many features", "large cells"])
def test_bombs_stay_within_the_bound(tmp_path, kind):
    header, row = events(60).to_csv(index=False).encode().splitlines(keepends=True)[:2]
    prepare = "data_prep --offline --data-dir out --source . --datasets"
    command, file, bomb, message = {
        "many rows": (f"{prepare} thyroid", "annthyroid_21feat_normalised.csv.gz",
            gzipped(b"a,b,c,class\n", b"0.5,0.5,0.5,1\n", 2**23), "GiB of memory"),
        "many features": (f"{prepare} news20", "news20_5Per_Otl.svm",
            b"0 1:1\n1 2147483646:1\n" * 2, "2,147,483,646 features"),
        "large cells": ("detect fit bad.csv.gz --label fraud --model model", "bad.csv.gz",
            gzipped(header, row.replace(b"v1", b"x" * 2**19), 2**10), "GiB of memory"),
    }[kind]  # fmt: skip
    (tmp_path / file).write_bytes(bomb)
    program, *arguments = command.split()
    code = f"from weakly.loading import files; files.MEMORY_LIMIT = {BOUND}; import {program}, sys; "
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code} sys.exit({program}.main(sys.argv[1:]))"
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert result.returncode in (1, 2) and message in result.stderr, result.stderr
    assert "Traceback" not in result.stderr
