"""The table of methods. To add one: write its file, add its line here."""

import importlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    column: str  # its name in the paper's tables
    module: str
    class_name: str
    in_table_2: bool = True  # False: compared in appendix C.1 only


METHODS = {
    "prenet": Method("PReNet", "prenet", "PReNet"),
    "devnet": Method("DevNet", "devnet", "DevNet"),
    "dsad": Method("DSAD", "dsad", "DSAD"),
    "fsnet": Method("FSNet", "fsnet", "FSNet"),
    "cfsnet": Method("cFSNet", "fsnet", "CFSNet"),
    "repen": Method("REPEN", "repen", "REPEN"),
    "iforest": Method("iForest", "iforest_baseline", "IForest"),
    "xgbod": Method("XGBOD", "xgbod", "XGBOD", in_table_2=False),
    "pumad": Method("PUMAD", "pumad", "PUMAD", in_table_2=False),
    "feawad": Method("FEAWAD", "feawad", "FEAWAD", in_table_2=False),
}


def methods_of_table_2():
    return [name for name, method in METHODS.items() if method.in_table_2]


def make_detector(name, **settings):
    """A new detector of this method; its module, and with it TensorFlow, is imported only now."""
    method = METHODS[name]
    return getattr(importlib.import_module(method.module), method.class_name)(**settings)
