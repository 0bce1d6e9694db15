"""What the scaling of the features decides: the experiment `scaling`.

    python experiments.py scaling                        # 60 labels, 10 draws: about 40 minutes on 2 cores
    python experiments.py scaling --protocol released    # the authors' draws

Both write scaling_averages.csv, scaling_leads.csv, scaling.md and the figure scaling.

All runs of a method and a data set have the same draws under all scalings. Trees have the paper's only.
"""

from pathlib import Path

import pandas as pd

from weakly.beyond.result_files import write_results
from weakly.beyond.today import DECISIVE, display_name, in_method_order, leads_as_text, t_interval
from weakly.judging.effects import Lead
from weakly.judging.tables import in_paper_order, paper_runs
from weakly.loading.registry import SEEN_SETS
from weakly.methods import METHODS
from weakly.numbers import number
from weakly.reporting.palette import look
from weakly.reporting.pictures import panel_grid, save
from weakly.running.configuration import PREPARED
from weakly.training.number_scaler import SCALINGS

SUMMARY = ("prenet", "devnet", "dsad", "fsnet", "logistic-converged", "xgboost-shallow", "xgbod")
SHOWN = {PREPARED: "min-max", "cut": "cut", "fences": "fences"}  # the scalings of the tables, and their names
RIVAL = "xgbod"


def scaling_runs(results_dir, protocol="independent"):
    """The runs of the experiment with one protocol, on exact data."""
    runs = paper_runs(results_dir, "scaling", protocol, scaling=(PREPARED, *SCALINGS))
    return runs[runs["data_status"] == "exact"]


def means_by_scaling(runs):
    """Mean AUC-PR: a row per data set of the paper, columns (method, scaling), those run on all sets only.

    Cells with fewer runs than the others are left out: they were made for the rule alone.
    """
    runs = runs[runs["dataset"].isin(SEEN_SETS) & runs["scaling"].isin(SHOWN)]
    cells = runs.groupby(["dataset", "method", "scaling"])["auc_pr"]
    table = cells.mean()[cells.size() == cells.size().max()].unstack(["method", "scaling"]).dropna(axis=1)
    order = [(name, scaling) for name in in_method_order(runs["method"]) for scaling in SHOWN]
    return table.loc[in_paper_order(table.index), [column for column in order if column in table]]


def averages_by_scaling(runs):
    """Average AUC-PR: a row per method, a column per scaling; trees have only `min-max`."""
    means = means_by_scaling(runs).mean().unstack("scaling").reindex(columns=SHOWN)
    return means.loc[in_method_order(means.index)].rename(columns=SHOWN)


def leads_by_scaling(runs):
    """PReNet's lead over every other method: method, scaling, sets (`all`, or without one), mean, low, high.

    The interval is a 95% one over data sets (Student's t), of differences that are means over draws. Both
    methods have the scaling; trees have their own.
    """
    table, rows = means_by_scaling(runs), []
    for method in table.columns.unique("method").drop("prenet"):
        for scaling in table["prenet"]:
            other = method, PREPARED if METHODS[method].is_tree else scaling
            if other in table:
                gap = table["prenet", scaling] - table[other]
                rows.append((method, scaling, "all", *t_interval(gap)))
                rest = gap.drop(DECISIVE, errors="ignore")
                rows.append((method, scaling, f"without {DECISIVE}", *t_interval(rest)))
    return pd.DataFrame(rows, columns=["method", "scaling", "sets", *Lead._fields])


def summary_table(runs, methods=None):
    """The averages of all methods, or of some, and PReNet's leads with every scaling."""
    averages, leads = averages_by_scaling(runs), leads_by_scaling(runs)
    texts = averages.apply(lambda values: " / ".join(map(number, values.dropna())), axis=1)
    titles = "PReNet's lead, " + leads["scaling"].map(SHOWN) + ", " + leads["sets"]
    leads = leads.assign(title=titles.str.removesuffix(", all"), text=leads_as_text(leads))
    by_title = leads.pivot(index="method", columns="title", values="text")[leads["title"].unique()]
    shown = texts.to_frame(f"AUC-PR, {' / '.join(averages)}").join(by_title).fillna("")
    return shown.loc[list(methods or shown.index)].rename(index=display_name)


def scaling_figure(table):
    """A panel per data set: each method's AUC-PR with each scaling, XGBOD's as a line."""
    methods = [name for name in table.columns.unique("method") if not METHODS[name].is_tree]
    table = table.copy()
    table.loc["average"] = table.mean()
    title = "AUC-PR with min-max (ring), cut (dot) and fences (diamond); the line is XGBOD. Scales differ."
    figure, panels = panel_grid(len(table), title, 3, (330, 60 + 17 * len(methods)), sharey=True)
    for axes, (dataset, values) in zip(panels, table.iterrows()):
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        if (RIVAL, PREPARED) in table:
            axes.axvline(values[RIVAL, PREPARED], color=look(RIVAL).light, linewidth=2, zorder=1)
        for place, method in enumerate(methods):
            ink, at = look(method).light, values[method]
            axes.plot(at, [place] * len(at), color=ink, linewidth=1.5, zorder=2)
            for scaling, value in at.items():
                dot = {"color": ink, "markerfacecolor": "white" if scaling == PREPARED else ink}
                marker = "D" if scaling == "fences" else "o"
                axes.plot(value, place, marker, markersize=5, zorder=4, **dot)
        axes.set_title(dataset, loc="left", fontweight="bold" if dataset == "average" else "normal")
    panels[0].set_ylim(len(methods) - 0.4, -0.6)
    panels[0].set_yticks(range(len(methods)), [display_name(method) for method in methods])
    return figure


def write_scaling(results_dir):
    """Write the tables, the text and the figure of the runs that there are; returns the paths."""
    averages, leads, figures = [], [], []
    parts = ["# What the scaling decides", "Single data sets: scaling.csv and scaling_released.csv."]
    for protocol in ("independent", "released"):
        runs = scaling_runs(results_dir, protocol)
        means = means_by_scaling(runs)
        if len(means) > 1 and "prenet" in means:
            averages.append(averages_by_scaling(runs).reset_index().assign(protocol=protocol))
            leads.append(leads_by_scaling(runs).assign(protocol=protocol))
            heading = f"## `{protocol}`, 60 labels, AUC-PR, mean of {runs['run'].nunique()} runs"
            parts += [heading, summary_table(runs)]
            if protocol == "independent":
                figures = save(scaling_figure(means), Path(results_dir) / "figures" / "scaling")
    tables = {"scaling_averages": pd.concat(averages), "scaling_leads": pd.concat(leads)} if leads else {}
    return [*write_results(results_dir, "scaling", parts, tables), *figures]
