"""The paper's Figs. 2-5, and the check of its theorem, from the tables of the experiments.

    python -m weakly.reporting.figures                                      # results/ -> results/figures/
    python -m weakly.reporting.figures --results-dir results/reference      # what we obtained

Reads <results>/labels.csv (Figs. 2 and 3), contamination.csv (Fig. 4), sensitivity.csv (Fig. 5) and
theorem.csv, and the <name>_synthetic.csv of each; writes every figure as PNG and SVG. The same tables give
the same bytes. Hollow markers are the numbers in the paper's Tables 2 and 3; synthetic data has none. A grey
name marks a data set that is not exactly the paper's, so its numbers need not agree with the hollow markers;
its AUC-PR is weighted to the paper's class ratio.
"""

import argparse
import sys
from math import ceil
from pathlib import Path

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.figure import Figure  # not pyplot, which may need a display
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from weakly.command_line import user_errors_end
from weakly.errors import UserError
from weakly.judging.tables import by_method, comparable
from weakly.methods import METHODS
from weakly.reporting.palette import KIND_LOOKS, look
from weakly.reporting.sweeps import (
    DRAWN,
    PARAMETERS,
    SWEEPS,
    left_out,
    methods_in,
    published_values,
    read_drawable,
)
from weakly.writing import written_whole

