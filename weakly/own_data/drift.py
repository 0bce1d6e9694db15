"""Do the rows to be scored look like those that a model was fitted on?

    summary = summarised(table, columns)          # by fit, of typed columns; goes into the model file
    comparison = Comparison(summary, columns)     # by score
    comparison.add(table)                         # a chunk at a time
    print(comparison.in_words())

Cells fall into groups: numbers into twenty bins with about as many training rows each, others into levels,
with rare ones as one, and missing cells into one more. Dates are only filled or missing, because new rows are
newer. The distance of a column is the total variation between the shares of its groups, from 0 to 1.
"""

from collections import Counter

import numpy as np
import pandas as pd

from weakly.errors import printable
from weakly.numbers import percent
from weakly.own_data.columns import rare_below

QUANTILES = np.linspace(0, 1, 21)
BELOW, ABOVE, OTHER_LEVELS, EMPTY = "(below the range)", "(above the range)", "(rare or new)", "(missing)"
UNUSUAL = (BELOW, ABOVE, OTHER_LEVELS, EMPTY)
FAR, MUCH_MORE = 0.2, 0.05  # a larger distance, or a larger rise of an unusual share, is reported
FEWEST_ROWS = 200  # of 100 that are alike, every fifth column would be far by chance
MOST_LEVELS, SHOWN_LEVELS, MOST_NAMED = 50, 6, 4  # of a column, in words; columns in a message


def summarised(table, columns):
    """{column: plain values} of a typed table: edges of bins, shares of groups, words."""
    summary = {}
    for name, column in columns.items():
        cells, edges, levels = plain(table[name], column["kind"]), [], []
        if cells.dtype == object:
            counts = cells.value_counts()
            levels = counts.index[counts >= rare_below(len(table))][:MOST_LEVELS]
        else:
            known = cells.dropna() if cells.notna().any() else [0.0]
            edges = np.quantile(known, QUANTILES, method="nearest").tolist()
        shares = {group: n / len(table) for group, n in counts_of(cells, edges, levels).items()}
        summary[name] = {"edges": edges, "shares": shares, "words": description(table[name], column, shares)}
    return summary


def plain(cells, kind):
    """Numbers and categories as they are, truth values as categories; of dates, whether they are there."""
    if kind == "truth":
        return cells.map({0.0: "false", 1.0: "true"}).astype(object)
    return cells.notna().map({True: "(filled)", False: None}) if kind == "date" else cells


def counts_of(cells, edges, levels):
    """{group: number of cells}; levels: those that are no OTHER_LEVELS."""
    if cells.dtype == object:
        groups = cells.where(cells.isin(levels), OTHER_LEVELS).where(cells.notna(), EMPTY)
        return groups.value_counts().to_dict()
    edges = [np.nextafter(edges[0], -np.inf), *edges, np.inf]
    counts = np.bincount(np.searchsorted(edges, cells), minlength=len(edges) + 1)  # missing cells come last
    return dict(zip([BELOW, *map(str, range(len(edges) - 2)), ABOVE, EMPTY], counts.tolist()))


def description(cells, column, shares):
    """What typed cells hold: range and median, or the most frequent levels; and how many are missing."""
    texts = []
    if column["kind"] in ("number", "date"):
        quantiles = cells.quantile([0, 0.5, 1], interpolation="nearest")
        low, median, high = (f"{one:,.8g}" if isinstance(one, float) else str(one)[:10] for one in quantiles)
        texts = [f"{low} to {high}", f"median {median}"]
        texts += [f"in {column['affix']}"] if column.get("affix") else []
        shares = {EMPTY: shares.get(EMPTY)}
    levels = sorted((-share, level) for level, share in shares.items() if share)
    texts += [f"{level[:40]} {percent(-share)}" for share, level in levels[:SHOWN_LEVELS]]
    return ", ".join(texts + [f"{len(levels) - SHOWN_LEVELS} more"] * (len(levels) > SHOWN_LEVELS))


class Comparison:
    """Compares the rows scored so far with the summary of the training rows."""

    def __init__(self, summary, columns):
        self.summary, self.n_rows = summary, 0
        self.kinds = {name: column["kind"] for name, column in columns.items()}
        self._counts = {name: Counter() for name in columns}

    def add(self, table):
        """Count a chunk of typed columns."""
        self.n_rows += len(table)
        for name, kind in self.kinds.items():
            known = self.summary[name]
            self._counts[name].update(counts_of(plain(table[name], kind), known["edges"], known["shares"]))

    def changes(self):
        """A row per column, far ones first: how far, what the training rows hold, which groups have risen."""
        rows = []
        for name, counts in self._counts.items():
            before, held = self.summary[name]["shares"], self.summary[name]["words"]
            now = {group: counts[group] / self.n_rows for group in before | counts}
            rises = {group: now[group] - before.get(group, 0) for group in now}
            unusual = {group: rises[group] for group in UNUSUAL if rises.get(group, 0) > 0}
            distance, risen = sum(map(abs, rises.values())) / 2, sum(unusual.values())
            much = self.n_rows >= FEWEST_ROWS and (distance > FAR or risen > MUCH_MORE)
            most = [group for group in unusual if unusual[group] > MUCH_MORE]
            words = [f"{now[group]:.0%} {group[1:-1]}, {before.get(group, 0):.0%} before" for group in most]
            rows.append((distance, self.kinds[name], held, "; ".join(words), risen, much))
        names = ["distance", "kind", "held", "words", "unusual", "much"]
        changes = pd.DataFrame(rows, [*self._counts], names)
        return changes.sort_values("distance", ascending=False, kind="stable")

    def in_words(self):
        """What has changed most since training, in a line or two; empty if nothing has changed much."""
        rows = self.changes().query("much")[:MOST_NAMED].itertuples()
        texts = [f"{row.Index} (distance {row.distance:.2f}{row.words and '; '}{row.words})" for row in rows]
        words = printable(", ".join(texts))
        return f"DRIFT: these columns have changed: {words}. Scores may be less reliable." if words else ""
