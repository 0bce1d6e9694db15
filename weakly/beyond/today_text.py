"""The experiment `today` as text, today.md, and its panels for the page: see weakly/beyond/today.py."""

from functools import partial

import pandas as pd

from weakly.beyond import today
from weakly.beyond.result_files import write_results
from weakly.beyond.today import DECISIVE, IN_FOCUS, budgets, display_name, leads_as_text
from weakly.errors import UserError
from weakly.judging.tables import in_paper_order
from weakly.numbers import number, signed
from weakly.reporting.charts import draw_curves
from weakly.reporting.figures import padded
from weakly.reporting.pictures import Panel

SCALED = "fences"  # the scaling that is shown beside the paper's
BUDGET = "{} labels".format
ABOUT_LOSSES = (
    "The best method's mean AUC-PR on a data set minus this method's: the mean over data sets and, in "
    "brackets, the largest. The best of many similar means is optimistically biased, so losses are "
    "overstated."
)
ABOUT_PAIRS = (
    "Difference of AUC-PR, paired by draw: mean over data sets with its 95% t interval over data sets. "
    "Budgets share the test rows and labels."
)
ABOUT_FRAUD = (
    "AUC-PR with 2% / 0.1% contamination. With 2%, every unlabelled anomaly of fraud is in U twelve "
    "to fourteen times, as class 0; with 0.1%, near its natural rate, once. Draws that both rates have."
)
ABOUT_TIMES = (
    "Median over runs on one core of a machine that was busy with other runs; CatBoost, the random forest, "
    "FEAWAD and RoSAS ran on others."
)


def named(table):
    """A table with the methods' display names as index."""
    return table.rename(index=display_name).rename_axis("method")


def losses_table(runs):
    """Mean and largest loss per method and budget; the method that loses least over all budgets first."""

    def texts(losses):
        return losses.mean().map(number) + " (" + losses.max().map(number) + ")"

    losses = today.losses(runs)
    shown = {BUDGET(n_labeled): texts(part) for n_labeled, part in losses.groupby("n_labeled")}
    shown["all budgets"] = texts(losses)
    shown["largest on"] = losses.idxmax().map(lambda place: f"{place[1]}, {place[0]} labels")
    return named(pd.DataFrame(shown).loc[losses.mean().sort_values().index])


def differences(runs):
    """The pairs with a column per budget: the mean difference, and without the set that moves it most."""
    table, rows = today.paired_leads(runs), {}
    table["text"] = leads_as_text(table)
    for (method, other), part in table.groupby(["method", "other"], sort=False):
        row = dict(zip(map(BUDGET, part["n_labeled"]), part["text"]))
        row[f"without {DECISIVE}"] = " / ".join(part[f"without_{DECISIVE}"].map(signed))
        rows[f"{display_name(method)} minus {display_name(other)}"] = row | {"draws": part["draws"].min()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("methods")


def averages_with_scalings(results_dir):
    """Average AUC-PR per method and budget, with the paper's scaling / fences; trees have one number."""
    usual, other = (
        named(today.average_auc_pr(runs)).rename(columns=BUDGET).map(number)
        for runs in (today.today_runs(results_dir), today.today_runs(results_dir, SCALED))
    )
    both = usual.index.intersection(other.index)
    usual.loc[both] += " / " + other.loc[both]
    return usual


def fraud_table(results_dir):
    """AUC-PR on fraud with 2% / 0.1% contamination, of the methods and draws that have both."""
    usual, less = (today.today_runs(results_dir, contamination=rate) for rate in (0.02, 0.001))
    both = usual.merge(less, on=today.CELL + ["run"]).query("dataset == 'fraud'")
    means = both.groupby(["method", "n_labeled"])[["auc_pr_x", "auc_pr_y"]].mean().map(number).astype(str)
    table = (means["auc_pr_x"] + " / " + means["auc_pr_y"]).unstack("n_labeled").rename(columns=BUDGET)
    return named(table.loc[today.in_method_order(table.index)])


def times_table(runs):
    """Seconds of a fit on one core, the median of all runs on a data set."""
    medians = runs.groupby(["method", "dataset"])["fit_seconds"].median().unstack("dataset")
    shown = medians.loc[today.in_method_order(medians.index), in_paper_order(medians.columns)]
    return named(shown.map(lambda seconds: number(seconds, 1))).rename_axis("seconds per fit")


def today_parts(runs, results_dir):
    """The headings, paragraphs and tables of today.md."""
    yield from ("# Which method should you use?", "## AUC-PR, average of the data sets")
    about = f"Averages and losses have the methods with {today.FEWEST_DRAWS} draws on all data sets."
    yield f"Draws: {today.draws_in_words(runs)}. {about}"
    yield from (f"The paper's scaling / {SCALED}:", averages_with_scalings(results_dir))
    yield from ("## The loss from always using one method", ABOUT_LOSSES, losses_table(runs))
    yield from ("## Two methods, draw by draw", ABOUT_PAIRS, differences(runs))
    yield "## AUC-PR by data set"
    for n_labeled, means in today.mean_auc_pr(runs).rename(columns=display_name).groupby("n_labeled"):
        means = means.droplevel("n_labeled").rename_axis("data set")
        yield from (f"### {n_labeled} labelled anomalies", means.loc[in_paper_order(means.index)])
    on_fraud = fraud_table(results_dir)
    if len(on_fraud):
        yield from ("## Fraud with less contamination", ABOUT_FRAUD, on_fraud)
    yield from ("## Time", ABOUT_TIMES, times_table(runs))


def labels_panels(runs):
    """The average, of the methods that were run on all data sets, and a panel per data set.

    A line per method over the label budgets, and PReNet's band: more would hide each other.
    """
    ticks = {number: str(number) for number in budgets(runs)}
    sets = [runs[runs["dataset"] == name] for name in in_paper_order(runs["dataset"])]
    for part in (today.averaged_over_sets(runs), *sets):
        title, curves = part["dataset"].iloc[0], today.budget_curves(part)
        curves["spread"] = curves["spread"].where(curves["method"] == "prenet", 0.0)
        others = tuple(name for name in today.in_method_order(curves["method"]) if name not in IN_FOCUS)
        order = [*others, *reversed(IN_FOCUS)]  # the first of IN_FOCUS on top
        curves = curves.sort_values("method", key=lambda names: names.map(order.index), kind="stable")
        ends = curves.loc[curves["method"] == "prenet", "mean"]
        words = f": PReNet's AUC-PR from {ends.iloc[0]:.3f} to {ends.iloc[-1]:.3f}" if len(ends) else ""
        draw = partial(draw_curves, curves, ticks, padded(curves["mean"]), "labelled anomalies", {})
        draw.keywords.update(log=True, thin=others)
        yield Panel(draw, title, f"{title}{words}", attributes={"data-set": title})


def write_today(results_dir):
    """Write the text of <results>/today_runs.csv; returns the paths that were written."""
    runs = today.today_runs(results_dir)
    if runs.empty:
        raise UserError(f"{results_dir} has no runs on exact data: run `python experiments.py today` first")
    return write_results(results_dir, "today", today_parts(runs, results_dir), {})
