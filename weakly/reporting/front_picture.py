"""The picture of README.md: the published AUC-PR and ours, a panel per method, as on the report page."""

import matplotlib.style
from matplotlib.figure import Figure

from weakly.methods import METHODS
from weakly.numbers import signed
from weakly.reporting import figures
from weakly.reporting.palette import look

COLUMNS = 5
NEAR = "#525961"  # of cells that do not differ


def front_picture(table):
    """Published (ring) to reproduced (dot) on each data set; coloured where the two differ."""
    methods = [name for name in METHODS if name in set(table["method"])]
    sets = list(dict.fromkeys(table["dataset"]))
    rows = -(-len(methods) // COLUMNS)
    figure = Figure(
        figsize=(figures.PAGE_WIDTH, 0.55 + rows * (0.42 + 0.13 * len(sets))), layout="constrained"
    )
    panels = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, method in zip(panels, methods):
        draw_method(axes, table[table["method"] == method].set_index("dataset"), sets, look(method).light)
        mean = table.loc[table["method"] == method, "difference"].mean()
        axes.set_title(f"{METHODS[method].column}  {signed(mean, 2)}", loc="left", fontweight="bold")
    panels[0].set(ylim=(len(sets) - 0.4, -0.6), xlim=(-0.03, 1.46), xticks=[0, 0.5, 1])
    panels[0].set_yticks(range(len(sets)), sets)
    for unused in panels[len(methods) :]:
        unused.remove()
    note = "AUC-PR: published (ring) to ours (dot); coloured where they differ"
    figure.supxlabel(note)
    return figure


def draw_method(axes, cells, sets, color):
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    for place, dataset in enumerate(sets):
        if dataset not in cells.index:
            continue
        cell = cells.loc[dataset]
        is_far = cell["verdict"] == "differs"
        ink = color if is_far else NEAR
        axes.plot([cell["published"], cell["reproduced"]], [place] * 2, color=ink, linewidth=1.2, zorder=2)
        axes.plot(cell["published"], place, "o", color=ink, **figures.HOLLOW | {"markersize": 4.2})
        axes.plot(cell["reproduced"], place, "o", color=ink, markersize=3.6, zorder=4)
        weight = "bold" if is_far else "normal"
        text = signed(cell["difference"], 2)
        axes.text(1.45, place, text, ha="right", va="center", fontsize=6, fontweight=weight, color=ink)


def draw_front_picture(table, folder):
    """Write <folder>/figures/published.png and .svg; table: cells on exact data."""
    with matplotlib.style.context(["default", figures.RC]):
        return figures.save(front_picture(table), folder / "figures" / "published")
