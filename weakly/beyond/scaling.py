"""What the scaling of the features decides: the experiment `scaling`, and the rule for detect.py's default.

    runs = scaling_runs("results")                       # 60 labels, `independent`
    averages(runs); leads(runs); choice("results")       # weakly/beyond/scaling_text.py writes them

All runs of a method and a data set have the same draws under both scalings. Trees have one scaling only:
theirs is `prepared`, the paper's.

The rule for the default, fixed before the runs that it uses were made, but after we had seen a prototype's
figures on six of the paper's sets (min-max, fences and cut, for PReNet, FSNet and logistic regression):
  1. Counted are the methods COUNTED, on the paper's six sets that are not binary (60 labels) and on ADBench's
     sets that the paper does not use (20 labels), 3 draws of `independent`. A set counts as one, with the
     mean over the methods and draws.
  2. A scaling that one absurd cell can ruin is not eligible: min-max and standard scores, by construction.
  3. A scaling that is more than TOO_MUCH below min-max on any one set is out. If all are, the one whose
     largest loss is smallest is chosen.
  4. Of the others, the one with the highest mean over all sets is chosen.
"""

import pandas as pd

from weakly.beyond.today import in_method_order, t_interval
from weakly.judging.effects import Lead
from weakly.judging.tables import in_paper_order
from weakly.loading.registry import OUTSIDE_SETS, SEEN_SETS
from weakly.methods import METHODS
from weakly.running.configuration import PREPARED
from weakly.running.runs_file import RunsFile, latest_runs
from weakly.training.number_scaler import SCALINGS

COUNTED = ("prenet", "devnet", "dsad", "fsnet", "logistic-converged")
COUNTED_RUNS = 3
TOO_MUCH = 0.05
RUINED_BY_ONE_CELL = ("min-max", "standard")
BINARY_SETS = ("celeba", "w7a")  # no scaling changes them
PAPERS_TOO = ("5_campaign", "8_celeba", "11_donors")  # ADBench's copies of the paper's sets
DECISIVE = "thyroid"
SHOWN = {PREPARED: "min-max", "cut": "cut", "fences": "fences"}  # the scalings of the tables, and their names


def scaling_runs(results_dir, protocol="independent", n_labeled=60):
    """The runs of the experiment with one protocol and number of labels: the latest data and code."""
    runs = RunsFile(results_dir, "scaling").read()
    asked = (
        (runs["protocol"] == protocol) & (runs["n_labeled"] == n_labeled) & (runs["contamination"] == 0.02)
    )
    return latest_runs(runs[asked & (runs["data_status"] == "exact")])


def means(runs):
    """Mean AUC-PR: a row per data set of the paper, columns (method, scaling), those run on all sets only.

    Cells with fewer runs than the others are left out: they were made for the rule alone.
    """
    runs = runs[runs["dataset"].isin(SEEN_SETS) & runs["scaling"].isin(SHOWN)]
    cells = runs.groupby(["dataset", "method", "scaling"])["auc_pr"]
    table = cells.mean()[cells.size() == cells.size().max()].unstack(["method", "scaling"]).dropna(axis=1)
    order = [(name, scaling) for name in in_method_order(runs["method"]) for scaling in SHOWN]
    return table.loc[in_paper_order(table.index), [column for column in order if column in table]]


def with_scaling(table, method, scaling):
    """A method's column under a scaling; trees have only the one."""
    return table[method, PREPARED if METHODS[method].is_tree else scaling]


def averages(runs):
    """Average AUC-PR per method and scaling, with and without the set that decides most.

    A row per method, columns such as `cut` and `cut, without thyroid`; trees have only `min-max`.
    """
    table = means(runs)
    parts = {"": table, f", without {DECISIVE}": table.drop(DECISIVE, errors="ignore")}
    rows = {
        method: {
            name + suffix: part[method, scaling].mean()
            for suffix, part in parts.items()
            for scaling, name in SHOWN.items()
            if (method, scaling) in table
        }
        for method in table.columns.unique("method")
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def leads(runs):
    """PReNet's lead over every other method: method, scaling, sets (`all`, or without one), mean, low, high.

    The interval is a 95% one over data sets (Student's t), of differences that are means over draws. Both
    methods have the scaling; trees have their own.
    """
    table, rows = means(runs), []
    for method in table.columns.unique("method").drop("prenet"):
        for scaling in table.columns.unique("scaling"):
            if not METHODS[method].is_tree and (method, scaling) not in table:
                continue
            gap = with_scaling(table, "prenet", scaling) - with_scaling(table, method, scaling)
            kinds = {"all": gap, f"without {DECISIVE}": gap.drop(DECISIVE, errors="ignore")}
            for sets, values in kinds.items():
                row = {"method": method, "scaling": scaling, "sets": sets, "n_sets": len(values)}
                rows.append(row | t_interval(values)._asdict() | {"ahead": int((values > 0).sum())})
    return pd.DataFrame(rows, columns=["method", "scaling", "sets", "n_sets", *Lead._fields, "ahead"])


# ---------------------------------------------------------------------------- the default of detect.py


def candidates(results_dir):
    """Mean AUC-PR of the counted methods: a row per data set of the rule, a column per scaling."""
    parts = [
        (scaling_runs(results_dir), [name for name in SEEN_SETS if name not in BINARY_SETS]),
        (
            scaling_runs(results_dir, n_labeled=20),
            [name for name in OUTSIDE_SETS if name not in PAPERS_TOO],
        ),
    ]
    runs = pd.concat([part[part["dataset"].isin(names)] for part, names in parts])
    runs = runs[runs["method"].isin(COUNTED) & (runs["run"] < COUNTED_RUNS) & runs["scaling"].isin(SCALINGS)]
    table = runs.groupby(["dataset", "method", "scaling"])["auc_pr"].mean().unstack(["method", "scaling"])
    everything = pd.MultiIndex.from_product([COUNTED, SCALINGS], names=["method", "scaling"])
    table = table.reindex(columns=everything).dropna().T.groupby("scaling").mean().T  # complete sets only
    return table.loc[in_paper_order(table.index), list(SCALINGS)]


def choice(table):
    """The scaling that the rule chooses from `candidates`, and each one's largest loss to min-max."""
    losses = table.rsub(table["min-max"], axis=0).max().clip(lower=0)
    eligible = losses.drop(list(RUINED_BY_ONE_CELL), errors="ignore")
    fine = eligible[eligible <= TOO_MUCH]
    return (table[fine.index].mean().idxmax() if len(fine) else eligible.idxmin()), losses
