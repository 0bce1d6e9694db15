"""Tables of a user, CSV or Parquet, read as text; they are not trusted."""

import csv
import gzip
import io
import math
import zlib
from pathlib import Path

import pandas as pd

from common.errors import DataError
from loading.files import SEPARATORS, SIZE_LIMIT, bounded_memory, check_held, guarded_text
from own_data.features import MOST_COLUMNS
from own_data.labels import anomaly_labels

ROWS_AT_ONCE, CELLS_AT_ONCE = 16_384, 2**22
EXTRA = "\0"  # a column beyond the last: where a chunk begins, pandas would drop cells that are too many


class Table:
    """A table in a file, read as text, a chunk of rows at a time.

    `columns` are its names, `position` the bytes read so far.
    """

    def __init__(self, path):
        self.path, self.position = Path(path), 0
        try:
            self.size = self.path.stat().st_size
            self._raw = open(self.path, "rb")  # noqa: SIM115
            start = self._raw.read(4)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror}.") from None
        self._raw.seek(0)
        self._parquet = self._open_parquet() if start == b"PAR1" else None
        if self._parquet:
            self.columns = self._parquet.schema_arrow.names
        else:
            packed = start[:2] == b"\x1f\x8b"
            plain = gzip.GzipFile(fileobj=self._raw) if packed else self._raw
            limit = SIZE_LIMIT if packed else math.inf
            guarded = guarded_text(plain, self.path, limit, most_lines=math.inf, most_cells=MOST_COLUMNS)
            self._text = io.TextIOWrapper(guarded, encoding="utf-8-sig", newline="")
            self.columns = self._guarded(self._read_header)
        repeated = pd.Index(self.columns)[pd.Index(self.columns).duplicated()]
        if len(repeated):
            raise DataError(f"{path} has more than one column {repeated[0]!r}.")

    def _open_parquet(self):
        try:
            from pyarrow.parquet import ParquetFile  # here, because it is no requirement
        except ImportError:
            raise DataError(
                f"{self.path} is a Parquet file, for which `pip install pyarrow` is needed."
            ) from None
        return self._guarded(lambda: ParquetFile(self._raw))

    def _read_header(self):
        line = self._text.readline().strip("\r\n")
        if not line.strip():
            raise DataError(
                f"{self.path} is empty, or its first line is: it must have the names of the columns."
            )
        n_names = {one: len(next(csv.reader([line], delimiter=one))) for one in SEPARATORS.decode()}
        self._separator = max(n_names, key=n_names.__getitem__)
        names = next(csv.reader([line], delimiter=self._separator, skipinitialspace=True, strict=True))
        return [name.strip() or "(unnamed)" for name in names]

    def must_have(self, names, purpose):
        """Refuse a table that lacks one of these columns."""
        lacking = [name for name in names if name not in self.columns]
        if lacking and len(self.columns) == 1:
            only = f"{self.path} has one column only, {self.columns[0][:60]!r}"
            raise DataError(f"{only}: columns must be separated by , ; tab or |.")
        if lacking:
            found = ", ".join(self.columns)[:500]
            raise DataError(f"{self.path} lacks the column {', '.join(lacking)} {purpose}; it has {found}.")

    def _guarded(self, read):
        """read(), with whatever is wrong with the file in one sentence."""
        try:
            with bounded_memory(self.path):
                return read()
        except UnicodeDecodeError:
            raise DataError(f"{self.path} is not a text in UTF-8, nor gzip or Parquet.") from None
        # those of pandas and pyarrow are ValueErrors
        except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
            raise DataError(
                f"{self.path} cannot be read as a table: {str(error).strip().rstrip('.')}."
            ) from None

    def _chunk_rows(self):
        """ROWS_AT_ONCE, or fewer of a wide table."""
        return max(1, min(ROWS_AT_ONCE, CELLS_AT_ONCE // len(self.columns)))

    def chunks(self, columns):
        """Tables of strings with these columns; an empty cell is an empty string."""
        if self._parquet:
            pieces = self._parquet.iter_batches(self._chunk_rows(), columns=columns)
        else:
            # all columns, because with usecols pandas takes rows with too many cells
            as_texts = {"dtype": str, "na_filter": False, "skipinitialspace": True, "sep": self._separator}
            names, at_once = [*self.columns, EXTRA], self._chunk_rows()
            pieces = self._guarded(
                lambda: pd.read_csv(self._text, header=None, names=names, chunksize=at_once, **as_texts)
            )
        n_rows = 0
        while (piece := self._guarded(lambda: next(pieces, None))) is not None and len(piece):
            if self._parquet:
                piece = piece.to_pandas()
                piece = piece.astype(object).where(piece.notna(), "").astype(str)
            # in the first case pandas took the first cells for the names of rows
            elif not isinstance(piece.index, pd.RangeIndex) or piece[EXTRA].any():
                raise DataError(f"{self.path} has rows with more cells than its first line has names.")
            piece = piece[columns].set_axis(range(n_rows, n_rows + len(piece)))
            n_rows += len(piece)
            self.position = self._raw.tell()
            if self._parquet:
                self.position = self.size * n_rows // self._parquet.metadata.num_rows
            yield piece
        if n_rows == 0:
            raise DataError(f"{self.path} has no rows.")


def read_labeled(path, label, drop=(), anomaly_values=None, normal_value=None, all_known=False):
    """The whole table as strings without the label column, and y (n,).

    y is 1 for rows that are labelled as anomalies, 0 for all others.
    """
    table = Table(path)
    table.must_have([label], "of --label")
    table.must_have(drop, "of --drop")
    chunks, held = [], 0
    for chunk in table.chunks([name for name in table.columns if name == label or name not in drop]):
        chunks.append(chunk)
        held += chunk.memory_usage(deep=True).sum()
        check_held(held)
    texts = pd.concat(chunks)
    y = anomaly_labels(texts.pop(label), anomaly_values, normal_value, all_known, path)
    if y.all() or not y.any():
        found = "only anomalies" if y.all() else "no labelled anomaly"
        needed = "labelled anomalies and other rows are needed"
        raise DataError(f"{path} has {found} in column {label!r}, but {needed}.")
    return texts, y
