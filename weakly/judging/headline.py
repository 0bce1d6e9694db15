"""The numbers of the first screen, each with what it rests on; `found` is an Assessment."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import nct, t

from weakly.judging.cells import BORDER, REPRODUCED_WITHIN
from weakly.judging.effects import Lead
from weakly.judging.leads import strongest_other
from weakly.judging.ranks import LEVEL, signed_rank_p
from weakly.judging.sources import AS_PUBLISHED, RELEASED
from weakly.judging.statistics import scores
from weakly.judging.tables import find_table
from weakly.methods import METHODS

SCALING = "fences"  # the scaling of the experiment of this name that most helps the networks


class OwnNumbers(NamedTuple):
    """How many of PReNet's printed values on exact data are reproduced, and how."""

    cells: int
    by_interval: int  # within the interval of the difference
    by_rule: int  # beyond it, but within 0.01
    auc_prs: int
    below: int  # of these AUC-PRs: below print
    p: float  # that as many and as large differences to one side are chance: Wilcoxon's signed ranks

    @property
    def reproduced(self):
        return self.by_interval + self.by_rule


def own_numbers(found):
    """PReNet's cells of Table 2 by how they are reproduced; None without exact data."""
    if "seen" not in found.exact_cells or found.exact_cells["seen"].empty:
        return None
    cells = found.exact_cells["seen"].query("method == 'prenet'")
    sizes = cells["difference"].abs() - BORDER
    by_interval = sizes <= cells["interval"]
    by_rule = ~by_interval & (sizes <= REPRODUCED_WITHIN)
    gaps = cells.loc[cells["metric"] == "auc_pr", "difference"].round(6)
    counts = int(by_interval.sum()), int(by_rule.sum()), len(gaps), int((gaps < 0).sum())
    return OwnNumbers(len(cells), *counts, signed_rank_p(gaps))


def headline(found, experiment="seen", metric="auc_pr"):
    """PReNet's lead over the strongest other method, with and without the data set that moves it most.

    A row per source: method, sets, lead, the set, and the lead without it; leads are Leads.
    """
    rows = {}
    for key, of_source in found.scores.items():
        source, row = key[2], strongest_other(found.leads, experiment, key[2], metric)
        if key[:2] != (experiment, metric) or row is None:
            continue
        values = of_source.values[["prenet", row["method"]]].dropna()
        gaps = values["prenet"] - values[row["method"]]
        moved = (gaps - gaps.mean()).abs().idxmax()  # furthest from the mean: it moves the mean most
        rest = of_source.restricted(values.drop(index=moved)).lead(row["method"])
        about = {"method": row["method"], "sets": len(values), "lead": Lead(*row[["mean", "low", "high"]])}
        rows[source] = about | {"moved by": moved, "without": rest}
    return pd.DataFrame.from_dict(rows, orient="index")


def scaling_part(folder, method, protocol="released"):
    """PReNet's mean lead over a method with the authors' scaling and with a better one, and the share.

    That is the share of the gap that the scaling explains. None where the experiment was not run.
    """
    path = Path(folder) / "scaling_leads.csv"
    if not path.exists():
        return None
    leads = pd.read_csv(path).query("method == @method and protocol == @protocol and sets == 'all'")
    before, after = leads.set_index("scaling")["mean"].reindex(["prepared", SCALING])
    return None if np.isnan(before + after) else (before, after, 1 - after / before)


def chance_to_show(found, method="devnet"):
    """How likely as many data sets as ours are to show the published lead over a method at the 5% level.

    The power of a two-sided t-test on the differences per set, whose spread is that of our runs.
    """
    both = [found.scores.get(("seen", "auc_pr", source)) for source in (AS_PUBLISHED, RELEASED)]
    if any(one is None or method not in one.values for one in both):
        return np.nan
    printed, gaps = ((one.values["prenet"] - one.values[method]).dropna() for one in both)
    claimed = printed.reindex(gaps.index).mean()
    effect = claimed / gaps.std(ddof=0) * np.sqrt(len(gaps) - 1)
    border = t.ppf(1 - LEVEL / 2, len(gaps) - 1)
    return float(nct.sf(border, len(gaps) - 1, effect) + nct.cdf(-border, len(gaps) - 1, effect))


BESIDE = {  # {title: methods}
    "Why XGBOD is strong: shallow trees, and on w7a its one-class SVMs on standardised columns": (
        "xgbod", "xgboost-shallow", "xgbod-raw-svms"
    ),
    "Deep SAD without and with its original pre-training": ("dsad", "dsad-autoencoder"),
    "FEAWAD with and without w7a's rows of zeros": ("feawad", "feawad-no-zero-rows"),
}  # fmt: skip


def what_matters(found):
    """Methods beside their variants, on exact data with the authors' draws: a row per method.

    Mean AUC-PR over the sets that PReNet has, the same on w7a, PReNet's lead, and on how many sets it is
    ahead. In the last row PReNet gets its inputs on a better scaling, and trees theirs as they are.
    """
    tables = [find_table(found.folder, name) for name in ("seen", "interpretations")]
    if tables[0] is None:
        return pd.DataFrame()
    cells = pd.concat([table for table in tables if table is not None])
    values = scores(cells.drop_duplicates(["dataset", "metric", "method"]))
    rows = {}
    for title, names in BESIDE.items():
        for name in [name for name in names if name in values and "prenet" in values]:
            pair = values[["prenet", name]].dropna()
            gap = pair["prenet"] - pair[name]
            rows[title, METHODS[name].column] = {
                "sets": len(pair), "AUC-PR": pair[name].mean(), "on w7a": values[name].get("w7a", np.nan),
                "PReNet's lead": gap.mean(), "PReNet ahead on": int((gap > 0).sum()),
            }  # fmt: skip
    part = scaling_part(found.folder, "xgbod")
    if part is not None:
        average = pd.read_csv(Path(found.folder) / "scaling_averages.csv").set_index(["protocol", "method"])
        row = {"AUC-PR": average.loc[("released", "xgbod"), "min-max"], "PReNet's lead": part[1]}
        rows[f"XGBOD when PReNet's inputs are scaled by `{SCALING}`", METHODS["xgbod"].column] = row
    return pd.DataFrame.from_dict(rows, orient="index")
