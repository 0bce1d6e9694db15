"""Plots of the page as plain SVG and HTML: our numbers against the published, runs, verdicts; and figures.

Drawn here and not by a library in the page: Plotly's script alone is 3 to 5 MB, and these plots are dots,
ticks and bars. So the page needs no script to show them; a few lines in template.html add hovering and
filters. Nothing has a style attribute, which the page's Content-Security-Policy forbids: colours are classes
of the template.
"""

import base64
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd

from methods import METHODS
from reporting.markup import MARKS, dataset_name, missing, number, signed, tag, with_spread

SHAPES = (  # outlines around 0,0, so that methods differ in more than colour
    "M-4.2 0a4.2 4.2 0 1 0 8.4 0a4.2 4.2 0 1 0-8.4 0z",
    "M-3.7-3.7h7.4v7.4h-7.4z",
    "M0-4.8L4.6 3.6H-4.6z",
    "M0-5L5 0L0 5L-5 0z",
    "M0 4.8L4.6-3.6H-4.6z",
    "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "M-4.4-2.2L-2.2-4.4L0-2.2L2.2-4.4L4.4-2.2L2.2 0L4.4 2.2L2.2 4.4L0 2.2L-2.2 4.4L-4.4 2.2L-2.2 0z",
)
FIGURES = {  # name: title and the driver that draws it
    "labels_seen": ("Fig. 2: number of labelled anomalies, seen classes", "./run_labels.sh"),
    "labels_unseen": ("Fig. 3: number of labelled anomalies, unseen classes", "./run_labels.sh"),
    "contamination": ("Fig. 4: contamination of the unlabelled data", "./run_contamination.sh"),
    "sensitivity": ("Fig. 5: sensitivity to hyperparameters", "./run_sensitivity.sh"),
    "theorem": (
        "The theorem of Sec. 4: mean scores, measured and predicted",
        "./run_contamination.sh --theorem",
    ),
    "today": ("Beyond the paper: AUC-PR against labels, today's methods among them", "./run_today.sh"),
    "today_ranks": ("Beyond the paper: average ranks and their critical difference", "./run_today.sh"),
}
LARGEST_FIGURE = 1_500_000  # bytes of an SVG that goes into the page; larger ones are named instead
SIZE, LEFT, BOTTOM, TOP = 340, 42, 40, 8  # of a scatter plot and its margins


def shape(method):
    return SHAPES[list(METHODS).index(method) % len(SHAPES)]


def swatch(method):
    """The colour and shape of a method, for the legend."""
    mark = tag("path", d=shape(method), class_=f"point m-{method}")
    return tag("svg", mark, viewBox="-6 -6 12 12", width=14, height=14, aria_hidden="true")


def cell_in_words(cell, metric_name):
    """What is known about one cell, in one line; the page shows it when the dot is pointed at."""
    verdict = cell.verdict if cell.data_status == "exact" else f"{cell.data_status} data, not comparable"
    ours = f"{metric_name} {with_spread(cell.reproduced, cell.std)}"
    against = f"published {number(cell.published)}, difference {signed(cell.difference)}"
    return f"{dataset_name(cell.dataset)}, {METHODS[cell.method].column}: {ours}, {against} ({verdict})"


def scatter_point(cell, x, y, metric_name):
    is_exact = cell.data_status == "exact"
    return tag(
        "path",
        d=shape(cell.method),
        transform=f"translate({x} {y})",
        role="img",
        class_=f"point m-{cell.method}" + ("" if is_exact else " hollow"),
        aria_label=cell_in_words(cell, metric_name),
        data_method=cell.method,
        data_set=dataset_name(cell.dataset),
        data_status=cell.data_status,
        data_verdict=cell.verdict if is_exact else "none",
    )


def scatter(title, metric_name, cells, **attributes):
    """Published against reproduced with the diagonal; dots of data that is not the paper's are hollow."""
    cells = cells[cells["dataset"] != "Average"]
    low = np.floor(10 * cells[["published", "reproduced"]].min().min() - 1e-9) / 10
    low = 0.0 if low < 0.25 else low
    place = lambda value: (value - low) / (1 - low)  # noqa: E731
    x = lambda value: round(LEFT + place(value) * (SIZE - LEFT - 10), 1)  # noqa: E731
    y = lambda value: round(SIZE - BOTTOM - place(value) * (SIZE - BOTTOM - TOP), 1)  # noqa: E731
    drawn = []
    for value in np.arange(round(10 * low), 10.1, 1 if low else 2) / 10:
        drawn.append(tag("path", d=f"M{x(value)} {y(low)}V{y(1)}M{x(low)} {y(value)}H{x(1)}", class_="grid"))
        drawn.append(tag("text", f"{value:.1f}", x=x(value), y=y(low) + 15, text_anchor="middle"))
        drawn.append(tag("text", f"{value:.1f}", x=LEFT - 6, y=y(value) + 4, text_anchor="end"))
    drawn.append(tag("path", d=f"M{x(low)} {y(low)}L{x(1)} {y(1)}", class_="diagonal"))
    middle = (x(low) + x(1)) / 2
    drawn.append(tag("text", "published", x=middle, y=SIZE - 6, text_anchor="middle", class_="axis"))
    upright = f"translate(11 {(y(low) + y(1)) / 2})rotate(-90)"
    drawn.append(tag("text", "reproduced", transform=upright, text_anchor="middle", class_="axis"))
    order = lambda cell: (cell.data_status == "exact", cell.method == "prenet")  # noqa: E731
    points = [
        scatter_point(cell, x(cell.published), y(cell.reproduced), metric_name)
        for cell in sorted(cells.itertuples(), key=order)  # the last is on top
    ]
    drawn.append(tag("g", "".join(points), class_="points"))
    label = f"{title}, {metric_name}: published against reproduced; arrow keys move from dot to dot"
    box = f"0 0 {SIZE} {SIZE}"
    picture = tag("svg", "".join(drawn), viewBox=box, role="group", aria_label=label, class_="scatter")
    return tag("figure", tag("figcaption", escape(title)) + picture, **attributes)


