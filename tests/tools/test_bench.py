"""The benchmarks: what is measured is what they say, and they run from start to end."""

import numpy as np
import pandas as pd
import pytest

from tools import bench
from weakly.methods import make_detector
from weakly.reporting.write_up import REFERENCE


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


@pytest.mark.slow
@pytest.mark.parametrize("method", ["prenet", "dsad"])
def test_plain_trains_the_same_network_on_the_same_batches(toy, method):
    detector = make_detector(method, random_state=3, batch_size=32, epochs=4, batches_per_epoch=5)
    losses, seconds = bench.fit_plain(detector, toy, n_epochs=3)
    assert losses == pytest.approx(detector.fit_rows(*toy).losses_[:3], rel=1e-4) and seconds > 0


def test_summary_by_hand():
    """The first fit, of 5 seconds, compiles; the median of the others is 2."""
    run = {"method": "prenet", "dataset": "bac", "floor": 1.0, "score": 6.0, "product": 2.0, "plain": np.nan}
    runs = [run | {"run": number, "fit": fit} for number, fit in enumerate((5.0, 1.0, 3.0))]
    runs[0] |= {"plain": 8.0, "pairs": np.nan}
    (bac,) = bench.summary(pd.DataFrame(runs)).to_dict("records")
    assert (bac["fit_seconds"], bac["compile_seconds"], bac["fit_over_floor"]) == (2, 3, 2)
    assert (bac["plain_over_fit"], bac["score_over_product"]) == (4, 3) and np.isnan(bac["pairs_over_score"])


@pytest.mark.slow
def test_the_columns_are_those_of_the_committed_table(demo_dir, tmp_path):
    options = ["--datasets", "demo", "--runs", "1", "--data-dir", str(demo_dir), "--offline"]
    assert bench.main([*options, "--results-dir", str(tmp_path)]) == 0
    table, committed = pd.read_csv(tmp_path / "bench.csv"), pd.read_csv(REFERENCE / "bench.csv")
    assert list(table["method"]) == bench.MEASURED and set(table) <= set(committed)
    assert table["fit_seconds"].between(table["floor_seconds"], table["plain_seconds"]).all()
    assert table["pairs_seconds"].notna().tolist() == [True, False, False]
