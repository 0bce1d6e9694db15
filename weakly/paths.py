"""Paths of the project's parts."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "published"  # published by others: the paper's tables, the list of the authors' files
