"""How large a difference is, and what causes it: leads with intervals, shares of variance.

A lead is PReNet's score minus another method's, averaged over data sets. Its 95% interval is a paired
bootstrap: data sets are drawn with replacement, and runs within each of them. For printed values, which are
already means, only data sets are drawn. With few sets the plain percentiles are too narrow, so with n sets we
use those at +- sqrt(n / (n - 1)) t(n - 1) of the normal distribution (Hesterberg, The American Statistician
2015). Data sets that share rows, such as the unseen ones, are not independent, and their interval is still
too narrow.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from weakly.judging.cells import published_table
from weakly.judging.tables import AVERAGE, by_method, in_paper_order, paper_runs
from weakly.loading.splits import ONE_DRAW, TRAINING_COPIES
from weakly.methods import METHODS
from weakly.numbers import signed

BOOTSTRAP_DRAWS, BOOTSTRAP_SEED = 4_000, 0  # the same results give the same interval


class Lead(NamedTuple):
    """A mean difference and its 95% interval, NaN where there are too few data sets for one."""

    mean: float
    low: float
    high: float

    def __str__(self):
        if np.isnan(self.low):
            return signed(self.mean)
        return f"{signed(self.mean)} [{signed(self.low)}, {signed(self.high)}]"


def lead(differences, fewest=2):
    """The Lead of {data set: differences of its runs}, paired; no interval over fewer than so many sets."""
    return _lead_over(tuple(tuple(np.asarray(values, float)) for _, values in differences.items()), fewest)


@cache  # several claims and tables ask for the same lead
def _lead_over(sets, fewest):
    sets = [np.array(values) for values in sets]
    means = np.array([values.mean() for values in sets])
    if len(sets) < fewest:
        return Lead(float(means.mean()) if len(sets) else np.nan, np.nan, np.nan)
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    # (draws, sets): the mean of a set's runs, drawn with replacement; then the sets of each draw
    drawn = [values[rng.integers(len(values), size=(BOOTSTRAP_DRAWS, len(values)))] for values in sets]
    of_runs = np.column_stack([values.mean(axis=1) for values in drawn])
    chosen = rng.integers(len(sets), size=of_runs.shape)
    means_drawn = np.take_along_axis(of_runs, chosen, axis=1).mean(axis=1)
    tail = 100 * norm.sf(np.sqrt(len(sets) / (len(sets) - 1)) * t.ppf(0.975, len(sets) - 1))
    low, high = np.percentile(means_drawn, [tail, 100 - tail])
    return Lead(float(means.mean()), float(low), float(high))


def variance_by_unseen_class(ours=None):
    """How far a printed unseen column depends on the unseen class: shares of its variance over the 28 rows.

    Per method the share that goes with the seen classes alone (14 of them), with the unseen class alone (4),
    and with the unseen class in addition to the seen ones (an analysis of variance); the latter for our runs,
    too, if `ours` (sets, methods) has all sets. A detector scored on the unseen class should depend on it.
    """
    rows, beyond = {}, "unseen class, beyond the seen %"
    for method, column in by_method(published_table("unseen")).items():
        by_seen, by_unseen, by_both = shares_of_classes(column)
        shares = {"seen classes %": by_seen, "unseen class %": by_unseen, beyond: by_both - by_seen}
        if ours is not None and method in ours and ours[method].reindex(column.index).notna().all():
            by_seen, _, by_both = shares_of_classes(ours.loc[column.index, method])
            shares[f"measured: {beyond}"] = by_both - by_seen
        rows[METHODS[method].column] = {name: 100 * share for name, share in shares.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def shares_of_classes(column):
    """The shares of a column's variance by seen classes, by unseen class, and by both; rows: `a,b->c`."""
    seen, unseen = zip(*(name.split("->") for name in column.index))
    shares, squares = [], np.square(column - column.mean()).sum()
    for factors in ([seen], [unseen], [seen, unseen]):
        levels = [pd.get_dummies(pd.Series(factor)).to_numpy(float) for factor in factors]
        design = np.column_stack([np.ones(len(column)), *levels])
        fitted = design @ np.linalg.lstsq(design, column.to_numpy(), rcond=None)[0]
        shares.append(1 - np.square(column - fitted).sum() / squares)
    return shares


