"""Models: features, reasons, files from here and from Python, scores without TensorFlow, forged files."""

import copy
import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from event_tables import COLUMNS, events, model_of_events, typed_events
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, QuantileTransformer
from toys import not_compiled

import weakly
from iforest_baseline import IForest
from weakly.beyond.classifiers import Logistic
from weakly.errors import DataError
from weakly.methods import METHODS, make_detector
from weakly.own_data.encoding import new_encoder
from weakly.own_data.model_files import check_numbers
from weakly.own_data.models import SAVED_METHODS, load_model, save_model
from weakly.paths import ROOT
from weakly.running.processes import ONE_THREAD
from weakly.training import keras_detector

NUMBER = {"kind": "number", "decimal": ".", "thousands": ""}


# ---------------------------------------------------------------------------- encoder


def encoded(table, columns, new=None, is_tree=False):
    return new_encoder(columns, len(table), is_tree).fit(table).transform(table if new is None else new)


def test_features_by_hand():
    missing = np.nan
    table = pd.DataFrame({
        "x": [0, 4, missing, 1.0], "c": ["a", "a", "b", "b"], "d": ["a", "a", missing, "rare"],
        "t": [1.0, 1, missing, 0], "day": pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-05", None]),
    })  # fmt: skip
    columns = {"x": NUMBER, "c": {"kind": "category"}, "d": {"kind": "category"}, "t": {"kind": "truth"}}
    columns["day"] = {"kind": "date", "format": "ISO8601"}
    new = pd.DataFrame({"x": [8, missing], "c": ["b", "unseen"], "d": ["a", "unseen"], "t": [0, missing],
        "day": pd.to_datetime(["2024-01-02", None])})  # fmt: skip
    X = encoded(table, columns, new)
    names = "x x_missing t t_missing c=a c=b d=a d=rare weekday weekday_missing".split()
    # 8 is cut off at 4; Monday, Wednesday and Friday were 0, 0.5 and 1; a missing day is the median
    expected = [[1, 0, 0, 0, 0, 1, 1, 0, 0.25, 0], [0.25, 1, 1, 1, 0, 0, 0, 1, 0.5, 1]]
    assert X.dtype == np.float32 and X.shape[1] == len(names)
    np.testing.assert_array_equal(X, expected)


def test_only_networks_and_linear_models_are_cut_off():
    table = pd.DataFrame({"x": [*np.arange(99.0), 1e9]})
    cut, whole = (encoded(table, {"x": NUMBER}, is_tree=is_tree) for is_tree in (False, True))
    assert cut[98] == pytest.approx(98 / (74 + 3 * 49), abs=0.02) and cut[99] == 1
    np.testing.assert_allclose(whole[:, 0] * 1e9, table["x"], rtol=1e-6)
    big = pd.DataFrame({"x": 1.7e9 + np.arange(100)})  # float32 alone holds them to 128
    assert len(np.unique(encoded(big, {"x": NUMBER}, is_tree=True))) == 100


@pytest.mark.parametrize("values", [[5.0], [np.nan] * 9, [-1e308, 0, 1e308], [0, 1e-320], [1e300, 2, 3]])
def test_odd_columns_have_finite_features(values):
    old, new = (pd.DataFrame({"x": cells}) for cells in (values, [np.nan, 0, 1e308, -1e308, 5e-324, *values]))
    with np.errstate(over="ignore", invalid="ignore"):
        for is_tree in (False, True):
            assert np.isfinite(encoded(old, {"x": NUMBER}, new, is_tree)).all()


@pytest.mark.parametrize("method", ["logistic-converged", "xgboost-half"])
def test_reasons_are_what_the_typical_value_takes_away(method):
    table = events().assign(age=lambda table: table["age"].where(table.index % 3 == 0, ""))
    model = model_of_events(method, table)
    typical, new = model.about["typical"], typed_events(events(60, seed=1))
    assert typical["amount"] == pd.to_numeric(table["amount"]).median() and typical["country"] == "DE"
    assert typical["age"] is None and typical["member"] in (0.0, 1.0)
    scores = model.scored(new)
    parts = model.reasons(new, scores)
    for place, name in enumerate(COLUMNS):
        occluded = new.assign(**{name: pd.Series(typical[name], new.index, new[name].dtype)})
        np.testing.assert_allclose(parts[:, place], scores - model.scored(occluded), atol=1e-6)
    assert (parts[:, 0] != 0).any()


