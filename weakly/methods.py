"""The table of methods. To add one, write its file and add its line here."""

import importlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    column: str  # its name in the paper's tables; an interpretation adds what it changes
    module: str
    class_name: str
    # where it is compared: Tables 2 and 3, `appendix` C.1, the `ablation` of Table 4, as an `interpretation`,
    # or next to the paper's methods in the experiments today and crosscheck (`today`, `outside`)
    group: str = "table"
    settings: tuple = ()  # (parameter, value) pairs other than its class's defaults
    uses_labels: bool = True
    # it splits features at thresholds, which hardly depend on their scaling: it gets them as they are
    is_tree: bool = False
    interpretation_of: str = ""  # the method that an interpretation is compared with


# the modules of methods beyond the paper
CLASSIFIERS, INTERPRETATIONS = "weakly.beyond.classifiers", "weakly.beyond.interpretations"
CONVERGED = (("tol", 1e-8), ("max_iter", 1_000))
HALF = (("base_score", 0.5),)
SHALLOW = (*HALF, ("max_depth", 3), ("learning_rate", 0.1))  # XGBOD's settings, without its added features

METHODS = {
    "prenet": Method("PReNet", "prenet", "PReNet"),
    "devnet": Method("DevNet", "devnet", "DevNet"),
    "dsad": Method("DSAD", "dsad", "DSAD"),
    "fsnet": Method("FSNet", "fsnet", "FSNet"),
    "cfsnet": Method("cFSNet", "fsnet", "CFSNet"),
    "repen": Method("REPEN", "repen", "REPEN"),
    "iforest": Method("iForest", "iforest_baseline", "IForest", uses_labels=False, is_tree=True),
    "xgbod": Method("XGBOD", "xgbod", "XGBOD", "appendix", is_tree=True),
    "pumad": Method("PUMAD", "pumad", "PUMAD", "appendix"),
    "feawad": Method("FEAWAD", "feawad", "FEAWAD", "appendix"),
    "logistic": Method("Logistic", CLASSIFIERS, "Logistic", "today"),
    "logistic-converged": Method("Logistic, conv.", CLASSIFIERS, "Logistic", "today", CONVERGED),
    "xgboost": Method("XGBoost", CLASSIFIERS, "XGBoost", "today", is_tree=True),
    "xgboost-half": Method("XGBoost, 0.5", CLASSIFIERS, "XGBoost", "today", HALF, is_tree=True),
    "xgboost-shallow": Method("XGBoost, shallow", CLASSIFIERS, "XGBoost", "today", SHALLOW, is_tree=True),
    "catboost": Method("CatBoost", CLASSIFIERS, "CatBoost", "today", is_tree=True),
    "random-forest": Method("Random forest", CLASSIFIERS, "RandomForest", "today", is_tree=True),
    "cross-entropy": Method("Cross-entropy", "weakly.beyond.cross_entropy", "CrossEntropy", "today"),
    "rosas": Method("RoSAS", "weakly.beyond.rosas", "RoSAS", "today"),
    "trm": Method("TRM", "prenet", "PReNet", "ablation", (("variant", "TRM"),)),
    "iprenet": Method("iPReNet", "prenet", "PReNet", "ablation", (("variant", "iPReNet"),)),
    "ldm": Method("LDM", "prenet", "PReNet", "ablation", (("variant", "LDM"),)),
    "a2h": Method("A2H", "prenet", "PReNet", "ablation", (("variant", "A2H"),)),
    "npr": Method("NPR", "prenet", "PReNet", "ablation", (("variant", "NPR"),)),
}


def interpretation(base, difference, class_name=None, group="interpretation", **settings):
    """One change to a method's set-up: other settings of its class, or a class of INTERPRETATIONS."""
    of = METHODS[base]
    module, class_name = (INTERPRETATIONS, class_name) if class_name else (of.module, of.class_name)
    changed, column = tuple((dict(of.settings) | settings).items()), f"{of.column}, {difference}"
    return Method(column, module, class_name, group, changed, is_tree=of.is_tree, interpretation_of=base)


# Other interpretations of what the text leaves open.
METHODS |= {
    "dsad-plain": interpretation("dsad", "plain distance", distance="plain"),
    "dsad-autoencoder": interpretation("dsad", "autoencoder", pretrain=True),
    "dsad-autoencoder-plain": interpretation("dsad", "autoencoder, plain", pretrain=True, distance="plain"),
    "dsad-hinge": interpretation("dsad", "hinge", anomaly_term="hinge"),
    "fsnet-anomalies": interpretation("fsnet", "score -d_a", "FSNetAnomalyDistance"),
    "fsnet-unlabelled": interpretation("fsnet", "score d_u", "FSNetUnlabelledDistance"),
    # 1 epoch of 20 batches
    "fsnet-20-updates": interpretation("fsnet", "20 updates, -d_a", "FSNetAnomalyDistance", epochs=1),
    "fsnet-5-rows": interpretation("fsnet", "5 rows per class", "FSNetFiveRows"),
    "cfsnet-balanced": interpretation("cfsnet", "balanced queries", episodes="balanced"),
    "repen-rmsprop": interpretation("repen", "RMSprop", optimizer_name="rmsprop"),
    "repen-all-known": interpretation("repen", "all negatives known", "REPENAllKnown"),
    "repen-none-known": interpretation("repen", "no negative known", "REPENNoneKnown"),
    "devnet-natural": interpretation("devnet", "natural labels", "DevNetNaturalLabels"),
    "feawad-no-zero-rows": interpretation("feawad", "no all-zero rows", "FEAWADNoZeroRows"),
    "xgbod-raw-svms": interpretation("xgbod", "SVMs on raw features", "XGBODRawSVMs"),
    "a2h-no-dropout": interpretation("a2h", "no dropout", "PReNetNoDropout"),
} | {
    # Sec. 5.2: "one hidden layer performs better and more stably than two or more"
    f"{base}-two-layers": interpretation(base, "two hidden layers", hidden_units=(20, 20))
    for base in ("prenet", "devnet", "dsad", "fsnet", "cfsnet", "repen")
}

# The differences between ADGym's versions of two methods and ours, for the experiment crosscheck.
METHODS |= {
    "dsad-linear-code": interpretation("dsad", "linear code", group="outside", code_layer="linear"),
    "dsad-natural": interpretation("dsad", "natural batches", "DSADNaturalBatches", "outside"),
    "dsad-three-layers": interpretation("dsad", "100-20-10", group="outside", hidden_units=(100, 20, 10)),
    "dsad-adgym": interpretation("dsad", "all as in ADGym", "DSADOutside", "outside"),
    "repen-known-only": interpretation("repen", "known negatives only", "REPENAllKnown", "outside"),
    "repen-supervised": interpretation("repen", "ADGym's triplets", "REPENSupervised", "outside", l2=0.0),
}


def method_group(*groups: str) -> list[str]:
    """Names of the methods of some groups, in the order of the table."""
    return [name for name, method in METHODS.items() if method.group in groups]


def make_detector(name: str, **settings):
    """A new detector of this method; imports its module now, but TensorFlow only to fit a network."""
    method = METHODS[name]
    detector_class = getattr(importlib.import_module(method.module), method.class_name)
    return detector_class(**dict(method.settings) | settings)