FACTORS = {
    "released": "initial weights and batches",
    **{protocol: f"the {factor}" for protocol, factor in ONE_DRAW.items()},
    "redrawn": "all of them",
}


def runs_by_factor(results_dir, methods=("prenet", "devnet")):
    """AUC-PR of every run in which one factor changes: rows (data set, run), columns (method, protocol).

    On exact data; empty without runs of all protocols.
    """
    runs = paper_runs(results_dir, "seen", *FACTORS)
    runs = runs[(runs["data_status"] == "exact") & runs["method"].isin(methods)]
    table = runs.pivot(index=["dataset", "run"], columns=["method", "protocol"], values="score")
    wanted = pd.MultiIndex.from_product([methods, FACTORS])
    if not wanted.isin(table.columns).all():
        return pd.DataFrame()
    sets = [name for name in runs["dataset"].unique() if table.loc[name, wanted].notna().any().all()]
    return table.loc[sets, wanted]


def spread_by_factor(runs):
    """Population standard deviations (ddof=0) of AUC-PR, a row per data set; runs: see runs_by_factor."""
    if runs.empty:
        return runs
    names = {name: METHODS[name].column for name in runs.columns.unique(0)}
    spreads = runs.groupby("dataset", sort=False).std(ddof=0).rename(columns=names | FACTORS)
    return spreads.rename_axis(columns=[None, None])


def contributions_of_factors(runs):
    """What single factors contribute to the variance when all of them change: a row per method and factor.

    The variance over runs in which only this factor changes, in per cent of that in which all do; the median
    over data sets, because on a set with an occasional failed fit the ratio is anything. They need not add up
    to 100. The 95% interval is a bootstrap over data sets and runs. `largest on` counts the sets.
    """
    rows = {}
    for method in runs.columns.unique(0) if len(runs) else ():
        values = runs[method].unstack("run").reindex(runs.index.unique(0))
        cube = np.stack([values[protocol].to_numpy() for protocol in FACTORS])  # factors, sets, runs
        rng = np.random.default_rng(BOOTSTRAP_SEED)
        n_sets, n_runs = cube.shape[1:]
        sets = rng.integers(n_sets, size=(BOOTSTRAP_DRAWS, n_sets, 1))
        drawn = cube[:, sets, rng.integers(n_runs, size=(*sets.shape[:2], n_runs))]
        with np.errstate(divide="ignore", invalid="ignore"):  # draws of one run only have no variance
            drawn_ratios, ratios = (100 * v[:-1] / v[-1] for v in (np.nanvar(drawn, -1), np.nanvar(cube, -1)))
        low, high = np.nanpercentile(np.nanmedian(drawn_ratios, -1), [2.5, 97.5], axis=-1)
        medians, largest = np.median(ratios, axis=-1), ratios.argmax(axis=0)
        for place, factor in enumerate(list(FACTORS.values())[:-1]):
            rows[METHODS[method].column, factor] = {
                "contribution %": medians[place], "low %": low[place], "high %": high[place],
                "largest on": f"{(largest == place).sum()} of {n_sets}",
            }  # fmt: skip
    index = pd.MultiIndex.from_tuples(rows, names=["method", "factor"]) if rows else None
    return pd.DataFrame(rows.values(), index=index)


def contamination_kinds(results_dir):
    """AUC-PR with the authors' contamination, with copies of training anomalies only, and with none.

    A row per data set and their average, columns (method, kind), for the methods that have all three. The
    authors copy anomalies of the whole data set, those of the test set too, and label the copies 0.
    """
    kinds = {
        "authors'": paper_runs(results_dir, "seen"),
        "training only": paper_runs(results_dir, "seen", TRAINING_COPIES),
        "none": paper_runs(results_dir, "seen", contamination=(0.0,)),
    }
    columns = {
        (method, kind): of_method.groupby("dataset")["score"].mean()
        for kind, runs in kinds.items()
        for method, of_method in runs[runs["data_status"] == "exact"].groupby("method")
    }
    table = pd.DataFrame(columns).dropna()
    complete = [name for name in METHODS if all((name, kind) in table for kind in kinds)]
    columns = pd.MultiIndex.from_product([complete, kinds])
    table = table.reindex(index=in_paper_order(table.index), columns=columns)
    if table.size:
        table.loc[AVERAGE] = table.mean()
    return table
