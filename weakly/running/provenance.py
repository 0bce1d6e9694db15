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
        started = datetime.datetime.fromtimestamp(self._started, datetime.timezone.utc)
        self.entry = {
            "started": started.isoformat(timespec="seconds"),
            "seconds": 0.0,
            "command": shlex.join(["python", Path(sys.argv[0]).name, *sys.argv[1:]]),
            "runs_made": 0,
            "peak_memory_mb": {},
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
        if not self._saved and not self._earlier and self._path.is_file():
            print(f"{self._path} is damaged: {copy_aside(self._path).name} keeps what it held.")
        self._saved = time.time()
        largest_worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * RUSAGE_UNIT
        memory = {"driver": peak_bytes(), "largest_worker": largest_worker}  # shared files count in each
        self.entry["seconds"] = round(self._saved - self._started, 1)
        self.entry["peak_memory_mb"] = {name: round(n_bytes / 1e6) for name, n_bytes in memory.items()}
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
