"""Files of scores: CSV, JSON lines or Parquet, written a chunk of rows at a time.

with score_file("scores.jsonl", "jsonl") as write:
    write(chunk)  # a DataFrame; all have the same columns
"""

import contextlib
import gzip
import json
from pathlib import Path

import pandas as pd

from weakly.errors import UserError
from weakly.writing import name_of, written_whole

FORMATS = ("csv", "jsonl", "parquet")
OTHER_FORMATS = ("feather", "html", "json", "ods", "tsv", "xls", "xlsx")  # which the file would not be
PACKED = ".gz"


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
        if str(target).endswith(
            PACKED
        ):  # without a time and a name, so that the same scores give the same bytes
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

    def write(chunk: pd.DataFrame):
        nonlocal writer
        table = pa.Table.from_pandas(
            chunk, schema=writer.schema if writer else None, preserve_index=False
        ).replace_schema_metadata(None)
        if writer is None:
            writer = stack.enter_context(ParquetWriter(file, table.schema))
        writer.write_table(table)

    return write
