"""Where a model comes from: its table, its labels and the code, as plain values in the model file.

    model.origin = origin_of(args, table, labels)      # by fit
    check_origin(contents["origin"], n_rows)      # by load_model: it may come from anybody's file

The time of the fit is not recorded, so the same table and command give the same bytes. `date` is the last
change of the training table, or SOURCE_DATE_EPOCH if that is set: it says how old the data is.
"""

import datetime
import math
import os
import platform
import re

from weakly.errors import DataError
from weakly.methods import METHODS
from weakly.own_data.arguments import anomaly_values
from weakly.own_data.features import require
from weakly.source_code import hash_of_modules
from weakly.versions import commit, package_versions

LONGEST, MOST_VALUES = 200, 100  # characters of a text, values in a list
MOST_COUNT = 2**53


def origin_of(args, table, labels):
    """The origin of a model that is fitted now, for JSON."""
    values = anomaly_values(args.anomaly_value)
    return {
        "label": args.label[:LONGEST],
        "anomaly_values": [value[:LONGEST] for value in values[:MOST_VALUES]] if values else None,
        "normal_value": args.normal_value and args.normal_value[:LONGEST],
        "labelled_anomalies": int(labels.y.sum()),
        "known_normals": int(labels.normal.sum()),
        "table": described_table(table),
        "date": date_of(table),
        "code": commit() or hash_of_modules(METHODS[args.method].module, "weakly.own_data.event_model"),
        "versions": {"python": platform.python_version(), **package_versions()},
    }


def described_table(table):
    """Name, size and SHA-256 of a table that was read."""
    return {"name": table.path.name[:LONGEST], **table.fingerprint()}


def date_of(table):
    """The date of SOURCE_DATE_EPOCH, else of a table's last change, in UTC; None for a pipe."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if seconds is None and table.size is None:
        return None
    try:
        moment = float(table.status.st_mtime if seconds is None else seconds)
        return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise DataError(f"SOURCE_DATE_EPOCH must be a number of seconds, not {seconds!r}.") from None


def check_origin(origin, n_rows):
    """ValueError unless origin_of and record_evaluation could have made this."""
    require(fits(origin, CHECKS), "its description of the origin is not valid")
    labelled = origin.get("labelled_anomalies", 0) + origin.get("known_normals", 0)
    require(labelled <= n_rows, "it has more labelled rows than rows")


def fits(values, checks):
    """Whether this is a dict whose values pass their checks; any of them may be missing."""
    return (
        type(values) is dict
        and set(values) <= set(checks)
        and all(checks[key](values[key]) for key in values)
    )


def is_text(value):
    return type(value) is str and len(value) <= LONGEST


def is_count(value):
    return type(value) is int and 0 <= value < MOST_COUNT


def is_date(value):
    return value is None or (type(value) is str and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None)


def is_hash(value):
    return type(value) is str and re.fullmatch("[0-9a-f]{64}", value) is not None


def are_values(value):
    return value is None or (type(value) is list and len(value) <= MOST_VALUES and all(map(is_text, value)))


def dict_of(is_valid):
    """A check for a dict of valid values, with texts as keys."""
    return lambda value: (
        type(value) is dict
        and len(value) <= MOST_VALUES
        and all(map(is_text, value))
        and all(map(is_valid, value.values()))
    )


def is_metric(value):
    return type(value) is float and math.isfinite(value)


def is_table(value):
    return fits(value, {"name": is_text, "bytes": is_count, "sha256": is_hash})


def is_evaluation(value):
    return fits(
        value,
        {
            "table": is_table,
            "labelled_anomalies": is_count,
            "runs": is_count,
            "seed": lambda seed: type(seed) is int and abs(seed) < MOST_COUNT,
            "metrics": dict_of(is_metric),
        },
    )


CHECKS = {
    "label": is_text,
    "anomaly_values": are_values,
    "normal_value": lambda value: value is None or is_text(value),
    "labelled_anomalies": is_count,
    "known_normals": is_count,
    "table": is_table,
    "date": is_date,
    "code": is_text,
    "versions": dict_of(is_text),
    "evaluation": is_evaluation,
}
