"""detect.py fit: learn from a table with some labelled anomalies, and write a model."""

import time

from common.writing import name_of
from own_data.arguments import (
    add_calibrate_argument,
    add_label_arguments,
    add_method_argument,
    add_seed_argument,
    add_table_arguments,
    add_top_argument,
)
from own_data.calibration import FOLDS
from own_data.event_model import EventModel
from own_data.held_out import cross_fitted_calibration
from own_data.labelled_tables import labeled_rows, typed_columns_to_use
from own_data.saved_models import save_model
from own_data.scoring import score_rows


def add_arguments(command):
    add_table_arguments(command)
    add_label_arguments(command)
    add_method_argument(command)
    add_seed_argument(command)
    calibrated = (
        "let score write a column probability, and allow --contamination auto; takes about five times as long"
    )
    add_calibrate_argument(command, calibrated)
    command.add_argument("--model", required=True, help="file to write the model to, or -")
    add_top_argument(command, 10, "suspicious rows to show (default: %(default)s)")
    command.set_defaults(target="model")


def run(args):
    table, texts, y = labeled_rows(args, args.model)
    n_anomalies = y.sum()
    print(
        f"{len(y):,} rows of {table.path}: "
        f"{n_anomalies:,} labelled anomalies, {len(y) - n_anomalies:,} unlabelled."
    )
    kinds, columns = typed_columns_to_use(table, texts, y)
    start = time.perf_counter()
    model = EventModel.fit_columns(args.method, columns, kinds, y, args.seed, table.decimal)
    if args.calibrate:
        model.calibration, _ = cross_fitted_calibration(
            args.calibrate, args.method, columns, kinds, y, args.seed
        )
    model.header = table.header
    save_model(args.model, model)
    seconds = time.perf_counter() - start
    features = f"{sum(model.widths)} features"
    print(f"Fitted {args.method} on {features} in {seconds:.1f} s; wrote {name_of(args.model)}.")
    if args.calibrate:
        print(
            f"Calibrated ({args.calibrate}) on scores of rows that the model had not seen ({FOLDS} folds). "
            "Unlabelled rows count as normal:\nif anomalies hide among them, probabilities are too low."
        )
    best = score_rows(model, texts[y == 0], args.top, explain=True)
    print(f"\nThe {len(best)} most suspicious of the unlabelled rows:")
    shown = [name for name in best if name not in ("why_4", "why_5", "why_rest")]
    print(best[shown].round(3).to_string(index=False))
