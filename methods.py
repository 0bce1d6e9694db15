"""The table of methods. To add one: write its file, add its line here."""

import importlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    column: str  # its name in the paper's tables
    module: str
    class_name: str


METHODS = {
    "prenet": Method("PReNet", "prenet", "PReNet"),
    "devnet": Method("DevNet", "devnet", "DevNet"),
    "iforest": Method("iForest", "iforest_baseline", "IForest"),
}


def make_detector(name, **settings):
    """A new detector of this method; its module, and with it TensorFlow, is imported only now."""
    method = METHODS[name]
    return getattr(importlib.import_module(method.module), method.class_name)(**settings)
