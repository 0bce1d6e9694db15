"""Find anomalies in your own table, of which a few dozen rows are marked and the rest is unlabelled.

    python detect.py fit events.csv --label fraud --method prenet --model fraud.model
    python detect.py score new.csv --model fraud.model --output scores.csv --contamination 0.01 --explain
    python detect.py evaluate events.csv --label y --anomaly-value yes --n-labeled 60

A table is a CSV file (separated by , ; tab or |, plain or gzipped, UTF-8) or a Parquet file with named columns. Its kinds of columns
are found out by `fit`: numbers are scaled to 0-1, truth values are 0 and 1, other texts are categories (rare levels grouped);
dates, ids and constant columns are dropped, and a column of free text is refused. saved_models.py does the rest.
`score` reads a chunk at a time, so that a file of any size takes the same memory; `fit` and `evaluate` hold their table in memory.
Tables and models are not trusted: a line has at most 10,000 cells and 16 MiB, a gzipped table unpacks to at most 2 GiB and a model to
64 MiB, and reading takes at most 8 GiB of memory (on Linux); what is beyond ends in one sentence and exit code 2.
"""

import argparse
import csv
import gzip
import io
import math
import re
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve
from tqdm import tqdm

from command_line import positive, rate
from data_files import SIZE_LIMIT, DataError, bounded_memory, check_held, guarded_text, printable
from data_sources import written_whole
from saved_models import (
    EXPLAINED,
    METHODS_WITH_NETWORK,
    MISSING,
    MISSING_LEVEL,
    MOST_COLUMNS,
    EventModel,
    is_missing,
    load_model,
    rare_below,
    save_model,
)  # fmt: skip
from splits import contamination_count, split_independent

CHUNK_ROWS, CHUNK_CELLS = 16_384, 2**22
SEPARATORS = ",;\t|"
EXTRA = "\0"  # a column beyond the last: where a chunk begins, pandas would drop cells that are too many
DATE = r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?|\d{1,2}[ -][A-Z][a-z]{2,8}[ -]\d{2,4}([ T].*)?|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
NUMBER_WITH_COMMAS = r"[+-]?[\d.' ]*,[\d.,' ]*"
ID_NAME = r"(^|[\W_])(id|ID|Id|uuid|UUID)$|[a-z]I[dD]$"
MANY_LEVELS = 20  # a column with fewer different texts is always a category
HIDDEN_SHARE = 0.02  # of the unlabelled rows of `evaluate`, as in the paper's experiments (Sec. 5.1)
REASONS = 5


# ---------------------------------------------------------------------------- tables


