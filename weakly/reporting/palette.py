"""How the methods look: a colour for light pages and print, one for dark pages, and a marker.

The same method looks the same on the report page and in all figures. Colours have a contrast of at least 3:1
with the page of their theme; markers help colour-blind readers.
"""

import itertools
from typing import NamedTuple

from weakly.methods import METHODS


class Look(NamedTuple):
    light: str
    dark: str
    marker: str  # matplotlib's name for it


LOOKS = {
    "prenet": Look("#c94f00", "#ff8a3d", "o"),
    "devnet": Look("#0072b2", "#5ab4f0", "s"),
    "dsad": Look("#00805d", "#35c79a", "^"),
    "fsnet": Look("#a06a00", "#f0b840", "D"),
    "cfsnet": Look("#b4508a", "#e79fc9", "v"),
    "repen": Look("#2b85b3", "#8fdcff", "P"),
    "iforest": Look("#5c5c5c", "#bdbdbd", "X"),
    "xgbod": Look("#111111", "#ffffff", "<"),
    "pumad": Look("#661100", "#d98c7a", ">"),
    "feawad": Look("#332288", "#a99cf5", "p"),
    "logistic": Look("#6f7d1c", "#c9d86a", "h"),
    "logistic-converged": Look("#8c6d00", "#ddaa33", "D"),
    "xgboost": Look("#1b7fb8", "#56b4e9", "s"),
    "xgboost-half": Look("#1b7fb8", "#56b4e9", ">"),
    "xgboost-shallow": Look("#1b7fb8", "#56b4e9", "<"),
    "catboost": Look("#007a56", "#4fd0a5", "^"),
    "random-forest": Look("#a8457f", "#cc79a7", "P"),
    "cross-entropy": Look("#6a3fc4", "#b9a6ff", "v"),
    "rosas": Look("#7a4f9a", "#c49be6", "d"),
    "trm": Look("#6b6b1f", "#cfcf6a", "h"),
    "iprenet": Look("#22786d", "#6fd1c4", "*"),
    "ldm": Look("#8a2f8a", "#dd8edd", "d"),
    "a2h": Look("#117733", "#66cc88", "8"),
    "npr": Look("#882255", "#e07aa8", "H"),
}
OTHERS = (Look("#5c5c5c", "#bdbdbd", "x"), Look("#7a5c3a", "#d9b98f", "+"), Look("#3f6178", "#9cc3dd", "1"))
KIND_LOOKS = {  # of rows, in the theorem's figure
    "anomalies": Look("#9b1b5a", "#ff86b8", "o"),
    "normals": Look("#3f5d7d", "#9fc3e8", "s"),
}


def look(method):
    """How a method is drawn."""
    others = [name for name in METHODS if name not in LOOKS]
    looks = dict(zip(others, itertools.cycle(OTHERS))) | LOOKS | KIND_LOOKS
    return looks.get(method, OTHERS[0])
