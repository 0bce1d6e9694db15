"""Thousands of damaged and forged files for data_prep.py and detect.py.

Each gives a right result or one clear sentence.

Never a traceback, a warning, a hang, a file elsewhere, or anything executed. FUZZ_EXAMPLES=20000 tries that
many inputs of each kind, other ones every time; without it they are the same in every run. The memory that
bombs take is measured at the end, in processes of their own.
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
import tarfile
import time
import warnings
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from archives import BANK_COLUMNS, npz_bytes, odd_entry, tar_bytes, zip_bytes
from event_tables import KINDS, events
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import data_prep
import detect
import xgbod
from weakly.loading import files, store
from weakly.memory import peak_bytes
from weakly.own_data import event_model, fit_command, saved_models, score_command
from weakly.own_data.features import described_encoder

ROOT = Path(__file__).resolve().parent.parent.parent
CPU_SECONDS, SECONDS = (
    5,
    30,
)  # for one input; the second leaves room for a machine that is busy with other things
TRIED = (
    Counter()
)  # how many inputs of each kind were given to the programs, and how many of them were accepted


def tries(n_examples):
    wanted = int(os.environ.get("FUZZ_EXAMPLES", 0))
    return settings(max_examples=wanted or n_examples, derandomize=not wanted, database=None, deadline=None,
                    suppress_health_check=list(HealthCheck))  # fmt: skip


# ---------------------------------------------------------------------------- valid files, and their edits

RNG = np.random.default_rng(0)
MATRIX = np.round(RNG.random((12, 3)), 3)
LABELS = np.arange(12) % 3 == 0


def class_csv(n_columns=3, header=True):
    rows = [
        [*row[:n_columns], *([int(label)] if header else [])] for row, label in zip(MATRIX.tolist(), LABELS)
    ]
    lines = [["a", "b", "c"][:n_columns] + ["class"]] * header + rows
    return "".join(",".join(map(str, line)) + "\n" for line in lines).encode()


def bank_csv():
    nominal = [*range(1, 10), 14]
    rows = [[f'"{"xyz"[(i + j) % 3]}"' if j in nominal else f"{i / 8}" for j in range(20)] for i in range(8)]
    rows = [[*row, '"yes"' if i % 3 else '"no"'] for i, row in enumerate(rows)]
    return "".join(";".join(row) + "\n" for row in [BANK_COLUMNS, *rows]).encode()


def census_csv():
    rows = [
        [
            str((i * j) % 7) if j in (0, 5, 16, 17, 18, 24, 30, 39) else "? ab c"[(i + j) % 6]
            for j in range(41)
        ]
        for i in range(8)
    ]
    return "".join(
        ", ".join([*row, "50000+." if i % 3 == 0 else "- 50000."]) + "\n" for i, row in enumerate(rows)
    ).encode()


TABLE = class_csv()
SVM = "".join(
    f"{int(label)} 1:{row[0]} {3 + i}:{row[1]} 40:{row[2]}\n"
    for i, (row, label) in enumerate(zip(MATRIX.tolist(), LABELS))
).encode()
EVENTS = events(60).to_csv(index=False).encode()
BACKDOOR = {"partial/UNSW_NB15_traintest_backdoor.csv": TABLE}
THYROID = "partial/annthyroid_21feat_normalised"
PLAIN = {  # kind: data set, name of the file, its content, other files that the set needs
    "class csv": ("thyroid", f"{THYROID}.csv", TABLE, {}),
    "anomalies csv": ("dos", "partial/DoS_anomalies_only.csv", class_csv(header=False), BACKDOOR),
    "bank csv": ("campaign", "partial/bank-additional-full.csv", bank_csv(), {}),
    "census csv": (
        "census",
        "partial/census-income.data",
        census_csv(),
        {"partial/census-income.test": census_csv()},
    ),
    "svmlight": ("news20", "partial/news20_5Per_Otl.svm", SVM, {}),
}
PACKED = {
    "npz": ("celeba", "partial/8_celeba.npz", npz_bytes(X=MATRIX, y=LABELS.astype(int)), {}),
    "zip": ("thyroid", f"{THYROID}.csv.zip", zip_bytes(("folder/a.csv", TABLE), ("read.me", b"words")), {}),
    "tar.xz": ("thyroid", f"{THYROID}.tar.xz", tar_bytes([("a.csv", TABLE), ("read.me", b"words")],
        lzma.compress), {}),
    "gz": ("thyroid", f"{THYROID}.csv.gz", gzip.compress(TABLE), {}),
    "xz": ("thyroid", f"{THYROID}.csv.xz", lzma.compress(TABLE), {}),
    "svm.bz2": ("news20", "partial/news20_5Per_Otl.svm.bz2", bz2.compress(SVM), {}),
    "zip in zip": ("campaign", "partial/bank+marketing.zip",
                   zip_bytes(("bank-additional.zip", zip_bytes(("bank-additional/bank-additional-full.csv",
                       bank_csv())))), {}),
}  # fmt: skip
SEEDS = [content for _, _, content, _ in (PLAIN | PACKED).values()]

NASTY_BYTES = [
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"'",
    b",",
    b";",
    b"\n",
    b"\r",
    b"\r\n",
    b"-",
    b"\x1b[2J",
    b"\x80",
    b"PK\1\2",
    b"1e999",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\0\0\0\x80",
    b" ",
    b":",
    b"99999999999999999999:1",
    b"2147483648:1",
    b"-1:1",
    b"#",
    b"qid:1",
]
NASTY_CELLS = [
    "",
    " ",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "1e308",
    "-1e308",
    "1e999",
    "1e-400",
    "0x1F",
    "1_000",
    "1,5",
    "١٢",
    "9" * 400,
    "-0",
    "18446744073709551616",
    "-9223372036854775808",
    "True",
    "false",
    '"',
    '""',
    '"a\nb"',
    "'",
    "\\",
    "a;b",
    "a|b",
    "a\tb",
    "=1+1",
    "#",
    "NULL",
    "\ufeff1",
    "\u2028",
    "\x1b[31m",
    "\x0b",
    "\x85",
    "é" * 50,
    "x" * 9000,
    "2024-01-01",
    "yes",
    "no",
    "class",
    "2",
    "-1",
    "0.5",
    "1 2",
    "?",
]
PLACE = st.floats(0, 1, exclude_max=True)
EDITS = st.lists(
    st.tuples(st.sampled_from(["flip", "insert", "delete", "cut", "splice", "repeat", "overwrite", "bits"]),
        PLACE, PLACE,
              st.one_of(st.sampled_from(NASTY_BYTES), st.binary(min_size=1, max_size=12)),
                  st.sampled_from(SEEDS)),
    min_size=1, max_size=4,
)  # fmt: skip


def mutated(data, edits):
    """Bytes after some blind edits."""
    for kind, start, length, payload, other in edits:
        start = int(start * len(data))
        end = start + int(length**4 * (len(data) - start)) + 1
        middle = {
            "flip": bytes(byte ^ 0xFF for byte in data[start:start + 1]),
                "insert": payload + data[start:end], "delete": b"",
            "cut": b"", "splice": other[:end], "repeat": data[start:end] * 3, "overwrite": payload,
            "bits": bytes(b ^ 4 for b in data[start:start + 1]),
        }[kind]  # fmt: skip
        if kind in ("flip", "bits"):
            end = start + 1
        data = (
            data[:start]
            + middle
            + (b"" if kind == "cut" else data[start + len(payload) :] if kind == "overwrite" else data[end:])
        )
    return data


CELL_EDITS = st.lists(st.tuples(PLACE, PLACE, st.sampled_from(NASTY_CELLS),
                                st.sampled_from(["put", "put", "put", "drop", "add", "column"])),
                      min_size=1, max_size=4)  # fmt: skip


def with_other_cells(data, edits, separator):
    """A text table with some cells replaced, dropped, added, or a whole column of them."""
    lines = [line.split(separator) for line in data.decode().splitlines()]
    for row, column, cell, kind in edits:
        line = lines[int(row * len(lines))]
        place = int(column * len(line))
        if kind == "column":
            for other in lines[1:]:
                other[place : place + 1] = [cell]
        else:
            line[place : place + (kind != "add")] = [] if kind == "drop" else [cell]
    return "".join(separator.join(line) + "\n" for line in lines).encode()


# ---------------------------------------------------------------------------- running the programs


def all_paths(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def attempt(kind, main, arguments, folder):
    """Run a program in this process; its exit code, after looking at all that must not happen.

    `folder`/out is where it may write.
    """
    TRIED[kind] += 1
    before, start, cpu_start = all_paths(folder), time.monotonic(), time.process_time()
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
    assert time.process_time() - cpu_start < CPU_SECONDS and time.monotonic() - start < SECONDS
    lines = [line for line in err.getvalue().split("\n") if line and not line.startswith("Preparing ")]
    assert code in (0, 1, 2) and len(lines) == (code > 0) and "Traceback" not in err.getvalue(), (code, lines)
    assert all(line.isprintable() and line.endswith((".", "...")) and len(line) < 3_000 for line in lines), (
        lines
    )
    assert [path for path in all_paths(folder) if not path.startswith("out")] == [
        path for path in before if not path.startswith("out")
    ]
    TRIED[f"{kind}: accepted"] += code == 0
    return code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the places for sources and for output, and files around them that nothing may touch."""
    folder = tmp_path_factory.mktemp("untrusted")
    for name in ("x", "etc/x", "source/partial/x"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("sentinel")
    with pytest.MonkeyPatch.context() as patch:
        table = store.manifest_table(folder)[:0]  # made once: it takes longer than all the rest
        patch.setattr(store, "manifest_table", lambda _: table)
        yield folder


def prepare(kind, folder, name, files):
    """data_prep.py on these files {name: content}.

    The PreparedData, or None if it refused them with one sentence.
    """
    out, sources = folder / "out", folder / "source"
    shutil.rmtree(out, ignore_errors=True)
    for path, content in files.items():
        (sources / path).write_bytes(content)
    try:
        code = attempt(
            kind,
            data_prep.main,
            ["--offline", "--data-dir", str(out), "--datasets", name, "--source", str(sources)],
            folder,
        )
    finally:
        for path in files:
            (sources / path).unlink()
    assert all_paths(folder / "source") == ["partial", "partial/x"]
    assert [path for path in all_paths(out) if not path.startswith("prepared")] == [
        "manifest.csv"
    ] and not list(out.glob("prepared/.*"))
    if code:
        assert not (out / "prepared" / name).exists()
        return None
    data = store.load_data(name, out)
    values = data.X if isinstance(data.X, np.ndarray) else data.X.data
    assert data.X.dtype == np.float32 and data.X.shape[1] > 0 and np.isfinite(values).all()
    assert data.X.shape[0] == len(data.y) and set(data.y) == {0, 1}
    return data


def dense(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def text_rows(content):
    """The class CSV as Python's own reader takes it, as an array of numbers."""
    lines = [
        line
        for line in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        if line and any(cell.strip() for cell in line)
    ]
    place = lines[0].index("class")

    def number(cell):
        return {"true": 1.0, "false": 0.0}.get(cell.lower()) if cell.isalpha() else float(cell)

    numbers = [[number(cell.strip()) for cell in line] for line in lines[1:]]
    return [line[:place] + line[place + 1 :] for line in numbers], [line[place] for line in numbers]


def check_class_csv(content, data):
    X, y = text_rows(content)
    np.testing.assert_allclose(data.X, np.array(X, np.float32), rtol=1e-6)
    np.testing.assert_array_equal(data.y, y)


# ---------------------------------------------------------------------------- data_prep.py


@pytest.mark.parametrize("kind", PLAIN)
def test_damaged_text(folder, kind):
    name, path, content, others = PLAIN[kind]

    @tries(80)
    @given(EDITS)
    def check(edits):
        changed = mutated(content, edits)
        data = prepare(kind, folder, name, {**others, path: changed})
        if data and kind == "class csv":
            check_class_csv(changed, data)

    check()


@pytest.mark.parametrize("kind", PLAIN)
def test_odd_cells(folder, kind):
    name, path, content, others = PLAIN[kind]
    separator = {"bank csv": ";", "svmlight": " "}.get(kind, ",")

    @tries(80)
    @given(CELL_EDITS)
    def check(edits):
        changed = with_other_cells(content, edits, separator)
        data = prepare(kind, folder, name, {**others, path: changed})
        if data and kind == "class csv":
            check_class_csv(changed, data)

    check()


@pytest.mark.parametrize("kind", PACKED)
def test_damaged_archive(folder, kind):
    name, path, content, others = PACKED[kind]
    whole = prepare(kind, folder, name, {**others, path: content})
    expected, labels = whole.X.copy(), whole.y

    @tries(60)
    @given(EDITS)
    def check(edits):
        data = prepare(kind, folder, name, {**others, path: mutated(content, edits)})
        if data:  # a checksum stands for what came through; npz has one too
            times = len(data.y) // len(
                labels
            )  # a .bz2 file three times over is one with three times the rows
            np.testing.assert_array_equal(dense(data.X), np.tile(dense(expected), (times, 1)))
            np.testing.assert_array_equal(data.y, np.tile(labels, times))

    check()


# ---------------------------------------------------------------------------- forged archives

MEMBER_NAMES = ["../x", "a/../../x", "/etc/x", "C:\\x", "..\\x", "\\\\host\\x", "a.csv", "folder/a.csv",
    "b.csv", ".a.csv", "a.csv/", "",
                ".", "é.csv", "x" * 300,
                "a\0.csv", "a\n.csv", "\x1b.csv", "../a.csv", "X.npy", "y.npy", "format.json"]  # fmt: skip
MEMBERS = st.lists(
    st.tuples(st.sampled_from(MEMBER_NAMES), st.sampled_from([TABLE, b"", b"words", SVM])),
    min_size=1,
    max_size=4,
)
SIZES = st.sampled_from([0, 1, 2**16, 2**31 - 1, 2**31, 2**32 - 1])


@tries(80)
@given(MEMBERS,
       st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]),
       st.none() | st.tuples(st.sampled_from([b"PK\1\2", b"PK\3\4"]), st.integers(4, 45), SIZES))  # fmt: skip
