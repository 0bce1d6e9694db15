"""Scores of a user's rows and the columns that raised them, for tables of any size, in chunks."""

import numpy as np
import pandas as pd
from tqdm import tqdm

from weakly.errors import printable
from weakly.own_data.drift import Comparison
from weakly.own_data.features import MISSING_LEVEL
from weakly.own_data.score_files import score_file
from weakly.own_data.user_tables import ROWS_AT_ONCE

REASONS = 5  # columns shown for a score


def reasons_of(model, texts, X, scores):
    """The columns that raised each score most, as a table why_1, why_2, ...; empty where no more did.

    why_rest is what the other columns add, plus the score of a typical row.
    """
    parts, names = model.explain(X), list(model.kinds)
    best = np.argsort(-parts, axis=1, kind="stable")[:, :REASONS]
    cells = texts[names].to_numpy()
    table = pd.DataFrame(index=texts.index)
    for place, columns in enumerate(best.T, start=1):
        shown = [printable(f"{names[j]}={cells[i, j][:40] or MISSING_LEVEL}") for i, j in enumerate(columns)]
        table[f"why_{place}"] = [
            f"{text} ({parts[i, j]:+.3f})" if parts[i, j] > 0 else ""
            for i, (text, j) in enumerate(zip(shown, columns))
        ]
    named = np.take_along_axis(parts, best, axis=1).clip(min=0).sum(axis=1)
    return table.assign(why_rest=np.round(scores - named, 3))


class Watch:
    """What is reported about scored rows: how many exceed a threshold, and how they differ from training."""

    def __init__(self, model, threshold=None):
        self._threshold, self.n_above = np.inf if threshold is None else threshold, 0
        self._comparison = Comparison(model.summary, model.kinds) if model.summary else None

    def add(self, table, scores):
        self.n_above += int((scores > self._threshold).sum())
        if self._comparison:
            self._comparison.add(table)

    @property
    def drift(self):
        """What has changed since training, in words; empty if nothing has changed much."""
        return self._comparison.in_words() if self._comparison else ""


def score_rows(model, texts, top=None, explain=False, watch=None):
    """Row number, score and, if requested, reasons of the rows of a table of strings, or of the `top`."""
    chunks = []
    for start in range(0, len(texts), ROWS_AT_ONCE):
        rows = texts.iloc[start : start + ROWS_AT_ONCE]
        X, scores = model.score(rows, watch)
        kept = np.arange(len(rows)) if top is None else np.sort(np.argsort(-scores, kind="stable")[:top])
        chunk = pd.DataFrame({"row": rows.index[kept] + 1, "score": scores[kept]}, index=rows.index[kept])
        if model.calibration:
            chunk["probability"] = model.calibration.probabilities_of(scores[kept])
        chunks.append(
            chunk.join(reasons_of(model, rows.iloc[kept], X[kept], scores[kept])) if explain else chunk
        )
    result = pd.concat(chunks)
    return result if top is None else highest(result, top)


def highest(table, top, *others):
    """The `top` rows with the highest scores of one or more tables; equal scores stay in order."""
    rows = pd.concat([found for found in (*others, table) if not found.empty])
    return rows.sort_values("score", ascending=False, kind="stable").head(top)


def progress_bar(table):
    """A bar of the bytes read, if standard error is a terminal; none for a pipe, whose size is unknown."""
    hidden = True if table.size is None else None
    return tqdm(total=table.size, unit="B", unit_scale=True, disable=hidden)


def write_scores(model, table, output, format_name="csv", keep=(), top=None, threshold=None, explain=False):
    """Score a Table into a file; returns how many rows were read and written, and a Watch."""
    n_rows, watch, best = 0, Watch(model, threshold), pd.DataFrame()
    columns = [name for name in table.columns if name in keep or name in model.kinds]
    with score_file(output, format_name) as write, progress_bar(table) as bar:
        for texts in table.chunks(columns):
            result = score_rows(model, texts, top, explain, watch)
            if threshold is not None:
                result.insert(2, "flag", (result["score"] > threshold).astype(int))
            result = texts[keep].join(result, how="right") if keep else result
            if top:
                best = highest(result, top, best)
            else:
                write(result)
            n_rows += len(texts)
            bar.update(table.position - bar.n)
        if top:
            write(best)
    return n_rows, len(best) if top else n_rows, watch
