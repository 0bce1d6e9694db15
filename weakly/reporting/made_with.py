"""The part of the page about when, how and from which data the results were produced."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from weakly.judging.tables import in_paper_order
from weakly.reporting.tables import Table, frame_table
from weakly.running.provenance import read_sessions
from weakly.running.runs_file import RunsFile

ENDINGS = ("_runs.csv", "_provenance.json")
NOTHING = "not recorded"


class MadeWith(NamedTuple):
    sessions: Table
    environments: list
    data: Table | None


def made_with(results_dir):
    """When these numbers were produced, with what and from which data; None without any results."""
    rows, environments = [], {}
    labels = {
        ending: sorted(path.name.removesuffix(ending) for path in Path(results_dir).glob(f"*{ending}"))
        for ending in ENDINGS
    }
    for label in sorted({*labels["_runs.csv"], *labels["_provenance.json"]}):
        for session in read_sessions(Path(results_dir) / f"{label}_provenance.json") or [{}]:
            text = environment(session)
            number = environments.setdefault(text, len(environments) + 1) if text else NOTHING
            rows.append({"results": label, **session_row(session), "environment": str(number)})
    if not rows:
        return None
    sessions = pd.DataFrame(rows).set_index("results")
    shown = frame_table("When and how the results were produced", sessions, "Results", "scroll code")
    return MadeWith(shown, list(environments), data_table(results_dir, labels["_runs.csv"]))


def parts_of(session, *names):
    """Parts of an entry of a provenance file, each as a dict, whatever the file contains."""
    return (session.get(name) if isinstance(session.get(name), dict) else {} for name in names)


def environment(session):
    """The versions and the machine of an entry as text."""
    machine, packages = parts_of(session, "machine", "packages")
    texts = [f"Python {session['python']}"] if session.get("python") else []
    texts += [f"{name} {version}" for name, version in packages.items()]
    return "; ".join(texts + [f"{name}: {value}" for name, value in machine.items()])


def session_row(session):
    """What an entry says about its runs, `not recorded` where it says nothing."""
    seconds = session.get("seconds")
    commit = str(session.get("commit") or NOTHING)
    if commit != NOTHING:
        commit = commit[:10] + "+" * commit.endswith("+")  # +: scripts had uncommitted changes
    return {
        "started": str(session.get("started") or NOTHING).replace("T", " ").replace("+00:00", " UTC"),
        "minutes": f"{seconds / 60:.1f}" if isinstance(seconds, (int, float)) else NOTHING,
        "runs made": str(session.get("runs_made", NOTHING)),
        "command": str(session.get("command") or NOTHING),
        "commit": commit,
    }


def data_table(results_dir, labels):
    """The data of the runs, how well its row order is known, and the hash of the prepared arrays."""
    orders = row_orders(results_dir, labels)
    runs = pd.concat(
        [RunsFile(results_dir, label).read() for label in labels] or [pd.DataFrame(columns=["data_sha256"])]
    )
    rows = []
    for sha, part in runs.groupby("data_sha256", sort=False):
        names = in_paper_order(part["dataset"])
        are_of_table_3 = len(names) > 1 and all("->" in name for name in names)
        rows.append(
            {
                "data set": f"{len(names)} sets of Table 3" if are_of_table_3 else ", ".join(names),
                "status": part["data_status"].iloc[-1],
                "rows": part["rows"].max(),
                "features": part["features"].max(),
                "row order": orders.get(sha, NOTHING),
                "SHA-256 of the prepared arrays": sha,
            }
        )
    order = {name: position for position, name in enumerate(in_paper_order(row["data set"] for row in rows))}
    rows.sort(key=lambda row: order[row["data set"]])
    if not rows:
        return None
    return frame_table("Data", pd.DataFrame(rows).set_index("data set"), "Data set", "scroll code")


def row_orders(results_dir, labels):
    """{hash of the prepared arrays: how well the row order is known to be the authors'}."""
    orders = {}
    for label in labels:
        for session in read_sessions(Path(results_dir) / f"{label}_provenance.json"):
            data, known = parts_of(session, "data", "row_orders")
            orders |= {sha: str(known[name]) for name, sha in data.items() if name in known}
    return orders
