"""Find anomalies in your own table, of which a few dozen rows are marked and the rest is unlabelled.

    python detect.py fit events.csv --label fraud --method prenet --model fraud.model
    python detect.py score new.csv --model fraud.model --output scores.csv --contamination 0.01 --explain
    python detect.py evaluate events.csv --label y --anomaly-value yes --n-labeled 60
    zcat new.gz | python detect.py score - --model fraud.model --output - | head   # - as in other programs

A table is a CSV file (separated by , ; tab or |; plain, gzipped or zipped) or a Parquet file. Its kinds of
columns are found out by `fit`: numbers are scaled to 0-1, truth values are 0 and 1, other texts are
categories (rare levels grouped); dates, ids and constant columns are dropped, and a column of free text is
refused. The folder own_data/ does the rest. `score` reads a chunk at a time, so that a file of any size takes
the same memory; `fit` and `evaluate` hold their table in memory. Tables and models are not trusted: a line
has at most 10,000 cells and 16 MiB, a packed table unpacks to at most 2 GiB and a model to 64 MiB, and
reading takes at most 8 GiB of memory (on Linux); what is beyond ends in one sentence and exit code 2.
"""

import argparse
import os
import re
import sys
import time
from contextlib import nullcontext, redirect_stdout

from common.command_line import positive, rate, user_errors_end
from common.errors import DataError
from common.writing import is_one_of, is_standard_output, is_written_through, name_of
from loading.files import bounded_memory
from own_data.column_kinds import choose_columns, typed_columns
from own_data.evaluation import HIDDEN_SHARE, draw_curves, hidden_label_tests, quality_table
from own_data.event_model import SAVED_METHODS, EventModel
from own_data.leakage import suspicious_columns
from own_data.saved_models import load_model, save_model
from own_data.scoring import REASONS, score_rows, write_scores
from own_data.table_files import table_path
from own_data.user_tables import Table, read_labeled


def labeled_rows(args, target, all_known=False):
    """The table of fit or evaluate, its rows as strings without the label column, and y (n,)."""
    with bounded_memory(table_path(args.table)):
        table = Table(args.table, args.header, args.encoding, args.decimal)
        refuse_source(target, table.status)
        texts, y = read_labeled(
            table, args.label, args.drop, anomaly_values(args.anomaly_value), args.normal_value, all_known
        )
    return table, texts, y


def refuse_source(target, *statuses):
    """Refuse to write to a file that is read from."""
    if is_one_of(target, *statuses):
        raise DataError(f"{name_of(target)} is read from, so nothing can be written there.")


def columns_to_use(table, texts, y):
    """{column: kind} of what is learned from; warns of columns that a model should not see."""
    with bounded_memory(table.path):
        kinds = choose_columns(texts, table.path, table.decimal)
        for warning in suspicious_columns(typed_columns(texts, kinds, table.decimal), kinds, y):
            print(warning)
    return kinds


def fit(args):
    table, texts, y = labeled_rows(args, args.model)
    n_anomalies = y.sum()
    print(
        f"{len(y):,} rows of {table.path}: "
        f"{n_anomalies:,} labelled anomalies, {len(y) - n_anomalies:,} unlabelled."
    )
    kinds = columns_to_use(table, texts, y)
    start = time.perf_counter()
    model = EventModel.fit(args.method, texts, kinds, y, args.seed, table.decimal)
    model.header = table.header
    save_model(args.model, model)
    seconds = time.perf_counter() - start
    features = f"{sum(model.widths)} features"
    print(f"Fitted {args.method} on {features} in {seconds:.1f} s; wrote {name_of(args.model)}.")
    best = score_rows(model, texts[y == 0], args.top, explain=True)
    print(f"\nThe {len(best)} most suspicious of the unlabelled rows:")
    shown = [name for name in best if name not in ("why_4", "why_5", "why_rest")]
    print(best[shown].round(3).to_string(index=False))


def open_for_model(args, model):
    """The table of score, written as that of the model was, unless the options say otherwise."""
    header = model.header if args.header is None else args.header
    table = Table(args.table, header, args.encoding, args.decimal or model.decimal)
    model.decimal = table.decimal
    table.must_have(model.kinds, f"that {args.model} was fitted on")
    return table


def score(args):
    model = load_model(args.model)
    table = open_for_model(args, model)
    refuse_source(args.output, table.status, os.stat(args.model))
    keep = table.columns if args.keep == [] else args.keep or []
    table.must_have(keep, "of --keep")
    for name in keep:
        if re.fullmatch("row|score|flag|why_.*", name):
            raise DataError(
                f"{table.path} has a column {name!r} itself, "
                "so it cannot be kept beside that of the scores: rename it."
            )
    threshold = None if args.contamination is None else model.threshold(args.contamination)
    n_rows, n_written, watch = write_scores(
        model, table, args.output, keep, args.top, threshold, args.explain
    )
    written = f"the {n_written:,} highest" if args.top else "all"
    print(f"Scored {n_rows:,} rows of {table.path}; wrote {written} to {name_of(args.output)}.")
    if threshold is not None:
        print(
            f"{watch.n_above:,} of the {n_rows:,} rows are flagged: score above {threshold:.6g}, which "
            f"{100 * args.contamination:g}% of the {model.n_rows:,} training rows exceed (--contamination)."
        )
    if watch.drift:
        print(watch.drift)


def evaluate(args):
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
    print(quality_table(tests, seeds).to_string(index=False, float_format="%.4f"))
    draw_curves(tests, args.output)
    print(f"Wrote {name_of(args.output)}.")


