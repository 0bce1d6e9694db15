"""Where XGBOD and FEAWAD spend their time: a straightforward implementation, ours, and a lower bound.

    python -m tools.bench_parts                          # six data sets, about ten minutes
    python -m tools.bench_parts --datasets thyroid

Processor seconds in one thread, for one run with the authors' draws; plain and ours alternate:

XGBOD    means      StandardScaler; ours: column sums in chunks
         SVMs       scores by one float64 kernel of all rows; ours: float32 and each distinct row once
         forests    scikit-learn's score_samples; ours: XGBoost walks all 600 trees
         boosting   XGBoost on dense columns; ours: binary columns without their zeros
         fits       of SVMs and forests: the same code in both
FEAWAD   autoencoder  100 epochs of pre-training: the same code in both
         joint        30 epochs on all 512 rows of a batch; ours: each distinct row once
         The floor is numpy's time for the matrix products alone. Times are extrapolated from a few epochs.

Everything is written to <results>/bench_parts.csv.
"""

import argparse
import sys
import time
from pathlib import Path

import tools.bench  # sets one thread, before numpy and TensorFlow are imported

# isort: split
import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

from feawad import FEAWAD, _Pretraining
from weakly.command_line import user_errors_end
from weakly.loading.options import add_data_arguments, data_set_names, make_finder
from weakly.loading.store import load_data, prepare_all
from weakly.training.detector import apply_in_chunks
from weakly.training.network import keras
from weakly.training.trees import binary_columns, zeros_as_missing
from weakly.writing import written_whole
from xgbod import FOREST_TREES, KERNEL_ROWS, XGBOD, distinct_rows, mean_and_scale

MEASURED_SETS = ["thyroid", "campaign", "w7a", "bac", "donors", "census"]
PLAIN_ROWS = 16_384  # rows that the plain version scores at a time
EPOCHS, FEW = {"autoencoder": 100, "joint": 30}, 10  # epochs of FEAWAD's stages, and how many are measured


def seconds(work):
    """The processor seconds of a call, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


# ---------------------------------------------------------------------------- XGBOD


def xgbod_parts(rows, labels, X_test):
    """{part: (plain seconds, our seconds)} of one run."""
    detector = XGBOD()
    everything, _ = seconds(
        lambda: detector.fit_rows(rows, np.flatnonzero(labels == 0), np.flatnonzero(labels == 1))
    )
    scoring, _ = seconds(lambda: detector.decision_function(X_test))
    both = (rows, X_test)
    forests = [IsolationForest(n_estimators=n, random_state=n).fit(rows) for n in FOREST_TREES]
    columns = detector.add_scores(rows)
    settings = {"n_estimators": 100, "max_depth": 3, "learning_rate": 0.1, "base_score": 0.5, "n_jobs": 1}
    works = {
        "means": (lambda: StandardScaler().fit(rows), lambda: mean_and_scale(rows)),
        "SVMs": (
            lambda: [plain_svm_scores(detector, X) for X in both],
            lambda: [our_svm_scores(detector, X) for X in both],
        ),
        "forests": (
            lambda: [forest.score_samples(X) for X in both for forest in forests],
            lambda: [detector._forest_scores(X[distinct_rows(X)[0]]) for X in both],
        ),
        "boosting": (
            lambda: XGBClassifier(**settings).fit(columns, labels),
            lambda: XGBClassifier(**settings).fit(zeros_as_missing(columns, binary_columns(columns)), labels),
        ),
    }
    parts = {name: tuple(seconds(work)[0] for work in pair) for name, pair in works.items()}
    ours = everything + scoring
    fits = max(0.0, ours - sum(pair[1] for pair in parts.values()))
    parts["fits"] = (fits, fits)
    return parts


def plain_svm_scores(detector, X):
    """The SVMs' columns as scikit-learn has them, in float64."""

    def scores(rows):
        z_scores = (rows.astype(np.float64) - detector.mean_) / detector.scale_
        kernel = rbf_kernel(z_scores, detector.svm_sample_, gamma=1 / rows.shape[1])
        return kernel @ detector.svm_weights_ + detector.svm_intercepts_

    return apply_in_chunks(scores, X, n_rows=PLAIN_ROWS)


def our_svm_scores(detector, X):
    return apply_in_chunks(detector._svm_scores, X[distinct_rows(X)[0]], n_rows=KERNEL_ROWS)


# ---------------------------------------------------------------------------- FEAWAD


class PlainFEAWAD(FEAWAD):
    """FEAWAD on all rows of a batch, including repeated ones."""

    def build(self, n_features, seed):
        model = super().build(n_features, seed)
        return keras.Model(
            model.input, model.output
        )  # without the attribute that says that it works row by row


