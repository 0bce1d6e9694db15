"""Fill the tables of the pages (PAGES) from results/reference/, and draw the README's picture.

    python -m weakly.reporting.write_up      # after new results; a test checks that the pages are up to date

Each table is between the lines `<!-- NAME -->` and `<!-- end -->`, and TABLES says how it is made. The text
around it is written by hand.
"""

import argparse
import functools
import re
import sys

import pandas as pd

from weakly.beyond.beyond_tables import tables_beyond
from weakly.command_line import user_errors_end
from weakly.errors import UserError
from weakly.judging import statistics
from weakly.judging.assessment import Assessment
from weakly.judging.cells import comparison, published_table
from weakly.judging.claims import verdict_counts_of_claims
from weakly.judging.effects import unseen_by_file
from weakly.judging.tables import (
    METRICS,
    by_method,
    counted_status,
    find_table,
    is_replaced,
    paper_runs,
    read_frame,
    read_table,
)
from weakly.methods import METHODS, method_group
from weakly.numbers import number
from weakly.paths import ROOT
from weakly.reporting.answer import sentence
from weakly.reporting.front_picture import draw_front_picture
from weakly.reporting.sweeps import CLAIMS_OF_FIGURES
from weakly.reporting.text_tables import as_markdown, counts_table, side_by_side
from weakly.running.paper_experiments import EXACT_SETS
from weakly.running.provenance import read_sessions
from weakly.running.runs_file import RunsFile
from weakly.writing import written_whole

