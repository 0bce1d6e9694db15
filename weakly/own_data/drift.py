"""Do the rows to be scored look like those that a model was fitted on?

    summary = summarised(table, kinds, levels)    # by fit, of typed columns; goes into the model file
    comparison = Comparison(summary, kinds)       # by score
    comparison.add(table)                         # a chunk at a time
    print(comparison.in_words())

A number is summarised by 21 quantiles, a truth value or category by the shares of its levels, with rare ones
grouped, and every column by its share of missing cells. The distance of a column is the total variation
between the shares of the twenty bins, or of the levels: the largest change in the share of any group of
values. It is 0 if nothing changed and 1 if old and new values have nothing in common.
"""

from typing import Any

import numpy as np
import pandas as pd

from weakly.errors import printable
from weakly.own_data.features import MISSING_LEVEL

N_BINS = 20
OTHER_LEVELS = ""  # rare ones and, in new rows, those that fit has not seen
FAR, MUCH_MORE = 0.2, 0.05  # a larger distance, or a larger rise of a share, is reported
FEWEST_ROWS = 50  # fewer say nothing about shares
MOST_TOLD = 4  # columns that a message names


def summarised(table, kinds, levels):
    """{column: summary} of typed columns, for JSON; levels: {category: its frequent levels}."""
    summary = {}
    for name, kind in kinds.items():
        missing = is_missing(table[name], kind)
        values = table[name][~missing]
        column: dict[str, Any] = {"missing": float(missing.mean())}
        if kind == "number":
            quantiles = (
                np.quantile(values, np.linspace(0, 1, N_BINS + 1)) if len(values) else [0.0] * (N_BINS + 1)
            )
            column["quantiles"] = [float(value) for value in quantiles]
        else:
            shares = level_names(values, kind, levels.get(name, ())).value_counts(normalize=True)
            column["shares"] = {level: float(share) for level, share in sorted(shares.items())}
        summary[name] = column
    return summary


def is_missing(cells, kind):
    return cells.isin(["", MISSING_LEVEL]) if kind == "category" else cells.isna()


def level_names(values, kind, frequent):
    """Truth values as `0` and `1`, categories with all infrequent levels as one."""
    if kind == "boolean":
        return values.astype(int).astype(str)
    return values.where(values.isin(list(frequent)), OTHER_LEVELS)


class Comparison:
    """Compares the rows scored so far with the summary of the training rows."""

    def __init__(self, summary, kinds):
        self._summary, self._kinds, self.n_rows = summary, kinds, 0
        self._missing = dict.fromkeys(kinds, 0)
        self._counts = {name: self._no_counts(name) for name in kinds}

    def _no_counts(self, name):
        """Zeros for the bins of a number and one bin on either side, or an empty count of levels."""
        return np.zeros(N_BINS + 2) if self._kinds[name] == "number" else pd.Series(dtype=float)

    def add(self, table):
        """Count a chunk of typed columns."""
        self.n_rows += len(table)
        for name, kind in self._kinds.items():
            missing = is_missing(table[name], kind)
            self._missing[name] += int(missing.sum())
            values, summary = table[name][~missing], self._summary[name]
            if kind == "number":
                self._counts[name] += binned(values.to_numpy(float), summary["quantiles"])
            else:
                counts = level_names(values, kind, summary["shares"]).value_counts()
                self._counts[name] = self._counts[name].add(counts, fill_value=0)

    def shares(self, name):
        """The shares of a column's bins or levels among its filled cells, in training and now."""
        summary, n_filled = self._summary[name], max(self.n_rows - self._missing[name], 1)
        if self._kinds[name] == "number":
            before = np.array([0.0, *training_shares(summary["quantiles"]), 0.0])
        else:
            before = pd.Series(summary["shares"], dtype=float)
        return before, self._counts[name] / n_filled

    def changes(self):
        """A row per column: distance, share out of range, shares missing now and in training."""
        rows = {}
        for name, kind in self._kinds.items():
            summary, (before, shares) = self._summary[name], self.shares(name)
            if kind == "number":
                beyond, distance = shares[0] + shares[-1], 0.5 * np.abs(shares - before).sum()
            else:
                beyond = shares.get(OTHER_LEVELS, 0.0) - before.get(OTHER_LEVELS, 0.0)
                distance = 0.5 * shares.sub(before, fill_value=0).abs().sum()
            missing = {
                "missing": self._missing[name] / max(self.n_rows, 1),
                "missing before": summary["missing"],
            }
            filled = distance if self.n_rows > self._missing[name] else 0.0
            rows[name] = {"distance": filled, "beyond": max(beyond, 0.0), **missing}
        return pd.DataFrame.from_dict(rows, orient="index")

    def changed(self):
        """The rows of `changes` for columns that changed much, most first; none after too few rows."""
        changes = self.changes()
        more_missing = changes["missing"] - changes["missing before"]
        much = (changes["distance"] > FAR) | (changes["beyond"] > MUCH_MORE) | (more_missing > MUCH_MORE)
        told = changes[much & (self.n_rows >= FEWEST_ROWS)]
        most = told[["distance", "beyond"]].max(axis=1)
        return told.loc[most.sort_values(ascending=False, kind="stable").index]

    def in_words(self):
        """What has changed most since training, in a line or two; empty if nothing has changed much."""
        told = self.changed()
        if told.empty:
            return ""
        texts = [self._told(name, told.loc[name]) for name in told.index[:MOST_TOLD]]
        others = f"; {len(told) - len(texts)} more columns" if len(told) > len(texts) else ""
        return (
            f"DRIFT: columns that differ from the training rows: {'; '.join(texts)}{others}. "
            "Scores may be less reliable than before."
        )

    def _told(self, name, change):
        """What has changed in one column."""
        what = [f"distance {change['distance']:.2f}"] if change["distance"] > FAR else []
        if change["beyond"] > MUCH_MORE:
            unknown = "out of range" if self._kinds[name] == "number" else "in unknown or rare levels"
            what.append(f"{change['beyond']:.0%} {unknown}")
        if change["missing"] - change["missing before"] > MUCH_MORE:
            what.append(f"{change['missing']:.0%} missing, {change['missing before']:.0%} before")
        return f"{printable(name)} ({', '.join(what)})"


def binned(values, quantiles):
    """How many values lie below the smallest quantile, in each bin, and above the largest (N_BINS + 2,)."""
    low, high = quantiles[0], quantiles[-1]
    inside = values[(values >= low) & (values <= high)]
    places = bin_of(inside, quantiles)
    return np.array(
        [(values < low).sum(), *np.bincount(places, minlength=N_BINS), (values > high).sum()], float
    )


def bin_of(values, quantiles):
    """The bin of each value; if quantiles are equal, the last of their bins."""
    return np.clip(np.searchsorted(quantiles, values, side="right") - 1, 0, N_BINS - 1)


def training_shares(quantiles):
    """The share of the training rows in each bin: a twentieth, but equal quantiles are one bin."""
    middles = np.linspace(0, 1, N_BINS, endpoint=False) + 0.5 / N_BINS
    return np.bincount(bin_of(np.interp(middles, np.linspace(0, 1, N_BINS + 1), quantiles), quantiles),
                       minlength=N_BINS) / N_BINS  # fmt: skip
