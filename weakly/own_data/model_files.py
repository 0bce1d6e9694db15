"""The file of a model: one zip with what skops writes and a member about.json, which needs no scikit-learn.

    about = read_about("fraud.model")                 # plain values
    rewrite_about("fraud.model", about)
    data = ModelFile("fraud.model").checked()         # bytes that skops may load

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
from weakly.loading import files
from weakly.loading.files import bounded_memory, open_zip
from weakly.methods import METHODS
from weakly.writing import written_whole

# bytes, packed and expanded; a network of 20 columns has 0.1 MB, a forest 1 to 10 MB
MODEL_SIZE_LIMIT = 2**26
TEXT_LIMIT = 2**24  # bytes of about.json, and of skops' schema
MOST_PARTS, DEEPEST, MOST_MEMBERS = 1_000_000, 60, 2_000  # of the schema; a model has some 500, 25 and 50
MEMORY = 2**30  # bytes more than the process has, to load a model
ABOUT, SCHEMA = "about.json", "schema.json"
MEMBERS = r"about\.json|schema\.json|\d+\.npy|[\da-f-]{36}\.bin"  # no .npz: nobody checks a sparse matrix

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
    """An opened model file, as bytes and as an archive whose members have a limited size."""

    def __init__(self, path):
        self.data = bounded_bytes(path)
        self.archive = open_zip(io.BytesIO(self.data), path)
        members = self.archive.infolist()
        self.sizes = {member.filename: member.file_size for member in members}
        if sum(member.file_size for member in members) > MODEL_SIZE_LIMIT:
            raise DataError(
                f"{path} expands to more than {MODEL_SIZE_LIMIT:,} bytes, which no model of detect.py does."
            )
        known = all(re.fullmatch(MEMBERS, name) for name in self.sizes)
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
        """The bytes for skops; refuses what would take more time or memory than its bytes.

        skops takes a part whose __id__ it has seen from its memory, so a small file can hold endless lists of
        lists. So these are left out.
        """
        schema = self._parsed(SCHEMA)
        if type(schema.get("protocol")) is not int or schema["protocol"] < 2:
            raise ValueError("it was written by an older skops")  # whose loaders check less
        if sum(self.sizes[name] for name in named_members(schema)) > MODEL_SIZE_LIMIT:
            raise ValueError("it uses its members again and again")
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(SCHEMA, json.dumps(schema))
            for name in self.sizes.keys() - {ABOUT, SCHEMA}:
                data = self.archive.read(name)
                if name.endswith(".npy"):
                    check_array(data)
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


def named_members(schema):
    """Yield a member as often as a schema names it; refuses one that is too large or too deep."""
    waiting, count = [(schema, 0)], 0
    while waiting:
        part, depth = waiting.pop()
        count += 1
        if count > MOST_PARTS or depth > DEEPEST:
            raise ValueError("its schema is too large")
        if isinstance(part, dict):
            part.pop("__id__", None)
            if isinstance(part.get("file"), str):
                yield part["file"]
            waiting += ((inner, depth + 1) for inner in part.values())
        elif isinstance(part, list):
            waiting += ((inner, depth + 1) for inner in part)


def check_array(data):
    """Refuse a member .npy unless it holds as many plain numbers, or nodes of trees, as its header says."""
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("it has an array of another version")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    known = (
        dtype.kind in "biufV"
        and not dtype.hasobject
        and len(shape) <= 3
        and all(0 <= length <= len(data) for length in shape)
    )
    if not known or math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise ValueError(f"it has an array of {dtype} with the shape {shape}")
    if dtype.kind == "b" and data[file.tell() :].translate(None, b"\0\1"):
        raise ValueError("it has truth values that are neither 0 nor 1")
