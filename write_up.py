"""Fill the tables of README.md and REPRODUCTION.md from results/reference/, and draw the README's picture.

    python write_up.py            # after new results; a test checks that it would change nothing

A table stands between the lines `<!-- NAME -->` and `<!-- end -->`, and TABLES says what it is made of. The text around it is written by
hand.
"""

import argparse
import re
import sys
from pathlib import Path

import matplotlib.style
import pandas as pd
from matplotlib.figure import Figure

import figures
import significance
from compare import as_markdown, counts_table, side_by_side
from data_files import DataError
from data_sources import written_whole
from methods import METHODS, method_group
from paper_experiments import EXACT_SETS
from provenance import read_sessions
from tables import METRICS, ResultsError, RunsFile, latest_runs, with_comparable_auc
from verdicts import comparison, difference_table, gap_table, published_table, read_table

ROOT = Path(__file__).resolve().parent
REFERENCE = ROOT / "results" / "reference"
PAGES = ("README.md", "REPRODUCTION.md")
MARKED = re.compile(r"(<!-- (?!end)(\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def column(name):
    return METHODS[name].column


def with_spread(row, name):
    """`mean ± standard deviation` of one cell of a table of results."""
    mean, spread = row[name], row.get(f"{name}_std")
    return "" if pd.isna(mean) else f"{mean:.3f}" + (f" ± {spread:.3f}" if pd.notna(spread) else "")


# ---------------------------------------------------------------------------- Tables 2 to 4


def on_exact_data(metric, *groups):
    """The comparison of Table 2 on the exact data sets, and their average, for some groups of methods."""
    table = comparison(REFERENCE, "seen")
    return table[(table["metric"] == metric) & table["method"].isin(method_group(*groups)) & table["data_status"].str.startswith("exact")]


def headline(group, metric="auc_pr"):
    """Ours against published on the exact data sets, with the mean |difference| of each method."""
    table = on_exact_data(metric, group)
    cells = [f"{ours:.3f} / {paper:.3f}" for ours, paper in zip(table["reproduced"], table["published"])]
    shown = table.assign(cell=cells).pivot(index="dataset", columns="method", values="cell")
    shown = shown.reindex(index=dict.fromkeys(table["dataset"]), columns=method_group(group))
    exact = table[table["data_status"] == "exact"]
    shown.loc["mean |difference|"] = exact.groupby("method")["difference"].agg(lambda values: f"{values.abs().mean():.4f}")
    return shown.rename_axis(f"{METRICS[metric]}, ours / published").rename(columns=column)


def protocols(methods=("prenet", "devnet")):
    """AUC-PR on the exact data sets with the authors' draws, with their procedure and new draws, and as the text reads."""
    files = {"released": "seen", "redrawn": "seen_redrawn", "independent": "seen_independent"}
    tables = {name: read_table(REFERENCE / f"{path}.csv").set_index("dataset") for name, path in files.items()}
    rows = {
        dataset: {
            f"{column(method)}, {name}": with_spread(table.loc[dataset], f"auc_pr_{method}")
            for method in methods
            for name, table in tables.items()
        }
        for dataset in (*EXACT_SETS, "Average")
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("AUC-PR")


def campaign_draws():
    """PReNet and DevNet on campaign: published, with rows in UCI's and in the authors' order, and with ten other seeds."""
    published = published_table("seen").loc["campaign"]
    runs = latest_runs(RunsFile(REFERENCE, "seen").read()).query("dataset == 'campaign' and method in ['prenet', 'devnet']")
    scores = {name: part.pivot(index="run", columns="method", values="auc_pr") for name, part in runs.groupby("protocol")}
    earlier = RunsFile(REFERENCE / "campaign_in_ucis_order", "seen").read()  # of commit b369700, which did not shuffle them
    rows = {"published": {"prenet": published["auc_pr_prenet"], "devnet": published["auc_pr_devnet"]}}
    rows |= {"ours, rows in UCI's order": earlier.groupby("method")["auc_pr"].mean()}
    rows |= {"ours, rows in the authors' order": scores["released"].mean(), "ours, other seeds: mean": scores["redrawn"].mean()}
    table = pd.DataFrame(rows).T
    table["gap"] = table["prenet"] - table["devnet"]
    other = scores["redrawn"].assign(gap=scores["redrawn"]["prenet"] - scores["redrawn"]["devnet"])
    table.loc["ours, other seeds: lowest"], table.loc["ours, other seeds: highest"] = other.min(), other.max()
    return table[["prenet", "devnet", "gap"]].rename(columns={"prenet": "PReNet", "devnet": "DevNet"}).rename_axis("campaign, AUC-PR")


def averages(experiment):
    """Published and reproduced averages of an experiment, mean |difference| and, over many sets, the correlation."""
    table, rows = comparison(REFERENCE, experiment), {}
    status = "exact" if (table["data_status"] == "exact").any() else "partial"
    of_other_data = "auc_pr_weighted" if status == "exact" else "auc_pr"  # AUC-PR is weighted where data is partial
    for metric in [name for name in dict.fromkeys(table["metric"]) if name != of_other_data]:
        part = table[table["metric"] == metric]
        sets, means = part[part["dataset"] != "Average"], part[part["dataset"] == "Average"].set_index("method")
        rows[f"{METRICS[metric]}, published"] = {name: f"{value:.3f}" for name, value in means["published"].items()}
        rows[f"{METRICS[metric]}, ours"] = {name: f"{value:.3f}" for name, value in means["reproduced"].items()}
        sets = sets[sets["data_status"] == status]
        rows[f"{METRICS[metric]}, mean |difference|"] = {
            name: f"{cells['difference'].abs().mean():.3f}" for name, cells in sets.groupby("method")
        }
        if sets["dataset"].nunique() > 12:
            rows[f"{METRICS[metric]}, correlation over the sets"] = {
                name: f"{cells['published'].corr(cells['reproduced']):.2f}" for name, cells in sets.groupby("method")
            }
    shown = pd.DataFrame.from_dict(rows, orient="index")
    return shown[[name for name in METHODS if name in shown]].rename(columns=column).rename_axis("average")


def weights_of_unseen():
    """PReNet on the unseen sets with the paper's lambda and with that of the authors' script: averages over the sets."""
    paper, rows = comparison(REFERENCE, "unseen"), {}
    other = difference_table(read_table(REFERENCE / "unseen_l2=0.1.csv"), published_table("unseen"))
    for title, table in {"λ = 0.01": paper, "λ = 0.1": other}.items():
        cells = table[table["method"] == "prenet"]
        for metric in ("auc_roc", "auc_pr_weighted"):
            part = cells[cells["metric"] == metric]
            sets, mean = part[part["dataset"] != "Average"], part[part["dataset"] == "Average"].iloc[0]
            row = rows.setdefault(METRICS[metric], {"published": f"{mean['published']:.3f}"})
            row[f"ours, {title}"] = f"{mean['reproduced']:.3f}"
            row[f"mean |difference|, {title}"] = f"{sets['difference'].abs().mean():.3f}"
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("PReNet")


def ranking():
    """The seven methods on the exact data sets, best first: average AUC-PR and average rank, published and ours under both protocols."""
    methods, rows = method_group("table"), {}
    scores = {
        "published": significance.published_scores("seen", datasets=list(EXACT_SETS)),
        "released": significance.scores(significance.read_table(REFERENCE, "seen")),
        "independent": significance.scores(significance.read_table(REFERENCE, "seen", "_independent")),
    }
    for title, table in scores.items():
        table = table[methods]
        rows[f"{title}, AUC-PR"], rows[f"{title}, rank"] = table.mean(), significance.average_ranks(table)["ordinal"]
    shown = pd.DataFrame(rows).sort_values("released, AUC-PR", ascending=False)
    return shown.rename(index=column).rename_axis("method")


def counts(experiment):
    """Cells by verdict, of one experiment."""
    table = counts_table({experiment: comparison(REFERENCE, experiment)})
    return table.droplevel("table")


def in_full(experiment, metric):
    table = comparison(REFERENCE, experiment)
    return side_by_side(table, metric)


def gaps(experiment):
    """What survives of PReNet's lead under `independent`."""
    return gap_table(REFERENCE, experiment)


def claims():
    """The paper's claims, each with our verdict and what it rests on."""
    from claims import check_claims  # takes a moment to import

    rows = [(claim.verdict, f"{claim.text} ({claim.section})", claim.evidence) for claim in check_claims(REFERENCE)]
    return pd.DataFrame(rows, columns=["verdict", "claim", "what we found"]).set_index("verdict")


# ---------------------------------------------------------------------------- readings


def readings(*bases):
    """A method as published, as in its file, and in its other readings: AUC-PR per data set, mean |difference| of both metrics.

    Over the data sets that the readings were run on.
    """
    seen, others, rows = comparison(REFERENCE, "seen"), comparison(REFERENCE, "readings"), {}
    sets = [name for name in EXACT_SETS if name in set(others["dataset"])]
    for base in bases:
        chosen = [base, *(name for name, method in METHODS.items() if method.reading_of == base)]
        for name in chosen:
            table = seen if name == base else others
            cells = table[(table["method"] == name) & table["dataset"].isin(sets)]
            if cells.empty:
                continue
            pr, roc = (cells[cells["metric"] == metric].set_index("dataset") for metric in ("auc_pr", "auc_roc"))
            if name == base:
                rows[f"{column(base)}, published"] = {dataset: f"{pr['published'][dataset]:.3f}" for dataset in sets}
            title = f"{column(base)}, as in its file" if name == base else column(name)
            rows[title] = {dataset: f"{row['reproduced']:.3f} ± {row['std']:.3f}" for dataset, row in pr.loc[sets].iterrows()}
            rows[title]["mean |difference| AUC-ROC / AUC-PR"] = " / ".join(f"{part['difference'].abs().mean():.3f}" for part in (roc, pr))
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("AUC-PR")


def xgbod_on_unsw():
    """XGBOD on the sets whose anomalies come from files of their own; AUC-PR weighted to the paper's share of anomalies."""
    table = with_comparable_auc(read_table(REFERENCE / "xgbod_on_unsw" / "seen.csv")).set_index("dataset")
    sets = ("dos", "rec", "fuz")
    rows = {"published": published_table("seen").loc[list(sets), "auc_pr_xgbod"], "ours": table.loc[list(sets), "auc_pr_xgbod"]}
    return pd.DataFrame(rows).T.rename_axis("AUC-PR, weighted")


# ---------------------------------------------------------------------------- time


def bench():
    """bench.csv in short."""
    table = pd.read_csv(REFERENCE / "bench.csv")
    shown = {
        "data": table["dataset"] + " " + table["method"].map(column),
        "fit, s": table["fit_seconds"].map("{:.2f}".format),
        "compilation, s": table["compile_seconds"].map("{:.2f}".format),
        "fit / floor": table["fit_over_floor"].map("{:.2f}".format),
        "`model.fit` / fit": table["plain_over_fit"].map("{:.1f}".format),
        "10 runs: `model.fit` / ours": table["ten_plain_over_ten"].map("{:.1f}".format),
        "scoring, ms": (1e3 * table["score_seconds"]).map("{:.1f}".format),
        "scoring / one product": table["score_over_product"].map("{:.1f}".format),
        "2E passes / scoring": table["pairs_over_score"].map(lambda value: "" if pd.isna(value) else f"{value:.0f}"),
    }
    return pd.DataFrame(shown).set_index("data")


def times():
    """What the reference runs took, from their provenance."""
    rows = {}
    for path in sorted(REFERENCE.glob("*_provenance.json")):
        sessions = read_sessions(path)
        memory = [entry["peak_memory_mb"] for entry in sessions if "peak_memory_mb" in entry]
        rows[path.name.removesuffix("_provenance.json")] = {
            "runs": f"{sum(entry['runs_made'] for entry in sessions):,}",
            "minutes": f"{sum(entry['seconds'] for entry in sessions) / 60:.1f}",
            "peak of the driver, MB": f"{max(entry['driver'] for entry in memory)}" if memory else "",
            "peak of a worker, MB": f"{max(entry['largest_worker'] for entry in memory)}" if memory else "",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("runs file")


TABLES = {
    "headline": lambda: headline("table"),
    "ranking": ranking,
    "xgbod": xgbod_on_unsw,
    "lambda": weights_of_unseen,
    "protocols": protocols,
    "bench": bench,
    "times": times,
    "claims": claims,
    "campaign": campaign_draws,
    "table-2": lambda: in_full("seen", "auc_pr"),
    "table-2-auc-roc": lambda: in_full("seen", "auc_roc"),
    "table-2-counts": lambda: counts("seen"),
    "table-3": lambda: in_full("unseen", "auc_roc"),
    "table-3-averages": lambda: averages("unseen"),
    "table-4": lambda: in_full("ablation", "auc_pr"),
    "table-4-averages": lambda: averages("ablation"),
    "gaps-seen": lambda: gaps("seen"),
    "gaps-unseen": lambda: gaps("unseen"),
    "readings-prenet": lambda: readings("prenet", "devnet"),
    "readings-dsad": lambda: readings("dsad"),
    "readings-fsnet": lambda: readings("fsnet", "cfsnet"),
    "readings-repen": lambda: readings("repen"),
}


def front_picture():
    """Published against reproduced AUC-PR on the exact data sets: every cell, and the averages."""
    table = on_exact_data("auc_pr", "table")
    figure = Figure(figsize=(figures.PAGE_WIDTH, 3.1), layout="constrained")
    cells, means = figure.subplots(1, 2, width_ratios=[1, 1.05])
    cells.axline((0, 0), slope=1, color="#999999", linewidth=0.8, zorder=1)
    methods = method_group("table")
    for place, method in enumerate(methods):
        (color, marker), part = figures.method_style(method), table[table["method"] == method]
        sets, average = part[part["dataset"] != "Average"], part[part["dataset"] == "Average"].iloc[0]
        cells.plot(sets["published"], sets["reproduced"], marker, color=color, markersize=5, markeredgewidth=0.3, zorder=3 - place / 10)
        means.plot([average["published"], average["reproduced"]], [place] * 2, color=color, linewidth=1.2, zorder=2)
        means.plot(average["published"], place, marker, color=color, **{**figures.HOLLOW, "markersize": 7})
        means.plot(average["reproduced"], place, marker, color=color, markersize=7)
    n_sets = table.loc[table["dataset"] != "Average", "dataset"].nunique()
    cells.set(title=f"{n_sets} data sets, AUC-PR", xlabel="published", ylabel="reproduced", xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
    means.set(title="Average (hollow: published)", xlabel="AUC-PR", yticks=range(len(methods)), yticklabels=map(column, methods))
    means.invert_yaxis()
    return figure


def draw_front_picture():
    with matplotlib.style.context(["default", figures.RC]):
        return figures.save(front_picture(), REFERENCE / "figures" / "published")


def filled(text):
    """A page with its tables made anew."""
    return MARKED.sub(lambda match: f"{match[1]}{as_markdown(TABLES[match[2]]())}\n{match[3]}", text)


def main(argv=None):
    argparse.ArgumentParser(description="Fill the tables of README.md and REPRODUCTION.md from results/reference/.").parse_args(argv)
    try:
        for name in PAGES:
            old = (ROOT / name).read_text()
            new = filled(old)
            if new != old:
                with written_whole(ROOT / name) as file:
                    file.write(new.encode())
            print(f"{name}: {'written' if new != old else 'nothing to change'}")
        print(*draw_front_picture(), sep="\n")
    except (ResultsError, DataError, OSError) as error:
        sys.exit(f"write_up.py: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
