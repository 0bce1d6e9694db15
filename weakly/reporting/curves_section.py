"""One run per method in detail: PR and ROC curves, scores by class, training loss."""

from html import escape

import pandas as pd

from weakly.drawing.elements import tag
from weakly.drawing.svg import Panel, grid, named_panel, swatch
from weakly.judging.tables import read_frame
from weakly.methods import METHODS
from weakly.numbers import number
from weakly.reporting.markup import dataset_name, follow, missing, scope
from weakly.reporting.sweeps import KINDS

COMMAND = "python -m tools.curves"
CURVES = {  # curve: title, x axis, y axis
    "pr": ("Precision against recall", "recall", "precision"),
    "roc": ("ROC curve", "false positive rate", "true positive rate"),
    "loss": ("Training loss by epoch", "epoch", "loss / first loss"),
}


def curves_section(found):
    """A group of plots per data set; only the command if they were not made."""
    path = found.folder / "curves.csv"
    if not path.exists():
        return missing("Curves of one run per method", COMMAND)
    table = read_frame(path, ("dataset", "method", "curve"), ("x", "y"))
    runs = read_frame(found.folder / "curves_runs.csv", ("dataset", "method", "data_status"))
    text = "Run 0 with the authors' draws. Scores are on each method's own scale; a method that ranks well "
    text += (
        "pushes the anomalies' scores to the right. A curve shows what an average can hide: compare the left "
    )
    text += (
        "ends of the PR curves, which are the top of a list of alarms. Each score distribution is scaled to "
    )
    text += "its own peak; losses above 1.2 times the first are cut off."
    parts = [scope("methods and data set."), tag("p", escape(text))]
    source = follow(found.folder, "curves", ["curves.csv", "curves_runs.csv"], COMMAND)
    # if stopped between writing the two files, curves lack their run
    both = table.merge(runs[["dataset", "method"]], on=["dataset", "method"])
    for dataset, part in both.groupby("dataset", sort=False):
        parts.append(of_data_set(dataset, part, runs[runs["dataset"] == dataset]))
    return source + "".join(parts)


def of_data_set(dataset, table, runs):
    """PR, ROC and loss with a line per method, then a small plot of the scores per method."""
    methods = [name for name in METHODS if name in set(table["method"])]
    status = runs["data_status"].iloc[0]
    lines = [
        named_panel(escape(title), line_panel(table[table["curve"] == curve], curve, methods, x, y), status)
        for curve, (title, x, y) in CURVES.items()
    ]
    best = runs.sort_values("auc_pr", ascending=False)
    words = ", ".join(f"{METHODS[row.method].column} {number(row.auc_pr)}" for row in best.itertuples())
    key = tag(
        "div",
        "".join(tag("span", f"{tag('i', '', class_=f'chip k-{k}')} {k}") for k in KINDS),
        class_="legend",
    )
    scores = [score_panel(method, table[table["method"] == method], runs) for method in methods]
    content = tag("h3", escape(dataset_name(dataset)), id=f"curves-{dataset}")
    names = "".join(tag("span", swatch(name) + escape(METHODS[name].column)) for name in methods)
    content += (
        tag("div", names, class_="legend")
        + grid(lines)
        + tag("p", escape(f"AUC-PR of this run: {words}."))
        + key
    )
    return tag("div", content + grid(scores, "panels narrow"), data_set=dataset_name(dataset))


def line_panel(table, curve, methods, x_name, y_name):
    """One kind of curve, a line per method."""
    is_loss = curve == "loss"
    lines = {method: table[table["method"] == method] for method in methods}
    # the first point of a PR curve, recall 0 and precision 1, is a convention without a threshold
    lines = {method: part.iloc[int(curve == "pr") :] for method, part in lines.items() if len(part)}
    if is_loss:  # losses have no common scale
        lines = {m: part.assign(y=part["y"] / part["y"].iloc[0]) for m, part in lines.items()}
    everything = pd.concat(lines.values())
    x = (everything["x"].min(), everything["x"].max()) if is_loss else (0, 1)
    y = (min(0.0, everything["y"].min()), max(1.0, min(everything["y"].max(), 1.2))) if is_loss else (0, 1)
    panel = Panel(x, y, x_name=x_name, y_name=y_name)
    if curve == "roc":
        panel.line((0, 1), (0, 1), "diagonal-line")
    for method in reversed(lines):
        part = lines[method]
        class_ = f"m-{method} thin" + " main" * (method == "prenet")
        panel.line(part["x"], part["y"].clip(upper=y[1]), class_, data_method=method)
    names = ", ".join(METHODS[name].column for name in lines)
    return panel.svg(f"{y_name} against {x_name}, a line each for {names}")


def score_panel(method, table, runs):
    """The distributions of the test scores of anomalies and of normals, each scaled to its own height."""
    parts = {kind: table[table["curve"] == f"scores_{kind}"] for kind in KINDS}
    both = pd.concat(parts.values())
    panel = Panel((both["x"].min(), both["x"].max()), (0, 1.05), y_ticks={}, x_name="score")
    for kind, part in reversed(parts.items()):
        heights = part["y"] / part["y"].max()
        panel.band(part["x"], 0 * heights, heights, f"k-{kind}")
        panel.line(part["x"], heights, f"k-{kind} thin")
    run = runs[runs["method"] == method].iloc[0]
    label = f"{METHODS[method].column}: scores of anomalies and normals, AUC-ROC {number(run['auc_roc'])}"
    caption = f"{tag('b', escape(METHODS[method].column))} AUC-ROC {number(run['auc_roc'])}"
    return tag("figure", tag("figcaption", caption) + panel.svg(label), data_method=method)