def strip(title, status, runs, published):
    """One data set: a row per method with a dot for every run and a tick for the published value."""
    published = {method: value for method, value in published.items() if method in set(runs["method"])}
    values = runs["score"].tolist() + [value for value in published.values() if pd.notna(value)]
    low, high = min(values), max(values)
    margin = max(0.05 - (high - low), 0.08 * (high - low)) / 2
    low, high = max(0.0, low - margin), min(1.0, high + margin)
    place = lambda value: round(1000 * (value - low) / (high - low))  # noqa: E731
    rows = []
    for method in [name for name in METHODS if name in set(runs["method"])]:
        scores = runs.loc[runs["method"] == method, "score"]
        # a line of no length with round ends is a dot that stays round when the plot is stretched
        dots = "".join(f"M{place(value)} 8h0" for value in scores)
        content = tag("path", d="M0 8H1000", class_="grid") + tag("path", d=dots, class_=f"runs m-{method}")
        text = f"mean {scores.mean():.3f}, {scores.min():.3f} to {scores.max():.3f} in {len(scores)} runs"
        if pd.notna(published.get(method)):
            content += tag("path", d=f"M{place(published[method])} 1V15", class_="tick")
            text += f", published {number(published[method])}"
        plot = tag("svg", content, viewBox="0 0 1000 16", preserveAspectRatio="none", aria_hidden="true")
        column = METHODS[method].column
        label = f"{dataset_name(title)}, {column}: {text}"
        named = {"class_": "strip", "role": "img", "aria_label": label, "data_method": method}
        rows.append(tag("div", tag("span", column) + plot, **named))
    axis = "".join(tag("span", f"{low + share * (high - low):.2f}") for share in (0, 0.5, 1))
    note = tag("span", escape(status), class_="tag") if status != "exact" else ""
    caption = tag("figcaption", f"{escape(dataset_name(title))} {note}")
    content = caption + "".join(rows) + tag("div", axis, class_="strip-axis", aria_hidden="true")
    colour = "strips" if status == "exact" else "strips partial"
    return tag("figure", content, class_=colour, data_set=dataset_name(title), data_status=status)


def verdict_bar(counts):
    """Stacked bar of cells by verdict, the numbers beside it."""
    total, at, parts = sum(counts.values()), 0.0, []
    for verdict, count in counts.items():
        width = 100 * count / total
        parts.append(tag("rect", x=round(at, 2), y=0, width=round(width, 2), height=10, class_=verdict))
        at += width
    picture = tag("svg", "".join(parts), viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true")
    numbers = ""
    for verdict, count in counts.items():
        text = tag("span", MARKS[verdict], aria_hidden="true") + str(count)
        numbers += tag("span", text + tag("span", f" {verdict}", class_="away"), class_=f"count {verdict}")
    return tag("div", picture + tag("span", numbers, class_="counts"), class_="bar")


def figure(path, title):
    if path.stat().st_size > LARGEST_FIGURE:
        place = tag("code", escape("figures/" + path.name))
        return tag("p", f"{escape(title)} is too large for this page: see {place}.", class_="missing")
    data = base64.b64encode(path.read_bytes()).decode()
    alt = f"{title}, drawn by reporting/figures.py from the tables beside this page"
    picture = tag("img", src=f"data:image/svg+xml;base64,{data}", alt=alt)
    return tag("figure", picture + tag("figcaption", escape(title)))


def figures(results_dir):
    """The figures of the paper in its order, then those of other settings; missing ones are named."""
    paths = {
        path.stem: path
        for path in sorted((Path(results_dir) / "figures").glob("*.svg"))
        if not path.stem.endswith("_synthetic")
    }
    absent = [missing(title, command) for name, (title, command) in FIGURES.items() if name not in paths]
    parts = [figure(paths[name], title) for name, (title, _) in FIGURES.items() if name in paths]
    for name in [name for name in paths if name not in FIGURES]:
        base = next((known for known in FIGURES if name.startswith(known + "_")), "")
        setting = name.removeprefix(base).strip("_").replace("_", ", ")
        parts.append(figure(paths[name], f"{FIGURES[base][0]}, {setting}" if base else name))
    return tag("div", "".join(parts), class_="figures") + "".join(absent)