def test_forged_zip(folder, members, compression, field):
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", compression) as archive:
        warnings.simplefilter("ignore")  # two members of one name
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name or "x"), content, compression)
    data = buffer.getvalue()
    if field:  # another number somewhere in a header: sizes, checksums, offsets
        mark, offset, number = field
        place = data.index(mark) + offset
        data = data[:place] + struct.pack("<I", number) + data[place + 4 :]
    found = prepare("forged zip", folder, "thyroid", {f"{THYROID}.csv.zip": data})
    if found:
        np.testing.assert_array_equal(found.X, MATRIX.astype(np.float32))


@tries(80)
@given(
    MEMBERS,
    st.lists(
        st.tuples(
            st.sampled_from(MEMBER_NAMES[:9]),
            st.sampled_from(
                [
                    tarfile.SYMTYPE,
                    tarfile.LNKTYPE,
                    tarfile.CHRTYPE,
                    tarfile.FIFOTYPE,
                    tarfile.DIRTYPE,
                    tarfile.GNUTYPE_SPARSE,
                    tarfile.CONTTYPE,
                    b"x",
                    b"L",
                    b"?",
                ]
            ),
            st.sampled_from(["/etc/passwd", "../x", "a.csv", ""]),
        ),
        max_size=2,
    ),
    st.none() | st.tuples(st.integers(100, 160), st.binary(min_size=1, max_size=12)),
)
def test_forged_tar(folder, members, odd, field):
    data = tar_bytes(
        [(name, content) for name, content in members] + [odd_entry(*entry) for entry in odd], bytes
    )
    if field:
        data = data[: field[0]] + field[1] + data[field[0] + len(field[1]) :]
    found = prepare("forged tar.xz", folder, "thyroid", {f"{THYROID}.tar.xz": lzma.compress(data, preset=0)})
    if found:
        np.testing.assert_array_equal(found.X, MATRIX.astype(np.float32))


