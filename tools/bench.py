"""How fast training and scoring are in one thread, compared with Keras' own loop and with a lower bound.

    python -m tools.bench                              # PReNet, DevNet and Deep SAD on five data sets
    python -m tools.bench --datasets demo --runs 3     # needs no data

Training, 50 epochs of 20 batches:
fit       the detector's fit: drawing the batches, building the network and training it; the median of all
          runs except the first
compile   the additional time of the first run: the graph is compiled once for all runs. A small model is
          fitted before all measurements, because TensorFlow is slow when it is first used
plain     the same network, loss, optimiser and batches, gathered by a generator that feeds Keras' model.fit,
          which compiles in every run; one run, extrapolated from its first epochs
floor     no training: each distinct row of a batch X_b (b, D) is gathered once, and there are two matrix
          products with the hidden layer, X_b W forward and X_b' G backward, with W (D, h) and G (b, h); in
          numpy
10 runs   for ours, the first run and 9 times fit; for plain, 10 times plain

Scoring the test set X (n, D):
score     decision_function
pairs     PReNet's score as Eq. 6 defines it, in 2E passes over X; one run
product   a single matrix product X W, in numpy; on thyroid and demo it takes about 0.03 ms, less than any
          call of a detector

All times are medians of runs that alternate, so that other work on the machine affects all of them equally;
--clock cpu measures only the processor time of this process. Everything is written to <results>/bench.csv.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

for variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
):
    os.environ[variable] = "1"  # before numpy and TensorFlow are imported

import numpy as np
import pandas as pd
from tqdm import tqdm

from weakly.command_line import parse_names, positive, user_errors_end
from weakly.loading.options import add_data_arguments, data_set_names, make_finder
from weakly.loading.registry import how_to_get
from weakly.loading.store import load_data, prepare_all
from weakly.methods import METHODS, make_detector
from weakly.writing import written_whole

MEASURED_SETS = ["thyroid", "bac", "w7a", "census", "demo"]
MEASURED = ["prenet", "devnet", "dsad"]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
TEN = 10  # runs in the paper's tables
SCORINGS_A_RUN = 5  # repetitions in each run, because they are short
# a target: its ratio, the bound, whether the ratio must be below or above it, and for which data sets
BENCH_TARGETS = {
    "training": ("fit_over_floor", 1.6, "at most", ("bac", "w7a", "census")),
    "10 runs": ("ten_plain_over_ten", 10, "at least", ("thyroid",)),
    "scoring": ("score_over_product", 2, "at most", ("bac", "w7a", "census")),
}


def seconds_of(clock, function, *arguments):
    """How long a call takes by one of CLOCKS."""
    start = CLOCKS[clock]()
    function(*arguments)
    return CLOCKS[clock]() - start


def fit_plain(detector, rows, unlabeled, anomalies, n_epochs, clock="wall"):
    """Train as detector.fit_rows does, with model.fit on a generator of batches, for n_epochs epochs.

    Returns their mean losses, the seconds to the end of the first epoch, and those of each later one.
    """
    import keras  # imports TensorFlow

    start = CLOCKS[clock]()
    rng = np.random.default_rng(detector.random_state)
    network = detector.initial_network(rows, unlabeled, anomalies, seed=int(rng.integers(2**31)))
    drawn = detector.sample_batches(
        rows, unlabeled, anomalies, detector.epochs * detector.batches_per_epoch, rng
    )
    constants = [
        np.float32(value) for value in detector.loss_constants(rows, unlabeled, anomalies, network, rng)
    ]
    instances = tuple(keras.Input((rows.shape[1],)) for _ in drawn.layout)
    model = keras.Model(instances, network(*instances))
    model.compile(
        optimizer=detector.optimizer(),
        loss=lambda targets, outputs: detector.loss(targets, outputs, *constants),
    )

    def batches():
        for positions in np.hstack([drawn.unlabeled, anomalies[drawn.anomalies]]):
            inputs = tuple(rows[positions[places]] for places in drawn.layout)
            yield inputs, drawn.targets.astype(np.float32)

    ends = []
    stopwatch = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: ends.append(CLOCKS[clock]() - start)
    )
    history = model.fit(
        batches(),
        epochs=n_epochs,
        steps_per_epoch=detector.batches_per_epoch,
        verbose=0,
        callbacks=[stopwatch],
    )
    return history.history["loss"], ends[0], np.diff(ends)


def seconds_of_plain(detector, rows, unlabeled, anomalies, n_epochs, clock):
    """Seconds of a whole fit_plain, extrapolated from its first n_epochs epochs."""
    n_epochs = min(n_epochs, detector.epochs)
    _, first, later = fit_plain(detector, rows, unlabeled, anomalies, n_epochs, clock)
    unmeasured = detector.epochs - n_epochs
    return first + sum(later) + (unmeasured * statistics.median(later) if unmeasured else 0)


def floor_inputs(detector, rows, unlabeled, anomalies):
    """What floor needs besides X: the distinct rows of every batch of a fit, W (D, h) and G (b, h)."""
    rng = np.random.default_rng(detector.random_state)
    drawn = detector.sample_batches(
        rows, unlabeled, anomalies, detector.epochs * detector.batches_per_epoch, rng
    )
    batches = [np.unique(positions) for positions in np.hstack([drawn.unlabeled, anomalies[drawn.anomalies]])]
    weights = rng.random((rows.shape[1], detector.hidden_units), dtype=np.float32)
    return batches, weights, rng.random((max(map(len, batches)), detector.hidden_units), dtype=np.float32)


def floor(rows, batches, weights, gradient):
    """X_b W (b, h) and X_b' G (D, h) of every batch; returns those of the last."""
    # reused for all batches: a new array would cost more
    space = np.empty((len(gradient), rows.shape[1]), rows.dtype)
    for positions in batches:
        # any other mode makes a copy
        batch = np.take(rows, positions, axis=0, out=space[: len(positions)], mode="clip")
        forward, backward = batch @ weights, batch.T @ gradient[: len(positions)]
    return forward, backward


