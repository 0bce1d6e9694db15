"""Make the ready models and their example tables in examples/.

    python -m tools.examples                         # both, from dataset/raw/, --source or the network
    python detect.py score examples/thyroid.csv --model examples/thyroid.model --keep class --output -

A model learns as in `detect.py evaluate --seed 0`: 80% of the rows are for training, with 60 labelled
anomalies; hidden anomalies make up 2% of the unlabelled rows, and the other anomalies are left out. The
example comes from the rest, which the model has not seen: 42 normal rows and 7 anomalies, spread evenly over
the file. Its scores are in a file next to it, and examples/made_with.json says how each model was made.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import detect
from weakly.command_line import user_errors_end
from weakly.environment import machine, package_versions
from weakly.errors import DataError
from weakly.judging.tables import write_table
from weakly.loading import readers
from weakly.loading.fetching import fetch_files
from weakly.loading.options import add_data_arguments, make_finder
from weakly.loading.registry import DATA_SETS, how_to_get
from weakly.loading.splits import split_independent
from weakly.paths import ROOT
from weakly.writing import written_whole

METHOD, SEED, N_LABELED, HIDDEN_SHARE = "prenet", 0, 60, 0.02
EXAMPLE = {"normal rows": 42, "anomalies": 7}
# How every model is made; one with another description is out of date.
DESCRIPTION = {"method": METHOD, "seed": SEED, "labelled anomalies": N_LABELED}
DESCRIPTION |= {"hidden anomalies, share": HIDDEN_SHARE, "example": EXAMPLE}


class Source(NamedTuple):
    """The table that a model is made from, as published, with all cells as text."""

    recipe_reader: Any  # which recipe of the data set has the table
    read: Any
    label: str
    anomaly: str


EXAMPLE_SOURCES = {
    "thyroid": Source(
        readers.read_class_csv, partial(readers.read_text_table, keep_default_na=False), "class", "1"
    ),
    "campaign": Source(readers.read_bank, readers.bank_table, "y", "yes"),
}


def source_table(name, finder):
    """The published table of a data set and its file; DataError if it is not available."""
    source = EXAMPLE_SOURCES[name]
    recipe = next(recipe for recipe in DATA_SETS[name].recipes if recipe.read is source.recipe_reader)
    files = fetch_files(recipe, finder)
    if not files:
        raise DataError(how_to_get(name))
    return source.read(files[0].path, dtype=str), files[0]


def divided(table, source):
    """The training table, with label 1 or none, and the example, both in the order of the file."""
    y = (table[source.label] == source.anomaly).to_numpy().astype(int)
    split = split_independent(y, SEED, N_LABELED, HIDDEN_SHARE)
    training, unseen = np.sort(np.concatenate([split.unlabeled, split.anomalies])), np.sort(split.test)
    labels = np.where(np.isin(training, split.anomalies), "1", "")
    parts = [unseen[y[unseen] == kind] for kind in (0, 1)]
    shown = [  # spread evenly from the first to the last
        rows[np.linspace(0, len(rows) - 1, count).astype(int)] for rows, count in zip(parts, EXAMPLE.values())
    ]
    return table.iloc[training].assign(**{source.label: labels}), table.iloc[np.sort(np.concatenate(shown))]


def make_model(name, finder, examples):
    """Write a model, its example and the example's scores; return how the model was made."""
    table, file = source_table(name, finder)
    training, example = divided(table, EXAMPLE_SOURCES[name])
    model, shown, scores = (examples / f"{name}{end}" for end in (".model", ".csv", "_scores.csv"))
    write_table(example, shown)
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder, f"{name}_training.csv")
        write_table(training, events)
        fit = ["fit", events, "--label", EXAMPLE_SOURCES[name].label, "--model", model, "--top", 1]
        detect.main([*map(str, fit), "--method", METHOD, "--seed", str(SEED)])
    detect.main(["score", str(shown), "--model", str(model), "--output", str(scores)])
    made_from = {"source": file.path.name, "source_sha256": file.sha256, "training rows": len(training)}
    return made_from | {"model_sha256": hashlib.sha256(model.read_bytes()).hexdigest()}


def main(argv=None):
    parser = argparse.ArgumentParser("python -m tools.examples", description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=ROOT, help="of examples/ (default: this repository)")
    add_data_arguments(parser)
    args = parser.parse_args(argv)
    with user_errors_end(parser):
        examples, finder = args.folder / "examples", make_finder(args)
        made = {name: make_model(name, finder, examples) for name in EXAMPLE_SOURCES}
        about = {"description": DESCRIPTION, "models": made, "packages": package_versions()}
        with written_whole(examples / "made_with.json") as file:
            file.write((json.dumps(about | {"machine": machine()}, indent=1) + "\n").encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
