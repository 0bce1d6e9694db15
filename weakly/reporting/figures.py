"""The paper's Figs. 2-5, and the check of its theorem, from the tables of the experiments.

    draw_figures("results", "labels")            # what experiments.py does after a sweep
    draw_all_figures("results/reference")        # what we obtained: python -m weakly.reporting.write_up

Reads <results>/labels.csv (Figs. 2 and 3), contamination.csv (Fig. 4), sensitivity.csv (Fig. 5) and
theorem.csv, and the <name>_synthetic.csv of each; writes every figure as PNG and SVG. The same tables give
the same bytes. Hollow markers are the numbers in the paper's Tables 2 and 3; synthetic data has none, and
those outside a panel's range are not drawn. A grey name marks a data set that is not exactly the paper's, so
its numbers need not agree with the hollow markers; its AUC-PR is weighted to the paper's class ratio.
"""

from functools import partial
from pathlib import Path

from weakly.errors import UserError
from weakly.judging.tables import comparable
from weakly.methods import METHODS
from weakly.numbers import number, signed
from weakly.reporting.charts import ROW, draw_curves, draw_published, draw_theorem, method_line
from weakly.reporting.palette import KIND_LOOKS
from weakly.reporting.pictures import MUTED, TEXT, Panel, poster, save
from weakly.reporting.sweeps import FIGURES, PARAMETERS, published_values, read_figure

EXPERIMENTS = tuple(dict.fromkeys(figure.experiment for figure in FIGURES.values()))
NEW_DRAWS = ("_redrawn", "_independent")  # endings of tables in which every run has its own draw
SHOWN = ("dataset", "published", "reproduced", "difference", "verdict")  # of a cell, in the first picture
SMALLEST_RANGE = 0.1  # of an AUC-PR axis, to make flat curves look flat


def dataset_name(name):
    """A data set's name as text, `rec,fuz->dos` with spaces and an arrow."""
    return str(name).replace("->", " → ").replace(",", ", ")


def padded(values):
    """A range around some AUC values, at least SMALLEST_RANGE, within 0 and 1."""
    low, high = values.min(), values.max()
    wider = max(0.14 * (high - low), SMALLEST_RANGE - (high - low)) / 2
    return max(low - wider, 0.0), min(high + wider, 1.0)


# ---------------------------------------------------------------------------- panels


def sweep_panels(table, parameters, published):
    """A panel per data set and parameter: AUC-PR of each method, and the published values."""
    there = [name for name in parameters if name in set(table["parameter"])]
    table = comparable(table)
    table = table[(table["metric"] == "auc_pr") & table["parameter"].isin(there)]
    largest = table["parameter"].map({name: PARAMETERS[name].largest for name in there}).astype(float)
    table = table[(table["value"] <= largest) & table["mean"].notna()]
    for dataset, part in table.groupby("dataset", sort=False):
        for name in there:
            of_parameter = part[part["parameter"] == name]
            if len(of_parameter):
                title = dataset_name(dataset) + f", {PARAMETERS[name].label}" * (len(there) > 1)
                bounds, grid = padded(part["mean"]), set(table["value"][table["parameter"] == name])
                values = published.loc[dataset].dropna() if dataset in published.index else {}
                yield sweep_panel(title, of_parameter, PARAMETERS[name], sorted(grid), bounds, dict(values))


def sweep_panel(title, part, parameter, grid, bounds, published):
    """AUC-PR of each method on one data set against one parameter; grid has the values of all data sets."""
    places = dict(zip(grid, range(len(grid)) if parameter.evenly else grid))
    ticks = {places[value]: f"{100 * value if parameter.percent else value:g}" for value in grid}
    methods = [name for name in METHODS if name in set(part["method"])]
    order = part["method"].map(methods.index)
    curves = part.assign(x=part["value"].map(places), spread=part["std"], order=order)
    curves = curves.sort_values(["order", "x"])[["method", "x", "mean", "spread"]]
    at = places.get(parameter.in_paper)
    there = [name for name in methods if bounds[0] <= published.get(name, -1) <= bounds[1]]
    hollow = {name: (at, published[name]) for name in there if at is not None}
    ends = curves.groupby("method", sort=False)["mean"].agg(["first", "last"])
    words = ", ".join(f"{METHODS[name].column} {a:.3f} to {b:.3f}" for name, a, b in ends.itertuples())
    return Panel(
        partial(draw_curves, curves, ticks, bounds, parameter.label, hollow),
        title,
        f"{title}: AUC-PR against {parameter.label}; {words}",
        part["status"].iloc[0],
    )


