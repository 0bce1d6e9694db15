"""detect.py score: score the rows of a table with a model."""

import os
import re

import pandas as pd

from weakly.command_line import rate
from weakly.errors import DataError
from weakly.numbers import count_of
from weakly.own_data.arguments import add_table_arguments, add_top_argument, comma_list, notation_of
from weakly.own_data.columns import as_written
from weakly.own_data.drift import Comparison
from weakly.own_data.models import load_model
from weakly.own_data.scoring import (
    FORMATS,
    REASONS,
    chunks_with_progress,
    format_of,
    highest,
    score_file,
    score_rows,
)
from weakly.own_data.tables import Table
from weakly.writing import name_of, refuse_source

LISTED = 5  # rows with unreadable cells that a message names


def add_arguments(command):
    add_table_arguments(command)
    add = command.add_argument
    add("--model", required=True, metavar="FILE", help="file that fit wrote")
    output = "file to write: .csv, .jsonl (also .gz) or .parquet; - is standard output (default: %(default)s)"
    add("--output", default="scores.csv", metavar="FILE", help=output)
    written_as = "csv, jsonl or parquet (default: by the ending of the output's name, else csv)"
    add("--format", choices=FORMATS, metavar="FORMAT", help=written_as)
    keep = "also write these input columns, or all of them if none is named; then put it last"
    add("--keep", type=comma_list, nargs="?", const=[], metavar="A,B", help=keep)
    add_top_argument(command, None, "write only the N rows with the highest scores, the highest first")
    expected = "flags the rows that score higher than all but this share of the unlabelled training rows"
    add("--contamination", type=rate, metavar="RATE", help=expected)
    reasons = f"also write up to {REASONS} columns that raise each score most, compared with typical values"
    add("--explain", action="store_true", help=reasons)
    strict = "stop at the first cell that cannot be read, instead of scoring its row without it"
    add("--strict", action="store_true", help=strict)
    command.set_defaults(target="output")


def open_for_model(args, model):
    """The table to score, in the notation of the training table unless the options say otherwise."""
    table = Table(args.table, notation_of(args, model.about["notation"]), model.columns)
    model.about["columns"] = as_written(model.columns, table.notation)
    table.must_have(model.columns, f"that {args.model} was fitted on")
    return table


def run(args):
    format_name = format_of(args.output, args.format)
    model = load_model(args.model)
    table = open_for_model(args, model)
    refuse_source(args.output, table.status, os.stat(args.model))
    keep = kept_columns(args, table)
    threshold = None if args.contamination is None else model.threshold(args.contamination)
    n_rows, best, unreadable = 0, pd.DataFrame(), None if args.strict else set()
    drift, n_flagged = Comparison(model.about["summary"], model.columns), 0

    def watch(typed, scores):
        nonlocal n_flagged
        drift.add(typed)
        n_flagged += 0 if threshold is None else int((scores > threshold).sum())

    read = [name for name in table.columns if name in keep or name in model.columns]
    with score_file(args.output, format_name) as write:
        for raw in chunks_with_progress(table, read, keep):
            result = score_rows(model, raw, args.top, args.explain, watch, unreadable)
            if threshold is not None:
                result.insert(2, "flag", (result["score"] > threshold).astype(int))
            result = raw[keep].join(result, how="right") if keep else result
            if args.top:
                best = highest(result, args.top, best)
            else:
                write(result)
            n_rows += len(raw)
        if args.top:
            write(best)
    written = f"the {len(best):,} highest" if args.top else "all"
    print(f"Scored {count_of(n_rows, 'row')} of {table.path}; wrote {written} to {name_of(args.output)}.")
    if threshold is not None:
        of = f"of the {count_of(n_rows, 'row')}"
        flagged = count_of(n_flagged, f"{of} is flagged", f"{of} are flagged")
        print(
            f"{flagged}: score above {threshold:.6g}, which "
            f"{100 * args.contamination:g}% of the unlabelled training rows exceed (--contamination)."
        )
    print_doubts(unreadable, drift)


def kept_columns(args, table):
    """The columns of --keep, all of the table's if none is named."""
    keep = table.columns if args.keep == [] else args.keep or []
    table.must_have(keep, "of --keep")
    written = "row|score" + "|flag" * (args.contamination is not None) + "|why_.*" * args.explain
    for name in keep:
        if re.fullmatch(written, name):
            raise DataError(
                f"{table.path} already has a column {name!r}, which score also writes: "
                "rename it, or leave it out of --keep."
            )
    return list(keep)


def print_doubts(unreadable, drift):
    """Print which rows had a cell that could not be read, and which columns have changed since training."""
    if unreadable:
        first = ", ".join(f"{row:,}" for row in sorted(unreadable)[:LISTED])
        where = f"{count_of(len(unreadable), 'row')} ({first}{', ...' * (len(unreadable) > LISTED)})"
        print(f"Unreadable cells count as missing, in {where}; score --strict stops there.")
    if words := drift.in_words():
        print(words)
