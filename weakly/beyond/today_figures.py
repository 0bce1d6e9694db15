"""The figures of the experiment `today`: AUC-PR against the number of labels, and the methods' ranks.

    python -m weakly.beyond.today_text          # results/today_runs.csv -> results/figures/today.png, ... too

`today` has a panel per data set and one of their average, `today_ranks` a critical-difference diagram
(Demsar, JMLR 2006) per label budget. Both are written as PNG and SVG; the same runs give the same bytes.
"""

from pathlib import Path

import matplotlib.style
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from weakly.beyond.today import (
    AVERAGE_SET,
    IN_FOCUS,
    averaged_over_sets,
    budget_curves,
    budgets,
    compared,
    display_name,
    in_method_order,
    today_ranks,
)
from weakly.judging.ranks import cliques
from weakly.judging.tables import in_paper_order
from weakly.reporting.figures import (
    PAGE_WIDTH,
    RC,
    add_labels,
    draw_curve,
    limit_auc,
    panel_grid,
    save,
)
from weakly.reporting.palette import look

# The methods in question, in colours that colour-blind readers can distinguish; in the legend's order.
HIGHLIGHTED = {name: (look(name).light, look(name).marker) for name in IN_FOCUS}
GREY, DARK_GREY = "#A6A6A6", "#555555"  # lines of all other methods, and their names
GREY_MARKERS = "oxs+^*dvp|<>"  # which distinguish them
# In rows of text of a critical-difference diagram: the ruler above the axis, the bars of the cliques below.
RULER, FIRST_BAR, BAR_STEP = 1.5, -0.45, 0.38
LETTER = 0.056  # the width of one, in inches
LONGEST_OF_TWO = 16  # with names of at most this many letters, two diagrams fit side by side


def styles(methods):
    """{method: (colour, marker)}, the highlighted ones first, all others grey."""
    others = [name for name in in_method_order(methods) if name not in HIGHLIGHTED]
    grey = {name: (GREY, GREY_MARKERS[i % len(GREY_MARKERS)]) for i, name in enumerate(others)}
    return {name: style for name, style in HIGHLIGHTED.items() if name in set(methods)} | grey


# ---------------------------------------------------------------------------- AUC-PR against labels


def draw_labels_panel(axes, runs, looks, grid):
    """One panel: a line per method over the label budgets, and PReNet's band: more would hide each other."""
    axes.set_xscale("log")
    axes.set_xticks(grid, [str(number) for number in grid])
    axes.xaxis.set_minor_locator(NullLocator())
    table = budget_curves(runs)
    for method, (color, marker) in reversed(looks.items()):  # the first ones on top
        part = table[table["method"] == method]
        if method in HIGHLIGHTED:
            is_prenet = method == "prenet"
            half = part["half"] if is_prenet else 0 * part["mean"]
            draw_curve(axes, part["n_labeled"], part["mean"], half, color, marker, is_prenet, (0, 1))
        else:
            axes.plot(part["n_labeled"], part["mean"], **grey_look(marker), zorder=1.5)


def grey_look(marker):
    return {"color": GREY, "marker": marker, "linewidth": 0.5, "markersize": 2.8, "markeredgewidth": 0.5}


def labels_figure(runs):
    """A panel per data set and one of their average, which has the methods that were run on all of them."""
    runs = compared(runs)
    looks, grid = styles(runs["method"]), budgets(runs)
    sets = in_paper_order(runs["dataset"])
    title = "AUC-PR against the number of labelled anomalies (the panels have different scales)"
    figure, panels = panel_grid(len(sets) + 1, title)
    for axes, dataset in zip(panels, sets):
        draw_labels_panel(axes, runs[runs["dataset"] == dataset], looks, grid)
        axes.set_title(dataset)
    draw_labels_panel(panels[-1], averaged_over_sets(runs), looks, grid)
    panels[-1].set_title(AVERAGE_SET, fontweight="bold")
    for axes in panels:
        limit_auc([axes], 5)
    lines = [legend_line(method, *style) for method, style in looks.items()]
    band = Patch(
        color=HIGHLIGHTED["prenet"][0], alpha=0.3, linewidth=0, label="PReNet's 95% interval over draws"
    )
    add_labels(figure, panels, ["labelled anomalies"], "AUC-PR", lines, [band])
    return figure


def legend_line(method, color, marker):
    """A method in the legend, drawn as in the panels."""
    if method not in HIGHLIGHTED:
        return Line2D([], [], **grey_look(marker), label=display_name(method))
    look = {
        "color": color,
        "marker": marker,
        "markersize": 3.6,
        "linewidth": 1.6 if method == "prenet" else 0.9,
    }
    return Line2D([], [], **look, label=display_name(method))


# ---------------------------------------------------------------------------- critical-difference diagrams


