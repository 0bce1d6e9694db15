"""A detector together with its table: from the user's columns to features, scores and reasons; saved as one file.

    model = EventModel.fit("prenet", texts, {"amount": "number", "country": "category"}, y)      # texts: a table of strings
    save_model("fraud.model", model)
    scores = load_model("fraud.model").score(texts)

A model file is a zip of format.json and plain .npy arrays. Loading it executes nothing: arrays are read without pickle, and the
network is built by this code and only filled with the weights. So it is safe to load a file that somebody sent you.

Of the scikit-learn transformers it has what they learned (smallest, median and largest value of a column, its frequent levels).
"""

import io
import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

from data_files import DataError, bounded_memory, guarded, open_zip, printable, read_array
from data_sources import written_whole
from methods import make_detector

FORMAT, VERSION = "prenet-events", 1
SIZE_LIMIT = 2**26  # bytes, of all that a model file expands to; one of 21 columns has 0.2 MB, one of 1,000 features with FEAWAD 1 MB
STATE_LIMIT, STATE_LIMIT_PER_FEATURE = 2**14, 32  # numbers in what a detector keeps beside its network: REPEN 8,000, PReNet 30 rows
MOST_FLOAT = np.finfo(np.float64).max
METHODS_WITH_NETWORK = ("prenet", "devnet", "dsad", "fsnet", "cfsnet", "repen", "pumad", "feawad")
EXPLAINED = ("prenet", "devnet")  # their score is linear in psi(x), so that it falls into parts
MISSING = ("", "na", "n/a", "nan", "null", "none", "?")  # in a column of numbers, in upper or lower case
MISSING_LEVEL, RARE_LEVEL = "(missing)", "\0"  # the second is in no file
TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
MOST_COLUMNS = 10_000  # of a table
MOST_LEVELS = 50  # of a category; the rarest beyond them share one feature
QUANTILES = 10_001  # of the training scores, kept for thresholds


# ---------------------------------------------------------------------------- from columns to features


def is_missing(texts):
    """Whether each text of a column of numbers or of truth values stands for no value."""
    return texts.str.strip().str.casefold().isin(MISSING)


def typed_columns(texts, kinds):
    """The columns of a table of strings as their kinds say: numbers and truth values as floats (NaN: missing), categories as they are.

    Messages number the rows by the table's index, from 1 on.
    """
    columns = texts[list(kinds)].copy()
    for name, kind in kinds.items():
        if kind == "category":
            continue
        cells = texts[name]
        values = pd.to_numeric(cells, errors="coerce") if kind == "number" else cells.str.strip().str.casefold().map(TRUTH)
        columns[name] = values.astype(np.float64)
        unclear = np.flatnonzero(~np.isfinite(columns[name]))
        wrong = unclear[~is_missing(cells.iloc[unclear]).to_numpy()] if len(unclear) else unclear
        if len(wrong):
            raise DataError(f"Row {texts.index[wrong[0]] + 1:,}: column {name!r} holds {cells.iloc[wrong[0]]!r}, where a {kind} belongs.")
    return columns


def rare_below(n_rows):
    """In how many of the training rows a level must occur for a feature of its own."""
    return min(10, max(2, n_rows // 100))


def new_encoder(kinds, min_frequency, max_categories=None):
    """Numbers to 0-1, truth values to 0 and 1, levels of categories to one-hot features; all gaps filled."""
    missing_level = SimpleImputer(missing_values="", strategy="constant", fill_value=MISSING_LEVEL)
    levels = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=min_frequency, max_categories=max_categories, sparse_output=False
    )
    steps = {
        "number": make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler()),
        "boolean": make_pipeline(SimpleImputer(strategy="most_frequent")),
        "category": make_pipeline(missing_level, levels),
    }
    members = {kind: [name for name in kinds if kinds[name] == kind] for kind in steps}
    return ColumnTransformer([(kind, steps[kind], names) for kind, names in members.items() if names], sparse_threshold=0)


