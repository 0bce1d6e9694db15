"""Scores of a user's rows and the columns that raised them, for tables of any size, in chunks."""

import numpy as np
import pandas as pd
from tqdm import tqdm

from weakly.errors import printable
from weakly.numbers import count_of
from weakly.own_data.arguments import notation_of
from weakly.own_data.columns import as_written
from weakly.own_data.tables import Table

REASONS = 5  # columns shown for a score
LISTED = 5  # rows with unreadable cells that a message names


def open_for_model(args, model):
    """The table to score, in the notation of the training table unless the options say otherwise."""
    table = Table(args.table, notation_of(args, model.about["notation"]), model.columns)
    model.about["columns"] = as_written(model.columns, table.notation)
    table.must_have(model.columns, f"that {args.model} was fitted on")
    return table


def scored_chunks(model, table, verbatim, comparison, unreadable):
    """Yield chunks of a Table, raw and typed, and their scores; comparison and unreadable collect the rest.

    A bar shows the bytes read if standard error is a terminal and the table no pipe, whose size is unknown.
    """
    names = [name for name in table.columns if name in verbatim or name in model.columns]
    hidden = True if table.size is None else None
    with tqdm(total=table.size, unit="B", unit_scale=True, disable=hidden) as bar:
        for raw in table.chunks(names, verbatim=verbatim):
            typed = model.typed(raw, unreadable)
            scores = model.scored(typed)
            comparison.add(typed)
            yield raw, typed, scores
            bar.update(table.position - bar.n)


def scored_rows(model, raw, typed, scores, top=None, explain=False):
    """Row number, score and, if requested, reasons of these rows, or of the `top` highest."""
    kept = np.arange(len(raw)) if top is None else np.sort(np.argsort(-scores, kind="stable")[:top])
    result = pd.DataFrame({"row": raw.index[kept] + 1, "score": scores[kept]}, index=raw.index[kept])
    return (
        result.join(reasons_of(model, raw.iloc[kept], typed.iloc[kept], scores[kept])) if explain else result
    )


def reasons_of(model, raw, typed, scores):
    """The columns that raised each score most, as a table why_1, why_2, ...; empty where no more did.

    why_rest is what the other columns add, plus the score of a typical row.
    """
    parts, names = model.reasons(typed, scores), list(model.columns)
    best = np.argsort(-parts, axis=1, kind="stable")[:, :REASONS]
    cells = raw[names].astype(object).to_numpy()
    reasons = pd.DataFrame(index=raw.index)
    for place, columns in enumerate(best.T, start=1):
        reasons[f"why_{place}"] = [
            f"{printable(f'{names[j]}={cell_text(cells[i, j])}')} ({parts[i, j]:+.3f})"
            if parts[i, j] > 0
            else ""
            for i, j in enumerate(columns)
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


def print_doubts(unreadable, comparison):
    """Print which rows had a cell that could not be read, and which columns have changed since training."""
    if unreadable:
        first = ", ".join(f"{row:,}" for row in sorted(unreadable)[:LISTED])
        where = f"{count_of(len(unreadable), 'row')} ({first}{', ...' * (len(unreadable) > LISTED)})"
        print(f"Unreadable cells count as missing, in {where}; score --strict stops there.")
    if words := comparison.in_words():
        print(words)
