"""Does the paper hold up? One HTML page with everything that was measured, to open from disk and to hand on.

    python report.py                                      # results/ -> results/report.html
    python report.py --results-dir results/reference      # what we obtained

The page needs no network and no other file. Its look and its few lines of script are in report_template.html; what can be
filtered or sorted is drawn by report_html.py and report_plots.py. The same results give the same bytes.
"""

import argparse
import base64
import hashlib
import re
import sys
from html import escape
from pathlib import Path

import pandas as pd

from claims import check_claims
from data_files import DataError
from data_sources import written_whole
from methods import METHODS
from report_html import badge, difference_table, frame_table, missing, protocol_table, signed, tag, with_spread
from report_plots import figure, figures, scatter, strip, swatch, verdict_bar
from report_provenance import provenance_section
from significance import EXPLANATION, statistics_tables
from tables import METRICS, ResultsError, RunsFile, in_paper_order, latest_runs, repeat_without_labels
from verdicts import EXPERIMENTS, TITLES, VERDICTS, comparisons, gap_table, published_table, read_table, verdict_counts

TEMPLATE = Path(__file__).parent / "report_template.html"
SHOWN_METRICS = ("auc_pr", "auc_roc")
CLAIM_VERDICTS = ("holds", "holds in part", "does not hold", "not tested")


def shown_cells(comparison):
    """AUC-PR and AUC-ROC; AUC-PR weighted to the paper's class ratio stands in for AUC-PR where there is such a value."""
    weighted = comparison[comparison["metric"] == "auc_pr_weighted"]
    replaced = pd.MultiIndex.from_frame(comparison[["dataset", "method"]]).isin(pd.MultiIndex.from_frame(weighted[["dataset", "method"]]))
    kept = comparison[comparison["metric"].isin(SHOWN_METRICS) & ~((comparison["metric"] == "auc_pr") & replaced)]
    cells = pd.concat([kept.assign(weighted=False), weighted.assign(metric="auc_pr", weighted=True)])
    order = {name: position for position, name in enumerate(dict.fromkeys(comparison["dataset"]))}
    return cells.sort_values("dataset", key=lambda names: names.map(order), kind="stable")