HOLLOW = {
    "markersize": 5.5,
    "markerfacecolor": "none",
    "markeredgewidth": 0.9,
    "linestyle": "none",
    "zorder": 5,
    "clip_on": False,
}
NEW_DRAWS = ("_redrawn", "_independent")  # endings of tables in which every run has its own draw
PAGE_WIDTH = 7.0  # inches
SMALLEST_RANGE = 0.1  # of an AUC-PR axis, to make flat curves look flat
FONT_SIZES = {
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.5,
    "figure.titlesize": 8.5,
    "figure.labelsize": 8,
    "legend.fontsize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}
LEGEND = {"frameon": False, "handlelength": 1.8, "columnspacing": 1.4, "handletextpad": 0.5}
TICKS = {"major.width": 0.6, "major.size": 2, "major.pad": 2}
AXES = {"spines.top": False, "spines.right": False, "linewidth": 0.6, "grid": True, "axisbelow": True}
RC = {
    **FONT_SIZES,
    **{f"legend.{name}": value for name, value in LEGEND.items()},
    **{f"axes.{name}": value for name, value in AXES.items()},
    **{f"{axis}tick.{name}": value for axis in "xy" for name, value in TICKS.items()},
    "grid.color": "#E5E5E5",
    "grid.linewidth": 0.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "prenet",
    "savefig.dpi": 200,
}


def draw_curve(axes, x, mean, std, color, marker, emphasis=False, bounds=(-np.inf, np.inf)):
    """A mean with a band of one standard deviation; missing values are skipped."""
    order = np.argsort(x, kind="stable")
    x, mean, std = (np.asarray(values, dtype=float)[order] for values in (x, mean, std))
    there = np.isfinite(mean)
    x, mean, std = x[there], mean[there], np.nan_to_num(std[there])
    band = np.clip([mean - std, mean + std], *bounds)
    axes.fill_between(x, *band, color=color, alpha=0.16, linewidth=0, zorder=2)
    width, size, layer = (1.6, 3.6, 4) if emphasis else (0.9, 3.0, 3)
    look = {"linewidth": width, "markersize": size, "markeredgewidth": 0.3, "zorder": layer}
    axes.plot(x, mean, color=color, marker=marker, **look)


def draw_sweep(axes, part, grid, parameter, published):
    """One panel: AUC-PR of each method on one data set against one parameter, and the published values."""
    positions = dict(zip(grid, range(len(grid)) if parameter.evenly else grid))
    labels = [f"{100 * value if parameter.percent else value:g}" for value in grid]
    axes.set_xticks(list(positions.values()), labels)
    first, last = min(positions.values()), max(positions.values())
    margin = 0.06 * (last - first) or 1  # the whole grid, even if a data set lacks part of it
    axes.set_xlim(first - margin, last + margin)
    means = by_method(comparable(part), rows="value").dropna(axis=1, how="all")
    spreads = by_method(part, values="std", rows="value")  # of plain AUC-PR, also where the mean is weighted
    for method in sorted(means, key=lambda name: name == "prenet"):  # drawn last, on top of the others
        color, _, marker = look(method)
        places, is_prenet = means.index.map(positions), method == "prenet"
        draw_curve(axes, places, means[method], spreads[method], color, marker, is_prenet, (0, 1))
        value = published[method].get(part["dataset"].iloc[0]) if method in published else None
        if pd.notna(value) and parameter.in_paper in positions:
            axes.plot(positions[parameter.in_paper], value, marker, color=color, **HOLLOW)


def limit_auc(row, n_ticks):
    """One y range for the panels of a row: what is drawn, at least SMALLEST_RANGE, within 0 and 1."""
    low, high = min(axes.dataLim.y0 for axes in row), max(axes.dataLim.y1 for axes in row)
    wider = max(0.0, SMALLEST_RANGE - (high - low)) / 2
    low, high = max(low - wider, 0.0), min(high + wider, 1.0)
    for axes in row:
        axes.set_ylim(low - 0.07 * (high - low), high + 0.07 * (high - low))
        axes.yaxis.set_major_locator(MaxNLocator(n_ticks, steps=[1, 2, 5, 10]))


def panel_grid(n_panels, title, columns=None, panel_height=None, **options):
    """A figure with n_panels axes in rows, as wide as a page unless it has one column; and the axes."""
    columns = columns or {1: 1, 2: 2, 3: 3, 5: 3, 6: 3, 9: 3}.get(n_panels, 4)
    panel_height = panel_height or {1: 2.4, 2: 2.0, 3: 1.7}.get(columns, 1.4)
    rows = -(-n_panels // columns)
    figure = Figure(
        figsize=(PAGE_WIDTH if columns > 1 else 4.2, rows * panel_height + 0.9), layout="constrained"
    )
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03)
    panels = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for unused in panels[n_panels:]:
        unused.remove()
    figure.suptitle(title)
    return figure, panels[:n_panels]


def name_panel(part, set_text, separator=" "):
    """Write a data set's name, grey and with its status where its data is not the paper's."""
    dataset, status = part["dataset"].iloc[0].replace("->", " → "), part["status"].iloc[0]
    as_in_paper = status == "exact"
    set_text(
        dataset if as_in_paper else f"{dataset}{separator}({status})",
        color="black" if as_in_paper else "#777777",
    )


def add_labels(figure, panels, x_labels, y_label, curves, notes):
    """Name the axes once, x below the lowest panel of each column, and put one legend under the figure."""
    n_columns = panels[0].get_gridspec().ncols
    for number, axes in list(enumerate(panels))[-n_columns:]:
        axes.set_xlabel(x_labels[number % len(x_labels)])
    figure.supylabel(y_label)
    handles, n_columns = legend_columns(curves, notes, 6 if figure.get_figwidth() == PAGE_WIDTH else 4)
    figure.legend(handles=handles, loc="outside lower center", ncols=n_columns)


def legend_columns(curves, notes, most_columns):
    """The entries of a legend, column by column, and its columns; as few rows as fit, the notes last."""
    n_rows = 1
    while ceil(len(curves) / n_rows) + ceil(len(notes) / n_rows) > most_columns:
        n_rows += 1
    # fills the last column of the curves and that of the notes
    blank, entries = Line2D([], [], linestyle="none", label=" "), []
    for group in (curves, notes):
        entries += [*group, *[blank] * (ceil(len(group) / n_rows) * n_rows - len(group))]
    return entries, len(entries) // n_rows


def band_entry(set_up):
    """What the bands are, in the legend: a spread over draws where every run has its own."""
    over = "draws" if set_up in NEW_DRAWS else "runs"
    return Patch(color="#777777", alpha=0.3, linewidth=0, label=f"band: ± 1 std over {over}")


def sweep_figure(table, names, title, published, set_up=""):
    """Figs. 2-4: a panel per data set; Fig. 5: a row per data set, a column for each of m, E and lambda."""
    largest = table["parameter"].map({name: PARAMETERS[name].largest for name in names})
    table = table[table["value"] <= largest.astype(float)]
    parts = [part for _, part in table.groupby("dataset", sort=False) if methods_in(part)]
    if not parts:
        return None
    columns = [name for name in names if name in set(table["parameter"])]
    grids = {name: sorted(set(table["value"][table["parameter"] == name])) for name in columns}
    is_table, is_long = len(names) > 1, len(parts) > 2
    height = 0.64 if is_long else 1.1
    shape = {"columns": len(columns), "panel_height": height, "sharex": "col", "sharey": "row"}
    figure, panels = panel_grid(len(parts) * len(columns), title, **shape if is_table else {})
    for part, row in zip(parts, panels.reshape(len(parts), len(columns))):
        for axes, name in zip(row, columns):
            draw_sweep(axes, part[part["parameter"] == name], grids[name], PARAMETERS[name], published)
        limit_auc(row, 3 if is_table and is_long else 6)
        name_panel(part, *(row[0].set_ylabel, "\n") if is_table else (row[0].set_title, " "))
    hollow = Line2D([], [], color="#444444", marker="o", label="hollow: published", **HOLLOW)
    at_paper = any(PARAMETERS[name].in_paper in grid for name, grid in grids.items())
    notes = [band_entry(set_up)]
    notes += [hollow] if at_paper and set(table["dataset"]) & set(published.index) else []
    curves = [curve_entry(name) for name in methods_in(table)]
    add_labels(figure, panels, [PARAMETERS[name].label for name in columns], "AUC-PR", curves, notes)
    return figure


def curve_entry(method):
    """A method in the legend."""
    (color, _, marker), width = look(method), 1.6 if method == "prenet" else 0.9
    label = METHODS[method].column
    return Line2D([], [], color=color, marker=marker, markersize=3.6, linewidth=width, label=label)


def theorem_figure(table, title, set_up=""):
    """Mean scores of anomalies and normals against the share of anomalies in U, measured and predicted."""
    parts = [part.sort_values("share") for _, part in table.groupby("dataset", sort=False)]
    if not parts:
        return None
    figure, panels = panel_grid(len(parts), f"{title}{left_out(table)}")
    for axes, part in zip(panels, parts):
        for kind, (color, _, marker) in KIND_LOOKS.items():
            mean, std = part[f"mean_score_{kind}"], part[f"mean_score_{kind}_std"]
            draw_curve(axes, part["share"], mean, std, color, marker)
            axes.plot(part["share"], part[f"predicted_{kind}"], color=color, linestyle="--", linewidth=0.9)
        axes.axvline(2 / 3, color="#444444", linestyle=":", linewidth=0.9)
        axes.locator_params(nbins=5)
        name_panel(part, axes.set_title)
    curves = [
        Line2D([], [], color=color, marker=marker, markersize=3.6, label=kind)
        for kind, (color, _, marker) in KIND_LOOKS.items()
    ]
    notes = [band_entry(set_up), Line2D([], [], color="#444444", linestyle="--", label="dashed: predicted")]
    notes += [Line2D([], [], color="#444444", linestyle=":", label="dotted: a share of 2/3")]
    add_labels(figure, panels, ["share of anomalies in U"], "mean score", curves, notes)
    return figure


def figures_of(table, experiment, set_up):
    """The figures that one table has data for, as {name: figure}; set_up is '' for the paper's."""
    note = f" ({set_up.strip('_')})" if set_up else ""
    if experiment == "theorem":
        drawn = {"theorem": theorem_figure(table, f"Mean scores, measured and predicted{note}", set_up)}
    else:
        published, unseen = published_values(), table["dataset"].str.contains("->", regex=False)
        published = published[:0] if set_up else published
        parts = {"labels_seen": table[~unseen], "labels_unseen": table[unseen]}
        drawn = {
            name: sweep_figure(parts.get(name, table), parameters, title + note, published, set_up)
            for name, parameters, title in SWEEPS[experiment]
        }
    return {name: figure for name, figure in drawn.items() if figure is not None}


def save(figure, path):
    """Write a figure as PNG and SVG without dates or versions: a file changes only when the figure does."""
    targets = {
        path.with_name(f"{path.name}.png"): {"Software": None},
        path.with_name(f"{path.name}.svg"): {"Date": None, "Creator": None},
    }
    for target, metadata in targets.items():
        with written_whole(target) as file:
            figure.savefig(file, format=target.suffix[1:], metadata=metadata)
    return list(targets)


def draw_figures(results_dir, experiment, set_up=""):
    """Draw the figures of one table; returns the paths that were written, none if there is no such table.

    set_up is the ending of a table that is not the paper's: _synthetic, _independent, ...
    """
    if experiment not in DRAWN:
        raise ValueError(f"experiment must be one of {', '.join(DRAWN)}, not {experiment!r}")
    path = Path(results_dir) / f"{experiment}{set_up}.csv"
    if not path.exists():
        return []
    table, written = read_drawable(path, experiment), []
    with matplotlib.style.context(["default", RC]):  # ignores the user's own matplotlibrc
        figures = figures_of(table, experiment, set_up)
        if not figures:
            raise UserError(f"{path} has no data set with values to draw")
        for name, figure in figures.items():
            written += save(figure, path.parent / "figures" / f"{name}{set_up}")
    return written


def tables_in(results_dir):
    """The tables that can be drawn, as (experiment, ending)."""
    for experiment in DRAWN:
        for path in sorted(Path(results_dir).glob(f"{experiment}*.csv")):
            set_up = path.stem.removeprefix(experiment)
            if set_up[:1] in ("", "_") and not set_up.endswith(("_runs", "_vs_published")):
                yield experiment, set_up


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m weakly.reporting.figures",
        description="Draw the paper's figures from the tables of results.",
    )
    where = "where the tables are (default: %(default)s)"
    parser.add_argument("--results-dir", default="results", help=where)
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        written = [
            path for table in tables_in(args.results_dir) for path in draw_figures(args.results_dir, *table)
        ]
    if not written:
        tables = ", ".join(f"{experiment}.csv" for experiment in DRAWN)
        parser.error(f"{args.results_dir} has none of the tables {tables}: run an experiment first")
    print("\n".join(map(str, written)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
