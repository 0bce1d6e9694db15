"""How much memory this process has taken."""

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_bytes():
    """The most memory that this process has had since its start.

    getrusage would do, but on Linux it hands the peak of the process that started this one down to it.
    """
    if STATUS.exists():
        return 1024 * int(STATUS.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
