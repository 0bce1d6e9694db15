"""What the scaling of the features decides: the experiment `scaling`.

    python experiments.py scaling                        # 60 labels, 10 draws: about 40 minutes on 2 cores
    python experiments.py scaling --protocol released    # the authors' draws

Both write scaling_averages.csv, scaling_leads.csv, scaling.md and the figure scaling.

All runs of a method and a data set have the same draws under all scalings. Trees have the paper's only.
"""

import pandas as pd

from weakly.beyond.result_files import write_results
from weakly.beyond.today import display_name, in_method_order, leads_as_text, t_interval
from weakly.judging.effects import Lead
from weakly.judging.tables import in_paper_order
from weakly.loading.registry import SEEN_SETS
from weakly.methods import METHODS
from weakly.numbers import number
from weakly.reporting.palette import look
from weakly.reporting.pictures import panel_grid
from weakly.running.configuration import PREPARED
from weakly.running.runs_file import RunsFile, latest_runs

DECISIVE = "thyroid"
SUMMARY = ("prenet", "devnet", "dsad", "fsnet", "logistic-converged", "xgboost-shallow", "xgbod")
SHOWN = {PREPARED: "min-max", "cut": "cut", "fences": "fences"}  # the scalings of the tables, and their names
MARKERS = {PREPARED: "o", "cut": "o", "fences": "D"}  # of the figure
RIVAL = "xgbod"
SHOWN_PROTOCOLS = ("independent", "released")
FEWEST_AVERAGED = 2  # for averages


def scaling_runs(results_dir, protocol="independent", n_labeled=60):
    """The runs of the experiment with one protocol and number of labels: the latest data and code."""
    runs = RunsFile(results_dir, "scaling").read()
    runs = runs[(runs["protocol"] == protocol) & (runs["n_labeled"] == n_labeled)]
    return latest_runs(runs[(runs["contamination"] == 0.02) & (runs["data_status"] == "exact")])


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
    """Average AUC-PR per method and scaling, with and without the set that decides most.

    A row per method, columns such as `cut` and `cut, without thyroid`; trees have only `min-max`.
    """
    table = means_by_scaling(runs)
    scalings = [name for name in SHOWN if name in table.columns.unique("scaling")]
    parts = {"": table, f", without {DECISIVE}": table.drop(DECISIVE, errors="ignore")}
    columns = [
        part.mean().unstack("scaling")[scalings].rename(columns=SHOWN).add_suffix(suffix)
        for suffix, part in parts.items()
    ]
    return pd.concat(columns, axis=1).loc[table.columns.unique("method")].rename_axis(columns=None)


def leads_by_scaling(runs):
    """PReNet's lead over every other method: method, scaling, sets (`all`, or without one), mean, low, high.

    The interval is a 95% one over data sets (Student's t), of differences that are means over draws. Both
    methods have the scaling; trees have their own.
    """
    table, rows = means_by_scaling(runs), []
    for method in table.columns.unique("method").drop("prenet"):
        for scaling in table.columns.unique("scaling"):
            other = method, PREPARED if METHODS[method].is_tree else scaling
            if other not in table:
                continue
            gap = table["prenet", scaling] - table[other]
            kinds = {"all": gap, f"without {DECISIVE}": gap.drop(DECISIVE, errors="ignore")}
            for sets, values in kinds.items():
                row = {"method": method, "scaling": scaling, "sets": sets, "n_sets": len(values)}
                rows.append(row | t_interval(values)._asdict() | {"ahead": int((values > 0).sum())})
    return pd.DataFrame(rows, columns=["method", "scaling", "sets", "n_sets", *Lead._fields, "ahead"])


def scaling_parts(runs):
    """The headings and tables of scaling.md."""
    yield "# What the scaling decides"
    for protocol, part in runs.items():
        yield f"## `{protocol}`, 60 labels, AUC-PR, mean of {part['run'].nunique()} runs"
        yield from (sets_table(part), "### Averages and PReNet's lead", summary_table(part))


def sets_table(runs):
    """Per data set and method: min-max / cut / fences; trees have one number."""
    table, shown = means_by_scaling(runs), {}
    for method in table.columns.unique("method"):
        columns = [table[method, scaling] for scaling in SHOWN if (method, scaling) in table]
        shown[display_name(method)] = [" / ".join(map(number, row)) for row in zip(*columns)]
    return pd.DataFrame(shown, index=table.index).rename_axis(" / ".join(SHOWN.values()))


def summary_table(runs, methods=None):
    """The averages of all methods, or of some, and PReNet's leads with every scaling."""
    averages = averages_by_scaling(runs)[list(SHOWN.values())]
    texts = averages.map(lambda value: "" if pd.isna(value) else number(value)).agg(" / ".join, axis=1)
    leads = leads_by_scaling(runs)
    titles = "PReNet's lead, " + leads["scaling"].map(SHOWN)
    titles += leads["sets"].map(lambda sets: "" if sets == "all" else f", {sets}")
    leads = leads.assign(title=titles, text=leads_as_text(leads))
    by_title = leads.pivot(index="method", columns="title", values="text")[titles.unique()]
    shown = texts.str.strip(" /").to_frame(f"AUC-PR, {' / '.join(SHOWN.values())}").join(by_title).fillna("")
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
            ink, at = look(method).light, {name: values[method, name] for name in table[method]}
            axes.plot(list(at.values()), [place] * len(at), color=ink, linewidth=1.5, zorder=2)
            for scaling, value in at.items():
                hollow = {"markerfacecolor": "white"} if scaling == PREPARED else {}
                axes.plot(value, place, MARKERS[scaling], color=ink, markersize=5, zorder=4, **hollow)
        axes.set_title(dataset, loc="left", fontweight="bold" if dataset == "average" else "normal")
    panels[0].set_ylim(len(methods) - 0.4, -0.6)
    panels[0].set_yticks(range(len(methods)), [display_name(method) for method in methods])
    return figure


def write_scaling(results_dir):
    """Write the tables, the text and the figure of the runs that there are; returns the paths."""
    runs = {protocol: scaling_runs(results_dir, protocol) for protocol in SHOWN_PROTOCOLS}
    runs = {name: part for name, part in runs.items() if len(means_by_scaling(part)) >= FEWEST_AVERAGED}
    tables, figures = {}, {}
    if runs:
        parts = [averages_by_scaling(part).assign(protocol=name) for name, part in runs.items()]
        tables["scaling_averages"] = pd.concat(parts).reset_index()
        parts = [leads_by_scaling(part).assign(protocol=name) for name, part in runs.items()]
        tables["scaling_leads"] = pd.concat(parts)
    if SHOWN_PROTOCOLS[0] in runs:
        figures["scaling"] = lambda: scaling_figure(means_by_scaling(runs[SHOWN_PROTOCOLS[0]]))
    return write_results(results_dir, "scaling", scaling_parts(runs), tables, figures)
