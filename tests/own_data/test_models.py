"""Models: what the encoder makes of columns, reasons, files from here and from Python, and forged files."""

import io
import json
import os
import pickle
import re
import resource
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from event_tables import COLUMNS, events, model_of_events, typed_events
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, QuantileTransformer

import weakly
from prenet import PReNet
from weakly.beyond.classifiers import Logistic
from weakly.errors import DataError
from weakly.methods import METHODS, method_group
from weakly.own_data import model_files
from weakly.own_data.encoding import new_encoder
from weakly.own_data.model_files import read_about
from weakly.own_data.models import SAVED_METHODS, in_words, load_model, save_model
from weakly.paths import ROOT

QUICK = {"prenet": {"epochs": 2}, "repen": {"epochs": 2}, "xgbod": {"svm_rows": 50, "n_estimators": 5}}
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


# ---------------------------------------------------------------------------- methods, thresholds, reasons


def test_methods_in_words():
    assert set(method_group("table", "appendix", "today")) - set(SAVED_METHODS) == {"logistic", "xgboost"}
    assert len({in_words(name) for name in SAVED_METHODS}) == len(SAVED_METHODS)
    assert all(in_words(name) for name in METHODS)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"speed": 9}, "prenet has no parameter speed; it has batch_size, .*margin"),
        ({"margin": "x"}, "prenet cannot be fitted: margin must be a number, not 'x'"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(DataError, match=message):
        model_of_events("prenet", **settings)


def test_the_threshold_is_exceeded_by_its_share_of_the_unlabelled_training_rows():
    model, table = model_of_events(), events()
    unlabelled = model.scored(typed_events(table[table["fraud"] != "1"]))
    assert (unlabelled > model.threshold(0.1)).sum() == 57
    assert not hasattr(model.pipeline[-1], "decision_scores_")  # nothing of the training rows one by one


@pytest.mark.parametrize("method", ["prenet", "xgboost-half", "iforest"])
def test_reasons_are_what_the_typical_value_takes_away(method):
    table = events().assign(age=lambda table: table["age"].where(table.index % 3 == 0, ""))
    model = model_of_events(method, table, **QUICK.get(method, {}))
    typical, new = model.about["typical"], typed_events(events(60, seed=1))
    assert typical["amount"] == pd.to_numeric(table["amount"]).median() and typical["country"] == "DE"
    assert typical["age"] is None and typical["member"] in (0.0, 1.0)
    scores = model.scored(new)
    parts = model.reasons(new, scores)
    for place, name in enumerate(COLUMNS):
        occluded = new.assign(**{name: pd.Series(typical[name], new.index, new[name].dtype)})
        np.testing.assert_allclose(parts[:, place], scores - model.scored(occluded), atol=1e-6)
    assert (parts[:, 0] != 0).any()


# ---------------------------------------------------------------------------- files


def python_table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(300), "b": rng.integers(0, 9, 300), "c": rng.random(300) < 0.5})
    return X, (np.arange(300) % 15 == 0).astype(int)


def test_a_pipeline_from_python_is_scored_by_detect_py(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    X, y = python_table()
    mixed = X.assign(d=np.where(X["a"] > 0.5, "x", "y"))
    encoder = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["d", "c"]), (QuantileTransformer(n_quantiles=9), ["a"])
    )
    plain = make_pipeline(MinMaxScaler(), PReNet(epochs=2))
    for pipeline, table in ((plain, X), (make_pipeline(encoder, Logistic()), mixed)):
        weakly.save_model("m", pipeline.fit(table, y), table)
        table.to_csv("t.csv", index=False)
        assert run("score t.csv --model m --output s.csv --explain --contamination 0.1") == 0
        expected = pipeline.decision_function(table)
        written = pd.read_csv("s.csv", float_precision="round_trip")
        np.testing.assert_array_equal(written["score"], expected)
        assert written["flag"].sum() == 30
        np.testing.assert_array_equal(weakly.load_model("m").decision_function(table), expected)
        assert run("info m") == 0


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda pipeline, X: (make_pipeline(RandomForestClassifier(3).fit(X, X["c"])), X),
            "a detector of this",
        ),
        (lambda pipeline, X: (pipeline[-1], X), "must be a Pipeline of scikit-learn, not Logistic"),
        (lambda pipeline, X: (pipeline, X.to_numpy()), "X must be a DataFrame, not ndarray"),
        (lambda pipeline, X: (pipeline, pd.DataFrame(X.to_numpy())), "columns of X must have texts as names"),
    ],
)
def test_pipelines_that_no_file_can_hold_are_refused(tmp_path, change, message):
    X, y = python_table()
    pipeline = make_pipeline(MinMaxScaler(), Logistic()).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match=message):
        weakly.save_model(tmp_path / "m", *change(pipeline, X))
    assert not (tmp_path / "m").exists()


