"""Tests of data_prep.py: what is prepared from which files, and what is said about bad input."""

import json
import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from archives import BANK_COLUMNS, npz_bytes, zip_bytes

import data_prep
from weakly.errors import DataError
from weakly.loading import arrays
from weakly.loading.arrays import load_data
from weakly.loading.registry import DATA_SETS, SEEN_SETS
from weakly.loading.unseen import CLASSES, UNSEEN_SETS, parse_unseen

PROJECT = Path(data_prep.__file__).parent
THYROID = "annthyroid_21feat_normalised.csv"
BANK, CELEBA, NEWS20 = "bank-additional-full.csv", "8_celeba.npz", "news20_5Per_Otl.svm"
COLUMNS = (
    "name,rows,features,anomalies,paper_rows,paper_features,paper_anomaly_rate,status,order,source,sha256"
)
WHOLE = {name: (one.rows, one.features, one.anomalies, "exact") for name, one in DATA_SETS.items()}
SIZES = WHOLE | {  # rows, features, anomalies, status of what the reference folder gives
    "dos": (97_089, 196, 4_089, "partial"),
    "rec": (96_496, 196, 3_496, "partial"),
    "fuz": (96_000, 196, 3_000, "partial"),  # of full size, but from partial/
    "news20": (10_523, 1_520_319, 526, "partial"),
    "unsw": (105_914, 196, 12_914, "partial"),
    "demo": (10_000, 30, 400, "synthetic"),
}


def snapshot(folder):
    """Content and time of every file below a folder, but for raw/."""
    files = (path for path in folder.rglob("*") if path.is_file() and "raw" not in path.parts)
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def manifest(data_dir):
    return pd.read_csv(data_dir / "manifest.csv", index_col="name")


# --- the real files


@pytest.fixture(scope="module")
def all_prepared(real_data, prepared_dir):
    """Everything prepared once, in a process of its own, whose peak memory in bytes is in the file `peak`."""
    code = (
        "import data_prep, sys, weakly.environment as e; data_prep.main(sys.argv[1:]); print(e.peak_bytes())"
    )
    options = ["--offline", "--source", str(real_data), "--data-dir", str(prepared_dir)]
    command = [sys.executable, "-c", code, *options]
    output = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    (prepared_dir / "peak").write_text(output.split()[-1])
    return prepared_dir


def test_sizes_and_checksums(all_prepared, real_data):
    assert int((all_prepared / "peak").read_text()) < 3e9  # bytes; census takes most
    table = manifest(all_prepared)
    assert ",".join(["name", *table]) == COLUMNS
    sizes = table[["rows", "features", "anomalies", "status"]]
    assert {name: tuple(row) for name, row in sizes.iterrows()} == SIZES
    paper = table[["paper_rows", "paper_features", "paper_anomaly_rate"]].drop(index="demo")
    printed = [[one.rows, one.features, one.anomaly_rate] for one in DATA_SETS.values()]
    assert paper.to_numpy().tolist() == printed
    assert table.loc["demo", "source"] == "generated"
    sums = dict(reversed(line.split()) for line in (real_data / "SHA256SUMS").read_text().splitlines())
    sums = {name.removeprefix("./"): digest for name, digest in sums.items()}
    for source, digests in table.drop(index="demo")[["source", "sha256"]].to_numpy():
        assert [sums[name] for name in source.split(";")] == digests.split(";")


def test_prepared_arrays(all_prepared):
    """Those of the reference runs, as float32."""
    croissant = json.loads((PROJECT / "dataset" / "croissant.json").read_text())
    (table,) = (one for one in croissant["recordSet"] if one["name"] == "data_sets")
    for row in table["data"]:
        data = load_data(row["data_sets/name"], all_prepared)
        assert data.fingerprint == row["data_sets/sha256_in_reference_runs"]
        assert data.order == row["data_sets/row_order_in_reference_runs"]
        assert data.X.dtype == np.float32 and set(data.y) == {0, 1}
    load_data("thyroid", all_prepared).X[0] = 7  # writing to a matrix leaves its file alone
    assert load_data("thyroid", all_prepared).X[0].max() <= 1


# --- small files in place of the real ones


def csv(rows=8, anomalies=3):
    """The authors' format with features a, b: the last rows are the anomalies."""
    lines = [f"{row},{row * row / 64},{int(row >= rows - anomalies)}\n" for row in range(rows)]
    return "a,b,class\n" + "".join(lines)


@pytest.fixture
def data_dir(tmp_path, monkeypatch):
    """A data folder without PRENET_DATA, where thyroid, bac and dos have 8 rows and 2 features."""
    monkeypatch.delenv("PRENET_DATA", raising=False)
    for name in ("thyroid", "bac", "dos"):
        monkeypatch.setitem(DATA_SETS, name, replace(DATA_SETS[name], rows=8, features=2))
    (tmp_path / "dataset" / "raw").mkdir(parents=True)
    return tmp_path / "dataset"


