"""The page's own kinds of plots: dumbbells, intervals, ranks, runs, counts of verdicts."""

from html import escape

import numpy as np
import pandas as pd

from weakly.judging.ranks import cliques
from weakly.methods import METHODS
from weakly.numbers import number, signed
from weakly.reporting.elements import tag
from weakly.reporting.markup import MARKS, dataset_name
from weakly.reporting.svg import Scale, drawing, marker, nice_ticks, path, rounded, text, tick_text

ROW = 17  # pixels from one row of a plot to the next
LOOKS_OF_SOURCES = ("published", "released", "redrawn")  # classes of page.css, in the order of the sources


def titled(content, title):
    """A group with a tooltip."""
    return tag("g", tag("title", escape(title)) + content)


# ---------------------------------------------------------------------------- published to ours


def dumbbells(method, cells):
    """One method: a row per data set with a line from the published value to ours, and the gap."""
    left, right, width = 62, 196, 240
    x, height = Scale((0, 1), (left, right)), ROW * len(cells) + 18
    lines = "".join(f"M{rounded(x(value))} 4V{height - 16}" for value in (0, 0.5, 1))
    drawn = [path(lines, "grid")]
    drawn += [
        text(label, x(value), height - 3, "middle") for value, label in ((0, "0"), (0.5, ".5"), (1, "1"))
    ]
    for place, cell in enumerate(cells.itertuples()):
        at, name = ROW * place + 12, dataset_name(cell.dataset)
        is_far = cell.verdict == "differs"
        kind = f"m-{method}" if is_far else "near"
        start, end = x(cell.published), x(cell.reproduced)
        parts = text(escape(name), left - 8, at + 4, "end", class_="name")
        parts += path(f"M{rounded(start)} {at}H{rounded(end)}", f"bone {kind}")
        parts += marker("prenet", start, at, hollow=True).replace("m-prenet", kind)
        parts += marker("prenet", end, at).replace("m-prenet", kind)
        parts += text(signed(cell.difference, 2), width, at + 4, "end", class_="strong" if is_far else "")
        title = f"{name}, {METHODS[method].column}: published {number(cell.published)}"
        drawn.append(titled(parts, f"{title}, ours {number(cell.reproduced)}"))
    size = cells["difference"].abs().mean()
    label = f"{METHODS[method].column}: published and reproduced AUC-PR on {len(cells)} data sets, "
    label += f"mean difference {signed(cells['difference'].mean())}, mean size {number(size)}"
    caption = f"{tag('b', escape(METHODS[method].column))} {signed(cells['difference'].mean(), 2)}"
    picture = drawing("".join(drawn), label, width, height, "plot dumbbells")
    return tag("figure", tag("figcaption", caption) + picture, data_method=method)


# ---------------------------------------------------------------------------- leads with intervals


def interval_range(leads, least=0.02):
    """A range that contains 0 and all of these leads."""
    values = [value for one in leads for value in one if np.isfinite(value)]
    low, high = min([0.0, *values]), max([0.0, *values])
    wider = max(least - (high - low), 0.12 * (high - low)) / 2
    return low - wider, high + wider


def intervals(rows, bounds, label, decimals=3):
    """A row per source: its name, the mean with its interval around a line at 0, and both as numbers.

    rows: (name, Lead or None, note).
    """
    left, right, width, height = 108, 206, 368, 20 * len(rows) + 22
    x, foot = Scale(bounds, (left, right)), height - 16
    drawn = [path(f"M{rounded(x(0))} 2V{foot}", "zero")]
    for value in nice_ticks(bounds, 3):
        drawn.append(path(f"M{rounded(x(value))} {foot}v3", "grid"))
        drawn.append(text(tick_text(value), x(value), height - 2, "middle"))
    for place, ((name, lead, note), look) in enumerate(zip(rows, LOOKS_OF_SOURCES)):
        at = 20 * place + 12
        drawn.append(text(escape(name), 0, at + 4, class_="name"))
        if lead is None or not np.isfinite(lead.mean):
            drawn.append(text(escape(note), right + 7, at + 4))
            continue
        words = signed(lead.mean, decimals)
        if np.isfinite(lead.low):
            line = f"M{rounded(x(lead.low))} {at}H{rounded(x(lead.high))}"
            drawn.append(path(line, f"whisker {look}"))
            words += f" [{signed(lead.low, decimals)}, {signed(lead.high, decimals)}]"
        dot = tag("circle", cx=rounded(x(lead.mean)), cy=at, r=4.5, class_=f"dot {look}")
        drawn.append(dot + text(escape(words), right + 7, at + 4, class_="strong"))
    return drawing("".join(drawn), label, width, height, "plot intervals")


# ---------------------------------------------------------------------------- ranks


