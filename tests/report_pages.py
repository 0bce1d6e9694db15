"""Made-up results for the tests of the report, and a parser of its page."""

from html.parser import HTMLParser

import pandas as pd

from weakly.judging.assessment import Assessment
from weakly.judging.tables import write_tables
from weakly.reporting.page import build_report
from weakly.running.runs_file import RUN_COLUMNS

# AUC-PR of two runs; published in Table 2: thyroid .298 and .280, bac .890 and .863, fraud .689 and .693
SCORES = {
    ("thyroid", "prenet"): (0.290, 0.310), ("thyroid", "devnet"): (0.399, 0.401),
    ("bac", "prenet"): (0.869, 0.871), ("bac", "devnet"): (0.860, 0.862),
    ("fraud", "prenet"): (0.100, 0.120), ("fraud", "devnet"): (0.200, 0.220),
}  # fmt: skip


def made_runs(scores, experiment="seen", protocol="released", status=None):
    """Rows as the runner writes them; fraud's data is partial, its AUC-PR weighted to 0.5 more."""
    rows = []
    for (dataset, method), values in scores.items():
        for run, value in enumerate(values):
            row = dict.fromkeys(RUN_COLUMNS, 0) | {"experiment": experiment, "method": method}
            row |= {"dataset": dataset, "protocol": protocol, "run": run, "seed": run, "n_labeled": 60}
            row |= {"contamination": 0.02, "auc_roc": min(value + 0.05, 1.0), "auc_pr": value}
            row |= {"data_status": status or ("partial" if dataset == "fraud" else "exact")}
            row |= {"rows": 7200, "features": 21}
            row |= {"auc_pr_weighted": value + 0.5 if dataset == "fraud" else float("nan")}
            rows.append(row | {"data_sha256": f"hash-of-{dataset}", "settings": "x=1", "scaling": "prepared"})
    return pd.DataFrame(rows)[RUN_COLUMNS]


def write_results(folder, runs, experiment="seen", suffix=""):
    folder.mkdir(exist_ok=True)
    write_tables(runs, folder, experiment, suffix)
    runs.to_csv(folder / f"{experiment}_runs.csv", index=False)


class Elements(HTMLParser):
    """All elements of a page as dicts of tag, attributes, text and the enclosing ones."""

    def __init__(self, page):
        super().__init__()
        self.all, self.open = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "within": list(self.open), "text": "", **dict(attributes)}
        self.all.append(element)
        if tag not in ("meta", "img", "input", "br"):
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def find(self, tag, within=None, **attributes):
        named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        found = [one for one in self.all if one["tag"] == tag and named.items() <= one.items()]
        return [one for one in found if within is None or any(outer is within for outer in one["within"])]


def parse(folder):
    return Elements(build_report(Assessment(folder)).read_text(encoding="utf-8"))
