"""Do the rows to be scored look like those that a model was fitted on?

    summary = summarised(table, columns)          # by fit, of typed columns; goes into the model file
    comparison = Comparison(summary, columns)     # by score
    comparison.add(table)                         # a chunk at a time
    print(comparison.in_words())

The values of a column fall into groups: a number or date into twenty bins with about as many training rows
each, a truth value or category into its levels, with rare ones as one. The distance of a column is the total
variation between the shares of its groups: the largest change in the share of any set of groups. It is 0 if
nothing changed and 1 if old and new values have nothing in common. A date has none: new rows are newer.
"""

import numpy as np
import pandas as pd

from weakly.errors import printable
from weakly.own_data.columns import rare_below

N_BINS = 20
BELOW, ABOVE = -1, N_BINS  # the groups of numbers that lie beyond those of the training rows
OTHER_LEVELS = ""  # rare ones and, in new rows, those that fit has not seen
OUTSIDE = (BELOW, ABOVE, OTHER_LEVELS)
MOST_LEVELS = 50  # of a category
FAR, MUCH_MORE = 0.2, 0.05  # a larger distance, or a larger rise of a share, is reported
FEWEST_ROWS = 50  # fewer say nothing about shares
MOST_NAMED = 4  # columns in a message
DAY = 86_400_000_000_000  # nanoseconds


def summarised(table, columns):
    """{column: plain values} of a typed table."""
    summary = {}
    for name, column in columns.items():
        values = table[name].dropna()
        known = summary[name] = {"missing": 1 - len(values) / max(len(table), 1), "shares": {}}
        if not len(values):
            continue
        if column["kind"] in ("number", "date"):
            known["quantiles"] = np.quantile(as_numbers(values), np.linspace(0, 1, N_BINS + 1)).tolist()
        counts = counts_of(values, column["kind"], known)
        if column["kind"] in ("truth", "category"):
            frequent = counts[counts >= rare_below(len(table))][:MOST_LEVELS]
            rest = counts.sum() - frequent.sum()
            counts = pd.concat([frequent, pd.Series({OTHER_LEVELS: rest})]) if rest else frequent
        known["shares"] = {str(group): count / len(values) for group, count in counts.items()}
    return summary


def as_numbers(values):
    """Numbers, or dates as days since 1970 (n,)."""
    is_date = np.issubdtype(values.dtype, np.datetime64)
    return (
        values.to_numpy("datetime64[ns]").astype(np.int64) / DAY if is_date else values.to_numpy(np.float64)
    )


def counts_of(values, kind, known):
    """How many values are in each group, as a Series: bins of numbers, or levels, the most frequent first."""
    if kind == "truth":
        return values.map({0.0: "0", 1.0: "1"}).value_counts()
    if kind == "category":
        return values.value_counts()
    numbers, quantiles = as_numbers(values), known.get("quantiles", [np.inf])  # without any, all lie below
    groups = np.searchsorted(quantiles[1:-1], numbers, side="right")  # if quantiles are equal, the last bin
    groups[numbers < quantiles[0]], groups[numbers > quantiles[-1]] = BELOW, ABOVE
    return pd.Series(np.bincount(groups + 1, minlength=N_BINS + 2), range(BELOW, ABOVE + 1))


class Comparison:
    """Compares the rows scored so far with the summary of the training rows."""

    def __init__(self, summary, columns):
        self.summary, self.n_rows = summary, 0
        self.kinds = {name: column["kind"] for name, column in columns.items()}
        self.ranges = {}  # {number or date: (smallest, largest)} of these rows
        self._counts = {name: pd.Series(dtype=float) for name in columns}

    def add(self, table, scores=None):
        """Count a chunk of typed columns; whatever watches the rows is given their scores too."""
        self.n_rows += len(table)
        for name, kind in self.kinds.items():
            values, known = table[name].dropna(), self.summary[name]
            counts = counts_of(values, kind, known)
            if kind in ("truth", "category"):
                levels = counts.index.where(counts.index.isin(list(known["shares"])), OTHER_LEVELS)
                counts = counts.groupby(levels).sum()
            elif len(values):
                numbers, (low, high) = as_numbers(values), self.ranges.get(name, (np.inf, -np.inf))
                self.ranges[name] = min(low, float(numbers.min())), max(high, float(numbers.max()))
            self._counts[name] = self._counts[name].add(counts, fill_value=0)

    def shares(self, name):
        """The shares of a column's groups among its filled cells: a frame of `before` and `now`."""
        counts, before = self._counts[name], pd.Series(self.summary[name]["shares"], dtype=float)
        if self.kinds[name] in ("number", "date"):
            before.index = before.index.astype(int)
        return pd.DataFrame({"before": before, "now": counts / max(counts.sum(), 1)}).fillna(0.0)

    def changes(self):
        """A row per column: distance, share out of range, shares missing now and in training."""
        rows = {}
        for name, kind in self.kinds.items():
            shares, missing = self.shares(name), 1 - self._counts[name].sum() / max(self.n_rows, 1)
            rise = shares["now"] - shares["before"]
            distance, beyond = 0.5 * rise.abs().sum(), max(rise[rise.index.isin(OUTSIDE)].sum(), 0.0)
            if kind == "date":
                distance = beyond = np.nan
            elif not (shares["before"].any() and shares["now"].any()):
                distance = beyond = 0.0
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
