"""How results were made: results/<name>_provenance.json next to each results/<name>_runs.csv.

There is one entry per start of a driver that made runs: when, for how long, with which command, commit,
versions, machine and data. If the driver is killed, the entry may lack its last half minute, but the runs
file lacks no run.
"""

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

    def __init__(self, runs_file, cells):
        self._runs_file, self._n_earlier = runs_file, runs_file.count()
        self._path = runs_file.path.with_name(f"{runs_file.label}_provenance.json")
        self._earlier = read_sessions(self._path)
        self._started, self._saved = time.time(), 0.0
        self._entry = {
            "started": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(self._started)),
            "command": shlex.join(["python", Path(sys.argv[0]).name, *sys.argv[1:]]),
            "commit": commit(),
            "python": platform.python_version(),
            "packages": package_versions(),
            "machine": machine(),
            "data": {cell.dataset: cell.data_sha256 for cell in cells},
            "row_orders": {cell.dataset: cell.row_order for cell in cells},
        }

    def save(self, is_last=False):
        """Save the entry if runs were made, unless that was done a moment ago; at the end, print its sum."""
        now = time.time()
        if not is_last and now - self._saved < SECONDS_BETWEEN_SAVES:
            return
        if not (runs_made := self._runs_file.count() - self._n_earlier):
            return
        if not self._saved and not self._earlier and self._path.is_file():
            print(f"{self._path} is damaged: {copy_aside(self._path).name} keeps what it held.")
        self._saved, seconds = now, now - self._started
        largest_worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * RUSAGE_UNIT
        driver, worker = (round(n_bytes / 1e6) for n_bytes in (peak_bytes(), largest_worker))
        memory = {"driver": driver, "largest_worker": worker}  # shared files count in each
        self._entry |= {"runs_made": runs_made, "seconds": round(seconds, 1), "peak_memory_mb": memory}
        with written_whole(self._path) as file:
            file.write(json.dumps({"sessions": [*self._earlier, self._entry]}, indent=1).encode())
        if is_last:
            time_taken = f"{round(seconds) // 60}:{round(seconds) % 60:02d} min"
            peaks = f"peak memory {driver} MB in the driver, at most {worker} MB in a worker"
            print(f"{runs_made:,} run{'s' * (runs_made > 1)} in {time_taken}; {peaks}.")
