"""Hold the reproduced tables against the published ones.

    python compare.py                                      # results/ against published/
    python compare.py --results-dir results/reference      # what we obtained

Reads <results>/seen.csv and published/seen.csv, writes <results>/seen_vs_published.csv and prints it; likewise for unseen
(Table 3) and ablation (Table 4). Only data sets that are `exact` are counted; the others are shown apart, because their
data is not the paper's.
"""

import argparse
import shutil
import sys
from pathlib import Path

import pandas as pd

from methods import METHODS
from tables import METRICS, SWEEP, averaged_rows

PUBLISHED = Path(__file__).parent / "published"
EXPERIMENTS = ("seen", "unseen", "ablation")  # those of which the paper prints the numbers
PUBLISHED_METRIC = {"auc_pr_weighted": "auc_pr"}  # what a metric of ours is held against, if it has another name in the paper


def difference_table(reproduced, published):
    """One row per data set, method and metric that both tables have: published, reproduced, std, difference, status."""
    published = published.set_index("dataset")
    columns = [f"{metric}_{method}" for metric in METRICS for method in METHODS if f"{metric}_{method}" in reproduced]
    # the paper's Average is over all its sets; ours is held against the published values of the sets that it is over
    published.loc["Average"] = published.loc[averaged_rows(reproduced, columns)["dataset"]].mean()
    rows = []
    for _, row in reproduced[reproduced["dataset"].isin(published.index)].iterrows():
        for column in columns:
            metric, method = column.rsplit("_", 1)
            expected = published.get(f"{PUBLISHED_METRIC.get(metric, metric)}_{method}", {}).get(row["dataset"])
            if pd.notna(expected) and pd.notna(row[column]):
                values = (expected, row[column], row[f"{column}_std"], row[column] - expected)
                rows.append((row["dataset"], method, metric, *values, row["status"]))
    return pd.DataFrame(rows, columns=["dataset", "method", "metric", "published", "reproduced", "std", "difference", "data_status"])


def print_table(table):
    """A table of results by itself: mean and standard deviation per method; of a sweep AUC-PR only, as in the paper's figures."""
    is_sweep, titles = "parameter" in table, table["dataset"]
    if is_sweep:
        first_seen = {name: position for position, name in enumerate(dict.fromkeys(titles))}
        table = table.sort_values("dataset", key=lambda names: names.map(first_seen), kind="stable")
        titles = table["dataset"] + "  " + table[SWEEP[0]] + "=" + table[SWEEP[1]].map("{:g}".format)
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
    print(f"\n  |reproduced - published| over {part['dataset'].nunique()} {status} data sets")
    if status == "partial":
        print("  No data set of the paper's size was run, so this says how near partial data comes, not more.")
    for method in dict.fromkeys(part["method"]):
        texts = []
        for metric, metric_name in METRICS.items():
            cells = part[(part["method"] == method) & (part["metric"] == metric)].set_index("dataset")
            weighted_instead = metric == "auc_pr" and "auc_pr_weighted" in set(part["metric"])
            if cells.empty or weighted_instead:  # appendix C.1 gives AUC-PR only
                continue
            sizes = cells["difference"].abs()
            texts.append(f"{metric_name} mean {sizes.mean():.4f}, largest {sizes.max():.4f} ({sizes.idxmax()})")
            if len(cells) > 12 and cells["published"].nunique() > 12:
                texts[-1] += f", correlation {cells['published'].corr(cells['reproduced']):.2f}"
        print(f"  {METHODS[method].column:<10}{'; '.join(texts)}")


def compare(results_dir, experiment):
    """Write and print the comparison of one experiment; returns False if there is nothing to compare."""
    reproduced_path, published_path = Path(results_dir) / f"{experiment}.csv", PUBLISHED / f"{experiment}.csv"
    if not (reproduced_path.exists() and published_path.exists()):
        return False
    table = difference_table(pd.read_csv(reproduced_path), pd.read_csv(published_path))
    if table.empty:
        return False
    path = Path(results_dir) / f"{experiment}_vs_published.csv"
    table.to_csv(path, index=False, float_format="%.6f")
    print_differences(table)
    print(f"\nWrote {path}")
    return True


def main(argv=None):
    parser = argparse.ArgumentParser(description="Compare reproduced tables with the published ones.")
    parser.add_argument("--results-dir", default="results", help="where the tables are (default: %(default)s)")
    args = parser.parse_args(argv)
    if not any([compare(args.results_dir, experiment) for experiment in EXPERIMENTS]):
        parser.error(f"there is no table of real data in {args.results_dir}: run ./run_seen.sh with data first")
    return 0


if __name__ == "__main__":
    sys.exit(main())
