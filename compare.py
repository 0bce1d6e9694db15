"""Hold the reproduced tables against the published ones.

    python compare.py                                      # results/ against published/
    python compare.py --results-dir results/reference      # what we obtained

    python compare.py --fail-over 0.03 --methods prenet    # exit code 1 if a cell on exact data differs by more

Reads <results>/seen.csv and published/seen.csv, writes <results>/seen_vs_published.csv and prints it; likewise for unseen
(Table 3) and ablation (Table 4). Then come the verdicts, the paper's statistics on its numbers and on ours, and its claims,
one by one; all of it is also written to <results>/comparison.md, and to look at to <results>/report.html. Only data sets that
are `exact` are counted; the others are shown apart, because their data is not the paper's.
"""

import argparse
import shutil
import sys
import textwrap
from pathlib import Path

import pandas as pd

from command_line import parse_names
from data_files import DataError
from data_sources import written_whole
from methods import METHODS
from tables import METRICS, SWEEP, ResultsError, with_comparable_auc, write_table
from verdicts import TITLES, VERDICTS, comparison, comparisons, gap_table, verdict_counts


def print_table(table):
    """A table of results by itself: mean and standard deviation per method."""
    is_sweep = "parameter" in table
    titles = table["dataset"] + table["status"].map(lambda status: "" if status in ("exact", "synthetic") else f" ({status})")
    if is_sweep:  # as its figure: by data set, AUC-PR only, the weighted one where there is one
        first_seen = {name: position for position, name in enumerate(dict.fromkeys(table["dataset"]))}
        table = table.sort_values("dataset", key=lambda names: names.map(first_seen), kind="stable")
        titles = titles[table.index] + "  " + table[SWEEP[0]] + "=" + table[SWEEP[1]].map("{:g}".format)
        table = with_comparable_auc(table)
    width = max(map(len, titles)) + 2
    for metric, metric_name in METRICS.items():
        methods = [name for name in METHODS if f"{metric}_{name}" in table]
        if methods and (metric == "auc_pr" or not is_sweep):
            widths = {name: max(16, len(METHODS[name].column) + 2) for name in methods}
            print(f"\n  {metric_name:<{width}}" + "".join(f"{METHODS[name].column:>{widths[name]}}" for name in methods))
            for title, (_, row) in zip(titles, table.iterrows()):
                print(f"  {title:<{width}}" + "".join(f"{_mean_and_std(row, f'{metric}_{name}'):>{widths[name]}}" for name in methods))


def _mean_and_std(row, column):
    spread = f" ±{row[f'{column}_std']:.3f}" if pd.notna(row[f"{column}_std"]) else " " * 7
    return f"{row[column]:.3f}{spread}" if pd.notna(row[column]) else "-"


