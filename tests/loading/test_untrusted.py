"""Damaged and forged files for data_prep.py, and bombs for it and detect.py.

Each gives a right result or one clear sentence: never a traceback, a warning, a hang, a file elsewhere, or
anything executed. test_data_prep.py and tests/own_data have more kinds of bad tables.
"""

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from archives import npz_bytes, tar_bytes, zip_bytes
from event_tables import events

import data_prep
import detect
from weakly.environment import peak_bytes
from weakly.loading import files
from weakly.loading.arrays import load_data

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent.parent
SECONDS = 30  # for one input, on a machine that is busy with other things
RNG = np.random.default_rng(0)
MATRIX = np.round(RNG.random((12, 3)), 3)
LABELS = np.arange(12) % 3 == 0
ROWS = [[*row, int(label)] for row, label in zip(MATRIX.tolist(), LABELS)]
TABLE = "".join(",".join(map(str, line)) + "\n" for line in [["a", "b", "c", "class"], *ROWS]).encode()
SVM = "".join(f"{row[3]} 1:{row[0]} {3 + i}:{row[1]} 40:{row[2]}\n" for i, row in enumerate(ROWS)).encode()
EVENTS = events(60).to_csv(index=False).encode()
THYROID = "partial/annthyroid_21feat_normalised"
CELEBA, NEWS20 = "partial/8_celeba.npz", "partial/news20_5Per_Otl.svm"


def all_paths(folder):
    """What is below a folder, but for `out`, where the programs may write."""
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
    return [path for path in paths if not path.startswith("out")]


def run(main, arguments):
    """Run a program in this process: its exit code and what it says on standard error."""
    err = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code
    return code, err.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the places for sources and for output, around which nothing may appear."""
    folder = tmp_path_factory.mktemp("untrusted")
    (folder / "source" / "partial").mkdir(parents=True)
    return folder


def prepare(folder, name, path, content):
    """data_prep.py on a file; the PreparedData, or None if it refused it with one sentence."""
    out, source = folder / "out", folder / "source" / path
    shutil.rmtree(out, ignore_errors=True)
    before, start = all_paths(folder), time.monotonic()
    source.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)  # Python shows none
        command = f"--offline --data-dir {out} --datasets {name} --source {folder}/source"
        code, err = run(data_prep.main, command.split())
    source.unlink()
    assert time.monotonic() - start < SECONDS and not Path("executed").exists()
    assert all_paths(folder) == before
    lines = [line for line in err.split("\n") if line and not line.startswith("Preparing ")]
    assert len(lines) == code <= 1 and "Traceback" not in err, (code, lines)
    assert all(line.isprintable() and line.endswith(".") and len(line) < 3_000 for line in lines), lines
    if code:
        assert not (out / "prepared" / name).exists() and not list(out.glob("prepared/.*"))
        return None
    data = load_data(name, out)
    values = data.X if isinstance(data.X, np.ndarray) else data.X.data
    assert data.X.dtype == np.float32 and np.isfinite(values).all() and set(data.y) == {0, 1}
    return data


CELLS = ["", "nan", "1e999", "1e-400", "0x1F", "9" * 400, '"', '"a\nb"', "\x1b[31m", "x" * 9000]


@pytest.mark.parametrize("cell", CELLS)
def test_odd_cells(folder, cell):
    """A table with an odd cell is refused, or read as Python's own reader reads it."""
    changed = TABLE.decode().replace(f"{MATRIX[4, 1]}", cell).encode()
    data = prepare(folder, "thyroid", f"{THYROID}.csv", changed)
    if data:
        lines = [line for line in csv.reader(io.StringIO(changed.decode(), newline="")) if line][1:]
        np.testing.assert_allclose(data.X, np.array(lines, float)[:, :3].astype(np.float32))


PACKED = {
    "npz": ("celeba", CELEBA, npz_bytes(X=MATRIX, y=LABELS.astype(int))),
    "tar.xz": ("thyroid", f"{THYROID}.tar.xz", tar_bytes([("a.csv", TABLE), ("b", b"words")], lzma.compress)),
    "svm.bz2": ("news20", f"{NEWS20}.bz2", bz2.compress(SVM)),
    "zip": ("thyroid", f"{THYROID}.zip", zip_bytes(("folder/a.csv", TABLE), ("read.me", b"words"))),
}  # fmt: skip


@pytest.mark.parametrize("kind", PACKED)
def test_damaged_archive(folder, kind):
    """Whatever came through has a right checksum, so it is the whole table; npz has one too."""
    name, path, content = PACKED[kind]
    whole = prepare(folder, name, path, content)
    expected = whole.X.copy()
    for place in np.linspace(0, len(content) - 1, 4).astype(int):
        flipped = content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]
        for changed in (flipped, content[:place], content[:place] + content[place + 5 :]):
            data = prepare(folder, name, path, changed)
            if data:
                assert data.X.shape == expected.shape and abs(data.X - expected).max() == 0


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
    "overflow": npy_header((2**62, 4), "<f8", 8),
    "structured": npy_header((12, 3), [("a", "<f8")], 288),
    "nothing": b"",
    "text": npy(np.array(["a"] * 12)),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_forged_npz(folder, kind):
    for name in ("X.npy", "y.npy"):
        arrays = {"X.npy": npy(MATRIX), "y.npy": npy(LABELS.astype(int))} | {name: ARRAYS[kind]}
        assert prepare(folder, "celeba", CELEBA, zip_bytes(*arrays.items())) is None


