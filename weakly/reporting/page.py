"""Does the paper hold up? One HTML page with all results, to open from disk and to share.

    python -m weakly.reporting.page                                      # results/ -> results/report.html
    python -m weakly.reporting.page --results-dir results/reference      # what we obtained

The page needs no network and no other file. page.html is its skeleton, page.css its look, and its
few lines of script are the *.js here; answer.py and the *_section.py fill it. The same
results give the same bytes.
"""

import argparse
import os
import sys
from html import escape
from pathlib import Path

from weakly.beyond.beyond_section import beyond_section
from weakly.command_line import user_errors_end
from weakly.errors import UserError
from weakly.judging.assessment import Assessment
from weakly.judging.cells import VERDICTS
from weakly.judging.tables import by_method, read_table
from weakly.methods import METHODS
from weakly.paths import ROOT
from weakly.reporting.answer import answer
from weakly.reporting.claims_section import claims_section
from weakly.reporting.elements import filled_page, page_script, tag
from weakly.reporting.figures_section import figures_section
from weakly.reporting.made_with import provenance_section
from weakly.reporting.markup import frame_table, with_spread
from weakly.reporting.svg import swatch
from weakly.reporting.tables_section import (
    leads_section,
    ranks_section,
    runs_section,
    statistics_section,
    tables_section,
)
from weakly.writing import written_whole

FILES = Path(__file__).parent
SYNTHETIC = "synthetic data: says nothing about the paper"
PAPER = "https://doi.org/10.1145/3580305.3599302"
AUTHORS_CODE = "https://github.com/mala-lab/PReNet"


def links(folder):
    """The paper, the authors' code, and our own pages if this page is in the repository."""
    title = "Deep Weakly-supervised Anomaly Detection (KDD 2023)"
    shown = [tag("a", title, href=PAPER), tag("a", "the authors' code", href=AUTHORS_CODE)]
    if folder.resolve().is_relative_to(ROOT):
        for name, words in {"README.md": "this repository", "REPRODUCTION.md": "the write-up"}.items():
            shown.append(tag("a", words, href=Path(os.path.relpath(ROOT / name, folder)).as_posix()))
    return " · ".join(shown)


def method_filter(tables):
    """A check box for every method shown, with its colour and marker: the legend of all plots."""
    used = {method for table in tables.values() for method in table["method"]}
    boxes = ""
    for name in [name for name in METHODS if name in used]:
        box = tag("input", type="checkbox", name="method", value=name, checked="")
        boxes += tag("label", box + swatch(name) + escape(METHODS[name].column))
    return boxes


def synthetic(folder):
    """Results on synthetic data, in a separate section; empty if there are none."""
    parts = []
    for path in sorted(folder.glob("*_synthetic.csv")):
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
    if not parts:
        return ""
    heading = tag("h2", "Synthetic data", id="synthetic") + tag("p", SYNTHETIC, class_="banner")
    return tag("section", heading + "".join(parts), aria_labelledby="synthetic")


def build_report(found):
    """Write report.html into the folder of an Assessment and return its path."""
    folder = found.folder
    made_up = synthetic(folder)
    slots = {
        "links": links(folder),
        "banner": tag("p", SYNTHETIC, class_="banner") if made_up and not found.tables else "",
        "answer": answer(found),
        "claims": claims_section(found),
        "methods": method_filter(found.tables),
        "verdict-options": "".join(tag("option", name, value=name) for name in VERDICTS),
        "tables": tables_section(found),
        "ranks": ranks_section(found),
        "leads": leads_section(found),
        "statistics": statistics_section(found),
        "figures": figures_section(found) + beyond_section(found),
        "runs": runs_section(found),
        "provenance": provenance_section(folder),
        "synthetic": made_up,
    }
    script = page_script((FILES / "filters.js").read_text("utf-8"), (FILES / "start.js").read_text("utf-8"))
    page = filled_page((FILES / "page.html").read_text("utf-8"), script, slots)
    path = folder / "report.html"
    with written_whole(path) as file:
        file.write(page.encode())
    return path


def assessment_of(results_dir):
    """The Assessment of a folder; UserError if it does not exist."""
    if not Path(results_dir).is_dir():
        none = f"the folder {results_dir} does not exist"
        raise UserError(f"{none}: run ./run_seen.sh first, or name another --results-dir")
    return Assessment(results_dir)


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m weakly.reporting.page",
        description="Write an HTML page that shows how well the paper was reproduced.",
    )
    where = "where the results are (default: %(default)s)"
    parser.add_argument("--results-dir", default="results", help=where)
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        print(f"Wrote {build_report(assessment_of(args.results_dir))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
