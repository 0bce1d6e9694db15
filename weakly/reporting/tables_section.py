"""The page's numbers: Tables 2 to 4 as heat maps, both protocols, ranks, leads, statistics, every run."""

from html import escape

from weakly.judging.cells import PRINTED, TITLES, VERDICTS, published_table, verdict_counts
from weakly.judging.effects import Lead
from weakly.judging.leads import MAIN_TABLES
from weakly.judging.sources import AS_PUBLISHED, REDRAWN, RELEASED
from weakly.judging.statistics import EXPLANATION
from weakly.judging.tables import METRICS, PAPER_METRICS, by_method, find_table, in_paper_order
from weakly.methods import METHODS
from weakly.numbers import count
from weakly.reporting.charts import interval_range, intervals, rank_plot, strip, verdict_bar
from weakly.reporting.elements import foldable, tag
from weakly.reporting.markup import (
    badge,
    difference_matrix,
    follow,
    frame_table,
    missing,
    protocol_table,
    scope,
)
from weakly.reporting.svg import grid

INDEPENDENT = "--protocol independent"


def metric_note(metric, is_weighted):
    """A metric's name, and how AUC-PR is made comparable on partial data."""
    weighted = ", weighted to the paper's share of anomalies where data is partial" * bool(is_weighted)
    return f"{METRICS[metric]}{weighted}"


def no_match():
    """The message of a filtered part when nothing matches."""
    return tag("p", "Nothing here matches the filters.", class_="no-match", hidden="")


# ---------------------------------------------------------------------------- Tables 2 to 4


def tables_section(found):
    """For each table of the paper: ours compared with published, verdicts, both protocols."""
    parts = [scope("methods, metric, data set, data and verdict. Averages are hidden when any row is.")]
    for experiment in PRINTED:
        parts.append(tag("h3", escape(TITLES[experiment]), id=f"table-{experiment}"))
        if experiment not in found.cells:
            parts.append(missing(TITLES[experiment], f"./run_{experiment}.sh"))
            continue
        files = [f"{experiment}_vs_published.csv", f"{experiment}.csv", f"{experiment}_runs.csv"]
        every = " --methods all" * (experiment != "ablation")
        parts.append(follow(found.folder, f"table-{experiment}", files, f"./run_{experiment}.sh{every}"))
        parts.append(heat_maps(experiment, found.cells[experiment]))
        parts.append(verdict_bars(found.tables[experiment]))
        if experiment != "ablation":
            parts.append(both_protocols(found, experiment))
    return "".join(parts)


def heat_maps(experiment, table):
    """The gap between ours and the published values, one table per metric."""
    parts = []
    for metric in PAPER_METRICS:
        part = table[table["metric"] == metric]
        if len(part):
            caption = f"{metric_note(metric, part['weighted'].any())}: gap, then ours / published"
            anchors = {"anchors": f"{experiment}-{metric}"}
            parts.append(
                difference_matrix(caption, part, **anchors, data_metric=metric, class_="scroll heat")
            )
    return "".join(parts) + no_match()


def verdict_bars(table):
    """Cells of exact data by method and verdict, folded."""
    counts = verdict_counts(table)
    if counts.empty:
        return tag(
            "p", "No data set of this table is exactly the paper's, so no cell counts.", class_="missing"
        )
    legend = "".join(tag("li", badge(verdict) + escape(f" {text}")) for verdict, text in VERDICTS.items())
    metrics = [metric for metric in PAPER_METRICS if metric in counts.index.get_level_values("metric")]
    rows = ""
    for method in dict.fromkeys(counts.index.get_level_values("method")):
        cells = tag("th", escape(METHODS[method].column), scope="row")
        for metric in metrics:
            there = (metric, method) in counts.index
            cells += tag("td", verdict_bar(counts.loc[(metric, method)].to_dict()) if there else "–")
        rows += tag("tr", cells, data_method=method)
    names = ("Method", *(METRICS[metric] for metric in metrics))
    head = tag("thead", tag("tr", "".join(tag("th", name, scope="col") for name in names)))
    content = tag("table", head + tag("tbody", rows))
    label = "Cells by verdict"
    bars = tag("div", content, class_="scroll bars", tabindex=0, role="group", aria_label=label)
    title = "How many cells are reproduced, by method (exact data only)"
    return foldable(title, tag("ul", legend, class_="legend") + bars)


