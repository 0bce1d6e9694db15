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

QUANTILES = np.linspace(0, 1, 21)
BELOW, ABOVE, OTHER_LEVELS, MISSING = "(below the range)", "(above the range)", "(rare or new)", "(missing)"
UNUSUAL = (BELOW, ABOVE, OTHER_LEVELS, MISSING)
FAR, MUCH_MORE = 0.2, 0.05  # a larger distance, or a larger rise of an unusual share, is reported
FEWEST_ROWS = 50  # fewer say nothing about shares
MOST_LEVELS, MOST_NAMED = 50, 4  # of a column; columns in a message


def summarised(table, columns):
    """{column: plain values} of a typed table: range and median, edges of bins, shares of groups."""
    summary = {}
    for name, column in columns.items():
        cells, quantiles, levels = plain(table[name], column["kind"]), [], ()
        if cells.dtype == object:
            levels = cells.value_counts()
            levels = levels.index[levels >= rare_below(len(table))][:MOST_LEVELS]
        elif cells.notna().any():
            quantiles = np.quantile(cells.dropna(), QUANTILES, method="nearest").tolist()
        edges = quantiles if quantiles and column["kind"] == "number" else [-np.inf, np.inf]
        shares = (counts_of(cells, edges, levels) / max(len(table), 1)).to_dict()
        summary[name] = {"range": quantiles[::10], "edges": edges, "shares": shares}
    return summary


def plain(cells, kind):
    """Numbers and categories as they are, dates as days since 1970, truth values as categories."""
    if kind == "date":
        return (cells - pd.Timestamp(0)) / pd.Timedelta(days=1)
    return cells.map({0.0: "false", 1.0: "true"}) if kind == "truth" else cells


def counts_of(cells, edges, levels):
    """How many cells are in each group, as a Series; levels: those that are no OTHER_LEVELS."""
    if cells.dtype == object:
        return cells.where(cells.isin(levels), OTHER_LEVELS).where(cells.notna(), MISSING).value_counts()
    names = [BELOW, *map(str, range(len(edges))), ABOVE, MISSING]
    edges = [np.nextafter(edges[0], -np.inf), *edges, np.inf]  # missing cells come last
    return pd.Series(np.bincount(np.searchsorted(edges, cells), minlength=len(names)), names)


class Comparison:
    """Compares the rows scored so far with the summary of the training rows."""

    def __init__(self, summary, columns):
        self.summary, self.n_rows = summary, 0
        self.kinds = {name: column["kind"] for name, column in columns.items()}
        # Series with (column, group) as their index
        self._before = pd.concat({name: pd.Series(summary[name]["shares"], dtype=float) for name in columns})
        self._counts = 0 * self._before
        self._ends = {name: [] for name in columns}  # the smallest and the largest value of each chunk

    def add(self, table):
        """Count a chunk of typed columns."""
        self.n_rows += len(table)
        counts = {}
        for name, kind in self.kinds.items():
            cells, known = plain(table[name], kind), self.summary[name]
            counts[name] = counts_of(cells, known["edges"], known["shares"])
            self._ends[name] += [] if cells.dtype == object else [cells.min(), cells.max()]
        self._counts = self._counts.add(pd.concat(counts), fill_value=0)

    def shares(self):
        """The share of each column's groups: `before`, `now` and by how much it has risen."""
        shares = pd.DataFrame({"before": self._before, "now": self._counts / max(self.n_rows, 1)}).fillna(0)
        return shares.assign(rise=shares["now"] - shares["before"])

    def now(self):
        """{column: range and shares} of these rows, as in a summary but without a median."""
        shares, ends = (
            self.shares()["now"],
            {name: pd.Series(self._ends[name]).dropna() for name in self.kinds},
        )
        ranges = {name: [some.min(), some.max()] if len(some) else [] for name, some in ends.items()}
        return {name: {"range": ranges[name], "shares": shares[name].to_dict()} for name in self.kinds}

    def changes(self):
        """A row per column, far ones first: distance, rise of unusual groups; whether either is much."""
        rise = self.shares()["rise"]
        unusual = rise[rise.index.isin(UNUSUAL, level=1)].clip(lower=0)
        sums = {"distance": rise.abs() / 2, "unusual": unusual}
        changes = pd.DataFrame({what: rises.groupby(level=0).sum() for what, rises in sums.items()})
        changes = changes.reindex(self.kinds).fillna(0)
        is_much = (changes["distance"] > FAR) | (changes["unusual"] > MUCH_MORE)
        changes["much"] = is_much & (self.n_rows >= FEWEST_ROWS)
        return changes.sort_values("distance", ascending=False, kind="stable")

    def in_words(self):
        """What has changed most since training, in a line or two; empty if nothing has changed much."""
        texts, shares = [], self.shares()
        for name, distance in self.changes().query("much")["distance"][:MOST_NAMED].items():
            risen = shares.loc[name].query("rise > @MUCH_MORE and index in @UNUSUAL")
            what = [
                f"; {row.now:.0%} {row.Index[1:-1]}, {row.before:.0%} before" for row in risen.itertuples()
            ]
            texts.append(f"{printable(name)} (distance {distance:.2f}{''.join(what)})")
        words = f"DRIFT: these columns have changed: {', '.join(texts)}. Scores may be less reliable."
        return words if texts else ""
