"""The sets of Table 3: which classes of a data set are seen, and which one is not."""

import csv
from dataclasses import dataclass

from weakly.paths import PUBLISHED

DEMO = "demo"  # synthetic, made by readers.make_demo
# Data with several anomaly classes: their names, in the order of the codes 1, 2, ... in y.
CLASSES = {"unsw": ("dos", "rec", "fuz", "bac"), DEMO: ("demo1", "demo2", "demo3", "demo4")}
# The rows of Table 3, `seen classes->unseen class`, in its order and spelling.
with open(PUBLISHED / "unseen.csv", newline="", encoding="utf-8") as file:
    UNSEEN_SETS = tuple(line["dataset"] for line in csv.DictReader(file) if "->" in line["dataset"])
UNSEEN_DEMO_SETS = ("demo1,demo2,demo3->demo4", "demo2,demo3,demo4->demo1")


@dataclass(frozen=True)
class UnseenSet:
    """What a name such as rec,fuz->dos means: the prepared data behind it, and its classes' codes there."""

    source: str
    seen: tuple
    unseen: int


def parse_unseen(name):
    """The UnseenSet of a name, seen classes in any order; None without an arrow; ValueError if unknown."""
    pool, arrow, unseen = name.partition("->")
    if not arrow:
        return None
    seen = pool.split(",")
    for source, classes in CLASSES.items():
        codes = {one: code for code, one in enumerate(classes, start=1)}
        if unseen in codes and len(set(seen)) == len(seen) and set(seen) <= set(codes) - {unseen}:
            return UnseenSet(source, tuple(sorted(codes[one] for one in seen)), codes[unseen])
    raise ValueError(f"{name!r} is not of the form `seen classes->unseen class`, such as 'rec,fuz->dos'")


def with_all_others_seen(name):
    """The set with the same unseen class in which all others are seen: rec,dos,fuz->bac for dos->bac."""
    largest = [other for other in (*UNSEEN_SETS, *UNSEEN_DEMO_SETS) if other.count(",") == 2]
    return next(other for other in largest if other.endswith(name[name.index("->") :]))


def source_of(name):
    """The prepared data behind a data set: `unsw` for rec,fuz->dos, otherwise the set itself."""
    view = parse_unseen(name)
    return view.source if view else name
