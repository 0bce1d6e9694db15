"""The file of a model: one zip with what skops writes and a member about.json, which says what it is.

    save_model("fraud.model", model)                  # its pipeline and, as plain values, what it is about
    with bad_model_reported("fraud.model"):
        pipeline, about = read_model("fraud.model")

A file may come from anybody. skops makes only objects of types that it knows to be harmless or that TRUSTED
names, so nothing is executed. Before, the sizes of members and the shapes of arrays are checked here, because
skops does not bound them; afterwards the numbers in what it has made, because scikit-learn trusts them and
would read foreign memory. XGBoost and CatBoost read their own bytes: a forged booster can crash the process.
"""

import io
import json
import os
import warnings
import zipfile
from contextlib import contextmanager

import numpy as np

from weakly.errors import DataError
from weakly.loading.files import bounded_memory, open_zip
from weakly.methods import METHODS
from weakly.writing import written_whole

# bytes, packed and expanded; a network of 20 columns has 0.1 MB, a forest 1 to 10 MB
MODEL_LIMIT, TEXT_LIMIT = 2**26, 2**24  # of all members, of the schema
MEMORY = 2**30  # bytes more than the process has, to load a model
ABOUT, SCHEMA = "about.json", "schema.json"

DETECTORS = sorted({f"{one.module}.{one.class_name}" for one in METHODS.values()})
# beside those that skops knows to be harmless, among them all of scikit-learn's estimators
TRUSTED = [*DETECTORS, "catboost.core.CatBoostClassifier", "numpy.dtype", "sklearn.tree._tree.Tree",
    "weakly.own_data.encoding.DateParts", "weakly.own_data.encoding.median",
    "weakly.training.number_scaler.NumberScaler", "xgboost.core.Booster"]  # fmt: skip
# of skops; those of sparse matrices, sets, methods and the like are not among them
KINDS = "Bytearray Bytes DType Dict Function Json List NdArray Object Slice Tree Tuple Type"
LOADERS = [f"{kind}Node" for kind in KINDS.split()]
# the estimators before a detector, and in it: those get its rows, so their trees have its features
ENCODERS = ("weakly.", *(f"sklearn.{name}." for name in ("compose", "impute", "pipeline", "preprocessing")))
HELD = ("sklearn.ensemble._forest.", "sklearn.ensemble._iforest.", "sklearn.tree._classes.",
    "sklearn.linear_model._logistic.", "catboost.core.")  # fmt: skip


def save_model(path, model):
    """Write a model as one file, which appears only when complete."""
    import skops.io

    buffer = io.BytesIO()
    skops.io.dump(model.pipeline, buffer, compression=zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ABOUT, json.dumps(model.about, default=str))
        check_size(archive, path)
    with written_whole(path) as file:
        file.write(buffer.getbuffer())


def check_size(archive, path):
    sizes = {member.filename: member.file_size for member in archive.infolist()}
    if sum(sizes.values()) > MODEL_LIMIT or sizes.get(SCHEMA, 0) > TEXT_LIMIT:
        limit = f"needs more than {MODEL_LIMIT >> 20} MiB, which no model may have"
        raise DataError(f"{path} {limit}: leave out columns with --drop, or choose another --method.")


@contextmanager
def bad_model_reported(path):
    """Turn whatever a damaged or forged file leads to into one sentence."""
    try:
        with bounded_memory(path, MEMORY):
            yield
    except DataError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0].rstrip(".")  # skops adds advice, XGBoost a stack trace
        raise DataError(f"{path} cannot be read as a model: {type(error).__name__}: {reason}.") from None


def read_model(path):
    """The pipeline of a model file, and what the file says about it; an error of any kind if it is forged."""
    import skops.io

    members = members_of(path)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other versions: info shows them
        return skops.io.loads(for_skops(members), trusted=TRUSTED), json.loads(members[ABOUT])


def members_of(path):
    """{name: bytes} of a model file; reads no more than a model may have."""
    if not os.path.isfile(path):  # a FIFO would wait
        raise DataError(f"{path} is no file, or not a regular one, so it is no model.")
    with open_zip(path, path) as archive:
        check_size(archive, path)
        return {member.filename: archive.read(member) for member in archive.infolist()}


