"""How results were made: results/<name>_provenance.json next to each results/<name>_runs.csv.

There is one entry per start of a driver that made runs: when, for how long, with which command, commit,
versions, machine and data. If the driver is killed, the entry may lack its last half minute, but the runs
file lacks no run.
"""

import datetime
import json
import platform
import resource
import shlex
import sys
import time
from pathlib import Path

from weakly.environment import RUSAGE_UNIT, commit, machine, package_versions, peak_bytes
from weakly.own_modules import module_name
from weakly.paths import ROOT
from weakly.writing import copy_aside, written_whole

SECONDS_BETWEEN_SAVES = 30


def read_sessions(path):
    """The entries of a provenance file; none if it is missing or damaged: results are valid without it."""
    try:
        return [dict(entry) for entry in json.loads(path.read_text())["sessions"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


class Session:
    """The entry of the current driver, added to the file with its first run and kept up to date."""

    def __init__(self, results_dir, label, cells):
        self._path = Path(results_dir) / f"{label}_provenance.json"
        self._started, self._saved = time.time(), 0.0
        self._earlier = read_sessions(self._path)
        self._is_damaged = self._path.is_file() and not self._earlier
        started = datetime.datetime.fromtimestamp(self._started, datetime.timezone.utc)
        self.entry = {
            "started": started.isoformat(timespec="seconds"),
            "seconds": 0.0,
            "command": command(),
            "runs_made": 0,
            "peak_memory_mb": peak_memory_mb(),
            "commit": commit(),
            "python": platform.python_version(),
            "packages": package_versions(),
            "machine": machine(),
            "data": {cell.dataset: cell.data_sha256 for cell in cells},
            "row_orders": {cell.dataset: cell.row_order for cell in cells},
        }

    def count_run(self):
        """Count a run; saves the entry if it was not saved for a while."""
        self.entry["runs_made"] += 1
        if time.time() - self._saved > SECONDS_BETWEEN_SAVES:
            self.save()

    def save(self):
        self._saved = time.time()
        self.entry["seconds"] = round(self._saved - self._started, 1)
        self.entry["peak_memory_mb"] = peak_memory_mb()
        if self._is_damaged:
            print(f"{self._path} is damaged: {copy_aside(self._path).name} keeps what it held.")
            self._is_damaged = False
        with written_whole(self._path) as file:
            file.write(json.dumps({"sessions": [*self._earlier, self.entry]}, indent=1).encode())

    def end(self, runs_made):
        """Save the entry, if runs were made, and print their time and memory."""
        if not runs_made:
            return
        self.entry["runs_made"] = runs_made
        self.save()
        minutes, seconds = divmod(round(self.entry["seconds"]), 60)
        driver, worker = self.entry["peak_memory_mb"].values()
        runs = "1 run" if runs_made == 1 else f"{runs_made:,} runs"
        memory = f"peak memory {driver} MB in the driver, at most {worker} MB in a worker"
        print(f"{runs} in {minutes}:{seconds:02d} min; {memory}.")


def command():
    """The command of this process, as a user would type it."""
    path = Path(sys.argv[0]).resolve()
    is_in_folder = path.is_relative_to(ROOT) and path.parent != ROOT  # such as tools/, started with -m
    started = ["-m", module_name(path)] if is_in_folder else [path.name]
    return shlex.join(["python", *started, *sys.argv[1:]])


def peak_memory_mb():
    """The peak memory of the driver and of its largest worker process; shared files count in each."""
    largest_worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * RUSAGE_UNIT
    return {"driver": round(peak_bytes() / 1e6), "largest_worker": round(largest_worker / 1e6)}
