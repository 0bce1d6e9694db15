"""Which code runs: its commit, and the versions of the libraries."""

import importlib.metadata
import subprocess
from pathlib import Path

from weakly.paths import ROOT

PACKAGES = ("tensorflow", "keras", "numpy", "scipy", "pandas", "scikit-learn", "xgboost", "catboost")


def package_versions():
    """{package: version} of the libraries that are installed."""
    versions = {name: version(name) for name in PACKAGES}
    return {name: found for name, found in versions.items() if found}


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
    git = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(git, capture_output=True, text=True, check=True).stdout