class Table:
    """A table in a file, read as text, a chunk of rows at a time; `columns` are its names, `position` the bytes read so far."""

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
            guarded = guarded_text(plain, self.path, SIZE_LIMIT if packed else math.inf, math.inf, MOST_COLUMNS)
            self._text = io.TextIOWrapper(guarded, encoding="utf-8-sig", newline="")
            self.columns = self._guarded(self._read_header)
        repeated = pd.Index(self.columns)[pd.Index(self.columns).duplicated()]
        if len(repeated):
            raise DataError(f"{path} has more than one column {repeated[0]!r}.")

    def _open_parquet(self):
        try:
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise DataError(f"{self.path} is a Parquet file, for which `pip install pyarrow` is needed.") from None
        return self._guarded(lambda: ParquetFile(self._raw))

    def _read_header(self):
        line = self._text.readline().strip("\r\n")
        if not line.strip():
            raise DataError(f"{self.path} is empty, or its first line is: it must have the names of the columns.")
        self._separator = max(SEPARATORS, key=lambda separator: len(next(csv.reader([line], delimiter=separator))))
        names = next(csv.reader([line], delimiter=self._separator, skipinitialspace=True, strict=True))
        return [name.strip() or "(unnamed)" for name in names]

    def require(self, names, purpose):
        """Refuse a table that lacks one of these columns."""
        lacking = [name for name in names if name not in self.columns]
        if lacking and len(self.columns) == 1:
            raise DataError(f"{self.path} has one column only, {self.columns[0][:60]!r}: columns must be separated by , ; tab or |.")
        if lacking:
            raise DataError(f"{self.path} lacks the column {', '.join(lacking)} {purpose}; it has {', '.join(self.columns)[:500]}.")

    def _guarded(self, read):
        """read(), with whatever is wrong with the file in one sentence."""
        try:
            with bounded_memory(self.path):
                return read()
        except UnicodeDecodeError:
            raise DataError(f"{self.path} is not a text in UTF-8, nor gzip or Parquet.") from None
        except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:  # those of pandas and pyarrow are ValueErrors
            raise DataError(f"{self.path} cannot be read as a table: {str(error).strip().rstrip('.')}.") from None

    def _chunk_rows(self):
        """CHUNK_ROWS, or fewer of a wide table."""
        return max(1, min(CHUNK_ROWS, CHUNK_CELLS // len(self.columns)))

    def chunks(self, columns):
        """Tables of strings with these columns; an empty cell is an empty string."""
        if self._parquet:
            pieces = self._parquet.iter_batches(self._chunk_rows(), columns=columns)
        else:
            pieces = self._guarded(lambda: pd.read_csv(
                self._text, sep=self._separator, header=None, names=[*self.columns, EXTRA], dtype=str, na_filter=False,
                chunksize=self._chunk_rows(), skipinitialspace=True,
            ))  # fmt: skip - all columns, because with usecols pandas takes rows with too many cells
        n_rows = 0
        while (piece := self._guarded(lambda: next(pieces, None))) is not None and len(piece):
            if self._parquet:
                piece = piece.to_pandas()
                piece = piece.astype(object).where(piece.notna(), "").astype(str)
            elif not isinstance(piece.index, pd.RangeIndex) or piece[EXTRA].any():  # pandas took the first cells for the names of rows
                raise DataError(f"{self.path} has rows with more cells than its first line has names.")
            piece = piece[columns].set_axis(range(n_rows, n_rows + len(piece)))
            n_rows += len(piece)
            self.position = self.size * n_rows // self._parquet.metadata.num_rows if self._parquet else self._raw.tell()
            yield piece
        if n_rows == 0:
            raise DataError(f"{self.path} has no rows.")


def read_labeled(args, all_known=False):
    """The whole table as strings without the label column, and y (n,): 1 for rows that are labelled as anomalies, 0 for all others."""
    table = Table(args.table)
    table.require([args.label], "of --label")
    table.require(args.drop, "of --drop")
    chunks, held = [], 0
    for chunk in table.chunks([name for name in table.columns if name == args.label or name not in args.drop]):
        chunks.append(chunk)
        held += chunk.memory_usage(deep=True).sum()
        check_held(held)
    texts = pd.concat(chunks)
    y = anomaly_labels(texts.pop(args.label), args.anomaly_value, args.normal_value, all_known, args.table)
    if y.all() or not y.any():
        found = "only anomalies" if y.all() else "no labelled anomaly"
        raise DataError(f"{args.table} has {found} in column {args.label!r}, but labelled anomalies and other rows are needed.")
    return texts, y


def anomaly_labels(cells, anomaly_value, normal_value, all_known, path):
    """1 for each cell that means an anomaly, 0 for the others; a cell that could mean anything is refused."""

    def same(value):  # 1, 1.0 and "1 " are one value
        with_number = pd.to_numeric(value, errors="coerce")
        return str(float(with_number)) if np.isfinite(with_number) else value.strip()

    anomalous = {"1.0", "true"} if anomaly_value is None else {same(anomaly_value)}
    normal = {same(normal_value)} if normal_value is not None else {"0.0", "false"} if anomaly_value is None else None
    meanings = {}
    for cell in cells.unique():
        value = same(cell)
        if anomaly_value is None and value.casefold() in ("true", "false"):
            value = value.casefold()
        meanings[cell] = int(value in anomalous)
        known = value in anomalous or (value in normal if normal else value.casefold() not in MISSING)
        if not known and (all_known or value):
            if value.casefold() in MISSING:
                problem = ": all labels must be known" if all_known else ": if it is unlabelled, leave the cell empty"
            else:
                expected = ", ".join(sorted(anomalous | (normal or set()))).replace(".0", "")
                problem = f" instead of {expected}: see --anomaly-value and --normal-value"
            raise DataError(f"Row {np.argmax(cells == cell) + 1:,} of {path} has the label {cell!r}{problem}.")
    return cells.map(meanings).to_numpy(np.int64)


def column_kind(name, texts):
    """(kind of the column, None), or (None, why it is dropped)."""
    filled = texts[~is_missing(texts)]
    levels = pd.Series(filled.unique(), dtype=object).str.strip()
    if len(levels) < 2 and (len(levels) == 0 or len(filled) == len(texts)):
        return None, "constant"
    if set(levels.str.casefold()) == {"true", "false"}:
        return "boolean", None
    numbers = pd.to_numeric(levels, errors="coerce")
    mostly_different = len(levels) >= MANY_LEVELS and len(levels) > 0.5 * len(filled)
    if numbers.notna().all():
        counts = len(levels) == len(texts) and np.ptp(numbers) < 10 * len(texts)
        if mostly_different and len(levels) == len(filled) and (numbers % 1 == 0).all() and (counts or re.search(ID_NAME, name)):
            return None, "an id"
        return (None, "constant") if numbers.nunique() == 1 else ("number", None)
    if levels.str.fullmatch(DATE).all():
        return None, "a date or time"
    unclear = levels[numbers.isna()].iloc[0]
    if levels.str.fullmatch(NUMBER_WITH_COMMAS + r"|[+-]?\d+").all():
        raise DataError(f"Column {name!r} holds numbers like {unclear!r}: write them as 1234.5, or leave them out with --drop {name}.")
    if len(levels) >= MANY_LEVELS and numbers.notna().mean() > 0.5:
        raise DataError(f"Column {name!r} holds numbers, but also {unclear[:40]!r}: correct it, or leave it out with --drop {name}.")
    if mostly_different and levels.str.count(r"\s+").median() >= 2:
        raise DataError(f"Column {name!r} is free text, such as {levels[0][:40]!r}, which cannot be used: leave it out with --drop {name}.")
    if mostly_different:
        return None, "an id"
    if filled.value_counts().iloc[0] < rare_below(len(texts)):
        return None, "without a frequent value"
    return "category", None


def choose_columns(texts, path):
    """{column: kind} of the columns that are used; says which ones are not, and why."""
    kinds, dropped = {}, {}
    for name in texts.columns:
        kind, why = column_kind(name, texts[name])
        if kind:
            kinds[name] = kind
        else:
            dropped.setdefault(why, []).append(name)
    reasons = "; ".join(f"{', '.join(names)} ({why})" for why, names in dropped.items())
    if not kinds:
        raise DataError(f"{path} has no column to learn from: {reasons or 'there is only the label'}.")
    counts = [f"{list(kinds.values()).count(kind)} {kind}" for kind in ("number", "boolean", "category") if kind in kinds.values()]
    print(f"Columns: {', '.join(counts)}." + (f" Dropped: {printable(reasons)}." if reasons else ""))
    return kinds


# ---------------------------------------------------------------------------- fit and score


def reasons_of(model, texts, X, scores):
    """The columns that raised each score most, as a table why_1, why_2, ... and why_rest, what the others and the biases add."""
    parts, names = model.explain(X), list(model.kinds)
    best = np.argsort(-parts, axis=1, kind="stable")[:, :REASONS]
    cells = texts[names].to_numpy()
    table = pd.DataFrame(index=texts.index)
    for place, columns in enumerate(best.T, start=1):
        shown = [printable(f"{names[j]}={cells[i, j][:40] or MISSING_LEVEL}") for i, j in enumerate(columns)]
        table[f"why_{place}"] = [f"{text} ({parts[i, j]:+.3f})" for i, (text, j) in enumerate(zip(shown, columns))]
    return table.assign(why_rest=np.round(scores - np.take_along_axis(parts, best, axis=1).sum(axis=1), 3))


def fit(args):
    with bounded_memory(args.table):
        texts, y = read_labeled(args)
    print(f"{len(y):,} rows of {args.table}: {y.sum():,} labelled anomalies, {len(y) - y.sum():,} unlabelled.")
    with bounded_memory(args.table):
        kinds = choose_columns(texts, args.table)
    start = time.perf_counter()
    model = EventModel.fit(args.method, texts, kinds, y, args.seed)
    save_model(args.model, model)
    print(f"Fitted {args.method} on {sum(model.widths)} features in {time.perf_counter() - start:.1f} s; wrote {args.model}.")
    best = score_rows(model, texts[y == 0], args.top, args.method in EXPLAINED)
    print(f"\nThe {len(best)} most suspicious of the unlabelled rows:")
    print(best[[name for name in best if name not in ("why_4", "why_5", "why_rest")]].round(3).to_string(index=False))


def score_rows(model, texts, top=None, explain=False):
    """Row number, score and, if wanted, reasons of the rows of a table of strings, or of the `top` with the highest scores."""
    chunks = []
    for start in range(0, len(texts), CHUNK_ROWS):
        rows = texts.iloc[start:start + CHUNK_ROWS]
        X, scores = model.score(rows)
        kept = np.arange(len(rows)) if top is None else np.sort(np.argsort(-scores, kind="stable")[:top])
        chunk = pd.DataFrame({"row": rows.index[kept] + 1, "score": scores[kept]}, index=rows.index[kept])
        chunks.append(chunk.join(reasons_of(model, rows.iloc[kept], X[kept], scores[kept])) if explain else chunk)
    result = pd.concat(chunks)
    return result if top is None else result.nlargest(top, "score")


def score(args):
    model, table, output = load_model(args.model), Table(args.table), Path(args.output)
    table.require(model.kinds, f"that {args.model} was fitted on")
    if args.explain and model.method not in EXPLAINED:
        raise DataError(f"--explain is for {' and '.join(EXPLAINED)}, but {args.model} is a model of {model.method}.")
    if output.exists() and any(output.samefile(path) for path in (args.table, args.model)):
        raise DataError(f"{output} is read from, so the scores cannot be written there.")
    keep = table.columns if args.keep == [] else args.keep or []
    table.require(keep, "of --keep")
    for name in keep:
        if re.fullmatch("row|score|flag|why_.*", name):
            raise DataError(f"{args.table} has a column {name!r} itself, so it cannot be kept beside that of the scores: rename it.")
    threshold = None if args.contamination is None else model.threshold(args.contamination)
    n_rows, n_flagged, best = 0, 0, pd.DataFrame()
    with written_whole(output) as file, tqdm(total=table.size, unit="B", unit_scale=True, disable=None) as bar:
        for texts in table.chunks([name for name in table.columns if name in keep or name in model.kinds]):
            result = score_rows(model, texts, args.top, args.explain)
            if threshold is not None:
                result.insert(2, "flag", (result["score"] > threshold).astype(int))
                n_flagged += result["flag"].sum()
            result = texts[keep].join(result, how="right") if keep else result
            if args.top:
                best = (result if best.empty else pd.concat([best, result])).nlargest(args.top, "score")
            else:
                result.to_csv(file, mode="wb", header=n_rows == 0, index=False)
            n_rows += len(texts)
            bar.update(table.position - bar.n)
        if args.top:
            best.to_csv(file, mode="wb", index=False)
    print(f"Scored {n_rows:,} rows of {args.table}; wrote {f'the {len(best):,} highest' if args.top else 'all'} to {output}.")
    if threshold is not None:
        n_flagged = best["flag"].sum() if args.top else n_flagged
        print(f"Flagged {n_flagged:,} of the {len(best) if args.top else n_rows:,} rows written: score above {threshold:.6g}, which "
              f"{100 * args.contamination:g}% of the {model.n_rows:,} training rows exceed (--contamination).")  # fmt: skip


# ---------------------------------------------------------------------------- evaluate


def hide_labels(y, n_labeled, seed):
    """Positions of unlabelled and labelled training rows and of test rows, and how many anomalies are left out.

    The split is that of protocol `independent`. Of the anomalies whose label is hidden, as many stay among the unlabelled rows as make up
    2% of them, or all if they are fewer.
    """
    split = split_independent(y, seed, n_labeled, contamination=0.0)
    hidden = np.setdiff1d(np.flatnonzero(y), np.concatenate([split.anomalies, split.test]))
    wanted = contamination_count(y[split.unlabeled], HIDDEN_SHARE)
    if len(hidden) > wanted:
        split = split_independent(y, seed, n_labeled, HIDDEN_SHARE)
        return split.unlabeled, split.anomalies, split.test, len(hidden) - wanted
    return np.concatenate([split.unlabeled, hidden]), split.anomalies, split.test, 0


def evaluate(args):
    with bounded_memory(args.table):
        texts, y = read_labeled(args, all_known=True)
    if min(y.sum(), len(y) - y.sum()) < 5:
        raise DataError(f"{args.table} has {y.sum()} anomalies among {len(y):,} rows; to hold 20% out, at least 5 of each are needed.")
    print(f"{len(y):,} rows of {args.table}: {y.sum():,} anomalies.")
    with bounded_memory(args.table):
        kinds = choose_columns(texts, args.table)
    results, tests = [], []
    for seed in range(args.seed, args.seed + args.runs):
        unlabeled, anomalies, test, n_left_out = hide_labels(y, args.n_labeled, seed)
        if seed == args.seed:
            print(
                f"Held out: {len(test):,} rows, {y[test].sum():,} of them anomalies. For training: {len(anomalies):,} labelled anomalies,\n"
                f"{len(unlabeled):,} unlabelled rows, {y[unlabeled].sum():,} of them anomalies with hidden labels. "
                f"Left out: the other {n_left_out:,} anomalies."
            )
        rows = np.concatenate([unlabeled, anomalies])
        model = EventModel.fit(args.method, texts.iloc[rows], kinds, np.repeat([0, 1], [len(unlabeled), len(anomalies)]), seed)
        scores = score_rows(model, texts.iloc[test])["score"].to_numpy()
        tests.append((y[test], scores))
        ranked = y[test][np.argsort(-scores, kind="stable")]
        result = {"seed": seed, "AUC-ROC": roc_auc_score(y[test], scores), "AUC-PR": average_precision_score(y[test], scores)}
        counts = sorted({k for k in (10, 50, 100, int(ranked.sum())) if k <= len(ranked)})
        results.append(result | {f"precision at {k}": ranked[:k].mean() for k in counts})
    table = pd.DataFrame(results).set_index("seed")
    if args.runs > 1:
        table = pd.concat([table, table.agg(["mean", lambda column: column.std(ddof=0)]).set_axis(["mean", "std"])])
    print(table.rename_axis("seed").reset_index().to_string(index=False, float_format="%.4f"))
    draw_curves(tests, Path(args.output))
    print(f"Wrote {args.output}.")


def draw_curves(tests, path):
    """ROC and precision-recall curves of all runs, as PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    roc, pr = figure.subplots(1, 2)
    for y, scores in tests:
        roc.plot(*roc_curve(y, scores)[:2], "C0", alpha=0.8, linewidth=1)
        precision, recall, _ = precision_recall_curve(y, scores)
        pr.plot(recall, precision, "C0", alpha=0.8, linewidth=1, drawstyle="steps-post")
    roc.plot([0, 1], [0, 1], "0.6", linestyle=":")
    pr.axhline(tests[0][0].mean(), color="0.6", linestyle=":")
    roc.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC")
    pr.set(xlabel="recall", ylabel="precision", title="precision and recall", ylim=(0, 1.02))
    with written_whole(path) as file:
        figure.savefig(file, format="png", dpi=120, metadata={"Software": None})


# ---------------------------------------------------------------------------- command line


def column_names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def make_parser():
    parser = argparse.ArgumentParser(prog="detect.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    hidden = ("Holds 20% of the rows out, hides all but --n-labeled of the training anomalies, fits and scores. Of the hidden anomalies "
              f"as many stay among the unlabelled rows as make up {HIDDEN_SHARE:.0%} of them, the others are left out, as in the paper's "
              "experiments.")  # fmt: skip
    fitting = commands.add_parser("fit", help="learn from a table with some labelled anomalies")
    scoring = commands.add_parser("score", help="score the rows of a table with a model of fit")
    evaluation = commands.add_parser("evaluate", help="how well it works, for a table whose labels are all known", description=hidden)
    for command in (fitting, scoring, evaluation):
        command.add_argument("table", help="CSV, also gzipped, or Parquet")
    for command in (fitting, evaluation):
        command.add_argument("--label", required=True, metavar="COLUMN", help="1/0 or true/false; empty means unlabelled")
        command.add_argument("--anomaly-value", metavar="VALUE", help="what marks an anomaly instead; all other labels then mean 0")
        command.add_argument("--normal-value", metavar="VALUE", help="what marks known normal rows, which join the unlabelled ones")
        command.add_argument("--drop", type=column_names, default=[], metavar="A,B", help="columns to leave out")
        command.add_argument("--method", choices=METHODS_WITH_NETWORK, default="prenet", help="(default: %(default)s)")
        command.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    fitting.add_argument("--model", required=True, help="file to write the model to")
    fitting.add_argument("--top", type=positive, default=10, metavar="N", help="suspicious rows to show (default: %(default)s)")
    scoring.add_argument("--model", required=True, help="file that fit wrote")
    scoring.add_argument("--output", default="scores.csv", help="CSV to write (default: %(default)s)")
    scoring.add_argument("--keep", type=column_names, nargs="?", const=[], metavar="A,B", help="write input columns too, all or these")
    scoring.add_argument("--top", type=positive, metavar="N", help="only the N rows with the highest scores, in that order")
    expected = "expected share of anomalies: flags rows above the score that this share of the training rows exceeds"
    scoring.add_argument("--contamination", type=rate, metavar="RATE", help=expected)
    reasons = f"the {REASONS} columns that raise each score most ({' and '.join(EXPLAINED)} only)"
    scoring.add_argument("--explain", action="store_true", help=reasons)
    evaluation.add_argument("--n-labeled", type=positive, default=60, help="training anomalies that stay labelled (default: %(default)s)")
    evaluation.add_argument("--runs", type=positive, default=1, help="with the seeds from --seed on (default: %(default)s)")
    evaluation.add_argument("--output", default="curves.png", help="PNG of the curves (default: %(default)s)")
    return parser


def main(argv=None):
    parser = make_parser()
    args = parser.parse_args(argv)
    try:
        {"fit": fit, "score": score, "evaluate": evaluate}[args.command](args)
    except DataError as error:
        parser.exit(2, f"{parser.prog} {args.command}: error: {error}\n")
    except KeyboardInterrupt:
        parser.exit(130, "Stopped. Nothing was written.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
