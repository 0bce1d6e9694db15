"""detect.py evaluate: how well a method works on a table whose labels are all known."""

from common.command_line import positive
from common.errors import DataError
from common.writing import name_of
from own_data.arguments import (
    add_label_arguments,
    add_method_argument,
    add_seed_argument,
    add_table_arguments,
)
from own_data.evaluation import HIDDEN_SHARE, draw_curves, hidden_label_tests, quality_table
from own_data.labelled_tables import columns_to_use, labeled_rows
from own_data.model_info import check_recordable, record_evaluation

DESCRIPTION = (
    "Holds 20% of the rows out, hides all but --n-labeled of the training anomalies, fits and scores. "
    "Of the hidden anomalies as many stay among the unlabelled rows as make up "
    f"{HIDDEN_SHARE:.0%} of them, the others are left out, as in the paper's experiments."
)


def add_arguments(command):
    command.description = DESCRIPTION
    add_table_arguments(command)
    add_label_arguments(command)
    add_method_argument(command)
    add_seed_argument(command)
    labeled = "training anomalies that stay labelled (default: %(default)s)"
    runs = "with the seeds from --seed on (default: %(default)s)"
    command.add_argument("--n-labeled", type=positive, default=60, help=labeled)
    command.add_argument("--runs", type=positive, default=1, help=runs)
    curves = "PNG of the curves, or - (default: %(default)s)"
    command.add_argument("--output", default="curves.png", help=curves)
    record = "file of fit to write the metrics into, for info and report"
    command.add_argument("--record", metavar="MODEL", help=record)
    command.set_defaults(target="output")


def run(args):
    if args.record:
        check_recordable(args.record, args.method)
    table, texts, y = labeled_rows(args, args.output, all_known=True)
    n_anomalies = y.sum()
    if min(n_anomalies, len(y) - n_anomalies) < 5:
        raise DataError(
            f"{table.path} has {n_anomalies} anomalies among {len(y):,} rows; "
            "to hold 20% out, at least 5 of each are needed."
        )
    print(f"{len(y):,} rows of {table.path}: {n_anomalies:,} anomalies.")
    kinds = columns_to_use(table, texts, y)
    seeds = range(args.seed, args.seed + args.runs)
    tests = hidden_label_tests(texts, y, kinds, args.method, args.n_labeled, seeds, table.decimal)
    qualities = quality_table(tests, seeds)
    print(qualities.to_string(index=False, float_format="%.4f"))
    draw_curves(tests, args.output)
    print(f"Wrote {name_of(args.output)}.")
    if args.record:
        means = qualities.set_index("seed").loc["mean" if args.runs > 1 else args.seed]
        record_evaluation(args.record, table, args, means)
        print(f"Recorded in {args.record}.")
