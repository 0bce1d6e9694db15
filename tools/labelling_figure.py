"""The figure of tools.labelling: anomalies found above, AUC-PR on held-out rows below."""

import matplotlib
from matplotlib.lines import Line2D

from methods import METHODS
from reporting import figures

LOOKS = {  # strategy: label, colour, marker
    "used": ("proposed rows, rejections used as known normals", "#c94f00", "o"),
    "ignored": ("proposed rows, rejections ignored", "#0072b2", "s"),
    "random": ("random rows", "#5c5c5c", "^"),
}
ROWS = {"found": "anomalies found", "auc_pr": "AUC-PR on held-out rows"}


def draw_strategies(axes, part, value):
    """The mean over the seeds of each strategy, and a band from the lowest to the highest seed."""
    for strategy, (_, color, marker) in LOOKS.items():
        by_round = part[part["strategy"] == strategy].groupby("round")[value]
        mean, low, high = by_round.mean(), by_round.min(), by_round.max()
        axes.fill_between(mean.index, low, high, color=color, alpha=0.13, linewidth=0)
        axes.plot(mean.index, mean, color=color, marker=marker, markersize=3.6, linewidth=1.1)
        at_end = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": 6.5}
        shown = f"{mean.iloc[-1]:.{0 if value == 'found' else 2}f}"
        axes.annotate(shown, (mean.index[-1], mean.iloc[-1]), color=color, **at_end)
    axes.margins(x=0.1)
    axes.set_ylim(bottom=0)


def labelling_figure(table):
    """A column of panels for each table and method."""
    columns = dict(list(table.groupby(["table", "method"], sort=True)))
    n_seeds = table["seed"].nunique()
    title = "Five rounds of 20 labels, starting from 10 labelled anomalies"
    shape = {"columns": len(columns), "sharex": True, "panel_height": 1.75}
    figure, panels = figures.panel_grid(2 * len(columns), title, **shape)
    panels = panels.reshape(2, len(columns))
    for number, ((name, method), part) in enumerate(columns.items()):
        for row, value in enumerate(ROWS):
            draw_strategies(panels[row, number], part, value)
        panels[0, number].set_title(f"{name}, {METHODS[method].column}")
        panels[1, number].set_xlabel("round")
    for row, label in enumerate(ROWS.values()):
        panels[row, 0].set_ylabel(label)
    handles = [
        Line2D([], [], color=color, marker=marker, markersize=3.6, linewidth=1.1, label=label)
        for label, color, marker in LOOKS.values()
    ]
    handles += [Line2D([], [], linestyle="none", label=f"lines: mean, bands: range of {n_seeds} seeds")]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def draw_labelling(table, path):
    """Write the figure as PNG and SVG; their paths."""
    with matplotlib.style.context(["default", figures.RC]):
        return figures.save(labelling_figure(table), path)