def rank_plot(title, ranks, critical_difference, note=""):
    """A critical-difference diagram with a row per method: dots are average ranks, the best above.

    A bar on the right joins methods whose ranks do not differ significantly.
    """
    groups = cliques(ranks, critical_difference)
    left, width = 100, 330
    right = width - 48 - 8 * len(groups)
    x, height = Scale((1, max(len(ranks), 2)), (left, right)), ROW * len(ranks) + 50
    drawn = []
    ruler = x(1 + critical_difference) if 1 + critical_difference <= len(ranks) else right
    drawn.append(path(f"M{left} 8v6M{left} 11H{rounded(ruler)}M{rounded(ruler)} 8v6", "axis-line"))
    drawn.append(text(f"critical difference {critical_difference:.2f}", left, 26))
    top, foot = 34, ROW * len(ranks) + 34
    lines = ""
    for value in range(1, len(ranks) + 1):
        lines += f"M{rounded(x(value))} {top}V{foot}"
        if len(ranks) <= 10 or value % 2:
            drawn.append(text(str(value), x(value), foot + 13, "middle"))
    drawn.insert(0, path(lines, "grid"))
    at = {method: top + ROW * place + ROW / 2 for place, method in enumerate(ranks.index)}
    for method, rank in ranks.items():
        name = METHODS[method].column if method in METHODS else str(method)
        strong = "name strong" if method == "prenet" else "name"
        drawn.append(text(escape(name), left - 10, at[method] + 4, "end", class_=strong))
        drawn.append(marker(method, x(rank), at[method], small=False))
        drawn.append(text(f"{rank:.2f}", width - 8 * len(groups) - 4, at[method] + 4, "end"))
    for number_, group in enumerate(groups):
        place = width - 8 * (len(groups) - number_) + 4
        drawn.append(path(f"M{place} {rounded(at[group[0]] - 5)}V{rounded(at[group[-1]] + 5)}", "clique"))
    label = f"{title}: average ranks, {', '.join(f'{name} {rank:.2f}' for name, rank in ranks.items())}"
    picture = drawing("".join(drawn), label, width, height, "plot ranks")
    caption = f"{escape(title)} {tag('small', escape(note)) if note else ''}"
    return tag("figure", tag("figcaption", caption) + picture)


# ---------------------------------------------------------------------------- runs


def strip(title, status, runs, published, column="score", **attributes):
    """One data set: a row per method with a dot for every run and a tick for the published value."""
    by_method = dict(list(runs.groupby("method")[column]))
    published = {method: value for method, value in published.items() if method in by_method}
    values = runs[column].tolist() + [value for value in published.values() if pd.notna(value)]
    low, high = min(values), max(values)
    margin = max(0.05 - (high - low), 0.08 * (high - low)) / 2
    low, high = max(0.0, low - margin), min(1.0, high + margin)
    place = lambda value: round(1000 * (value - low) / (high - low))  # noqa: E731
    rows = []
    for method in [name for name in METHODS if name in by_method]:
        scores = by_method[method]
        # a line of no length with round ends is a dot that stays round when the plot is stretched
        dots = "".join(f"M{place(value)} 8h0" for value in scores)
        content = path("M0 8H1000", "grid") + path(dots, f"runs m-{method}")
        words = f"mean {number(scores.mean())}, {number(scores.min())} to {number(scores.max())}"
        words += f" in {len(scores)} runs"
        if pd.notna(published.get(method)):
            content += path(f"M{place(published[method])} 1V15", "tick")
            words += f", published {number(published[method])}"
        plot = tag("svg", content, viewBox="0 0 1000 16", preserveAspectRatio="none", aria_hidden="true")
        label = f"{dataset_name(title)}, {METHODS[method].column}: {words}"
        named = {"class_": "strip", "role": "img", "aria_label": label, "title": label, "data_method": method}
        rows.append(tag("div", tag("span", METHODS[method].column) + plot, **named))
    axis = "".join(tag("span", f"{low + share * (high - low):.2f}") for share in (0, 0.5, 1))
    note = tag("span", escape(status), class_="tag") if status != "exact" else ""
    caption = tag("figcaption", f"{escape(dataset_name(title))} {note}")
    content = caption + "".join(rows) + tag("div", axis, class_="strip-axis", aria_hidden="true")
    named = {"class_": "strips", "data_set": dataset_name(title), "data_status": status}
    return tag("figure", content, **named, **attributes)


def verdict_bar(counts):
    """A stacked bar of the counts by verdict, with the numbers next to it."""
    total, at, parts = sum(counts.values()), 0.0, []
    for verdict, count in counts.items():
        width = 100 * count / total
        class_ = verdict.replace(" ", "-")
        parts.append(tag("rect", x=round(at, 2), y=0, width=round(width, 2), height=10, class_=class_))
        at += width
    picture = tag("svg", "".join(parts), viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")
    numbers = ""
    for verdict, count in counts.items():
        words = tag("span", MARKS[verdict], aria_hidden="true") + str(count)
        numbers += tag("span", words + tag("span", f" {verdict}", class_="away"), class_=f"count {verdict}")
    return tag("div", picture + tag("span", numbers, class_="counts"), class_="bar")