class Trap:
    """An object whose unpickling leaves a folder behind."""

    def __reduce__(self):
        return os.mkdir, ("executed",)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npy_header(shape, dtype, n_bytes=0, version=b"\1\0"):
    header = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header + bytes(n_bytes)


PICKLED = npy(np.array([Trap()], dtype=object))
ARRAYS = st.sampled_from([
    PICKLED, PICKLED.replace(b"'|O'", b"'<f8'"), npy_header((10**9, 10**9), "<f8"), npy_header((-1, 3),
        "<f8", 24),
    npy_header((2**62, 4), "<f8", 8),
    npy_header((12, 3), "<f8", 288, b"\3\0"), npy_header((12, 3), "|V8", 288), npy_header((12, 3), "O", 288),
    npy_header((12, 3), [("a", "<f8")], 288),
    npy_header((12, 3), "<M8[s]", 288), npy_header((12, 3), "<c16", 576), npy_header((True, 3), "<f8", 24),
        b"", b"\x93NUMPY",
    npy(np.zeros((12, 3))),
    npy(np.full((12, 3), np.nan)), npy(np.full((12, 3), 1e300)), npy(np.zeros((12, 0))), npy(np.zeros((0,
        3))), npy(np.zeros(12)),
    npy(np.float64(1)),
    npy(LABELS), npy(LABELS.astype(np.float16)), npy(np.arange(12)), npy(np.zeros(12)), npy(np.full(12,
        1e308)), npy(np.array(["a"] * 12)),
    npy(MATRIX.astype(np.longdouble)), npy(MATRIX.T), npy(np.zeros((3, 12), order="F")), npy(np.full(12,
        2**63, np.uint64)),
])  # fmt: skip


