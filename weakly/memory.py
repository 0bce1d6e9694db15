"""How much memory this process has taken."""

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_bytes():
    """The peak memory of this process since its start.

    getrusage does not work here: on Linux a process inherits the peak of its parent.
    """
    if STATUS.exists():
        return 1024 * int(STATUS.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
