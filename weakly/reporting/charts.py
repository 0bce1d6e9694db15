"""What is drawn into one axes: curves, published and measured values, intervals, ranks, runs.

Each function has its data first and the axes last, so that a Panel can bind the data. Coordinates of texts
beside the axes are in pixels from the data, because a panel's size is fixed on the page. Scales are texts and
thin lines: matplotlib's own ticks would take most of the time of a page with hundreds of panels.
"""

import numpy as np

from weakly.judging.ranks import cliques
from weakly.methods import METHODS
from weakly.numbers import signed
from weakly.reporting.palette import KIND_LOOKS, look
from weakly.reporting.pictures import CARD, COLOURS, LINE, MUTED, TEXT

ROW = 17  # pixels from one row of a plot to the next
SOURCE_LOOKS = ("published", "released", "redrawn")  # in page.css, in the order of the sources


def write(axes, text, x, y, pixels, **more):
    """A text beside a point, this many pixels to the right."""
    how = {"textcoords": "offset points", "va": "center"} | more
    axes.annotate(text, (x, y), (pixels, 0), **how)


def round_ticks(at_most, low, high):
    """{value: text} of round numbers in a range, all with the same decimals."""
    from matplotlib.ticker import MaxNLocator

    places = MaxNLocator(at_most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high).round(9)
    places = [value for value in places if low <= value <= high]
    decimals = max((len(f"{value:g}".partition(".")[2]) for value in places), default=0)
    return {value: f"{value:.{decimals}f}".replace("-", "−") for value in places}


def draw_scales(axes, x, y, label="", lines=True, color=MUTED):
    """Texts {place: text} below and to the left; a line from each place of y to the right, and a baseline."""
    (left, right), (bottom, _) = axes.get_xlim(), axes.get_ylim()
    axes.set_axis_off()
    for place, text in x.items():
        axes.annotate(
            text, (place, bottom), (0, -4), textcoords="offset points", color=MUTED, ha="center", va="top"
        )
    for place, text in y.items():
        bold = {"fontweight": "bold"} if text == METHODS["prenet"].column else {}
        write(axes, text, left, place, -7, ha="right", color=color, **bold)
    if lines:
        axes.hlines([bottom, *y], left, right, color=LINE, linewidth=0.8, zorder=1, clip_on=False)
    if label:
        axes.annotate(
            label, (0.5, 0), (0, -19), "axes fraction", "offset points", color=TEXT, ha="center", va="top"
        )


def draw_rows(axes, names, bounds, ticks, room=0.0):
    """A named row per item, the first one above, and a scale below; room is that above the first row."""
    axes.set(xlim=bounds, ylim=(len(names) - 0.4, -0.6 - room))
    draw_scales(axes, ticks, dict(enumerate(names)), lines=False, color=TEXT)


def method_line(method, **more):
    """How a method's curve is drawn."""
    width, size, layer = (2.2, 6, 4) if method == "prenet" else (1.3, 5, 3)
    how = {"color": look(method).light, "marker": look(method).marker, "linewidth": width, "markersize": size}
    return how | {"markeredgewidth": 0.5, "markeredgecolor": CARD, "zorder": layer, "clip_on": False} | more


def draw_band(axes, x, low, high, color, **more):
    """The area between two curves; a polygon, which is a short path in an SVG."""
    there = np.isfinite(low) & np.isfinite(high)
    x, low, high = (np.asarray(values, float)[there] for values in (x, low, high))
    edges = np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]])
    axes.fill(*edges, color=color, alpha=0.16, linewidth=0, zorder=2, clip_on=False, **more)


# ---------------------------------------------------------------------------- curves


