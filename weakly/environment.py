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
RUSAGE_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes


def package_versions():
    """{package: version} of the libraries that are installed."""
    versions = {}
    for package in PACKAGES:
        for name in (f"{package}-cpu", package):
            with suppress(importlib.metadata.PackageNotFoundError):
                versions[package] = importlib.metadata.version(name)
    return versions


@functools.cache
def versions_of_imports():
    """{import name: version} of everything that installed packages provide."""
    providers = importlib.metadata.packages_distributions()
    return {name: importlib.metadata.version(packages[0]) for name, packages in providers.items()}


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
