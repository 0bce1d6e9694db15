"""Compare the reproduced tables with the published ones.

    python compare.py                                      # results/ against published/
    python compare.py --results-dir results/reference      # what we obtained

    python compare.py --fail-over 0.03 --methods prenet    # exit code 1 if an exact cell differs by more

Reads <results>/seen.csv and published/seen.csv, writes <results>/seen_vs_published.csv and prints it;
likewise for unseen (Table 3) and ablation (Table 4). Then prints the verdicts, the paper's statistics on its
numbers and on ours, and its claims one by one. All of it is also written to <results>/comparison.md, and with
plots to <results>/report.html. Only `exact` data sets are counted; the others are shown separately, because
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
from weakly.judging.cells import TITLES, VERDICTS, comparison
from weakly.judging.effects import contamination_kinds
from weakly.judging.tables import METRICS, by_method, comparable, counted_status, is_replaced, write_table
from weakly.methods import METHODS
from weakly.reporting.text_tables import as_markdown, as_text, counts_table, kinds_table, side_by_side
from weakly.running.runs_file import SWEEP
from weakly.writing import written_whole

SPREAD = 7  # characters of ±0.012 with a blank


def print_table(table):
    """Print a table of results on its own: mean and standard deviation per method."""
    marks = table["status"].map(lambda status: "" if status in ("exact", "synthetic") else f" ({status})")
    table = table.assign(title=table["dataset"] + marks)
    shown = table
    if "parameter" in table:  # as in its figure: by data set, AUC-PR only
        table["title"] += "  " + table[SWEEP[0]] + "=" + table[SWEEP[1]].map(point_text)
        places = {name: place for place, name in enumerate(table["dataset"].unique())}
        table = table.sort_values("dataset", key=lambda names: names.map(places), kind="stable")
        table = table[table["metric"] != "auc_roc"]
        shown = comparable(table)  # the spread remains that of plain AUC-PR
    width = table["title"].str.len().max() + 2
    for metric in [name for name in METRICS if name in set(shown["metric"])]:
        means = by_method(shown, metric, rows="title")
        spreads = by_method(table, metric, "std", rows="title")
        pad = SPREAD if spreads.notna().any(axis=None) else 0  # no spread after a single run
        widths = {name: max(9 + pad, len(METHODS[name].column) + 2) for name in means}
        heads = "".join(f"{METHODS[name].column:>{widths[name]}}" for name in means)
        print(f"\n  {METRICS[metric]:<{width}}{heads}")
        for title in means.index:
            cells = [mean_and_spread(means.at[title, name], spreads.at[title, name], pad) for name in means]
            texts = [f"{cell:>{widths[name]}}" for cell, name in zip(cells, means)]
            print(f"  {title:<{width}}{''.join(texts)}")


def point_text(value):
    """A value of a sweep: a number, or the name of a scaling."""
    return value if isinstance(value, str) else f"{value:g}"


def mean_and_spread(mean, std, pad):
    spread = f" ±{std:.3f}" if pd.notna(std) else " " * pad
    return f"{mean:.3f}{spread}" if pd.notna(mean) else "-"


def print_differences(table):
    """Print ours, published and difference per metric, with as many methods side by side as fit."""
    titles = {
        "exact": "Data as in the paper",
        "partial": "Partial data: not comparable with the paper, not counted",
    }
    for status, title in titles.items():
        part = table[table["data_status"].str.startswith(status)]
        if part.empty:
            continue
        print(f"\n{title}")
        for metric in METRICS:
            cells = part[part["metric"] == metric].set_index(["dataset", "method"])
            methods = [one for one in METHODS if one in set(cells.index.get_level_values("method"))]
            datasets = dict.fromkeys(part["dataset"])
            name = "AUC-PR, unweighted" if status == "partial" and metric == "auc_pr" else METRICS[metric]
            width = max(map(len, [name, *datasets])) + 1
            columns = max(1, (shutil.get_terminal_size((120, 24)).columns - width - 2) // 40)
            for start in range(0, len(methods), columns):
                _print_block(cells, name, methods[start : start + columns], datasets, width)
    print_summary(table)


def _print_block(cells, metric_name, methods, datasets, width):
    pad = SPREAD if cells["std"].notna().any() else 0  # no spread and no interval after a single run
    head = f"{'reproduced':>15}{'published':>10}{'diff':>8}" + (f"{' ±2 se':<{SPREAD}}" if pad else "")
    print(f"\n  {metric_name:<{width}}" + "".join(f"{METHODS[name].column:^{len(head)}}" for name in methods))
    print(f"  {'':<{width}}" + head * len(methods))
    for dataset in datasets:
        texts = (_cell(cells, dataset, name, pad) for name in methods)
        print(f"  {dataset:<{width}}" + "".join(f"{text:<{len(head)}}" for text in texts))


def _cell(cells, dataset, method, pad):
    if (dataset, method) not in cells.index:
        return f"{'-':>15}"
    row = cells.loc[(dataset, method)]
    ours = mean_and_spread(row["reproduced"], row["std"], pad)
    width = "" if pd.isna(row["interval"]) else f"±{row['interval']:.3f}"
    return f"{ours:>15}{row['published']:>10.3f}{row['difference']:>+8.3f}{width}"


def print_summary(table):
    """Print the mean and largest |difference| per method over the data sets that count."""
    status = counted_status(table["data_status"])
    part = table[table["data_status"] == status]
    print(f"\n  |reproduced - published| over {status} data sets")
    if status == "partial":
        print("  No data set of the paper's size was run,", end="")
        print(" so this only says how close partial data comes.")
    if part["dataset"].str.contains("->").any() and "iforest" in set(part["method"]):
        print(
            "  iForest is run once per unseen class. The paper repeats its seen results, whose test", end=""
        )
        print(" sets have a different share of\n  anomalies, so its AUC-PR cannot be compared.")
    width = max(10, *(len(METHODS[name].column) + 2 for name in part["method"]))
    for method in dict.fromkeys(part["method"]):
        of_method = part[(part["method"] == method) & ~is_replaced(part, "reproduced")].set_index("dataset")
        cells = {name: of_method[of_method["metric"] == name] for name in METRICS}
        texts = [distance(METRICS[name], part) for name, part in cells.items() if len(part)]
        print(f"  {METHODS[method].column:<{width}}{'; '.join(texts)}")


def distance(metric_name, cells):
    """How far our numbers are from the published ones, in words."""
    sizes = cells["difference"].abs()
    text = f"{metric_name} mean {sizes.mean():.4f} over {len(sizes)}, "
    text += f"largest {sizes.max():.4f} ({sizes.idxmax()})"
    if len(cells) > 12 and cells["published"].nunique() > 12:
        text += f", correlation {cells['published'].corr(cells['reproduced']):.2f}"
    return text


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


SIDE_BY_SIDE = (
    "Ours (mean ± standard deviation over runs) / published. AUC-PR of partial data is weighted to the "
    "paper's share of anomalies."
)
INTERVAL = (
    "The interval of a difference is two standard errors of the difference of two means, over n runs of "
    "ours and 10 of theirs, 2 sd sqrt(1/n + 1/10), plus the rounding of the printed value. The paper prints "
    "no sd, so ours is used for both."
)


CONTAMINATION = (
    "The authors contaminate the unlabelled rows with copies of anomalies of the whole data set, including "
    "those of the test set, with 5% of the features from another anomaly (on donors none: exact copies), and "
    "label the copies 0; on fraud every anomaly occurs about 12 times. AUC-PR with the authors' "
    "contamination, with copies of training anomalies only (--protocol training-copies), and with none "
    "(--contamination 0)."
)


def sections(found):
    """The sections of the comparison, as (title, explanation, table)."""
    from weakly.judging.statistics import EXPLANATION  # takes a moment to import

    for experiment, table in found.cells.items():
        for metric in dict.fromkeys(table["metric"]):
            yield f"{TITLES[experiment]}, {METRICS[metric]}", SIDE_BY_SIDE, side_by_side(table, metric)
    yield (
        "Cells by verdict",
        f"Over exact data; {'; '.join(f'{name}: {text}' for name, text in VERDICTS.items())}. {INTERVAL}",
        counts_table(found.tables),
    )
    for experiment, gaps in found.gaps.items():
        draws = "with the authors' draws and with new splits and labels in every run"
        text = f"PReNet's mean AUC-PR minus each method's, {draws}"
        yield f"What remains with new draws, {TITLES[experiment]}", text, gaps
    text = "Standard deviation of AUC-PR over runs in which one factor is redrawn and all others are fixed"
    yield "What affects the numbers", text, found.spreads.round(4)
    yield "What the authors' contamination is", CONTAMINATION, kinds_table(contamination_kinds(found.folder))
    for place, (title, table) in enumerate(found.statistics.items()):
        yield title, "" if place else EXPLANATION, table
    yield (
        "The printed unseen columns: do they depend on the unseen class?",
        "Share of the variance of AUC-PR over the 28 rows, as printed; the last column is ours",
        found.unseen_shares.round(1),
    )


def print_rows(table):
    """Print a table, with groups of columns one below the other."""
    if table.columns.nlevels > 1:
        for group in dict.fromkeys(table.columns.get_level_values(0)):
            print(f"\n  {group}")
            print(textwrap.indent(as_text(table[group].dropna(how="all")).to_string(index=False), "  "))
    else:
        print(textwrap.indent(as_text(table).to_string(index=False), "  "))


def print_paragraph(text, indent=0):
    print(
        *textwrap.wrap(text, 118, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2)), sep="\n"
    )


def print_claims(judged):
    """Print every claim: its text, its rule, and a line per source, the paper's own values first."""
    for one in judged:
        print()
        print_paragraph(f"{one.claim.text} ({one.claim.section})")
        print_paragraph(f"Rule: {one.claim.rule}", 2)
        for title, finding in one.findings.items():
            print_paragraph(f"{title}: {finding.verdict.upper()}. {finding.evidence}", 4)
        if one.claim.caveat:
            print_paragraph(f"Note: {one.claim.caveat}", 4)


