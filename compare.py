"""Compare the reproduced tables with the published ones.

    python compare.py                                      # results/ against published/
    python compare.py --results-dir results/reference      # what we obtained

    python compare.py --fail-over 0.03 --methods prenet    # exit code 1 if an exact cell differs by more

Prints one screen: the averages and verdicts of Tables 2 to 4, and the answer. The rest (each cell and its
difference, the paper's statistics on its numbers and on ours, its claims one by one) is in
<results>/comparison.md, with plots in <results>/report.html, and as tables in <results>/*_vs_published.csv,
claims.csv, main_claims.csv and leads.csv. Only `exact` data sets are counted; the others are marked, because
their data is not the paper's.
"""

import argparse
import gc
import shutil
import sys
import textwrap
from pathlib import Path

import pandas as pd

from weakly.command_line import parse_names, refuse_unknown, user_errors_end
from weakly.judging.cells import PRINTED, TITLES, comparison, verdict_counts
from weakly.judging.tables import (
    AVERAGE,
    METRICS,
    averaged_sets,
    by_method,
    comparable,
    read_table,
    with_averages,
    write_table,
)
from weakly.methods import METHODS
from weakly.running.runs_file import SWEEP

SIGNS = {"reproduced": "=", "close": "≈", "differs": "≠"}  # between our number and the published one
LEGEND = "AUC-PR, ours/published: = reproduced ≈ close ≠ differs; * partial † impossible"
FEW_COLUMNS = 4  # of which differences are shown, too
MOST_COLUMNS = 13  # the sets of Table 2 and their average; of more only averages are shown


def print_rows(table, corner=""):
    """Print a table of texts, as many columns side by side as fit."""
    width = shutil.get_terminal_size((120, 24)).columns
    names = [corner, *table.index.astype(str)]
    block = [f"{name:<{max(map(len, names))}}" for name in names]
    start = len(block[0])
    for name in table:
        column = [str(name), *table[name]]
        texts = [f"  {text:>{max(map(len, column))}}" for text in column]
        if start < len(block[0]) and len(block[0]) + len(texts[0]) > width:
            print("\n".join(block))
            block = [line[:start] for line in block]
        block = [line + text for line, text in zip(block, texts)]
    print("\n".join(block))


def print_paragraph(text):
    width = min(118, shutil.get_terminal_size((120, 24)).columns)
    print(textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False))  # paths stay whole


def print_table(table):
    """Print a table of results on its own: mean and standard deviation per method."""
    marks = table["status"].map(lambda status: "" if status in ("exact", "synthetic") else f" ({status})")
    table = table.assign(title=table["dataset"] + marks)[~table["status"].str.endswith(" 1 set")]
    shown = table
    if "parameter" in table:  # as in its figure: by data set, AUC-PR only
        values = table[SWEEP[1]].map(lambda value: value if isinstance(value, str) else f"{value:g}")
        table["title"] += "  " + table[SWEEP[0]] + "=" + values
        places = {name: place for place, name in enumerate(table["dataset"].unique())}
        table = table.sort_values("dataset", key=lambda names: names.map(places), kind="stable")
        table = table[table["metric"] != "auc_roc"]
        shown = comparable(table)  # the spread remains that of plain AUC-PR
    for metric in [name for name in METRICS if name in set(shown["metric"])]:
        means = by_method(shown, metric, rows="title")
        spreads = by_method(table, metric, "std", rows="title").map(" ±{:.3f}".format)
        spreads = spreads.replace(" ±nan", " " * 7 if (spreads != " ±nan").any(axis=None) else "")
        texts = (means.map("{:.3f}".format) + spreads).mask(means.isna(), "-")
        print_rows(texts.rename(columns=lambda name: METHODS[name].column), METRICS[metric])


def cells_in_short(reproduced, cells, has_room=False):
    """Comparable AUC-PR as texts like .354=.356, or only ours: a row per method, a column per data set.

    reproduced is the table of results, cells what of it the paper has too; with room also the difference.
    """
    short = lambda value: f"{value:.3f}".removeprefix("0")  # noqa: E731
    published = comparable(cells, "reproduced").query("metric == 'auc_pr'").set_index(["dataset", "method"])
    texts = {
        row.Index: SIGNS[row.verdict] + short(row.published) + f" ({row.difference:+.3f})" * has_room
        for row in published.itertuples()
    }
    ours = comparable(reproduced).query("metric == 'auc_pr'").dropna(subset="mean")
    ours = ours[~ours["status"].str.endswith(" 1 set")]  # the average of one
    places = zip(ours["dataset"], ours["method"])
    ours = ours.assign(text=[short(mean) + texts.get(place, "") for mean, place in zip(ours["mean"], places)])
    return by_method(ours, values="text").fillna("-").T.rename(index=lambda name: METHODS[name].column)


def marks_of(experiment):
    """{name: name with a mark} of the methods whose published column has impossible cells (printed.py)."""
    from weakly.judging.printed import impossible_cells  # takes a moment to import

    methods = impossible_cells(experiment)["method"].unique() if experiment in ("seen", "unseen") else ()
    return {METHODS[name].column: f"{METHODS[name].column}†" for name in methods}


