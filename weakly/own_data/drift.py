"""Do the rows to be scored look like those that a model was fitted on?

    summary = summarised(table, columns)          # by fit, of typed columns; goes into the model file
    comparison = Comparison(summary, columns)     # by score
    comparison.add(table)                         # a chunk at a time
    print(comparison.in_words())

A number or date is summarised by 21 quantiles, a truth value or category by the shares of its levels, with rare
ones grouped, and every column by its share of missing cells. The distance of a column is the total variation
between the shares of the twenty bins, or of the levels: the largest change in the share of any group of
values. It is 0 if nothing changed and 1 if old and new values have nothing in common. A date has none, because
new rows are newer.
"""

import numpy as np
import pandas as pd

from weakly.errors import printable
from weakly.own_data.columns import rare_below

N_BINS = 20
MOST_LEVELS = 50  # of a category
OTHER_LEVELS = ""  # rare ones and, in new rows, those that fit has not seen
FAR, MUCH_MORE = 0.2, 0.05  # a larger distance, or a larger rise of a share, is reported
FEWEST_ROWS = 50  # fewer say nothing about shares
MOST_NAMED = 4  # columns in a message
DAY = 86_400_000_000_000  # nanoseconds


def summarised(table, columns):
    """{column: plain values} of a typed table."""
    summary = {}
    for name, column in columns.items():
        values = table[name].dropna()
        summary[name] = {"missing": 1 - len(values) / max(len(table), 1)}
        if column["kind"] in ("number", "date"):
            shares = np.linspace(0, 1, N_BINS + 1)
            summary[name]["quantiles"] = np.quantile(as_numbers(values), shares).tolist() if len(values) else []
        else:
            counts = level_names(values, column["kind"]).value_counts()
            frequent = counts[counts >= rare_below(len(table))][:MOST_LEVELS].sort_index()
            others = {OTHER_LEVELS: counts.sum() - frequent.sum()} if len(frequent) < len(counts) else {}
            known = others | frequent.to_dict()
            summary[name]["shares"] = {level: float(n / len(values)) for level, n in known.items()}
    return summary


def as_numbers(values):
    """Numbers, or dates as days since 1970 (n,)."""
    is_date = np.issubdtype(values.dtype, np.datetime64)
    return values.to_numpy("datetime64[ns]").astype(np.int64) / DAY if is_date else values.to_numpy(np.float64)


def level_names(values, kind):
    """Truth values as `0` and `1`, categories as they are."""
    return values.map({0.0: "0", 1.0: "1"}) if kind == "truth" else values


