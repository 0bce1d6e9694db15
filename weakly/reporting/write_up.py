"""Fill the tables of the pages (PAGES) from results/reference/, and draw the README's picture.

    python -m weakly.reporting.write_up      # after new results; a test checks that the pages are up to date

Each table is between the lines `<!-- NAME -->` and `<!-- end -->`, and TABLES says how it is made. The text
around it is written by hand. results/reference/interpretations.md is made as a whole.
"""

import argparse
import functools
import re
import sys

import pandas as pd

from weakly.beyond.result_files import page_text
from weakly.beyond.scaling import SUMMARY, scaling_runs, summary_table
from weakly.beyond.today import leads_as_text, today_runs
from weakly.beyond.today_text import averages_with_scalings, differences
from weakly.command_line import user_errors_end
from weakly.judging.assessment import Assessment
from weakly.judging.claims import NEW, OURS
from weakly.judging.effects import contamination_kinds
from weakly.judging.printed import REVERSED, impossible_cells, printed_beside_lowest, reversed_xgbod
from weakly.judging.sources import RELEASED
from weakly.judging.statistics import unseen_class_table
from weakly.judging.tables import by_method
from weakly.methods import METHODS, method_group
from weakly.numbers import number, signed
from weakly.paths import ROOT
from weakly.reporting.figures import draw_all_figures, draw_front_picture
from weakly.reporting.sweeps import CLAIMS_OF_FIGURES
from weakly.reporting.text_tables import as_markdown, kinds_table
from weakly.running.paper_experiments import EXACT_SETS
from weakly.writing import written_whole