REFERENCE = ROOT / "results" / "reference"
PAGES = ("README.md", "REPRODUCTION.md", "docs/drivers.md")
MARKED = re.compile(r"(<!-- (?!end)(\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


@functools.cache
def found():
    """The assessment of the reference results."""
    return Assessment(REFERENCE)


def column(name):
    return METHODS[name].column


# ---------------------------------------------------------------------------- Tables 2 to 4


def on_exact_data(metric, *groups):
    """The comparison of Table 2 on the exact data sets, and their average, for some groups of methods."""
    table = comparison(REFERENCE, "seen")
    return table[
        (table["metric"] == metric)
        & table["method"].isin(method_group(*groups))
        & table["data_status"].str.startswith("exact")
    ]


def headline(group, metric="auc_pr"):
    """Ours against published on the exact data sets, with the mean |difference| of each method."""
    table = on_exact_data(metric, group)
    cells = [f"{ours:.3f} / {paper:.3f}" for ours, paper in zip(table["reproduced"], table["published"])]
    shown = by_method(table.assign(cell=cells), metric, "cell")
    exact = table[table["data_status"] == "exact"]
    shown.loc["mean |difference|"] = exact.groupby("method")["difference"].agg(
        lambda values: f"{values.abs().mean():.4f}"
    )
    return shown.rename_axis(f"{METRICS[metric]}, ours / published").rename(columns=column)


def protocols(methods=("prenet", "devnet")):
    """AUC-PR on the exact sets: the authors' draws, new draws by their procedure, and as in the text."""
    shown = {}
    for name, suffix in {"released": "", "redrawn": "_redrawn", "independent": "_independent"}.items():
        table = find_table(REFERENCE, "seen", suffix)
        spreads = ["" if pd.isna(std) else f" ± {std:.3f}" for std in table["std"]]
        cells = [f"{mean:.3f}{spread}" for mean, spread in zip(table["mean"], spreads)]
        shown[name] = by_method(table.assign(cell=cells), values="cell")
    columns = {f"{column(method)}, {name}": shown[name][method] for method in methods for name in shown}
    return pd.DataFrame(columns).loc[[*EXACT_SETS, "Average"]].rename_axis("AUC-PR")


def campaign_draws(methods=("prenet", "devnet")):
    """PReNet and DevNet on campaign: published, rows in UCI's and in the authors' order, ten other seeds."""
    published = by_method(published_table("seen")).loc["campaign", list(methods)]
    runs = paper_runs(REFERENCE, "seen", "released", "redrawn")
    runs = runs[(runs["dataset"] == "campaign") & runs["method"].isin(methods)]
    scores = {
        name: part.pivot(index="run", columns="method", values="score")
        for name, part in runs.groupby("protocol")
    }
    # made by commit b369700, which did not shuffle the rows
    earlier = RunsFile(REFERENCE / "campaign_in_ucis_order", "seen").read()
    rows = {
        "published": published,
        "ours, rows in UCI's order": earlier.groupby("method")["auc_pr"].mean(),
        "ours, rows in the authors' order": scores["released"].mean(),
        "ours, other seeds: mean": scores["redrawn"].mean(),
    }
    table = pd.DataFrame(rows).T
    table["gap"] = table["prenet"] - table["devnet"]
    other = scores["redrawn"].assign(gap=scores["redrawn"]["prenet"] - scores["redrawn"]["devnet"])
    table.loc["ours, other seeds: lowest"], table.loc["ours, other seeds: highest"] = other.min(), other.max()
    shown = table[[*methods, "gap"]].rename(columns={name: column(name) for name in methods})
    return shown.rename_axis("campaign, AUC-PR")


def average_table(experiment):
    """Published and reproduced averages, mean |difference| and, over many sets, the correlation."""
    table, rows = comparison(REFERENCE, experiment), {}
    status = counted_status(table["data_status"])
    table = table[table["data_status"].str.startswith(status) & ~is_replaced(table, "reproduced")]
    for metric, part in table.groupby("metric", sort=False):
        means = part[part["dataset"] == "Average"].set_index("method")
        cells = part[part["data_status"] == status].groupby("method")
        rows[f"{METRICS[metric]}, published"] = means["published"].map("{:.3f}".format)
        rows[f"{METRICS[metric]}, ours"] = means["reproduced"].map("{:.3f}".format)
        distances = {name: f"{of_method['difference'].abs().mean():.3f}" for name, of_method in cells}
        rows[f"{METRICS[metric]}, mean |difference|"] = distances
        if part["dataset"].nunique() > 13:  # the Average among them
            correlations = {
                name: number(of_method["published"].corr(of_method["reproduced"]), 2)
                for name, of_method in cells
            }
            rows[f"{METRICS[metric]}, correlation over the sets"] = correlations
    shown = pd.DataFrame.from_dict(rows, orient="index")
    return shown[[name for name in METHODS if name in shown]].rename(columns=column).rename_axis("average")


def unseen_files():
    """Whether the lead of trees on partial data depends on how its files were made."""
    cells = found().cells["unseen"]
    return unseen_by_file(by_method(cells[cells["dataset"] != "Average"], values="reproduced"))


def weights_of_unseen():
    """PReNet on the unseen sets with the paper's lambda and with that of the authors' script: averages."""
    rows = {}
    for title, suffix in {"λ = 0.01": "", "λ = 0.1": "_l2=0.1"}.items():
        cells = comparison(REFERENCE, "unseen", suffix).query("method == 'prenet'")
        for metric in ("auc_roc", "auc_pr_weighted"):
            part = cells[cells["metric"] == metric]
            sets, mean = part[part["dataset"] != "Average"], part[part["dataset"] == "Average"].iloc[0]
            row = rows.setdefault(METRICS[metric], {"published": f"{mean['published']:.3f}"})
            row[f"ours, {title}"] = f"{mean['reproduced']:.3f}"
            row[f"mean |difference|, {title}"] = f"{sets['difference'].abs().mean():.3f}"
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("PReNet")


def method_ranking():
    """The seven methods on the exact sets, best first: average AUC-PR and rank, published and ours."""
    methods, rows = method_group("table"), {}
    scores = {
        "published": statistics.published_scores("seen", datasets=list(EXACT_SETS)),
        "released": statistics.scores(find_table(REFERENCE, "seen")),
        "independent": statistics.scores(find_table(REFERENCE, "seen", "_independent")),
    }
    for title, table in scores.items():
        table = table[methods]
        rows[f"{title}, AUC-PR"] = table.mean()
        rows[f"{title}, rank"] = statistics.average_ranks(table)["ordinal"]
    shown = pd.DataFrame(rows).sort_values("released, AUC-PR", ascending=False)
    return shown.rename(index=column).rename_axis("method")


def counts(experiment):
    """Cells by verdict, of one experiment."""
    table = counts_table({experiment: comparison(REFERENCE, experiment)})
    return table.droplevel("table")


def exact_auc_pr():
    """The cells of the README's picture: Table 2 and appendix C.1 on exact data."""
    table = found().exact_cells["seen"]
    return table[table["metric"] == "auc_pr"]


def in_full(experiment, metric):
    """Ours against published; AUC-PR of partial data weighted, as on the report page."""
    return side_by_side(found().cells[experiment], metric)


def findings(figure):
    """What a figure shows: the claims that rest on it, their verdicts and our figures, as a list."""
    by_key = {one.claim.key: one for one in found().claims}
    lines = [
        f"- **{one.verdict.capitalize()}:** {one.claim.text} {one.evidence}"
        for one in (by_key[key] for key in CLAIMS_OF_FIGURES[figure])
    ]
    return "\n".join(lines)


def gaps(experiment):
    """What remains of PReNet's lead under `independent`."""
    return found().gaps[experiment]


def claims_table():
    """The paper's claims, each with all verdicts and the evidence for ours."""
    rows = {}
    for one in found().claims:
        text = f"{one.claim.text} ({one.claim.section})"
        verdicts = {title: finding.verdict for title, finding in one.findings.items()}
        note = f" *{one.claim.caveat}*" if one.claim.caveat else ""
        rows[text] = verdicts | {"what we found, with the authors' draws": one.evidence + note}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("claim")


# ---------------------------------------------------------------------------- interpretations


def interpretations(*bases):
    """A method as published, as in its file, and in other interpretations: AUC-PR and mean |difference|.

    Over the data sets that the interpretations were run on.
    """
    tables = [comparison(REFERENCE, name) for name in ("seen", "ablation", "interpretations")]
    cells, rows = pd.concat(tables).drop_duplicates(["dataset", "method", "metric"]), {}
    cells = cells[cells["data_status"] == "exact"]
    for base in bases:
        chosen = [base, *(name for name, method in METHODS.items() if method.interpretation_of == base)]
        for name in chosen:
            part = cells[cells["method"] == name]
            if part.empty:
                continue
            if name == base:
                printed = part[part["metric"] == "auc_pr"].set_index("dataset")["published"]
                rows[f"{column(base)}, published"] = printed.map("{:.3f}".format).to_dict()
            rows[f"{column(base)}, default" if name == base else column(name)] = interpretation_row(part)
    order = [name for name in EXACT_SETS if any(name in row for row in rows.values())]
    table = pd.DataFrame.from_dict(rows, orient="index").loc[
        list(rows)
    ]  # which pandas does not keep in order
    return table[[*order, *(name for name in table if name not in order)]].rename_axis("AUC-PR")


def interpretation_row(cells):
    """One interpretation's AUC-PR per data set, and how far it is from the published values on average."""
    pr, roc = (cells[cells["metric"] == metric].set_index("dataset") for metric in ("auc_pr", "auc_roc"))
    distances = [part["difference"].abs().mean() for part in (roc, pr) if len(part)]  # Table 4 has no AUC-ROC
    row = {name: f"{cell['reproduced']:.3f} ± {cell['std']:.3f}" for name, cell in pr.iterrows()}
    return row | {
        "mean |difference| AUC-ROC / AUC-PR": " / ".join(f"{distance:.3f}" for distance in distances),
        "runs": str(int(pr["runs"].min())),
    }


# ---------------------------------------------------------------------------- time


def bench_table():
    """A summary of bench.csv."""
    table = read_frame(REFERENCE / "bench.csv", ["dataset"])
    shown = {
        "data": table["dataset"] + " " + table["method"].map(column),
        "fit, s": table["fit_seconds"].map("{:.2f}".format),
        "compilation, s": table["compile_seconds"].map("{:.2f}".format),
        "fit / floor": table["fit_over_floor"].map("{:.2f}".format),
        "`model.fit` / fit": table["plain_over_fit"].map("{:.1f}".format),
        "10 runs: `model.fit` / ours": table["ten_plain_over_ten"].map("{:.1f}".format),
        "scoring, ms": (1e3 * table["score_seconds"]).map("{:.1f}".format),
        "scoring / one product": table["score_over_product"].map("{:.1f}".format),
        "2E passes / scoring": table["pairs_over_score"].map(
            lambda value: "" if pd.isna(value) else f"{value:.0f}"
        ),
    }
    return pd.DataFrame(shown).set_index("data")


def times():
    """The time and memory of the reference runs, from their provenance."""
    rows = {}
    for path in sorted(REFERENCE.glob("*_provenance.json")):
        sessions = read_sessions(path)
        memory = [entry["peak_memory_mb"] for entry in sessions if "peak_memory_mb" in entry]
        rows[path.name.removesuffix("_provenance.json")] = {
            "runs made": f"{sum(entry['runs_made'] for entry in sessions):,}",
            "minutes": f"{sum(entry['seconds'] for entry in sessions) / 60:.1f}",
            "peak of the driver, MB": f"{max(entry['driver'] for entry in memory)}" if memory else "",
            "peak of a worker, MB": f"{max(entry['largest_worker'] for entry in memory)}" if memory else "",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("runs file")


def contamination_averages():
    """PReNet's average AUC-PR at every contamination rate, with the authors' draws and with new ones."""
    rows = {}
    for title, suffix in {"released": "", "independent": "_independent"}.items():
        table = read_table(REFERENCE / f"contamination{suffix}.csv", is_sweep=True)
        is_mean = (table["dataset"] == "Average") & (table["metric"] == "auc_pr")
        means = table[is_mean & (table["method"] == "prenet")].set_index("value")["mean"]
        rows[title] = {f"rate {rate:g}": mean for rate, mean in means.items() if rate <= 0.1}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("average AUC-PR of PReNet")


def theorem_by_share():
    """Predicted and measured mean scores at every share of anomalies in U, averaged over the data sets."""
    table = read_frame(REFERENCE / "theorem.csv", ["dataset", "status"])
    table = table[table["status"] == counted_status(table["status"])]
    rows = {}
    for share, part in table.groupby("share"):
        gap = part["mean_score_anomalies"] - part["mean_score_normals"]
        rows[f"{share:.3f}"] = {
            "data sets": len(part),
            "anomalies, predicted": part["predicted_anomalies"].mean(),
            "anomalies, measured": part["mean_score_anomalies"].mean(),
            "normals, predicted": part["predicted_normals"].mean(),
            "normals, measured": part["mean_score_normals"].mean(),
            "anomalies above normals on": f"{(gap > 0).sum()} of {len(part)}",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("share of anomalies in U")


TABLES = {
    "answer": lambda: sentence(found()),
    **{f"findings-{name}": functools.partial(findings, name) for name in CLAIMS_OF_FIGURES},
    "headline": lambda: headline("table"),
    "ranking": method_ranking,
    "appendix": lambda: headline("appendix"),
    "lambda": weights_of_unseen,
    "protocols": protocols,
    "bench": bench_table,
    "times": times,
    "claims": claims_table,
    "claims-counts": lambda: verdict_counts_of_claims(found().claims),
    "factors": lambda: found().spreads,
    "factor-shares": lambda: found().contributions,
    "printed-unseen": lambda: found().unseen_shares,
    "unseen-by-file": unseen_files,
    "theorem": theorem_by_share,
    "contamination-averages": contamination_averages,
    "interpretations-ablation": lambda: interpretations("a2h", "npr", "trm", "iprenet"),
    "interpretations-feawad": lambda: interpretations("feawad"),
    "interpretations-xgbod": lambda: interpretations("xgbod"),
    "campaign": campaign_draws,
    "table-2": lambda: in_full("seen", "auc_pr"),
    "table-2-auc-roc": lambda: in_full("seen", "auc_roc"),
    "table-2-counts": lambda: counts("seen"),
    "table-3": lambda: in_full("unseen", "auc_roc"),
    "table-3-averages": lambda: average_table("unseen"),
    "table-4": lambda: in_full("ablation", "auc_pr"),
    "table-4-averages": lambda: average_table("ablation"),
    "gaps-seen": lambda: gaps("seen"),
    "gaps-unseen": lambda: gaps("unseen"),
    "interpretations-prenet": lambda: interpretations("prenet", "devnet"),
    "interpretations-dsad": lambda: interpretations("dsad"),
    "interpretations-fsnet": lambda: interpretations("fsnet", "cfsnet"),
    "interpretations-repen": lambda: interpretations("repen"),
} | tables_beyond(REFERENCE)


def filled(text):
    """A page with its tables and findings regenerated."""

    def made(name):
        content = TABLES[name]()
        return content if isinstance(content, str) else as_markdown(content)

    return MARKED.sub(lambda match: f"{match[1]}{made(match[2])}\n{match[3]}", text)


def fill(path):
    """Regenerate the tables of a page; returns whether that changed it."""
    try:
        old = path.read_text()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    new = filled(old)
    if new != old:
        with written_whole(path) as file:
            file.write(new.encode())
    return new != old


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m weakly.reporting.write_up",
        description=f"Fill the tables of {', '.join(PAGES)} from results/reference/.",
    )
    parser.parse_args(argv)
    with user_errors_end(parser):
        for name in PAGES:
            print(f"{name}: {'written' if fill(ROOT / name) else 'nothing to change'}")
        print(*draw_front_picture(exact_auc_pr(), REFERENCE), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
