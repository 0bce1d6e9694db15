"""Where a model comes from: its table, its labels and the code, as plain values in the model file.

    model.origin = origin_of(args, table, labels)      # by fit

`date` is the last change of the training table, or SOURCE_DATE_EPOCH if that is set: it says how old the data
is.
"""

import datetime
import os
import platform

from weakly.environment import commit, package_versions
from weakly.errors import DataError
from weakly.methods import METHODS
from weakly.own_data.arguments import anomaly_values
from weakly.source_code import hash_of_modules


def origin_of(args, table, labels):
    """The origin of a model that is fitted now."""
    values = anomaly_values(args.anomaly_value)
    return {
        "label": args.label,
        "anomaly_values": values and list(values),
        "normal_value": args.normal_value,
        "labelled_anomalies": int(labels.y.sum()),
        "known_normals": int(labels.normal.sum()),
        "table": described_table(table),
        "date": date_of(table),
        "code": commit() or hash_of_modules(METHODS[args.method].module, "weakly.own_data.event_model"),
        "versions": {"python": platform.python_version(), **package_versions()},
    }


def described_table(table):
    """Name, size and SHA-256 of a table that was read."""
    return {"name": table.path.name, **table.fingerprint()}


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