REFERENCE = ROOT / "results" / "reference"
PAGES = ("README.md", "REPRODUCTION.md")
INTERPRETATIONS = REFERENCE / "interpretations.md"
BOTH = ["reproduced", "published"]
MARKED = re.compile(r"(<!-- (?!end)(\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


@functools.cache
def assessed():
    """The assessment of the reference results."""
    return Assessment(REFERENCE)


def rows_of(file, **chosen):
    """The rows of a committed table whose columns have these values."""
    table = pd.read_csv(REFERENCE / f"{file}.csv", float_precision="round_trip")
    for column, value in chosen.items():
        table = table[table[column] == value]
    return table


def column(name):
    return METHODS[name].column


# ---------------------------------------------------------------------------- Tables 2 to 4


def table_2(methods):
    """AUC-PR on the exact data sets, measured / published, with the average and the mean |difference|."""
    cells = rows_of("seen_vs_published", metric="auc_pr", data_status="exact")
    texts = cells[BOTH].map(number).agg(" / ".join, axis=1)
    shown = by_method(cells.assign(cell=texts), "auc_pr", "cell")[methods]
    means = averages(cells, "auc_pr")
    shown.loc["Average"] = means["measured"] + " / " + means["published"]
    shown.loc["mean |difference|"] = means["mean |difference|"]
    return shown.rename_axis("AUC-PR, measured / published").rename(columns=column)


def averages(cells, metric):
    """The published and the measured average of each method, and the mean |difference| over the sets."""
    cells = cells[(cells["metric"] == metric) & (cells["dataset"] != "Average")]
    cells = cells.assign(difference=cells["difference"].abs())
    means = cells.groupby("method", sort=False)[[*BOTH[::-1], "difference"]].mean().round(6).map(number)
    return means.rename(columns={"reproduced": "measured", "difference": "mean |difference|"})


def table_3():
    """The averages over the 28 unseen sets, and PReNet's lead on one set per unseen class."""
    cells = rows_of("unseen_vs_published")
    roc = averages(cells, "auc_roc").iloc[:, :2].add_prefix("AUC-ROC, ")
    table = averages(cells, "auc_pr_weighted").add_prefix("AUC-PR, ").join(roc, how="outer")
    table = table.loc[method_group("table", "appendix")].rename(index=column)
    by_class = unseen_class_table(REFERENCE)
    for source, title in {"published": "published", "released": "measured"}.items():
        table[f"PReNet's lead, 4 sets, {title}"] = by_class[source, "lead"].map(signed)
    return table.fillna("").rename_axis("mean of 28 sets")


def table_4():
    """The averages of the ablation on exact data."""
    table = averages(rows_of("ablation_vs_published", data_status="exact"), "auc_pr")
    return table.rename(index=column).rename_axis("average AUC-PR")


# ---------------------------------------------------------------------------- draws, leads, claims


def leads():
    """PReNet's lead over each method in average AUC-PR, with its 95% interval."""
    table = assessed().leads.query("experiment == 'seen' and metric == 'auc_pr'")
    shown = table.assign(cell=leads_as_text(table)).pivot(index="method", columns="source", values="cell")
    shown = shown.loc[table["method"].unique(), table["source"].unique()]
    return shown.rename(index=column).rename_axis(index="PReNet minus", columns=None)


def factors():
    """What single factors contribute to the variance of AUC-PR, with intervals."""
    table = assessed().contributions.reset_index()
    numbers = table[["contribution %", "low %", "high %"]].to_numpy()
    texts = [f"{share:.0f} [{low:.0f}, {high:.0f}]" for share, low, high in numbers]
    shown = table.assign(text=texts).pivot(index="factor", columns="method", values="text")
    return shown.loc[table["factor"].unique(), table["method"].unique()].rename_axis(
        index="contribution, %", columns=None
    )


def main_claims():
    """The eight main claims: the verdicts by source, and the size of the effect with released draws."""
    rows = {}
    for one in assessed().main_claims:
        size = one.sizes[RELEASED]
        rival = size.rival + " (partial data)" * (size.status == "partial")
        row = {"size, released": str(size.lead), "compared with": rival}
        rows[one.judged.claim.text] = verdicts(one.judged) | row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("claim")


def verdicts(judged, titles=("the paper's values, our sets", OURS, NEW)):
    """The verdicts of a claim on the printed values of our data sets, and on our runs."""
    return {title: judged.findings[title].shown for title in titles}


def figures():
    """The claims on Figs. 2 to 5 and the theorem, with their verdicts."""
    judged = {one.claim.key: one for one in assessed().claims}
    keys = [key for of_figure in CLAIMS_OF_FIGURES.values() for key in of_figure]
    rows = {judged[key].claim.text: verdicts(judged[key], (OURS, NEW)) for key in keys}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("claim")


# ---------------------------------------------------------------------------- the baselines, XGBOD


def interpretation_cells():
    """The cells of all methods and interpretations on exact data, each once."""
    names = ("seen", "ablation", "interpretations")
    cells = pd.concat([rows_of(f"{name}_vs_published") for name in names])
    return cells.drop_duplicates(["dataset", "method", "metric"]).query("data_status == 'exact'")


def bases():
    """{method: it and its interpretations}, of those that have any."""
    of = {}
    for name in method_group("interpretation"):
        base = METHODS[name].interpretation_of
        of.setdefault(base, [base]).append(name)
    return of


def baselines(shown=("dsad", "fsnet", "cfsnet", "repen", "feawad", "xgbod")):
    """Published and our average of every interpretation of the baselines, and the mean |difference|."""
    cells, rows = interpretation_cells().query("metric == 'auc_pr'"), {}
    for base in shown:
        for name in bases()[base]:
            if name.endswith("-two-layers"):  # of a claim, not of what may explain the published numbers
                continue
            part = cells[cells["method"] == name]
            sets = "" if len(part) == len(EXACT_SETS) else f", {', '.join(part['dataset'])} only"
            means = part["published"].mean(), part["reproduced"].mean(), part["difference"].abs().mean()
            rows[column(name) + sets] = [number(mean) for mean in means]
    titles = ["published", "measured", "mean |difference|"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=titles).rename_axis("average AUC-PR")


def interpretation_table(base, names):
    """A method as published, as in its file and in other interpretations: AUC-PR per data set."""
    cells = interpretation_cells().query("metric == 'auc_pr'")
    of_base = cells[cells["method"] == base].set_index("dataset")["published"]
    rows = {f"{column(base)}, published": of_base.map(number)}
    for name in names:
        part = cells[cells["method"] == name].set_index("dataset")
        texts = part[["reproduced", "std"]].map(number).agg(" ± ".join, axis=1)
        texts["mean |difference|"] = number(part["difference"].abs().mean())
        rows[f"{column(name)}, default" if name == base else column(name)] = texts
    table = pd.DataFrame(rows).T
    return table.loc[list(rows), [*of_base.index, "mean |difference|"]].rename_axis("AUC-PR")


def interpretations_page():
    """The text of interpretations.md: every interpretation, and PReNet's contamination in three kinds."""
    yield "# Other interpretations of what the paper leaves open"
    yield (
        "`python experiments.py interpretations`: AUC-PR with `released` draws, mean ± standard deviation "
        "of 10 runs. A row changes one thing of the method's file; weakly/methods.py has the settings."
    )
    for base, names in bases().items():
        yield from (f"## {column(base)}", interpretation_table(base, names))
    yield from ("## Contamination", kinds_table(contamination_kinds(REFERENCE)))


def printed_xgbod():
    """XGBOD's printed AUC-PR that cannot be right, and what four reversed cells would make of it."""
    printed, (reversed_column, alone) = printed_beside_lowest("seen"), reversed_xgbod()
    columns = {
        "lowest possible": printed["lowest"],
        "printed, seen": printed["xgbod"],
        "printed, unseen, only this class seen": alone.map(lambda values: values[0]),
        "the four reversed": reversed_column,
    }
    return pd.DataFrame(columns).loc[REVERSED].map(number).rename_axis("XGBOD, AUC-PR")


def printed_unseen():
    """How far the printed unseen columns depend on the unseen class, and their impossible cells."""
    table = assessed().unseen_shares.drop(columns="unseen class %")
    cells = impossible_cells("unseen")["method"].map(column).value_counts()
    return table.assign(**{"impossible cells of 28": cells.reindex(table.index).fillna(0).astype(int)})


# ---------------------------------------------------------------------------- the cross-check, the pages


def crosscheck():
    """AUC-PR of ADGym and our runs, on data sets with features between 0 and 1 and on the others."""
    table = rows_of("crosscheck_methods")
    table = table[table["method"].map(lambda name: METHODS[name].group != "outside")]
    titles = {"theirs": "ADGym", "ours": "measured", "ours_difference": "mean |difference|"}
    parts = {
        data: part.set_index("method")[list(titles)].rename(columns=titles).add_prefix(f"{data}: ")
        for data, part in table.groupby("data")
    }
    return pd.concat(parts.values(), axis=1).rename(index=column).rename_axis("method")


TABLES = {
    "headline": lambda: table_2(method_group("table") + ["xgbod"]),
    "table-2": lambda: table_2(method_group("table", "appendix")),
    "table-3": table_3,
    "table-4": table_4,
    "leads": leads,
    "factors": factors,
    "scaling": lambda: summary_table(scaling_runs(REFERENCE), SUMMARY).filter(regex="^(?!.*without)"),
    "baselines": baselines,
    "printed-xgbod": printed_xgbod,
    "printed-unseen": printed_unseen,
    "figures": figures,
    "crosscheck": crosscheck,
    "today": lambda: averages_with_scalings(REFERENCE),
    "differences": lambda: differences(today_runs(REFERENCE)),
    "main-claims": main_claims,
}


def filled(text):
    """A page with its tables regenerated."""
    return MARKED.sub(lambda match: f"{match[1]}{as_markdown(TABLES[match[2]]())}\n{match[3]}", text)


def write(path, text):
    """Write a page; returns whether that changed it."""
    if path.exists() and path.read_text() == text:
        return False
    with written_whole(path) as file:
        file.write(text.encode())
    return True


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m weakly.reporting.write_up",
        description=f"Fill the tables of {', '.join(PAGES)} from results/reference/.",
    )
    parser.parse_args(argv)
    with user_errors_end(parser):
        texts = {ROOT / name: filled((ROOT / name).read_text()) for name in PAGES}
        texts[INTERPRETATIONS] = page_text(interpretations_page())
        for path, text in texts.items():
            print(f"{path.relative_to(ROOT)}: {'written' if write(path, text) else 'nothing to change'}")
        cells = assessed().exact_cells["seen"]
        print(*draw_all_figures(REFERENCE), sep="\n")
        print(*draw_front_picture(cells[cells["metric"] == "auc_pr"], REFERENCE), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
