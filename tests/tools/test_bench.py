"""The benchmarks: what is measured is what they say, and they run from start to end."""

import numpy as np
import pandas as pd
import pytest
from drivers import ExecutorHere

from tools import bench, growth
from weakly.loading.fetching import SourceFinder
from weakly.loading.store import prepare_all
from weakly.methods import make_detector
from weakly.running.processes import new_process


@pytest.fixture(scope="module")
def data_dir(prepared_dir):
    prepare_all(["demo"], SourceFinder(prepared_dir / "raw", [], offline=True), prepared_dir)
    return prepared_dir


@pytest.fixture(scope="module")
def toy():
    """Rows (200, 5), positions of U and of A."""
    return np.random.default_rng(0).random((200, 5), dtype=np.float32), np.arange(180), np.arange(180, 200)


def test_floor_by_hand():
    rows = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    weights, gradient = np.array([[1], [10]], np.float32), np.array([[1], [2], [3]], np.float32)
    forward, backward = bench.floor(rows, [np.array([1]), np.array([0, 2])], weights, gradient)
    np.testing.assert_array_equal(forward, [[21], [65]])  # of the rows (1, 2) and (5, 6)
    np.testing.assert_array_equal(backward, [[1 + 2 * 5], [2 + 2 * 6]])


def test_floor_has_each_row_of_a_batch_once(toy):
    detector = make_detector("prenet", batch_size=64, epochs=2, batches_per_epoch=3)
    batches, weights, gradient = bench.floor_inputs(detector, *toy)
    assert len(batches) == 6 and weights.shape == (5, 20) and gradient.shape[1] == 20
    assert all(len(set(batch)) == len(batch) <= len(gradient) for batch in batches)
    assert all(
        64 <= (batch < 180).sum() <= 80 and 0 < (batch >= 180).sum() <= 20 for batch in batches
    )  # 64 + 16 draws of U


@pytest.mark.parametrize("method", bench.MEASURED)
def test_plain_trains_the_same_network_on_the_same_batches(toy, method):
    detector = make_detector(method, random_state=3, batch_size=32, epochs=4, batches_per_epoch=5)
    losses, first, later = bench.fit_plain(detector, *toy, n_epochs=3)
    assert losses == pytest.approx(detector.fit_rows(*toy).losses_[:3], rel=1e-4)
    assert first > 0 and len(later) == 2 and min(later) > 0


def test_summary_by_hand():
    seconds = {
        "fit": [5.0, 1.0, 3.0],
        "plain": [8.0],
        "floor": [1.0, 1.0, 4.0],
        "score": [6.0],
        "pairs": [],
        "product": [2.0],
    }
    numbers = bench.medians_and_ratios(seconds)
    assert (numbers["fit_seconds"], numbers["compile_seconds"], numbers["fit_over_floor"]) == (2, 3, 2)
    assert (numbers["ten_seconds"], numbers["ten_plain_seconds"], numbers["score_over_product"]) == (
        5 + 9 * 2,
        80,
        3,
    )
    row = {"dataset": "bac", **numbers}
    assert [bench.target_met(target, row) for target in ("training", "10 runs", "scoring")] == [
        "missed",
        "",
        "missed",
    ]
    assert bench.target_met("training", row | {"fit_over_floor": 1.6}) == "met"
    assert bench.target_met("10 runs", row | {"dataset": "thyroid", "ten_plain_over_ten": 9.9}) == "missed"


def test_bench(data_dir, tmp_path, capsys):
    options = [
        "--datasets",
        "demo",
        "--runs",
        "2",
        "--plain-epochs",
        "2",
        "--data-dir",
        str(data_dir),
        "--offline",
    ]
    assert bench.main([*options, "--results-dir", str(tmp_path)]) == 0
    table = pd.read_csv(tmp_path / "bench.csv")
    assert list(table["method"]) == ["prenet", "devnet", "dsad"]
    assert (
        table[["fit_seconds", "plain_seconds", "floor_seconds", "score_seconds", "product_seconds"]] > 0
    ).all(axis=None)
    assert (table["floor_seconds"] < table["fit_seconds"]).all() and (
        table["fit_seconds"] < table["plain_seconds"]
    ).all()
    assert table["pairs_seconds"].notna().tolist() == [True, False, False]
    np.testing.assert_allclose(table["plain_over_fit"], table["plain_seconds"] / table["fit_seconds"])
    np.testing.assert_allclose(table["score_over_product"], table["score_seconds"] / table["product_seconds"])
    assert "demo PReNet" in (out := capsys.readouterr().out) and "extrapolated from 2 epochs" in out


@pytest.mark.parametrize(
    "options, message",
    [
        (["--plain-epochs", "1"], "from 2"),
        (["--methods", "fsnet"], "unknown method 'fsnet'"),
        (["--runs", "0"], "at least 1"),
    ],
)
def test_bench_refuses_in_one_sentence(options, message, capsys):
    with pytest.raises(SystemExit) as error:
        bench.main(options)
    assert error.value.code == 2 and message in capsys.readouterr().err.splitlines()[-1]


def test_exponent_by_hand():
    assert growth.exponent([1, 10, 100], [3, 300, 30_000]) == pytest.approx(2)
    assert growth.exponent([10, 1_000], [7, 7]) == pytest.approx(0)


def test_generated_rows():
    rng = np.random.default_rng(0)
    dense = growth.dense_rows(500, 4_000, rng)  # more than one chunk
    assert dense.shape == (500, 4_000) and dense.dtype == np.float32 and dense.ctypes.data % 64 == 0
    assert (
        abs(dense[:10].mean() - 0.5) < 0.01
        and abs(dense[-10:].mean() - 0.5) < 0.01
        and not (dense[0] == dense[-1]).any()
    )
    rows = growth.sparse_rows(50, 1_000_000, rng)
    assert rows.has_canonical_format and rows.dtype == np.float32 and 99 <= rows.nnz / 50 <= growth.NONZEROS


def test_peak_of_memory_is_seen():
    before = growth.peak_mb(forget=True)
    np.ones(100 * 2**20, np.uint8)
    assert growth.peak_mb() - before == pytest.approx(100, abs=10)


def test_the_memory_of_a_fit_is_measured_in_a_process_of_its_own():
    worker = new_process()
    point = worker.submit(growth.measure_point, 2_000, 10, 60, 1, "wall").result()
    worker.shutdown()
    assert point["fit_mb"] > 0 and point["data_mb"] == pytest.approx(2_000 * 10 * 4 / 2**20)


def test_growth(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(growth, "new_process", ExecutorHere)
    monkeypatch.setitem(
        growth.QUICK, "labeled", [*growth.QUICK["labeled"], -1]
    )  # which fails, and is skipped
    assert growth.main(["--quick", "--results-dir", str(tmp_path)]) == 0
    table = pd.read_csv(tmp_path / "growth.csv")
    assert table["growing"].tolist() == ["rows", "rows", "features", "labeled"]
    assert table["sparse"].tolist() == [False, False, True, False]
    assert (table[["fit_seconds", "score_seconds", "data_mb"]] > 0).all(axis=None)
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"growth.png", "growth.svg"}
    out, err = capsys.readouterr()
    assert "skipped" in err
    slope = growth.exponent(table["rows"][:2], table["fit_seconds"][:2])
    verdict = "met" if slope <= 0.1 else "missed"
    assert f"training time does not grow with the rows: exponent {slope:.2f}, at most 0.1: {verdict}" in out
