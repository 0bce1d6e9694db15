"""From typed columns to features: the encoder, its description as plain values for a file, and back.

A description contains what the transformers learned: the values of a column that become 0 and 1, its median,
whether its missing cells have a feature of their own, and its frequent levels.
"""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from weakly.errors import printable
from weakly.own_data.number_features import NumberFeatures

MISSING_LEVEL, RARE_LEVEL = "(missing)", "\0"  # the second never occurs in a file
# `fences` of weakly/training/number_scaler.py; weakly/beyond/scaling.py has the rule for the default
SCALING = {"tail": 0.25, "reach": 3, "beyond": 0.0}
MOST_FLOAT = np.finfo(np.float64).max
MOST_BEYOND = 1e6  # in ranges of a column: how far out a file may cut values off
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
        "number": numbers or NumberFeatures(**SCALING, fewest=min_frequency),
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
    """Files written until November 2026 have min_median_max: the range of the values, nothing is cut off."""
    if np.isinf(beyond):
        values = {"min_median_max": [low, median, high]}
    else:
        values = {"low_median_high": [low, median, high], "beyond": beyond}
    return values | ({"indicator": True} if indicated else {})


def described_truth(low, mode, high, beyond, indicated):
    return {"mode": mode} | ({"indicator": True} if indicated else {})


def limits_of(column):
    """What NumberFeatures learned about a column, from its description: low, median, high, beyond."""
    if column["kind"] == "boolean":
        return 0.0, column["mode"], 1.0, np.inf
    if "min_median_max" in column:
        return *column["min_median_max"], np.inf
    return *column["low_median_high"], column["beyond"]


def rebuilt_encoder(columns):
    """The encoder of a description, fitted on a few made-up rows that teach it the same levels.

    Frequent levels occur twice in these rows, and a placeholder for rare levels once: a level that was never
    seen counts as rare. What was learned about numbers and truth values is then set.
    """
    categories = [column for column in columns.values() if column["kind"] == "category"]
    n_rows = max([3, *(2 * len(column["levels"]) + column["rare"] for column in categories)])
    rows = {}
    for name, column in columns.items():
        if column["kind"] == "category":
            values = 2 * column["levels"] + [RARE_LEVEL] * bool(column["rare"])
            rows[name] = values + column["levels"][:1] * (n_rows - len(values))
        else:
            rows[name] = [0.0] * n_rows
    kinds = {name: column["kind"] for name, column in columns.items()}
    encoder = new_encoder(kinds, min_frequency=2).fit(pd.DataFrame(rows))
    for kind, steps, names in encoder.transformers_:
        if kind in ("number", "boolean"):
            lows, medians, highs, beyond = zip(*(limits_of(columns[name]) for name in names))
            indicated = [columns[name].get("indicator", False) for name in names]
            steps.set_learned(medians, lows, highs, beyond, indicated)
    return encoder


def typical_cells(columns):
    """A row of medians and modes from a description; a category, whose mode is not in it, is a rare level."""
    cells = {}
    for name, column in columns.items():
        cells[name] = [RARE_LEVEL if column["kind"] == "category" else limits_of(column)[1]]
    return pd.DataFrame(cells)


def require(is_met, otherwise):
    """ValueError unless a condition is met."""
    if not is_met:
        raise ValueError(otherwise)


def check_description(columns):
    """Refuse a description that described_encoder could not have made: everything in it has a limit."""
    require(0 < len(columns) <= MOST_COLUMNS, f"there are {len(columns)} columns")
    for name, column in columns.items():
        kind, values = column["kind"], dict(column)
        values.pop("kind")
        if kind == "number":
            is_old = "min_median_max" in values
            low, median, high = values.pop("min_median_max" if is_old else "low_median_high")
            beyond = 0 if is_old else values.pop("beyond")
            valid = (
                all(type(value) in (int, float) for value in (low, median, high, beyond))
                and -MOST_FLOAT <= low <= median <= high <= MOST_FLOAT
                and 0 <= beyond <= MOST_BEYOND
                and values.pop("indicator", True) is True
            )
        elif kind == "boolean":
            valid = values.pop("mode") in (0, 1) and values.pop("indicator", True) is True
        else:
            levels, rare = values.pop("levels"), values.pop("rare")
            valid = kind == "category" and are_levels(levels, rare)
        require(
            valid and not values,
            f"its description of column {printable(name)!r} is not valid",
        )


def are_levels(levels, rare):
    """Whether these can be the frequent levels of a category, and whether there are rare ones."""
    return (
        type(levels) is list
        and type(rare) is bool
        and 0 < len(levels) + rare <= MOST_LEVELS
        and all(type(level) is str and level != RARE_LEVEL for level in levels)
        and levels == sorted(set(levels))
    )
