"""The part of the page about when, how and from which data the results were produced."""

from pathlib import Path

import pandas as pd

from weakly.judging.tables import in_paper_order
from weakly.reporting.tables import frame_table
from weakly.running.provenance import read_sessions
from weakly.running.runs_file import RunsFile

ENDINGS = ("_runs.csv", "_provenance.json")
NOTHING = "not recorded"


def made_with(results_dir):
    """Tables of sessions and data, and a list of environments; None without any results."""
    paths = [path.name for ending in ENDINGS for path in Path(results_dir).glob(f"*{ending}")]
    labels = sorted({name.rpartition("_")[0] for name in paths})
    sessions = {label: read_sessions(Path(results_dir) / f"{label}_provenance.json") for label in labels}
    rows, environments = [], {}
    for label in labels:
        for session in sessions[label] or [{}]:
            text = environment(session)
            number = environments.setdefault(text, len(environments) + 1) if text else NOTHING
            rows.append({"results": label, **session_row(session), "environment": str(number)})
    if not rows:
        return None
    table = pd.DataFrame(rows).set_index("results")
    shown = frame_table("When and how the results were produced", table, "Results", "scroll code")
    return {"sessions": shown, "environments": list(environments), "data": data_table(results_dir, sessions)}


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


def data_table(results_dir, sessions):
    """The data of the runs, how well its row order is known, and the hash of the prepared arrays."""
    runs = pd.concat([RunsFile(results_dir, label).read() for label in sessions])
    orders, rows = row_orders(sessions), {}
    for sha, part in runs.groupby("data_sha256", sort=False):
        names = in_paper_order(part["dataset"])
        are_of_table_3 = len(names) > 1 and all("->" in name for name in names)
        rows[f"{len(names)} sets of Table 3" if are_of_table_3 else ", ".join(names), sha] = {
            "status": part["data_status"].iloc[-1],
            "rows": part["rows"].max(),
            "features": part["features"].max(),
            "row order": orders.get(sha, NOTHING),
            "SHA-256 of the prepared arrays": sha,
        }
    if not rows:
        return None
    order = in_paper_order(name for name, _ in rows)
    shown = sorted(rows, key=lambda row: order.index(row[0]))
    frame = pd.DataFrame([rows[row] for row in shown], pd.Index([name for name, _ in shown], name="data set"))
    return frame_table("Data", frame, "Data set", "scroll code")


def row_orders(sessions):
    """{hash of the prepared arrays: how well the row order is known to be the authors'}."""
    orders = {}
    for session in (one for of_label in sessions.values() for one in of_label):
        data, known = parts_of(session, "data", "row_orders")
        orders |= {sha: str(known[name]) for name, sha in data.items() if name in known}
    return orders
