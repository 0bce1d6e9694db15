"""The experiment `today` as text: its tables as CSV and Markdown; also draws its figures.

    python -m weakly.beyond.today_text                                  # results/today_runs.csv -> results/
    python -m weakly.beyond.today_text --results-dir results/reference  # what we obtained

Writes today_means.csv, today_ranks.csv, today_regret.csv, today_pairs.csv, today_best.csv, today.md and the
figures today and today_ranks.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

from weakly.beyond.today import (
    ALL_BUDGETS,
    DECISIVE_SETS,
    FEWEST_DRAWS,
    MORE_LABELS,
    PAIRS,
    average_auc_pr,
    budgets,
    display_name,
    draws_in_words,
    in_method_order,
    left_out,
    mean_auc_pr,
    significantly_behind,
    today_best,
    today_means,
    today_pairs,
    today_ranks,
    today_regret,
    today_runs,
    without_more_labels,
)
from weakly.beyond.today_figures import draw_today
from weakly.command_line import user_errors_end
from weakly.errors import UserError
from weakly.judging.effects import Lead
from weakly.judging.tables import write_table
from weakly.numbers import signed
from weakly.reporting.text_tables import as_markdown
from weakly.writing import written_whole

TABLES = {
    "today_means": today_means,
    "today_ranks": today_ranks,
    "today_regret": today_regret,
    "today_pairs": today_pairs,
    "today_best": today_best,
}


def named(table):
    """A table with the methods' display names as index."""
    return table.rename(index=display_name).rename_axis("method")


def joined(names):
    return ", ".join(map(display_name, names))


def average_table(runs):
    """Average AUC-PR per method and budget."""
    return named(average_auc_pr(runs)).rename(columns=lambda number: f"{number} labels")


def means_text(runs):
    """The averages, then a table per budget with all data sets."""
    average = as_markdown(average_table(runs))
    parts = ["## AUC-PR, average of the data sets", average, *left_out_lines(runs)]
    for n_labeled in budgets(runs):
        means = mean_auc_pr(without_more_labels(runs), n_labeled).rename(columns=display_name)
        parts += [f"### {n_labeled} labelled anomalies", as_markdown(means.rename_axis("data set"))]
    return "\n\n".join(parts)


def left_out_lines(runs):
    """Which draws the comparisons rest on, and which methods are missing from averages and ranks."""
    at: dict[str, list] = {}
    for n_labeled in budgets(runs):
        for method in left_out(runs, n_labeled):
            at.setdefault(method, []).append(str(n_labeled))
    missing = "; ".join(f"{display_name(name)} ({', '.join(numbers)} labels)" for name, numbers in at.items())
    lines = [f"Draws: {draws_in_words(without_more_labels(runs))}."]
    if missing:
        why = f"not run on all data sets with at least {FEWEST_DRAWS} draws"
        lines.append(f"Not in averages, ranks and losses, because {why}: {missing}.")
    more_labels = [name for name in MORE_LABELS if name in set(runs["method"])]
    if more_labels:
        lines.append(
            f"{joined(more_labels)}: not ranked, because it uses labels that the other methods lack."
        )
    return lines


def behind_in_words(runs):
    """Which methods are significantly behind the one with the best rank, as a sentence."""
    behind, every = significantly_behind(runs), budgets(runs)
    if not behind:
        return "No method is significantly behind the one with the best rank."
    where = {
        method: "every number of" if numbers == every else ", ".join(map(str, numbers))
        for method, numbers in behind.items()
    }
    texts = [f"{display_name(method)} (with {numbers} labels)" for method, numbers in where.items()]
    return f"Significantly behind the method with the best rank: {', '.join(texts)}; no other."


def ranks_table(ranks):
    """Average ranks with the letters of the cliques, the tests below; methods by their mean rank."""
    cells = ranks["rank"].map("{:.2f} ".format) + ranks["cliques"]
    order = ranks.groupby("method")["rank"].mean().sort_values(kind="stable").index
    shown = ranks.assign(cell=cells.str.strip()).pivot(index="method", columns="n_labeled", values="cell")
    tests = ranks.groupby("n_labeled").first()
    shown = pd.concat([named(shown.loc[order]), tests_in_words(tests)]).rename_axis("method")
    return shown.rename(columns={number: f"{number} labels" for number in shown.columns})


def ranks_text(runs):
    ranks = today_ranks(runs)
    if ranks.empty:
        return "## Average ranks\n\nFewer than two methods were run on all data sets."
    note = (
        "Ranks of the mean AUC-PR on a data set, 1 is best, ties averaged. Methods that share a letter do "
        "not differ significantly (Nemenyi, 5%): their ranks differ by less than the critical difference. "
        "With so few data sets it is large, and no significant difference does not mean no difference."
    )
    return "\n\n".join(["## Average ranks", note, as_markdown(ranks_table(ranks)), behind_in_words(runs)])


def tests_in_words(tests):
    """The rows below the ranks: critical difference, p-value of the Friedman test, data sets; by budget."""
    p_values = ["" if pd.isna(p) else "<0.001" if p < 0.001 else f"{p:.3f}" for p in tests["friedman_p"]]
    rows = {
        "critical difference": tests["critical_difference"].map("{:.2f}".format).tolist(),
        "Friedman p-value": p_values,
        "data sets": tests["sets"].astype(str).tolist(),
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=tests.index)


