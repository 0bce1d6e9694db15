"""Do the rows to be scored look like those that a model was fitted on?

    summary = summarised(table, columns)          # by fit, of typed columns; goes into the model file
    comparison = Comparison(summary, columns)     # by score
    comparison.add(table)                         # a chunk at a time
    print(comparison.in_words())

The cells of a column fall into groups: numbers into twenty bins with about as many training rows each, others
into their levels, with rare ones as one, and missing cells into one more. Dates are only filled or missing,
because new rows are newer. The distance of a column is the total variation between the shares of its groups:
0 if nothing changed, 1 if old and new cells have nothing in common.
"""

import numpy as np
import pandas as pd

from weakly.errors import printable
from weakly.own_data.columns import rare_below

N_BINS = 20
MISSING, FILLED, OTHER_LEVELS = "(missing)", "(filled)", "(rare or new)"
BINS = ["(below the range)", *map(str, range(N_BINS)), "(above the range)", MISSING]
UNUSUAL = (BINS[0], BINS[-2], OTHER_LEVELS, MISSING)
FAR, MUCH_MORE = 0.2, 0.05  # a larger distance, or a larger rise of an unusual share, is reported
FEWEST_ROWS = 50  # fewer say nothing about shares
MOST_LEVELS, MOST_NAMED = 50, 4  # of a column; columns in a message


def summarised(table, columns):
    """{column: plain values} of a typed table."""
    summary = {}
    for name, column in columns.items():
        kind, cells = column["kind"], table[name]
        numbers, levels = as_numbers(cells, kind), []
        places = np.linspace(0, 1, N_BINS + 1) if len(numbers) else []
        quantiles = np.quantile(numbers, places, method="nearest").tolist() if len(numbers) else []
        if kind != "number":
            counts = levels_of(cells, kind).value_counts()
            levels = counts.index[counts >= rare_below(len(table))][:MOST_LEVELS]
        counts = counts_of(cells, kind, quantiles, levels)
        summary[name] = {"quantiles": quantiles, "shares": (counts / max(len(table), 1)).to_dict()}
    return summary


def as_numbers(cells, kind):
    """The numbers of a column, or its dates as days since 1970, without missing ones (n,); none of others."""
    if kind == "date":
        return (cells.dropna().to_numpy() - np.datetime64(0, "ns")) / np.timedelta64(1, "D")
    return cells.dropna().to_numpy() if kind == "number" else np.array([])


def levels_of(cells, kind):
    """The level of each cell."""
    if kind == "date":
        return cells.isna().map({False: FILLED, True: MISSING})
    return (cells.map({0.0: "false", 1.0: "true"}) if kind == "truth" else cells).fillna(MISSING)


def counts_of(cells, kind, quantiles, levels):
    """How many cells are in each group, as a Series; levels: those that are no OTHER_LEVELS."""
    if kind != "number":
        counts = levels_of(cells, kind).value_counts()
        return counts.groupby(counts.index.where(counts.index.isin([*levels, MISSING]), OTHER_LEVELS)).sum()
    values, edges = cells.to_numpy(), quantiles or [np.inf]  # without any, all lie below
    groups = 1 + np.searchsorted(edges[1:-1], values, side="right")  # if edges are equal, the last bin
    groups[values < edges[0]], groups[values > edges[-1]] = 0, N_BINS + 1
    groups[np.isnan(values)] = N_BINS + 2
    return pd.Series(np.bincount(groups, minlength=len(BINS)), BINS)


class Comparison:
    """Compares the rows scored so far with the summary of the training rows."""

    def __init__(self, summary, columns):
        self.summary, self.n_rows = summary, 0
        self.kinds = {name: column["kind"] for name, column in columns.items()}
        self._counts = dict.fromkeys(columns, pd.Series(dtype=float))
        self._ranges = dict.fromkeys(columns, [])  # the smallest and the largest number or date
        for name in columns:
            check_summary(**summary[name])

    def add(self, table):
        """Count a chunk of typed columns."""
        self.n_rows += len(table)
        for name, kind in self.kinds.items():
            known = self.summary[name]
            counts = counts_of(table[name], kind, known["quantiles"], known["shares"])
            self._counts[name] = self._counts[name].add(counts, fill_value=0)
            seen = np.append(self._ranges[name], as_numbers(table[name], kind))
            self._ranges[name] = [float(seen.min()), float(seen.max())] if len(seen) else []

    def shares(self, name):
        """The shares of a column's groups: a frame of `before` and `now`."""
        before = pd.Series(self.summary[name]["shares"], dtype=float)
        return pd.DataFrame({"before": before, "now": self._counts[name] / max(self.n_rows, 1)}).fillna(0)

    def now(self, name):
        """A column of these rows, described as in a summary, but with two quantiles only, the outermost."""
        return {"quantiles": self._ranges[name], "shares": self.shares(name)["now"].to_dict()}

    def changes(self):
        """A row per column, far ones first: distance, rise of unusual groups; whether either is much."""
        rises = {name: self.shares(name).diff(axis=1)["now"] for name in self.kinds}
        unusual = {name: rise[rise.index.isin(UNUSUAL)].clip(lower=0).sum() for name, rise in rises.items()}
        distance = {name: rise.abs().sum() / 2 for name, rise in rises.items()}
        changes = pd.DataFrame({"distance": distance, "unusual": unusual})
        changes["much"] = (changes["distance"] > FAR) | (changes["unusual"] > MUCH_MORE)
        changes["much"] &= self.n_rows >= FEWEST_ROWS
        return changes.sort_values("distance", ascending=False, kind="stable")

    def in_words(self):
        """What has changed most since training, in a line or two; empty if nothing has changed much."""
        texts = []
        for name, distance in self.changes().query("much")["distance"][:MOST_NAMED].items():
            shares = self.shares(name)
            risen = shares[shares.index.isin(UNUSUAL) & (shares["now"] - shares["before"] > MUCH_MORE)]
            what = [
                f"; {row.now:.0%} {row.Index[1:-1]}, {row.before:.0%} before" for row in risen.itertuples()
            ]
            texts.append(f"{printable(name)} (distance {distance:.2f}{''.join(what)})")
        words = f"DRIFT: these columns have changed: {', '.join(texts)}. Scores may be less reliable."
        return words if texts else ""


def check_summary(quantiles, shares):
    """An error of some kind unless a column may have these: they are from a file, which may say anything."""
    are_floats = all(type(value) is float for value in [*quantiles, *shares.values()])
    are_shares = are_floats and all(0 <= share <= 1 for share in shares.values())
    if not are_shares or len(quantiles) not in (0, N_BINS + 1) or quantiles != sorted(quantiles):
        raise ValueError("its summary of the training rows is something else")