def test_importing_weakly_takes_no_time():
    code = "import weakly, sys; sys.exit(any(name in sys.modules for name in ('numpy', 'pandas', 'sklearn')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_a_model_that_could_not_be_loaded_again_is_not_written(tmp_path, monkeypatch, model_path):
    model = load_model(model_path)
    assert model.about == read_about(model_path) == json.loads(json.dumps(model_of_events().about))
    monkeypatch.setattr(model_files, "MODEL_SIZE_LIMIT", 10_000)
    with pytest.raises(DataError, match="The logistic-converged model of this table is too large.*--drop"):
        save_model(tmp_path / "m", model)
    assert not list(tmp_path.iterdir())
    with pytest.raises(DataError, match="is damaged|expands to more than 10,000"):
        load_model(model_path)


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


class Forgery:
    """A model file taken apart: schema, about and members can be changed before it is written again."""

    def __init__(self, path):
        self.members = members_of(path)
        # skops takes a part of which it has seen the __id__ from its memory, and not from the file
        without_ids = lambda part: {name: part[name] for name in part if name != "__id__"}  # noqa: E731
        self.schema = json.loads(self.members["schema.json"], object_hook=without_ids)
        self.about = json.loads(self.members["about.json"])

    def part(self, name, *keys, last=False):
        """The first object of a class in the schema, or the last, or one of its saved attributes."""
        waiting, found = [self.schema], []
        while waiting:
            part = waiting.pop()
            if isinstance(part, dict) and part.get("__class__") == name:
                found.append(part)
            if isinstance(part, dict | list):
                waiting += reversed(part.values() if isinstance(part, dict) else part)
        part = found[-1 if last else 0]
        for key in keys:
            part = part["content"][key] if isinstance(key, int) else part["content"]["content"][key]
        return part

    def array(self, part, change):
        """Change the array that a part of the schema names."""
        buffer = io.BytesIO()
        np.save(buffer, change(np.load(io.BytesIO(self.members[part["file"]])).copy()))
        self.members[part["file"]] = buffer.getvalue()

    def data(self):
        texts = {"schema.json": json.dumps(self.schema), "about.json": json.dumps(self.about)}
        return zipped(self.members | texts)


def with_value(place, value, field=None):
    def change(array):
        (array if field is None else array[field])[place] = value
        return array

    return change


def kernel(change):
    """Change the first weights of PReNet."""
    return lambda f: f.array(f.part("PReNet", "weights_", 0), change)


def header(old, new):
    """Change the header of the kernel's .npy, whose length stays."""

    def change(f):
        name = f.part("PReNet", "weights_", 0)["file"]
        assert old in f.members[name]
        f.members[name] = f.members[name].replace(old, new.ljust(len(old))[: len(old)], 1)

    return change


def levels(name, change):
    """Change what the encoder that was fitted knows of the levels; the first one was not."""
    return lambda f: f.array(f.part("OneHotEncoder", name, 0, last=True), change)


def part(name, *keys, **values):
    """Change values of a part of the schema."""
    return lambda f: f.part(name, *keys).update(values)


def about(**values):
    return lambda f: f.about.update(values)


def as_list(*content, **more):
    return {
        "__loader__": "ListNode",
        "__module__": "builtins",
        "__class__": "list",
        "content": content,
    } | more


def endless_lists(f):
    """Each list is 21 times the one before, which skops would take from its memory."""
    endless = as_list()
    for number in range(12):
        repeated = [as_list(__id__=number)] * 20
        endless = as_list(endless | {"__id__": number}, *repeated, __id__=number + 1)
    f.part("PReNet", "weights_")["content"].append(endless)


