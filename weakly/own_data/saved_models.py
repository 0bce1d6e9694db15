"""A fitted EventModel as one file, written and read by skops.

    save_model("fraud.model", model)
    X, scores = load_model("fraud.model").score(texts)

Loading a file executes nothing that is in it: skops makes only objects of types that it knows to be harmless,
and of those that TRUSTED names. Networks and linear models are plain numbers, which need neither TensorFlow
nor XGBoost or CatBoost. The libraries do not check every number of a tree or an encoder, so a forged file may
still crash the program.
"""

import io
import zipfile

import numpy as np
import pandas as pd
import skops.io

from weakly.errors import DataError
from weakly.loading.files import bounded_memory, open_zip
from weakly.methods import METHODS
from weakly.own_data.column_kinds import typed_columns
from weakly.own_data.event_model import SAVED_METHODS, EventModel
from weakly.writing import written_whole

TRUSTED = [
    *sorted({f"{METHODS[name].module}.{METHODS[name].class_name}" for name in SAVED_METHODS}),
    "weakly.own_data.calibration.Calibration",
    "weakly.own_data.event_model.EventModel",
    "weakly.own_data.number_features.NumberFeatures",
    "numpy.dtype",
    "catboost.core.CatBoostClassifier",
    "sklearn.tree._tree.Tree",
    "xgboost.core.Booster",
]
# bytes that a model file may expand to; a model of 21 columns has 0.2 MB, FEAWAD with 1,000 features 1 MB
MODEL_SIZE_LIMIT = 2**26


def save_model(path, model):
    """Write a model as one file, which appears only when complete."""
    data = skops.io.dumps(model, compression=zipfile.ZIP_DEFLATED)
    if expanded_size(zipfile.ZipFile(io.BytesIO(data))) > MODEL_SIZE_LIMIT:  # load_model would refuse it
        raise DataError(
            f"The {model.method} model of this table is too large for a file: it has more than "
            f"{MODEL_SIZE_LIMIT >> 20} MiB. Drop columns with --drop, or choose another --method."
        )
    with written_whole(path) as file:
        file.write(data)


def expanded_size(archive):
    return sum(member.file_size for member in archive.infolist())


def load_model(path):
    """Read what save_model wrote; a DataError for any other file."""
    try:
        with bounded_memory(path), open(path, "rb") as file:
            if expanded_size(open_zip(file, path)) > MODEL_SIZE_LIMIT:
                raise DataError(
                    f"{path} expands to more than {MODEL_SIZE_LIMIT} bytes, which no model of detect.py does."
                )
            model = skops.io.load(file, trusted=TRUSTED)
        with np.errstate(all="ignore"):  # no warnings, whatever numbers the file contains
            check_model(model)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except DataError:
        raise
    except Exception as error:  # a type that is not trusted, and a dozen other kinds on damaged input
        reason = str(error).partition("\n")[0].rstrip(".")  # skops adds advice, XGBoost a stack trace
        raise DataError(
            f"{path} is damaged or not a model of detect.py: {type(error).__name__}: {reason}."
        ) from None
    return model


def check_model(model):
    """An error of some kind unless this is a model that can score a row without any value."""
    is_model = isinstance(model, EventModel) and model.method in SAVED_METHODS
    is_model = is_model and type(model.n_rows) is int and type(model.header) is bool
    if not (is_model and all(type(value) in (dict, type(None)) for value in (model.summary, model.origin))):
        raise ValueError("it holds something else")
    X = model.encode(typed_columns(pd.DataFrame({name: [""] for name in model.kinds}), model.kinds))
    model.detector.decision_function(X)
    model.threshold(0.5)
    if model.typical.shape != X.shape[1:]:
        raise ValueError("its typical row is another one")