@tries(100)
@given(st.dictionaries(st.sampled_from(["X.npy", "y.npy", "X", "Z.npy"]), ARRAYS, max_size=3))
def test_forged_npz(folder, changes):
    arrays = {"X.npy": npy(MATRIX), "y.npy": npy(LABELS.astype(int))} | changes
    found = prepare("forged npz", folder, "celeba", {"partial/8_celeba.npz": zip_bytes(*arrays.items())})
    if found:
        np.testing.assert_array_equal(
            found.X, np.load(io.BytesIO(arrays["X.npy"]), allow_pickle=False).astype(np.float32)
        )
    assert not Path("executed").exists()


# ---------------------------------------------------------------------------- detect.py: tables


class Sum:
    """In place of a detector: fuzzing `fit` is about tables, and a network takes seconds."""

    def __init__(self, **_):
        pass

    def fit(self, X, y):
        assert np.isfinite(X).all() and len(X) == len(y)
        self.decision_scores_ = self.decision_function(X)
        return self

    def decision_function(self, X):
        return X.sum(axis=1, dtype=np.float64)

    def explain(self, X, typical, widths):
        return np.zeros((len(X), len(widths)))


MODELS = ["prenet", "dsad", "xgboost", "xgbod"]  # two of networks, two of trees


@pytest.fixture(scope="module")
def models(folder):
    """Models of the methods of MODELS, as the bytes of their files; XGBOD has two small forests."""
    table = events(200)
    known = (table["fraud"] == "1") | (table.index % 23 == 1)  # wrong ones, too: trees are more than stumps
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xgbod, "FOREST_TREES", (5, 10))
        for method in MODELS:
            model = event_model.EventModel.fit(method, table[list(KINDS)], KINDS, known.astype(int))
            saved_models.save_model(folder / f"{method}.model", model)
    return {method: (folder / f"{method}.model").read_bytes() for method in MODELS}


