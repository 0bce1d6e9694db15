"""From typed columns to features: the encoder, what it learned as plain values for a file, and back.

Of the scikit-learn transformers a description has what they learned: smallest, median and largest value of a
column, its frequent levels.
"""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from common.errors import printable
from own_data.number_features import NumberFeatures

MISSING_LEVEL, RARE_LEVEL = "(missing)", "\0"  # the second is in no file
SCALING = {"tail": 0.01, "reach": 3.0, "beyond": 0.0}
MOST_FLOAT = np.finfo(np.float64).max
MOST_COLUMNS = 10_000  # of a table
MOST_LEVELS = 50  # of a category; the rarest beyond them share one feature


def new_encoder(kinds, min_frequency, max_categories=None, numbers=None):
    """Numbers to about 0-1, truth values to 0 and 1, categories to one-hot features; all gaps filled.

    numbers: another transformer of the numbers than the usual one.
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
    """For each column of a fitted one-hot encoder its frequent levels, and whether it has rare ones.

    All rare levels share one feature.
    """
    for levels, rare in zip(one_hot.categories_, one_hot.infrequent_categories_):
        yield levels[~np.isin(levels, [] if rare is None else rare)].tolist(), rare is not None


def described_encoder(encoder):
    """What a fitted encoder learned, for JSON: {column: kind and values}, in the order of the features."""
    columns = {}
    for kind, steps, names in encoder.transformers_:
        if kind == "number":
            imputer, scaler = steps
            arrays = (scaler.data_min_, imputer.statistics_, scaler.data_max_)
            learned = [{"min_median_max": values} for values in zip(*(array.tolist() for array in arrays))]
        elif kind == "boolean":
            learned = [{"mode": mode} for mode in steps[0].statistics_.tolist()]
        elif kind == "category":
            learned = [{"levels": levels, "rare": rare} for levels, rare in frequent_levels(steps[1])]
        else:  # `remainder`: columns that are not used
            continue
        columns |= {name: {"kind": kind, **values} for name, values in zip(names, learned)}
    return columns


def rebuilt_encoder(columns):
    """The encoder of such a description, fitted on a few rows from which it learns the same.

    They have the same smallest, median and largest values. Frequent levels occur twice in them, a placeholder
    for the rare ones once: a level that was never seen counts as rare.
    """
    categories = [column for column in columns.values() if column["kind"] == "category"]
    n_rows = max([3, *(2 * len(column["levels"]) + column["rare"] for column in categories)])
    rows = {}
    for name, column in columns.items():
        if column["kind"] == "number":
            smallest, median, largest = column["min_median_max"]
            rows[name] = [smallest, largest] + [median] * (n_rows - 2)
        elif column["kind"] == "boolean":
            rows[name] = [0.0, 1.0] + [column["mode"]] * (n_rows - 2)
        else:
            values = 2 * column["levels"] + [RARE_LEVEL] * bool(column["rare"])
            rows[name] = values + column["levels"][:1] * (n_rows - len(values))
    kinds = {name: column["kind"] for name, column in columns.items()}
    return new_encoder(kinds, min_frequency=2).fit(pd.DataFrame(rows))


def typical_cells(columns):
    """A row of medians and modes of such a description; of a category, whose mode it lacks, a rare level."""
    cells = {}
    for name, column in columns.items():
        kind = column["kind"]
        value = column["min_median_max"][1] if kind == "number" else column.get("mode", RARE_LEVEL)
        cells[name] = [value]
    return pd.DataFrame(cells)


def require(is_met, otherwise):
    """ValueError unless a condition is met."""
    if not is_met:
        raise ValueError(otherwise)


def check_description(columns):
    """Refuse a description that described_encoder would not give: nothing in it may grow without bound."""
    require(0 < len(columns) <= MOST_COLUMNS, f"there are {len(columns)} columns")
    for name, column in columns.items():
        kind, values = column["kind"], dict(column)
        values.pop("kind")
        if kind == "number":
            low, median, high = values.pop("min_median_max")
            valid = (
                all(type(value) in (int, float) for value in (low, median, high))
                and -MOST_FLOAT <= low <= median <= high <= MOST_FLOAT
            )
        elif kind == "boolean":
            valid = values.pop("mode") in (0, 1)
        else:
            levels, rare = values.pop("levels"), values.pop("rare")
            valid = kind == "category" and are_levels(levels, rare)
        require(
            valid and not values,
            f"column {printable(name)!r} is described in another way than detect.py does",
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