def print_differences(table):
    """Side by side per metric: reproduced mean and std, published, difference; as many methods beside each other as fit."""
    for title, part in (
        ("Data as in the paper", table[table["data_status"].str.startswith("exact")]),
        ("Partial data, not comparable with the paper and not counted", table[table["data_status"].str.startswith("partial")]),
    ):
        if part.empty:
            continue
        print(f"\n{title}")
        for metric in METRICS:
            cells = part[part["metric"] == metric].set_index(["dataset", "method"])
            methods = [name for name in METHODS if name in set(cells.index.get_level_values("method"))]
            datasets = dict.fromkeys(part["dataset"])
            width = max(map(len, [METRICS[metric], *datasets])) + 1
            beside = max(1, (shutil.get_terminal_size((120, 24)).columns - width - 2) // 34)
            for start in range(0, len(methods), beside):
                _print_block(cells, METRICS[metric], methods[start : start + beside], datasets, width)
    print_summary(table)


def _print_block(cells, metric_name, methods, datasets, width):
    print(f"\n  {metric_name:<{width}}" + "".join(f"{METHODS[name].column:^34}" for name in methods))
    print(f"  {'':<{width}}" + f"{'reproduced':>15}{'published':>10}{'diff':>8} " * len(methods))
    for dataset in datasets:
        print(f"  {dataset:<{width}}" + "".join(_cell(cells, dataset, name) for name in methods))


def _cell(cells, dataset, method):
    if (dataset, method) not in cells.index:
        return f"{'-':>15}{'':>19}"
    row = cells.loc[(dataset, method)]
    spread = f" ±{row['std']:.3f}" if pd.notna(row["std"]) else " " * 7
    return f"{row['reproduced']:>8.3f}{spread}{row['published']:>10.3f}{row['difference']:>+8.3f} "


def print_summary(table):
    """Per method: mean and largest |difference| over the exact data sets; over the partial ones if there are no others."""
    status = "exact" if (table["data_status"] == "exact").any() else "partial"
    part = table[table["data_status"] == status]
    print(f"\n  |reproduced - published| over {status} data sets")
    if status == "partial":
        print("  No data set of the paper's size was run, so this says how near partial data comes, not more.")
    if part["dataset"].str.contains("->").any() and "iforest" in set(part["method"]):
        print("  iForest is run once per unseen class. The paper repeats its seen results, whose test sets have another share of")
        print("  anomalies, so that its AUC-PR cannot be compared.")
    width = max(10, *(len(METHODS[name].column) + 2 for name in part["method"]))
    for method in dict.fromkeys(part["method"]):
        texts = []
        for metric, metric_name in METRICS.items():
            cells = part[(part["method"] == method) & (part["metric"] == metric)].set_index("dataset")
            weighted_instead = metric == "auc_pr" and "auc_pr_weighted" in set(part["metric"])
            if cells.empty or weighted_instead:  # appendix C.1 gives AUC-PR only
                continue
            sizes = cells["difference"].abs()
            texts.append(f"{metric_name} mean {sizes.mean():.4f} over {len(sizes)}, largest {sizes.max():.4f} ({sizes.idxmax()})")
            if len(cells) > 12 and cells["published"].nunique() > 12:
                texts[-1] += f", correlation {cells['published'].corr(cells['reproduced']):.2f}"
        print(f"  {METHODS[method].column:<{width}}{'; '.join(texts)}")


def compare(results_dir, experiment):
    """Write and print the comparison of one experiment; returns False if there is nothing to compare."""
    table = comparison(results_dir, experiment)
    if table.empty:
        return False
    path = Path(results_dir) / f"{experiment}_vs_published.csv"
    write_table(table, path)
    print_differences(table)
    print(f"\nWrote {path}")
    return True


# ---------------------------------------------------------------------------- the whole comparison


def counts_table(tables):
    """Cells by verdict per experiment, metric and method, as a table to show."""
    rows = []
    for experiment, table in tables.items():
        for (metric, method), counts in verdict_counts(table).iterrows():
            rows.append({"table": TITLES[experiment], "metric": METRICS[metric], "method": METHODS[method].column, **counts})
    return pd.DataFrame(rows).set_index(["table", "metric", "method"]) if rows else pd.DataFrame()


SIDE_BY_SIDE = "Ours (mean ± standard deviation over runs) / published"


def side_by_side(table, metric):
    """Ours against published in the paper's layout: a row per data set, `mean ± std / published` per method."""
    part = table[table["metric"] == metric]
    spreads = ["" if pd.isna(std) else f" ± {std:.3f}" for std in part["std"]]
    cells = [f"{ours:.3f}{spread} / {paper:.3f}" for ours, spread, paper in zip(part["reproduced"], spreads, part["published"])]
    shown = part.assign(cell=cells).pivot(index="dataset", columns="method", values="cell")
    shown = shown.reindex(index=dict.fromkeys(part["dataset"]), columns=[name for name in METHODS if name in set(part["method"])])
    partial = set(part["dataset"][part["data_status"] == "partial"])
    return shown.rename(columns=lambda name: METHODS[name].column, index=lambda name: name + " (partial)" * (name in partial))


def sections(results_dir, tables):
    """What is there to say about the results: (title, explanation, table) each."""
    from claims import check_claims  # these two take a moment to import
    from significance import EXPLANATION, statistics_tables

    for experiment, table in tables.items():
        for metric in dict.fromkeys(table["metric"]):
            yield f"{TITLES[experiment]}, {METRICS[metric]}", SIDE_BY_SIDE, side_by_side(table, metric)
    yield "Cells by verdict", "Over exact data; " + "; ".join(f"{name}: {text}" for name, text in VERDICTS.items()), counts_table(tables)
    for experiment in [name for name in tables if name != "ablation"]:
        text = "PReNet's mean AUC-PR minus each method's, with the authors' draws and with new splits and labels in every run"
        yield f"What survives new draws, {TITLES[experiment]}", text, gap_table(results_dir, experiment)
    for title, table in statistics_tables(results_dir).items():
        yield title, "", table
    claims = [(claim.verdict, claim.text, claim.section, claim.evidence, claim.published) for claim in check_claims(results_dir)]
    claims = pd.DataFrame(claims, columns=["verdict", "claim", "section", "evidence", "published"]).set_index("verdict")
    yield "The claims of the paper", EXPLANATION, claims


def as_text(table):
    """A table with all cells as text, its index as first columns."""
    shown = table.reset_index()
    shown.columns = [", ".join(filter(None, map(str, name))) if isinstance(name, tuple) else str(name) for name in shown.columns]
    for name in shown.columns:
        shown[name] = [cell_text(cell, name) for cell in shown[name]]
    return shown.rename(columns={"index": ""})


def cell_text(cell, column):
    if pd.isna(cell) or not isinstance(cell, float):
        return "" if pd.isna(cell) else str(cell)
    if cell < 0.001 and ("p-value" in column or column.endswith("Conover p")):
        return "<0.001"
    return f"{cell:.1f}" if "%" in column else f"{cell:.3f}"


def as_markdown(table):
    shown = as_text(table)
    lines = [shown.columns, ["---"] * shown.shape[1], *shown.values.tolist()]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def print_rows(table):
    """A table for the terminal: claims, which are sentences, as paragraphs; column groups one below the other."""
    if "evidence" in table:
        for verdict, row in table.iterrows():
            print()
            texts = {verdict.upper(): f"{row['claim']} ({row['section']})", "": row["evidence"], "in the paper:": row["published"]}
            for title, text in texts.items():
                print(*textwrap.wrap(text, 118, initial_indent=f"{title:<15}", subsequent_indent=" " * 15), sep="\n")
    elif table.columns.nlevels > 1:
        for group in dict.fromkeys(table.columns.get_level_values(0)):
            print(f"\n  {group}")
            print(textwrap.indent(as_text(table[group].dropna(how="all")).to_string(index=False), "  "))
    else:
        print(textwrap.indent(as_text(table).to_string(index=False), "  "))


def too_far(tables, limit, methods):
    """Cells on exact data that differ by more than `limit`, as text."""
    return [
        f"{TITLES[experiment]}, {row.dataset}, {METHODS[row.method].column}, {METRICS[row.metric]}: "
        f"{row.reproduced:.3f}, published {row.published:.3f}"
        for experiment, table in tables.items()
        for row in table[(table["data_status"] == "exact") & table["method"].isin(methods)].itertuples()
        if abs(row.difference) > limit
    ]


def compare_all(results_dir, tables):
    """Print everything there is to say about the results, and write it as Markdown."""
    markdown = ["# Published against reproduced", ""]
    for title, text, table in sections(results_dir, tables):
        if len(table):
            markdown += [f"## {title}", "", *([text, ""] if text else []), as_markdown(table), ""]
            if text != SIDE_BY_SIDE:  # in the terminal that is print_differences
                print(f"\n=== {title}" + (f"\n{text}" if text else ""))
                print_rows(table)
    counts = table.index.value_counts()  # of the claims, which come last
    print(f"\nIn short, of {len(table)} claims: " + ", ".join(f"{verdict} {count}" for verdict, count in counts.items()) + ".")
    path = Path(results_dir) / "comparison.md"
    with written_whole(path) as file:
        file.write("\n".join(markdown).encode())
    print(f"Wrote {path}")


def main(argv=None):
    parser = argparse.ArgumentParser(description="Does the paper hold up? Compares the results with the published numbers.")
    parser.add_argument("--results-dir", default="results", help="where the tables are (default: %(default)s)")
    fail_help = "exit with 1 if a cell on exact data differs by more than this"
    parser.add_argument("--fail-over", type=float, metavar="LIMIT", help=fail_help)
    known = lambda text: parse_names(text, METHODS, "method")  # noqa: E731
    methods_help = "the methods that --fail-over is about (default: all)"
    parser.add_argument("--methods", type=known, default=list(METHODS), metavar="A,B", help=methods_help)
    args = parser.parse_args(argv)
    from report import build_report  # imports this file's neighbours, which takes a moment

    try:
        tables = comparisons(args.results_dir)
        if not tables:
            parser.error(f"there is no table of real data in {args.results_dir}: run ./run_seen.sh with data first")
        for experiment in tables:
            print(f"\n=== {TITLES[experiment]}")
            compare(args.results_dir, experiment)
        compare_all(args.results_dir, tables)
        print(f"Wrote {build_report(args.results_dir)}")
    except (ResultsError, DataError) as error:
        parser.error(str(error))
    failing = [] if args.fail_over is None else too_far(tables, args.fail_over, args.methods)
    for line in failing:
        print(f"MORE THAN {args.fail_over:g} OFF {line}", file=sys.stderr)
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
