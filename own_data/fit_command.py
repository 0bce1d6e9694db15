"""detect.py fit: learn from a table with some labelled anomalies, and write a model."""

import time

from common.writing import name_of
from own_data.arguments import (
    add_label_arguments,
    add_method_argument,
    add_seed_argument,
    add_table_arguments,
    add_top_argument,
)
from own_data.event_model import EventModel
from own_data.labelled_tables import columns_to_use, labeled_rows
from own_data.origin import origin_of
from own_data.saved_models import save_model
from own_data.scoring import score_rows


def add_arguments(command):
    add_table_arguments(command)
    add_label_arguments(command)
    add_method_argument(command)
    add_seed_argument(command)
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
    kinds = columns_to_use(table, texts, y)
    start = time.perf_counter()
    model = EventModel.fit(args.method, texts, kinds, y, args.seed, table.decimal)
    model.header, model.origin = table.header, origin_of(args, table, y)
    save_model(args.model, model)
    seconds = time.perf_counter() - start
    features = f"{sum(model.widths)} features"
    print(f"Fitted {args.method} on {features} in {seconds:.1f} s; wrote {name_of(args.model)}.")
    best = score_rows(model, texts[y == 0], args.top, explain=True)
    print(f"\nThe {len(best)} most suspicious of the unlabelled rows:")
    shown = [name for name in best if name not in ("why_4", "why_5", "why_rest")]
    print(best[shown].round(3).to_string(index=False))
