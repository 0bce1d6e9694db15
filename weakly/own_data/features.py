"""From typed columns to features: the encoder, and its description as plain values.

A description contains what the transformers learned: the values of a column that become 0 and 1, its median,
whether its missing cells have a feature of their own, and its frequent levels.
"""

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from weakly.own_data.number_features import NumberFeatures

MISSING_LEVEL = "(missing)"
# `fences` of weakly/training/number_scaler.py; weakly/beyond/scaling.py has the rule for the default
FENCES = {"tail": 0.25, "reach": 3, "beyond": 0.0}
MOST_COLUMNS = 10_000  # of a table
MOST_LEVELS = 50  # of a category; the rarest beyond them share one feature


def new_encoder(kinds, min_frequency, max_categories=None, numbers=None):
    """Numbers to about 0-1, truth values to 0 and 1, categories to one-hot features; fills missing cells.

    numbers: a transformer for the numbers, instead of the usual one.
    """
    missing_level = SimpleImputer(missing_values="", strategy="constant", fill_value=MISSING_LEVEL)
    levels = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        min_frequency=min_frequency,
        max_categories=max_categories,
        sparse_output=False,
    )
    steps = {
        "number": numbers or NumberFeatures(**FENCES, fewest=min_frequency),
        "boolean": NumberFeatures(truth=True, fewest=min_frequency),
        "category": make_pipeline(missing_level, levels),
    }
    members = {kind: [name for name in kinds if kinds[name] == kind] for kind in steps}
    return ColumnTransformer(
        [(kind, steps[kind], names) for kind, names in members.items() if names], sparse_threshold=0
    )


def frequent_levels(one_hot):
    """The frequent levels of each column of a fitted one-hot encoder, and whether it has rare ones.

    All rare levels share one feature.
    """
    for levels, rare in zip(one_hot.categories_, one_hot.infrequent_categories_):
        yield levels[~np.isin(levels, [] if rare is None else rare)].tolist(), rare is not None


def widths_of(encoder):
    """{kind: how many features each of its columns has} of a fitted encoder.

    A number or truth value has one, or two if the second marks missing cells.
    """
    widths = {}
    for kind, steps, _ in encoder.transformers_:
        if kind == "category":
            widths[kind] = [len(levels) + rare for levels, rare in frequent_levels(steps[-1])]
        elif kind != "remainder":
            widths[kind] = steps.widths_.tolist()
    return widths


def described_encoder(encoder):
    """What a fitted encoder learned, for JSON: {column: kind and values}, in the order of the features."""
    columns = {}
    for kind, steps, names in encoder.transformers_:
        if kind == "category":
            learned = [{"levels": levels, "rare": rare} for levels, rare in frequent_levels(steps[1])]
        elif kind in ("number", "boolean"):
            arrays = (steps.low_, steps.median_, steps.high_, steps.beyond_, steps.indicated_)
            described = described_number if kind == "number" else described_truth
            learned = [described(*values) for values in zip(*(array.tolist() for array in arrays))]
        else:  # `remainder`: columns that are not used
            continue
        columns |= {name: {"kind": kind, **values} for name, values in zip(names, learned)}
    return columns


def described_number(low, median, high, beyond, indicated):
    values = {"low_median_high": [low, median, high], "beyond": beyond}
    return values | ({"indicator": True} if indicated else {})


def described_truth(low, mode, high, beyond, indicated):
    return {"mode": mode} | ({"indicator": True} if indicated else {})
