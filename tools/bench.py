"""How fast training and scoring are in one thread, and how PReNet's cost grows.

    python -m tools.bench                              # PReNet, DevNet and Deep SAD on five data sets
    python -m tools.bench --datasets demo --runs 3     # needs no data
    python -m tools.bench growth                       # up to 10 million rows, a million features: 10 minutes

<results>/bench.csv has the medians of runs in which the methods alternate, in seconds:
fit       the detector's fit, 50 epochs of 20 batches; `compile` is the additional time of the first run
plain     the same network, loss, optimiser and batches in Keras' model.fit; one run, from its first epochs
floor     no training: each distinct row of a batch X_b (b, D) is gathered once, and there are two matrix
          products with the hidden layer, X_b W forward and X_b' G backward, with W (D, h) and G (b, h)
score     decision_function of the test set X (n, D); `product` is a single X W in numpy, `pairs` PReNet's
          score as Eq. 6 defines it, in 2E passes over X; one run

<results>/growth.csv is of PReNet on generated rows, each point in a process of its own: the seconds of a fit
and of scoring all rows, and the peak memory that each needs beyond the rows.
"""

import argparse
import contextlib
import mmap
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

for threads in "OMP_NUM OPENBLAS_NUM MKL_NUM TF_NUM_INTRAOP TF_NUM_INTEROP".split():
    os.environ[f"{threads}_THREADS"] = "1"  # before numpy and TensorFlow are imported

import numpy as np
import pandas as pd
from scipy import sparse
from tqdm import tqdm

from weakly.command_line import positive, user_errors_end
from weakly.environment import peak_bytes
from weakly.loading.arrays import load_data
from weakly.loading.options import add_data_arguments, data_set_names, make_finder
from weakly.loading.store import prepare_all
from weakly.methods import make_detector
from weakly.writing import written_whole

MEASURED, MEASURED_SETS = ["prenet", "devnet", "dsad"], ["thyroid", "bac", "w7a", "census", "demo"]
SCORINGS = 5  # in a run, because they are short
SIZES = {"rows": 10_000, "features": 10, "labeled": 60}  # of those that do not grow
GROWING = {
    "rows": [10_000, 100_000, 1_000_000, 10_000_000],
    "features": [10, 100, 1_000, 10_000, 100_000, 1_000_000],
    "labeled": [15, 60, 240, 1_000],
}
MOST_DENSE, NONZEROS = 10_000, 100  # features; rows with more are sparse and have about this many entries


def seconds_of(function, *arguments):
    """How long a call takes."""
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def batches_of_fit(detector, data, rng):
    """The batches of a whole fit, and the positions (n, b) of their rows."""
    drawn = detector.sample_batches(*data, detector.epochs * detector.batches_per_epoch, rng)
    return drawn, np.hstack([drawn.unlabeled, data[-1][drawn.anomalies]])


def fit_plain(detector, data, n_epochs=10):
    """Losses of the first n_epochs of model.fit on the batches of detector.fit_rows, and seconds of all."""
    import keras  # imports TensorFlow

    start, ends = time.perf_counter(), []
    rng = np.random.default_rng(detector.random_state)
    network = detector.initial_network(*data, seed=int(rng.integers(2**31)))
    drawn, positions = batches_of_fit(detector, data, rng)
    constants = [np.float32(value) for value in detector.loss_constants(*data, network, rng)]
    instances = tuple(keras.Input((data[0].shape[1],)) for _ in drawn.layout)
    model = keras.Model(instances, network(*instances))
    model.compile(detector.optimizer(), lambda targets, outputs: detector.loss(targets, outputs, *constants))

    def batches():
        for batch in positions:
            yield tuple(data[0][batch[places]] for places in drawn.layout), drawn.targets.astype(np.float32)

    time_of_epoch = lambda epoch, logs: ends.append(time.perf_counter() - start)  # noqa: E731
    how = {"epochs": n_epochs, "steps_per_epoch": detector.batches_per_epoch, "verbose": 0}
    history = model.fit(
        batches(), **how, callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=time_of_epoch)]
    )
    return history.history["loss"], ends[-1] + (detector.epochs - n_epochs) * median(np.diff(ends))


def floor_inputs(detector, data):
    """What floor needs besides X: the distinct rows of every batch of a fit, W (D, h) and G (b, h)."""
    rng = np.random.default_rng(detector.random_state)
    batches = [np.unique(positions) for positions in batches_of_fit(detector, data, rng)[1]]
    weights = rng.random((data[0].shape[1], detector.hidden_units), dtype=np.float32)
    return batches, weights, rng.random((max(map(len, batches)), detector.hidden_units), dtype=np.float32)


def floor(rows, batches, weights, gradient):
    """X_b W (b, h) and X_b' G (D, h) of every batch; returns those of the last."""
    space = np.empty((len(gradient), rows.shape[1]), rows.dtype)  # for all batches: a new one costs more
    for positions in batches:
        batch = np.take(rows, positions, 0, out=space[: len(positions)], mode="clip")  # other modes copy
        forward, backward = batch @ weights, batch.T @ gradient[: len(positions)]
    return forward, backward


