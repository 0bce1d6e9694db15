"""Does the paper hold up? One HTML page with all results, to open from disk and to share.

    build_report(Assessment("results/reference"))      # what compare.py does; writes report.html

The page needs no network and no other file. page.html is its template, page.css its look, and its few lines
of script are the *.js here; answer.py, sections.py and tables.py say what it shows. The same results give
the same bytes.
"""

import os
from pathlib import Path

from markupsafe import Markup

from weakly import numbers
from weakly.beyond.beyond_section import figures_beyond
from weakly.judging import cells, claims, headline, leads, statistics, tables, verdicts
from weakly.judging.tables import by_method, read_table, with_averages
from weakly.methods import METHODS
from weakly.numbers import number
from weakly.paths import ROOT
from weakly.reporting import answer, figures, sections
from weakly.reporting.made_with import made_with
from weakly.reporting.pages import FILES, head_and_script, template
from weakly.reporting.pictures import Album
from weakly.reporting.tables import frame_table
from weakly.writing import written_whole

SYNTHETIC = "synthetic data: says nothing about the paper"
PAPER = "https://doi.org/10.1145/3580305.3599302"
AUTHORS_CODE = "https://github.com/mala-lab/PReNet"
MARKS = {  # every verdict has its own sign, so that none depends on colour alone
    "reproduced": "✓", "close": "≈", "differs": "✕",
    "supported": "✓", "weakened": "≈", "contradicted": "✕", "not testable here": "?",
    "not so on partial data": "✕", "not diagnostic": "○",
}  # fmt: skip
MODULES = (  # whose functions and constants the template uses
    cells, claims, headline, leads, numbers, statistics, tables, verdicts, answer, figures, sections
)  # fmt: skip


def links(folder):
    """{text: address} of the paper, the authors' code, and our own pages if this one is in the repository."""
    shown = {"Deep Weakly-supervised Anomaly Detection (KDD 2023)": PAPER, "the authors' code": AUTHORS_CODE}
    if folder.resolve().is_relative_to(ROOT):
        for name, words in {"README.md": "this repository", "REPRODUCTION.md": "the write-up"}.items():
            shown[words] = Path(os.path.relpath(ROOT / name, folder)).as_posix()
    return shown


def synthetic(folder):
    """Results on synthetic data, as tables of their own."""
    shown_tables = []
    for path in sorted(folder.glob("*_synthetic.csv")):
        table = with_averages(read_table(path))
        if "auc_pr" not in set(table["metric"]):
            continue
        label = table["dataset"]
        if "parameter" in table:
            label = label + ", " + table["parameter"] + " = " + table["value"].map("{:g}".format)
        spreads = (" ± " + table["std"].map(number)).where(table["std"].notna(), "")
        named = table.assign(label=label, cell=table["mean"].map(number) + spreads)
        shown = by_method(named, values="cell", rows="label")
        shown = shown.rename(columns={name: method.column for name, method in METHODS.items()})
        shown_tables.append(frame_table(f"{path.stem}: AUC-PR", shown, "Data set"))
    return shown_tables


def build_report(found):
    """Write report.html into the folder of an Assessment and return its path."""
    path = found.folder / "report.html"
    album = Album(path.read_text("utf-8", errors="replace") if path.is_file() else "")
    used = {method for table in found.tables.values() for method in table["method"]}
    known = {name: value for module in MODULES for name, value in vars(module).items()}
    known |= {"album": album, "made_with": made_with, "is_file": lambda name: (found.folder / name).is_file()}
    known |= {"MARKS": MARKS, "SYNTHETIC": SYNTHETIC, "figures_beyond": figures_beyond}
    page = template("page.html", **known).render(
        found=found,
        links=links(found.folder),
        methods=[name for name in METHODS if name in used],
        synthetic=synthetic(found.folder),
        architecture=Markup((FILES / "architecture.svg").read_text("utf-8")),  # noqa: S704 - our own file
        **head_and_script((FILES / "filters.js").read_text("utf-8"), (FILES / "start.js").read_text("utf-8")),
    )
    with written_whole(path) as file:
        file.write(page.encode())
    return path
