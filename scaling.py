"""How PReNet's cost grows: time and memory of training and scoring against rows, features and labelled anomalies.

    python scaling.py               # up to 10 million rows and a million features, about 10 minutes
    python scaling.py --quick       # small sizes

The data is generated: uniform numbers, dense, or sparse with NONZEROS entries a row. While one size grows, the others stay at
10,000 rows, 10 features and 60 labelled anomalies; for the anomalies, all of which are rows, at 100,000 rows. Every point has a
process and a thread of its own. All rows are scored.

fit_seconds       median of the fits after the first; where a fit takes longer than 20 seconds, the only fit
compile_seconds   what the first fit takes longer
score_seconds     median of several decision_function calls
data_mb           the rows themselves
fit_mb, score_mb  how far the peak of the process's memory rises above the data: all of training, scoring once

Writes <results>/scaling.csv and <results>/figures/scaling.png and .svg. An exponent is the slope of a straight line through
the logarithms: 0 does not grow, 1 is proportional.
"""

import argparse
import contextlib
import mmap
import resource
import statistics
import sys
from pathlib import Path

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from scipy import sparse
from tqdm import tqdm

import figures
from bench import CLOCKS, seconds_of
from data_files import DataError
from data_sources import written_whole
from runner import LocalWorker

SIZES = {"rows": 10_000, "features": 10, "labeled": 60}  # where a size is not the one that grows
LABELS = {"rows": "rows", "features": "features", "labeled": "labelled anomalies"}
GROWING = {
    "rows": [10_000, 100_000, 1_000_000, 10_000_000],
    "features": [10, 100, 1_000, 10_000, 100_000, 1_000_000],
    "labeled": [15, 60, 240, 1_000, 10_000],
}
QUICK = {"rows": [1_000, 10_000], "features": [20_000], "labeled": [500]}  # in 2 epochs
MOST_DENSE = 10_000  # features; more are sparse
NONZEROS = 100  # entries in a sparse row
CHUNK = 1_000_000  # numbers generated at a time
FITS, SCORINGS = 3, 5
LONG_FIT = 20  # seconds, from which on there is one fit only
SMALLEST_MB = 1.0  # what the allocator keeps at hand hides less
SCORING_MB, SCORING_BYTES_A_ROW = 128, 24  # the most that scoring should need beside the data; a score itself takes 8 bytes
# what must hold: size, column, the largest exponent, in words
TARGETS = [
    ("rows", "fit_seconds", 0.1, "training time does not grow with the rows"),
    ("rows", "fit_mb", 0.1, "training memory does not grow with the rows"),
    ("rows", "score_seconds", 1.1, "scoring time is at most linear in the rows"),
    ("labeled", "fit_seconds", 0.1, "training time does not grow with the labelled anomalies"),
    ("labeled", "fit_mb", 0.1, "training memory does not grow with the labelled anomalies"),
]


def dense_rows(n_rows, n_features, rng):
    """Uniform numbers (n, D) in memory that starts on a page, as that of the experiments' data: TensorFlow need not copy it."""
    rows = np.frombuffer(mmap.mmap(-1, 4 * n_rows * n_features), np.float32)
    for start in range(0, len(rows), CHUNK):
        rng.random(out=rows[start : start + CHUNK], dtype=np.float32)
    return rows.reshape(n_rows, n_features)


def sparse_rows(n_rows, n_features, rng):
    """A CSR matrix (n, D) of NONZEROS uniform numbers a row; columns drawn twice are added up."""
    columns = np.sort(rng.integers(n_features, size=(n_rows, NONZEROS), dtype=np.int32), axis=1).ravel()
    values = rng.random(len(columns), dtype=np.float32)
    rows = sparse.csr_matrix((values, columns, np.arange(0, len(columns) + 1, NONZEROS)), (n_rows, n_features))
    rows.sum_duplicates()
    return rows


def peak_mb(forget=False):
    """The most memory that this process has had, since its start or since it was last told to forget that."""
    if forget:
        with contextlib.suppress(OSError):  # on Linux only; elsewhere a lower peak after a higher one is not seen
            Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count the process that started this one in
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


