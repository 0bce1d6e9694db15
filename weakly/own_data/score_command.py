"""detect.py score: score the rows of a table with a model, in chunks, and name what raised each score."""

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from weakly.command_line import rate
from weakly.errors import DataError, UserError, printable
from weakly.numbers import count_of
from weakly.own_data.arguments import add_table_arguments, add_top_argument, comma_list, notation_of
from weakly.own_data.columns import as_texts, as_written
from weakly.own_data.drift import Comparison
from weakly.own_data.models import load_model
from weakly.own_data.tables import Table
from weakly.writing import name_of, refuse_source, written_whole

REASONS, LISTED = 5, 5  # columns shown for a score; rows with unreadable cells that a message names


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
    if (ending := Path(args.output).suffix) in (".gz", ".html", ".json", ".parquet", ".xls", ".xlsx", ".zip"):
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
            result = scored_rows(model, raw, typed, scores, args.top, REASONS * args.explain)
            if threshold is not None:
                result.insert(2, "flag", (result["score"] > threshold).astype(int))
                n_flagged += (scores > threshold).sum()
            result = raw[keep].join(result, how="right") if keep else result
            if args.top:
                best = highest(args.top, best, result)
            else:
                result.to_csv(file, mode="wb", header=n_rows == 0, index=False)
            n_rows += len(raw)
        if args.top:
            best.to_csv(file, mode="wb", index=False)
    written = f"the {len(best):,} highest" if args.top else "all"
    print(f"Scored {count_of(n_rows, 'row')} of {table.path}; wrote {written} to {name_of(args.output)}.")
    if threshold is not None:
        flagged = count_of(n_flagged, "row is flagged", "rows are flagged")
        expected = f"{100 * args.contamination:g}% of the unlabelled training rows"
        print(f"{flagged}: score above {threshold:.6g}, which {expected} exceed (--contamination).")
    print_doubts(unreadable, comparison)


def kept_columns(args, table):
    """The columns of --keep, all of the table's if none is named."""
    keep = table.columns if args.keep == [] else args.keep or []
    table.must_have(keep, "of --keep")
    written = "row|score" + "|flag" * (args.contamination is not None) + "|why_.*" * args.explain
    if clash := [name for name in keep if re.fullmatch(written, name)]:
        raise DataError(f"{table.path} already has a column {clash[0]!r}: rename it, or do not --keep it.")
    return keep


def open_for_model(args, model):
    """The table to score, in the notation of the training table unless the options say otherwise."""
    table = Table(args.table, notation_of(args, model.about["missing"]), model.columns)
    model.about["columns"] = {name: as_written(one, table.decimal) for name, one in model.columns.items()}
    model.about["missing"] = table.notation.missing
    table.must_have(model.columns, f"that {args.model} was fitted on")
    return table


def scored_chunks(model, table, verbatim, comparison, unreadable):
    """Yield chunks of a Table, raw and typed, and their scores; fills comparison and unreadable."""
    names = [name for name in table.columns if name in verbatim or name in model.columns]
    with tqdm(unit=" rows", disable=None, leave=False) as bar:
        for raw in table.chunks(names, verbatim=verbatim):
            typed = model.typed(raw, unreadable)
            scores = model.scored(typed)
            comparison.add(typed)
            yield raw, typed, scores
            bar.update(len(raw))


def scored_rows(model, raw, typed, scores, top=None, n_reasons=0):
    """Row number, score and the columns that raised it most, of these rows or of the `top` highest."""
    kept = np.arange(len(raw)) if top is None else np.sort(np.argsort(-scores, kind="stable")[:top])
    raw, typed, scores = raw.iloc[kept], typed.iloc[kept], scores[kept]
    result = pd.DataFrame({"row": raw.index + 1, "score": scores}, index=raw.index)
    if not n_reasons:
        return result
    parts, names = model.reasons(typed, scores), list(model.columns)
    best = np.argsort(-parts, axis=1, kind="stable")[:, :n_reasons]
    cells = raw[names].apply(as_texts).fillna("(missing)").to_numpy()
    for place, columns in enumerate(best.T, start=1):
        texts = [f"{names[j]}={cells[i, j][:40]} ({parts[i, j]:+.3f})" for i, j in enumerate(columns)]
        added = np.take_along_axis(parts, columns[:, np.newaxis], axis=1)[:, 0]
        result[f"why_{place}"] = np.where(added > 0, list(map(printable, texts)), "")
    return result


def highest(top, *tables):
    """The `top` rows with the highest scores of some tables; equal scores stay in order."""
    rows = pd.concat([table for table in tables if not table.empty])
    return rows.sort_values("score", ascending=False, kind="stable").head(top)


def print_doubts(unreadable, comparison):
    """Print which rows had a cell that could not be read, and which columns have changed since training."""
    if unreadable:
        first = ", ".join([*map(str, sorted(unreadable)[:LISTED]), *["..."] * (len(unreadable) > LISTED)])
        where = f"{count_of(len(unreadable), 'row')} ({first})"
        print(f"Unreadable cells count as missing, in {where}; score --strict stops there.")
    if words := comparison.in_words():
        print(words)