@pytest.fixture
def source(tmp_path):
    (tmp_path / "source" / "partial").mkdir(parents=True)
    return tmp_path / "source"


def run(data_dir, *arguments):
    return data_prep.main(["--offline", "--data-dir", str(data_dir), *map(str, arguments)])


def test_statuses(data_dir, source):
    (data_dir / "raw" / THYROID).write_text(csv())
    (source / "partial" / "UNSW_NB15_traintest_backdoor.csv").write_text(csv())
    assert run(data_dir, "--source", source) == 0
    status = manifest(data_dir)["status"]  # bac has the full size all the same
    there = {"thyroid": "exact", "bac": "partial", "demo": "synthetic"}
    assert status.to_dict() == dict.fromkeys([*DATA_SETS, "demo"], "missing") | there
    missing = manifest(data_dir).loc["w7a"]
    assert missing[["rows", "features", "anomalies", "order", "source", "sha256"]].isna().all()


def test_changed_file_is_prepared_anew(data_dir, capsys):
    path = data_dir / "raw" / THYROID
    told = "thyroid: the rows may not be in the authors' order; if so, `released` draws others.\n"
    versions = []
    for anomalies in (3, 4):
        path.write_text(csv(anomalies=anomalies))
        for expected in (f"Preparing thyroid from {path}\n{told}", ""):  # only work is announced
            assert run(data_dir, "--datasets", "thyroid") == 0 and capsys.readouterr().err == expected
        data = load_data("thyroid", data_dir)
        assert data.y.sum() == anomalies == manifest(data_dir).loc["thyroid", "anomalies"]
        versions.append(data.fingerprint)
    # a driver goes on with the data it has planned with while another prepares other data
    again = load_data("thyroid", data_dir, versions[0], "partial")
    assert (again.y.sum(), again.fingerprint, again.status) == (3, versions[0], "partial")


def test_prepared_data_outlives_its_source_but_no_older_encoder(data_dir, source, monkeypatch):
    path = data_dir / "raw" / THYROID
    path.write_text(csv())
    run(data_dir)
    path.rename(source / THYROID)
    before = snapshot(data_dir)
    assert run(data_dir, "--datasets", "thyroid") == 0
    (source / "partial" / THYROID).write_text(csv(rows=5))
    assert run(data_dir, "--source", source / "partial") == 0  # a part replaces nothing whole
    assert snapshot(data_dir) == before and load_data("thyroid", data_dir).status == "exact"
    monkeypatch.setattr(arrays, "ENCODING", arrays.ENCODING + 1)
    with pytest.raises(DataError, match="not prepared: run `python data_prep.py --datasets thyroid`"):
        load_data("thyroid", data_dir)
    run(data_dir, "--source", source)
    assert load_data("thyroid", data_dir).status == "exact" and load_data("demo", data_dir).size == 10_000


# --- network


def test_offline_opens_no_socket(data_dir, monkeypatch):
    monkeypatch.setattr(socket, "socket", None)
    monkeypatch.setattr(socket, "getaddrinfo", None)
    monkeypatch.setattr(subprocess, "run", None)  # pip
    assert run(data_dir) == 0
    assert run(data_dir, "--source", "http://127.0.0.1:9", "--datasets", "census") == 1


# --- command line


def test_missing_set(data_dir, capsys):
    assert run(data_dir, "--datasets", "thyroid,demo,celeba") == 1
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["name", "celeba", "thyroid", "demo"]
    thyroid, celeba = err.splitlines()
    assert f"put {THYROID}, packed or plain, into {data_dir}/raw/; get it from https://github" in thyroid
    assert "put celeba_baldvsnonbald_normalised.csv or 8_celeba.npz or celeba.csv" in celeba
    assert run(data_dir) == 0  # no error when none was asked for
    assert len(capsys.readouterr().err.splitlines()) == 13


def test_list(data_dir, monkeypatch, capsys):
    (data_dir / "raw" / THYROID).write_text(csv())
    monkeypatch.setattr("socket.socket", None)  # it uses no network
    assert data_prep.main(["--list", "--data-dir", str(data_dir)]) == 0
    out = capsys.readouterr().out
    assert f"on this machine: {data_dir / 'raw' / THYROID}\n" in out
    assert f"from {THYROID} (downloaded if missing)" in out and "from aif360==0.2.0 on pip's index" in out
    assert out.count(f"missing; put one of these files, packed or plain, into {data_dir}") == 12


