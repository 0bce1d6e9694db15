"""How fast PReNet trains: the compiled loop against a plain model.fit and against the floor, in one process, one thread.

    python bench.py                               # thyroid and bac, 5 runs each
    python bench.py --datasets demo --runs 3      # needs no data

ours      PReNet.fit: drawing the batches, building the network, 50 x 20 steps; the first run also compiles, for all of them
plain     the same network and optimiser, batches drawn and gathered by a generator that feeds Keras' model.fit, which
          compiles in every run
floor     no training at all: gathering all 1,024 rows of each batch and the two matrix products with the hidden layer's
          weights (forward, and backward for their gradient) in numpy; ours encodes a row that recurs in a batch once
"""

import argparse
import os
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402

from command_line import add_data_arguments, data_set_names, make_finder, positive  # noqa: E402
from data_files import DataError  # noqa: E402
from data_prep import load_data, prepare_all  # noqa: E402
from data_registry import how_to_get  # noqa: E402


def fit_plain(detector, rows, split, seed):
    """Train the detector's network with model.fit on a generator of batches; returns the seconds it took."""
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    model = detector.build(rows.shape[1], seed)
    model.compile(optimizer=detector.optimizer(), loss=detector.loss)

    def batches():
        while True:
            batch = detector.sample_batches(rows, split.unlabeled, split.anomalies, 1, rng)
            drawn = np.concatenate([batch.unlabeled[0], split.anomalies[batch.anomalies[0]]])
            yield (rows[drawn[batch.layout[0]]], rows[drawn[batch.layout[1]]]), batch.targets

    model.fit(batches(), epochs=detector.epochs, steps_per_epoch=detector.batches_per_epoch, verbose=0)
    return time.perf_counter() - start


def fit_floor(detector, rows, split, seed):
    """Only gather the batches and multiply: (b, D) x (D, M) and (D, b) x (b, M); returns the seconds it took."""
    rng = np.random.default_rng(seed)
    n_batches = detector.epochs * detector.batches_per_epoch
    batches = detector.sample_batches(rows, split.unlabeled, split.anomalies, n_batches, rng)
    drawn = np.hstack([batches.unlabeled, split.anomalies[batches.anomalies]])
    weights = rng.random((rows.shape[1], detector.hidden_units), dtype=np.float32)
    start = time.perf_counter()
    for positions in drawn:
        batch = rows[positions]
        hidden = batch @ weights
        batch.T @ hidden
    return time.perf_counter() - start


def measure(name, runs, data_dir):
    """Seconds of each run, one row per way to train."""
    from prenet import PReNet

    data = load_data(name, data_dir)
    split = data.split("released", 0, 60, 0.02)
    rows = split.stack(data.X)
    seconds = {"ours": [], "plain": [], "floor": []}
    for seed in range(runs):
        start = time.perf_counter()
        PReNet(random_state=seed).fit_rows(rows, split.unlabeled, split.anomalies)
        seconds["ours"].append(time.perf_counter() - start)
        seconds["plain"].append(fit_plain(PReNet(), rows, split, seed))
        seconds["floor"].append(fit_floor(PReNet(), rows, split, seed))
    return {way: np.array(values) for way, values in seconds.items()}


def main(argv=None):
    parser = argparse.ArgumentParser(description="Time PReNet's training.")
    names = ["thyroid", "bac"]
    parser.add_argument("--datasets", type=data_set_names, default=names, metavar="A,B", help="(default: thyroid,bac)")
    parser.add_argument("--runs", type=positive, default=5, help="runs of each (default: %(default)s)")
    add_data_arguments(parser)
    args = parser.parse_args(argv)
    try:
        statuses, errors = prepare_all(args.datasets, make_finder(args), args.data_dir)
    except DataError as error:
        parser.error(str(error))
    for name in args.datasets:
        if statuses.get(name, "missing") == "missing":
            sys.exit(how_to_get(name, args.data_dir) if name not in errors else 1)
    print(f"{'seconds per run':<20}{'ours':>8}{'plain':>8}{'floor':>8}{'plain/ours':>12}{'ours/floor':>12}")
    for name in args.datasets:
        seconds = measure(name, args.runs, args.data_dir)
        parts = {"mean": slice(None), "first run": slice(1), "later runs": slice(1, None)}
        for label, part in parts.items() if args.runs > 1 else [("mean", slice(None))]:
            ours, plain, floor = (seconds[way][part].mean() for way in ("ours", "plain", "floor"))
            print(f"{name + ', ' + label:<20}{ours:>8.3f}{plain:>8.3f}{floor:>8.3f}{plain / ours:>12.1f}{ours / floor:>12.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
