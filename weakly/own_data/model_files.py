"""The file of a model: one zip with what skops writes and a member about.json, which needs no scikit-learn.

    about = read_about("fraud.model")                 # plain values
    rewrite_about("fraud.model", about)
    data = ModelFile("fraud.model").checked()         # bytes for skops.io.loads

A file may come from anybody. Its size, its members, the types that it names and the shapes of its arrays are
checked before an object is made, so it cannot execute anything, and its cost is bounded. What is left are
numbers, which loaded_numbers.py checks.
"""

import io
import json
import math
import os
import re
import stat
import zipfile
from contextlib import contextmanager

import numpy as np

from weakly.errors import DataError
from weakly.loading.files import bounded_memory, open_zip
from weakly.methods import METHODS
from weakly.writing import written_whole

MODEL_SIZE_LIMIT = (
    2**26
)  # bytes, packed and expanded; a network of 20 columns has 0.1 MB, a forest 1 to 10 MB
TEXT_LIMIT = 2**24  # bytes of about.json, and of skops' schema
MOST_PARTS, DEEPEST, MOST_MEMBERS = 1_000_000, 60, 2_000  # of the schema; a model has some 500, 25 and 50
MEMORY = 2**31  # bytes more than the process has, to load a model
ABOUT, SCHEMA = "about.json", "schema.json"

DETECTORS = {f"{method.module}.{method.class_name}" for method in METHODS.values()}
# the attributes of boosters that their libraries parse, and skops' kind of them
BYTES_OF = {
    "catboost.core.CatBoostClassifier": ("__model", "BytesNode"),
    "xgboost.core.Booster": ("handle", "BytearrayNode"),
}
PLAIN = {f"builtins.{name}" for name in ("str", "int", "float", "bool")}
NUMBERS = {f"numpy.{name}" for name in ("float64", "float32", "int64", "int32", "bool", "bool_")}
SKLEARN = {
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.ensemble._forest.RandomForestClassifier",
    "sklearn.ensemble._iforest.IsolationForest",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.pipeline.Pipeline",
    *(
        f"sklearn.preprocessing._data.{name}"
        for name in (
            "MaxAbsScaler",
            "MinMaxScaler",
            "PowerTransformer",
            "QuantileTransformer",
            "RobustScaler",
        )
    ),
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._encoders.OrdinalEncoder",
    "sklearn.tree._classes.DecisionTreeClassifier",
    "sklearn.tree._classes.ExtraTreeRegressor",
}
OURS = DETECTORS | {"weakly.own_data.encoding.DateParts", "weakly.training.number_scaler.NumberScaler"}
# skops' kinds of objects that a model has, and the types of each
TRUSTED = {
    "DictNode": {"builtins.dict"},
    "DTypeNode": {"numpy.dtype"},
    "BytearrayNode": {"builtins.bytearray"},  # a booster of XGBoost
    "BytesNode": {"builtins.bytes"},  # a model of CatBoost
    "FunctionNode": {"weakly.own_data.encoding.median"},
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    "NdArrayNode": {"numpy.ndarray", *NUMBERS},
    "ObjectNode": SKLEARN | OURS | BYTES_OF.keys(),
    "SliceNode": {"builtins.slice"},
    "TupleNode": {"builtins.tuple"},
    "TreeNode": {"sklearn.tree._tree.Tree"},
    "TypeNode": PLAIN | NUMBERS,
}


NODE_FIELDS = (  # of scikit-learn's trees
    *("left_child", "right_child", "feature", "threshold", "impurity", "n_node_samples"),
    *("weighted_n_node_samples", "missing_go_to_left"),
)


@contextmanager
def damage_reported(path):
    """Turn whatever a damaged or forged file leads to into one sentence."""
    try:
        with bounded_memory(path, MEMORY):
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
        return ModelFile(path).about


def rewrite_about(path, about):
    """Replace what a model file says about itself; the model stays as it is."""
    with damage_reported(path):
        archive = ModelFile(path).archive
        others = [(member, archive.read(member)) for member in archive.infolist() if member.filename != ABOUT]
    write_members(path, others, about)


