"""Hold the reproduced tables against the published ones.

    python compare.py                                      # results/ against published/
    python compare.py --results-dir results/reference      # what we obtained

    python compare.py --fail-over 0.03 --methods prenet    # exit code 1 if a cell on exact data differs by more

Reads <results>/seen.csv and published/seen.csv, writes <results>/seen_vs_published.csv and prints it; likewise for unseen
(Table 3) and ablation (Table 4). Then come the verdicts, the paper's statistics on its numbers and on ours, and its claims,
one by one; all of it is also written to <results>/comparison.md. Only data sets that are `exact` are counted; the others are
shown apart, because their data is not the paper's.
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
from methods import METHODS, make_detector
from tables import METRICS, SWEEP, ResultsError, RunsFile, averaged_rows, describe_settings, latest_runs, repeat_without_labels

PUBLISHED = Path(__file__).parent / "published"
TITLES = {"seen": "Table 2, seen anomalies", "unseen": "Table 3, unseen anomalies", "ablation": "Table 4, ablation"}
EXPERIMENTS = tuple(TITLES)  # those of which the paper prints the numbers
REPRODUCED_WITHIN, CLOSE_WITHIN = 0.01, 0.03
VERDICTS = {
    "reproduced": f"within 2 standard deviations of our runs, or {REPRODUCED_WITHIN}",
    "close": f"within {CLOSE_WITHIN}",
    "differs": f"by more than {CLOSE_WITHIN}",
}
PUBLISHED_METRIC = {"auc_pr_weighted": "auc_pr"}  # what a metric of ours is held against, if it has another name in the paper


def published_table(experiment):
    """The paper's table, indexed by data set, without its Average and P-value rows."""
    table = pd.read_csv(PUBLISHED / f"{experiment}.csv", index_col="dataset")
    return table.drop(index=["Average", "P-value"], errors="ignore")


def verdict(difference, std):
    """How near a reproduced mean is to the published one; std is that of our runs, NaN for averages."""
    size = abs(difference)
    if size <= max(REPRODUCED_WITHIN, 0 if pd.isna(std) else 2 * std):
        return "reproduced"
    return "close" if size <= CLOSE_WITHIN else "differs"


def difference_table(reproduced, published):
    """One row per data set, method and metric that both tables have: published, reproduced, std, difference, status, verdict."""
    published = published.copy()
    columns = [f"{metric}_{method}" for metric in METRICS for method in METHODS if f"{metric}_{method}" in reproduced]
    # the paper's Average is over all its sets; ours is held against the published values of the sets that it is over
    published.loc["Average"] = published.loc[averaged_rows(reproduced, columns)["dataset"]].mean()
    rows, is_unseen = [], reproduced["dataset"].str.contains("->").any()
    for _, row in reproduced[reproduced["dataset"].isin(published.index)].iterrows():
        for column in columns:
            metric, method = column.rsplit("_", 1)
            expected = published.get(f"{PUBLISHED_METRIC.get(metric, metric)}_{method}", {}).get(row["dataset"])
            if is_unseen and metric != "auc_roc" and not METHODS[method].uses_labels:
                continue  # the paper repeats iForest's seen results, with another share of anomalies in the test set
            if pd.notna(expected) and pd.notna(row[column]):
                std, difference = row[f"{column}_std"], row[column] - expected
                values = (expected, row[column], std, difference)
                rows.append((row["dataset"], method, metric, *values, row["status"], verdict(difference, std)))
    return pd.DataFrame(rows, columns="dataset method metric published reproduced std difference data_status verdict".split())


def comparisons(results_dir):
    """{experiment: its difference_table}, for the experiments that were run on real data in the paper's set-up."""
    tables = {}
    for experiment in EXPERIMENTS:
        path = Path(results_dir) / f"{experiment}.csv"
        if path.exists():
            table = difference_table(read_table(path), published_table(experiment))
            if len(table):
                tables[experiment] = table
    return tables


def read_table(path):
    try:
        table = pd.read_csv(path, float_precision="round_trip")
    except (ValueError, OSError) as error:
        raise ResultsError(f"{path} cannot be read as a table of results: {error}") from None
    if not {"dataset", "status"} <= set(table):
        raise ResultsError(f"{path} is not a table of results: it has no columns dataset and status")
    return table


def verdict_counts(table):
    """Cells by verdict, one row per metric and method, over the exact data sets."""
    exact = table[table["data_status"] == "exact"]
    counts = exact.groupby(["metric", "method", "verdict"]).size().unstack(fill_value=0).reindex(columns=list(VERDICTS), fill_value=0)
    order = [key for metric in METRICS for method in METHODS if (key := (metric, method)) in counts.index]
    return counts.loc[order]


