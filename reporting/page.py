"""Does the paper hold up? One HTML page with everything that was measured, to open from disk and to hand on.

    python -m reporting.page                                      # results/ -> results/report.html
    python -m reporting.page --results-dir results/reference      # what we obtained

The page needs no network and no other file. Its look and its few lines of script are in template.html; what
can be filtered or sorted is drawn by markup.py and plots.py. The same results give the same bytes.
"""

import argparse
import base64
import hashlib
import re
import sys
from html import escape
from pathlib import Path

import pandas as pd

from common.command_line import user_errors_end
from common.errors import UserError
from common.writing import written_whole
from judging.cells import PRINTED, TITLES, VERDICTS, comparisons, gap_table, published_table, verdict_counts
from judging.claims import judge_claims, verdict_counts_of_claims
from judging.effects import spread_by_factor, variance_by_unseen_class
from judging.sources import PublishedTables
from judging.statistics import EXPLANATION, statistics_tables
from judging.tables import (
    METRICS,
    PAPER_METRICS,
    by_method,
    comparable,
    find_table,
    in_paper_order,
    paper_runs,
    read_table,
)
from judging.verdicts import CLAIM_VERDICTS, UNTESTABLE
from methods import METHODS
from reporting.made_with import provenance_section
from reporting.markup import (
    badge,
    difference_matrix,
    frame_table,
    missing,
    protocol_table,
    signed,
    tag,
    with_spread,
)
from reporting.plots import figure, figures, scatter, strip, swatch, verdict_bar

TEMPLATE = Path(__file__).parent / "template.html"
SYNTHETIC = "synthetic data: says nothing about the paper"
TESTED = [verdict for verdict in CLAIM_VERDICTS if verdict != UNTESTABLE]


