"""How PReNet's cost grows: time and memory against rows, features and labelled anomalies.

    python -m tools.growth               # up to 10 million rows and a million features, about 10 minutes
    python -m tools.growth --quick       # small sizes

The data is generated: uniform numbers, dense, or sparse with NONZEROS entries per row. While one size grows,
the others stay at 10,000 rows, 10 features and 60 labelled anomalies. While the anomalies grow, all of which
are rows, there are 100,000 rows. Every point has its own process with one thread. All rows are scored.

fit_seconds       median of the fits after the first; if a fit takes longer than 20 seconds, the only fit
compile_seconds   the additional time of the first fit
score_seconds     median of several decision_function calls
data_mb           the rows themselves
fit_mb, score_mb  the process's peak memory in addition to the data: for all of training, for scoring once

Writes <results>/growth.csv and <results>/figures/growth.png and .svg. An exponent is the slope of a
straight line through the logarithms: 0 does not grow, 1 is proportional.
"""

import argparse
import contextlib
import mmap
import statistics
import sys
from pathlib import Path

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from scipy import sparse
from tqdm import tqdm

from tools.bench import CLOCKS, seconds_of
from weakly.command_line import user_errors_end
from weakly.memory import peak_bytes
from weakly.reporting import figures
from weakly.running.processes import new_process
from weakly.writing import written_whole

SIZES = {"rows": 10_000, "features": 10, "labeled": 60}  # of the sizes that do not grow
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
LONG_FIT = 20  # seconds; a longer fit is made only once
SMALLEST_MB = 1.0  # the allocator's reserve hides smaller amounts
# the most memory that scoring should need in addition to the data; a score itself takes 8 bytes
SCORING_MB, SCORING_BYTES_A_ROW = 128, 24
# the targets: size, column, largest exponent, in words
SCALING_TARGETS = [
    ("rows", "fit_seconds", 0.1, "training time does not grow with the rows"),
    ("rows", "fit_mb", 0.1, "training memory does not grow with the rows"),
    ("rows", "score_seconds", 1.1, "scoring time is at most linear in the rows"),
    ("labeled", "fit_seconds", 0.1, "training time does not grow with the labelled anomalies"),
    ("labeled", "fit_mb", 0.1, "training memory does not grow with the labelled anomalies"),
]


def dense_rows(n_rows, n_features, rng):
    """Uniform numbers (n, D) in memory that starts on a page, so that TensorFlow need not copy it."""
    rows = np.frombuffer(mmap.mmap(-1, 4 * n_rows * n_features), np.float32)
    for start in range(0, len(rows), CHUNK):
        rng.random(out=rows[start : start + CHUNK], dtype=np.float32)
    return rows.reshape(n_rows, n_features)


def sparse_rows(n_rows, n_features, rng):
    """A CSR matrix (n, D) of NONZEROS uniform numbers per row; values of a column drawn twice are added."""
    columns = np.sort(rng.integers(n_features, size=(n_rows, NONZEROS), dtype=np.int32), axis=1).ravel()
    values = rng.random(len(columns), dtype=np.float32)
    rows = sparse.csr_matrix(
        (values, columns, np.arange(0, len(columns) + 1, NONZEROS)), (n_rows, n_features)
    )
    rows.sum_duplicates()
    return rows


def peak_mb(forget=False):
    """The peak memory of this process since its start or since the last reset."""
    if forget:
        # on Linux only; elsewhere a lower peak after a higher one is not seen
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes() / 2**20


