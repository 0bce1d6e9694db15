"""Scores of a user's rows, with the columns that raised them; a table of any size, a chunk at a time."""

import numpy as np
import pandas as pd
from tqdm import tqdm

from common.errors import printable
from common.writing import written_whole
from own_data.features import MISSING_LEVEL
from own_data.user_tables import ROWS_AT_ONCE

REASONS = 5  # columns shown for a score


def reasons_of(model, texts, X, scores):
    """The columns that raised each score most, as a table why_1, why_2, ...

    why_rest is what the others and the biases add.
    """
    parts, names = model.explain(X), list(model.kinds)
    best = np.argsort(-parts, axis=1, kind="stable")[:, :REASONS]
    cells = texts[names].to_numpy()
    table = pd.DataFrame(index=texts.index)
    for place, columns in enumerate(best.T, start=1):
        shown = [printable(f"{names[j]}={cells[i, j][:40] or MISSING_LEVEL}") for i, j in enumerate(columns)]
        table[f"why_{place}"] = [
            f"{text} ({parts[i, j]:+.3f})" for i, (text, j) in enumerate(zip(shown, columns))
        ]
    return table.assign(why_rest=np.round(scores - np.take_along_axis(parts, best, axis=1).sum(axis=1), 3))


def score_rows(model, texts, top=None, explain=False):
    """Row number, score and, if wanted, reasons of the rows of a table of strings, or of the `top` best."""
    chunks = []
    for start in range(0, len(texts), ROWS_AT_ONCE):
        rows = texts.iloc[start : start + ROWS_AT_ONCE]
        X, scores = model.score(rows)
        kept = np.arange(len(rows)) if top is None else np.sort(np.argsort(-scores, kind="stable")[:top])
        chunk = pd.DataFrame({"row": rows.index[kept] + 1, "score": scores[kept]}, index=rows.index[kept])
        chunks.append(
            chunk.join(reasons_of(model, rows.iloc[kept], X[kept], scores[kept])) if explain else chunk
        )
    result = pd.concat(chunks)
    return result if top is None else result.nlargest(top, "score")


def write_scores(model, table, output, keep=(), top=None, threshold=None, explain=False):
    """Score a Table into a CSV file, all rows or the `top`; how many rows were read, written and flagged."""
    n_rows, n_flagged, best = 0, 0, pd.DataFrame()
    columns = [name for name in table.columns if name in keep or name in model.kinds]
    # on standard error, and only if that is a terminal; of a pipe the size is unknown
    hidden = True if table.size is None else None
    bar_settings = {"total": table.size, "unit": "B", "unit_scale": True, "disable": hidden}
    with written_whole(output) as file, tqdm(**bar_settings) as bar:
        for texts in table.chunks(columns):
            result = score_rows(model, texts, top, explain)
            if threshold is not None:
                result.insert(2, "flag", (result["score"] > threshold).astype(int))
                n_flagged += result["flag"].sum()
            result = texts[keep].join(result, how="right") if keep else result
            if top:
                best = (result if best.empty else pd.concat([best, result])).nlargest(top, "score")
            else:
                result.to_csv(file, mode="wb", header=n_rows == 0, index=False)
            n_rows += len(texts)
            bar.update(table.position - bar.n)
        if top:
            best.to_csv(file, mode="wb", index=False)
    if top and threshold is not None:
        n_flagged = best["flag"].sum()
    return n_rows, len(best) if top else n_rows, n_flagged