def measure_run(method, run, data, X_test):
    """{what: seconds} of one run of a method."""
    detector = make_detector(method, random_state=run)
    inputs = floor_inputs(detector, data)
    seconds = {
        "fit": seconds_of(detector.fit_rows, *data),
        "floor": seconds_of(floor, data[0], *inputs),
        "score": median(seconds_of(detector.decision_function, X_test) for _ in range(SCORINGS)),
        "product": median(seconds_of(np.matmul, X_test, inputs[1]) for _ in range(SCORINGS)),
    }
    if run == 0:  # these are slow
        seconds["plain"] = fit_plain(make_detector(method), data)[1]
        by_pairs = getattr(detector, "score_by_pairs", None)
        seconds["pairs"] = seconds_of(by_pairs, X_test) if by_pairs else np.nan
    return seconds


def summary(runs):
    """A row per data set and method: medians of their runs after the first, and ratios."""
    first = runs[runs["run"] == 0].set_index(["dataset", "method"])
    of = runs[runs["run"] > 0].groupby(["dataset", "method"], sort=False).median().fillna(first)
    table = of.drop(columns="run").assign(compile=first["fit"] - of["fit"]).add_suffix("_seconds")
    table["fit_over_floor"] = of["fit"] / of["floor"]
    table["plain_over_fit"] = of["plain"] / of["fit"]
    table["score_over_product"] = of["score"] / of["product"]
    table["pairs_over_score"] = of["pairs"] / of["score"]
    return table.reset_index()


def warm_up():
    """Fit and score a small model, so that TensorFlow's start-up is not counted."""
    rows, places = np.random.default_rng(0).random((1_000, 10), dtype=np.float32), np.arange(1_000)
    make_detector("prenet", epochs=1).fit_rows(rows, places[:900], places[900:]).decision_function(rows)


def measure_methods(args):
    """The table of training and scoring: a row per data set and method."""
    prepare_all(args.datasets, make_finder(args), args.data_dir)
    every_set = {name: load_data(name, args.data_dir) for name in args.datasets}  # or says which is missing
    warm_up()
    runs = []
    for name, loaded in tqdm(every_set.items(), unit="data set"):
        split = loaded.split("released", 0, 60, 0.02)
        data, X_test = (split.stack(loaded.X), split.unlabeled, split.anomalies), loaded.X[split.test]
        for run in range(1 + args.runs):  # the first one compiles
            for method in MEASURED:
                seconds = measure_run(method, run, data, X_test)
                runs.append({"dataset": name, "method": method, "run": run, **seconds})
    return summary(pd.DataFrame(runs))


def generated_rows(n_rows, n_features, rng):
    """Uniform numbers (n, D), dense, or a CSR matrix with about NONZEROS per row."""
    if n_features > MOST_DENSE:
        return sparse.random(n_rows, n_features, NONZEROS / n_features, "csr", np.float32, rng)
    # in memory that starts on a page, so that TensorFlow need not copy it
    rows = np.frombuffer(mmap.mmap(-1, 4 * n_rows * n_features), np.float32)
    rng.random(out=rows, dtype=np.float32)
    return rows.reshape(n_rows, n_features)


def peak_mb(forget=False):
    """The peak memory of this process since its start or since it was last forgotten."""
    if forget:
        with contextlib.suppress(OSError):  # on Linux only; elsewhere a lower peak after a higher is not seen
            Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes() / 2**20


def measure_point(n_rows, n_features, n_labeled):
    """Time and memory of PReNet on generated rows, for a fresh process."""
    warm_up()
    rows, detector = generated_rows(n_rows, n_features, np.random.default_rng(0)), make_detector("prenet")
    data = rows, *np.split(np.arange(n_rows), [n_rows - n_labeled])
    before = peak_mb(forget=True)
    _, fit = (seconds_of(detector.fit_rows, *data) for _ in range(2))  # the first one compiles
    numbers = {"sparse": sparse.issparse(rows), "fit_seconds": fit, "fit_mb": peak_mb() - before}
    before = peak_mb(forget=True)
    score = median(seconds_of(detector.decision_function, rows) for _ in range(SCORINGS))
    return numbers | {"score_seconds": score, "score_mb": peak_mb() - before}


def measure_growth():
    """A row per point: one size grows, the others stay at SIZES."""
    table = []
    for growing, values in GROWING.items():
        for value in tqdm(values, growing):
            sizes = SIZES | {growing: value}
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                numbers = process.submit(measure_point, *sizes.values()).result()
            table.append({"growing": growing, **sizes, **numbers})
    return pd.DataFrame(table)


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__.splitlines()[0])
    add, default = parser.add_argument, "(default: %(default)s)"
    add("what", nargs="?", choices=("methods", "growth"), default="methods")
    sets = f"(default: {','.join(MEASURED_SETS)})"
    add("--datasets", type=data_set_names, default=MEASURED_SETS, metavar="A,B", help=sets)
    add("--runs", type=positive, default=10, help=f"runs of each method after its first {default}")
    add("--results-dir", default="results", help=f"where to write the table {default}")
    add_data_arguments(parser)
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        table = measure_growth() if args.what == "growth" else measure_methods(args)
        path = Path(args.results_dir) / ("growth.csv" if args.what == "growth" else "bench.csv")
        with written_whole(path) as file:
            table.to_csv(file, index=False)
    print(table.T.to_string(float_format="{:.4g}".format))
    return 0


if __name__ == "__main__":
    sys.exit(main())
