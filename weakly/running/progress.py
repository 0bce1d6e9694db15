"""The progress bar of a driver. It counts usual seconds, not runs: those that committed runs have taken."""

import functools
import sys

import pandas as pd
from tqdm import tqdm

from weakly.methods import METHODS
from weakly.paths import ROOT

COLUMNS_READ = ["method", "dataset", "fit_seconds", "score_seconds"]


@functools.cache
def committed_seconds():
    """{(method, data set): median seconds of the committed runs}; nothing outside a clone."""
    paths = (ROOT / "results" / "reference").glob("*_runs.csv")
    tables = [pd.read_csv(path, usecols=COLUMNS_READ) for path in paths]
    runs = pd.concat(tables or [pd.DataFrame(columns=COLUMNS_READ)])
    return runs.set_index(["method", "dataset"]).sum(axis=1).groupby(level=[0, 1]).median().to_dict()


def usual_seconds(cell):
    """The seconds that a run of a cell takes, on a machine like those of the committed runs."""
    return committed_seconds().get((cell.method, cell.dataset), 1.0)


def with_progress(outcomes, missing):
    """Yield the outcomes of run_cells, with a progress bar; missing: {cell: run numbers}."""
    n_runs = sum(map(len, missing.values()))
    total = sum(usual_seconds(cell) * len(runs) for cell, runs in missing.items())
    look = "{desc}{percentage:3.0f}%|{bar}| {elapsed}, {remaining} left{postfix}"
    every = 0.5 if sys.stderr.isatty() else 30  # seconds; in a log file, a line every half minute is enough
    how = {"bar_format": look, "mininterval": every, "smoothing": 0, "dynamic_ncols": True}
    with tqdm(total=total, disable=not missing, **how) as progress:
        for n_ended, (cell, measured, error) in enumerate(outcomes, start=1):
            yield cell, measured, error
            progress.set_description(f"{cell.dataset} {METHODS[cell.method].column}", refresh=False)
            progress.set_postfix_str(f"{n_ended} of {n_runs} runs", refresh=False)
            # rounding may take the sum past the total, of which tqdm warns
            progress.update(min(usual_seconds(cell), progress.total - progress.n))
