"""The paper's figures on the page, each with a caption that says what it shows and what it does not."""

from html import escape
from pathlib import Path

import pandas as pd

from weakly.judging.tables import by_method, comparable
from weakly.loading.registry import SEEN_SETS
from weakly.methods import METHODS, method_group
from weakly.reporting.elements import foldable, tag
from weakly.reporting.markup import badge, dataset_name, follow, missing, scope
from weakly.reporting.svg import Panel, grid, marker, named_panel, swatch
from weakly.reporting.sweeps import (
    CLAIMS_OF_FIGURES,
    KINDS,
    PARAMETERS,
    SWEEPS,
    published_values,
    read_drawable,
)

ARCHITECTURE = Path(__file__).parent / "architecture.svg"
FIGURES = {  # of SWEEPS: its title and its driver
    "labels_seen": ("Fig. 2: labelled anomalies, seen classes", "./run_labels.sh"),
    "labels_unseen": ("Fig. 3: labelled anomalies, unseen classes", "./run_labels.sh"),
    "contamination": ("Fig. 4: contamination of the unlabelled data", "./run_contamination.sh"),
    "sensitivity": ("Fig. 5: margin m, ensemble size E and λ", "./run_sensitivity.sh"),
}
NO_VALUES = (
    "The paper prints no values for its curves. Hollow markers are the values of its Tables 2 and 3; those "
    "outside a panel's range are not drawn."
)
NEWS20 = "news20 was not run: most methods need dense rows, and the others take minutes per run."
SMALLEST_RANGE = 0.1  # of an AUC-PR axis, to make flat curves look flat
DRAWS = {"": "the authors' draws", "_redrawn": "new draws", "_independent": "new draws"}


def figures_section(found):
    """All figures of the paper, in its order."""
    parts = [scope("methods, data set and data. Figures show AUC-PR, as the paper's do.")]
    parts.append(tag("div", legend(), class_="legend"))
    parts.append(architecture())
    for experiment, figures in SWEEPS.items():
        for name, parameters, _ in figures:
            parts.append(sweep_figure(found, experiment, name, parameters))
    return "".join([*parts, theorem_figure(found)])


def legend():
    """The methods' colours and markers."""
    shown = [name for name in method_group("table") if METHODS[name].uses_labels]
    return "".join(tag("span", swatch(name) + escape(METHODS[name].column)) for name in shown)


def figure(anchor, title, caption, panels, source, class_="panels"):
    """A figure of several panels with its title, its findings and its sources."""
    content = tag("h3", escape(title)) + panels
    return tag("figure", content + tag("figcaption", caption) + source, id=anchor, class_="figure")


def findings(found, name):
    """The claims that a figure shows, with verdict and evidence, each linked to its entry above."""
    by_key = {one.claim.key: one for one in found.claims}
    items = [
        tag("li", f"{badge(one.verdict)} {tag('a', escape(one.claim.text), href=f'#claim-{key}')} "
                  f"{escape(one.evidence)}")
        for key in CLAIMS_OF_FIGURES[name]
        if (one := by_key.get(key)) is not None
    ]  # fmt: skip
    return tag("ul", "".join(items), class_="findings") if items else ""


def architecture():
    """Fig. 1, redrawn: what PReNet learns from and how."""
    caption = (
        "Pairs of rows get an ordinal label by the number of labelled anomalies in them. One feature learner "
    )
    caption += "encodes both rows, one linear layer gives the pair its score, and the loss is the distance "
    caption += "between score and label. (Drawn from the text; the paper's Fig. 1 shows the same parts.)"
    content = ARCHITECTURE.read_text(encoding="utf-8")
    source = tag("p", tag("a", "permalink", href="#figure-1", aria_label="link to Fig. 1"), class_="follow")
    return figure("figure-1", "Fig. 1: the architecture", escape(caption), content, source)


# ---------------------------------------------------------------------------- Figs. 2 to 5