def draw_curves(curves, ticks, bounds, label, published, axes, log=False, thin=()):
    """Means with bands: curves has method, x, mean, spread; published is {method: (x, value)}.

    bounds are those of y; ticks is {x: text}; thin methods are grey and without markers.
    """
    first, last = min(ticks), max(ticks)
    margin = 0.06 * (last - first) or 1
    if log:
        axes.set_xscale("log")
    axes.set(xlim=(first / 1.15, last * 1.15) if log else (first - margin, last + margin), ylim=bounds)
    draw_scales(axes, ticks, round_ticks(4, *bounds), label)
    for method, part in curves.groupby("method", sort=False):
        part, gid = part.sort_values("x").dropna(subset="mean"), f"data-method={method}"
        if method in thin:
            axes.plot(part["x"], part["mean"], color=MUTED, linewidth=0.7, alpha=0.6, gid=gid, clip_on=False)
            continue
        if part["spread"].fillna(0).any():
            low, high = ((part["mean"] + sign * part["spread"].fillna(0)).clip(*bounds) for sign in (-1, 1))
            draw_band(axes, part["x"], low, high, look(method).light, gid=gid)
        axes.plot(part["x"], part["mean"], gid=gid, **method_line(method))
    for method, place in published.items():
        how = method_line(method, linestyle="none", markersize=7, markeredgewidth=1.4, zorder=5)
        face = {"markerfacecolor": CARD, "markeredgecolor": look(method).light}
        axes.plot(*place, gid=f"data-method={method}", **how | face)


def draw_theorem(part, bounds, axes):
    """Mean scores of anomalies and normals against their share in U, measured and predicted."""
    for kind, (color, _, marker) in KIND_LOOKS.items():
        share, mean, std = part["share"], part[f"mean_score_{kind}"], part[f"mean_score_{kind}_std"]
        draw_band(axes, share, mean - std, mean + std, color)
        axes.plot(share, mean, color=color, marker=marker, markersize=3, clip_on=False)
        axes.plot(share, part[f"predicted_{kind}"], color=color, linestyle="--", clip_on=False)
    axes.axvline(2 / 3, color=TEXT, linestyle=":", clip_on=False)
    axes.set(xlim=(0, max(0.72, part["share"].max())), ylim=bounds)
    draw_scales(axes, round_ticks(5, *axes.get_xlim()), round_ticks(5, *bounds), "share in U")


def draw_marker(method, axes):
    """The colour and marker of a method, for a legend."""
    axes.set_axis_off()
    axes.plot(0, 0, color=look(method).light, marker=look(method).marker, markersize=8, clip_on=False)


# ---------------------------------------------------------------------------- one row per data set or method


def draw_published(method, cells, sets, axes):
    """One method: a row per data set with a line from the published (ring) to the measured value, the gap."""
    draw_rows(axes, sets, (0, 1), {0: "0", 0.5: "0.5", 1: "1"})
    axes.vlines((0, 0.5, 1), -0.6, len(sets) - 0.4, color=LINE, linewidth=0.8, zorder=1, clip_on=False)
    for cell in cells.itertuples():
        row, is_far = sets.index(cell.dataset), cell.verdict == "differs"
        color = look(method).light if is_far else MUTED
        round_ = {"color": color, "marker": "o", "markersize": 5.5, "clip_on": False, "zorder": 3}
        axes.plot([cell.published, cell.reproduced], [row, row], color=color, linewidth=2, clip_on=False)
        axes.plot(cell.published, row, **round_ | {"markerfacecolor": CARD, "markeredgewidth": 1.4})
        axes.plot(cell.reproduced, row, **round_)
        how = {"fontweight": "bold", "color": TEXT} if is_far else {"color": MUTED}
        write(axes, signed(cell.difference, 2), 1, row, 44, ha="right", **how)


