"""A split by time: the earlier rows are for training, the latest ones for the test.

times = times_of(cells, "when")           # NaN where the cell is empty
is_test = latest_rows(times, "when")
"""

import numpy as np
import pandas as pd

from common.errors import DataError
from loading.splits import TEST_SHARE
from own_data.column_kinds import is_missing, to_numbers

CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
DAY_FIRST = ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d %b %Y", "%d-%b-%Y")
MONTH_FIRST = ("%m/%d/%Y", "%m-%d-%Y")


def times_of(cells, name, decimal="."):
    """Cells that are all numbers, or all dates of one notation, as numbers; NaN where a cell is empty."""
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
    """Dates as seconds; of 3/4/2024 nobody can say whether it is in March or in April."""
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
            "be numbers, or dates of one notation, such as 2024-03-31 or 2024-03-31 23:59."
        )
    first, *others = found.values()
    if any((first != other).any() for other in others):
        raise DataError(
            f"Column {name!r} of --time holds dates such as {levels.iloc[0][:40]!r}, in which day and month "
            "cannot be told apart: write them as 2024-03-31."
        )
    return first


def latest_rows(times, name):
    """Whether each row is among the latest 20%; rows of one time stay together, so it may be some more.

    Of the two cuts between different times that are nearest, it is the one nearer to 20%.
    """
    ranked = np.sort(times)
    cuts = np.flatnonzero(np.diff(ranked) > 0) + 1  # so many rows come before a cut
    if len(cuts) == 0:
        raise DataError(f"Column {name!r} of --time has the same time in all rows, so it splits nothing.")
    cut = cuts[np.abs(cuts - (1 - TEST_SHARE) * len(ranked)).argmin()]
    return times >= ranked[cut]
