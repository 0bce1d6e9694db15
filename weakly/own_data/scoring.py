"""Scores of a user's rows and the columns that raised them, for tables of any size, in chunks.

with score_file("scores.jsonl", "jsonl") as write:
    write(chunk)  # a DataFrame; all have the same columns
"""

import contextlib
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from weakly.errors import UserError, printable
from weakly.own_data.columns import typed_columns
from weakly.writing import name_of, written_whole

REASONS = 5  # columns shown for a score
FORMATS = ("csv", "jsonl", "parquet")
OTHER_FORMATS = ("feather", "html", "json", "ods", "tsv", "xls", "xlsx")  # which the file would not be
PACKED = ".gz"


def score_rows(model, raw, top=None, explain=False, watch=None, unreadable=None):
    """Row number, score and, if requested, reasons of the rows of a raw table, or of the `top` highest.

    watch is called with the typed columns and the scores; unreadable: as in typed_columns.
    """
    table = typed_columns(raw, model.columns, model.missing, unreadable)
    scores = model.scored(table)
    if watch:
        watch(table, scores)
    kept = np.arange(len(raw)) if top is None else np.sort(np.argsort(-scores, kind="stable")[:top])
    result = pd.DataFrame({"row": raw.index[kept] + 1, "score": scores[kept]}, index=raw.index[kept])
    if explain:
        result = result.join(reasons_of(model, raw.iloc[kept], table.iloc[kept], scores[kept]))
    return result if top is None else highest(result, top)


def reasons_of(model, raw, table, scores):
    """The columns that raised each score most, as a table why_1, why_2, ...; empty where no more did.

    why_rest is what the other columns add, plus the score of a typical row.
    """
    parts, names = model.reasons(table, scores), list(model.columns)
    best = np.argsort(-parts, axis=1, kind="stable")[:, :REASONS]
    cells = raw[names].astype(object).to_numpy()
    reasons = pd.DataFrame(index=raw.index)
    for place, columns in enumerate(best.T, start=1):
        shown = [printable(f"{names[j]}={cell_text(cells[i, j])}") for i, j in enumerate(columns)]
        reasons[f"why_{place}"] = [
            f"{text} ({parts[i, j]:+.3f})" if parts[i, j] > 0 else ""
            for i, (text, j) in enumerate(zip(shown, columns))
        ]
    named = np.take_along_axis(parts, best, axis=1).clip(min=0).sum(axis=1)
    return reasons.assign(why_rest=np.round(scores - named, 3))


def cell_text(value):
    """A raw cell as a short text."""
    if pd.isna(value):
        return "(missing)"
    return f"{value:.15g}" if isinstance(value, float) else str(value)[:40]


def highest(table, top, *others):
    """The `top` rows with the highest scores of one or more tables; equal scores stay in order."""
    rows = pd.concat([found for found in (*others, table) if not found.empty])
    return rows.sort_values("score", ascending=False, kind="stable").head(top)


def chunks_with_progress(table, columns, verbatim):
    """The chunks of a Table, with a bar of the bytes read if standard error is a terminal.

    There is none for a pipe, whose size is unknown.
    """
    hidden = True if table.size is None else None
    with tqdm(total=table.size, unit="B", unit_scale=True, disable=hidden) as bar:
        for raw in table.chunks(columns, verbatim=verbatim):
            yield raw
            bar.update(table.position - bar.n)


# ---------------------------------------------------------------------------- files of scores


def format_of(target, asked=None):
    """The format of a target: the one asked for, else by the ending of its name, else CSV.

    Refuses Parquet before anything is computed if the library that writes it is missing.
    """
    ending = Path(str(target).removesuffix(PACKED)).suffix.lstrip(".").lower()
    if not asked and ending in OTHER_FORMATS:
        raise UserError(
            f"{target} cannot be written as .{ending}: use .csv, .jsonl or .parquet, or choose one of these "
            "with --format."
        )
    chosen = asked or (ending if ending in FORMATS else "csv")
    folder = Path(target).parent
    if target != "-" and not folder.is_dir():
        raise UserError(f"{target} cannot be written: the folder {folder} does not exist.")
    if chosen == "parquet":
        if str(target).endswith(PACKED):
            raise UserError(
                f"{target} cannot be written: a Parquet file is already compressed, so leave out {PACKED}."
            )
        try:
            import pyarrow.parquet  # noqa: F401 - no requirement
        except ImportError:
            raise UserError(
                f"To write {name_of(target)} as Parquet, install pyarrow first: pip install pyarrow."
            ) from None
    return chosen


@contextlib.contextmanager
def score_file(target, format_name):
    """Yield a function that writes a chunk; the file gets its name once everything is written."""
    with written_whole(target) as file, contextlib.ExitStack() as stack:
        if str(target).endswith(PACKED):  # without a time, so that the same scores give the same bytes
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        writers = {"csv": csv_writer, "jsonl": json_lines_writer, "parquet": parquet_writer}
        yield writers[format_name](file, stack)


def csv_writer(file, _):
    """Writes chunks as CSV, the first one with the names of the columns."""
    is_first = True

    def write(chunk):
        nonlocal is_first
        chunk.to_csv(file, mode="wb", header=is_first, index=False)
        is_first = False

    return write


def json_lines_writer(file, _):
    """Writes each row as an object on its own line; numbers are exact, missing values are null."""

    def write(chunk):
        values = chunk.astype(object).where(chunk.notna(), None)
        lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in values.to_dict("records"))
        file.write("".join(f"{line}\n" for line in lines).encode())

    return write


def parquet_writer(file, stack):
    """Writes each chunk as a row group; the first one decides the types of the columns."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    writer = None

    def write(chunk):
        nonlocal writer
        schema = writer.schema if writer else None
        table = pa.Table.from_pandas(chunk, schema=schema, preserve_index=False)
        table = table.replace_schema_metadata(None)
        if writer is None:
            writer = stack.enter_context(ParquetWriter(file, table.schema))
        writer.write_table(table)

    return write