def print_table(table):
    """A table of results by itself: mean and standard deviation per method."""
    is_sweep = "parameter" in table
    titles = table["dataset"] + table["status"].map(lambda status: "" if status in ("exact", "synthetic") else f" ({status})")
    if is_sweep:  # as its figure: by data set, AUC-PR only, the weighted one where there is one
        first_seen = {name: position for position, name in enumerate(dict.fromkeys(table["dataset"]))}
        table = table.sort_values("dataset", key=lambda names: names.map(first_seen), kind="stable")
        titles = titles[table.index] + "  " + table[SWEEP[0]] + "=" + table[SWEEP[1]].map("{:g}".format)
        for name in [name for name in table if name.startswith("auc_pr_weighted_")]:
            plain = name.replace("_weighted", "")
            table = table.assign(**{plain: table[name].fillna(table[plain])})
    width = max(map(len, titles)) + 2
    for metric, metric_name in METRICS.items():
        methods = [name for name in METHODS if f"{metric}_{name}" in table]
        if methods and (metric == "auc_pr" or not is_sweep):
            print(f"\n  {metric_name:<{width}}" + "".join(f"{METHODS[name].column:>16}" for name in methods))
            for title, (_, row) in zip(titles, table.iterrows()):
                print(f"  {title:<{width}}" + "".join(f"{_mean_and_std(row, f'{metric}_{name}'):>16}" for name in methods))


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
        print(f"  {METHODS[method].column:<10}{'; '.join(texts)}")


def compare(results_dir, experiment):
    """Write and print the comparison of one experiment; returns False if there is nothing to compare."""
    table = comparisons(results_dir).get(experiment)
    if table is None:
        return False
    path = Path(results_dir) / f"{experiment}_vs_published.csv"
    table.to_csv(path, index=False, float_format="%.6f")
    print_differences(table)
    print(f"\nWrote {path}")
    return True


# ---------------------------------------------------------------------------- the whole comparison


def gap_table(results_dir, experiment):
    """How much of PReNet's lead survives new draws: its mean AUC-PR minus each method's, published, released and independent.

    Over the data sets that both have under both protocols. The spread of `independent` is over runs, each of which has its own
    split and labels; ahead and behind count the sets where the mean difference is more than twice its spread. Empty without
    runs of both protocols.
    """
    runs = RunsFile(results_dir, experiment).read()
    status = "exact" if (runs["data_status"] == "exact").any() else "partial"
    runs = runs[(runs["data_status"] == status) & (runs["n_labeled"] == 60) & (runs["contamination"] == 0.02)]
    runs = latest_runs(runs)
    usual = {method: describe_settings(make_detector(method)) for method in set(runs["method"])}
    runs = repeat_without_labels(runs[runs["settings"] == runs["method"].map(usual)], [])
    runs["score"] = runs["auc_pr_weighted"].fillna(runs["auc_pr"])
    tables = {protocol: part.pivot_table("score", ["dataset", "run"], "method") for protocol, part in runs.groupby("protocol")}
    if set(tables) != {"released", "independent"} or any("prenet" not in table for table in tables.values()):
        return pd.DataFrame()
    published, rows = published_table(experiment), []
    for method in METHODS:
        if method == "prenet" or any(method not in table for table in tables.values()) or f"auc_pr_{method}" not in published:
            continue
        gaps = {protocol: (table["prenet"] - table[method]).dropna().unstack("run") for protocol, table in tables.items()}
        sets = gaps["released"].index.intersection(gaps["independent"].index).intersection(published.index)
        if sets.empty:
            continue
        drawn = gaps["independent"].loc[sets]
        mean, spread = drawn.mean(axis=1), drawn.std(axis=1, ddof=0)
        rows.append({
            "method": METHODS[method].column, "data sets": len(sets),
            "published": (published["auc_pr_prenet"] - published[f"auc_pr_{method}"]).loc[sets].mean(),
            "released": gaps["released"].loc[sets].mean(axis=1).mean(), "independent": mean.mean(),
            "spread over splits": drawn.mean().std(ddof=0),
            "ahead": int((mean > 2 * spread).sum()), "behind": int((mean < -2 * spread).sum()),
        })  # fmt: skip
    return pd.DataFrame(rows).set_index("method") if rows else pd.DataFrame()


def counts_table(tables):
    """Cells by verdict per experiment, metric and method, as a table to show."""
    rows = []
    for experiment, table in tables.items():
        for (metric, method), counts in verdict_counts(table).iterrows():
            rows.append({"table": TITLES[experiment], "metric": METRICS[metric], "method": METHODS[method].column, **counts})
    return pd.DataFrame(rows).set_index(["table", "metric", "method"]) if rows else pd.DataFrame()


