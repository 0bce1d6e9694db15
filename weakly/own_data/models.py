"""A model: a scikit-learn pipeline of an encoder and a detector, with plain values that describe it.

model = fit_model("prenet", table, columns, y)         # a typed table (columns.py); y: 1, 0 or None
save_model("fraud.model", model)
model = load_model("fraud.model")                      # file from anybody: see model_files.py
scores = model.scored(table); parts = model.reasons(table, scores)
"""

from contextlib import contextmanager

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from weakly.errors import DataError
from weakly.loading.files import bounded_memory
from weakly.methods import METHODS, make_detector, method_group
from weakly.own_data import model_files
from weakly.own_data.columns import typed_columns
from weakly.own_data.drift import Comparison, summarised
from weakly.own_data.encoding import new_encoder

KNOWN_TO_FAIL = ("logistic", "xgboost")  # beside their repaired versions, logistic-converged and xgboost-half
SAVED_METHODS = [name for name in method_group("table", "appendix", "today") if name not in KNOWN_TO_FAIL]
NAMES = {"iforest": "isolation forest", "random-forest": "random forest"}
NAMES |= {"logistic-converged": "logistic regression", "xgboost-half": "XGBoost"}
QUANTILES = 10_001  # of the training scores, kept for thresholds
TYPES = {"number": "float64", "truth": "float64", "category": object, "date": "datetime64[ns]"}
# the columns of a DataFrame by numpy's kinds of types; others are categories
COLUMNS = dict.fromkeys("iuf", {"kind": "number", "decimal": ".", "thousands": ""})
COLUMNS |= {"b": {"kind": "truth"}, "M": {"kind": "date", "format": "ISO8601"}}


def short(method):
    """The name of a method in a sentence."""
    return NAMES.get(method) or METHODS[method].column


def in_words(method):
    """A method in a short phrase, with what it is."""
    kind = "trees" if METHODS[method].is_tree else "linear" if "logistic" in method else "a network"
    return f"{short(method)} ({kind})"


def new_pipeline(method, columns, n_rows, seed=0, **settings):
    """An unfitted Pipeline for typed tables: steps `columns`, for a table of n_rows, and `detector`."""
    known = make_detector(method).learning_parameters()
    if wrong := ", ".join(name for name in settings if name not in known):
        raise DataError(f"{method} has no parameter {wrong}; it has {', '.join(known) or 'none'}.")
    encoder = new_encoder(columns, n_rows, METHODS[method].is_tree)
    detector = make_detector(method, random_state=seed, **settings)
    return Pipeline([("columns", encoder), ("detector", detector)])