def ranks_figure(runs):
    """A critical-difference diagram per label budget; None where there are no two methods to rank."""
    ranks = today_ranks(runs)
    if ranks.empty:
        return None
    n_most = int(ranks["methods"].max())
    diagrams = list(ranks.groupby("n_labeled"))
    bars = max(len(cliques(*of_budget(part))) for _, part in diagrams)
    height = 0.13 * (RULER + 1.8 - first_row(bars) + (n_most + 1) // 2)
    title = "Average ranks (1 is best); a bar joins methods that do not differ significantly (Nemenyi, 5%)"
    longest = max(len(display_name(method)) for method in ranks["method"])
    columns = 2 if len(diagrams) > 1 and longest <= LONGEST_OF_TWO else 1
    figure, panels = panel_grid(len(diagrams), title, columns, height)
    figure.set_figwidth(PAGE_WIDTH)
    margin = (longest + 6) * LETTER / (PAGE_WIDTH / columns)  # for a name and its rank
    for axes, (n_labeled, part) in zip(panels, diagrams):
        of_methods, difference = of_budget(part)
        draw_diagram(axes, of_methods, difference, first_row(bars), margin)
        axes.set_title(f"{n_labeled} labelled anomalies, {part['sets'].iloc[0]} data sets", loc="left")
        axes.set_ylim(first_row(bars) - (n_most - 1) // 2 - 0.7, RULER + 0.9)
    return figure


def of_budget(part):
    """Of the ranks of one budget: {method: rank}, the best first, and the critical difference."""
    return part.set_index("method")["rank"], part["critical_difference"].iloc[0]


def first_row(n_bars):
    """The height of the first names: below the axis and the bars of the cliques."""
    return FIRST_BAR - BAR_STEP * n_bars - 0.5


def draw_diagram(axes, ranks, critical_difference, top, margin):
    """One diagram: an axis of ranks, names on both sides, bars over groups that do not differ.

    The first names are at height top; margin is their share of the width on each side.
    """
    n_methods, black = len(ranks), {"color": "black", "solid_capstyle": "butt"}
    axes.axis("off")
    beside = margin / (1 - 2 * margin) * (n_methods - 1)
    axes.set_xlim(1 - beside, n_methods + beside)
    axes.plot([1, n_methods], [0, 0], linewidth=0.8, **black)
    for number in range(1, n_methods + 1):
        axes.plot([number, number], [0, 0.25], linewidth=0.8, **black)
        if number % 2 or n_methods < 10:
            axes.text(number, 0.4, str(number), ha="center", va="bottom", fontsize=6)
    draw_ruler(axes, n_methods, critical_difference)
    for number, group in enumerate(cliques(ranks, critical_difference)):
        ends = ranks[group].agg(["min", "max"]) + [-0.12, 0.12]
        height = FIRST_BAR - BAR_STEP * number
        axes.plot(ends, [height, height], linewidth=2.2, color="#666666", solid_capstyle="butt", zorder=3)
    left = (n_methods + 1) // 2
    for place, (method, rank) in enumerate(ranks.items()):
        is_left = place < left
        row = place if is_left else n_methods - 1 - place
        draw_name(axes, method, rank, top - row, is_left, n_methods)


def draw_ruler(axes, n_methods, critical_difference):
    """The critical difference as a length above the axis; cut off if it is longer than the axis."""
    end = min(1 + critical_difference, n_methods)
    axes.plot([1, end], [RULER, RULER], color="black", linewidth=0.8, marker="|", markersize=4)
    text = f"critical difference {critical_difference:.2f}"
    axes.text(end + 0.25, RULER, text, ha="left", va="center", fontsize=6.5)


def draw_name(axes, method, rank, height, is_left, n_methods):
    """A method's name and rank next to the axis, and the line to its position."""
    color = HIGHLIGHTED.get(method, (GREY, ""))[0]
    text_color = color if method in HIGHLIGHTED else DARK_GREY
    side = 0.4 if is_left else n_methods + 0.6
    axes.plot([rank, rank, side], [0, height, height], color=color, linewidth=0.8, zorder=2)
    name = display_name(method)
    text = f"{name}  {rank:.1f}" if is_left else f"{rank:.1f}  {name}"
    weight = "bold" if method == "prenet" else "normal"
    place = {"ha": "right" if is_left else "left", "va": "center"}
    axes.text(
        side - 0.2 if is_left else side + 0.2, height, text, color=text_color, fontweight=weight, **place
    )


# ---------------------------------------------------------------------------- files


def draw_today(runs, results_dir):
    """Draw both figures into <results>/figures/; returns the paths that were written."""
    written = []
    with matplotlib.style.context(["default", RC]):  # ignores the user's own matplotlibrc
        for name, figure in {"today": labels_figure(runs), "today_ranks": ranks_figure(runs)}.items():
            if figure is not None:
                written += save(figure, Path(results_dir) / "figures" / name)
    return written