def plural(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


# ---------------------------------------------------------------------------- the answer


def counted(verdicts):
    """How many of some cells have which verdict, in words: `all 7 are reproduced`, `5 are reproduced, 2 differ`."""
    counts = {words: (verdicts == verdict).sum() for verdict, words in zip(VERDICTS, ("are reproduced", "come close", "differ"))}
    return ", ".join(f"{'all ' if count == len(verdicts) else ''}{count} {words}" for words, count in counts.items() if count)


def reproduced_of(cells):
    return f"{(cells['verdict'] == 'reproduced').sum()} of {len(cells)}"


def summary(tables, claims):
    """The answer in one paragraph, then a sentence for each table of the paper and a few large figures, all computed."""
    exact = {experiment: table[table["data_status"] == "exact"] for experiment, table in tables.items()}
    facts = {}
    for name in EXPERIMENTS:
        part = "only part of the data could be had, so it is shown but not counted."
        facts[name] = "not run yet." if name not in tables else part if exact[name].empty else about_table(name, exact[name])
    cells = pd.concat([pd.DataFrame(columns=["dataset", "method", "metric", "verdict"]), *exact.values()])
    cells = cells.drop_duplicates(["dataset", "method", "metric"])  # PReNet's column of Table 4 is that of Table 2 once more
    own = cells["method"] == "prenet"
    count = [claim.verdict for claim in claims].count
    tested = len(claims) - count("not tested")
    answer = [f"{reproduced_of(cells[own])} of PReNet's own numbers are reproduced"] if own.any() else []
    answer += [f"{reproduced_of(cells[~own])} of the other methods'"] if len(cells) and not own.all() else []
    others = f"{count('holds in part')} hold in part and {count('does not hold')} do not"
    nothing = "No data that is exactly the paper's was run yet."
    text = f"On data that is exactly the paper's, {', and '.join(answer)}." if answer else nothing
    text += f" Of {plural(tested, 'claim')} of the paper that could be tested, {count('holds')} hold, {others}." if tested else ""
    untested = f"{count('not tested')} more were not tested"
    cards = [(f"{count('holds')} of {tested}", f"tested claims of the paper hold; {others}; {untested}")] if tested else []
    for metric in reversed(SHOWN_METRICS):
        cells = exact["seen"].query("method == 'prenet' and metric == @metric") if "seen" in exact else pd.DataFrame()
        if len(cells):
            sizes = cells["difference"].abs()
            distance = f"mean |difference| {sizes.mean():.3f}, largest {sizes.max():.3f}"
            cards.insert(0, (reproduced_of(cells), f"of PReNet's {METRICS[metric]} values in Table 2 are reproduced; {distance}"))
    numbers = "".join(tag("li", tag("b", escape(large)) + tag("span", escape(small))) for large, small in cards)
    listed = "".join(tag("li", f"{tag('b', escape(TITLES[name]))}: {escape(fact)}") for name, fact in facts.items())
    return tag("p", escape(text), class_="lead") + (tag("ul", numbers, class_="cards") if cards else "") + tag("ul", listed, class_="facts")


def about_table(experiment, cells):
    """How PReNet and the others fare in AUC-PR in one table of the paper, and which of the others mostly differ."""
    cells = cells[cells["metric"] == "auc_pr"]
    own = cells["method"] == "prenet"
    text = f"{cells['dataset'].nunique()} of the {len(published_table(experiment))} data sets are exactly the paper's. There, "
    groups = [(whose, cells["verdict"][part]) for whose, part in (("PReNet's", own), ("the other methods'", ~own)) if part.any()]
    text += "; ".join(f"of {whose} {plural(len(verdicts), 'AUC-PR value')} {counted(verdicts)}" for whose, verdicts in groups)
    by_method = cells[~own].groupby("method", sort=False)
    far = [name for name, part in by_method if (part["verdict"] == "differs").mean() > 0.5]
    if far:
        averages = by_method["difference"].mean()
        names = [f"{METHODS[name].column} ({signed(averages[name])})" for name in far]
        text += f", most of {', '.join(names[:-1])}{' and ' * (len(names) > 1)}{names[-1]}, with the mean difference in brackets"
    return text + "."


def verdict_table(tables):
    """Cells of exact data by method and verdict, as bars with their numbers, a block for every table of the paper."""
    blocks = []
    for experiment, table in tables.items():
        counts = verdict_counts(table)
        metrics = [metric for metric in SHOWN_METRICS if metric in counts.index.get_level_values("metric")]
        rows = []
        for method in dict.fromkeys(counts.index.get_level_values("method")):
            cells = tag("th", escape(METHODS[method].column), scope="row")
            for metric in metrics:
                there = (metric, method) in counts.index
                cells += tag("td", verdict_bar(counts.loc[(metric, method)].to_dict()) if there else "–")
            rows.append(tag("tr", cells))
        if rows:
            head = "".join(tag("th", text, scope="col") for text in ("Method", *(METRICS[metric] for metric in metrics)))
            content = tag("caption", escape(TITLES[experiment])) + tag("thead", tag("tr", head)) + tag("tbody", "".join(rows))
            blocks.append(tag("div", tag("table", content), class_="scroll bars", tabindex=0, role="group", aria_label=TITLES[experiment]))
    if not blocks:
        return tag("p", "No data set that is exactly the paper's was run, so no cell counts.", class_="missing")
    legend = "".join(tag("li", badge(verdict) + escape(f" {text}")) for verdict, text in VERDICTS.items())
    return tag("ul", legend, class_="legend") + tag("div", "".join(blocks), class_="pair")


def claims_list(claims):
    """Every claim with its verdict and evidence, in the paper's order; those that were not tested are folded away."""
    items = {True: "", False: ""}
    for claim in claims:
        section = tag("span", escape(claim.section), class_="section")
        text = tag("p", f"{escape(claim.text)} {section}") + tag("p", escape(claim.evidence), class_="evidence")
        items[claim.verdict != "not tested"] += tag("li", tag("div", badge(claim.verdict)) + tag("div", text))
    count = [claim.verdict for claim in claims].count
    legend = tag("ul", "".join(tag("li", f"{badge(verdict)} {count(verdict)}") for verdict in CLAIM_VERDICTS), class_="legend")
    folded = tag("summary", f"{plural(count('not tested'), 'claim')} not tested") + tag("ul", items[False], class_="claims")
    return legend + tag("ul", items[True], class_="claims") + (tag("details", folded) if items[False] else "")


# ---------------------------------------------------------------------------- the numbers


def method_filter(tables):
    """A box to tick for every method that is shown, with its colour and shape: the legend of all plots."""
    used = {method for table in tables.values() for method in table["method"]}
    boxes = [
        tag("label", tag("input", type="checkbox", name="method", value=name, checked="") + swatch(name) + escape(METHODS[name].column))
        for name in METHODS if name in used
    ]  # fmt: skip
    return "".join(boxes)


def scatters(cells):
    plots = [
        scatter(TITLES[experiment], METRICS[metric], table[table["metric"] == metric], data_metric=metric)
        for experiment, table in cells.items() for metric in SHOWN_METRICS if (table["metric"] == metric).any()
    ]  # fmt: skip
    return tag("div", "".join(plots), class_="scatters") if plots else missing("Tables 2 to 4", "./run_all.sh")


def result_tables(results_dir, cells):
    """For each table of the paper: ours against published, both protocols beside each other, what survives new draws."""
    parts = []
    for experiment in EXPERIMENTS:
        parts.append(tag("h3", escape(TITLES[experiment]), id=f"table-{experiment}"))
        if experiment not in cells:
            parts.append(missing(TITLES[experiment], f"./run_{experiment}.sh"))
            continue
        table = cells[experiment]
        for metric in SHOWN_METRICS:
            if (table["metric"] == metric).any():
                part = table[table["metric"] == metric]
                note = "; partial data weighted to the paper's class ratio" if part["weighted"].any() else ""
                parts.append(difference_table(f"{METRICS[metric]}, ours against published{note}", part, data_metric=metric))
        if experiment != "ablation":
            parts.append(protocols(results_dir, experiment))
    return "".join(parts)


def protocols(results_dir, experiment):
    """Released beside independent, and PReNet's lead under both."""
    path = Path(results_dir) / f"{experiment}_independent.csv"
    if not path.exists():
        return missing(f"{TITLES[experiment]}, new splits and labels in every run", f"./run_{experiment}.sh --protocol independent")
    released, independent, parts = read_table(Path(results_dir) / f"{experiment}.csv"), read_table(path), []
    for metric in SHOWN_METRICS:
        draws = "above with the authors' draws, ± over initial weights; below with new splits and labels, ± over splits"
        caption = f"{METRICS[metric]}: {draws}"
        parts.append(protocol_table(caption, released, independent, metric, data_metric=metric))
    gaps = gap_table(results_dir, experiment)
    if len(gaps):
        caption = "What is left of PReNet's lead in AUC-PR when splits and labels are drawn anew: its mean minus the method's"
        parts.append(frame_table(caption, gaps))
    return tag("h4", "Both protocols") + "".join(parts)


def statistics(results_dir):
    """The paper's tests; each statistic of ours stands beside the published one."""
    parts = []
    for title, table in statistics_tables(results_dir).items():
        if table.columns.nlevels == 2 and "average" in table.columns.get_level_values(1):
            table = table.swaplevel(axis=1)[list(dict.fromkeys(table.columns.get_level_values(1)))]
        opened = {} if parts else {"open": ""}
        parts.append(tag("details", tag("summary", escape(title)) + frame_table(title, table, class_="scroll wrapped"), **opened))
    return tag("p", escape(EXPLANATION)) + "".join(parts) if parts else missing("The paper's statistics", "./run_all.sh")


def paper_runs(results_dir, experiment):
    """Every run of the paper's set-up on real data, AUC-PR being the weighted one where there is such a value."""
    runs = RunsFile(results_dir, experiment).read()
    runs = runs.query("protocol == 'released' and n_labeled == 60 and contamination == 0.02 and data_status != 'synthetic'")
    runs = latest_runs(runs)
    runs = runs[runs["settings"] == runs.groupby(["method", "dataset"])["settings"].transform("last")]
    runs = repeat_without_labels(runs, [])
    return runs.assign(score=runs["auc_pr_weighted"].fillna(runs["auc_pr"]))


def strips(results_dir):
    parts = []
    for experiment in EXPERIMENTS:
        runs = paper_runs(results_dir, experiment)
        if runs.empty:
            parts.append(missing(f"Runs of {TITLES[experiment]}", f"./run_{experiment}.sh"))
            continue
        published, panels = published_table(experiment), []
        for dataset in in_paper_order(runs["dataset"]):
            part = runs[runs["dataset"] == dataset]
            of_set = published.loc[dataset] if dataset in published.index else {}
            values = {method: of_set.get(f"auc_pr_{method}") for method in METHODS}
            panels.append(strip(dataset, part["data_status"].iloc[0], part, values))
        count = f"{TITLES[experiment]}: {plural(len(runs), 'run')} on {plural(len(panels), 'data set')}"
        opened = {"open": ""} if experiment == "seen" else {}
        parts.append(tag("details", tag("summary", escape(count)) + tag("div", "".join(panels), class_="panels"), **opened))
    return "".join(parts)


def synthetic(results_dir):
    """Results on made-up data, apart from all others; empty if there are none."""
    parts = []
    for path in sorted(Path(results_dir).glob("*_synthetic.csv")):
        table = read_table(path)
        methods = [name for name in METHODS if f"auc_pr_{name}" in table]
        columns = {name: zip(table[f"auc_pr_{name}"], table[f"auc_pr_{name}_std"]) for name in methods}
        shown = pd.DataFrame({METHODS[name].column: [with_spread(*pair) for pair in pairs] for name, pairs in columns.items()})
        varied = table["parameter"] + " = " + table["value"].map("{:g}".format) if "parameter" in table else ""
        shown.index = table["dataset"].astype(str) + (", " + varied if "parameter" in table else "")
        if methods:
            parts.append(frame_table(f"{path.stem}: AUC-PR", shown, "Data set"))
    parts += [figure(path, path.stem) for path in sorted((Path(results_dir) / "figures").glob("*_synthetic.svg"))]
    if not parts:
        return ""
    heading = tag("h2", "Synthetic data", id="synthetic")
    warning = tag("p", "synthetic data: says nothing about the paper", class_="banner")
    return tag("section", heading + warning + "".join(parts), aria_labelledby="synthetic")


# ---------------------------------------------------------------------------- the page


def policy(template):
    """A Content-Security-Policy under which nothing runs or loads but the template's own script and style."""
    hashes = {}
    for name in ("script", "style"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", template, re.DOTALL)
        hashes[name] = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    own = "; ".join(f"{name}-src 'sha256-{value}'" for name, value in hashes.items())
    return f"default-src 'none'; img-src data:; {own}; base-uri 'none'; form-action 'none'"


def build_report(results_dir):
    """Write <results_dir>/report.html and return its path."""
    results_dir = Path(results_dir)
    if not results_dir.is_dir():
        raise ResultsError(f"there is no folder {results_dir}: run ./run_seen.sh first, or name another --results-dir")
    tables = comparisons(results_dir)
    cells, claims, made_up = {name: shown_cells(table) for name, table in tables.items()}, check_claims(results_dir), synthetic(results_dir)
    alone = tag("p", "synthetic data: says nothing about the paper", class_="banner") if made_up and not tables else ""
    template = TEMPLATE.read_text(encoding="utf-8")
    slots = {
        "policy": tag("meta", http_equiv="Content-Security-Policy", content=policy(template)),
        "banner": alone, "summary": summary(tables, claims), "verdicts": verdict_table(tables), "claims": claims_list(claims),
        "methods": method_filter(tables), "scatters": scatters(cells), "tables": result_tables(results_dir, cells),
        "statistics": statistics(results_dir), "strips": strips(results_dir), "figures": figures(results_dir),
        "provenance": provenance_section(results_dir), "synthetic": made_up,
        "verdict-options": "".join(tag("option", name, value=name) for name in VERDICTS),
    }  # fmt: skip
    page = re.sub(r"<!--slot (\S+)-->", lambda match: slots[match.group(1)], template)
    path = results_dir / "report.html"
    with written_whole(path) as file:
        file.write(page.encode())
    return path


def main(argv=None):
    parser = argparse.ArgumentParser(description="Write one HTML page that shows how far the paper was reproduced.")
    parser.add_argument("--results-dir", default="results", help="where the results are (default: %(default)s)")
    args = parser.parse_args(argv)
    try:
        print(f"Wrote {build_report(args.results_dir)}")
    except (ResultsError, DataError) as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
