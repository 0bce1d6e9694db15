"""comparison.md: every cell, statistic and claim as Markdown tables; compare.py writes it."""

import pandas as pd

from weakly.judging.cells import TITLES, VERDICTS
from weakly.judging.claims import verdict_counts_of_claims
from weakly.judging.effects import contamination_kinds
from weakly.judging.headline import headline
from weakly.judging.statistics import EXPLANATION
from weakly.judging.tables import (
    METRICS,
    averaged_sets,
    counted_status,
    is_replaced,
    read_table,
    write_table,
)
from weakly.methods import METHODS
from weakly.reporting.sections import statistics_frames
from weakly.reporting.text_tables import as_markdown, counts_table, kinds_table, side_by_side
from weakly.writing import written_whole

SIDE_BY_SIDE = (
    "Ours (mean ± standard deviation over runs) / published, and the verdict on exact data; differences with "
    "their intervals are in the file _vs_published.csv. AUC-PR of partial data is weighted to the paper's "
    "share of anomalies."
)
DISTANCES = (
    "Mean and largest |difference| over the data sets that count: the exact ones or, if there are none, the "
    "partial ones, which only says how close partial data comes. iForest is run once per unseen class; the "
    "paper repeats its seen results there, whose test sets have a different share of anomalies, so that its "
    "AUC-PR on unseen anomalies cannot be compared."
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


def without_lone_average(table):
    """A table of cells without the average of a single data set."""
    return table[~table["data_status"].str.endswith(" 1 set")]


def distances(tables):
    """How far our numbers are from the published ones, per experiment, metric and method."""
    rows = []
    for experiment, table in tables.items():
        counts = table["data_status"] == counted_status(table["data_status"])
        part = table[counts & ~is_replaced(table, "reproduced")]
        for (metric, method), cells in part.groupby(["metric", "method"], sort=False):
            sizes = cells.set_index("dataset")["difference"].abs()
            names = TITLES[experiment], METRICS[metric], METHODS[method].column
            has_many = len(cells) > 12 and cells["published"].nunique() > 12
            correlation = cells["published"].corr(cells["reproduced"]) if has_many else None
            rows.append((*names, len(sizes), sizes.mean(), sizes.max(), sizes.idxmax(), correlation))
    columns = ["table", "metric", "method", "cells", "mean", "largest", "on", "correlation"]
    return pd.DataFrame(rows, columns=columns).set_index(columns[:3])


def sections(found):
    """The sections of comparison.md, as (title, explanation, table)."""
    for experiment, table in found.cells.items():
        averaged, _ = averaged_sets(read_table(found.folder / f"{experiment}.csv"))
        text = SIDE_BY_SIDE
        if len(averaged) > 1:
            text += f" The average is that of {', '.join(averaged.index)}."
        for metric in dict.fromkeys(table["metric"]):
            shown = side_by_side(without_lone_average(table), metric)
            yield f"{TITLES[experiment]}, {METRICS[metric]}", text, shown
    yield "Distances from the published values", DISTANCES, distances(found.tables)
    yield (
        "Cells by verdict",
        f"Over exact data; {'; '.join(f'{name}: {text}' for name, text in VERDICTS.items())}. {INTERVAL}",
        counts_table(found.tables),
    )
    for experiment, gaps in found.gaps.items():
        draws = "with the authors' draws and with new splits and labels in every run"
        text = f"PReNet's mean AUC-PR minus each method's, {draws}"
        yield f"What remains with independent draws, {TITLES[experiment]}", text, gaps
    for experiment in found.gaps:
        title = f"The lead over the strongest other method, {TITLES[experiment]}"
        yield title, "With all data sets, and without the one that moves it most", headline(found, experiment)
    yield "What the authors' contamination is", CONTAMINATION, kinds_table(contamination_kinds(found.folder))
    for place, (title, table) in enumerate(statistics_frames(found)):
        yield title, "" if place else EXPLANATION, table
    yield "The claims of the paper: verdicts", "", verdict_counts_of_claims(found.claims)
    yield "The claims, one by one", "", claims_table(found.claims)


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
    markdown = ["# Published and reproduced results", ""]
    for title, text, table in sections(found):
        if len(table):
            markdown += [f"## {title}", "", *([text, ""] if text else []), as_markdown(table), ""]
    with written_whole(found.folder / "comparison.md") as file:
        file.write("\n".join(markdown).encode())
    tables = {f"{experiment}_vs_published.csv": table for experiment, table in found.tables.items()}
    tables |= {"claims.csv": found.claims_table(), "main_claims.csv": found.main_claims_table()}
    for name, table in (tables | {"leads.csv": found.leads}).items():
        write_table(table, found.folder / name)