def measure(n_rows, n_features, n_labeled, epochs, clock):
    """Time and memory of one point, for a fresh process; None if PReNet cannot be trained on rows of this kind."""
    from prenet import PReNet  # imports TensorFlow

    detector, rng = PReNet(epochs=epochs), np.random.default_rng(0)
    is_sparse = n_features > MOST_DENSE
    if is_sparse and not detector.takes_sparse:
        return None
    small = dense_rows(1_000, 10, rng)
    PReNet(epochs=1).fit_rows(small, np.arange(900), np.arange(900, 1_000)).decision_function(small)  # what TensorFlow itself takes
    rows = (sparse_rows if is_sparse else dense_rows)(n_rows, n_features, rng)
    data_mb = (rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes if is_sparse else rows.nbytes) / 2**20
    unlabeled, anomalies = np.split(np.arange(n_rows), [n_rows - n_labeled])

    before = peak_mb(forget=True)
    fits = [seconds_of(clock, detector.fit_rows, rows, unlabeled, anomalies)]
    while len(fits) < FITS and fits[0] < LONG_FIT:
        fits.append(seconds_of(clock, detector.fit_rows, rows, unlabeled, anomalies))
    fit_mb = peak_mb() - before
    before = peak_mb(forget=True)
    scorings = [seconds_of(clock, detector.decision_function, rows) for _ in range(SCORINGS)]
    fit = statistics.median(fits[1:] or fits)
    return {
        "sparse": is_sparse,
        "fit_seconds": fit,
        "compile_seconds": fits[0] - fit if len(fits) > 1 else np.nan,
        "score_seconds": statistics.median(scorings),
        "data_mb": data_mb,
        "fit_mb": fit_mb,
        "score_mb": peak_mb() - before,
    }


def measure_all(growing, epochs, clock):
    """A row per point; those that cannot be measured are left out, with a printed reason."""
    points = [(size, value) for size, values in growing.items() for value in values]
    table = []
    interval = 0.1 if sys.stderr.isatty() else 30  # in a log file, a line every half minute is enough
    for size, value in (progress := tqdm(points, unit="point", mininterval=interval, dynamic_ncols=True)):
        progress.set_description(f"{value:,} {LABELS[size]}", refresh=sys.stderr.isatty())
        sizes = SIZES | ({"rows": 10 * max(growing["labeled"])} if size == "labeled" else {}) | {size: value}
        worker = LocalWorker()  # a new process, so that its peak of memory is this point's
        try:
            result = worker.submit(measure, *sizes.values(), epochs, clock).result()
        except Exception as error:  # of this point, and the others go on
            progress.write(f"{value:,} {LABELS[size]}: left out, {error}", file=sys.stderr)
            continue
        finally:
            worker.stop()
        if result is None:
            progress.write(f"{value:,} {LABELS[size]}: left out, because PReNet does not train on sparse rows", file=sys.stderr)
            continue
        table.append({"growing": size, **sizes, **result})
    return pd.DataFrame(table)


def exponent(sizes, values):
    """The slope of a straight line through log(values) against log(sizes)."""
    return np.polyfit(np.log(sizes), np.log(values), 1)[0]


def exponents(table):
    """{(size, column): exponent} of all curves with at least two points; dense and sparse rows are different curves."""
    slopes = {}
    for size, part in table[~table["sparse"]].groupby("growing", sort=False):
        for column in ("fit_seconds", "score_seconds", "fit_mb", "score_mb"):
            values = np.maximum(part[column], SMALLEST_MB) if column.endswith("_mb") else part[column]
            if len(part) > 1:
                slopes[size, column] = exponent(part[size], values)
    return slopes