def regret_table(runs):
    """Mean and largest loss per method and budget; the method that loses least over all budgets first."""
    regret = today_regret(runs)
    cells = regret["mean_loss"].map("{:.3f}".format) + " (" + regret["largest_loss"].map("{:.3f})".format)
    shown = regret.assign(cell=cells).pivot(index="method", columns="n_labeled", values="cell")
    overall = regret[regret["n_labeled"] == ALL_BUDGETS].set_index("method")
    shown = shown.loc[overall.index, [*budgets(runs), ALL_BUDGETS]]
    shown.columns = [f"{name} labels" for name in budgets(runs)] + ["all budgets"]
    shown["largest on"] = overall["dataset"] + ", " + overall["at"].astype(int).astype(str) + " labels"
    shown["cells"] = overall["cells"]
    return named(shown)


def regret_text(runs):
    note = (
        "The loss from always using one method: the best method's mean AUC-PR on a data set minus this "
        "method's. Shown are the mean over data sets and, in brackets, the largest loss. `cells` is the "
        "number of data sets times budgets that it was run on. The best method is the largest of many "
        "similar means, so losses are somewhat too large, and grow with every method that is added."
    )
    return "\n\n".join(["## Regret", note, as_markdown(regret_table(runs))])


def pair_table(pairs_of_runs, method, other):
    """The paired differences of two methods, a row per budget."""
    part = pairs_of_runs[(pairs_of_runs["method"] == method) & (pairs_of_runs["other"] == other)]
    leads = [str(Lead(*lead)) for lead in part[list(Lead._fields)].itertuples(index=False)]
    counts = {
        "ahead on": [f"{ahead} of {sets}" for ahead, sets in zip(part["ahead"], part["sets"])],
        "above 0": part["above"].map(count_or_dash).tolist(),
        "below 0": part["below"].map(count_or_dash).tolist(),
    }
    others = {f"without {name}": part[f"without_{name}"].map(signed).tolist() for name in DECISIVE_SETS}
    shown = pd.DataFrame({"difference": leads, **counts, **others, "draws": part["draws"].tolist()})
    shown.index = pd.Index(part["n_labeled"], name="labels")
    return shown


def count_or_dash(count):
    return "-" if pd.isna(count) else str(int(count))


def pairs_text(runs, pairs=PAIRS):
    """The paired differences, a table per pair."""
    table, parts = today_pairs(runs, pairs), []
    note = (
        "Difference of AUC-PR, paired by draw: mean over data sets with its 95% t interval over data sets. "
        "`ahead on` counts the data sets with a mean above 0, `above 0` and `below 0` those whose own 95% "
        "interval, over redraws of the same data, excludes 0; without any real difference, that happens for "
        "one in twenty. `without` leaves out a data set that may decide the mean alone. Budgets are not "
        "independent: they share the test rows, and the labels of a smaller one are among those of a larger."
    )
    for method, other in pairs:
        shown = pair_table(table, method, other)
        if len(shown):
            parts += [f"### {display_name(method)} - {display_name(other)}", as_markdown(shown)]
    return "\n\n".join(["## Two methods, draw by draw", note, *parts])


def best_text(runs):
    """The best method per data set and budget, and how often each one is the best."""
    best = today_best(runs)
    cells = best["best"].map(display_name) + best["auc_pr"].map(" {:.3f}".format)
    shown = best.assign(cell=cells).pivot(index="dataset", columns="n_labeled", values="cell")
    shown = shown.loc[best["dataset"].unique()].rename(columns=lambda number: f"{number} labels")
    counts = best["best"].value_counts()
    order = sorted(in_method_order(counts.index), key=lambda name: -counts[name])
    how_often = ", ".join(f"{display_name(name)} {counts[name]}" for name in order)
    note = f"Of {len(best)} cells: {how_often}."
    return "\n\n".join(["## The best method", as_markdown(shown.rename_axis("data set")), note])


def today_text(runs):
    """All of it as one Markdown text."""
    parts = [ranks_text(runs), regret_text(runs), pairs_text(runs), best_text(runs), means_text(runs)]
    return "\n\n".join(["# What would one use today?", *parts]) + "\n"


def write_today(results_dir):
    """Write tables, text and figures of <results>/today_runs.csv; returns the paths that were written."""
    runs, folder = today_runs(results_dir), Path(results_dir)
    if runs.empty:
        what_to_do = "run `python experiments.py today` first"
        raise UserError(f"{folder / 'today_runs.csv'} has no runs on exact data: {what_to_do}")
    written = [folder / f"{name}.csv" for name in TABLES] + [folder / "today.md"]
    for path, make in zip(written, TABLES.values()):
        write_table(make(runs), path)
    with written_whole(written[-1]) as file:
        file.write(today_text(runs).encode())
    return written + draw_today(runs, results_dir)


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m weakly.beyond.today_text",
        description="Write the tables, the text and the figures of the experiment `today`.",
    )
    where = "where today_runs.csv is (default: %(default)s)"
    parser.add_argument("--results-dir", default="results", help=where)
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        print(*write_today(args.results_dir), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
