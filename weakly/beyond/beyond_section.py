"""Figures beyond the paper: what one would use today, and how PReNet's cost grows."""

from html import escape

import numpy as np
import pandas as pd

from weakly.beyond.today import (
    AVERAGE_SET,
    IN_FOCUS,
    averaged_over_sets,
    budget_curves,
    compared,
    draws_in_words,
    today_ranks,
    today_runs,
    without_more_labels,
)
from weakly.drawing.elements import foldable, tag
from weakly.drawing.svg import Panel, grid, marker, named_panel, swatch
from weakly.judging.tables import in_paper_order
from weakly.methods import METHODS
from weakly.reporting.charts import rank_plot
from weakly.reporting.figures_section import figure, padded
from weakly.reporting.markup import dataset_name, follow, missing
from weakly.running.runs_file import RunsFile


def beyond_section(found):
    """The figures beyond the paper."""
    return today_figure(found) + growth_figure(found)


def today_figure(found):
    """What one would use today: AUC-PR against labels, and ranks per budget."""
    title, command = "Beyond the paper: what would one use today?", "python experiments.py today"
    anchor = "figure-today"
    if not RunsFile(found.folder, "today").path.exists():
        return tag("div", missing(title, command), id=anchor)
    every_run = without_more_labels(today_runs(found.folder))
    if every_run.empty:
        return tag("div", missing(title, command), id=anchor)
    runs = compared(every_run)
    grid_of_labels = sorted(set(runs["n_labeled"]))
    sets = [runs[runs["dataset"] == name] for name in in_paper_order(runs["dataset"])]
    panels = [today_panel(part, grid_of_labels) for part in (averaged_over_sets(runs), *sets)]
    shown = [name for name in IN_FOCUS if name in set(runs["method"])]
    key = "".join(tag("span", swatch(name) + escape(METHODS[name].column)) for name in shown)
    key += tag("span", "thin grey: the other methods")
    ranks = [
        rank_plot(f"{n_labeled} labels", part.set_index("method")["rank"],
                  part["critical_difference"].iloc[0], f"{part['sets'].iloc[0]} sets")
        for n_labeled, part in today_ranks(runs).groupby("n_labeled")
    ]  # fmt: skip
    text = (
        "AUC-PR with new splits and labels in every draw and default settings, but for the tolerance of "
        "Logistic, conv. and the start of XGBoost, 0.5. PReNet's band "
    )
    text += f"is its 95% interval over draws. Draws: {draws_in_words(every_run)}. {best_in_words(runs)}"
    files = ["today.csv", "today_runs.csv", "today_ranks.csv", "today.md", "figures/today.png"]
    source = follow(found.folder, anchor, files, command)
    folded = foldable("Average ranks per number of labels", grid(ranks, "panels large"))
    panels = tag("div", key, class_="legend") + grid(panels) + folded
    return figure(anchor, title, tag("p", escape(text)), panels, source)


def best_in_words(runs):
    """The best average per budget, in words, among the methods that can be compared."""
    table = budget_curves(averaged_over_sets(runs))
    best = table.loc[table.groupby("n_labeled")["mean"].idxmax()]
    prenet = table[table["method"] == "prenet"].set_index("n_labeled")["mean"]
    texts = [
        f"{n_labeled}: {METHODS[method].column} {mean:.3f}"
        + (f" (PReNet {prenet[n_labeled]:.3f})" if method != "prenet" else "")
        for n_labeled, method, mean in zip(best["n_labeled"], best["method"], best["mean"])
        if n_labeled in prenet
    ]
    return f"Best average by number of labels: {'; '.join(texts)}." if texts else ""


