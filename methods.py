"""The table of methods. To add one: write its file, add its line here."""

import importlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    column: str  # its name in the paper's tables
    module: str
    class_name: str
    group: str = "table"  # where it is compared: Tables 2 and 3, `appendix` C.1 or the `ablation` of Table 4
    settings: tuple = ()  # (parameter, value) pairs other than its class's defaults
    uses_labels: bool = True


METHODS = {
    "prenet": Method("PReNet", "prenet", "PReNet"),
    "devnet": Method("DevNet", "devnet", "DevNet"),
    "dsad": Method("DSAD", "dsad", "DSAD"),
    "fsnet": Method("FSNet", "fsnet", "FSNet"),
    "cfsnet": Method("cFSNet", "fsnet", "CFSNet"),
    "repen": Method("REPEN", "repen", "REPEN"),
    "iforest": Method("iForest", "iforest_baseline", "IForest", uses_labels=False),
    "xgbod": Method("XGBOD", "xgbod", "XGBOD", "appendix"),
    "pumad": Method("PUMAD", "pumad", "PUMAD", "appendix"),
    "feawad": Method("FEAWAD", "feawad", "FEAWAD", "appendix"),
    "trm": Method("TRM", "prenet", "PReNet", "ablation", (("variant", "TRM"),)),
    "iprenet": Method("iPReNet", "prenet", "PReNet", "ablation", (("variant", "iPReNet"),)),
    "ldm": Method("LDM", "prenet", "PReNet", "ablation", (("variant", "LDM"),)),
    "a2h": Method("A2H", "prenet", "PReNet", "ablation", (("variant", "A2H"),)),
    "npr": Method("NPR", "prenet", "PReNet", "ablation", (("variant", "NPR"),)),
}


def method_group(*groups):
    """Names of the methods of some groups, in the order of the table."""
    return [name for name, method in METHODS.items() if method.group in groups]


def make_detector(name, **settings):
    """A new detector of this method; its module, and with it TensorFlow, is imported only now."""
    method = METHODS[name]
    return getattr(importlib.import_module(method.module), method.class_name)(**dict(method.settings) | settings)