def frequent_levels(one_hot):
    """For each column of a fitted one-hot encoder its levels with a feature of their own, and whether rare ones share another."""
    for levels, rare in zip(one_hot.categories_, one_hot.infrequent_categories_):
        yield levels[~np.isin(levels, [] if rare is None else rare)].tolist(), rare is not None


def described_encoder(encoder):
    """What a fitted encoder learned, for JSON: {column: kind and values}, in the order of the features."""
    columns = {}
    for kind, steps, names in encoder.transformers_:
        if kind == "number":
            learned = zip(steps[1].data_min_.tolist(), steps[0].statistics_.tolist(), steps[1].data_max_.tolist())
            columns |= {name: {"kind": kind, "min_median_max": values} for name, values in zip(names, learned)}
        elif kind == "boolean":
            columns |= {name: {"kind": kind, "mode": mode} for name, mode in zip(names, steps[0].statistics_.tolist())}
        elif kind == "category":
            learned = frequent_levels(steps[1])
            columns |= {name: {"kind": kind, "levels": levels, "rare": rare} for name, (levels, rare) in zip(names, learned)}
    return columns


def rebuilt_encoder(columns):
    """The encoder of such a description: fitted on a few rows that have the same smallest, median, largest and frequent values.

    Frequent levels occur twice in them, a placeholder for the rare ones once: a level that was never seen counts as rare.
    """
    n_rows = max([3] + [2 * len(column["levels"]) + column["rare"] for column in columns.values() if column["kind"] == "category"])
    rows = {}
    for name, column in columns.items():
        if column["kind"] == "number":
            smallest, median, largest = column["min_median_max"]
            rows[name] = [smallest, largest] + [median] * (n_rows - 2)
        elif column["kind"] == "boolean":
            rows[name] = [0.0, 1.0] + [column["mode"]] * (n_rows - 2)
        else:
            values = 2 * column["levels"] + [RARE_LEVEL] * bool(column["rare"])
            rows[name] = values + column["levels"][:1] * (n_rows - len(values))
    return new_encoder({name: column["kind"] for name, column in columns.items()}, min_frequency=2).fit(pd.DataFrame(rows))


# ---------------------------------------------------------------------------- model