def deep_nest(f):
    state = as_list()
    for _ in range(300):
        state = as_list(state)
    f.part("PReNet", "margin").update(state)


MAPPING, SHAPE = "_default_to_infrequent_mappings", b"(10, 20)"  # of PReNet's kernel for the table of events
OF_NETWORK = {
    "kernel transposed": kernel(np.transpose),
    "kernel of three dimensions": kernel(lambda array: array[None]),
    "kernel of texts": kernel(lambda array: array.astype(str)),
    "kernel of NaN": kernel(lambda array: array * np.nan),
    "fewer weights": lambda f: f.part("PReNet", "weights_")["content"].pop(),
    "a negative shape": header(SHAPE, b"(-1, -1)"),
    "a longer shape": header(SHAPE, b"(99999,)"),
    "a shape that is computed": header(SHAPE, b"(9**9,)"),
    "a huge shape": header(SHAPE + b", }" + b" " * 9, b"(999999999999,), }"),
    "an array of pickles": header(b"<f4", b"|O"),
    "another path": part("PReNet", "weights_", 0, file="../../etc/passwd"),
    "a missing member": lambda f: f.members.pop(f.part("PReNet", "weights_", 0)["file"]),
    "a member ../x": lambda f: f.members.update({"../x": b"1"}),
    "a sparse matrix, which nobody checks": lambda f: f.members.update({"1.npz": b"1"}),
    "an array named often": lambda f: f.part("PReNet", "weights_")["content"].extend(
        [f.part("PReNet", "weights_", 0)] * 150_000
    ),
    "more features": part("PReNet", "n_features_in_", content="1000000000000"),
    "features as a text": part("PReNet", "n_features_in_", content='"x"'),
    "TensorFlow": part("PReNet", "variant", content='"NPR"'),
    "no detector": lambda f: f.part("Pipeline", "steps")["content"].pop(),
    "os.system": part("PReNet", __module__="os", __class__="system"),
    "eval": part("PReNet", __module__="builtins", __class__="eval"),
    "an SVC": part("PReNet", __module__="sklearn.svm._classes", __class__="SVC"),
    "our own class": part("PReNet", __module__="weakly.own_data.models", __class__="Model"),
    **{loader: part("PReNet", __loader__=loader) for loader in ("MethodNode", "FunctionNode", "PartialNode")},
    **{loader: part("PReNet", __loader__=loader) for loader in ("CachedNode", "OperatorFuncNode", "NoNode")},
    "an older protocol": lambda f: f.schema.update(protocol=0),
    "no schema": lambda f: f.schema.clear(),
    "a deep nest": deep_nest,
    "endless lists": endless_lists,
    "level 10^9": levels(MAPPING, with_value(0, 10**9)),
    "level -5": levels(MAPPING, with_value(0, -5)),
    "fewer levels": levels(MAPPING, lambda array: array[:1]),
    "a rare level": levels("_infrequent_indices", with_value(0, 10**9)),
    "no levels": lambda f: f.part("OneHotEncoder", "categories_", 0, last=True)["content"].clear(),
    "a feature less": lambda f: f.part("OneHotEncoder", "_n_features_outs", 0, last=True).update(content="1"),
    "no columns": about(columns={}),
    "no typical value": about(typical={}),
    "a text as typical value": lambda f: f.about["typical"].update(age="x"),
    "descending quantiles": about(quantiles=[2, 1]),
    "quantiles of text": about(quantiles="x"),
    "no rows": about(rows=None),
    "a kind": lambda f: f.about["columns"]["age"].update(kind="os"),
    "a method": about(method="os"),
    "a summary": lambda f: f.about["summary"].update(age=3),
    "spellings": lambda f: f.about["notation"].update(missing=[3]),
}


def tree(name, change):
    """Change the nodes or values of the first tree."""
    return lambda f: f.array(f.part("Tree", name), change)


def argument(f, place):
    """An argument with which the first tree is made: its features, classes or outputs."""
    return f.part("Tree")["__reduce__"]["args"]["content"][place]