def sweep_figure(found, experiment, name, parameters):
    """One of Figs. 2 to 5 with the authors' draws, and with new ones folded below."""
    title, command = FIGURES[name]
    path = found.folder / f"{experiment}.csv"
    anchor = f"figure-{name.replace('_', '-')}"
    if not path.exists():
        return tag("div", missing(title, command), id=anchor)
    table = part_of(read_drawable(path, experiment), name)
    if table.empty:
        return tag("div", missing(title, command), id=anchor)
    panels = sweep_panels(table, parameters, published_values())
    again = ""
    for suffix in ("_redrawn", "_independent"):
        drawn = found.folder / f"{experiment}{suffix}.csv"
        if drawn.exists() and len(part := part_of(read_drawable(drawn, experiment), name)):
            runs = sorted(set(part["runs"].dropna()))
            text = f"The same with {DRAWS[suffix]} ({' or '.join(f'{one:.0f}' for one in runs)} runs)"
            again += foldable(text, sweep_panels(part, parameters, pd.DataFrame()))
    caption = findings(found, name) + tag("p", escape(what_is_missing(table, name)))
    files = [f"{experiment}.csv", f"{experiment}_runs.csv", f"figures/{name}.png"]
    source = follow(found.folder, anchor, files, command)
    return figure(anchor, title, caption, panels + again, source)


def part_of(table, name):
    """The rows of a figure: labels are two figures, one of seen and one of unseen classes."""
    unseen = table["dataset"].str.contains("->", regex=False)
    return table[unseen] if name == "labels_unseen" else table[~unseen] if name == "labels_seen" else table


def what_is_missing(table, name):
    """What the figure does not show, as sentences."""
    text = f"Bands: one standard deviation over runs. {NO_VALUES}"
    if name != "labels_unseen":
        absent = [one for one in SEEN_SETS if one not in set(table["dataset"])]
        others = [one for one in absent if one != "news20"]
        text += f" Not run: {', '.join(others)}." if others else ""
        text += f" {NEWS20}" if "news20" in absent else ""
    if (table["status"] == "partial").any():
        text += " Where data is partial, AUC-PR is weighted to the paper's share of anomalies."
    return text


def sweep_panels(table, parameters, published):
    """A panel per data set and parameter."""
    there = [name for name in parameters if name in set(table["parameter"])]
    table, panels = comparable(table), []
    table = table[(table["metric"] == "auc_pr") & (table["value"] <= table["parameter"].map(largest))]
    for dataset, part in table.groupby("dataset", sort=False):
        if part["mean"].notna().any():
            shared = padded(part["mean"].dropna())
            panels += [
                sweep_panel(dataset, part[part["parameter"] == name], name, shared, published, len(there) > 1)
                for name in there
                if (part["parameter"] == name).any()
            ]
    return grid(panels, "panels by-three" if len(there) > 1 else "panels")


def largest(parameter):
    return PARAMETERS[parameter].largest


def padded(values):
    """A range around some AUC values, at least SMALLEST_RANGE, within 0 and 1."""
    low, high = values.min(), values.max()
    wider = max(0.14 * (high - low), SMALLEST_RANGE - (high - low)) / 2
    return max(low - wider, 0.0), min(high + wider, 1.0)