TABLE_EDITS = st.one_of(
    EDITS.map(lambda edits: mutated(EVENTS, edits)),
    CELL_EDITS.map(lambda edits: with_other_cells(EVENTS, edits, ",")),
    EDITS.map(lambda edits: mutated(gzip.compress(EVENTS), edits)),
    EDITS.map(lambda edits: mutated(zip_bytes(("events.csv", EVENTS)), edits)),
    st.sampled_from([b"", b"\n", b"\xef\xbb\xbf", b",,,\n1,2,3,4\n", b'"', b"PAR1", b"PAR1" + EVENTS,
        EVENTS.replace(b"\n", b"\r"),
                     EVENTS.decode().encode("utf-16"),
                     EVENTS.replace(b",", b"\t"), EVENTS + b'1,"', b"fraud\n1\n0\n", EVENTS.replace(b"\n",
                         b",1\n", 1),
                     EVENTS.replace(b"\n", b",1,2,3\n")]),
)  # fmt: skip


WRITTEN = ["", "--header", "--decimal ,", "--encoding latin-1", "--encoding utf-16", "--anomaly-value 1,2"]
NO_HEADER = "--no-header --label column_8"


@tries(200)
@given(TABLE_EDITS, st.sampled_from([*WRITTEN, NO_HEADER, f"{NO_HEADER} --decimal ,"]))
def test_odd_tables_are_fitted_or_refused(folder, table, options):
    (folder / "table.csv").write_bytes(table)
    (folder / "out").mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_model, "make_detector", lambda method, **_: Sum())
        patch.setattr(fit_command, "save_model", lambda path, model: described_encoder(model.encoder))
        command = f"fit {folder}/table.csv --label fraud --method dsad --model {folder}/out/model {options}"
        attempt("fit table", detect.main, command.split(), folder)