def measure_point(n_rows, n_features, n_labeled, epochs, clock):
    """Time and memory of one point, for a fresh process; None if PReNet does not train on such rows."""
    from prenet import PReNet  # imports TensorFlow

    detector, rng = PReNet(epochs=epochs), np.random.default_rng(0)
    is_sparse = n_features > MOST_DENSE
    if is_sparse and not detector.takes_sparse:
        return None
    small = dense_rows(1_000, 10, rng)  # what TensorFlow itself takes
    PReNet(epochs=1).fit_rows(small, np.arange(900), np.arange(900, 1_000)).decision_function(small)
    rows = (sparse_rows if is_sparse else dense_rows)(n_rows, n_features, rng)
    arrays = (rows.data, rows.indices, rows.indptr) if is_sparse else (rows,)
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
        "data_mb": sum(array.nbytes for array in arrays) / 2**20,
        "fit_mb": fit_mb,
        "score_mb": peak_mb() - before,
    }


def measure_all(growing, epochs, clock):
    """A row per point; those that cannot be measured are skipped, with a message."""
    points = [(size, value) for size, values in growing.items() for value in values]
    table = []
    interval = 0.1 if sys.stderr.isatty() else 30  # in a log file, a line every half minute is enough
    for size, value in (progress := tqdm(points, unit="point", mininterval=interval, dynamic_ncols=True)):
        progress.set_description(f"{value:,} {LABELS[size]}", refresh=sys.stderr.isatty())
        sizes = SIZES | ({"rows": 10 * max(growing["labeled"])} if size == "labeled" else {}) | {size: value}
        worker = new_process()  # a new process, so that its peak memory is this point's
        try:
            result = worker.submit(measure_point, *sizes.values(), epochs, clock).result()
        except Exception as error:  # an error of this point; the others continue
            progress.write(f"{value:,} {LABELS[size]}: skipped, {error}", file=sys.stderr)
            continue
        finally:
            worker.shutdown()
        if result is None:
            reason = "skipped, because PReNet does not train on sparse rows"
            progress.write(f"{value:,} {LABELS[size]}: {reason}", file=sys.stderr)
            continue
        table.append({"growing": size, **sizes, **result})
    return pd.DataFrame(table)


def exponent(sizes, values):
    """The slope of a straight line through log(values) against log(sizes)."""
    return np.polyfit(np.log(sizes), np.log(values), 1)[0]


def exponents(table):
    """{(size, column): exponent} of all curves with two points or more, on dense rows."""
    slopes = {}
    for size, part in table[~table["sparse"]].groupby("growing", sort=False):
        for column in ("fit_seconds", "score_seconds", "fit_mb", "score_mb"):
            values = np.maximum(part[column], SMALLEST_MB) if column.endswith("_mb") else part[column]
            if len(part) > 1:
                slopes[size, column] = exponent(part[size], values)
    return slopes


def print_growth(table, slopes):
    """The points, the exponents below each group of them, and the targets."""
    columns = {"fit_seconds": "fit s", "compile_seconds": "compile s", "score_seconds": "score s"}
    columns |= {"data_mb": "data MB", "fit_mb": "fit MB", "score_mb": "score MB"}
    for size, part in table.groupby("growing", sort=False):
        print(f"\n{LABELS[size]:<22}" + "".join(f"{name:>11}" for name in columns.values()))
        for _, row in part.iterrows():
            shown = [f"{row[column]:.{1 if column.endswith('_mb') else 3}f}" for column in columns]
            kind = "sparse" if row["sparse"] else ""
            print(f"{row[size]:<12,}{kind:<10}" + "".join(f"{text:>11}" for text in shown))
        shown = [f"{slopes[size, column]:.2f}" if (size, column) in slopes else "" for column in columns]
        print(f"{'exponent, dense':<22}" + "".join(f"{text:>11}" for text in shown))
    print("\nTargets")
    for size, column, largest, words in SCALING_TARGETS:
        if (size, column) in slopes:
            slope = slopes[size, column]
            verdict = "met" if slope <= largest else "missed"
            print(f"  {words}: exponent {slope:.2f}, at most {largest}: {verdict}")
    excess = table["score_mb"] - (SCORING_MB + SCORING_BYTES_A_ROW * table["rows"] / 2**20)
    words = f"scoring needs at most {SCORING_MB} MB and {SCORING_BYTES_A_ROW} bytes per row beyond the data"
    verdict = "met" if (excess <= 0).all() else "missed"
    print(f"  {words}: {verdict}, true for {(excess <= 0).sum()} of {len(table)} points")


