"""comparison.md: every cell, statistic and claim as Markdown tables; compare.py writes it."""

import pandas as pd

from weakly.judging import cells, claims, effects, headline, statistics, tables
from weakly.judging.cells import TITLES, verdict_counts
from weakly.judging.tables import METRICS, by_method, counted_status, is_replaced, write_table
from weakly.methods import METHODS
from weakly.reporting import sections, text_tables
from weakly.reporting.pages import template
from weakly.writing import written_whole

MODULES = (cells, claims, effects, headline, statistics, tables, sections, text_tables)  # for the template
COLUMNS = {name: method.column for name, method in METHODS.items()}


def side_by_side(table, metric):
    """`measured ± std / published verdict` per data set and method; only exact data has a verdict."""
    part = table[(table["metric"] == metric) & ~table["data_status"].str.endswith(" 1 set")]
    spreads = part["std"].map(" ± {:.3f}".format).where(part["std"].notna(), "")
    cells = part["reproduced"].map("{:.3f}".format) + spreads + part["published"].map(" / {:.3f}".format)
    cells += (" " + part["verdict"]).where(part["data_status"] == "exact", "")
    shown = by_method(part.assign(cell=cells), metric, "cell")
    partial = set(part["dataset"][part["data_status"] == "partial"])
    return shown.rename(index={name: f"{name} (partial)" for name in partial}, columns=COLUMNS)


def counts_table(tables):
    """Cells by verdict per experiment, metric and method."""
    counts = {TITLES[experiment]: verdict_counts(table) for experiment, table in tables.items()}
    table = pd.concat(counts, names=["table"])
    return table.rename(index=METRICS, level="metric").rename(index=COLUMNS, level="method")


def distances(tables):
    """How far our numbers are from the published ones, per experiment, metric and method."""
    rows = []
    for experiment, table in tables.items():
        counts = table["data_status"] == counted_status(table["data_status"])
        part = table[counts & ~is_replaced(table, "reproduced")]
        for (metric, method), group in part.groupby(["metric", "method"], sort=False):
            sizes = group.set_index("dataset")["difference"].abs()
            names = TITLES[experiment], METRICS[metric], METHODS[method].column
            has_many = len(group) > 12 and group["published"].nunique() > 12
            correlation = group["published"].corr(group["reproduced"]) if has_many else None
            rows.append((*names, len(sizes), sizes.mean(), sizes.max(), sizes.idxmax(), correlation))
    columns = ["table", "metric", "method", "cells", "mean", "largest", "on", "correlation"]
    return pd.DataFrame(rows, columns=columns).set_index(columns[:3])


def claims_table(judged):
    """Each claim with its verdict and figures according to every source."""
    rows = [
        {"claim": f"{one.claim.text} ({one.claim.section})"}
        | {title: f"**{finding.shown}**. {finding.evidence}" for title, finding in one.findings.items()}
        | {"rule": one.claim.rule, "note": one.claim.caveat}
        for one in judged
    ]
    return pd.DataFrame(rows).set_index("claim")


def write_comparison(found):
    """Write the whole comparison as Markdown and as tables."""
    known = globals() | {name: value for module in MODULES for name, value in vars(module).items()}
    with written_whole(found.folder / "comparison.md") as file:
        text = template("comparison.md", **known).render(found=found)
        file.write(f"{text.strip()}\n".encode())
    tables = {f"{experiment}_vs_published.csv": table for experiment, table in found.tables.items()}
    tables |= {"claims.csv": found.claims_table(), "main_claims.csv": found.main_claims_table()}
    for name, table in (tables | {"leads.csv": found.leads}).items():
        write_table(table, found.folder / name)
