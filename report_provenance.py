"""The part of report.py that says when, how and from which data the results were made."""

from html import escape
from pathlib import Path

import pandas as pd

from provenance import read_sessions
from report_html import frame_table, missing, tag
from tables import RunsFile, in_paper_order

ENDINGS = ("_runs.csv", "_provenance.json")
NOTHING = "not recorded"


def provenance_section(results_dir):
    """Who made these numbers when, with what and from which data."""
    rows, environments = [], {}
    labels = {ending: sorted(path.name.removesuffix(ending) for path in Path(results_dir).glob(f"*{ending}")) for ending in ENDINGS}
    for label in sorted({*labels["_runs.csv"], *labels["_provenance.json"]}):
        for session in read_sessions(Path(results_dir) / f"{label}_provenance.json") or [{}]:
            machine, packages = (session.get(name) if isinstance(session.get(name), dict) else {} for name in ("machine", "packages"))
            texts = [f"Python {session['python']}"] if session.get("python") else []
            texts += [f"{name} {version}" for name, version in packages.items()] + [f"{name}: {value}" for name, value in machine.items()]
            number = environments.setdefault("; ".join(texts), len(environments) + 1) if texts else NOTHING
            minutes = f"{session['seconds'] / 60:.1f}" if isinstance(session.get("seconds"), (int, float)) else NOTHING
            started = str(session.get("started") or NOTHING).replace("T", " ").replace("+00:00", " UTC")
            commit = str(session.get("commit") or NOTHING)
            commit = commit if commit == NOTHING else commit[:10] + "+" * commit.endswith("+")  # +: scripts were changed since
            rows.append({
                "results": label, "started": started, "minutes": minutes, "runs made": str(session.get("runs_made", NOTHING)),
                "command": str(session.get("command") or NOTHING), "commit": commit, "environment": str(number),
            })  # fmt: skip
    if not rows:
        return missing("Results", "./run_all.sh")
    listed = "".join(tag("li", escape(text)) for text in environments) or tag("li", NOTHING)
    sessions = frame_table("When and how the results were made", pd.DataFrame(rows).set_index("results"), "Results", class_="scroll code")
    return sessions + tag("h3", "Environments") + tag("ol", listed, class_="environments") + data_table(results_dir, labels["_runs.csv"])


def data_table(results_dir, labels):
    """The data that the runs were made on, how far the order of its rows is known, and the hash of the prepared arrays."""
    orders = row_orders(results_dir, labels)
    runs = pd.concat([RunsFile(results_dir, label).read() for label in labels] or [pd.DataFrame(columns=["data_sha256"])])
    rows = []
    for sha, part in runs.groupby("data_sha256", sort=False):
        names = in_paper_order(part["dataset"])
        name = names[0] if len(names) == 1 else f"{len(names)} sets of Table 3" if all("->" in name for name in names) else ", ".join(names)
        rows.append({
            "data set": name, "status": part["data_status"].iloc[-1], "rows": part["rows"].max(), "features": part["features"].max(),
            "row order": orders.get(sha, NOTHING), "SHA-256 of the prepared arrays": sha,
        })  # fmt: skip
    order = {name: position for position, name in enumerate(in_paper_order(row["data set"] for row in rows))}
    rows.sort(key=lambda row: order[row["data set"]])
    return frame_table("Data", pd.DataFrame(rows).set_index("data set"), "Data set", class_="scroll code") if rows else ""


def row_orders(results_dir, labels):
    """{hash of the prepared arrays: how far the order of the rows is known to be the authors'}, from the provenance files."""
    orders = {}
    for label in labels:
        for session in read_sessions(Path(results_dir) / f"{label}_provenance.json"):
            data, known = (session.get(name) if isinstance(session.get(name), dict) else {} for name in ("data", "row_orders"))
            orders |= {sha: str(known[name]) for name, sha in data.items() if name in known}
    return orders
