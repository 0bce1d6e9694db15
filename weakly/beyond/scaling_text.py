"""The experiment `scaling` as text and figure: see weakly/beyond/scaling.py.

    python experiments.py scaling                        # 60 labels, 10 draws: about 40 minutes on 2 cores
    python experiments.py scaling --protocol released    # the authors' draws

Both write scaling_averages.csv, scaling_leads.csv, scaling_candidates.csv, scaling.md and the figure scaling.
"""

from pathlib import Path

import matplotlib.style
import pandas as pd
from matplotlib.figure import Figure

from weakly.beyond.scaling import DECISIVE, SHOWN, averages, candidates, choice, leads, means, scaling_runs
from weakly.beyond.today import display_name
from weakly.judging.effects import Lead
from weakly.judging.tables import write_table
from weakly.methods import METHODS
from weakly.numbers import number
from weakly.reporting import figures
from weakly.reporting.palette import look
from weakly.reporting.text_tables import as_markdown
from weakly.running.configuration import PREPARED
from weakly.writing import written_whole

PROTOCOLS = ("independent", "released")
MARKERS = {PREPARED: "o", "cut": "o", "fences": "D"}  # of the figure
RIVAL = "xgbod"
FEWEST_SETS = 2  # for averages


def write_scaling(results_dir):
    """Write the tables, the text and the figure of the runs that there are; returns the paths."""
    folder = Path(results_dir)
    runs = {protocol: scaling_runs(folder, protocol) for protocol in PROTOCOLS}
    runs = {name: part for name, part in runs.items() if means(part).shape[0] >= FEWEST_SETS}
    tables = {
        "scaling_averages": combined(runs, lambda part: averages(part).reset_index()),
        "scaling_leads": combined(runs, leads),
        "scaling_candidates": candidates(folder).reset_index(),
    }
    written = []
    for name, table in tables.items():
        if len(table):
            written.append(folder / f"{name}.csv")
            write_table(table, written[-1])
    written.append(folder / "scaling.md")
    with written_whole(written[-1]) as file:
        file.write(scaling_text(runs, candidates(folder)).encode())
    if PROTOCOLS[0] in runs:
        with matplotlib.style.context(["default", figures.RC]):
            written += figures.save(scaling_figure(means(runs[PROTOCOLS[0]])), folder / "figures" / "scaling")
    return written


def combined(runs, make):
    parts = [make(part).assign(protocol=name) for name, part in runs.items()]
    return pd.concat(parts) if parts else pd.DataFrame()


# ---------------------------------------------------------------------------- text


def scaling_text(runs, of_candidates):
    """All of it as one Markdown text."""
    parts = ["# What the scaling decides"]
    for protocol, part in runs.items():
        title = f"## `{protocol}`, 60 labels, AUC-PR, mean of {part['run'].nunique()} runs"
        parts += [title, as_markdown(sets_table(part))]
        parts += ["### Average", as_markdown(averages_table(part))]
        parts += ["### PReNet's lead", as_markdown(leads_table(part))]
    if len(of_candidates):
        parts += ["## Candidates for the default of detect.py", as_markdown(candidates_table(of_candidates))]
    return "\n\n".join(parts) + "\n"


def sets_table(runs, methods=None):
    """Per data set and method, or some methods: min-max / cut / fences; trees have one number."""
    table, shown = means(runs), {}
    for method in methods or table.columns.unique("method"):
        columns = [table[method, scaling] for scaling in SHOWN if (method, scaling) in table]
        shown[display_name(method)] = [" / ".join(map(number, row)) for row in zip(*columns)]
    return pd.DataFrame(shown, index=table.index).rename_axis(" / ".join(SHOWN.values()))


def averages_table(runs):
    """Average AUC-PR per method and scaling, with and without thyroid."""
    table = averages(runs).rename(index=display_name)
    return table.map(lambda value: "" if pd.isna(value) else number(value))


def leads_table(runs):
    """PReNet's lead over each method and scaling, with and without thyroid."""
    table = leads(runs)
    cells = [str(Lead(*values)) for values in table[list(Lead._fields)].itertuples(index=False)]
    titles = table["scaling"].map(SHOWN) + table["sets"].map({"all": ""}).fillna(f", without {DECISIVE}")
    shown = table.assign(cell=cells, title=titles).pivot(index="method", columns="title", values="cell")
    shown = shown.loc[table["method"].unique(), titles.unique()]
    return shown.rename(index=display_name).rename_axis(columns=None)


def candidates_table(table):
    """Mean AUC-PR per data set and scaling, the averages, the largest losses and the choice."""
    chosen, losses = choice(table)
    table = table.assign()
    table.loc["average"] = table.mean()
    table.loc["largest loss to min-max"] = losses
    return table.rename(columns={chosen: f"{chosen} (chosen)"}).rename_axis("data set")


# ---------------------------------------------------------------------------- figure


def scaling_figure(table):
    """A panel per data set: each method's AUC-PR with each scaling, XGBOD's as a line."""
    methods = [name for name in table.columns.unique("method") if not METHODS[name].is_tree]
    table = table.copy()
    table.loc["average"] = table.mean()
    columns, rows = 3, -(-len(table) // 3)
    height = 0.5 + rows * (0.35 + 0.13 * len(methods))
    figure = Figure(figsize=(figures.PAGE_WIDTH, height), layout="constrained")
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for axes, (dataset, values) in zip(panels, table.iterrows()):
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        if (RIVAL, PREPARED) in table:
            axes.axvline(values[RIVAL, PREPARED], color=look(RIVAL).light, linewidth=1.4, zorder=1)
        for place, method in enumerate(methods):
            ink, at = look(method).light, {name: values[method, name] for name in table[method]}
            axes.plot(list(at.values()), [place] * len(at), color=ink, linewidth=1.0, zorder=2)
            for scaling, value in at.items():
                hollow = {"markerfacecolor": "white"} if scaling == PREPARED else {}
                axes.plot(value, place, MARKERS[scaling], color=ink, markersize=3.4, zorder=4, **hollow)
        axes.set_title(dataset, loc="left", fontweight="bold" if dataset == "average" else "normal")
    panels[0].set_ylim(len(methods) - 0.4, -0.6)
    panels[0].set_yticks(range(len(methods)), [display_name(method) for method in methods])
    for unused in panels[len(table) :]:
        unused.remove()
    title = "AUC-PR with min-max (ring), cut (dot) and fences (diamond); the line is XGBOD"
    figure.supxlabel(f"{title}. Scales differ.")
    return figure