def print_table(table, slopes):
    """The points, the exponents below each group of them, and the targets."""
    columns = {"fit_seconds": "fit s", "compile_seconds": "compile s", "score_seconds": "score s"}
    columns |= {"data_mb": "data MB", "fit_mb": "fit MB", "score_mb": "score MB"}
    for size, part in table.groupby("growing", sort=False):
        print(f"\n{LABELS[size]:<22}" + "".join(f"{name:>11}" for name in columns.values()))
        for _, row in part.iterrows():
            shown = [f"{row[column]:.{1 if column.endswith('_mb') else 3}f}" for column in columns]
            print(f"{row[size]:<12,}{'sparse' if row['sparse'] else '':<10}" + "".join(f"{text:>11}" for text in shown))
        shown = [f"{slopes[size, column]:.2f}" if (size, column) in slopes else "" for column in columns]
        print(f"{'exponent, dense':<22}" + "".join(f"{text:>11}" for text in shown))
    print("\nTargets")
    for size, column, largest, words in TARGETS:
        if (size, column) in slopes:
            slope = slopes[size, column]
            print(f"  {words}: exponent {slope:.2f}, at most {largest}: {'met' if slope <= largest else 'missed'}")
    excess = table["score_mb"] - (SCORING_MB + SCORING_BYTES_A_ROW * table["rows"] / 2**20)
    words = f"scoring needs at most {SCORING_MB} MB and {SCORING_BYTES_A_ROW} bytes a row beside the data"
    print(f"  {words}: {'met' if (excess <= 0).all() else 'missed'}, it does in {(excess <= 0).sum()} of {len(table)} points")


def draw(table, slopes):
    """Time above, memory below, a column for each growing size; sparse rows have hollow markers."""
    curves = {
        "fit_seconds": ("training", "#D55E00", "o", 0), "score_seconds": ("scoring all rows", "#0072B2", "s", 0),
        "fit_mb": ("training", "#D55E00", "o", 1), "score_mb": ("scoring all rows", "#0072B2", "s", 1),
        "data_mb": ("data", "#777777", "^", 1),
    }  # fmt: skip
    groups = dict(list(table.groupby("growing", sort=False)))
    figure, panels = figures.panel_grid(2 * len(groups), "PReNet: how cost grows", columns=len(groups), sharex="col", sharey="row")
    panels = panels.reshape(2, len(groups))
    for column, (size, part) in enumerate(groups.items()):
        for name, (_, color, marker, row) in curves.items():
            axes = panels[row, column]
            for is_sparse, points in part.groupby("sparse"):
                values = np.maximum(points[name], SMALLEST_MB) if row else points[name]
                face = "none" if is_sparse else color
                axes.plot(points[size], values, color=color, marker=marker, markersize=3.6, linewidth=1.1, markerfacecolor=face)
                if (size, name) in slopes and not is_sparse:
                    place = {"xytext": (4, 4), "textcoords": "offset points", "color": color, "fontsize": 6.5}
                    axes.annotate(f"{slopes[size, name]:.2f}", (points[size].iloc[-1], values.iloc[-1]), **place)
            axes.set(xscale="log", yscale="log")
            axes.margins(x=0.12)
        panels[1, column].set_xlabel(LABELS[size])
    panels[0, 0].set_ylabel("seconds")
    panels[1, 0].set_ylabel("MB, 1 or more")
    kinds = {label: (color, marker) for label, color, marker, _ in curves.values()}
    handles = [Line2D([], [], color=color, marker=marker, markersize=3.6, label=label) for label, (color, marker) in kinds.items()]
    notes = [Line2D([], [], marker="o", color="#444444", label="hollow: sparse rows", **figures.HOLLOW | {"markersize": 3.6})]
    notes += [Line2D([], [], linestyle="none", label="number: exponent")]
    figure.legend(handles=[*handles, *notes], loc="outside lower center", ncols=5)
    return figure


def main(argv=None):
    parser = argparse.ArgumentParser(description="Measure how PReNet's time and memory grow with the data, and draw it.")
    parser.add_argument("--quick", action="store_true", help="small sizes and 2 epochs only, to see whether it works")
    clock = "seconds that pass, or that the processor works (default: %(default)s)"
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help=clock)
    parser.add_argument("--results-dir", default="results", help="where to write scaling.csv and the figure (default: %(default)s)")
    args = parser.parse_args(argv)
    table = measure_all(*(QUICK, 2) if args.quick else (GROWING, 50), args.clock)
    if not len(table):
        parser.error("no point could be measured")
    slopes = exponents(table)
    results = Path(args.results_dir)
    try:
        with written_whole(results / "scaling.csv") as file:
            table.to_csv(file, index=False)
        with matplotlib.style.context(["default", figures.RC]):
            written = figures.save(draw(table, slopes), results / "figures" / "scaling")
    except DataError as error:
        parser.error(str(error))
    print_table(table, slopes)
    print("\n" + "\n".join(map(str, [results / "scaling.csv", *written])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