def theorem_panels(table):
    """A panel per data set: mean scores of anomalies and normals, measured and predicted."""
    for dataset, part in table.groupby("dataset", sort=False):
        part = part.sort_values("share")
        scores = part.filter(regex="^(mean_score|predicted)_[a-z]+$")
        low, high = scores.min(axis=None), scores.max(axis=None)
        bounds = low - 0.06 * (high - low), high + 0.06 * (high - low)
        gap = (part["mean_score_anomalies"] - part["mean_score_normals"]).iloc[[0, -1]]
        label = f"{dataset_name(dataset)}: anomalies score {gap.iloc[0]:.2f} above normals without "
        label += f"contamination, {gap.iloc[1]:.2f} at the largest share"
        columns = ["share", *scores, *(f"mean_score_{kind}_std" for kind in KIND_LOOKS)]
        draw = partial(draw_theorem, part[columns], bounds)
        yield Panel(draw, dataset_name(dataset), label, part["status"].iloc[0])


def panels_of(table, name, set_up=""):
    """The panels of one figure; set_up is '' for the paper's, which has published values."""
    if name == "theorem":
        return list(theorem_panels(table))
    published = published_values()
    return list(sweep_panels(table, FIGURES[name].parameters, published[:0] if set_up else published))


def published_panels(table):
    """Published (ring) to reproduced (dot) on each data set; coloured where the two differ."""
    for method in [name for name in METHODS if name in set(table["method"])]:
        cells = table.loc[table["method"] == method, list(SHOWN)]
        sets, gap = list(table["dataset"].unique()), cells["difference"]
        label = f"{METHODS[method].column}: published and measured AUC-PR on {len(cells)} data sets, "
        label += f"mean difference {signed(gap.mean())}, mean size {number(gap.abs().mean())}"
        texts = [f"{c.dataset} {number(c.published)} to {number(c.reproduced)}" for c in cells.itertuples()]
        yield Panel(
            partial(draw_published, method, cells, sets),
            f"{METHODS[method].column} {signed(gap.mean(), 2)}",
            f"{label}: {', '.join(texts)}",
            attributes={"data-method": method},
            size=(240, ROW * len(sets) + 22),
            margins=(62, 46, 2, 20),
        )


# ---------------------------------------------------------------------------- for Markdown


def line_entry(label, **how):
    """An entry of a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **how)


def method_entries(methods):
    return [line_entry(METHODS[name].column, **method_line(name)) for name in methods]


def figure_of(table, name, set_up=""):
    """One figure, all panels with a legend; None if there is nothing to draw."""
    from matplotlib.patches import Patch

    panels = panels_of(table, name, set_up)
    if not panels:
        return None
    if name == "theorem":
        entries = [line_entry(kind, color=of[0], marker=of.marker) for kind, of in KIND_LOOKS.items()]
        lines = {"predicted": "--", "a share of 2/3": ":"}
        entries += [line_entry(label, color=TEXT, linestyle=line) for label, line in lines.items()]
    else:
        there = {method for panel in panels for method in panel.draw.args[0]["method"]}
        entries = method_entries(method for method in METHODS if method in there)
        if any(panel.draw.args[-1] for panel in panels):
            ring = {"color": MUTED, "marker": "o", "markerfacecolor": "none", "linestyle": "none"}
            entries.append(line_entry("hollow: published", **ring))
    title = FIGURES[name].title + (f" ({set_up.strip('_')})" if set_up else "")
    shape = {"columns": 3, "size": (300, 140)} if name == "sensitivity" else {}
    over = "draws" if set_up in NEW_DRAWS else "runs"
    band = Patch(color=MUTED, alpha=0.3, linewidth=0, label=f"band: ± 1 std over {over}")
    return poster(panels, title, [*entries, band], **shape)


def draw_figures(results_dir, experiment, set_up=""):
    """Draw the figures of one table; returns the paths that were written, none if there is no such table.

    set_up is the ending of a table that is not the paper's: _synthetic, _independent, ...
    """
    path, written = Path(results_dir) / f"{experiment}{set_up}.csv", []
    if not path.exists():
        return []
    for name in [name for name, figure in FIGURES.items() if figure.experiment == experiment]:
        picture = figure_of(read_figure(path, name), name, set_up)
        written += [] if picture is None else save(picture, path.parent / "figures" / f"{name}{set_up}")
    if not written:
        raise UserError(f"{path} has no data set with values to draw")
    return written


def draw_all_figures(results_dir):
    """Draw the figures of all tables in a folder; returns the paths that were written."""
    written = []
    for experiment in EXPERIMENTS:
        for path in sorted(Path(results_dir).glob(f"{experiment}*.csv")):
            set_up = path.stem.removeprefix(experiment)
            if set_up[:1] in ("", "_") and not set_up.endswith(("_runs", "_vs_published")):
                written += draw_figures(results_dir, experiment, set_up)
    return written


def draw_front_picture(table, folder):
    """Write <folder>/figures/published.png and .svg; table: cells on exact data."""
    panels = list(published_panels(table))
    title = "AUC-PR: published (ring) to measured (dot); coloured: a difference beyond 0.03 and its interval"
    return save(poster(panels, title, columns=5, size=panels[0].size), folder / "figures" / "published")
