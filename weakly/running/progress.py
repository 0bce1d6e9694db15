"""The progress bar of a driver, and the seconds that runs take: guessed at first, then measured."""

import sys
from collections import defaultdict
from statistics import mean

from tqdm import tqdm

from weakly.methods import METHODS

# seconds of a run on thyroid, for methods that take longer than most
SECONDS = {"a2h": 8.0, "feawad": 6.0, "catboost": 3.0, "xgbod": 1.5, "rosas": 1.2, "random-forest": 0.8}
MOST_METHODS, COMPILING = 0.15, 2.0
THYROID = 7_200 * 21  # its numbers


def usual_seconds(cell, n_runs, are_first=True):
    """Roughly the seconds of some runs of a cell: a network is compiled in the first of them."""
    method = METHODS[cell.method]
    of_a_run = SECONDS.get(method.interpretation_of or cell.method, MOST_METHODS)
    # 100 times as many numbers take about 6 times as long, with most methods
    growth = max(1.0, cell.rows * min(cell.features, 100_000) / THYROID) ** 0.4
    return n_runs * of_a_run * growth + (COMPILING if are_first and not method.is_tree else 0.0)


class Clock:
    """The seconds of the runs of this start, by method and data set, and of those to come."""

    def __init__(self):
        self._measured = defaultdict(list)  # in their order
        self._taken = self._usual = 0.0  # seconds of all runs so far

    def add(self, cell, seconds):
        measured = self._measured[cell.method, cell.dataset]
        self._taken += seconds
        self._usual += usual_seconds(cell, 1, are_first=not measured)
        measured.append(seconds)

    def expected(self, cell, n_runs):
        """The seconds of the next runs of a cell."""
        if measured := self._measured[cell.method, cell.dataset]:
            return n_runs * mean(measured[1:] or measured)  # the first also compiles
        longer_than_usual = self._taken / self._usual if self._usual else 1.0
        return longer_than_usual * usual_seconds(cell, n_runs)


def with_progress(outcomes, missing):
    """Yield the outcomes of run_cells, with a progress bar; missing: {cell: run numbers}."""
    clock, left = Clock(), {cell: len(runs) for cell, runs in missing.items()}
    n_runs = sum(left.values())
    look = "{desc}{percentage:3.0f}%|{bar}| {elapsed}, {remaining} left{postfix}"
    every = 0.5 if sys.stderr.isatty() else 30  # seconds; in a log file, a line every half minute is enough
    how = {"bar_format": look, "mininterval": every, "smoothing": 0, "dynamic_ncols": True}
    with tqdm(total=1.0, disable=not missing, **how) as progress:
        for cell, measured, error in outcomes:
            yield cell, measured, error
            seconds = measured["seconds"] if measured else 0.0
            if measured:
                clock.add(cell, seconds)
            left[cell] -= 1
            expected = sum(clock.expected(other, count) for other, count in left.items() if count > 0)
            progress.total = progress.n + seconds + expected
            progress.set_description(f"{cell.dataset} {METHODS[cell.method].column}", refresh=False)
            progress.set_postfix_str(f"{n_runs - sum(left.values())} of {n_runs} runs", refresh=False)
            progress.update(seconds)