def claims_tables(judged):
    """The number of claims by verdict, and each claim with its verdicts and our figures."""
    shown = [
        {title: finding.verdict for title, finding in one.findings.items()}
        | {"claim": f"{one.claim.text} ({one.claim.section})", "what we found": one.evidence}
        | {"rule": one.claim.rule, "note": one.claim.caveat}
        for one in judged
    ]
    from weakly.judging.claims import verdict_counts_of_claims  # takes a moment to import

    return verdict_counts_of_claims(judged), pd.DataFrame(shown).set_index("claim")


def too_far(tables, limit, methods):
    """Cells on exact data that differ by more than `limit`, as text."""
    return [
        f"{TITLES[experiment]}, {row.dataset}, {METHODS[row.method].column}, {METRICS[row.metric]}: "
        f"{row.reproduced:.3f}, published {row.published:.3f}"
        for experiment, table in tables.items()
        for row in table[(table["data_status"] == "exact") & table["method"].isin(methods)].itertuples()
        if abs(row.difference) > limit
    ]


def compare_all(found):
    """Print the whole comparison, and write it as Markdown and as tables."""
    markdown = ["# Published and reproduced results", ""]
    for title, text, table in sections(found):
        if len(table):
            markdown += [f"## {title}", "", *([text, ""] if text else []), as_markdown(table), ""]
            if text != SIDE_BY_SIDE:  # in the terminal that is print_differences
                print(f"\n=== {title}" + (f"\n{text}" if text else ""))
                print_rows(table)
    print("\n=== The claims of the paper")
    print_claims(found.claims)
    counts, claims = claims_tables(found.claims)
    print("\nSummary:")
    print_rows(counts)
    for title, table in {
        "The claims of the paper: verdicts": counts,
        "The claims, one by one": claims,
    }.items():
        markdown += [f"## {title}", "", as_markdown(table), ""]
    path = found.folder / "comparison.md"
    with written_whole(path) as file:
        file.write("\n".join(markdown).encode())
    written = {
        "claims.csv": found.claims_table(),
        "main_claims.csv": found.main_claims_table(),
        "leads.csv": found.leads,
    }
    for name, table in written.items():
        write_table(table, found.folder / name)
    print(f"Wrote {', '.join(str(found.folder / name) for name in ('comparison.md', *written))}")


