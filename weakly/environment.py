"""What runs, and where: the commit of this code, versions of libraries, the machine, the memory taken."""

import functools
import importlib.metadata
import os
import platform
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from weakly.paths import ROOT

PACKAGES = ("tensorflow", "keras", "numpy", "scipy", "pandas", "scikit-learn", "xgboost", "catboost")
IMPORTED_AS = {"sklearn": "scikit-learn"}  # the packages of libraries with another name
RUSAGE_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes


def package_versions():
    """{package: version} of the libraries that are installed."""
    versions = {package: version_of(package) for package in PACKAGES}
    return {package: version for package, version in versions.items() if version}


@functools.cache
def version_of(library):
    """The version of a library or of its build for CPUs when this process first asked; None without one."""
    package = IMPORTED_AS.get(library, library)
    for name in (package, f"{package}-cpu"):
        with suppress(importlib.metadata.PackageNotFoundError, TypeError, KeyError):  # or a broken one
            return importlib.metadata.version(name)
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
    git = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout


def machine():
    """The machine; its vector instructions decide the order of sums, and so the last bits of a result."""
    vector = set(_cpu_field("flags").split()) & {"avx", "avx2", "fma", "avx512f", "amx_tile"}
    names = {"cpu": _cpu_field("model name"), "vector_instructions": " ".join(sorted(vector))}
    return names | {"cores": os.cpu_count(), "platform": platform.platform(terse=True)}


def _cpu_field(name):
    """What Linux says about the processor; elsewhere Python's own name for it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith(name))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def peak_bytes():
    """The peak memory of this process since its start.

    On Linux getrusage would not do: a process inherits the peak of its parent.
    """
    with suppress(FileNotFoundError):
        return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RUSAGE_UNIT