def plural(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


# ---------------------------------------------------------------------------- the answer


def counted(verdicts):
    """Cells by verdict in words: `all 7 are reproduced`, `5 are reproduced, 2 differ`."""
    counts = {
        words: int((verdicts == verdict).sum())
        for verdict, words in zip(VERDICTS, ("are reproduced", "come close", "differ"))
    }
    texts = {words: f"{'all ' * (count == len(verdicts))}{count} {words}" for words, count in counts.items()}
    return ", ".join(text for words, text in texts.items() if counts[words])


def reproduced_of(cells):
    return f"{(cells['verdict'] == 'reproduced').sum()} of {len(cells)}"


def summary(tables, claims):
    """The answer in a paragraph, a few large figures, a sentence for each table of the paper."""
    exact = {experiment: table[table["data_status"] == "exact"] for experiment, table in tables.items()}
    cards = "".join(
        tag("li", tag("b", escape(large)) + tag("span", escape(small)))
        for large, small in [*prenet_cards(exact), *claims_cards(claims)]
    )
    facts = [
        tag("li", f"{tag('b', escape(title))}: {escape(about_table(name, exact.get(name)))}")
        for name, title in TITLES.items()
    ]
    return (
        tag("p", escape(f"{answer_of_cells(exact)}{answer_of_claims(claims)}"), class_="lead")
        + (tag("ul", cards, class_="cards") if cards else "")
        + tag("ul", "".join(facts), class_="facts")
    )


def answer_of_cells(exact):
    """How many numbers are reproduced on exact data; PReNet's column of Table 4 is that of Table 2 again."""
    cells = pd.concat([pd.DataFrame(columns=["dataset", "method", "metric", "verdict"]), *exact.values()])
    cells = cells.drop_duplicates(["dataset", "method", "metric"])
    own = cells["method"] == "prenet"
    answer = [f"{reproduced_of(cells[own])} of PReNet's own numbers are reproduced"] if own.any() else []
    answer += [f"{reproduced_of(cells[~own])} of the other methods'"] if len(cells) and not own.all() else []
    if not answer:
        return "No data that is exactly the paper's was run yet."
    return f"On data that is exactly the paper's, {', and '.join(answer)}."


def claims_in_short(claims, status):
    """The claims judged on data of this status, and by verdict: `3 supported, 10 weakened`."""
    verdicts = [one.verdict for one in claims if one.ours.status == status]
    texts = [f"{verdicts.count(verdict)} {verdict}" for verdict in TESTED if verdicts.count(verdict)]
    return len(verdicts), ", ".join(texts)


def answer_of_claims(claims):
    """Exact and partial data apart: what cannot be compared must not enter the sum."""
    answers = []
    for status, data in {"exact": "exact data", "partial": "partial data"}.items():
        tested, text = claims_in_short(claims, status)
        if tested:
            answers.append(f" Of {plural(tested, 'claim')} of the paper that {data} can test: {text}.")
    return "".join(answers)


def claims_cards(claims):
    tested, text = claims_in_short(claims, "exact")
    supported = [one.verdict for one in claims if one.ours.status == "exact"].count(TESTED[0])
    own = [one.findings[PublishedTables().title].verdict for one in claims]
    printed = f"the paper's own printed values support {own.count(TESTED[0])} of the "
    printed += f"{len(own) - own.count(UNTESTABLE)} that they can test"
    return (
        [(f"{supported} of {tested}", f"claims are supported on exact data ({text}); {printed}")]
        if tested
        else []
    )


def prenet_cards(exact):
    """PReNet's numbers in Table 2, per metric: (large, small)."""
    cards = []
    for metric in PAPER_METRICS if "seen" in exact else ():
        cells = exact["seen"].query("method == 'prenet' and metric == @metric")
        if len(cells):
            sizes = cells["difference"].abs()
            distance = f"mean |difference| {sizes.mean():.3f}, largest {sizes.max():.3f}"
            small = f"of PReNet's {METRICS[metric]} values in Table 2 are reproduced; {distance}"
            cards.append((reproduced_of(cells), small))
    return cards


def about_table(experiment, cells):
    """How PReNet and the others fare in AUC-PR in one table of the paper, and which of them mostly differ.

    cells are those of exact data; None if there is no table.
    """
    if cells is None:
        return "not run yet."
    if cells.empty:
        return "only part of the data could be had, so it is shown but not counted."
    cells = cells[cells["metric"] == "auc_pr"]
    own = cells["method"] == "prenet"
    n_exact, n_sets = cells["dataset"].nunique(), published_table(experiment)["dataset"].nunique()
    text = f"{n_exact} of the {n_sets} data sets are exactly the paper's. There, "
    groups = [
        (whose, cells["verdict"][part])
        for whose, part in (("PReNet's", own), ("the other methods'", ~own))
        if part.any()
    ]
    text += "; ".join(
        f"of {whose} {plural(len(verdicts), 'AUC-PR value')} {counted(verdicts)}"
        for whose, verdicts in groups
    )
    by_method = cells[~own].groupby("method", sort=False)
    far = [name for name, part in by_method if (part["verdict"] == "differs").mean() > 0.5]
    if far:
        averages = by_method["difference"].mean()
        names = [f"{METHODS[name].column} ({signed(averages[name])})" for name in far]
        text += f", most of {', '.join(names[:-1])}{' and ' * (len(names) > 1)}{names[-1]}"
        text += ", with the mean difference in brackets"
    return text + "."


def verdict_table(tables):
    """Cells of exact data by method and verdict, as bars with numbers, a block for every table."""
    counts = {experiment: verdict_counts(table) for experiment, table in tables.items()}
    blocks = [verdict_bars(TITLES[experiment], count) for experiment, count in counts.items() if len(count)]
    if not blocks:
        text = "No data set that is exactly the paper's was run, so no cell counts."
        return tag("p", text, class_="missing")
    legend = "".join(tag("li", badge(verdict) + escape(f" {text}")) for verdict, text in VERDICTS.items())
    return tag("ul", legend, class_="legend") + tag("div", "".join(blocks), class_="pair")


def verdict_bars(title, counts):
    """The bars of one table of the paper, a row per method and a column per metric."""
    metrics = [metric for metric in PAPER_METRICS if metric in counts.index.get_level_values("metric")]
    rows = ""
    for method in dict.fromkeys(counts.index.get_level_values("method")):
        cells = tag("th", escape(METHODS[method].column), scope="row")
        for metric in metrics:
            there = (metric, method) in counts.index
            cells += tag("td", verdict_bar(counts.loc[(metric, method)].to_dict()) if there else "–")
        rows += tag("tr", cells)
    names = ("Method", *(METRICS[metric] for metric in metrics))
    head = tag("thead", tag("tr", "".join(tag("th", name, scope="col") for name in names)))
    content = tag("table", tag("caption", escape(title)) + head + tag("tbody", rows))
    return tag("div", content, class_="scroll bars", tabindex=0, role="group", aria_label=title)


def claims_list(claims):
    """Every claim with what the paper's values and ours say, in its order; the untested folded away."""
    items = {True: "", False: ""}
    for one in claims:
        items[one.verdict != UNTESTABLE] += tag("li", claim_verdicts(one) + claim_text(one))
    counts = frame_table("Claims by verdict; exact and partial data apart", verdict_counts_of_claims(claims))
    n_untested = [one.verdict for one in claims].count(UNTESTABLE)
    folded = tag("summary", f"{plural(n_untested, 'claim')} that our results cannot test yet")
    folded += tag("ul", items[False], class_="claims")
    return counts + tag("ul", items[True], class_="claims") + (tag("details", folded) if items[False] else "")


def claim_verdicts(one):
    """The verdicts of all sources side by side, the paper's own values first."""
    cells = [
        tag("div", tag("small", escape(title)) + badge(finding.verdict))
        for title, finding in one.findings.items()
    ]
    return tag("div", "".join(cells), class_="says")


def claim_text(one):
    """The claim, our figures, and folded away: the rule and the figures of the other sources."""
    section = tag("span", escape(one.claim.section), class_="section")
    text = tag("p", f"{escape(one.claim.text)} {section}")
    text += tag("p", escape(one.evidence), class_="evidence")
    text += tag("p", escape(one.claim.caveat), class_="evidence") if one.claim.caveat else ""
    lines = {"The rule": one.claim.rule} | {title: found.evidence for title, found in one.findings.items()}
    figures = "".join(tag("dt", escape(title)) + tag("dd", escape(line)) for title, line in lines.items())
    return tag("div", text + tag("details", tag("summary", "The rule, and all figures") + tag("dl", figures)))


# ---------------------------------------------------------------------------- the numbers


def method_filter(tables):
    """A box to tick for every method that is shown, with its colour and shape: the legend of all plots."""
    used = {method for table in tables.values() for method in table["method"]}
    boxes = ""
    for name in [name for name in METHODS if name in used]:
        box = tag("input", type="checkbox", name="method", value=name, checked="")
        boxes += tag("label", box + swatch(name) + escape(METHODS[name].column))
    return boxes


def scatters(cells):
    plots = [
        scatter(TITLES[experiment], METRICS[metric], part, data_metric=metric)
        for experiment, table in cells.items()
        for metric in PAPER_METRICS
        if len(part := table[table["metric"] == metric])
    ]
    if not plots:
        return missing("Tables 2 to 4", "./run_all.sh")
    return tag("div", "".join(plots), class_="scatters")


def result_tables(results_dir, cells):
    """For each table of the paper: ours against published, both protocols, what survives new draws."""
    parts = []
    for experiment in PRINTED:
        parts.append(tag("h3", escape(TITLES[experiment]), id=f"table-{experiment}"))
        if experiment not in cells:
            parts.append(missing(TITLES[experiment], f"./run_{experiment}.sh"))
            continue
        table = cells[experiment]
        for metric in PAPER_METRICS:
            part = table[table["metric"] == metric]
            if len(part):
                note = "; partial data weighted to the paper's class ratio" if part["weighted"].any() else ""
                caption = f"{METRICS[metric]}, ours against published{note}"
                parts.append(difference_matrix(caption, part, data_metric=metric))
        if experiment != "ablation":
            parts.append(both_protocols(results_dir, experiment))
    return "".join(parts)


def both_protocols(results_dir, experiment):
    """Released beside independent, and PReNet's lead under both."""
    released, independent = (find_table(results_dir, experiment, suffix) for suffix in ("", "_independent"))
    if independent is None:
        drawn = f"{TITLES[experiment]}, new splits and labels in every run"
        return missing(drawn, f"./run_{experiment}.sh --protocol independent")
    above = "above with the authors' draws, ± over initial weights"
    draws = f"{above}; below with new splits and labels, ± over splits"
    parts = [
        protocol_table(f"{METRICS[metric]}: {draws}", released, independent, metric, data_metric=metric)
        for metric in PAPER_METRICS
    ]
    gaps = gap_table(results_dir, experiment)
    if len(gaps):
        caption = "What is left of PReNet's lead in AUC-PR when splits and labels are drawn anew"
        parts.append(frame_table(f"{caption}: its mean minus the method's", gaps))
    return tag("h4", "Both protocols") + "".join(parts)


def statistics_section(results_dir):
    """The paper's tests; each statistic of ours stands beside the published one."""
    parts, tables = [], statistics_tables(results_dir)
    if tables:
        title = "The printed unseen columns: shares of their variance (AUC-PR)"
        tables[title] = variance_by_unseen_class()
    spreads = spread_by_factor(results_dir)
    if len(spreads):
        tables["What moves the numbers: standard deviation of AUC-PR if one thing is drawn anew"] = spreads
    for title, table in tables.items():
        if table.columns.nlevels == 2 and "average" in table.columns.get_level_values(1):
            table = table.swaplevel(axis=1)[list(dict.fromkeys(table.columns.get_level_values(1)))]
        parts.append(foldable(title, frame_table(title, table, class_="scroll wrapped"), is_open=not parts))
    if not parts:
        return missing("The paper's statistics", "./run_all.sh")
    return tag("p", escape(EXPLANATION)) + "".join(parts)


def foldable(title, content, is_open):
    return tag("details", tag("summary", escape(title)) + content, open="" if is_open else None)


def strips(results_dir):
    """Every run of the paper's set-up, beside the published values."""
    parts = []
    for experiment, title in TITLES.items():
        runs = paper_runs(results_dir, experiment)
        if runs.empty:
            parts.append(missing(f"Runs of {title}", f"./run_{experiment}.sh"))
            continue
        published, panels = by_method(published_table(experiment)), []
        for dataset in in_paper_order(runs["dataset"]):
            part = runs[runs["dataset"] == dataset]
            values = published.loc[dataset].to_dict() if dataset in published.index else {}
            panels.append(strip(dataset, part["data_status"].iloc[0], part, values))
        count = f"{title}: {plural(len(runs), 'run')} on {plural(len(panels), 'data set')}"
        content = tag("div", "".join(panels), class_="panels")
        parts.append(foldable(count, content, is_open=experiment == "seen"))
    return "".join(parts)


def synthetic(results_dir):
    """Results on made-up data, apart from all others; empty if there are none."""
    parts = []
    for path in sorted(Path(results_dir).glob("*_synthetic.csv")):
        table = read_table(path)
        if "auc_pr" not in set(table["metric"]):
            continue
        label = table["dataset"]
        if "parameter" in table:
            label = label + ", " + table["parameter"] + " = " + table["value"].map("{:g}".format)
        cells = [with_spread(*pair) for pair in zip(table["mean"], table["std"])]
        shown = by_method(table.assign(label=label, cell=cells), values="cell", rows="label")
        shown = shown.rename(columns=lambda name: METHODS[name].column)
        parts.append(frame_table(f"{path.stem}: AUC-PR", shown, "Data set"))
    drawn = sorted((Path(results_dir) / "figures").glob("*_synthetic.svg"))
    parts += [figure(path, path.stem) for path in drawn]
    if not parts:
        return ""
    heading = tag("h2", "Synthetic data", id="synthetic") + tag("p", SYNTHETIC, class_="banner")
    return tag("section", heading + "".join(parts), aria_labelledby="synthetic")


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
        none = f"there is no folder {results_dir}"
        raise UserError(f"{none}: run ./run_seen.sh first, or name another --results-dir")
    tables, claims, made_up = comparisons(results_dir), judge_claims(results_dir), synthetic(results_dir)
    cells = {name: comparable(table, "reproduced") for name, table in tables.items()}
    template = TEMPLATE.read_text(encoding="utf-8")
    slots = {
        "policy": tag("meta", http_equiv="Content-Security-Policy", content=policy(template)),
        "banner": tag("p", SYNTHETIC, class_="banner") if made_up and not tables else "",
        "summary": summary(tables, claims),
        "verdicts": verdict_table(tables),
        "claims": claims_list(claims),
        "methods": method_filter(tables),
        "scatters": scatters(cells),
        "tables": result_tables(results_dir, cells),
        "statistics": statistics_section(results_dir),
        "strips": strips(results_dir),
        "figures": figures(results_dir),
        "provenance": provenance_section(results_dir),
        "synthetic": made_up,
        "verdict-options": "".join(tag("option", name, value=name) for name in VERDICTS),
    }
    page = re.sub(r"<!--slot (\S+)-->", lambda match: slots[match.group(1)], template)
    path = results_dir / "report.html"
    with written_whole(path) as file:
        file.write(page.encode())
    return path


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m reporting.page",
        description="Write one HTML page that shows how far the paper was reproduced.",
    )
    where = "where the results are (default: %(default)s)"
    parser.add_argument("--results-dir", default="results", help=where)
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        print(f"Wrote {build_report(args.results_dir)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