def feawad_parts(rows, labels):
    """{part: (plain seconds, our seconds, floor)} of one fit."""
    unlabeled, anomalies = np.flatnonzero(labels == 0), np.flatnonzero(labels == 1)

    def stage(make):
        """Seconds of an epoch, from two fits, so that fixed costs such as compilation cancel."""
        times = []
        for n_epochs in (1, 1 + FEW):
            make(n_epochs).fit_rows(rows, unlabeled, anomalies)
            times.append(seconds(lambda: make(n_epochs).fit_rows(rows, unlabeled, anomalies))[0])  # noqa: B023
        return max(0.0, (times[1] - times[0]) / FEW)

    n_features = rows.shape[1]
    first = stage(lambda n: _Pretraining(epochs=n)) * EPOCHS["autoencoder"]
    plain = stage(lambda n: PlainFEAWAD(epochs=n, pretraining_epochs=1)) * EPOCHS["joint"]
    ours = stage(lambda n: FEAWAD(epochs=n, pretraining_epochs=1)) * EPOCHS["joint"]
    autoencoder = [n_features, n_features, 128, 64, 128, n_features]
    scorer = [n_features + 65, 256, 32, 1]
    n_distinct = 256 + min(256, len(anomalies))
    floors = {
        "autoencoder": 20 * EPOCHS["autoencoder"] * step_floor([autoencoder], 512),
        "joint": 20 * EPOCHS["joint"] * step_floor([autoencoder, scorer], n_distinct),
    }
    return {
        "autoencoder": (first, first, floors["autoencoder"]),
        "joint": (plain, ours, floors["joint"]),
    }


def step_floor(networks, n_rows, steps=20):
    """Seconds that numpy needs for the products of one step: forward, by the kernel and by the input."""
    rng, products = np.random.default_rng(0), []
    for sizes in networks:
        for n_in, n_out in zip(sizes, sizes[1:]):
            X, K, G = (
                rng.random(shape, dtype=np.float32)
                for shape in ((n_rows, n_in), (n_in, n_out), (n_rows, n_out))
            )
            products.append((X, K, G))

    def step():
        for number, (X, K, G) in enumerate(products):
            _ = X @ K, X.T @ G
            if number:  # no gradient by the rows themselves
                _ = G @ K.T

    step()
    return seconds(lambda: [step() for _ in range(steps)])[0] / steps


# ---------------------------------------------------------------------------- the table


def measure(name, data_dir, methods):
    """The rows of the table for one data set."""
    loaded = load_data(name, data_dir)
    split = loaded.split("released", 0, 60, 0.02)
    rows = split.stack(loaded.X)[np.concatenate([split.unlabeled, split.anomalies])]
    labels = np.repeat([0, 1], [len(split.unlabeled), len(split.anomalies)])
    parts_of = {
        "xgbod": lambda: xgbod_parts(rows, labels, loaded.X[split.test]),
        "feawad": lambda: feawad_parts(rows, labels),
    }
    table = []
    for method in methods:
        parts = parts_of[method]()
        parts["all"] = tuple(sum(values) for values in zip(*parts.values()))
        for part, (plain, ours, *floor) in parts.items():
            ratio = plain / ours if ours else np.nan
            times = {"plain_seconds": plain, "our_seconds": ours, "plain_over_ours": ratio}
            times["floor_seconds"] = floor[0] if floor else np.nan
            table.append({"dataset": name, "method": method, "part": part} | times)
    return table


def make_parser():
    parser = argparse.ArgumentParser(prog="python -m tools.bench_parts", description=__doc__.splitlines()[0])
    default = f"(default: {','.join(MEASURED_SETS)})"
    parser.add_argument("--datasets", type=data_set_names, default=MEASURED_SETS, metavar="A,B", help=default)
    methods = "xgbod, feawad or both (default: both)"
    parser.add_argument(
        "--methods",
        default=["xgbod", "feawad"],
        type=lambda text: text.split(","),
        metavar="A,B",
        help=methods,
    )
    where = "where to write bench_parts.csv (default: %(default)s)"
    parser.add_argument("--results-dir", default="results", help=where)
    add_data_arguments(parser)
    return parser


def main(argv=None):
    parser = make_parser()
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        statuses, errors = prepare_all(args.datasets, make_finder(args), args.data_dir)
        if errors or "missing" in statuses.values():
            sys.exit("Some of the data sets are not available: `python data_prep.py` says where to get them.")
        tools.bench.warm_up()
        table = []
        for name in args.datasets:
            table += measure(name, args.data_dir, args.methods)
            print(pd.DataFrame(table).query("dataset == @name").round(2).to_string(index=False), flush=True)
        path = Path(args.results_dir) / "bench_parts.csv"
        with written_whole(path) as file:
            pd.DataFrame(table).to_csv(file, index=False, float_format="%.4f")
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