@dataclass
class EventModel:
    """A fitted detector with the encoder of its columns."""

    method: str
    detector: Any
    encoder: ColumnTransformer
    quantiles: np.ndarray  # of the scores of all training rows, from the lowest to the highest
    n_rows: int  # of the training table

    @classmethod
    def fit(cls, method, texts, kinds, y, seed=0):
        """Learn from a table of strings and y (n,): 1 labelled anomaly, 0 unlabelled."""
        with bounded_memory("Encoding the table"), np.errstate(over="ignore", invalid="ignore"):
            table = typed_columns(texts, kinds)
            encoder = new_encoder(kinds, rare_below(len(table)), MOST_LEVELS).fit(table)
            model = cls(method, make_detector(method, random_state=seed), encoder, np.zeros(0), len(table))
            X = model.encode(table)
        try:
            model.detector.fit(X, y)
        except ValueError as error:  # too few rows for this method, or its training diverged
            raise DataError(f"{method} cannot be fitted: {error}.") from None
        model.quantiles = np.quantile(model.detector.decision_function(X), np.linspace(0, 1, QUANTILES))
        return model

    @property
    def kinds(self):
        """{column: kind} in the order of the features."""
        return {name: kind for kind, _, names in self.encoder.transformers_ if kind != "remainder" for name in names}

    @property
    def widths(self):
        """How many features each of these columns has."""
        widths = [1] * sum(kind != "category" for kind in self.kinds.values())
        if "category" in self.encoder.named_transformers_:
            widths += [len(levels) + rare for levels, rare in frequent_levels(self.encoder.named_transformers_["category"][-1])]
        return widths

    def encode(self, table):
        """Features (n, D) of typed columns, as float32."""
        with np.errstate(over="ignore", invalid="ignore"):
            X = np.ascontiguousarray(self.encoder.transform(table), dtype=np.float32)
        beyond = np.argwhere(~np.isfinite(X))
        if len(beyond):
            name = np.repeat(list(self.kinds), self.widths)[beyond[0, 1]]
            raise DataError(f"Row {table.index[beyond[0, 0]] + 1:,}: column {str(name)!r} holds a number too large to be scaled.")
        return X

    def score(self, texts):
        """Features (n, D) and scores (n,) of a table of strings."""
        X = self.encode(typed_columns(texts, self.kinds))
        return X, self.scored(X, texts.index)

    def scored(self, X, rows):
        """Scores (n,) of features (n, D); the numbers of the rows, from 0 on, are for the message."""
        try:
            return self.detector.decision_function(X)
        except ValueError as error:  # scores that overflow
            raise DataError(f"Rows {rows[0] + 1:,} to {rows[-1] + 1:,}: {error}") from None

    def threshold(self, contamination):
        """The score that the share `contamination` of the training rows exceeds."""
        return float(np.interp(1 - contamination, np.linspace(0, 1, len(self.quantiles)), self.quantiles))

    def explain(self, X):
        """Gradient times input (n, columns) of the scores of X, summed over the features of each column.

        With psi(x) = max(0, K'x + b), the score w.psi(x) + c is piecewise linear: a feature's part is x_j sum_h w_h 1[psi_h > 0] K_jh,
        and what is missing to the score is the biases and the constant.
        """
        psi, eta = (self.detector.model_.get_layer(name) for name in ("psi", "eta"))
        kernel, bias = psi.get_weights()
        weights = eta.get_weights()[0][:, 0].astype(np.float64)
        if self.method == "prenet":
            weights = np.mean(np.split(weights, 2), axis=0)  # (w_left + w_right) / 2: x stands on either side of its partners
        gradients = ((X @ kernel + bias > 0) * weights) @ kernel.T.astype(np.float64)
        return np.add.reduceat(X * gradients, np.cumsum([0, *self.widths[:-1]]), axis=1)


# ---------------------------------------------------------------------------- files


def save_model(path, model):
    """Write a model as one file, which appears only when it is whole; the same model gives the same bytes."""
    learned = {name: value for name, value in vars(model.detector).items() if is_state(name)}
    arrays = {name: np.asarray(value) for name, value in learned.items() if np.asarray(value).dtype.kind in "biuf"}
    arrays |= {f"weights_{number}": weights for number, weights in enumerate(model.detector.model_.get_weights())}
    arrays["quantiles"] = model.quantiles
    contents = {"format": FORMAT, "version": VERSION, "method": model.method, "parameters": model.detector.get_params()}
    contents |= {"rows": model.n_rows, "columns": described_encoder(model.encoder), "arrays": list(arrays)}
    with written_whole(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("format.json"), json.dumps(contents, indent=1))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED)


def is_state(name):
    """Whether an attribute of a detector is something learned, other than its network."""
    return re.fullmatch(r"[a-z]\w*_", name) is not None and name != "model_"


