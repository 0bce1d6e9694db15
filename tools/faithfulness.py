"""Are the reasons of detect.py --explain the right ones? Measure how far scores fall without them.

    python -m tools.faithfulness bank-additional-full.csv --label y --anomaly-value yes --methods prenet,dsad

A detector learns from 60 labelled anomalies and all other training rows (as `detect.py evaluate` does), and
the --rows test rows with the highest scores are explained. The first three columns of each explanation are
then set to their typical values, and the fall of the score is averaged over the rows: the larger the fall,
the better the reasons. Three ways to choose the columns are compared:

from_minimum   gradient x input, which compares with a column's smallest value (until November 2026)
ours           what detect.py does: compares with the typical value, by gradient or occlusion
occlusion      each column set to its typical value by itself: the best that single columns can do

Adds to <results>/faithfulness.csv; from_minimum is empty for a score without gradients.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from weakly.command_line import parse_names, positive, user_errors_end
from weakly.own_data.column_kinds import choose_columns
from weakly.own_data.evaluation import hide_labels
from weakly.own_data.event_model import SAVED_METHODS, EventModel
from weakly.own_data.user_tables import Table, read_labeled
from weakly.training.explaining import first_features, occluded_parts
from weakly.writing import written_whole

NAMED = 3  # columns of each explanation


def fall_without(model, X, parts):
    """The mean fall of the scores of X when the columns with the largest parts have their typical values."""
    starts = np.cumsum([0, *model.widths])
    occluded = X.copy()
    for row, columns in enumerate(np.argsort(-parts, axis=1, kind="stable")[:, :NAMED]):
        for column in columns[parts[row, columns] > 0]:  # only what raises a score is a reason
            features = slice(starts[column], starts[column + 1])
            occluded[row, features] = model.typical[features]
    scores = model.detector.decision_function
    return float((scores(X) - scores(occluded)).mean())


def falls(model, X):
    """The fall for each way to choose the columns."""
    starts = first_features(model.widths, X.shape[1])
    gradients = model.detector._gradients(X)
    ways = {"from_minimum": None if gradients is None else np.add.reduceat(X * gradients, starts, axis=1)}
    ways["ours"] = model.explain(X)
    ways["occlusion"] = occluded_parts(model.detector.decision_function, X, model.typical, model.widths)
    return {name: np.nan if parts is None else fall_without(model, X, parts) for name, parts in ways.items()}


def measure(args):
    """A row per method."""
    values = None if args.anomaly_value is None else [args.anomaly_value]
    texts, y = read_labeled(Table(args.table), args.label, anomaly_values=values, all_known=True)
    kinds = choose_columns(texts, args.table)
    unlabeled, anomalies, test, _ = hide_labels(y, args.n_labeled, args.seed)
    rows = texts.iloc[np.concatenate([unlabeled, anomalies])]
    labels = np.repeat([0, 1], [len(unlabeled), len(anomalies)])
    for method in args.methods:
        model = EventModel.fit(method, rows, kinds, labels, args.seed)
        X, scores = model.score(texts.iloc[test])
        X = X[np.argsort(-scores, kind="stable")[: args.rows]]
        found = {"table": Path(args.table).name, "method": method, "rows": len(X)} | falls(model, X)
        print(
            ", ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{v}" for k, v in found.items()),
            flush=True,
        )
        yield found


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tools.faithfulness",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = "(default: %(default)s)"
    known = lambda text: parse_names(text, SAVED_METHODS, "method")  # noqa: E731
    parser.add_argument("table", help="CSV whose labels are all known")
    parser.add_argument("--label", required=True, metavar="COLUMN")
    parser.add_argument("--anomaly-value", metavar="VALUE", help="label of an anomaly, if not 1, true or yes")
    parser.add_argument("--methods", type=known, default=SAVED_METHODS, metavar="A,B", help="(default: all)")
    parser.add_argument("--rows", type=positive, default=100, help=f"number of rows to explain {default}")
    parser.add_argument("--n-labeled", type=positive, default=60, help=default)
    parser.add_argument("--seed", type=int, default=0, help=default)
    parser.add_argument("--results-dir", default="results", help=f"folder of faithfulness.csv {default}")
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        path = Path(args.results_dir) / "faithfulness.csv"
        table = pd.DataFrame(measure(args))
        if path.exists():
            table = pd.concat([pd.read_csv(path), table]).drop_duplicates(["table", "method"], keep="last")
        with written_whole(path) as file:
            table.to_csv(file, index=False)
        print(f"Wrote {path}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