CURVES = {  # column: label, colour, marker, row of panels
    "fit_seconds": ("training", "#D55E00", "o", 0),
    "score_seconds": ("scoring all rows", "#0072B2", "s", 0),
    "fit_mb": ("training", "#D55E00", "o", 1),
    "score_mb": ("scoring all rows", "#0072B2", "s", 1),
    "data_mb": ("data", "#777777", "^", 1),
}


def draw_growth(axes, points, size, column, slope):
    """One curve with its slope at the end; sparse rows have hollow markers."""
    _, color, marker, row = CURVES[column]
    for is_sparse, part in points.groupby("sparse"):
        values = np.maximum(part[column], SMALLEST_MB) if row else part[column]
        look = {"markersize": 3.6, "linewidth": 1.1, "markerfacecolor": "none" if is_sparse else color}
        axes.plot(part[size], values, color=color, marker=marker, **look)
        if slope is not None and not is_sparse:
            place = {"xytext": (4, 4), "textcoords": "offset points", "color": color, "fontsize": 6.5}
            axes.annotate(f"{slope:.2f}", (part[size].iloc[-1], values.iloc[-1]), **place)
    axes.set(xscale="log", yscale="log")
    axes.margins(x=0.12)


def growth_figure(table, slopes):
    """Time above, memory below, a column for each growing size."""
    groups = dict(list(table.groupby("growing", sort=False)))
    shape = {"columns": len(groups), "sharex": "col", "sharey": "row"}
    figure, panels = figures.panel_grid(2 * len(groups), "PReNet: how cost grows", **shape)
    panels = panels.reshape(2, len(groups))
    for column, (size, part) in enumerate(groups.items()):
        for name, (_, _, _, row) in CURVES.items():
            draw_growth(panels[row, column], part, size, name, slopes.get((size, name)))
        panels[1, column].set_xlabel(LABELS[size])
    panels[0, 0].set_ylabel("time (s)")
    panels[1, 0].set_ylabel("memory (MB)")
    kinds = {label: (color, marker) for label, color, marker, _ in CURVES.values()}
    handles = [
        Line2D([], [], color=color, marker=marker, markersize=3.6, label=label)
        for label, (color, marker) in kinds.items()
    ]
    look = figures.HOLLOW | {"markersize": 3.6}
    handles += [Line2D([], [], marker="o", color="#444444", label="hollow: sparse rows", **look)]
    handles += [Line2D([], [], linestyle="none", label="number: exponent b, cost ~ size^b")]
    figure.legend(handles=handles, loc="outside lower center", ncols=5)
    return figure


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tools.growth",
        description="Measure how PReNet's time and memory grow with the data, and draw it.",
    )
    quick = "only small sizes and 2 epochs, as a quick check"
    parser.add_argument("--quick", action="store_true", help=quick)
    clock = "wall-clock or processor time (default: %(default)s)"
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help=clock)
    where = "where to write growth.csv and the figure (default: %(default)s)"
    parser.add_argument("--results-dir", default="results", help=where)
    args = parser.parse_args(argv)
    table = measure_all(*(QUICK, 2) if args.quick else (GROWING, 50), args.clock)
    if not len(table):
        parser.error("no point could be measured")
    slopes, results = exponents(table), Path(args.results_dir)
    with user_errors_end(parser):
        with written_whole(results / "growth.csv") as file:
            table.to_csv(file, index=False)
        with matplotlib.style.context(["default", figures.RC]):
            written = figures.save(growth_figure(table, slopes), results / "figures" / "growth")
    print_growth(table, slopes)
    print("\n" + "\n".join(map(str, [results / "growth.csv", *written])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
