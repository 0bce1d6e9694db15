"""The data of the paper's Figs. 2 to 5 and of the theorem's figure, for figures.py and the page."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from weakly.judging import cells
from weakly.judging.tables import PAPER_SET_UP, by_method, read_cells, read_frame
from weakly.loading.registry import SEEN_SETS
from weakly.methods import METHODS


@dataclass(frozen=True)
class Parameter:
    """One x axis: label, value in the paper's tables, largest value to show, how values are placed."""

    label: str
    in_paper: float
    largest: float = np.inf
    percent: bool = False
    # for grids that grow by factors: equal steps are then a logarithmic axis, up to rounding
    evenly: bool = False


PARAMETERS = {
    "n_labeled": Parameter("labelled anomalies", PAPER_SET_UP["n_labeled"]),
    # beyond the largest, the theorem's sweep
    "contamination": Parameter("contamination (%)", PAPER_SET_UP["contamination"], largest=0.1, percent=True),
    "margin": Parameter("margin m", 4, evenly=True),
    "ensemble_size": Parameter("ensemble size E", 30),
    "l2": Parameter("regularisation λ", 0.01, evenly=True),
}
# experiment: its figures as (name, parameters, title); several parameters are a column of panels each
SWEEPS = {
    "labels": [
        ("labels_seen", ["n_labeled"], "Number of labelled anomalies, seen classes"),
        ("labels_unseen", ["n_labeled"], "Number of labelled anomalies, unseen classes"),
    ],
    "contamination": [("contamination", ["contamination"], "Contamination of the unlabelled data")],
    "sensitivity": [("sensitivity", ["margin", "ensemble_size", "l2"], "Sensitivity to hyperparameters")],
}
KINDS = ("anomalies", "normals")  # of rows, in the theorem's figure
THEOREM_COLUMNS = ["share"] + [
    name for kind in KINDS for name in (f"mean_score_{kind}", f"mean_score_{kind}_std", f"predicted_{kind}")
]
CLAIMS_OF_FIGURES = {  # by figure, the keys of the claims that it shows
    "labels_seen": ("more-labels-help", "fewer-labels-than-devnet", "fewer-labels-than-dsad"),
    "labels_unseen": ("more-labels-help-on-unseen", "fewer-labels-on-unseen"),
    "contamination": ("stable-under-contamination",),
    "sensitivity": ("robust-in-margin", "robust-in-ensemble-size", "robust-in-lambda"),
    "theorem": ("theorem-order", "theorem-values"),
}
DRAWN = {  # the figures of each experiment, with their titles
    experiment: {name: title for name, _, title in figures} for experiment, figures in SWEEPS.items()
} | {"theorem": {"theorem": "Mean scores, measured and predicted"}}


def read_drawable(path, experiment):
    """A table that figures are drawn from."""
    is_theorem = experiment == "theorem"
    return read_frame(path, numbers=THEOREM_COLUMNS) if is_theorem else read_cells(path, is_sweep=True)


def part_of(table, name):
    """The rows of a figure: labels are two figures, one of seen and one of unseen classes."""
    unseen = table["dataset"].str.contains("->", regex=False)
    return table[unseen] if name == "labels_unseen" else table[~unseen] if name == "labels_seen" else table


def published_values():
    """The AUC-PR of Tables 2 and 3, by data set: 60 labels, 2% contamination, PReNet's default settings."""
    there = [name for name in ("seen", "unseen") if (cells.PUBLISHED / f"{name}.csv").exists()]
    return pd.concat([pd.DataFrame(), *(by_method(cells.published_table(name)) for name in there)])


def methods_in(table):
    """The methods that have an AUC-PR in a table, in the order of METHODS."""
    there = set(table["method"][table["metric"].str.startswith("auc_pr") & table["mean"].notna()])
    return [name for name in METHODS if name in there]


def left_out(table):
    """The data sets of Table 2 that a table does not have, in words; empty if it has them all."""
    missing = [name for name in SEEN_SETS if name not in set(table["dataset"])]
    return f" (without {', '.join(missing)})" if missing and len(missing) < len(SEEN_SETS) else ""