# ---------------------------------------------------------------------------- pipelines made in Python


def python_table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300), "b": rng.integers(0, 9, 300), "c": rng.random(300) < 0.5})
    return X.assign(d=np.where(X["a"] > 0.5, "x", "y")), (np.arange(300) % 15 == 0).astype(int)


def test_a_pipeline_from_python_is_scored_by_detect_py(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    X, y = python_table()
    X.to_csv("t.csv", index=False)
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["d", "c"]), (QuantileTransformer(n_quantiles=9), ["a"])
    )
    for pipeline in (make_pipeline(encoder, IForest()), make_pipeline(encoder, MinMaxScaler(), Logistic())):
        weakly.save_model("m", pipeline.fit(X, y), X)
        assert run("score t.csv --model m --output s.csv --explain --contamination 0.1") == 0
        expected = pipeline.decision_function(X)
        written = pd.read_csv("s.csv", float_precision="round_trip")
        np.testing.assert_array_equal(written["score"], expected)
        assert written["flag"].sum() == 30
        np.testing.assert_array_equal(weakly.load_model("m").decision_function(X), expected)
        assert run("info m") == 0


NO_FILE = {
    "a detector of this": lambda pipeline, X: (make_pipeline(RandomForestClassifier(3).fit(X, X["c"])), X),
    "must be a Pipeline .*not weakly.beyond.classifiers.Logistic": lambda pipeline, X: (pipeline[-1], X),
}


@pytest.mark.parametrize("message", NO_FILE)
def test_pipelines_that_no_file_can_hold_are_refused(tmp_path, message):
    X, y = python_table()
    X = X.drop(columns="d")
    pipeline = make_pipeline(MinMaxScaler(), Logistic()).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match=message):
        weakly.save_model(tmp_path / "m", *NO_FILE[message](pipeline, X))
    assert not (tmp_path / "m").exists()


# ---------------------------------------------------------------------------- all methods, in a new process

LITTLE = {"epochs": 1, "batches_per_epoch": 1, "batch_size": 8, "pretraining_epochs": 1}
LITTLE |= {"svm_rows": 50, "n_estimators": 5, "iterations": 5}
CHILD = """
import json, sys, numpy as np, pandas as pd
from weakly.environment import peak_bytes
from weakly.errors import DataError
from weakly.own_data.models import load_model
table, answers = pd.read_pickle(sys.argv[1]), []
for path in sys.stdin.read().splitlines():
    try:
        model = load_model(path)
        np.save(path + ".npy", scores := model.scored(table))
        model.reasons(table[:5], scores[:5])
        libraries = ("tensorflow", "keras", "matplotlib", "xgboost", "catboost")
        answers.append([name for name in libraries if name in sys.modules])
    except DataError as error:
        answers.append(str(error))
print(json.dumps([answers, peak_bytes() >> 20]))
"""


