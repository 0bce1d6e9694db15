"""The figure of tools.labelling: anomalies found above, AUC-PR on held-out rows below."""

import matplotlib
from matplotlib.lines import Line2D

from weakly.methods import METHODS
from weakly.reporting import figures

LOOKS = {  # strategy: label, colour, marker, marker size, line width; the first line lies under the second
    "used": ("proposed rows, rejections are known normals", "#c94f00", "o", 5.2, 2.2),
    "ignored": ("proposed rows, rejections ignored", "#0072b2", "s", 2.8, 0.9),
    "random": ("random rows", "#5c5c5c", "^", 3.4, 1.1),
}
ROWS = {"found": "anomalies found", "auc_pr": "AUC-PR on held-out rows"}
CLOSE = 0.07  # share of an axis: numbers closer together than this are moved apart


def draw_strategies(axes, part, value, top):
    """The mean over the seeds of each strategy, and a band from the lowest to the highest seed."""
    ends = {}
    for strategy, (_, color, marker, size, width) in LOOKS.items():
        by_round = part[part["strategy"] == strategy].groupby("round")[value]
        mean, low, high = by_round.mean(), by_round.min(), by_round.max()
        axes.fill_between(mean.index, low, high, color=color, alpha=0.13, linewidth=0)
        axes.plot(mean.index, mean, color=color, marker=marker, markersize=size, linewidth=width)
        ends[strategy] = mean.iloc[-1]
    lowest = -top
    for strategy, end in sorted(ends.items(), key=lambda item: item[1]):
        lowest = max(end, lowest + CLOSE * top)
        place = {"xytext": (6, 0), "textcoords": "offset points", "va": "center", "fontsize": 6.5}
        shown = f"{end:.{0 if value == 'found' else 2}f}"
        axes.annotate(shown, (part["round"].max(), lowest), color=LOOKS[strategy][1], **place)
    axes.margins(x=0.1)
    axes.set(ylim=(0, top), xticks=range(part["round"].max() + 1))


def labelling_figure(table):
    """A column of panels for each table and method."""
    columns = dict(list(table.groupby(["table", "method"], sort=True)))
    title = "Five rounds of 20 labels, starting from 10 labelled anomalies"
    shape = {"columns": len(columns), "sharex": True, "panel_height": 1.75}
    figure, panels = figures.panel_grid(2 * len(columns), title, **shape)
    panels = panels.reshape(2, len(columns))
    for number, ((name, method), part) in enumerate(columns.items()):
        same_table = table[table["table"] == name]
        for row, value in enumerate(ROWS):
            highest = (table if value == "found" else same_table)[value].max()
            draw_strategies(panels[row, number], part, value, 1.08 * highest)
        panels[0, number].set_title(f"{name}, {METHODS[method].column}")
        panels[1, number].set_xlabel("round")
    for row, label in enumerate(ROWS.values()):
        panels[row, 0].set_ylabel(label)
    handles = [
        Line2D([], [], color=color, marker=marker, markersize=size, linewidth=width, label=label)
        for label, color, marker, size, width in LOOKS.values()
    ]
    handles += [Line2D([], [], linestyle="none", label="lines: mean; bands: lowest to highest seed")]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def draw_labelling(table, path):
    """Write the figure as PNG and SVG; returns their paths."""
    with matplotlib.style.context(["default", figures.RC]):
        return figures.save(labelling_figure(table), path)