def side_by_side(table, metric):
    """Ours against published in the paper's layout: a row per data set, `mean ± std / published` per method."""
    part = table[table["metric"] == metric]
    spreads = ["" if pd.isna(std) else f" ± {std:.3f}" for std in part["std"]]
    cells = [f"{ours:.3f}{spread} / {paper:.3f}" for ours, spread, paper in zip(part["reproduced"], spreads, part["published"])]
    shown = part.assign(cell=cells).pivot(index="dataset", columns="method", values="cell")
    shown = shown.reindex(index=dict.fromkeys(part["dataset"]), columns=[name for name in METHODS if name in set(part["method"])])
    return shown.rename(columns=lambda name: METHODS[name].column)


def sections(results_dir, tables):
    """What is there to say about the results: (title, explanation, table) each."""
    from claims import check_claims  # these two import scikit-posthocs, which takes a moment
    from significance import statistics_tables

    for experiment, table in tables.items():
        for metric in dict.fromkeys(table["metric"]):
            text = "Ours (mean ± standard deviation over runs) / published"
            yield f"{TITLES[experiment]}, {METRICS[metric]}", text, side_by_side(table, metric)
    yield "Cells by verdict", "Over exact data; " + "; ".join(f"{name}: {text}" for name, text in VERDICTS.items()), counts_table(tables)
    for experiment in [name for name in tables if name != "ablation"]:
        text = "PReNet's mean AUC-PR minus each method's, with the authors' draws and with new splits and labels in every run"
        yield f"What survives new draws, {TITLES[experiment]}", text, gap_table(results_dir, experiment)
    for title, table in statistics_tables(results_dir).items():
        yield title, "", table
    claims = pd.DataFrame([(claim.verdict, claim.text, claim.section, claim.evidence) for claim in check_claims(results_dir)])
    yield "The claims of the paper", "", claims.set_axis(["verdict", "claim", "section", "evidence"], axis=1).set_index("verdict")


def as_text(table):
    """A table with all cells as text, its index as first columns."""
    shown = table.reset_index()
    shown.columns = [" ".join(filter(None, map(str, name))) if isinstance(name, tuple) else str(name) for name in shown.columns]
    return shown.map(lambda cell: "" if cell is None or cell != cell else f"{cell:.3f}" if isinstance(cell, float) else str(cell))


def as_markdown(table):
    shown = as_text(table)
    lines = [shown.columns, ["---"] * shown.shape[1], *shown.values.tolist()]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


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
    parser = argparse.ArgumentParser(description="Does the paper hold up? Compares the results with the published numbers.")
    parser.add_argument("--results-dir", default="results", help="where the tables are (default: %(default)s)")
    fail_help = "exit with 1 if a cell on exact data differs by more than this"
    parser.add_argument("--fail-over", type=float, metavar="LIMIT", help=fail_help)
    known = lambda text: parse_names(text, METHODS, "method")  # noqa: E731
    methods_help = "the methods that --fail-over is about (default: all)"
    parser.add_argument("--methods", type=known, default=list(METHODS), metavar="A,B", help=methods_help)
    args = parser.parse_args(argv)
    try:
        tables = comparisons(args.results_dir)
        if not tables:
            parser.error(f"there is no table of real data in {args.results_dir}: run ./run_seen.sh with data first")
        for experiment in tables:
            print(f"\n=== {TITLES[experiment]}")
            compare(args.results_dir, experiment)
        markdown = ["# Published against reproduced", ""]
        for title, text, table in sections(args.results_dir, tables):
            if len(table):
                markdown += [f"## {title}", "", *([text, ""] if text else []), as_markdown(table), ""]
                if " / published" not in text:  # that was printed above
                    print(f"\n=== {title}" + (f"\n{text}" if text else ""))
                    print_rows(table)
        path = Path(args.results_dir) / "comparison.md"
        with written_whole(path) as file:
            file.write("\n".join(markdown).encode())
        print(f"\nWrote {path}")
    except (ResultsError, DataError) as error:
        parser.error(str(error))
    failing = [] if args.fail_over is None else too_far(tables, args.fail_over, args.methods)
    for line in failing:
        print(f"MORE THAN {args.fail_over:g} OFF {line}", file=sys.stderr)
    return 1 if failing else 0


def print_rows(table):
    """A table for the terminal; claims, which are sentences, as paragraphs."""
    if "evidence" in table:
        for verdict_, row in table.iterrows():
            print(textwrap.fill(f"{verdict_.upper():<15}{row['claim']} ({row['section']})", 118, subsequent_indent=" " * 15))
            print(textwrap.fill(row["evidence"], 118, initial_indent=" " * 15, subsequent_indent=" " * 15))
    else:
        print(as_text(table).to_string(index=False))


if __name__ == "__main__":
    sys.exit(main())
