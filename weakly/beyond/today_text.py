"""The experiment `today` as text and figure: see weakly/beyond/today.py.

    python experiments.py today

writes today_means.csv, today_regret.csv, today_pairs.csv, today_best.csv, today.md and the figure today: a
panel per data set and one of their average.
"""

from functools import partial
from pathlib import Path

import pandas as pd

from weakly.beyond import today
from weakly.beyond.result_files import write_results
from weakly.beyond.today import ALL_BUDGETS, IN_FOCUS, budgets, display_name
from weakly.errors import UserError
from weakly.judging.effects import Lead
from weakly.judging.tables import in_paper_order
from weakly.numbers import signed
from weakly.reporting.charts import draw_curves
from weakly.reporting.figures import line_entry, method_entries, padded
from weakly.reporting.palette import look
from weakly.reporting.pictures import MUTED, Panel, poster

ABOUT_REGRET = (
    "The loss from always using one method: the best method's mean AUC-PR on a data set minus this "
    "method's. Shown are the mean over data sets and, in brackets, the largest loss. `cells` is the "
    "number of data sets times budgets that it was run on. The best method is the largest of many "
    "similar means, so losses are somewhat too large, and grow with every method that is added."
)
ABOUT_PAIRS = (
    "Difference of AUC-PR, paired by draw: mean over data sets with its 95% t interval over data sets. "
    "`ahead on` counts the data sets with a mean above 0, `above 0` and `below 0` those whose own 95% "
    "interval, over redraws of the same data, excludes 0; without any real difference, that happens for "
    "one in twenty. `without` leaves out a data set that may decide the mean alone. Budgets are not "
    "independent: they share the test rows, and the labels of a smaller one are among those of a larger."
)


def named(table):
    """A table with the methods' display names as index."""
    return table.rename(index=display_name).rename_axis("method")


def budget_table(runs):
    """Average AUC-PR per method and budget."""
    return named(today.average_auc_pr(runs)).rename(columns=lambda number: f"{number} labels")


def left_out_lines(runs):
    """Which draws the comparisons rest on, and which methods are missing from averages."""
    lines = [f"Draws: {today.draws_in_words(runs)}."]
    missing = [
        f"{display_name(name)} ({', '.join(map(str, numbers))} labels)"
        for name, numbers in today.not_averaged(runs).items()
    ]
    if missing:
        why = f"not run on all data sets with at least {today.FEWEST_DRAWS} draws"
        lines.append(f"Not in averages and losses, because {why}: {'; '.join(missing)}.")
    return lines


def regret_table(runs):
    """Mean and largest loss per method and budget; the method that loses least over all budgets first."""
    regret = today.regrets(runs)
    cells = regret["mean_loss"].map("{:.3f}".format) + " (" + regret["largest_loss"].map("{:.3f})".format)
    shown = regret.assign(cell=cells).pivot(index="method", columns="n_labeled", values="cell")
    overall = regret[regret["n_labeled"] == ALL_BUDGETS].set_index("method")
    shown = shown.loc[overall.index, [*budgets(runs), ALL_BUDGETS]]
    shown.columns = [f"{name} labels" for name in budgets(runs)] + ["all budgets"]
    shown["largest on"] = overall["dataset"] + ", " + overall["at"].astype(int).astype(str) + " labels"
    shown["cells"] = overall["cells"]
    return named(shown)


def pair_table(runs, method, other):
    """The paired differences of two methods, a row per budget."""
    part = today.paired_leads(runs, [(method, other)]).set_index("n_labeled").rename_axis("labels")
    leads = [str(Lead(*lead)) for lead in part[list(Lead._fields)].itertuples(index=False)]
    shown = pd.DataFrame({"difference": leads}, part.index)
    shown["ahead on"] = part["ahead"].astype(str) + " of " + part["sets"].astype(str)
    for name in ("above", "below"):
        shown[f"{name} 0"] = part[name].map(lambda count: "-" if pd.isna(count) else str(count))
    for name in today.DECISIVE_SETS:
        shown[f"without {name}"] = part[f"without_{name}"].map(signed)
    return shown.assign(draws=part["draws"])