def today_panel(runs, grid_of_labels):
    """One data set, or the average: a line per method."""
    table = budget_curves(runs)
    y = padded(table["mean"])
    x = grid_of_labels[0] / 1.15, grid_of_labels[-1] * 1.15
    ticks = {number: str(number) for number in grid_of_labels}
    panel = Panel(x, y, ticks, x_name="labelled anomalies", log_x=True)
    there = set(table["method"])
    in_focus = [name for name in reversed(IN_FOCUS) if name in there]  # the first on top
    for method in [*sorted(there.difference(IN_FOCUS)), *in_focus]:
        part = table[table["method"] == method].sort_values("n_labeled")
        if method in IN_FOCUS:
            half = part["half"] if method == "prenet" else 0 * part["mean"]
            panel.curve(method, part["n_labeled"], part["mean"], half, *y)
        else:
            panel.line(part["n_labeled"], part["mean"], "other", data_method=method)
    dataset = runs["dataset"].iloc[0]
    title = "Average of the data sets" if dataset == AVERAGE_SET else dataset_name(dataset)
    ends = table[table["method"] == "prenet"].sort_values("n_labeled")["mean"].iloc[[0, -1]]
    label = f"{title}: PReNet's AUC-PR from {ends.iloc[0]:.3f} to {ends.iloc[1]:.3f}" if len(ends) else title
    return named_panel(escape(title), panel.svg(label), data_set=title)


COSTS = {  # column of growth.csv: what it is, its class, its unit
    "fit_seconds": ("training", "k-anomalies", "seconds"),
    "score_seconds": ("scoring all rows", "k-normals", "seconds"),
    "fit_mb": ("training", "k-anomalies", "MB"),
    "score_mb": ("scoring all rows", "k-normals", "MB"),
}
GROWING = {"rows": "rows", "features": "features", "labeled": "labelled anomalies"}


def growth_figure(found):
    """Time and memory of PReNet against rows, features and labelled anomalies."""
    title, command = "Beyond the paper: how PReNet's cost grows", "python -m tools.growth"
    path, anchor = found.folder / "growth.csv", "figure-growth"
    if not path.exists():
        return tag("div", missing(title, command), id=anchor)
    table, panels = pd.read_csv(path), []
    for unit in ("seconds", "MB"):
        columns = [name for name, cost in COSTS.items() if cost[2] == unit]
        y = table[columns].clip(lower=1 if unit == "MB" else None)
        for growing, part in table.groupby("growing", sort=False):
            panels.append(growth_panel(growing, part, columns, unit, (y.min().min() / 2, y.max().max() * 2)))
    key = "".join(
        tag("span", f"{tag('i', '', class_=f'chip {class_}')} {words}")
        for words, class_ in dict.fromkeys((cost[0], cost[1]) for cost in COSTS.values())
    )
    key += tag("span", "● dense rows") + tag("span", "○ sparse rows")
    text = "Both axes are logarithmic. Memory excludes the data; values below 1 MB are drawn at 1 MB. "
    rows = table[table["growing"] == "rows"]
    first, last = rows.iloc[0], rows.iloc[-1]
    text += (
        f"A fit takes {first.fit_seconds:.2f} s with {first.rows:,} rows and {last.fit_seconds:.2f} s with "
    )
    text += f"{last.rows:,}."
    source = follow(found.folder, anchor, ["growth.csv", "figures/growth.png"], command)
    panels = tag("div", key, class_="legend") + grid(panels, "panels by-three")
    return figure(anchor, title, tag("p", escape(text)), panels, source)


def growth_panel(growing, part, columns, unit, y):
    x = part[growing]
    ticks = {10**power: power_text(power) for power in range(1, 9) if x.min() <= 10**power <= x.max()}
    bounds = x.min() / 1.6, x.max() * 1.6
    powers = range(int(np.ceil(np.log10(y[0]))), int(np.floor(np.log10(y[1]))) + 1)
    y_ticks = {10.0**power: f"{10.0**power:g}" for power in powers}
    panel = Panel(bounds, y, ticks, y_ticks, GROWING[growing], unit, log_x=True, log_y=True)
    for name in columns:
        values, class_ = part[name].clip(lower=1 if unit == "MB" else None), COSTS[name][1]
        panel.line(x, values, class_)
        for px, value, is_sparse in zip(x, values, part["sparse"]):
            place = panel.x(px), panel.y(value)
            dot = marker("prenet", *place, hollow=bool(is_sparse)).replace("m-prenet", class_)
            panel.add(dot)
    label = f"{unit} against {GROWING[growing]}: training from {part[columns[0]].iloc[0]:.3g} to "
    label += f"{part[columns[0]].iloc[-1]:.3g} {unit}"
    title = f"{'Seconds' if unit == 'seconds' else unit} against {GROWING[growing]}"
    return named_panel(escape(title), panel.svg(label))


def power_text(power):
    """10^4 as 10⁴."""
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(power))