def draw_intervals(leads, bounds, decimals, axes):
    """A row per source: the mean with its interval around a line at 0, and both as numbers.

    leads: {source: Lead, or a text if there is none}.
    """
    draw_rows(axes, leads, bounds, round_ticks(3, *bounds))
    axes.axvline(0, color=TEXT, linewidth=1, clip_on=False)
    for row, (lead, kind) in enumerate(zip(leads.values(), SOURCE_LOOKS)):
        if isinstance(lead, str):
            write(axes, lead, bounds[1], row, 7, color=MUTED)
            continue
        color, text = COLOURS[kind].light, signed(lead.mean, decimals)
        if np.isfinite(lead.low):
            axes.plot([lead.low, lead.high], [row, row], color=color, linewidth=2.2, clip_on=False)
            text += f" [{signed(lead.low, decimals)}, {signed(lead.high, decimals)}]"
        face = CARD if kind == "published" else color
        dot = {"marker": "o", "markersize": 8, "markeredgewidth": 1.8, "markeredgecolor": color}
        axes.plot(lead.mean, row, markerfacecolor=face, clip_on=False, **dot)
        write(axes, text, bounds[1], row, 7, color=TEXT, fontweight="bold")


def draw_ranks(ranks, critical_difference, axes):
    """A critical-difference diagram with a row per method: dots are average ranks, the best above.

    A bar on the right joins methods whose ranks do not differ significantly.
    """
    from matplotlib.transforms import ScaledTranslation

    most, names = max(len(ranks), 2), [METHODS[method].column for method in ranks.index]
    places = range(1, most + 1)
    draw_rows(axes, names, (1, most), {n: str(n) for n in places[:: 1 if most <= 10 else 2]}, room=2)
    axes.vlines(places, -0.6, len(ranks) - 0.4, color=LINE, linewidth=0.8, zorder=1, clip_on=False)
    end = min(1 + critical_difference, most)
    axes.plot([1, end], [-2.2, -2.2], color=TEXT, marker="|", markersize=6, clip_on=False)
    write(axes, f"critical difference {critical_difference:.2f}", 1, -1.4, 0, color=MUTED)
    for row, (method, rank) in enumerate(ranks.items()):
        axes.plot(rank, row, **method_line(method) | {"markersize": 8})
        write(axes, f"{rank:.2f}", most, row, 44, ha="right", color=MUTED)
    for place, group in enumerate(cliques(ranks, critical_difference)):
        ends = [ranks.index.get_loc(group[0]) - 0.3, ranks.index.get_loc(group[-1]) + 0.3]
        right = axes.transData + ScaledTranslation((54 + 8 * place) / 72, 0, axes.figure.dpi_scale_trans)
        axes.plot([most, most], ends, transform=right, color=MUTED, linewidth=4, clip_on=False)


def draw_runs(scores, published, axes):
    """A row per method with a dot for every run and a tick for the published value.

    scores: {method: values of its runs}; published: {method: value}.
    """
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    low, high = range_of_runs(scores, published)
    ticks = {v: f"{v:.2f}" for v in (low, (low + high) / 2, high)}
    draw_rows(axes, [METHODS[name].column for name in scores], (low, high), ticks)
    for row, (method, values) in enumerate(scores.items()):
        gid = {"gid": f"data-method={method}", "clip_on": False}
        axes.plot([low, high], [row, row], color=LINE, linewidth=0.8, zorder=1, **gid)
        # a line of no length with round ends is a dot, so that all dots are one path
        ends = [(value, row) for value in values for _ in range(2)]
        dots = Path(ends, [Path.MOVETO, Path.LINETO] * len(values))
        color = {"edgecolor": look(method).light, "linewidth": 5, "capstyle": "round", "fill": False}
        axes.add_patch(PathPatch(dots, zorder=3, **color, **gid))
        if method in published:
            axes.vlines(published[method], row - 0.4, row + 0.4, color=TEXT, linewidth=2, zorder=4, **gid)


def range_of_runs(scores, published):
    """A range that contains all runs and published values, at least 0.05 wide and within 0 and 1."""
    values = [*published.values(), *(value for runs in scores.values() for value in runs)]
    margin = max(0.05 - (max(values) - min(values)), 0.08 * (max(values) - min(values))) / 2
    return max(0.0, min(values) - margin), min(1.0, max(values) + margin)