def answers_to(paths, folder):
    """What a process says to each of these files; it may neither crash nor take long nor much memory."""
    typed_events(events()).to_pickle(folder / "table")
    # OPENBLAS_CORETYPE and threads change the last bits; a test of drivers may have set ONE_THREAD
    environment = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    child, given = [sys.executable, "-W", "error", "-c", CHILD, folder / "table"], "\n".join(map(str, paths))
    done = subprocess.run(
        child, input=given, capture_output=True, text=True, cwd=ROOT, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    answers, megabytes = json.loads(done.stdout)
    assert megabytes < 1_500
    return answers


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with a model of each method that is hardly trained, and their scores."""
    folder, table, scores = tmp_path_factory.mktemp("models"), typed_events(events()), {}
    with pytest.MonkeyPatch.context() as patch, not_compiled():
        patch.setattr("xgbod.FOREST_TREES", (2, 3))
        for method in SAVED_METHODS:
            known = make_detector(method).get_params()
            model = model_of_events(method, **{name: n for name, n in LITTLE.items() if name in known})
            save_model(folder / method, model)
            scores[method] = model.scored(table)
    keras_detector._compiled_trainer.cache_clear()  # nothing of this for the tests of other files
    return folder, scores


@pytest.mark.slow
def test_saved_models_score_without_tensorflow_and_to_the_last_bit(saved):
    folder, scores = saved
    methods = sorted(SAVED_METHODS, key=lambda method: METHODS[method].is_tree)
    loaded = answers_to([folder / method for method in methods], folder)
    for method, libraries in zip(methods, loaded, strict=True):
        assert set(libraries) <= ({"xgboost", "catboost"} if METHODS[method].is_tree else set()), method
        np.testing.assert_array_equal(np.load(folder / f"{method}.npy"), scores[method], method)
        assert np.ptp(scores[method]) > 0
    network = weakly.load_model(folder / "devnet")  # can still be had as a Keras model
    X = network[:-1].transform(typed_events(events()))
    np.testing.assert_allclose(network[-1].model_(X).numpy(), scores["devnet"], atol=1e-5)


# ---------------------------------------------------------------------------- files that are no models


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def npy(array):
    np.save(buffer := io.BytesIO(), array)
    return buffer.getvalue()


def parts_of(part):
    """The objects of a schema, however deep."""
    yield part
    for inner in part.values() if isinstance(part, dict) else part:
        if isinstance(inner, dict | list):
            yield from parts_of(inner)


def forged(members, place, change):
    """A model file with another value at a place: a class in its schema, or a file, and names or positions.

    change is the values to set, or a function of an array, or of the part and the whole schema.
    """
    # skops takes a part of which it has seen the __id__ from its memory, and not from the file
    without_ids = lambda part: {name: part[name] for name in part if name != "__id__"}  # noqa: E731
    files = {f"{name}.json": json.loads(members[f"{name}.json"], object_hook=without_ids)
             for name in ("about", "schema")}  # fmt: skip
    name, *keys = place.split()
    found = [one for one in parts_of(files["schema.json"]) if isinstance(one, dict)]
    part = files.get(name) or [one for one in found if one.get("__class__") == name][-1]
    for key in keys:
        inner = part if key in part else part["content"]
        part = inner[int(key)] if key.isdigit() else inner[key] if key in inner else inner["content"][key]
    if not callable(change):
        part.update(change)
    elif "file" in part:
        array = change(np.load(io.BytesIO(members[part["file"]])).copy())
        members = members | {part["file"]: array if isinstance(array, bytes) else npy(array)}
    else:
        change(part, files["schema.json"])
    return zipped(members | {name: json.dumps(texts) for name, texts in files.items()})


def with_value(place, value, field=...):
    def change(array):
        array[field][place] = value
        return array

    return change


def header(old, new):
    """Change the header of an array, whose length stays."""
    return lambda array: npy(array).replace(old, new.ljust(len(old))[: len(old)], 1)


def lists(*content, **more):
    """A list for skops."""
    names = {"__loader__": "ListNode", "__module__": "builtins", "__class__": "list"}
    return names | {"content": content} | more


def endless():
    """Each list is 21 times the one before, which skops would take from its memory."""
    part = lists()
    for number in range(12):
        part = lists(part | {"__id__": number}, *[lists(__id__=number)] * 20, __id__=number + 1)
    return part


KERNEL, SHAPE, LEVELS = "PReNet weights_ 0", b"(10, 20)", "OneHotEncoder _default_to_infrequent_mappings 0"
FORGED = {
    "prenet": [
        (KERNEL, np.transpose),
        (KERNEL, lambda array: array.astype(str)),
        (KERNEL, lambda array: array * np.nan),
        (KERNEL, header(SHAPE, b"(99999,)")),
        (KERNEL, header(SHAPE + b", }" + b" " * 9, b"(999999999999,), }")),
        (KERNEL, header(b"<f4", b"|O")),
        (KERNEL, {"file": "../../etc/passwd"}),
        (KERNEL, {"__loader__": "SparseMatrixNode"}),  # nobody checks its numbers
        ("PReNet weights_", lambda part, _: part.update(content=part["content"][:1] * 150_000)),
        ("PReNet n_features_in_", {"content": "1000000000000"}),
        ("PReNet variant", {"content": '"NPR"'}),  # which only TensorFlow can score
        ("PReNet weights_", lambda part, _: part["content"].append(endless())),
        ("PReNet", {"__module__": "os", "__class__": "system"}),
        ("PReNet", {"__module__": "sklearn.svm._classes", "__class__": "SVC"}),
        ("PReNet", {"__module__": "weakly.own_data.models", "__class__": "Model"}),
        ("SimpleImputer", {"__module__": "sklearn.ensemble._gb", "__class__": "GradientBoostingClassifier"}),
        *[("PReNet", {"__loader__": f"{kind}Node"}) for kind in "Method Function Partial Cached No".split()],
        ("PReNet", {"__loader__": "OperatorFuncNode"}),
        ("Pipeline steps", {"content": []}),
        ("schema.json", lambda part, _: part.clear()),
        (LEVELS, with_value(0, 10**9)),
        ("OneHotEncoder _infrequent_indices 0", with_value(0, 10**9)),
        ("about.json", {"columns": {}}),
        ("about.json typical", {"age": "x"}),
        ("about.json", {"quantiles": [1, float("inf")]}),
        ("about.json columns age", {"kind": "os"}),
        ("about.json", {"method": "\x1b[2J"}),
        ("about.json summary age", {"shares": {"a": "all"}}),
        ("about.json summary age", {"edges": ["a"]}),
    ],
    "random-forest": [
        ("Tree nodes", with_value(0, 10**9, "left_child")),
        ("Tree nodes", with_value(0, 0, "left_child")),
        ("Tree nodes", with_value(0, 10**6, "feature")),
        ("Tree values", lambda array: array[:1]),
        ("Tree values", lambda array: array * np.nan),
        ("Tree node_count", {"content": "1"}),
        ("Tree __reduce__ args 2", {"content": "1000000000"}),  # outputs
        ("Tree __reduce__ args 1", with_value(0, 2**60)),  # classes
        ("RandomForestClassifier n_classes_", {"content": "9"}),
        ("RandomForest model_", lambda part, schema: part.update(copy.deepcopy(schema))),
    ],
}  # fmt: skip


def broken_files(data, members):
    """Files that are broken as a whole."""
    middle = len(data) // 2
    yield from (b"", pickle.dumps(os.getcwd), data[:-200])
    yield data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    yield zipped(members | {"about.json": b'{"a":' * 10**6})
    yield zipped(members | {"1.npy": bytes(2**27)})


def test_a_broken_file_gives_one_sentence(model_path, tmp_path):
    for data in broken_files(model_path.read_bytes(), members_of(model_path)):
        (tmp_path / "m").write_bytes(data)
        with pytest.raises(DataError, match=r"^\S+/m (is|has|needs|cannot)[^\n]*$"):
            load_model(tmp_path / "m")


@pytest.mark.slow
def test_a_forged_file_gives_one_sentence(saved, tmp_path):
    """Refused when it is loaded, or when its scores are not finite."""
    members = {method: members_of(saved[0] / method) for method in FORGED}
    cases = [(method, *case) for method in FORGED for case in FORGED[method]]
    paths = [tmp_path / f"{number}.model" for number in range(len(cases))]
    for path, (method, *case) in zip(paths, cases):
        path.write_bytes(forged(members[method], *case))
    answers = answers_to([*(saved[0] / method for method in FORGED), *paths], tmp_path)
    assert [type(answer) for answer in answers[: len(FORGED)]] == [list] * len(FORGED)
    clear = r".*\.model (is|has|cannot|needs)|Rows 1 to 600 cannot be scored"
    for case, answer in zip(cases, answers[len(FORGED) :], strict=True):
        assert re.match(clear, str(answer)) and answer.isprintable() and len(answer) < 700, (case, answer)


def test_an_encoder_in_an_array_is_checked(model_path):
    pipeline = load_model(model_path).pipeline
    steps = pipeline[0].transformers_
    pipeline[0].named_transformers_["category"]._n_features_outs = [1]
    pipeline[0].transformers_ = np.fromiter(steps, dtype=object, count=len(steps))
    with pytest.raises(ValueError, match="odd levels"):
        check_numbers(pipeline)
