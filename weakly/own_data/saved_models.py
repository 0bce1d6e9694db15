"""A fitted EventModel as one file.

    save_model("fraud.model", model)
    X, scores = load_model("fraud.model").score(texts)

A model file is a zip of format.json and plain .npy arrays. Loading it executes nothing: arrays are read
without pickle, a network is its weights, whose shapes this code knows, and trees are arrays too, checked
before a library gets them. So it is safe to load a file that somebody sent you. Networks score in numpy:
TensorFlow is not imported.
"""

import io
import json
import zipfile
from pathlib import Path

import numpy as np

from weakly.errors import DataError
from weakly.loading.files import bounded_memory, guarded, open_zip, read_array
from weakly.methods import make_detector
from weakly.own_data.calibration import described_calibration, rebuilt_calibration
from weakly.own_data.drift import check_summary
from weakly.own_data.event_model import QUANTILES, SAVED_METHODS, EventModel
from weakly.own_data.features import (
    check_description,
    described_encoder,
    rebuilt_encoder,
    require,
    typical_cells,
)
from weakly.own_data.origin import check_origin
from weakly.writing import written_whole

FORMAT, VERSION = "prenet-events", 1
# bytes that a model file may expand to; a model of 21 columns has 0.2 MB, FEAWAD with 1,000 features 1 MB
MODEL_SIZE_LIMIT = 2**26
# Building a predictor takes 0.1 ms and 10 kB for each tree, and scoring a number for each row and sum.
# CatBoost has 1,000 trees; XGBOD's forests give 7 sums
MOST_TREES, MOST_SUMS = 10_000, 16


def save_model(path, model):
    """Write a model as one file, which appears only when complete; the same model gives the same bytes."""
    arrays = dict(sorted(model.detector.learned().items()))
    arrays |= {"quantiles": model.quantiles, "typical": model.typical}
    calibration = None
    if model.calibration:
        calibration_arrays, calibration = described_calibration(model.calibration)
        arrays |= calibration_arrays
    contents = {
        "format": FORMAT,
        "version": VERSION,
        "method": model.method,
        "parameters": {"random_state": model.detector.random_state} | model.detector.learning_parameters(),
    }
    contents |= {"rows": model.n_rows, "columns": described_encoder(model.encoder), "arrays": list(arrays)}
    contents["summary"] = model.summary
    contents["origin"] = model.origin
    if calibration:
        contents["calibration"] = calibration
    contents["table"] = {"decimal": model.decimal, "header": model.header}
    members = {"format.json": json.dumps(contents, indent=1).encode()}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    if sum(map(len, members.values())) > MODEL_SIZE_LIMIT:  # load_model would refuse it
        raise DataError(
            f"The {model.method} model of this table is too large for a file: it has more than "
            f"{MODEL_SIZE_LIMIT >> 20} MiB. Drop columns with --drop, or choose another --method."
        )
    with written_whole(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            packing = zipfile.ZIP_STORED if name == "format.json" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), data, packing)


def load_model(path):
    """Read what save_model wrote; a DataError for any other file."""
    try:
        contents, arrays = _read_contents(Path(path))
        with np.errstate(all="ignore"):  # no warnings, whatever numbers the file contains
            return _built_model(contents, arrays, path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except DataError:
        raise
    except (
        Exception
    ) as error:  # the zip, JSON and array readers raise a dozen kinds of exceptions on damaged input
        reason = str(error).partition("\n")[0]  # XGBoost adds a stack trace
        raise DataError(
            f"{path} is damaged or not a model of detect.py: {type(error).__name__}: {reason}."
        ) from None


def _read_contents(path):
    """What format.json says, and the arrays that it names."""
    with bounded_memory(path), open(path, "rb") as file, open_zip(file, path) as archive:
        if sum(member.file_size for member in archive.infolist()) > MODEL_SIZE_LIMIT:
            raise DataError(
                f"{path} expands to more than {MODEL_SIZE_LIMIT} bytes, which no model of detect.py does."
            )
        with archive.open("format.json") as stream:
            contents = json.loads(guarded(stream, path, MODEL_SIZE_LIMIT).read())
        if contents["format"] != FORMAT or contents["version"] != VERSION:
            found = f"{contents['format']} {contents['version']}"
            raise DataError(f"{path} has format {found}; this code reads {FORMAT} {VERSION}.")
        arrays = {name: read_array(archive, name, path, MODEL_SIZE_LIMIT) for name in contents["arrays"]}
    for name, array in arrays.items():
        require(np.isfinite(array).all(), f"{name} has numbers that are not finite")
    return contents, arrays


def _built_model(contents, arrays, path):
    """The model of these parts; they fit together, because it has scored a row before it is handed out."""
    detector = _new_detector(contents["method"], contents["parameters"], path)
    quantiles, n_rows = arrays.pop("quantiles"), contents["rows"]
    require(
        quantiles.shape == (QUANTILES,) and (np.diff(quantiles) >= 0).all(), "its quantiles are not valid"
    )
    require(type(n_rows) is int and 0 < n_rows < 2**53, "it was fitted on no rows")
    check_description(contents["columns"])
    _check_number_of_trees(arrays)
    encoder = rebuilt_encoder(contents["columns"])
    typical = arrays.pop("typical", None)
    decimal, header = _notation(contents)
    model = EventModel(
        contents["method"], detector, encoder, quantiles, n_rows, typical, decimal=decimal, header=header
    )
    n_features = sum(model.widths)
    if typical is None:  # an older file: medians and modes, and a rare level of categories
        model.typical = typical = model.encode(typical_cells(contents["columns"]))[0]
    require(typical.shape == (n_features,) and typical.dtype == np.float32, "its typical row is not valid")
    if contents.get("summary") is not None:  # older files have none
        check_summary(contents["summary"], model.kinds)
        model.summary = contents["summary"]
    if contents.get("origin") is not None:
        check_origin(contents["origin"], n_rows)
        model.origin = contents["origin"]
    if contents.get("calibration") is not None:  # few files have one
        model.calibration = rebuilt_calibration(arrays, contents["calibration"])
    detector.restore(arrays, n_features)
    return model


def _notation(contents):
    """How the table was written: its decimal mark, and whether it had a header; older files do not say."""
    table = contents.get("table", {})
    decimal, header = table.get("decimal", "."), table.get("header", True)
    known = set(table) <= {"decimal", "header"} and decimal in (".", ",") and type(header) is bool
    require(known, "its description of the table is not valid")
    return decimal, header


def _check_number_of_trees(arrays):
    """Refuse more trees, or more sums of their leaves, than any method here has."""
    for name, array in arrays.items():
        require(not name.endswith("_sizes") or array.size <= MOST_TREES, "it has too many trees")
        require(not name.endswith("_groups") or array.max(initial=0) < MOST_SUMS, "it has too many sums")


def _new_detector(method, settings, path):
    """The unfitted detector of a model file, whose settings must be the defaults of the method."""
    if method not in SAVED_METHODS:
        raise DataError(f"{path} is a model of the unknown method {method!r}.")
    detector = make_detector(method, random_state=int(settings.pop("random_state")))
    defaults = json.loads(json.dumps(detector.learning_parameters()))  # tuples become lists, as in the file
    for (
        name,
        value,
    ) in settings.items():  # detect.py changes none; another value could mean a network of any size
        if name not in defaults or defaults[name] != value:
            raise DataError(
                f"{path} was made with {name}={value!r}, which this version of {method} does not have."
            )
    return detector
