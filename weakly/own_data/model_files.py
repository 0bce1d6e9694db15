"""The file of a model: one zip with what skops writes and a member about.json, which needs no scikit-learn.

    write_model("fraud.model", pipeline, about)       # about: plain values
    about = read_about("fraud.model")
    with damage_reported("fraud.model"):
        pipeline, about = read_model("fraud.model")

A file may come from anybody. skops makes only objects of types that it knows to be harmless or that TRUSTED
names, so nothing is executed. Before, the sizes of members and the shapes of arrays are checked here, because
skops does not bound them; afterwards the numbers in what it has made, because scikit-learn trusts them and
would read foreign memory. XGBoost and CatBoost read their own bytes: a forged booster can crash the process.
"""

import io
import json
import os
import re
import stat
import warnings
import zipfile
from contextlib import contextmanager

import numpy as np

from weakly.errors import DataError
from weakly.loading import files
from weakly.loading.files import bounded_memory, open_zip
from weakly.methods import METHODS
from weakly.writing import written_whole

# bytes, packed and expanded; a network of 20 columns has 0.1 MB, a forest 1 to 10 MB
MODEL_SIZE_LIMIT = 2**26
TEXT_LIMIT = 2**24  # bytes of about.json, and of skops' schema
MEMORY = 2**30  # bytes more than the process has, to load a model
ABOUT, SCHEMA = "about.json", "schema.json"
MEMBERS = r"about\.json|schema\.json|\d+\.npy|[\da-f-]{36}\.bin"  # no .npz: nobody checks a sparse matrix
PROTOCOL = 2  # the loaders of older ones check less

DETECTORS = {f"{method.module}.{method.class_name}" for method in METHODS.values()}
# beside those that skops knows to be harmless, among them all of scikit-learn's estimators
TRUSTED = [
    *sorted(DETECTORS),
    "catboost.core.CatBoostClassifier",
    "numpy.dtype",
    "sklearn.tree._tree.Tree",
    "weakly.own_data.encoding.DateParts",
    "weakly.own_data.encoding.median",
    "weakly.training.number_scaler.NumberScaler",
    "xgboost.core.Booster",
]
LEAF = -1  # instead of a child
MOST_FEATURES = 1_000_000
# the estimators in a detector; those of scikit-learn get its rows, so their trees have its features
HELD = {"RandomForestClassifier", "DecisionTreeClassifier", "IsolationForest", "ExtraTreeRegressor"}
HELD |= {"LogisticRegression", "CatBoostClassifier"}


def write_model(path, pipeline, about):
    """Write a model file, which appears only when complete."""
    import skops.io

    buffer = io.BytesIO()
    skops.io.dump(pipeline, buffer, compression=zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ABOUT, json.dumps(about, default=lambda value: value.item()))
        size = sum(member.file_size for member in archive.infolist())
    if size > MODEL_SIZE_LIMIT:
        raise DataError(
            f"The {about['method']} model of this table is too large for a file: it has more than "
            f"{MODEL_SIZE_LIMIT >> 20} MiB. Drop columns with --drop, or choose another --method."
        )
    with written_whole(path) as file:
        file.write(buffer.getbuffer())


@contextmanager
def damage_reported(path):
    """Turn whatever a damaged or forged file leads to into one sentence."""
    try:
        with bounded_memory(path, min(MEMORY, files.MEMORY_LIMIT)):
            yield
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except Exception as error:
        reason = str(error).partition("\n")[0].rstrip(".")  # skops adds advice, XGBoost a stack trace
        raise DataError(
            f"{path} is damaged or not a model of detect.py: {type(error).__name__}: {reason}."
        ) from None


def read_about(path):
    """What a model file says about itself, without loading the model."""
    with damage_reported(path):
        return parsed(members_of(path)[ABOUT])


def read_model(path):
    """The pipeline of a model file, and what the file says about it; an error of any kind if it is forged."""
    import skops.io

    members = members_of(path)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other versions: info shows them
        return skops.io.loads(for_skops(members), trusted=TRUSTED), parsed(members[ABOUT])


