"""The paper's Figs. 2 to 5 and the theorem's figure: what they show, and the data they are drawn from."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from weakly.judging import cells
from weakly.judging.tables import PAPER_SET_UP, by_method, read_frame, read_table
from weakly.reporting.theorem import KINDS


class Parameter(NamedTuple):
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


class PaperFigure(NamedTuple):
    experiment: str  # whose table it shows
    title: str
    command: str
    claims: tuple  # the keys of the claims that it shows
    parameters: tuple = ()  # several are a column of panels each


FIGURES = {
    "labels_seen": PaperFigure(
        "labels", "Fig. 2: labelled anomalies, seen classes", "./run_labels.sh",
        ("more-labels-help", "fewer-labels-than-devnet", "fewer-labels-than-dsad"), ("n_labeled",),
    ),
    "labels_unseen": PaperFigure(
        "labels", "Fig. 3: labelled anomalies, unseen classes", "./run_labels.sh",
        ("more-labels-help-on-unseen", "fewer-labels-on-unseen"), ("n_labeled",),
    ),
    "contamination": PaperFigure(
        "contamination", "Fig. 4: contamination of the unlabelled data", "./run_contamination.sh",
        ("stable-under-contamination",), ("contamination",),
    ),
    "sensitivity": PaperFigure(
        "sensitivity", "Fig. 5: margin m, ensemble size E and λ", "./run_sensitivity.sh",
        ("robust-in-margin", "robust-in-ensemble-size", "robust-in-lambda"),
        ("margin", "ensemble_size", "l2"),
    ),
    "theorem": PaperFigure(
        "theorem", "The theorem of Sec. 4: are the scores as predicted?", "./run_contamination.sh --theorem",
        ("theorem-order", "theorem-values"),
    ),
}  # fmt: skip
CLAIMS_OF_FIGURES = {name: figure.claims for name, figure in FIGURES.items()}
THEOREM_COLUMNS = [f"{name}_{kind}" for name in ("mean_score", "predicted") for kind in KINDS]
THEOREM_COLUMNS += ["share", *(f"mean_score_{kind}_std" for kind in KINDS)]


def read_figure(path, name):
    """The rows of a table that a figure shows: labels have one of seen and one of unseen classes."""
    if name == "theorem":
        return read_frame(path, numbers=THEOREM_COLUMNS)
    table = read_table(path, is_sweep=True)
    unseen = table["dataset"].str.contains("->", regex=False)
    return table[unseen] if name == "labels_unseen" else table[~unseen] if name == "labels_seen" else table


def published_values():
    """The AUC-PR of Tables 2 and 3, by data set: 60 labels, 2% contamination, PReNet's default settings."""
    there = [name for name in ("seen", "unseen") if (cells.PUBLISHED / f"{name}.csv").exists()]
    return pd.concat([pd.DataFrame(), *(by_method(cells.published_table(name)) for name in there)])
