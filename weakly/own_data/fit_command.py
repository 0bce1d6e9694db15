"""detect.py fit: learn a model from a table with some labelled anomalies."""

import platform
import time

import numpy as np

from weakly.command_line import setting
from weakly.environment import commit, package_versions
from weakly.errors import DataError
from weakly.methods import METHODS
from weakly.own_data import arguments
from weakly.own_data.evaluate_command import choose_method
from weakly.own_data.labels import ANOMALY, NORMAL, UNLABELLED, columns_to_use, labelled_rows, print_labels
from weakly.own_data.models import SAVED_METHODS, fit_model, in_words, save_model
from weakly.own_data.score_command import scored_rows
from weakly.own_data.tables import Table
from weakly.source_code import hash_of_modules
from weakly.writing import name_of, refuse_source, statuses_of

DESCRIPTION = (
    "Learns from labelled anomalies and unlabelled rows. Without --method, a short evaluation chooses one; "
    f"without any label, it is isolation forest. Methods: {', '.join(SAVED_METHODS)}."
)


def add_arguments(command):
    command.description = DESCRIPTION
    arguments.add_table_arguments(command)
    arguments.add_training_arguments(command, label_required=False)
    add_fit_arguments(command)
    command.add_argument("--model", required=True, metavar="FILE", help="file to write; - is standard output")
    arguments.add_top_argument(command, 10, "number of suspicious rows to show (default: %(default)s)")


def add_fit_arguments(command):
    """What decides how a model is fitted; shared with `next`."""
    method = "the detector (default: chosen by a short evaluation)"
    command.add_argument("--method", choices=SAVED_METHODS, metavar="NAME", help=method)
    changed = "change a parameter of the --method, such as epochs=20; repeat the option for several"
    add = command.add_argument
    add("--set", type=setting, action="append", default=[], metavar="NAME=VALUE", help=changed)


def run(args):
    table = Table(args.table, arguments.notation_of(args))
    refuse_source(args.model, table.status, *statuses_of(args.checked))
    raw, labels = labelled_rows(args, table)
    print_labels(table, labels)
    start = time.perf_counter()
    model = fitted_model(args, table, raw, labels)
    save_model(args.model, model)
    seconds = time.perf_counter() - start
    print(f"Fitted {in_words(model.about['method'])} in {seconds:.1f} s; wrote {name_of(args.model)}.")
    if (labels == UNLABELLED).any():
        print_most_suspicious(model, raw, np.flatnonzero(labels == UNLABELLED), args.top)


def fitted_model(args, table, raw, labels):
    """Fit a model to the rows of a table by the chosen method."""
    if args.set and not args.method:
        raise DataError("--set changes a parameter of a method: name the --method too.")
    columns, typed = columns_to_use(table, raw, labels)
    y = (labels == ANOMALY).astype(np.int64)
    method, choice = args.method, None
    if not method:
        method, choice = choose_method(typed, columns, y, labels == NORMAL, args.seed)
    elif not y.any() and METHODS[method].uses_labels:
        wrong = f"No row is labelled as an anomaly, and {method} learns from labelled anomalies"
        raise DataError(f"{wrong}: label some (see --label), or leave out --method for an isolation forest.")
    origin = {
        "label": args.label if (labels != UNLABELLED).any() else None,
        "anomaly_values": ", ".join(args.anomaly_value or ["1"]),
        "labelled_anomalies": int(y.sum()),
        "known_normals": int((labels == NORMAL).sum()),
        "table": {"name": table.path.name, **table.fingerprint()},
        "code": commit() or hash_of_modules(METHODS[method].module, "weakly.own_data.models"),
        "versions": {"python": platform.python_version(), **package_versions()},
    }
    about = {"missing": table.notation.missing, "choice": choice, "origin": origin}
    return fit_model(method, typed, columns, y if y.any() else None, args.seed, dict(args.set), **about)


def print_most_suspicious(model, raw, rows, top):
    """Print those of the training rows `rows`, which nobody has checked, that have the highest scores."""
    best = raw.iloc[rows[np.argsort(-model.training_scores[rows], kind="stable")[:top]]]
    typed = model.typed(best)
    shown = scored_rows(model, best, typed, model.scored(typed), n_reasons=3)
    print(f"\nThe most suspicious unlabelled rows:\n{shown.round(3).to_string(index=False)}")
