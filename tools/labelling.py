"""Does the labelling loop learn? Measures anomalies found and AUC-PR over five rounds of 20 labels each.

    PRENET_DATA=folder python -m tools.labelling --results-dir results/reference

This runs the loop of `detect.py next` and `fit --checked`, with a table's true labels instead of a person. A
fifth of the rows is held out. Of the other rows, 10 anomalies are labelled at the start. In every round, 20
rows are checked, and the model is fitted again. Three strategies are compared, from the same start:

used      check the rows that `next` proposes; the normal ones become known normals
ignored   the same, but the normal ones stay unlabelled; they are not proposed again
random    check random rows; the normal ones become known normals

Tables: creditcard (creditcard.csv or .csv.xz: all frauds and 60,000 random other rows) and bank
(bank-additional.zip, its file bank-additional-full.csv, anomaly: y = yes). The weight of known
normals (known_normals.py) was chosen on other tables: thyroid, and w7a for one of its two numbers.

Writes <results>/labelling.csv, a line per round, and <results>/figures/labelling.png and .svg. Runs that are
already in the file are not repeated. Takes about 20 minutes on 2 idle cores.
"""

import argparse
import io
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from tools.labelling_figure import draw_labelling
from weakly.command_line import parse_names, positive, user_errors_end
from weakly.errors import DataError
from weakly.methods import make_detector
from weakly.own_data.column_kinds import choose_columns, rare_below, typed_columns
from weakly.own_data.event_model import SAVED_METHODS
from weakly.own_data.features import MOST_LEVELS, new_encoder
from weakly.own_data.proposals import rows_to_check
from weakly.writing import written_whole

START, ROUNDS, CHECKED = 10, 5, 20  # labelled anomalies at the start; rounds; rows checked in each
STRATEGIES = ("used", "ignored", "random")
NORMALS = 60_000  # of creditcard
CELL = ["table", "method", "seed"]


def read_creditcard(folder):
    """All frauds and 60,000 random other rows as strings, and which of them are frauds."""
    packed = folder / "creditcard.csv.xz"
    texts = pd.read_csv(packed if packed.exists() else folder / "creditcard.csv", dtype=str)
    is_fraud = (texts.pop("Class") == "1").to_numpy()
    normals = np.random.default_rng(0).choice(np.flatnonzero(~is_fraud), NORMALS, replace=False)
    rows = np.sort(np.concatenate([np.flatnonzero(is_fraud), normals]))
    return texts.iloc[rows].reset_index(drop=True), is_fraud[rows]


def read_bank(folder):
    """UCI's marketing calls as strings, and which of them were a success."""
    with zipfile.ZipFile(folder / "bank-additional.zip") as archive:
        data = archive.read("bank-additional/bank-additional-full.csv")
    texts = pd.read_csv(io.BytesIO(data), sep=";", dtype=str)
    return texts, (texts.pop("y") == "yes").to_numpy()


TABLES = {"creditcard": read_creditcard, "bank": read_bank}


def split_features(table, kinds, y, seed):
    """X and y of the rows to label, and of those held out; the features are those of `detect.py fit`."""
    pool, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed, stratify=y)
    encoder = new_encoder(kinds, rare_below(len(pool)), MOST_LEVELS).fit(table.iloc[pool])
    X = np.ascontiguousarray(encoder.transform(table), np.float32)
    return X[pool], y[pool], X[test], y[test]