def for_skops(members):
    """The bytes of a file that skops can load in bounded time and memory.

    skops takes a part whose __id__ it has seen from its memory and visits it again, so a small file could
    hold endless lists of lists. That is why all parts lose their ids.
    """
    schema, used = json.loads(members[SCHEMA]), 0
    require(schema["protocol"] >= 2, "the format of an older skops")  # whose loaders check less
    for part in parts_of(schema):
        if isinstance(part, dict):
            part.pop("__id__", None)
            loader = part.get("__loader__")
            require(loader is None or loader in LOADERS, f"a {loader}")
            data = members[part["file"]] if "file" in part else b""
            used += len(data)
            require(used <= MODEL_LIMIT, "members that are used again and again")
            if data and loader == "NdArrayNode":
                check_array(data)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in (members | {SCHEMA: json.dumps(schema)}).items():
            archive.writestr(name, data)
    return buffer.getvalue()


def parts_of(whole):
    """A part and all that it contains, however deep, except numbers in arrays."""
    stack = [whole]
    while stack:
        yield (part := stack.pop())
        inner = vars(part) if hasattr(part, "__dict__") and not isinstance(part, type) else part
        inner = inner.tolist() if isinstance(inner, np.ndarray) and inner.dtype == object else inner
        stack += (
            inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list | tuple) else []
        )


def require(truth, what):
    if not truth:
        raise ValueError(f"it has {what}")


def check_array(data):
    """Refuse a member .npy unless it holds plain numbers, or nodes of trees."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    require(array.dtype.kind in "biufV" and max(array.shape, default=0) <= len(data), "an odd array")
    is_truth = array.dtype.kind == "b"
    require(not is_truth or (array.view(np.uint8) <= 1).all(), "truth values that are neither 0 nor 1")


def check_numbers(pipeline):
    """ValueError if a number would lead outside the arrays of a library."""
    *encoders, detector = (step for _, step in pipeline.steps)
    n_features = detector.n_features_in_  # with which the detector compares the rows that it gets
    require(getattr(detector, "variant", None) != "NPR", "a network that only TensorFlow can score")
    for some, known in ((encoders, ENCODERS), (vars(detector), HELD)):
        for part in parts_of(some):
            kind = type(part).__name__
            is_known = f"{type(part).__module__}.{kind}".startswith(known) or not hasattr(part, "get_params")
            require(is_known, f"a {kind} in another place")
            if kind == "OneHotEncoder" and hasattr(part, "categories_"):  # a ColumnTransformer fits a copy
                check_encoder(part)
            elif kind == "Tree":
                check_tree(part, n_features)
            elif kind == "IsolationForest":
                require(part._max_features == n_features, "a forest of other features")


def are_places(numbers, end):
    """Whether all are whole numbers from 0 to end - 1."""
    return numbers.dtype.kind == "i" and ((numbers >= 0) & (numbers < end)).all()


def check_encoder(encoder):
    """A level beyond the features of its column would be written beyond the result."""
    require(encoder._drop_idx_after_grouping is None, "a OneHotEncoder that drops levels")
    mappings = rare = [None] * len(encoder.categories_)
    if encoder._infrequent_enabled:
        mappings, rare = encoder._default_to_infrequent_mappings, encoder._infrequent_indices
    parts = zip(encoder.categories_, encoder._n_features_outs, mappings, rare, strict=True)
    for levels, width, mapping, places in parts:
        mapping = np.arange(len(levels)) if mapping is None else mapping
        # binary search finds a level's place
        is_sorted = levels.dtype == object or ((np.diff(levels) > 0) | np.isnan(levels[1:])).all()
        are_inside = are_places(mapping, width) and (places is None or are_places(places, len(levels)))
        possible = mapping.shape == levels.shape and width <= len(levels) and is_sorted and are_inside
        require(possible, "a OneHotEncoder with odd levels")


def check_tree(tree, n_features):
    """Every way down ends, at features and children that exist: inner nodes have later nodes as children."""
    require(tree.node_count == tree.capacity > 0, "a tree with another number of nodes")
    require(tree.max_n_classes <= 2 and np.isfinite(tree.value).all(), "a tree with odd values")
    children = np.sort([tree.children_left, tree.children_right], axis=0)
    inner = np.flatnonzero((children != -1).any(axis=0))  # a leaf has -1 twice
    first, last = children[:, inner]
    exist = are_places(last, tree.node_count) and are_places(tree.feature[inner], n_features)
    require(exist and (first > inner).all(), "a tree with children or features that do not exist")
