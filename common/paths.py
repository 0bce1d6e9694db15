"""Where the parts of the project lie."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "published"  # what others published: the paper's tables, the list of the authors' files