def compare(results_dir, experiment, methods=()):
    """Write and print the comparison of one experiment; returns False if there is nothing to compare.

    The methods that were asked for stand beside PReNet, before those of earlier starts.
    """
    cells = comparison(results_dir, experiment)
    if cells.empty:
        return False
    path = Path(results_dir) / f"{experiment}_vs_published.csv"
    write_table(cells, path)
    reproduced = with_averages(read_table(Path(results_dir) / f"{experiment}.csv"))
    partial = set(reproduced["dataset"][reproduced["status"] == "partial"])
    shown = cells_in_short(reproduced, cells, reproduced["dataset"].nunique() <= FEW_COLUMNS)
    shown = shown.rename(columns=lambda name: name + "*" * (name in partial))
    first = [METHODS[name].column for name in ("prenet", *methods)]
    shown = shown.loc[sorted(shown.index, key=lambda name: name not in first)]
    averages = [name for name in shown if name.startswith(AVERAGE)]
    print(f"\n{LEGEND}")
    shown = shown.rename(index=marks_of(experiment))
    print_rows(shown[averages] if averages and len(shown.columns) > MOST_COLUMNS else shown)
    if AVERAGE in shown:
        print_paragraph(f"{AVERAGE} of {', '.join(averaged_sets(reproduced)[0].index)}")
    print_paragraph(f"Wrote {path}, which has AUC-ROC, differences and intervals, too")
    return True


def print_overview(found):
    """Print the average AUC-PR and the cells by verdict of every experiment, then the answer."""
    from weakly.judging.claims import counts_by_data  # these take a moment to import
    from weakly.reporting.answer import sentence

    print(LEGEND)
    for experiment, cells in found.tables.items():
        reproduced = with_averages(read_table(found.folder / f"{experiment}.csv"))
        shown, (averaged, status) = cells_in_short(reproduced, cells), averaged_sets(reproduced)
        title = f"average of {len(averaged)}" if len(averaged) > 1 else "".join(averaged.index)
        column = shown.get(AVERAGE if len(averaged) > 1 else title)
        rows = [] if column is None else [column.rename(title + "*" * (status == "partial"))]
        counts = verdict_counts(cells[cells["metric"] == "auc_pr"]).droplevel("metric")
        if len(counts):
            texts = counts.astype(str).agg(" ".join, axis=1).rename(lambda name: METHODS[name].column)
            rows.append(texts.rename(f"{' '.join(SIGNS.values())} cells"))
        methods = [method.column for name, method in METHODS.items() if name in set(cells["method"])]
        shown = pd.DataFrame(rows).reindex(columns=methods).fillna("").rename(columns=marks_of(experiment))
        print_rows(shown, PRINTED[experiment][0])
    text = sentence(found)
    counts = counts_by_data([one.judged for one in found.main_claims]).values()
    parts = [", ".join(f"{n} {verdict}" for verdict, n in by_verdict.items()) for by_verdict in counts]
    text += f" Main claims: {'; '.join(parts)}." if parts else ""
    n_fragile = sum(one.ours.is_fragile for one in found.claims)
    text += f" Fragile: {n_fragile}." if n_fragile else ""
    print_paragraph(text)


def too_far(tables, limit, methods):
    """Cells on exact data that differ by more than `limit`, as text."""
    return [
        f"{TITLES[experiment]}, {row.dataset}, {METHODS[row.method].column}, {METRICS[row.metric]}: "
        f"{row.reproduced:.3f}, published {row.published:.3f}"
        for experiment, table in tables.items()
        for row in table[(table["data_status"] == "exact") & table["method"].isin(methods)].itertuples()
        if abs(row.difference) > limit
    ]


def main(argv=None):
    about = "Does the paper hold up? Compare the results with the published numbers."
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--results-dir", default="results", help="the tables' folder (default: %(default)s)")
    fail_help = "exit with 1 if a cell on exact data differs by more than this"
    parser.add_argument("--fail-over", type=float, metavar="LIMIT", help=fail_help)
    known = lambda text: parse_names(text, METHODS, "method")  # noqa: E731
    methods_help = "the methods that --fail-over checks (default: all)"
    parser.add_argument("--methods", type=known, default=list(METHODS), metavar="A,B", help=methods_help)
    args, unknown = parser.parse_known_args(argv)
    refuse_unknown(parser, unknown)
    from weakly.judging.assessment import Assessment  # these take a moment
    from weakly.reporting.comparison_page import write_comparison
    from weakly.reporting.page import build_report

    with user_errors_end(parser):
        found = Assessment(args.results_dir)
        if not found.tables:
            parser.error(f"{args.results_dir} has no table of real data: run ./run_seen.sh with data first")
        print_overview(found)
        write_comparison(found)
        build_report(found)
        print_paragraph(f"All of it: comparison.md, claims.csv and report.html in {found.folder}")
    failing = [] if args.fail_over is None else too_far(found.tables, args.fail_over, args.methods)
    for line in failing:
        print(f"MORE THAN {args.fail_over:g} OFF {line}", file=sys.stderr)
    return 1 if failing else 0


if __name__ == "__main__":
    gc.disable()  # saves a tenth of the time of a command that takes seconds
    sys.exit(main())
