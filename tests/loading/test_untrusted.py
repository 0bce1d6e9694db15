"""Damaged and forged files for data_prep.py and detect.py: each gives a right result or one clear sentence.

Never a traceback, a warning, a hang, a file elsewhere, or anything executed. The memory that bombs take is
measured at the end, in processes of their own. test_data_prep.py has more kinds of bad tables.
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
import pandas as pd
import pytest
from archives import BANK_COLUMNS, npz_bytes, tar_bytes, zip_bytes
from event_tables import events, model_of_events

import data_prep
import detect
import xgbod
from weakly.environment import peak_bytes
from weakly.loading import files
from weakly.loading.arrays import load_data
from weakly.own_data.models import save_model

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


def bank_csv():
    nominal = [*range(1, 10), 14]
    rows = [[f'"{"xyz"[(i + j) % 3]}"' if j in nominal else f"{i / 8}" for j in range(20)] for i in range(8)]
    rows = [[*row, '"yes"' if i % 3 else '"no"'] for i, row in enumerate(rows)]
    return "".join(";".join(row) + "\n" for row in [BANK_COLUMNS, *rows]).encode()


# ---------------------------------------------------------------------------- running the programs


def all_paths(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def attempt(main, arguments, folder):
    """Run a program in this process; its exit code, after looking at all that must not happen.

    `folder`/out is where it may write.
    """
    before, start = all_paths(folder), time.monotonic()
    out, err = io.StringIO(), io.StringIO()
    with (
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # Python shows none
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code
    assert not warned, str(warned[0])
    assert time.monotonic() - start < SECONDS and not Path("executed").exists()
    lines = [line for line in err.getvalue().split("\n") if line and not line.startswith("Preparing ")]
    assert code in (0, 1, 2) and len(lines) == (code > 0) and "Traceback" not in err.getvalue(), (code, lines)
    assert all(line.isprintable() and line.endswith((".", "...")) and len(line) < 3_000 for line in lines), (
        lines
    )
    unchanged = [path for path in before if not path.startswith("out")]
    assert [path for path in all_paths(folder) if not path.startswith("out")] == unchanged
    return code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the places for sources and for output, and files around them that nothing may touch."""
    folder = tmp_path_factory.mktemp("untrusted")
    for name in ("x", "etc/x", "source/partial/x"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("sentinel")
    return folder


def prepare(folder, name, path, content):
    """data_prep.py on a file; the PreparedData, or None if it refused it with one sentence."""
    out, source = folder / "out", folder / "source" / path
    shutil.rmtree(out, ignore_errors=True)
    source.write_bytes(content)
    try:
        command = f"--offline --data-dir {out} --datasets {name} --source {folder}/source"
        code = attempt(data_prep.main, command.split(), folder)
    finally:
        source.unlink()
    if code:
        assert not (out / "prepared" / name).exists() and not list(out.glob("prepared/.*"))
        return None
    data = load_data(name, out)
    values = data.X if isinstance(data.X, np.ndarray) else data.X.data
    assert data.X.dtype == np.float32 and np.isfinite(values).all() and set(data.y) == {0, 1}
    return data


# ---------------------------------------------------------------------------- data_prep.py

CELLS = ["", "nan", "1e999", "1e-400", "0x1F", "1_000", "9" * 400, '"', '"a\nb"', "#", "\x1b[31m", "x" * 9000]


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
    "bank": ("campaign", "partial/bank-additional.zip", zip_bytes(
        ("bank-additional/bank-additional-full.csv", bank_csv()))),
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
    "no columns": npy(np.zeros((12, 0))),
    "a number": npy(np.float64(1)),
    "text": npy(np.array(["a"] * 12)),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_forged_npz(folder, kind):
    for name in ("X.npy", "y.npy"):
        arrays = {"X.npy": npy(MATRIX), "y.npy": npy(LABELS.astype(int))} | {name: ARRAYS[kind]}
        assert prepare(folder, "celeba", CELEBA, zip_bytes(*arrays.items())) is None


# ---------------------------------------------------------------------------- detect.py

MODELS = ["prenet", "xgbod"]  # one of networks, one of trees


@pytest.fixture(scope="module")
def models(folder):
    """Models of the methods of MODELS, as the bytes of their files; XGBOD has two small forests."""
    table = events(200)
    known = (table["fraud"] == "1") | (table.index % 23 == 1)  # wrong ones, too: trees are more than stumps
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xgbod, "FOREST_TREES", (5, 10))
        for method in MODELS:
            model = model_of_events(method, table, known.to_numpy(int))
            save_model(folder / f"{method}.model", model)
    return {method: (folder / f"{method}.model").read_bytes() for method in MODELS}


ODD_TABLES = {
    "empty": b"",
    "a line break": b"\n",
    "no names": b",,,\n1,2,3,4\n",
    "a quote": b'"',
    "called Parquet": b"PAR1" + EVENTS,
    "old line ends": EVENTS.replace(b"\n", b"\r"),
    "UTF-16": EVENTS.decode().encode("utf-16"),
    "tabs": EVENTS.replace(b",", b"\t"),
    "an open quote": EVENTS + b'1,"',
    "only labels": b"fraud\n1\n0\n",
    "a zero byte": EVENTS[:300] + b"\0" + EVENTS[300:],
    "a cut gzip": gzip.compress(EVENTS)[:-20],
    "a cut zip": zip_bytes(("events.csv", EVENTS))[:-20],
    "longer rows": EVENTS.replace(b"\n", b",1,2,3\n"),
    "a control character": EVENTS.replace(b"1", b"\x1b[2J", 1),
}