class Comparison:
    """Compares the rows scored so far with the summary of the training rows."""

    def __init__(self, summary, columns):
        self.summary, self.n_rows = summary, 0
        self.kinds = {name: column["kind"] for name, column in columns.items()}
        self.ranges = {}  # {number or date: (smallest, largest)} of these rows
        self._missing = dict.fromkeys(columns, 0)
        self._counts = {name: None for name in columns}

    def add(self, table, scores=None):
        """Count a chunk of typed columns; like other things that watch the rows, it may be given the scores."""
        self.n_rows += len(table)
        for name, kind in self.kinds.items():
            values = table[name].dropna()
            self._missing[name] += len(table) - len(values)
            if not len(values):
                continue
            if kind in ("number", "date"):
                numbers = as_numbers(values)
                low, high = self.ranges.get(name, (np.inf, -np.inf))
                self.ranges[name] = min(low, float(numbers.min())), max(high, float(numbers.max()))
                counts = pd.Series(binned(numbers, self.summary[name]["quantiles"]))
            else:
                levels = level_names(values, kind)
                known = levels.isin(self.summary[name]["shares"])
                counts = levels.where(known, OTHER_LEVELS).value_counts()
            before = self._counts[name]
            self._counts[name] = counts if before is None else before.add(counts, fill_value=0)

    def shares(self, name):
        """The shares of a column's bins or levels among its filled cells, in training and now: two Series."""
        summary, counts = self.summary[name], self._counts[name]
        if "quantiles" in summary:
            before = pd.Series([0.0, *training_shares(summary["quantiles"]), 0.0])
        else:
            before = pd.Series(summary["shares"], dtype=float)
        if counts is None:  # no cell is filled
            return before, 0 * before
        return before, counts / (self.n_rows - self._missing[name])

    def changes(self):
        """A row per column: distance, share out of range, shares missing now and in training."""
        rows = {}
        for name, kind in self.kinds.items():
            before, now = self.shares(name)
            filled = self._missing[name] < self.n_rows and before.any()
            distance = 0.5 * now.sub(before, fill_value=0).abs().sum() if filled else 0.0
            if kind == "number":
                beyond = now.iloc[[0, -1]].sum() if filled else 0.0
            else:
                beyond = max(now.get(OTHER_LEVELS, 0.0) - before.get(OTHER_LEVELS, 0.0), 0.0)
            if kind == "date":
                distance = beyond = np.nan
            missing = self._missing[name] / max(self.n_rows, 1)
            rows[name] = distance, beyond, missing, self.summary[name]["missing"]
        names = ["distance", "beyond", "missing", "missing before"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=names)

    def changed(self):
        """The rows of `changes` for columns that changed much, most first; none after too few rows."""
        changes = self.changes()
        more_missing = changes["missing"] - changes["missing before"]
        much = (changes["distance"] > FAR) | (changes["beyond"] > MUCH_MORE) | (more_missing > MUCH_MORE)
        changed = changes[much & (self.n_rows >= FEWEST_ROWS)]
        most = changed[["distance", "beyond"]].max(axis=1)
        return changed.loc[most.sort_values(ascending=False, kind="stable").index]

    def in_words(self):
        """What has changed most since training, in a line or two; empty if nothing has changed much."""
        changed = self.changed()
        if changed.empty:
            return ""
        texts = [self._in_words(name, changed.loc[name]) for name in changed.index[:MOST_NAMED]]
        n_others = len(changed) - len(texts)
        others = f"; {n_others:,} more {'column' if n_others == 1 else 'columns'}" if n_others else ""
        return (
            f"DRIFT: columns that differ from the training rows: {'; '.join(texts)}{others}. "
            "Scores may be less reliable than before."
        )

    def _in_words(self, name, change):
        """What has changed in one column."""
        what = [f"distance {change['distance']:.2f}"] if change["distance"] > FAR else []
        if change["beyond"] > MUCH_MORE:
            unknown = "out of range" if self.kinds[name] == "number" else "in unknown or rare levels"
            what.append(f"{change['beyond']:.0%} {unknown}")
        if change["missing"] - change["missing before"] > MUCH_MORE:
            what.append(f"{change['missing']:.0%} missing, {change['missing before']:.0%} before")
        return f"{printable(name)} ({', '.join(what)})"


def binned(values, quantiles):
    """How many values lie below the smallest quantile, in each bin, and above the largest (N_BINS + 2,)."""
    if not quantiles:  # nothing to compare with
        return np.zeros(N_BINS + 2)
    low, high = quantiles[0], quantiles[-1]
    places = bin_of(values[(values >= low) & (values <= high)], quantiles)
    inside = np.bincount(places, minlength=N_BINS)
    return np.array([(values < low).sum(), *inside, (values > high).sum()], np.float64)


def bin_of(values, quantiles):
    """The bin of each value; if quantiles are equal, the last of their bins."""
    return np.clip(np.searchsorted(quantiles, values, side="right") - 1, 0, N_BINS - 1)


def training_shares(quantiles):
    """The share of the training rows in each bin: a twentieth, but equal quantiles are one bin."""
    if not quantiles:
        return np.zeros(N_BINS)
    middles = np.linspace(0, 1, N_BINS, endpoint=False) + 0.5 / N_BINS
    values = np.interp(middles, np.linspace(0, 1, N_BINS + 1), quantiles)
    return np.bincount(bin_of(values, quantiles), minlength=N_BINS) / N_BINS