def sweep_panel(dataset, part, name, y, published, is_one_of_several):
    """AUC-PR of each method on one data set against one parameter, and the published values."""
    parameter = PARAMETERS[name]
    values = sorted(set(part["value"]))
    places = dict(zip(values, range(len(values)) if parameter.evenly else values))
    texts = {places[v]: f"{100 * v if parameter.percent else v:g}" for v in values}
    first, last = min(places.values()), max(places.values())
    margin = 0.06 * (last - first) or 1
    panel = Panel((first - margin, last + margin), y, texts, x_name=parameter.label)
    means = by_method(part, rows="value").dropna(axis=1, how="all")
    spreads = by_method(part, values="std", rows="value")
    for method in sorted(means, key=lambda one: one == "prenet"):  # drawn last, on top of the others
        xs = [places[value] for value in means.index]
        panel.curve(method, xs, means[method], spreads[method].reindex(means.index), *y)
        value = published[method].get(dataset) if method in published else None
        if pd.notna(value) and parameter.in_paper in places and y[0] <= value <= y[1]:
            at = panel.x(places[parameter.in_paper]), panel.y(value)
            panel.add(marker(method, *at, hollow=True, small=False, data_method=method))
    title = dataset_name(dataset) + (f", {parameter.label}" if is_one_of_several else "")
    status = part["status"].iloc[0]
    label = f"{title}: AUC-PR against {parameter.label}; {curves_in_words(means)}"
    picture = panel.svg(label)
    return named_panel(escape(title), picture, status, data_set=dataset_name(dataset))


def curves_in_words(means):
    """First and last value of each curve."""
    ends = means.iloc[[0, -1]]
    return ", ".join(
        f"{METHODS[name].column} {ends[name].iloc[0]:.3f} to {ends[name].iloc[1]:.3f}" for name in means
    )


# ---------------------------------------------------------------------------- the theorem


def theorem_figure(found):
    """Mean scores of anomalies and normals against their share in U, measured and predicted."""
    title, command = "The theorem of Sec. 4: are the scores as predicted?", "./run_contamination.sh --theorem"
    path, anchor = found.folder / "theorem.csv", "figure-theorem"
    if not path.exists():
        return tag("div", missing(title, command), id=anchor)
    table = read_drawable(path, "theorem")
    panels = [theorem_panel(dataset, part) for dataset, part in table.groupby("dataset", sort=False)]
    key = "".join(tag("span", f"{tag('i', '', class_=f'chip k-{kind}')} {kind}") for kind in KINDS)
    key += tag("span", "dashed: predicted") + tag("span", "dotted: a share of 2/3")
    absent = [name for name in SEEN_SETS if name not in set(table["dataset"])]
    text = "Bands: one standard deviation over runs. At a share of 2/3 the predicted scores meet."
    text += (
        f" Not shown, because these shares take long there or were not run: {', '.join(absent)}."
        if absent
        else ""
    )
    caption = findings(found, "theorem") + tag("p", escape(text))
    files = ["theorem.csv", "contamination_runs.csv", "figures/theorem.png"]
    source = follow(found.folder, anchor, files, command)
    return figure(anchor, title, caption, tag("div", key, class_="legend") + grid(panels), source)


def theorem_panel(dataset, part):
    part = part.sort_values("share")
    columns = [f"{what}_{kind}" for what in ("mean_score", "predicted") for kind in KINDS]
    low, high = part[columns].min().min(), part[columns].max().max()
    wider = 0.06 * (high - low)
    panel = Panel((0, max(0.72, part["share"].max())), (low - wider, high + wider), x_name="share in U")
    panel.vertical(2 / 3, "limit")
    for kind in KINDS:
        mean, std = part[f"mean_score_{kind}"], part[f"mean_score_{kind}_std"]
        panel.band(part["share"], mean - std, mean + std, f"k-{kind}")
        panel.line(part["share"], mean, f"k-{kind}")
        panel.line(part["share"], part[f"predicted_{kind}"], f"k-{kind} dashed")
    gap = (part["mean_score_anomalies"] - part["mean_score_normals"]).iloc[[0, -1]]
    label = (
        f"{dataset_name(dataset)}: anomalies score {gap.iloc[0]:.2f} above normals without contamination, "
    )
    label += f"{gap.iloc[1]:.2f} at the largest share"
    named = {"data_set": dataset_name(dataset)}
    return named_panel(escape(dataset_name(dataset)), panel.svg(label), part["status"].iloc[0], **named)