def measure_runs(method, data, runs, plain_epochs, clock):
    """Time one method on one data set; after each run, yields all seconds so far as {what: list}."""
    rows, split, X_test = data
    seconds = {what: [] for what in ("fit", "plain", "floor", "score", "pairs", "product")}
    positions = split.unlabeled, split.anomalies
    for run in range(runs):
        detector = make_detector(method, random_state=run)
        inputs = floor_inputs(detector, rows, *positions)
        seconds["fit"].append(seconds_of(clock, detector.fit_rows, rows, *positions))
        seconds["floor"].append(seconds_of(clock, floor, rows, *inputs))
        for _ in range(SCORINGS_A_RUN):
            seconds["product"].append(seconds_of(clock, np.matmul, X_test, inputs[1]))
            seconds["score"].append(seconds_of(clock, detector.decision_function, X_test))
        if run == 0:  # these are slow
            seconds["plain"].append(
                seconds_of_plain(make_detector(method), rows, *positions, plain_epochs, clock)
            )
            if hasattr(detector, "score_by_pairs"):
                seconds["pairs"].append(seconds_of(clock, detector.score_by_pairs, X_test))
        yield seconds


def medians_and_ratios(seconds):
    """The numbers of the table, from the seconds of each run."""
    first, *later = seconds["fit"]
    medians = {what: statistics.median(values) for what, values in seconds.items() if values}
    fit = statistics.median(later or [first])
    ten = first + (TEN - 1) * fit
    return {
        "fit_seconds": fit,
        "compile_seconds": first - fit,
        "plain_seconds": medians["plain"],
        "floor_seconds": medians["floor"],
        "fit_over_floor": fit / medians["floor"],
        "plain_over_fit": medians["plain"] / fit,
        "ten_seconds": ten,
        "ten_plain_seconds": TEN * medians["plain"],
        "ten_plain_over_ten": TEN * medians["plain"] / ten,
        "score_seconds": medians["score"],
        "pairs_seconds": medians.get("pairs", np.nan),
        "product_seconds": medians["product"],
        "score_over_product": medians["score"] / medians["product"],
        "pairs_over_score": medians.get("pairs", np.nan) / medians["score"],
    }


def target_column(target):
    return f"target_{target.replace(' ', '_')}"


def target_met(target, row):
    """Whether a row meets a target: met, missed, or empty if there is none for its data set."""
    ratio, bound, kind, names = BENCH_TARGETS[target]
    if row["dataset"] not in names:
        return ""
    return "met" if (row[ratio] <= bound if kind == "at most" else row[ratio] >= bound) else "missed"


def warm_up():
    """Fit and score a small model, so that TensorFlow's start-up is not counted as compilation."""
    rows = np.random.default_rng(0).random((100, 3), dtype=np.float32)
    detector = make_detector("prenet", epochs=1).fit_rows(rows, np.arange(90), np.arange(90, 100))
    detector.decision_function(rows)