def write_members(path, members, about):
    """Write a model file from members [(name or ZipInfo, bytes)]; it appears only when complete."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in (*members, (ABOUT, json.dumps(about))):
            archive.writestr(member, data, zipfile.ZIP_DEFLATED)
    with written_whole(path) as file:
        file.write(buffer.getbuffer())


class ModelFile:
    """An opened model file: about, and after check() the bytes of a zip that skops may load."""

    def __init__(self, path):
        self.data = bounded_bytes(path)
        self.archive = open_zip(io.BytesIO(self.data), path)
        members = self.archive.infolist()
        self.sizes = {member.filename: member.file_size for member in members}
        if sum(member.file_size for member in members) > MODEL_SIZE_LIMIT:
            raise DataError(
                f"{path} expands to more than {MODEL_SIZE_LIMIT:,} bytes, which no model of detect.py does."
            )
        known = all(
            name in (ABOUT, SCHEMA) or re.fullmatch(r"\d+\.npy|[\da-f-]{36}\.bin", name)
            for name in self.sizes
        )
        if not (known and len(self.sizes) == len(members) <= MOST_MEMBERS):
            raise ValueError("it has other members")
        self.about = self._parsed(ABOUT)

    def _parsed(self, name):
        if self.sizes[name] > TEXT_LIMIT:
            raise ValueError(f"its {name} is too large")
        parsed = json.loads(self.archive.read(name))
        if type(parsed) is not dict:
            raise ValueError(f"its {name} holds something else")
        return parsed

    def checked(self):
        """The bytes of a zip for skops; refuses a schema that no model has, and arrays unlike their headers.

        skops takes a part of which it has seen the __id__ from its memory, instead of from the file, so that
        small files could stand for endless models. So these are left out.
        """
        from weakly.own_data.loaded_numbers import booster_from_text, catboost_from_text

        schema = self._parsed(SCHEMA)
        if type(schema.get("protocol")) is not int or schema["protocol"] < 2:
            raise ValueError("it was written by an older skops")  # whose loaders check less
        others = {name: self.archive.read(name) for name in self.sizes if name not in (ABOUT, SCHEMA)}
        shapes = {name: checked_shape(data) for name, data in others.items() if name.endswith(".npy")}
        named = list(named_members(schema, shapes))
        if sum(self.sizes[name] for _, name in named) > MODEL_SIZE_LIMIT:
            raise ValueError("it uses its members again and again")
        readers = {"BytearrayNode": booster_from_text, "BytesNode": catboost_from_text}
        for loader, name in set(named):
            if loader in readers:
                others[name] = readers[loader](others[name])
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, data in ((SCHEMA, json.dumps(schema)), *others.items()):
                archive.writestr(name, data)
        return buffer.getvalue()


def bounded_bytes(path):
    """The bytes of a regular file, which may not be longer than a model."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # a FIFO would wait
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise DataError(f"{path} is not a regular file, so it is no model.")
        data = file.read(MODEL_SIZE_LIMIT + 1)
    if len(data) > MODEL_SIZE_LIMIT:
        raise DataError(f"{path} has more than {MODEL_SIZE_LIMIT:,} bytes, which no model of detect.py has.")
    return data


def named_members(schema, shapes):
    """Yield (loader, member) as often as a schema names a member; refuses what no model has."""
    waiting, count = [(schema, 0)], 0
    while waiting:
        part, depth = waiting.pop()
        count += 1
        if count > MOST_PARTS or depth > DEEPEST:
            raise ValueError("its schema is too large")
        if isinstance(part, dict):
            part.pop("__id__", None)
            if "__loader__" in part:
                check_part(part, shapes)
                if isinstance(part.get("file"), str):
                    yield part["__loader__"], part["file"]
            waiting += ((inner, depth + 1) for inner in part.values())
        elif isinstance(part, list):
            waiting += ((inner, depth + 1) for inner in part)


def check_part(part, shapes):
    """Refuse a type that no model has, and trees and boosters whose constructors would trust odd values."""
    name = f"{part['__module__']}.{part['__class__']}"
    if name not in TRUSTED.get(part["__loader__"], ()):
        raise ValueError(f"it holds {part['__loader__']} {name}, which no model has")
    if part["__loader__"] == "TreeNode":
        _, n_classes, n_outputs = part["__reduce__"]["args"]["content"]
        if n_outputs["content"] != "1" or shapes[n_classes["file"]] != (1,):
            raise ValueError("it has a tree with several outputs")
    if name in BYTES_OF:
        attribute, loader = BYTES_OF[name]
        state = part["content"]["content"]
        if state[attribute]["__loader__"] != loader or any(other.startswith("_test") for other in state):
            raise ValueError(f"it has an odd {name}")


def checked_shape(data):
    """The shape of the array in a member .npy; refused unless it has as many numbers as its header says."""
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("it has an array of another version")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    known = dtype.names == NODE_FIELDS if dtype.kind == "V" else dtype.kind in "biuf"
    known = known and len(shape) <= 3 and all(0 <= length <= len(data) for length in shape)
    if not known or math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise ValueError(f"it has an array of {dtype} with the shape {shape}")
    if dtype.kind == "b" and data[file.tell() :].translate(None, b"\0\1"):
        raise ValueError("it has truth values that are neither 0 nor 1")
    return shape
