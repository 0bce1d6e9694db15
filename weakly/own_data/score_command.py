"""detect.py score: score the rows of a table with a model."""

import os
import re
from pathlib import Path

import pandas as pd

from weakly.command_line import rate
from weakly.errors import DataError, UserError
from weakly.numbers import count_of
from weakly.own_data.arguments import add_table_arguments, add_top_argument, comma_list
from weakly.own_data.drift import Comparison
from weakly.own_data.models import load_model
from weakly.own_data.scoring import REASONS, highest, open_for_model, print_doubts, scored_chunks, scored_rows
from weakly.writing import name_of, refuse_source, written_whole

OTHER_FORMATS = (".gz", ".html", ".json", ".jsonl", ".ods", ".parquet", ".tsv", ".xls", ".xlsx", ".zip")


def add_arguments(command):
    add_table_arguments(command)
    add = command.add_argument
    add("--model", required=True, metavar="FILE", help="file that fit wrote")
    output = "CSV file to write; - is standard output (default: %(default)s)"
    add("--output", default="scores.csv", metavar="FILE", help=output)
    keep = "also write these input columns, or all of them if none is named; then put it last"
    add("--keep", type=comma_list, nargs="?", const=[], metavar="A,B", help=keep)
    add_top_argument(command, None, "write only the N rows with the highest scores, the highest first")
    expected = "flags the rows that score higher than all but this share of the unlabelled training rows"
    add("--contamination", type=rate, metavar="RATE", help=expected)
    reasons = f"also write up to {REASONS} columns that raise each score most, compared with typical values"
    add("--explain", action="store_true", help=reasons)
    strict = "stop at the first cell that cannot be read, instead of scoring its row without it"
    add("--strict", action="store_true", help=strict)


def run(args):
    if (ending := Path(args.output).suffix.lower()) in OTHER_FORMATS:
        raise UserError(f"{args.output} cannot be written as {ending}, only as .csv.")
    model = load_model(args.model)
    table = open_for_model(args, model)
    refuse_source(args.output, table.status, os.stat(args.model))
    keep = kept_columns(args, table)
    threshold = None if args.contamination is None else model.threshold(args.contamination)
    n_rows, n_flagged, best, unreadable = 0, 0, pd.DataFrame(), None if args.strict else set()
    comparison = Comparison(model.about["summary"], model.columns)
    with written_whole(args.output) as file:
        for raw, typed, scores in scored_chunks(model, table, keep, comparison, unreadable):
            result = scored_rows(model, raw, typed, scores, args.top, args.explain)
            if threshold is not None:
                result.insert(2, "flag", (result["score"] > threshold).astype(int))
                n_flagged += (scores > threshold).sum()
            result = raw[keep].join(result, how="right") if keep else result
            if args.top:
                best = highest(result, args.top, best)
            else:
                result.to_csv(file, mode="wb", header=n_rows == 0, index=False)
            n_rows += len(raw)
        if args.top:
            best.to_csv(file, mode="wb", index=False)
    written = f"the {len(best):,} highest" if args.top else "all"
    print(f"Scored {count_of(n_rows, 'row')} of {table.path}; wrote {written} to {name_of(args.output)}.")
    if threshold is not None:
        of = f"of the {count_of(n_rows, 'row')}"
        print(
            f"{count_of(n_flagged, f'{of} is flagged', f'{of} are flagged')}: score above {threshold:.6g}, "
            f"which {100 * args.contamination:g}% of the unlabelled training rows exceed (--contamination)."
        )
    print_doubts(unreadable, comparison)


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