@pytest.mark.parametrize("kind", ODD_TABLES)
def test_odd_tables_are_scored_or_refused(folder, models, kind):
    (folder / "table.csv").write_bytes(ODD_TABLES[kind])
    (folder / "out").mkdir(exist_ok=True)
    output = folder / "out" / "scores.csv"
    output.unlink(missing_ok=True)
    command = f"score {folder}/table.csv --model {folder}/prenet.model --output {output} --contamination 0.1"
    code = attempt(detect.main, command.split(), folder)
    assert output.exists() == (code == 0)
    if code == 0:
        assert np.isfinite(pd.read_csv(output)["score"]).all()


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


def zipped(name, block, times):
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w") as file,
    ):
        for _ in range(times * len(block) >> 20):
            file.write(block * (2**20 // len(block)))
    return buffer.getvalue()


def with_declared_size(data, size):
    """A zip archive whose headers tell another size of its first member."""
    for mark, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        place = data.index(mark) + offset
        data = data[:place] + struct.pack("<I", size) + data[place + 4 :]
    return data


def prepared_bombs():
    """{what: data set, name of its file, content, what is said about it}."""
    row, text = b"0.5,0.5,0.5,1\n", b"x" * 999 + b"\n"
    header, table = b"a,b,c,class\n", f"{THYROID}.csv"
    lying = with_declared_size(zipped("a.csv", row, SIZE // len(row)), 100)
    quote = gzipped((header, 1), (b'"', 1), (text, SIZE // 1_000))
    endless, promised = "a line of more than 16,777,216 bytes", npy_header((10**6, 10**6), "<f8")
    arrays = zip_bytes(("X.npy", promised), ("y.npy", npy(LABELS)))
    return {
        "many rows": ("thyroid", f"{table}.gz", gzipped((header, 1), (row, 2**23)), "GiB of memory"),
        "an endless line": ("thyroid", f"{table}.gz", gzipped((b"1", SIZE)), endless),
        "zero bytes": ("thyroid", f"{table}.zip", zipped("a.csv", b"\0", SIZE), "zero byte"),
        "a lying size": ("thyroid", f"{table}.zip", lying, "is damaged"),
        "an endless quote": ("thyroid", f"{table}.gz", quote, "GiB of memory"),
        "too wide": ("thyroid", table, b"a," * 100_000 + b"class\n", "more than 2,048 cells"),
        "a promised array": ("celeba", CELEBA, arrays, "GiB of memory"),
        "a large array": ("celeba", CELEBA, zipped("X.npy", b"\1", SIZE), "GiB of memory"),
        "many features": ("news20", NEWS20, SVM + b"1 2147483646:1\n", "2,147,483,646 features"),
    }


def detect_bombs():
    """{what: the table, the model, what is said about them}; None where the other one is good."""
    header, row = EVENTS.splitlines(keepends=True)[:2]
    bomb, long_line = zipped("about.json", b" ", SIZE), "a line of more than 16,777,216 bytes"
    large_cells = gzipped((header, 1), (row.replace(b"v1", b"x" * 2**19), 2**10))
    quote = gzipped((header, 1), (b'"', 1), (row, SIZE // len(row)))
    return {
        "an endless line": (gzipped((header, 1), (b"1", SIZE)), None, long_line),
        "an endless first line": (gzipped((b"a", SIZE)), None, long_line),
        "a large cell": (header + b"1," * 7 + b"x" * 10**8 + b"\n", None, long_line),
        "large cells": (large_cells, None, "GiB of memory"),
        "an endless quote": (quote, None, "GiB of memory|a quote in line 2 is not closed"),
        "too wide": (b",".join(b"%d" % i for i in range(100_000)) + b"\n", None, "more than 10,000 cells"),
        "row names": (b"fraud\n" + b"1," * 9_998 + b"1\n", None, "more cells"),
        "many rows": (gzipped((header, 1), (row, 2**22)), None, "GiB of memory"),
        "a large description": (None, bomb, "expands to more than"),
        "a lying size": (None, with_declared_size(bomb, 100), "GiB of memory|is damaged"),
        "many members": (None, zip_bytes(*((str(i), b"") for i in range(20_000))), "bad is .*"),
    }


def bomb_commands(folder):
    """[(what, program, its arguments, path of the bomb, the bomb, what is said about it)]."""
    commands = []
    for what, (name, path, content, expected) in prepared_bombs().items():
        command = f"--offline --data-dir {folder}/out --source {folder}/source --datasets {name}"
        path = folder / "source" / path
        commands.append((f"prepared: {what}", data_prep.main, command.split(), path, content, expected))
    for what, (table, model, expected) in detect_bombs().items():
        command = f"fit {folder}/bad --label fraud --model {folder}/out/model"
        if model:
            command = f"score {folder}/good.csv --model {folder}/bad"
        content = model or table
        commands.append((f"detect: {what}", detect.main, command.split(), folder / "bad", content, expected))
    return commands


def drop_bombs(folder):
    """Give all of them to the programs, print what they say and what the process took: one of its own."""
    import resource  # not on all systems

    files.MEMORY_LIMIT = BOUND
    folder, said = Path(folder), {}
    (folder / "source" / "partial").mkdir(parents=True)
    commands = bomb_commands(folder)
    (folder / "good.csv").write_bytes(EVENTS)
    base = peak_bytes()
    for what, main, arguments, path, content, expected in commands:
        path.write_bytes(content)
        start, before = time.monotonic(), resource.getrlimit(resource.RLIMIT_DATA)
        err = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            try:
                code = main(arguments)
            except SystemExit as stop:
                code = stop.code
        assert resource.getrlimit(resource.RLIMIT_DATA) == before
        path.unlink()
        peak = peak_bytes()
        said[what] = (code, err.getvalue(), expected, time.monotonic() - start, peak)
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