def best_table(best):
    """The best method and its AUC-PR, a row per data set and a column per budget."""
    cells = best["best"].map(display_name) + best["auc_pr"].map(" {:.3f}".format)
    shown = best.assign(cell=cells).pivot(index="dataset", columns="n_labeled", values="cell")
    shown = shown.loc[best["dataset"].unique()].rename_axis("data set")
    return shown.rename(columns=lambda number: f"{number} labels")


def today_parts(runs):
    """The headings, paragraphs and tables of today.md."""
    yield from ("# What would one use today?", "## Regret", ABOUT_REGRET, regret_table(runs))
    yield from ("## Two methods, draw by draw", ABOUT_PAIRS)
    for method, other in today.PAIRS:
        shown = pair_table(runs, method, other)
        if len(shown):
            yield from (f"### {display_name(method)} - {display_name(other)}", shown)
    best = today.best_methods(runs)
    counts = best["best"].map(display_name).value_counts()
    how_often = ", ".join(f"{name} {count}" for name, count in counts.items())
    yield from ("## The best method", best_table(best), f"Of {len(best)} cells: {how_often}.")
    yield from ("## AUC-PR, average of the data sets", budget_table(runs), *left_out_lines(runs))
    for n_labeled in budgets(runs):
        means = today.mean_auc_pr(runs, n_labeled).rename(columns=display_name)
        yield from (f"### {n_labeled} labelled anomalies", means.rename_axis("data set"))


def labels_panels(runs):
    """The average, of the methods that were run on all data sets, and a panel per data set.

    A line per method over the label budgets, and PReNet's band: more would hide each other.
    """
    ticks = {number: str(number) for number in budgets(runs)}
    sets = [runs[runs["dataset"] == name] for name in in_paper_order(runs["dataset"])]
    for part in (today.averaged_over_sets(runs), *sets):
        title, table = part["dataset"].iloc[0], today.budget_curves(part)
        others = tuple(name for name in today.in_method_order(table["method"]) if name not in IN_FOCUS)
        order = table["method"].map([*others, *reversed(IN_FOCUS)].index)  # the first of IN_FOCUS on top
        curves = table.assign(order=order, x=table["n_labeled"], spread=table["half"])
        curves["spread"] = curves["spread"].where(curves["method"] == "prenet", 0.0)
        curves = curves.sort_values(["order", "x"])[["method", "x", "mean", "spread"]]
        ends = curves.loc[curves["method"] == "prenet", "mean"]
        words = f": PReNet's AUC-PR from {ends.iloc[0]:.3f} to {ends.iloc[-1]:.3f}" if len(ends) else ""
        draw = partial(draw_curves, curves, ticks, padded(curves["mean"]), "labelled anomalies", {})
        draw.keywords.update(log=True, thin=others)
        yield Panel(draw, title, f"{title}{words}", attributes={"data-set": title})


def labels_figure(runs):
    """The panels of labels_panels, for Markdown."""
    runs = today.compared(runs)
    title = "AUC-PR against the number of labelled anomalies (the panels have different scales)"
    entries = method_entries(name for name in IN_FOCUS if name in set(runs["method"]))
    entries.append(line_entry("the other methods", color=MUTED, linewidth=0.7, alpha=0.6))
    entries.append(
        line_entry("PReNet's 95% interval over draws", color=look("prenet").light, alpha=0.3, linewidth=6)
    )
    return poster(list(labels_panels(runs)), title, entries)


def write_today(results_dir):
    """Write tables, text and figure of <results>/today_runs.csv; returns the paths that were written."""
    runs = today.today_runs(results_dir)
    if runs.empty:
        path = Path(results_dir) / "today_runs.csv"
        raise UserError(f"{path} has no runs on exact data: run `python experiments.py today` first")
    tables = {"today_means": today.cell_means(runs), "today_regret": today.regrets(runs)}
    tables |= {"today_pairs": today.paired_leads(runs), "today_best": today.best_methods(runs)}
    figures = {"today": lambda: labels_figure(runs)}
    return write_results(results_dir, "today", today_parts(runs), tables, figures)