def test_registry_is_table_2():
    published = pd.read_csv(PROJECT / "published" / "seen.csv", index_col="dataset").loc[list(SEEN_SETS)]
    table = pd.DataFrame([DATA_SETS[name] for name in SEEN_SETS]).set_index("name")
    assert len(SEEN_SETS) == 12 and (table["rows"] == published["size"].astype(int)).all()
    assert (table["features"] == published["D"].astype(int)).all()
    # those of census and celeba are 6.2% and 2.2%, printed as 6.0% and 3.0%
    apart = (100 * table["anomalies"] / table["rows"] - table["anomaly_rate"]).drop(["census", "celeba"])
    assert apart.abs().max() <= 0.08
    for entry in DATA_SETS.values():  # what is in source distributions is found again
        names = {name for recipe in entry.recipes for file in recipe.files for name in file.names}
        assert entry.pypi is None or {*entry.pypi[1].values()} <= names
    unsw, parts = DATA_SETS["unsw"], [DATA_SETS[name] for name in CLASSES["unsw"]]
    assert unsw.anomalies == sum(part.anomalies for part in parts)
    assert {part.rows - part.anomalies for part in parts} == {93_000} == {unsw.rows - unsw.anomalies}
    assert len(UNSEEN_SETS) == 28 == len({parse_unseen(name) for name in UNSEEN_SETS})


# --- bad input


def bank(cell="1", label="no"):
    rows = [BANK_COLUMNS, ["1"] * 20 + ["no"], [cell] + ["1"] * 19 + [label]]
    return "".join(";".join(row) + "\n" for row in rows)


ZIPPED = zip_bytes((THYROID, csv(rows=5000)))
NOT_NUMBERS = "is not a table of thyroid: could not convert string "
BAD = {  # data set, file name, content, what the message says after the file's path
    "truncated zip": ("thyroid", f"{THYROID}.zip", ZIPPED[: len(ZIPPED) // 2],
        "is not a table of thyroid: File is not a zip file"),
    "row count": ("thyroid", THYROID, csv(rows=9),
        "gives 9 rows and 2 features, but thyroid must have 8 and 2"),
    "no class": ("thyroid", THYROID, csv().replace("class", "label"), "has no column named 'class'"),
    "text cell": ("thyroid", THYROID, csv().replace("3,", "three,", 1),
        f"{NOT_NUMBERS}'three' to float32 in row 4, column 1.$"),
    "nan": ("thyroid", THYROID, csv().replace("\n2,", "\nnan,"), "holds missing, infinite"),
    "one anomaly": ("thyroid", THYROID, csv(anomalies=1), "has fewer than 2 anomalies of class 1"),
    "empty": ("thyroid", THYROID, "", "has no rows"),
    "binary": ("thyroid", THYROID, b"\x93NUMPY\xff\xfe\x00", "is not a table of thyroid: 'utf-8' codec"),
    "npz of other shapes": ("celeba", CELEBA, npz_bytes(X=np.zeros((8, 39)), y=np.zeros(7)),
        "should hold a numeric matrix X and one"),
    "svmlight label": ("news20", NEWS20, b"1 1:1\n-1 2:1\n", "has a label other than 0 and 1: '-1.0'"),
    "bank row": ("campaign", BANK, bank() + "1;" * 30 + "\n", "Expected 21 fields in line 4, saw 31"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(data_dir, capsys, case):
    """One sentence and exit code 1; what was prepared before, and the manifest, stay as they were."""
    name, file_name, content, message = BAD[case]
    run(data_dir, "--datasets", "demo")
    before = snapshot(data_dir)
    capsys.readouterr()
    path = data_dir / "raw" / file_name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert run(data_dir, "--datasets", name) == 1
    *announced, error = capsys.readouterr().err.splitlines()
    assert announced == [f"Preparing {name} from {path}"]
    assert error.startswith(f"{name}: {path} ") and error.endswith(".")
    assert re.search(message, error) and snapshot(data_dir) == before


CHANGED, NOT_PREPARED = "was changed after it was prepared", "x is not prepared"
DAMAGED = {  # the file, what becomes of its array (its bytes for meta.json), what is said
    "order": ("X.npy", lambda X: X[::-1], CHANGED),
    "type": ("X.npy", lambda X: X.view(np.int32), CHANGED),
    "shape of y": ("y.npy", lambda y: y[:, np.newaxis], CHANGED),
    "half": ("X.npy", lambda _: b"half", CHANGED),
    "meta": ("../meta.json", lambda _: b'{"fingerprint": 5}', NOT_PREPARED),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_prepared_data(tmp_path, case):
    file, change, message = DAMAGED[case]
    X = np.random.default_rng(0).random((30, 20)).astype(np.float32)
    arrays.save_data(tmp_path / "prepared" / "x", X, np.repeat([0, 1], 15), status="exact")
    (folder,) = tmp_path.glob("prepared/x/*/")
    path = folder / file
    content = change(np.load(path) if path.suffix == ".npy" else None)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)
    with pytest.raises(DataError, match=message):
        load_data("x", tmp_path)


def test_interrupt_leaves_nothing_half_written(data_dir, monkeypatch, capsys):
    (data_dir / "raw" / THYROID).write_text(csv())
    run(data_dir)
    before = snapshot(data_dir)
    (data_dir / "raw" / THYROID).write_text(csv(anomalies=4))
    save = np.save

    def interrupted(file, array):
        save(file, array)
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "save", interrupted)
    assert run(data_dir) == 130
    assert snapshot(data_dir) == before
    assert capsys.readouterr().err.endswith("Stopped. The data sets prepared so far are kept.\n")