def bench(args):
    """The table: a row of numbers per data set and method."""
    table = []
    warm_up()
    interval = 0.5 if sys.stderr.isatty() else 30  # in a log file, a line every half minute is enough
    total = len(args.datasets) * len(args.methods) * args.runs
    with tqdm(total=total, unit="run", mininterval=interval, dynamic_ncols=True) as progress:
        for name in args.datasets:
            loaded = load_data(name, args.data_dir)
            split = loaded.split("released", 0, 60, 0.02)
            data = split.stack(loaded.X), split, loaded.X[split.test]
            measuring = {
                method: measure_runs(method, data, args.runs, args.plain_epochs, args.clock)
                for method in args.methods
            }
            for rounds in zip(*measuring.values()):  # the methods alternate
                progress.set_description(name, refresh=False)
                progress.update(len(rounds))
            for method, seconds in zip(args.methods, rounds):
                row = {"dataset": name, "method": method, "rows": len(data[0]), "features": data[0].shape[1]}
                row |= {"test_rows": len(data[2]), "runs": args.runs, "clock": args.clock}
                row |= {"plain_epochs": args.plain_epochs, **medians_and_ratios(seconds)}
                table.append(row | {target_column(name): target_met(name, row) for name in BENCH_TARGETS})
    return pd.DataFrame(table)


def print_times(table, plain_epochs):
    """Print training and scoring separately, with the targets."""
    names = table["dataset"] + " " + table["method"].map(lambda method: METHODS[method].column)
    print(
        f"\n{'training, seconds':<18}{'fit':>8}{'compile':>9}{'plain':>8}{'floor':>8}{'fit/floor':>15}",
        end="",
    )
    print(f"{'plain/fit':>11}{'10 runs':>9}{'plain':>8}{'ratio':>14}")
    for name, row in zip(names, table.itertuples()):
        print(
            f"{name:<18}{row.fit_seconds:>8.3f}{row.compile_seconds:>9.3f}{row.plain_seconds:>8.2f}", end=""
        )
        print(f"{row.floor_seconds:>8.3f}{row.target_training:>8}{row.fit_over_floor:>7.2f}", end="")
        print(f"{row.plain_over_fit:>11.1f}{row.ten_seconds:>9.2f}{row.ten_plain_seconds:>8.1f}", end="")
        print(f"{row.target_10_runs:>8}{row.ten_plain_over_ten:>6.1f}")
    print(f"\n{'scoring, ms':<18}{'score':>9}{'pairs':>10}{'product':>9}", end="")
    print(f"{'score/product':>17}{'pairs/score':>13}")
    for name, row in zip(names, table.itertuples()):
        print(f"{name:<18}{1e3 * row.score_seconds:>9.2f}{1e3 * row.pairs_seconds:>10.1f}", end="")
        print(
            f"{1e3 * row.product_seconds:>9.3f}{row.target_scoring:>9}{row.score_over_product:>8.1f}", end=""
        )
        print(f"{row.pairs_over_score:>13.1f}")
    print("\nTargets")
    for target, (ratio, bound, kind, _) in BENCH_TARGETS.items():
        results = table[target_column(target)]
        met, of = (results == "met").sum(), (results != "").sum()
        print(f"  {target:<9} {ratio.replace('_', ' ')} {kind} {bound:g}: met in {met} of {of} cases")
    print(f"plain is one run, extrapolated from {plain_epochs} epochs; pairs is one run.")


def bench_parser():
    parser = argparse.ArgumentParser(
        prog="python -m tools.bench",
        description="Time training and scoring, compared with Keras' own loop and a lower bound.",
    )
    add = parser.add_argument
    default_sets = f"(default: {','.join(MEASURED_SETS)})"
    add("--datasets", type=data_set_names, default=MEASURED_SETS, metavar="A,B", help=default_sets)
    known = lambda text: parse_names(text, MEASURED, "method")  # noqa: E731
    all_methods = f"of {', '.join(MEASURED)} (default: all)"
    add("--methods", type=known, default=MEASURED, metavar="A,B", help=all_methods)
    add("--runs", type=positive, default=TEN, help="runs of each (default: %(default)s)")
    epochs = "epochs of model.fit to measure (default: %(default)s)"
    add("--plain-epochs", type=positive, default=TEN, help=epochs)
    clock = "wall-clock or processor time (default: %(default)s)"
    add("--clock", choices=CLOCKS, default="wall", help=clock)
    add("--results-dir", default="results", help="where to write bench.csv (default: %(default)s)")
    add_data_arguments(parser)
    return parser


def main(argv=None):
    parser = bench_parser()
    args = parser.parse_args(argv)
    if not 2 <= args.plain_epochs <= 50:
        bounds = "must be from 2 (the first epoch compiles) to 50 (all epochs)"
        parser.error(f"argument --plain-epochs: {bounds}")
    with user_errors_end(parser):
        statuses, errors = prepare_all(args.datasets, make_finder(args), args.data_dir)
        for name in args.datasets:
            if statuses.get(name, "missing") == "missing":
                sys.exit(how_to_get(name, args.data_dir) if name not in errors else 1)
        table = bench(args)
        path = Path(args.results_dir) / "bench.csv"
        with written_whole(path) as file:
            table.to_csv(file, index=False)
    print_times(table, args.plain_epochs)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