def members_of(path):
    """{name: bytes} of a model file; reads no more than a model may have."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # a FIFO would wait
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise DataError(f"{path} is not a regular file, so it is no model.")
        archive = open_zip(io.BytesIO(file.read(MODEL_SIZE_LIMIT)), path)
    members = archive.infolist()
    if sum(member.file_size for member in members) > MODEL_SIZE_LIMIT:
        raise DataError(
            f"{path} expands to more than {MODEL_SIZE_LIMIT:,} bytes, which no model of detect.py does."
        )
    names = {member.filename for member in members}
    require(len(names) == len(members) and all(re.fullmatch(MEMBERS, name) for name in names), "odd members")
    return {name: archive.read(name) for name in names}


def parsed(text, object_hook=None):
    require(len(text) <= TEXT_LIMIT, "texts that are too large")
    return json.loads(text, object_hook=object_hook)


def for_skops(members):
    """The bytes of a file that skops can load in bounded time and memory.

    skops takes a part whose __id__ it has seen from its memory and visits it again, so a small file could
    hold endless lists of lists. That is why all parts lose their ids.
    """
    named = []

    def without_id(part):
        part.pop("__id__", None)
        named.append(part.get("file"))
        return part

    schema = parsed(members[SCHEMA], without_id)
    require(schema["protocol"] >= PROTOCOL, "the format of an older skops")
    used = sum(len(members.get(name, b"")) for name in named)
    require(used <= MODEL_SIZE_LIMIT, "members that are used again and again")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in (members | {SCHEMA: json.dumps(schema)}).items():
            if name.endswith(".npy"):
                check_array(data)
            archive.writestr(name, data)
    return buffer.getvalue()


def require(truth, what):
    if not truth:
        raise ValueError(f"it has {what}")


def check_array(data):
    """Refuse a member .npy unless it holds plain numbers, or nodes of trees."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    require(array.dtype.kind in "biufV" and max(array.shape, default=0) <= len(data), "an odd array")
    is_truth = array.dtype.kind == "b"
    require(not is_truth or (array.view(np.uint8) <= 1).all(), "truth values that are neither 0 nor 1")


# ---------------------------------------------------------------------------- numbers of a loaded pipeline


def check_numbers(pipeline):
    """ValueError if a number would lead outside the arrays of a library."""
    *encoders, detector = (step for _, step in pipeline.steps)
    n_features = detector.n_features_in_  # with which the detector compares the rows that it gets
    require(type(n_features) is int and 0 < n_features <= MOST_FEATURES, "an odd number of features")
    require(getattr(detector, "variant", None) != "NPR", "a network that only TensorFlow can score")
    for part in parts_of(encoders):
        kind = type(part).__name__
        require(kind not in HELD, f"a {kind} in another place")
        if kind == "OneHotEncoder" and hasattr(part, "categories_"):  # a ColumnTransformer fits a copy
            check_encoder(part)
    for part in parts_of(vars(detector)):
        kind = type(part).__name__
        require(kind in HELD or not hasattr(part, "get_params"), f"a {kind} in another place")
        if kind == "Tree":
            check_tree(part, n_features)
        elif kind == "IsolationForest":
            require(part._max_features == n_features, "a forest of other features")


def parts_of(part):
    """A part and all that it contains, however deep, except arrays."""
    yield part
    inner = vars(part) if hasattr(part, "__dict__") and not isinstance(part, type) else part
    if isinstance(inner, dict | list | tuple):
        for one in inner.values() if isinstance(inner, dict) else inner:
            yield from parts_of(one)


def check_encoder(encoder):
    """A level beyond the features of its column would be written beyond the result."""
    require(encoder._drop_idx_after_grouping is None, "a OneHotEncoder that drops levels")
    widths = list(encoder._n_features_outs)
    mappings = rare = [None] * len(widths)
    if encoder._infrequent_enabled:
        mappings, rare = encoder._default_to_infrequent_mappings, encoder._infrequent_indices
    for levels, width, mapping, places in zip(encoder.categories_, widths, mappings, rare, strict=True):
        if mapping is None:  # the feature of a level is its place, which binary search finds
            is_sorted = levels.dtype == object or ((np.diff(levels) > 0) | np.isnan(levels[1:])).all()
            possible = is_sorted and levels.shape == (width,) and places is None
        else:
            whole = mapping.dtype.kind == "i" and mapping.shape == levels.shape
            possible = whole and mapping.min() >= 0 and mapping.max() < width <= len(levels)
            possible = possible and ((places >= 0) & (places < len(levels))).all()
        require(possible, "a OneHotEncoder with odd levels")


def check_tree(tree, n_features):
    """Every way down ends, at features and children that exist: inner nodes have later nodes as children."""
    require(tree.node_count == tree.capacity > 0, "a tree with another number of nodes")
    require(tree.max_n_classes <= 2 and np.isfinite(tree.value).all(), "a tree with odd values")
    left, right, feature = tree.children_left, tree.children_right, tree.feature
    places = np.arange(len(left))
    is_leaf = (left == LEAF) & (right == LEAF)
    known = (places < left) & (left < len(left)) & (places < right) & (right < len(left))
    known &= (feature >= 0) & (feature < n_features)
    require(len(left) and (is_leaf | known).all(), "a tree with children or features that do not exist")