@tries(160)
@given(TABLE_EDITS)
def test_odd_tables_are_scored_or_refused(folder, models, table):
    (folder / "table.csv").write_bytes(table)
    (folder / "out").mkdir(exist_ok=True)
    output = folder / "out" / "scores.csv"
    output.unlink(missing_ok=True)
    if "model" not in vars(test_odd_tables_are_scored_or_refused):
        test_odd_tables_are_scored_or_refused.model = saved_models.load_model(
            folder / "prenet.model"
        )  # once: it takes 0.1 s
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_command, "load_model", lambda path: test_odd_tables_are_scored_or_refused.model)
        command = f"score {folder}/table.csv --model {folder}/prenet.model --output {output} "
        command += "--explain --contamination 0.1"
        code = attempt("score table", detect.main, command.split(), folder)
    assert output.exists() == (code == 0)
    if code == 0:
        text = gzip.decompress(table) if table[:2] == b"\x1f\x8b" else table
        if table[:4] == b"PK\3\4":
            text = zipfile.ZipFile(io.BytesIO(table)).read("events.csv")
        rows = [
            line
            for line in csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""))
            if line and line != [" "]
        ]
        assert all(len(row) == len(rows[0]) or row[len(rows[0]) :] == [""] for row in rows)
        scores = pd.read_csv(output)
        assert np.isfinite(scores["score"]).all() and scores["row"].tolist() == list(range(1, len(rows)))


# ---------------------------------------------------------------------------- detect.py: models

NASTY_JSON = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just([]), st.just({}),
        st.just(10**400), st.just(-1),
    st.just("\0"),
    st.just(["a"] * 10_000), st.just([str(i) for i in range(10_000)]),
    st.just({str(i): {"kind": "boolean", "mode": 1} for i in range(20_000)}),
    st.just([1e308, 1e308, -1e308]), st.just([-1e308, 0, 1e308]), st.just(["../x"]), st.just("prenet"),
    st.just({"kind": "number", "min_median_max": [0, 0, 0]}),
    st.just({"kind": "number", "low_median_high": [0, 0, 0], "beyond": 0, "indicator": True}),
)  # fmt: skip


def paths_of(value, prefix=()):
    """All places in a JSON value."""
    yield prefix
    children = (
        value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    )
    for key, child in children:
        yield from paths_of(child, (*prefix, key))