def both_protocols(found, experiment):
    """Results with both protocols, and PReNet's lead under each, folded."""
    released, independent = (find_table(found.folder, experiment, s) for s in ("", "_independent"))
    command = f"./run_{experiment}.sh {INDEPENDENT}"
    if independent is None:
        return missing(f"{TITLES[experiment]}, new splits and labels in every run", command)
    above = "above, with the authors' draws, ± over initial weights"
    draws = f"{above}; below, with new splits and labels, ± over splits"
    parts = [
        protocol_table(f"{metric_note(m, False)}: {draws}", released, independent, m, data_metric=m)
        for m in PAPER_METRICS
    ]
    if experiment in found.gaps:
        caption = "What remains of PReNet's lead in AUC-PR when splits and labels are redrawn"
        parts.append(frame_table(f"{caption}: its mean minus the method's", found.gaps[experiment]))
    anchor = f"protocols-{experiment}"
    source = follow(found.folder, anchor, [f"{experiment}_independent.csv"], command)
    return foldable("The same with new splits and labels", source + "".join(parts) + no_match(), id=anchor)


# ---------------------------------------------------------------------------- ranks and leads


def ranks_section(found):
    """Critical-difference diagrams: the paper's values, the authors' draws, new draws."""
    if not found.rankings:
        return missing("Ranks", "./run_seen.sh")
    parts = [scope("metric. Ranks are among all methods, so the other filters have no effect here.")]
    text = "Average rank over the data sets that all methods have; 1 is best. Methods joined by a bar on the "
    text += "right do not differ significantly (Nemenyi, 5%). Each panel ranks the methods that its source "
    text += "has: compare the order across panels, not the numbers."
    parts.append(tag("p", text))
    for experiment in MAIN_TABLES:
        of_experiment = [one for one in found.rankings if one.experiment == experiment]
        if not of_experiment:
            continue
        parts.append(tag("h3", escape(TITLES[experiment]), id=f"ranks-{experiment}"))
        files, command = [f"{experiment}.csv", f"{experiment}_independent.csv"], f"./run_{experiment}.sh"
        parts.append(follow(found.folder, f"ranks-{experiment}", files, f"{command} --methods all"))
        for metric in PAPER_METRICS:
            plots = [
                rank_plot(
                    one.source.capitalize(), one.ranks, one.critical_difference,
                    f"{one.n_sets} {'partial ' * (one.status == 'partial')}sets",
                )
                for one in of_experiment
                if one.metric == metric
            ]  # fmt: skip
            if plots:
                panels = grid(plots, "panels large")
                title = tag("p", f"{METRICS[metric]}", class_="of-metric")
                parts.append(tag("div", title + panels, data_metric=metric))
    return "".join(parts)


def leads_section(found):
    """The forest plot: PReNet's lead over every method, with intervals, in every source."""
    if found.leads.empty:
        return missing("PReNet's leads", "./run_seen.sh")
    parts = [scope("methods and metric.")]
    text = "PReNet's mean minus the method's over data sets, paired, with a 95% bootstrap interval over data "
    text += (
        "sets and runs. To the right of 0, PReNet is ahead. Published leads are computed on our data sets."
    )
    parts.append(tag("p", text))
    for experiment in MAIN_TABLES:
        table = found.leads[found.leads["experiment"] == experiment]
        if table.empty:
            continue
        parts.append(tag("h3", escape(TITLES[experiment]), id=f"leads-{experiment}"))
        command = f"./run_{experiment}.sh {INDEPENDENT}"
        parts.append(follow(found.folder, f"leads-{experiment}", ["leads.csv"], command))
        for metric in PAPER_METRICS:
            part = table[table["metric"] == metric]
            if len(part):
                title = tag("p", METRICS[metric], class_="of-metric")
                parts.append(tag("div", title + forest(part), data_metric=metric))
    return "".join(parts) + no_match()