@contextmanager
def unfit_reported(method):
    """Report in one sentence why a detector cannot be fitted: too few rows, or training that diverges."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise DataError(f"{method} cannot be fitted: {str(error).rstrip('.')}.") from None


def fit_model(method, table, columns, y, seed=0, settings=None, **about):
    """Learn from a typed table and y (n,): 1 labelled anomaly, 0 unlabelled; None if it needs no labels."""
    pipeline = new_pipeline(method, columns, len(table), seed, **settings or {})
    encoder, detector = pipeline.named_steps.values()
    with bounded_memory("Encoding the table"), np.errstate(over="ignore", invalid="ignore"):
        X = encoder.fit_transform(table)
    with unfit_reported(method):
        detector.fit(X, y)
    scores = detector.__dict__.pop("decision_scores_")  # one for each row: a file has only their quantiles
    # the labelled anomalies, which trees score far above all others, set no threshold
    unlabelled = scores if y is None else scores[np.asarray(y) == 0]
    return Model(pipeline, about_of(pipeline, table, columns, unlabelled, method) | about, scores)


def about_of(pipeline, table, columns, scores, method):
    """What a model file says about a pipeline, from its training table and the scores of unlabelled rows."""
    return {
        "method": method,
        "settings": pipeline[-1].get_params(),
        "columns": columns,
        "rows": len(table),
        "quantiles": np.quantile(scores, np.linspace(0, 1, QUANTILES)).tolist(),
        "typical": {name: typical(table[name]) for name in columns},
        "summary": summarised(table, columns),
        "missing": [],
        "origin": {},
        "choice": None,
    }


def typical(column):
    """The most frequent category, the median of other values; None if most cells are missing."""
    if column.isna().mean() > 0.5:
        return None
    return column.mode()[0] if column.dtype == object else column.median()


class Model:
    """A fitted pipeline with what its file says about it (about_of) and, if just fitted, its rows' scores."""

    def __init__(self, pipeline, about, training_scores=None):
        self.pipeline, self.about, self.training_scores = pipeline, about, training_scores

    @classmethod
    def of_pipeline(cls, pipeline, X):
        """The model of a pipeline that was fitted in Python on the DataFrame X, or on rows like these."""
        method = method_of(pipeline)
        if not isinstance(X, pd.DataFrame):
            raise ValueError(f"X must be a DataFrame, not {type(X).__name__}")
        columns = {name: COLUMNS.get(X[name].dtype.kind, {"kind": "category"}) for name in X}
        table = X.astype({name: TYPES[column["kind"]] for name, column in columns.items()})
        return cls(pipeline, about_of(pipeline, table, columns, pipeline.decision_function(X), method))

    @property
    def columns(self):
        """{name: {"kind": ...}} in the order of the table."""
        return self.about["columns"]

    def typed(self, raw, unreadable=None):
        """The columns that the model uses of a raw DataFrame, typed; see typed_columns."""
        return typed_columns(raw, self.columns, self.about["missing"], unreadable)

    def scored(self, table):
        """Scores (n,) of a typed table."""
        try:
            with bounded_memory("Scoring"), np.errstate(all="ignore"):  # whatever a file holds
                return self.pipeline.decision_function(table[list(self.columns)])
        except (TypeError, ValueError) as error:  # a missing cell without an imputer; scores that overflow
            rows = f"Rows {table.index[0] + 1:,} to {table.index[-1] + 1:,}"
            reason = str(error).partition("\n")[0].rstrip(".")
            raise DataError(f"{rows} cannot be scored: {reason}.") from None

    def threshold(self, rate):
        """The score that the share `rate` of the unlabelled training rows exceeds."""
        quantiles = self.about["quantiles"]
        return float(np.interp(1 - rate, np.linspace(0, 1, len(quantiles)), quantiles))

    def reasons(self, table, scores):
        """What each column adds to the scores (n,) of a typed table: (n, columns).

        This is the score of the row minus its score with the typical value in this column.
        """
        table, parts = table[list(self.columns)], np.zeros((len(table), len(self.columns)))
        for place, name in enumerate(table):
            cells, value = table[name], self.about["typical"][name]
            differs = (cells.notna() if value is None else cells != value).to_numpy()
            if differs.any():  # the others have the typical value already
                occluded = table[differs].assign(**{name: pd.Series(value, cells.index, cells.dtype)})
                parts[differs, place] = scores[differs] - self.scored(occluded)
        return parts


def method_of(pipeline):
    """The name of the method at the end of a pipeline."""
    last = pipeline[-1] if type(pipeline) is Pipeline else pipeline
    name = f"{type(last).__module__}.{type(last).__qualname__}"
    if last is pipeline or name not in model_files.DETECTORS:
        raise ValueError(f"a model must be a Pipeline that ends in a detector of this project, not {name}")
    alike = [one for one in METHODS if METHODS[one].class_name == type(last).__name__]
    exact = [one for one in alike if dict(METHODS[one].settings).items() <= last.get_params().items()]
    return max(exact or alike, key=lambda one: len(METHODS[one].settings))


save_model = model_files.save_model


def load_model(path):
    """Read what save_model wrote; a DataError for any other file."""
    from weakly.own_data.info_command import info

    with model_files.bad_model_reported(path):
        model = Model(*model_files.read_model(path))
        method_of(model.pipeline)
        model_files.check_numbers(model.pipeline)
        # all that commands do with what the file says about itself works with a typical row
        about, types = model.about, {name: TYPES[one["kind"]] for name, one in model.columns.items()}
        info(about)
        row = pd.DataFrame([about["typical"]]).astype(types)[list(types)]
        model.pipeline.decision_function(row)
        comparison = Comparison(about["summary"], model.columns)
        comparison.add(row)
        comparison.in_words()
        model.typed(pd.DataFrame({name: ["0"] for name in types}, dtype=object), set())
        are_numbers = np.ptp(about["quantiles"]) < np.inf and model.threshold(0.5) < np.inf
        are_texts = all(isinstance(text, str) for text in about["missing"])
        model_files.require(are_numbers and are_texts, "odd quantiles or missing cells")
    return model