OF_FOREST = {
    "a far child": tree("nodes", with_value(0, 10**9, "left_child")),
    "a negative child": tree("nodes", with_value(0, -7, "right_child")),
    "a circle": tree("nodes", with_value(0, 0, "left_child")),
    "a far feature": tree("nodes", with_value(0, 10**6, "feature")),
    "nodes of numbers": tree("nodes", lambda array: array["feature"]),
    "fewer values": tree("values", lambda array: array[:1]),
    "NaN": tree("values", lambda array: array * np.nan),
    "fewer nodes": part("Tree", "node_count", content="1"),
    "several outputs": lambda f: argument(f, 2).update(content="1000000000"),
    "other classes": lambda f: f.array(argument(f, 1), with_value(0, 2**60)),
    "more classes": part("RandomForestClassifier", "n_classes_", content="9"),
    "a pipeline as forest": lambda f: f.part("RandomForest", "model_").update(
        json.loads(json.dumps(f.schema))
    ),
}


def raw_files(model):
    """{case: bytes} of files that are broken as a whole."""
    data, members = model.read_bytes(), members_of(model)
    twice = io.BytesIO(data)
    with zipfile.ZipFile(twice, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("schema.json", members["schema.json"])
    middle = len(data) // 2
    return {
        "empty": b"",
        "a pickle": pickle.dumps(os.getcwd),
        "cut off": data[:-200],
        "a flipped bit": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "a member twice": twice.getvalue(),
        "another skops file": skops.io.dumps({"method": "prenet"}),
        "a long schema": zipped(members | {"schema.json": b" " * 2**25 + members["schema.json"]}),
        "nested about": zipped(members | {"about.json": b'{"a":' * 10**6}),
        "a bomb": zipped(members | {"1.npy": bytes(2**27)}),
    }


CHILD = """
import sys
import pandas as pd
from weakly.environment import peak_bytes
from weakly.errors import DataError
from weakly.own_data.models import load_model
table = pd.read_pickle(sys.argv[1])
for path in sys.stdin.read().splitlines():
    try:
        model = load_model(path)
        model.reasons(table[:5], model.scored(table)[:5])
        print("loaded", flush=True)
    except DataError as error:
        print(ascii(str(error)), flush=True)
print(peak_bytes() >> 20)
"""


def answers_to(paths, table):
    """What a process says to each of these files; it may neither crash nor take long."""
    child, files = [sys.executable, "-W", "error", "-c", CHILD, table], "\n".join(map(str, paths))
    done = subprocess.run(child, input=files, capture_output=True, text=True, cwd=ROOT, timeout=300)
    *answers, megabytes = done.stdout.splitlines()
    assert done.returncode == 0 and int(megabytes) < 1_500, (len(answers), done.stderr[-2_000:])
    return answers


def forged_files(folder, method, forgeries):
    """{case: bytes} of changed models of a method."""
    model = folder / f"{method}.model"
    save_model(model, model_of_events(method, **QUICK.get(method, {})))
    cases = {method: model.read_bytes()} | (raw_files(model) if method == "prenet" else {})
    for name, change in forgeries.items():
        change(forgery := Forgery(model))
        cases[name] = forgery.data()
    return cases


def test_a_forged_file_gives_one_sentence(tmp_path):
    """Refused when it is loaded, or when its scores are not finite."""
    typed_events(events()).to_pickle(tmp_path / "table")
    cases = forged_files(tmp_path, "prenet", OF_NETWORK) | forged_files(tmp_path, "random-forest", OF_FOREST)
    paths = [tmp_path / f"{number}.model" for number in range(len(cases))]
    for path, data in zip(paths, cases.values()):
        path.write_bytes(data)
    answers = dict(zip(cases, answers_to(paths, tmp_path / "table"), strict=True))
    assert [name for name in cases if answers[name] == "loaded"] == ["prenet", "random-forest"]
    clear = r".*\.model (is|has|expands|cannot|needs)|.*Rows 1 to 600 cannot be scored"
    sentences = [answer for answer in answers.values() if answer != "loaded"]
    assert not [one for one in sentences if not re.match(clear, one) or r"\n" in one or len(one) > 700]


def test_devices_and_endless_files_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(200 * 2**30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for path in ("/dev/zero", tmp_path / "fifo", tmp_path / "sparse", tmp_path, tmp_path / "none"):
        for read in (load_model, read_about):
            with pytest.raises(DataError, match="not a regular file|is damaged|cannot be read"):
                read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 5