def forest(table):
    """One metric of one experiment: a block per method, all on one scale."""
    rows = list(zip(table["mean"], table["low"], table["high"]))
    bounds, blocks = interval_range(rows), []
    for method in [name for name in METHODS if name in set(table["method"])]:
        part = table[table["method"] == method].set_index("source")
        leads = {s: Lead(*part.loc[s, ["mean", "low", "high"]]) for s in part.index}
        absent = {AS_PUBLISHED: "not printed"}
        shown = [(s, leads.get(s), absent.get(s, "not run")) for s in (AS_PUBLISHED, RELEASED, REDRAWN)]
        label = f"PReNet's lead over {METHODS[method].column}: "
        label += ", ".join(f"{source} {lead}" for source, lead in leads.items())
        sets = f"{part['sets'].max()} sets" + ", partial data" * ("partial" in set(part["status"]))
        caption = f"over {tag('b', escape(METHODS[method].column))} {tag('small', escape(sets))}"
        plot = intervals(shown, bounds, label)
        blocks.append(tag("figure", tag("figcaption", caption) + plot, data_method=method))
    return grid(blocks, "panels forest")


# ---------------------------------------------------------------------------- statistics and runs


def statistics_section(found):
    """The paper's tests, on our results and on the published ones."""
    tables = dict(found.statistics)
    if tables:
        title = "The printed unseen columns: shares of their variance (AUC-PR)"
        tables[title] = found.unseen_shares
    if len(found.spreads):
        title = "What affects the numbers: standard deviation of AUC-PR when one factor is redrawn"
        tables[title] = found.spreads
    if not tables:
        return missing("The paper's statistics", "./run_all.sh")
    parts = [scope("methods, in tables with a row per method. Metrics are named in the titles.")]
    for title, table in tables.items():
        if table.columns.nlevels == 2 and "average" in table.columns.get_level_values(1):
            table = table.swaplevel(axis=1)[list(dict.fromkeys(table.columns.get_level_values(1)))]
        parts.append(foldable(escape(title), frame_table(title, table, class_="scroll wrapped")))
    source = follow(found.folder, "statistics", ["comparison.md"], "python compare.py")
    return tag("p", escape(EXPLANATION)) + source + "".join(parts)


def runs_section(found):
    """Every run of the paper's set-up with the published values, in both metrics."""
    parts = [scope("methods, metric, data set and data.")]
    for experiment, title in TITLES.items():
        runs = found.runs.get(experiment)
        if runs is None or runs.empty:
            parts.append(missing(f"Runs of {title}", f"./run_{experiment}.sh"))
            continue
        panels, sets = [], in_paper_order(runs["dataset"])
        by_set = dict(list(runs.groupby("dataset")))
        for metric, column in {"auc_pr": "score", "auc_roc": "auc_roc"}.items():
            published = by_method(published_table(experiment), metric)
            for dataset in sets:
                part = by_set[dataset]
                values = published.loc[dataset].to_dict() if dataset in published.index else {}
                status = part["data_status"].iloc[0]
                panels.append(strip(dataset, status, part, values, column, data_metric=metric))
        name = f"{title}: {count(len(runs))} runs on {len(sets)} data sets"
        files = [f"{experiment}_runs.csv"]
        source = follow(found.folder, f"runs-{experiment}", files, f"./run_{experiment}.sh")
        content = source + grid(panels) + no_match()
        parts.append(foldable(escape(name), content, is_open=experiment == "seen", id=f"runs-{experiment}"))
    return "".join(parts)