def main(argv=None):
    parser = argparse.ArgumentParser(
        description="Does the paper hold up? Compare the results with the published numbers."
    )
    parser.add_argument(
        "--results-dir", default="results", help="where the tables are (default: %(default)s)"
    )
    fail_help = "exit with 1 if a cell on exact data differs by more than this"
    parser.add_argument("--fail-over", type=float, metavar="LIMIT", help=fail_help)
    known = lambda text: parse_names(text, METHODS, "method")  # noqa: E731
    methods_help = "the methods that --fail-over checks (default: all)"
    parser.add_argument("--methods", type=known, default=list(METHODS), metavar="A,B", help=methods_help)
    args, unknown = parser.parse_known_args(argv)
    refuse_unknown(parser, unknown)
    from weakly.judging.assessment import Assessment  # takes a moment, as do statistics
    from weakly.reporting.page import build_report

    with user_errors_end(parser):
        found = Assessment(args.results_dir)
        if not found.tables:
            none = f"{args.results_dir} has no table of real data"
            parser.error(f"{none}: run ./run_seen.sh with data first")
        for experiment in found.tables:
            print(f"\n=== {TITLES[experiment]}")
            compare(args.results_dir, experiment)
        compare_all(found)
        print(f"Wrote {build_report(found)}")
    failing = [] if args.fail_over is None else too_far(found.tables, args.fail_over, args.methods)
    for line in failing:
        print(f"MORE THAN {args.fail_over:g} OFF {line}", file=sys.stderr)
    return 1 if failing else 0


if __name__ == "__main__":
    gc.disable()  # saves a tenth of the time of a command that takes seconds
    sys.exit(main())
