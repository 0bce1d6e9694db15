"""detect.py fit: learn a model from a table with some labelled anomalies."""

import time

from weakly.own_data.arguments import (
    add_calibrate_argument,
    add_checked_argument,
    add_label_arguments,
    add_method_argument,
    add_seed_argument,
    add_table_arguments,
    add_top_argument,
)
from weakly.own_data.calibration import FOLDS
from weakly.own_data.event_model import EventModel
from weakly.own_data.held_out import cross_fitted_calibration
from weakly.own_data.labelled_tables import (
    columns_to_use,
    open_table,
    partly_labeled_rows,
    print_labels,
    refuse_source,
    statuses_of,
)
from weakly.own_data.origin import origin_of
from weakly.own_data.saved_models import save_model
from weakly.own_data.scoring import score_rows
from weakly.writing import name_of


def add_arguments(command):
    add_table_arguments(command)
    add_label_arguments(command)
    add_checked_argument(command)
    add_method_argument(command)
    add_seed_argument(command)
    calibrated = (
        "learn probabilities too: score then writes a column `probability` and accepts --contamination auto; "
        "takes about five times as long"
    )
    add_calibrate_argument(command, calibrated)
    command.add_argument("--model", required=True, help="file to write the model to; - is standard output")
    add_top_argument(command, 10, "number of suspicious rows to show (default: %(default)s)")
    command.set_defaults(target="model")


def run(args):
    table = open_table(args)
    refuse_source(args.model, table.status, *statuses_of(args.checked))
    texts, labels = partly_labeled_rows(args, table)
    print_labels(table, labels)
    start = time.perf_counter()
    model = fitted_model(args, table, texts, labels, args.calibrate)
    model.origin = origin_of(args, table, labels)
    save_model(args.model, model)
    seconds = time.perf_counter() - start
    features = f"{sum(model.widths)} features"
    print(f"Fitted {args.method} on {features} in {seconds:.1f} s; wrote {name_of(args.model)}.")
    if args.calibrate:
        print(
            f"Calibrated ({args.calibrate}) on scores of rows that the model had not seen ({FOLDS} folds). "
            "Unlabelled rows count as normal:\nif anomalies hide among them, probabilities are too low."
        )
    if labels.unlabeled.any():
        print_most_suspicious(model, texts[labels.unlabeled], args.top)


def fitted_model(args, table, texts, labels, calibrate=None):
    """Fit a model to the table without the columns of --drop, with probabilities if asked for."""
    used = texts.drop(columns=args.drop, errors="ignore")
    kinds, columns = columns_to_use(table, used, labels.y)
    model = EventModel.fit_columns(args.method, columns, kinds, labels.y, args.seed, table.decimal)
    if calibrate:
        model.calibration, _ = cross_fitted_calibration(
            calibrate, args.method, columns, kinds, labels.y, args.seed
        )
    model.header = table.header
    return model


def print_most_suspicious(model, texts, top):
    best = score_rows(model, texts, top, explain=True)
    count, plural = (f"{len(best)} ", "s") if len(best) > 1 else ("", "")
    print(f"\nThe {count}most suspicious unlabelled row{plural}:")
    shown = [name for name in best if name not in ("why_4", "why_5", "why_rest")]
    print(best[shown].round(3).to_string(index=False))
