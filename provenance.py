"""What results were made with: results/<name>_provenance.json beside each results/<name>_runs.csv.

One entry per start of a driver that made runs: when, for how long, with which command, commit, versions, machine and data.
"""

import datetime
import importlib.metadata
import json
import os
import platform
import resource
import shlex
import subprocess
import sys
from pathlib import Path

from data_sources import written_whole

PACKAGES = ("tensorflow", "keras", "numpy", "scipy", "pandas", "scikit-learn", "xgboost")
ROOT = Path(__file__).resolve().parent


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def provenance_path(results_dir, label):
    return Path(results_dir) / f"{label}_provenance.json"


def read_sessions(path):
    """The entries of a provenance file; none if it is not there or damaged, because results count without it."""
    try:
        sessions = json.loads(path.read_text())["sessions"]
        return [entry for entry in sessions if isinstance(entry, dict)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def record_session(results_dir, label, started, runs_made, data):
    """Add an entry about the runs that were made since `started`, and return it; data is {data set: hash of its arrays}."""
    path = provenance_path(results_dir, label)
    entry = {
        "started": started.isoformat(timespec="seconds"),
        "seconds": round((now() - started).total_seconds(), 1),
        "command": shlex.join(["python", Path(sys.argv[0]).name, *sys.argv[1:]]),
        "runs_made": runs_made,
        "peak_memory_mb": peak_memory_mb(),
        "commit": commit(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES if version(name)},
        "machine": {"cpu": cpu_model(), "cores": os.cpu_count(), "platform": platform.platform(terse=True)},
        "data": data,
    }
    with written_whole(path) as file:
        file.write(json.dumps({"sessions": [*read_sessions(path), entry]}, indent=1).encode())
    return entry


def describe(entry):
    """A sentence on what the runs of an entry took."""
    minutes, seconds = divmod(round(entry["seconds"]), 60)
    driver, worker = entry["peak_memory_mb"].values()
    runs = "1 run" if entry["runs_made"] == 1 else f"{entry['runs_made']:,} runs"
    return f"{runs} in {minutes}:{seconds:02d} min; peak memory {driver} MB in the driver, at most {worker} MB in a worker."


def peak_memory_mb():
    """The most memory that the driver had at once, and the most that any of its worker processes had; shared files count in each."""
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
    usages = {"driver": resource.RUSAGE_SELF, "largest_worker": resource.RUSAGE_CHILDREN}
    return {name: round(resource.getrusage(who).ru_maxrss * unit / 1e6) for name, who in usages.items()}


def version(package):
    for name in (package, f"{package}-cpu"):
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def commit():
    """The commit of this code, with + if a script was changed since; None outside a clone."""
    try:
        top, head = _git("rev-parse", "--show-toplevel", "HEAD").splitlines()
        changed = _git("status", "--porcelain", "--", "*.py")
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None
    return head + ("+" if changed else "") if Path(top).resolve() == ROOT else None


def _git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True).stdout


def cpu_model():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