# ---------------------------------------------------------------------------- command line


def comma_list(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def anomaly_values(given):
    """The values of --anomaly-value: if it is given once, commas separate them, else each is one."""
    if given and len(given) == 1:
        return comma_list(given[0]) or given
    return given


def text_encoding(text):
    """A command-line argument as the name of an encoding that Python knows."""
    try:
        " ".encode(text)
    except (LookupError, ValueError):
        raise argparse.ArgumentTypeError(
            f"unknown encoding {text!r}; usual ones are utf-8, latin-1, cp1252 and utf-16"
        ) from None
    return text


def make_parser():
    parser = argparse.ArgumentParser(
        prog="detect.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    hidden = (
        "Holds 20% of the rows out, hides all but --n-labeled of the training anomalies, fits and scores. "
        "Of the hidden anomalies as many stay among the unlabelled rows as make up "
        f"{HIDDEN_SHARE:.0%} of them, the others are left out, as in the paper's experiments."
    )
    fitting = commands.add_parser("fit", help="learn from a table with some labelled anomalies")
    scoring = commands.add_parser("score", help="score the rows of a table with a model of fit")
    evaluation = commands.add_parser(
        "evaluate", help="how well it works, for a table whose labels are all known", description=hidden
    )
    for command in (fitting, scoring, evaluation):
        add_table_arguments(command)
    scoring.set_defaults(decimal=None)  # that of the model
    for command in (fitting, evaluation):
        add_learning_arguments(command)
    shown = "suspicious rows to show (default: %(default)s)"
    fitting.add_argument("--model", required=True, help="file to write the model to, or -")
    fitting.add_argument("--top", type=positive, default=10, metavar="N", help=shown)
    add_scoring_arguments(scoring)
    labeled = "training anomalies that stay labelled (default: %(default)s)"
    runs = "with the seeds from --seed on (default: %(default)s)"
    evaluation.add_argument("--n-labeled", type=positive, default=60, help=labeled)
    evaluation.add_argument("--runs", type=positive, default=1, help=runs)
    curves = "PNG of the curves, or - (default: %(default)s)"
    evaluation.add_argument("--output", default="curves.png", help=curves)
    return parser


def add_table_arguments(command):
    """The table, and how it is written."""
    what = "CSV, also gzipped or zipped, or Parquet; - is standard input"
    header = (
        "whether the first line has the names of the columns; without it they are column_1, column_2, ... "
        "(default: it has, and for score as fit's table)"
    )
    decimal = "decimal mark of the numbers, . or , (default: . and for score that of fit's table)"
    encoding = "of a CSV file (default: %(default)s)"
    command.add_argument("table", help=what)
    command.add_argument("--header", action=argparse.BooleanOptionalAction, help=header)
    command.add_argument("--decimal", choices=(".", ","), default=".", metavar="MARK", help=decimal)
    command.add_argument("--encoding", type=text_encoding, default="utf-8", metavar="NAME", help=encoding)


def add_learning_arguments(command):
    """The options of fit and evaluate: what is a label, which columns, which method."""
    label = "1/0 or true/false; empty means unlabelled"
    anomaly = (
        "what marks an anomaly instead, or several such values; all other labels then mean 0. "
        "Repeat the option for values with a comma in them"
    )
    normal = "what marks known normal rows, which join the unlabelled ones"
    drop, default = "columns to leave out", "(default: %(default)s)"
    command.add_argument("--label", required=True, metavar="COLUMN", help=label)
    command.add_argument("--anomaly-value", action="append", metavar="A,B", help=anomaly)
    command.add_argument("--normal-value", metavar="VALUE", help=normal)
    command.add_argument("--drop", type=comma_list, default=[], metavar="A,B", help=drop)
    command.add_argument("--method", choices=SAVED_METHODS, default="prenet", help=default)
    command.add_argument("--seed", type=int, default=0, help=default)


def add_scoring_arguments(command):
    """The options of score: the model, what is written and where."""
    keep = "write input columns too, all or these"
    top = "only the N rows with the highest scores, in that order"
    expected = (
        "expected share of anomalies: flags rows above the score that this share of the training rows exceeds"
    )
    reasons = f"the (up to) {REASONS} columns that raise each score most, counted from their typical values"
    command.add_argument("--model", required=True, help="file that fit wrote")
    command.add_argument("--output", default="scores.csv", help="CSV to write, or - (default: %(default)s)")
    command.add_argument("--keep", type=comma_list, nargs="?", const=[], metavar="A,B", help=keep)
    command.add_argument("--top", type=positive, metavar="N", help=top)
    command.add_argument("--contamination", type=rate, metavar="RATE", help=expected)
    command.add_argument("--explain", action="store_true", help=reasons)


def main(argv=None):
    parser = make_parser()
    args = parser.parse_args(argv)
    target = args.model if args.command == "fit" else args.output
    # what is wrong with a file ends in its sentence alone, without the usage
    sentence_only = argparse.ArgumentParser(prog=f"{parser.prog} {args.command}", usage=argparse.SUPPRESS)
    messages = redirect_stdout(sys.stderr) if is_standard_output(target) else nullcontext()
    try:
        with user_errors_end(sentence_only), messages:
            {"fit": fit, "score": score, "evaluate": evaluate}[args.command](args)
    except KeyboardInterrupt:
        parser.exit(130, f"Stopped.{'' if is_written_through(target) else ' Nothing was written.'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
