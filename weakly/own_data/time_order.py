"""A split by time: the earlier rows are for training, the latest for testing.

times = times_of(cells, "when")           # NaN where the cell is empty
is_test = latest_rows(times, "when")
"""

import numpy as np
import pandas as pd

from weakly.errors import DataError
from weakly.loading.splits import TEST_SHARE
from weakly.own_data.column_kinds import is_missing, to_numbers

CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
DAY_FIRST = ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d %b %Y", "%d-%b-%Y")
MONTH_FIRST = ("%m/%d/%Y", "%m-%d-%Y")


def times_of(cells, name, decimal="."):
    """Cells that are all numbers, or all dates in one notation, as numbers; NaN where a cell is empty."""
    missing = is_missing(cells).to_numpy()
    levels = cells[~missing].str.strip()
    if levels.empty:
        raise DataError(f"Column {name!r} of --time is empty.")
    numbers = to_numbers(levels, decimal)
    values = numbers if numbers.notna().all() else pd.Series(dates_of(levels, name), levels.index)
    times = np.full(len(cells), np.nan)
    times[~missing] = values.to_numpy(np.float64)
    if np.isinf(times).any():
        raise DataError(f"Column {name!r} of --time holds an infinite number.")
    return times


def dates_of(levels, name):
    """Dates as seconds; refuses dates such as 3/4/2024, which may be in March or in April."""
    found = {}
    for notation in ("ISO8601", *(date + clock for date in DAY_FIRST + MONTH_FIRST for clock in CLOCKS)):
        dates = pd.to_datetime(levels, format=notation, errors="coerce", utc=True)
        if dates.notna().all():
            found[notation] = (dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
            if notation == "ISO8601":
                break
    if not found:
        iso = pd.to_datetime(levels, format="ISO8601", errors="coerce", utc=True)
        row = levels.index[iso.isna().argmax()] + 1
        raise DataError(
            f"Row {row:,}: column {name!r} of --time holds {levels[row - 1][:40]!r}, but all its cells must "
            "be numbers, or dates in one notation, such as 2024-03-31 or 2024-03-31 23:59."
        )
    first, *others = found.values()
    if any((first != other).any() for other in others):
        raise DataError(
            f"Column {name!r} of --time holds dates such as {levels.iloc[0][:40]!r}, in which day and month "
            "cannot be told apart: write them as 2024-03-31."
        )
    return first


def latest_rows(times, name):
    """Whether each row is among the latest 20%, as nearly as possible: rows with the same time stay together.

    Of all cuts between different times, the one nearest to 20% is taken.
    """
    ranked = np.sort(times)
    cuts = np.flatnonzero(np.diff(ranked) > 0) + 1  # how many rows come before each cut
    if len(cuts) == 0:
        raise DataError(f"Column {name!r} of --time has the same time in all rows, so it cannot split them.")
    cut = cuts[np.abs(cuts - (1 - TEST_SHARE) * len(ranked)).argmin()]
    return times >= ranked[cut]