def put(value, path, new):
    """A JSON value with another one at a place."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


def repacked(data, changes):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return zip_bytes(*(members | changes).items())


def score_with(folder, kind, model):
    """`detect.py score` with this model file, on a table that a good model takes."""
    (folder / "out").mkdir(exist_ok=True)
    (folder / "out" / "forged.model").write_bytes(model)
    (folder / "table.csv").write_bytes(EVENTS)
    output = folder / "out" / "scores.csv"
    output.unlink(missing_ok=True)
    command = (
        f"score {folder}/table.csv --model {folder}/out/forged.model --output {output} --contamination 0.1"
    )
    code = attempt(kind, detect.main, command.split(), folder)
    assert output.exists() == (code == 0) and not Path("executed").exists()
    if code == 0:
        scores = pd.read_csv(output)
        assert len(scores) == 60 and np.isfinite(scores["score"]).all()
    return code


@tries(80)
@given(st.sampled_from(MODELS), EDITS)
def test_damaged_models(folder, models, method, edits):
    score_with(folder, "damaged model", mutated(models[method], edits))


@tries(80)
@given(st.sampled_from(MODELS), st.data())
def test_forged_descriptions_of_models(folder, models, method, data):
    with zipfile.ZipFile(io.BytesIO(models[method])) as archive:
        contents = json.loads(archive.read("schema.json"))
    for _ in range(data.draw(st.integers(1, 2))):
        contents = put(contents, data.draw(st.sampled_from(list(paths_of(contents)))), data.draw(NASTY_JSON))
    score_with(folder, "forged model", repacked(models[method], {"schema.json": json.dumps(contents)}))


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "1" * 100_000, "{}", "\xff", '{"format": NaN}']
)
def test_descriptions_that_are_no_json_or_too_deep(folder, models, text):
    assert (
        score_with(
            folder, "forged model", repacked(models["prenet"], {"schema.json": text.encode("latin-1")})
        )
        == 2
    )


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


def with_huge_dictionary(data):
    """An .xz file whose header asks for a dictionary of 4 GiB."""
    header = bytearray(data[12:20])
    assert header[2] == 0x21  # LZMA2; the fifth byte tells the size
    header[4] = 40
    return data[:12] + bytes(header) + struct.pack("<I", zlib.crc32(header)) + data[24:]


def prepared_bombs():
    """{what: data set, name of its file, content, what is said about it}."""
    return {
        what: ("thyroid", THYROID + end, *rest) for what, (end, *rest) in table_bombs().items()
    } | other_bombs()


def table_bombs():
    """{what: how the name of the file ends, its content, what is said about it}, for the thyroid table."""
    row, text = b"0.5,0.5,0.5,1\n", b"x" * 999 + b"\n"
    header, wide = b"a,b,c,class\n", b"1," * 2_046 + b"1\n"
    wide_header = b",".join(b"c%d" % number for number in range(2_046)) + b",class\n"
    lying = with_declared_size(zipped("a.csv", row, SIZE // len(row)), 100)
    quote = gzipped((header, 1), (b'"', 1), (text, SIZE // 1_000))
    members = [(str(number), b"") for number in range(20_000)]
    return {
        "many rows": (".csv.gz", gzipped((header, 1), (row, 2**22)), "more than 2,097,152 lines"),
        "an endless line": (".csv.gz", gzipped((b"1", SIZE)), "a line of more than 16,777,216 bytes"),
        "zero bytes": (".csv.zip", zipped("a.csv", b"\0", SIZE), "zero byte"),
        "a lying size": (".csv.zip", lying, "is damaged"),
        "an endless quote": (".csv.gz", quote, "GiB of memory"),
        "a wide matrix": (".csv.gz", gzipped((wide_header, 1), (wide, 2**14)), "GiB of memory"),
        "too wide": (".csv", b"a," * 100_000 + b"class\n", "more than 2,048 cells"),
        "row names": (".csv", b"a\n" + wide * 3, "more cells than its first line"),
        "a huge dictionary": (".csv.xz", with_huge_dictionary(lzma.compress(TABLE)), "GiB of memory"),
        "many members": (".csv.zip", zip_bytes(*members), "more than 1,000 members"),
        "a long tar": (".tar.xz", tar_bytes(members[:5_000], lzma.compress), "more than 1,000 members"),
    }


def other_bombs():
    """As prepared_bombs, in place of other data sets."""
    celeba, bank, news20 = (
        f"partial/{name}" for name in ("8_celeba.npz", "bank-additional-full.csv", "news20_5Per_Otl.svm")
    )
    promised = zip_bytes(("X.npy", npy_header((10**6, 10**6), "<f8")), ("y.npy", npy(LABELS)))
    far = SVM + b"1 2147483646:1\n"
    return {
        "a promised array": ("celeba", celeba, promised, "is damaged"),
        "a large array": ("celeba", celeba, zipped("X.npy", b"\1", SIZE), "has no array 'y'"),
        "a large y": ("celeba", celeba, with_x(zipped("y.npy", b"\1", SIZE)), "GiB of memory"),
        "many levels": ("campaign", bank, many_levels(20_000), "GiB of memory"),
        "many short lines": ("news20", f"{news20}.gz", gzipped((b"1\n", 2**24)), "more than 2,097,152 lines"),
        "many features": ("news20", news20, far, "2,147,483,646 features"),
    }


def with_x(data):
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("X.npy", npy(MATRIX))
    return buffer.getvalue()


def many_levels(n_rows):
    """A bank table whose job is another one in every row: one-hot, it has n_rows columns."""
    first, row = bank_csv().decode().splitlines()[:2]
    cells = row.split(";")
    return "\n".join(
        [
            first,
            *(";".join([cells[0], f"job{i}", *cells[2:-1], "yes" if i % 2 else "no"]) for i in range(n_rows)),
            "",
        ]
    ).encode()


def detect_bombs():
    """{what: the table, the model, what is said about them}; None where the other one is good."""
    header, row = EVENTS.splitlines(keepends=True)[:2]
    bomb = zipped("format.json", b" ", SIZE)
    return {
        "an endless line": (gzipped((header, 1), (b"1", SIZE)), None, "a line of more than 16,777,216 bytes"),
        "an endless first line": (gzipped((b"a", SIZE)), None, "a line of more than 16,777,216 bytes"),
        "a large cell": (
            header + b"1," * 7 + b"x" * 10**8 + b"\n",
            None,
            "a line of more than 16,777,216 bytes",
        ),
        "large cells": (
            gzipped((header, 1), (row.replace(b"v1", b"x" * 2**19), 2**10)),
            None,
            "GiB of memory",
        ),
        "an endless quote": (gzipped((header, 1), (b'"', 1), (row, SIZE // len(row))), None, "GiB of memory"),
        "too wide": (b",".join(b"%d" % i for i in range(100_000)) + b"\n", None, "more than 10,000 cells"),
        "row names": (b"fraud\n" + b"1," * 9_998 + b"1\n", None, "more cells"),
        "many rows": (gzipped((header, 1), (row, 2**22)), None, "GiB of memory"),
        "a large description": (None, bomb, "expands to more than"),
        "a large description with a lying size": (None, with_declared_size(bomb, 100), "is damaged"),
        "many members": (
            None,
            zip_bytes(*((str(number), b"") for number in range(20_000))),
            "more than 1,000 members",
        ),
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
        TRIED["bomb"] += 1
        assert code in (1, 2) and re.search(expected, err) and "Traceback" not in err, (what, err)
        assert seconds < 30 and peak < base + BOUND + 2**26, (what, seconds, peak >> 20)


def test_thousands_were_tried(record_property):
    """Shown with pytest -s; fewer only if some of the tests above were left out."""
    total = sum(count for kind, count in TRIED.items() if "accepted" not in kind)
    for kind, count in TRIED.items():
        record_property(kind, count)
        print(f"{kind}: {count:,}")
    print(f"inputs in all: {total:,}")
    if len(TRIED) < 30:
        pytest.skip("only some of the tests were run")
    assert total >= 2_000