# ---------------------------------------------------------------------------- bombs

BOUND = 2**28  # bytes of memory in these tests, in place of 8 GiB
SIZE = 5 * 2**26  # what a bomb expands to: more than the bound, less than SIZE_LIMIT


def gzipped(*pieces):
    """A .gz file of (piece, how often): members of about a megabyte, for which it need not all be packed."""
    packed = b""
    for piece, times in pieces:
        together = min(times, max(1, 2**20 // len(piece)))
        packed += gzip.compress(piece * together, 1) * (times // together)
    return packed


def lying_zip(name, block):
    """A zip archive of a bomb whose headers tell a size of 100 bytes; never whole in memory."""
    buffer = io.BytesIO()
    archive = zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with archive, archive.open(name, "w") as file:
        for _ in range(SIZE // len(block)):
            file.write(block)
    data = buffer.getvalue()
    for mark, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        place = data.index(mark) + offset
        data = data[:place] + struct.pack("<I", 100) + data[place + 4 :]
    return data


def bombs(folder):
    """{what: (program, its arguments, path of the bomb, the bomb, what is said about it)}."""
    row, header, endless = b"0.5,0.5,0.5,1\n", b"a,b,c,class\n", "a line of more than 16,777,216 bytes"
    quote = gzipped((header, 1), (b'"', 1), (b"x" * 999 + b"\n", SIZE // 1_000))
    arrays = zip_bytes(("X.npy", npy_header((10**6, 10**6), "<f8")), ("y.npy", npy(LABELS)))
    prepared = {
        "many rows": ("thyroid", f"{THYROID}.csv.gz", gzipped((header, 1), (row, 2**23)), "GiB of memory"),
        "a lying size": ("thyroid", f"{THYROID}.csv.zip", lying_zip("a.csv", row * 2**16), "is damaged"),
        "an endless quote": ("thyroid", f"{THYROID}.csv.gz", quote, "GiB of memory"),
        "a promised array": ("celeba", CELEBA, arrays, "GiB of memory"),
        "many features": ("news20", NEWS20, SVM + b"1 2147483646:1\n", "2,147,483,646 features"),
    }
    header, row = EVENTS.splitlines(keepends=True)[:2]
    large_cells = gzipped((header, 1), (row.replace(b"v1", b"x" * 2**19), 2**10))
    fit, score = f"fit {folder}/bad --label fraud --model {folder}/model", f"score {folder}/good.csv --model"
    detected = {
        "an endless line": (fit, gzipped((header, 1), (b"1", SIZE)), endless),
        "a large cell": (fit, header + b"1," * 7 + b"x" * 10**8 + b"\n", endless),
        "large cells": (fit, large_cells, "GiB of memory"),
        "a model": (f"{score} {folder}/bad", lying_zip("about.json", b" " * 2**20), "GiB of|is damaged"),
    }
    command = f"--offline --data-dir {folder}/out --source {folder}/source --datasets"
    return {
        what: (data_prep.main, f"{command} {name}", folder / "source" / path, content, expected)
        for what, (name, path, content, expected) in prepared.items()
    } | {what: (detect.main, command, folder / "bad", *bomb) for what, (command, *bomb) in detected.items()}


def drop_bombs(folder):
    """Give all of them to the programs, print what they say and what the process took: one of its own."""
    import resource  # not on all systems

    files.MEMORY_LIMIT = BOUND
    folder, said = Path(folder), {}
    (folder / "source" / "partial").mkdir(parents=True)
    (folder / "good.csv").write_bytes(EVENTS)
    dropped, base = bombs(folder), peak_bytes()
    for what, (main, arguments, path, content, expected) in dropped.items():
        path.write_bytes(content)
        start, before = time.monotonic(), resource.getrlimit(resource.RLIMIT_DATA)
        code, err = run(main, arguments.split())
        assert resource.getrlimit(resource.RLIMIT_DATA) == before
        path.unlink()
        said[what] = (code, err, expected, time.monotonic() - start, peak_bytes())
    print(json.dumps([said, base]))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
def test_bombs_stay_within_the_bound(tmp_path):
    code = "import sys; sys.path[:0] = sys.argv[2:]; import test_untrusted as t; t.drop_bombs(sys.argv[1])"
    paths = [tmp_path, ROOT, ROOT / "tests", ROOT / "tests" / "loading"]
    command = [sys.executable, "-c", code, *map(str, paths)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    said, base = json.loads(result.stdout.splitlines()[-1])
    for what, (code, err, expected, seconds, peak) in said.items():
        assert code in (1, 2) and re.search(expected, err) and "Traceback" not in err, (what, err)
        assert seconds < 30 and peak < base + BOUND + 2**26, (what, seconds, peak >> 20)