class Loop:
    """One labelling loop: the rows that are labelled so far, and the model fitted on them."""

    def __init__(self, data, method, strategy, seed):
        self.X, self.y, self.X_test, self.y_test = data
        self.method, self.strategy, self.seed = method, strategy, seed
        self.rng = np.random.default_rng(seed)
        self.is_labeled = np.zeros(len(self.y), bool)
        self.is_labeled[self.rng.choice(np.flatnonzero(self.y), START, replace=False)] = True

    def fit(self):
        normal = self.is_labeled & ~self.y if self.strategy != "ignored" else None
        detector = make_detector(self.method, random_state=self.seed)
        self.detector = detector.fit(self.X, self.is_labeled & self.y, normal)

    def check_rows(self):
        """What a person would do: 20 more rows get their true labels."""
        if self.strategy == "random":
            rows = self.rng.choice(np.flatnonzero(~self.is_labeled), CHECKED, replace=False)
        else:
            scores = self.detector.decision_function(self.X)
            rows, _ = rows_to_check(self.X, scores, ~self.is_labeled, CHECKED)
        self.is_labeled[rows] = True

    def measured(self, number):
        """A line of the results after this round."""
        return {
            "strategy": self.strategy,
            "round": number,
            "found": int((self.is_labeled & self.y).sum()) - START,
            "labels": int(self.is_labeled.sum()),
            "auc_pr": average_precision_score(self.y_test, self.detector.decision_function(self.X_test)),
        }


def run_loops(data, method, seed):
    """The lines of all strategies; they share the first fit, because they start alike."""
    first = None
    for strategy in STRATEGIES:
        loop = Loop(data, method, strategy, seed)
        if first is None:
            loop.fit()
            first = loop.detector
        loop.detector = first
        yield loop.measured(0)
        for number in range(1, ROUNDS + 1):
            loop.check_rows()
            loop.fit()
            yield loop.measured(number)


def measure(args, path):
    """All lines, those of the file first; the file grows after every seed of a method on a table."""
    table = pd.read_csv(path, float_precision="round_trip") if path.exists() else pd.DataFrame(columns=CELL)
    done = set(table[CELL].itertuples(index=False, name=None))
    folder = Path(os.environ.get("PRENET_DATA", "dataset/raw"))
    for name in args.tables:
        missing = [(name, one, seed) for seed in range(args.seeds) for one in args.methods]
        missing = [cell for cell in missing if cell not in done]
        if not missing:
            continue
        try:
            texts, y = TABLES[name](folder)
        except OSError as error:
            where = f"{folder} (set PRENET_DATA to the folder of the data)"
            raise DataError(f"{name} cannot be read from {where}: {error}.") from None
        kinds = choose_columns(texts, name)
        columns = typed_columns(texts, kinds)
        for _, method, seed in missing:
            data = split_features(columns, kinds, y, seed)
            lines = pd.DataFrame(run_loops(data, method, seed))
            lines = lines.assign(table=name, method=method, seed=seed)
            last = lines[lines["round"] == ROUNDS].set_index("strategy")["found"]
            print(f"{name}, {method}, seed {seed}: found {last.to_dict()}", flush=True)
            table = lines if table.empty else pd.concat([table, lines])
            table = table.sort_values([*CELL, "strategy", "round"], kind="stable")
            with written_whole(path) as file:
                table[[*CELL, *lines.columns[:5]]].to_csv(file, index=False)
    return table


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tools.labelling",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = "(default: %(default)s)"
    methods = lambda text: parse_names(text, SAVED_METHODS, "method")  # noqa: E731
    tables = lambda text: parse_names(text, TABLES, "table")  # noqa: E731
    parser.add_argument(
        "--methods", type=methods, default=["prenet", "logistic"], metavar="A,B", help=default
    )
    parser.add_argument("--tables", type=tables, default=list(TABLES), metavar="A,B", help=default)
    parser.add_argument("--seeds", type=positive, default=5, metavar="N", help=f"number of seeds {default}")
    parser.add_argument("--results-dir", default="results", help=f"folder of labelling.csv {default}")
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        path = Path(args.results_dir) / "labelling.csv"
        table = measure(args, path)
        means = table.groupby(["table", "method", "strategy", "round"])[["found", "auc_pr"]].mean()
        print(means.unstack("round").round(3).to_string())
        written = draw_labelling(table, path.parent / "figures" / "labelling")
        print("\n".join(map(str, [path, *written])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
