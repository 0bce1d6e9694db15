"""The page beyond the paper: what one would use today, and how PReNet's cost grows."""

from html import escape

import pandas as pd

from weakly.beyond import today
from weakly.beyond.today import IN_FOCUS, budget_curves
from weakly.judging.tables import in_paper_order
from weakly.methods import METHODS
from weakly.reporting.elements import tag
from weakly.reporting.figures_section import figure, padded
from weakly.reporting.markup import dataset_name, follow, frame_table, missing
from weakly.reporting.svg import Panel, grid, named_panel, swatch
from weakly.running.runs_file import RunsFile


def beyond_section(found):
    """The last parts of the figures."""
    return today_figure(found) + growth_figure(found)


def today_figure(found):
    """What one would use today: AUC-PR against labels."""
    title, command = "Beyond the paper: what would one use today?", "python experiments.py today"
    anchor = "figure-today"
    exists = RunsFile(found.folder, "today").path.exists()
    every_run = today.today_runs(found.folder) if exists else pd.DataFrame()
    if every_run.empty:
        return tag("div", missing(title, command), id=anchor)
    runs = today.compared(every_run)
    grid_of_labels = sorted(set(runs["n_labeled"]))
    sets = [runs[runs["dataset"] == name] for name in in_paper_order(runs["dataset"])]
    panels = [today_panel(part, grid_of_labels) for part in (today.averaged_over_sets(runs), *sets)]
    shown = [name for name in IN_FOCUS if name in set(runs["method"])]
    key = "".join(tag("span", swatch(name) + escape(METHODS[name].column)) for name in shown)
    key += tag("span", "thin grey: the other methods")
    text = (
        "AUC-PR with new splits and labels in every draw and default settings, but for the tolerance of "
        "Logistic, conv. and the start of XGBoost, 0.5. PReNet's band is its 95% interval over draws. Draws: "
        f"{today.draws_in_words(every_run)}. {best_in_words(runs)}"
    )
    files = ["today.csv", "today_runs.csv", "today.md", "figures/today.png"]
    source = follow(found.folder, anchor, files, command)
    drawn = tag("div", key, class_="legend") + grid(panels)
    return figure(anchor, title, tag("p", escape(text)), drawn, source)


def best_in_words(runs):
    """The best average per budget, in words, among the methods that can be compared."""
    texts = []
    for n_labeled, averages in today.average_auc_pr(runs).items():
        if "prenet" in averages.dropna():
            best = averages.idxmax()
            prenet = f" (PReNet {averages['prenet']:.3f})" if best != "prenet" else ""
            texts.append(f"{n_labeled}: {today.display_name(best)} {averages[best]:.3f}{prenet}")
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
    title = "Average of the data sets" if dataset == today.AVERAGE_SET else dataset_name(dataset)
    ends = table[table["method"] == "prenet"].sort_values("n_labeled")["mean"].iloc[[0, -1]]
    label = f"{title}: PReNet's AUC-PR from {ends.iloc[0]:.3f} to {ends.iloc[1]:.3f}" if len(ends) else title
    return named_panel(escape(title), panel.svg(label), data_set=title)


def growth_figure(found):
    """Time and memory of PReNet with more rows, features and labelled anomalies."""
    title, command = "Beyond the paper: how PReNet's cost grows", "python -m tools.bench growth"
    anchor = "figure-growth"
    if not (found.folder / "growth.csv").exists():
        return tag("div", missing(title, command), id=anchor)
    table = frame_table("Time and memory of PReNet", growth_table(found.folder))
    text = "One thread; the memory is the peak in addition to the data."
    source = follow(found.folder, anchor, ["growth.csv"], command)
    return figure(anchor, title, tag("p", text), table, source)


def growth_table(folder):
    """PReNet's time and memory with more rows, features or labelled anomalies."""
    table = pd.read_csv(folder / "growth.csv")
    sizes = ["rows", "features", "labeled"]
    table[sizes] = table[sizes].map("{:,}".format)
    table["sparse"] = table["sparse"].map({True: "sparse", False: "dense"})
    titles = {"features": "features", "labeled": "labelled anomalies", "sparse": "kind"}
    titles |= {"fit_seconds": "fit, s", "score_seconds": "scoring all rows, s"}
    titles |= {"fit_mb": "fit, MB", "score_mb": "scoring, MB"}
    return table.set_index("rows")[list(titles)].rename(columns=titles)