def load_model(path):
    """Read what save_model wrote; a DataError for whatever else the file may be."""
    try:
        contents, arrays = _read_contents(Path(path))
        return _built_model(contents, arrays, path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except DataError:
        raise
    except Exception as error:  # on damaged input the zip, JSON and array readers raise a dozen kinds of them
        raise DataError(f"{path} is damaged or no model of detect.py: {type(error).__name__}: {error}.") from None


def _read_contents(path):
    """What format.json says, and the arrays that it names."""
    with bounded_memory(path), open(path, "rb") as file, open_zip(file, path) as archive:
        if sum(member.file_size for member in archive.infolist()) > SIZE_LIMIT:
            raise DataError(f"{path} expands to more than {SIZE_LIMIT} bytes, as no model does.")
        with archive.open("format.json") as stream:
            contents = json.loads(guarded(stream, path, SIZE_LIMIT).read())
        if contents["format"] != FORMAT or contents["version"] != VERSION:
            raise DataError(f"{path} has format {contents['format']} {contents['version']}; this code reads {FORMAT} {VERSION}.")
        arrays = {name: read_array(archive, name, path, SIZE_LIMIT) for name in contents["arrays"]}
    for name, array in arrays.items():
        require(np.isfinite(array).all(), f"{name} has numbers that are not finite")
    return contents, arrays


def _built_model(contents, arrays, path):
    """The model of these parts; they fit together, because it has scored a row before it is handed out."""
    method, settings = contents["method"], contents["parameters"]
    if method not in METHODS_WITH_NETWORK:
        raise DataError(f"{path} is a model of the unknown method {method!r}.")
    detector = make_detector(method, random_state=int(settings.pop("random_state")))
    defaults = json.loads(json.dumps(detector.get_params()))  # tuples become lists, as in the file
    for name, value in settings.items():  # detect.py changes none; another value may be a network of any size
        if name not in defaults or defaults[name] != value:
            raise DataError(f"{path} was made with {name}={value!r}, which this version of {method} does not have.")
    quantiles, n_rows = arrays.pop("quantiles"), contents["rows"]
    require(quantiles.shape == (QUANTILES,) and (np.diff(quantiles) >= 0).all(), "its quantiles are none")
    require(type(n_rows) is int and 0 < n_rows < 2**53, "it was fitted on no rows")
    check_columns(contents["columns"])
    model = EventModel(method, detector, rebuilt_encoder(contents["columns"]), quantiles, n_rows)
    n_features = sum(model.widths)
    require(arrays["weights_0"].shape[:1] == (n_features,), "its network has other features")  # or it could be of any size
    detector._is_fitted = True  # what `fit` sets, and decision_function asks for
    detector.model_ = detector.build(n_features, seed=0)
    weights = [arrays.pop(f"weights_{number}") for number in range(len(detector.model_.get_weights()))]
    require(all(array.dtype == np.float32 for array in weights), "its weights are of another precision")  # or become infinite
    detector.model_.set_weights(weights)
    for name, array in arrays.items():
        require(is_state(name) and array.size <= STATE_LIMIT + STATE_LIMIT_PER_FEATURE * n_features,
                f"there is an unexpected array {name!r}")
        setattr(detector, name, array if array.ndim else array.item())
    detector.decision_function(np.zeros((1, n_features), np.float32))  # a ValueError if its parts do not fit together
    return model


def require(is_met, otherwise):
    """ValueError unless a condition is met."""
    if not is_met:
        raise ValueError(otherwise)


def check_columns(columns):
    """Refuse a description of an encoder that described_encoder would not give: nothing in it may grow without bound."""
    require(0 < len(columns) <= MOST_COLUMNS, f"there are {len(columns)} columns")
    for name, column in columns.items():
        kind, values = column["kind"], dict(column)
        values.pop("kind")
        if kind == "number":
            low, median, high = values.pop("min_median_max")
            valid = all(type(value) in (int, float) for value in (low, median, high)) and -MOST_FLOAT <= low <= median <= high <= MOST_FLOAT
        elif kind == "boolean":
            valid = values.pop("mode") in (0, 1)
        else:
            levels, rare = values.pop("levels"), values.pop("rare")
            valid = kind == "category" and type(levels) is list and type(rare) is bool and 0 < len(levels) + rare <= MOST_LEVELS
            valid = valid and all(type(level) is str and level != RARE_LEVEL for level in levels) and levels == sorted(set(levels))
        require(valid and not values, f"column {printable(name)!r} is described in another way than detect.py does")
