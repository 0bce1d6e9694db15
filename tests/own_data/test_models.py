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
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from event_tables import COLUMNS, events, model_of_events, typed_events
from scipy import sparse
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
from weakly.own_data.model_files import read_about, rewrite_about
from weakly.own_data.models import (
    SAVED_METHODS,
    fit_model,
    in_words,
    load_model,
    new_pipeline,
    save_model,
)
from weakly.paths import ROOT

QUICK = {"prenet": {"epochs": 2}, "repen": {"epochs": 2}, "xgbod": {"svm_rows": 50, "n_estimators": 5}}
NUMBER = {"kind": "number", "decimal": ".", "thousands": ""}


def encoded(table, columns, new=None, is_tree=False):
    encoder = new_encoder(columns, len(table), is_tree).fit(table)
    return encoder, encoder.transform(table if new is None else new)


# ---------------------------------------------------------------------------- encoder


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
    encoder, X = encoded(table, columns, new)
    names = "x x_missing t t_missing c=a c=b d=a d=rare weekday weekday_missing".split()
    # 8 is cut off at 4; Monday, Wednesday and Friday were 0, 0.5 and 1; a missing day is the median
    expected = [[1, 0, 0, 0, 0, 1, 1, 0, 0.25, 0], [0.25, 1, 1, 1, 0, 0, 0, 1, 0.5, 1]]
    assert X.dtype == np.float32 and X.shape[1] == len(names)
    np.testing.assert_array_equal(X, expected)
    out = encoder.get_feature_names_out()
    assert len(out) == X.shape[1] and "number__x" in out and "date__day_dayofweek" in out


def test_only_networks_and_linear_models_are_cut_off():
    table = pd.DataFrame({"x": [*np.arange(99.0), 1e9]})
    _, cut = encoded(table, {"x": NUMBER})
    _, whole = encoded(table, {"x": NUMBER}, is_tree=True)
    assert cut[98] == pytest.approx(98 / (74 + 3 * 49), abs=0.02) and cut[99] == 1
    np.testing.assert_allclose(whole[:, 0] * 1e9, table["x"], rtol=1e-6)
    big = pd.DataFrame({"x": 1.7e9 + np.arange(100)})  # float32 alone holds them to 128
    assert len(np.unique(encoded(big, {"x": NUMBER}, is_tree=True)[1])) == 100


@pytest.mark.parametrize("values", [[5.0], [np.nan] * 9, [-1e308, 0, 1e308], [0, 1e-320], [1e300, 2, 3]])
@pytest.mark.parametrize("is_tree", [False, True])
def test_odd_columns_have_finite_features(values, is_tree):
    new = pd.DataFrame({"x": [np.nan, 0, 1e308, -1e308, 5e-324, *values]})
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.isfinite(encoded(pd.DataFrame({"x": values}), {"x": NUMBER}, new, is_tree)[1]).all()


# ---------------------------------------------------------------------------- methods, thresholds, reasons


def test_methods_in_words():
    assert set(method_group("table", "appendix", "today")) - set(SAVED_METHODS) == {"logistic", "xgboost"}
    assert "iforest" in SAVED_METHODS and in_words("logistic-converged") == "logistic regression"
    assert len({in_words(name) for name in SAVED_METHODS}) == len(SAVED_METHODS)
    assert all(in_words(name) for name in METHODS)


def test_settings_change_the_detector_and_wrong_ones_are_named():
    assert new_pipeline("prenet", COLUMNS, 600, 3, margin=2.0)[-1].get_params()["margin"] == 2.0
    with pytest.raises(DataError, match="prenet has no parameter speed; it has batch_size, .*margin"):
        model_of_events("prenet", speed=9)
    with pytest.raises(DataError, match="prenet cannot be fitted: margin must be a number, not 'x'"):
        model_of_events("prenet", margin="x")


def test_isolation_forest_needs_no_labels():
    table = typed_events(events())
    model = fit_model("iforest", table, COLUMNS, None)
    labelled = fit_model("iforest", table, COLUMNS, np.zeros(len(table), int))
    np.testing.assert_array_equal(model.scored(table), labelled.scored(table))
    with pytest.raises(DataError, match="prenet cannot be fitted: PReNet requires y"):
        fit_model("prenet", table, COLUMNS, None)


def test_the_threshold_is_exceeded_by_its_share_of_the_unlabelled_training_rows():
    model, table = model_of_events(), events()
    unlabelled = model.scored(typed_events(table[table["fraud"] != "1"]))
    assert (unlabelled > model.threshold(0.1)).sum() == 57
    assert not hasattr(model.pipeline[-1], "decision_scores_")  # nothing of the training rows one by one


def test_typical_values():
    table = events().assign(age=lambda table: table["age"].where(table.index % 3 == 0, ""))
    model = model_of_events(table=table)
    amounts = pd.to_numeric(table["amount"])
    assert model.typical == {"amount": amounts.median(), "age": None, "country": "DE",
        "member": table["member"].replace("", np.nan).map({"true": 1.0, "false": 0.0}).mode()[0]}  # fmt: skip


@pytest.mark.parametrize("method", ["prenet", "xgboost-half", "iforest"])
def test_reasons_are_what_occlusion_takes_away(method):
    model, table = model_of_events(method, **QUICK.get(method, {})), typed_events(events(60, seed=1))
    scores, parts = model.scored(table), model.reasons(table)
    for place, name in enumerate(COLUMNS):
        occluded = table.copy()
        occluded[name] = model.typical[name]
        np.testing.assert_allclose(parts[:, place], scores - model.scored(occluded), atol=1e-6)
        same = (table[name] == model.typical[name]).to_numpy()
        assert (parts[same, place] == 0).all()
    assert (parts[:, 0] != 0).any()


# ---------------------------------------------------------------------------- files


@pytest.mark.parametrize(
    "method",
    [
        "prenet",
        "repen",
        "xgbod",
        "logistic-converged",
        "catboost",
        "random-forest",
        "iforest",
        "xgboost-half",
    ],
)
def test_scores_and_reasons_after_loading_are_the_same(tmp_path, method):
    """A method of each kind; test_without_tensorflow.py has all of them, hardly trained."""
    table = events()
    y = (table["fraud"] == "1") | (table.index % 23 == 1)  # some wrong labels, so that trees are no stumps
    model = model_of_events(method, table, y.astype(int).to_numpy(), **QUICK.get(method, {}))
    save_model(tmp_path / "m", model)
    loaded, new = load_model(tmp_path / "m"), typed_events(events(seed=2))
    np.testing.assert_array_equal(loaded.scored(new), model.scored(new))
    np.testing.assert_array_equal(loaded.reasons(new[:20]), model.reasons(new[:20]))
    assert loaded.about == json.loads(json.dumps(model.about)) == read_about(tmp_path / "m")
    pipeline = weakly.load_model(tmp_path / "m")
    np.testing.assert_array_equal(pipeline.decision_function(new), model.scored(new))


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
    pipelines = {"plain": (make_pipeline(MinMaxScaler(), PReNet(epochs=2)), X)}
    pipelines["mixed"] = make_pipeline(encoder, Logistic()), mixed
    for name, (pipeline, table) in pipelines.items():
        weakly.save_model("m", pipeline.fit(table, y), table)
        table.to_csv("t.csv", index=False)
        assert run("score t.csv --model m --output s.csv --explain --contamination 0.1") == 0, name
        expected = pipeline.decision_function(table)
        written = pd.read_csv("s.csv", float_precision="round_trip")
        np.testing.assert_array_equal(written["score"], expected)
        assert written["flag"].sum() == 30
        np.testing.assert_array_equal(weakly.load_model("m").decision_function(table), expected)
        assert run("info m") == 0


def test_pipelines_that_no_file_can_hold_are_refused(tmp_path):
    X, y = python_table()
    forest = make_pipeline(MinMaxScaler(), RandomForestClassifier(3)).fit(X, y)
    with pytest.raises(ValueError, match="must be a detector of this project, not sklearn"):
        weakly.save_model(tmp_path / "m", forest, X)
    pipeline = make_pipeline(MinMaxScaler(), Logistic()).fit(X.to_numpy(), y)
    with pytest.raises(ValueError, match="must be a Pipeline of scikit-learn, not Logistic"):
        weakly.save_model(tmp_path / "m", pipeline[-1], X)
    with pytest.raises(ValueError, match="X must be a DataFrame, not ndarray"):
        weakly.save_model(tmp_path / "m", pipeline, X.to_numpy())
    with pytest.raises(ValueError, match="columns of X must have texts as names"):
        weakly.save_model(tmp_path / "m", pipeline, pd.DataFrame(X.to_numpy()))
    assert not (tmp_path / "m").exists()


def test_importing_weakly_takes_no_time():
    code = "import weakly, sys; sys.exit(any(name in sys.modules for name in ('numpy', 'pandas', 'sklearn')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0


def test_only_what_a_file_says_about_itself_is_rewritten(tmp_path, model_path):
    target = tmp_path / "m"
    target.write_bytes(model_path.read_bytes())
    rewrite_about(target, read_about(target) | {"evaluation": {"runs": 3}})
    assert read_about(target)["evaluation"] == {"runs": 3}
    before, after = members_of(model_path), members_of(target)
    assert before.pop("about.json") != after.pop("about.json") and before == after
    table = typed_events(events())
    np.testing.assert_array_equal(load_model(target).scored(table), load_model(model_path).scored(table))


def test_a_model_that_could_not_be_loaded_again_is_not_written(tmp_path, monkeypatch, model_path):
    model = load_model(model_path)
    monkeypatch.setattr("weakly.own_data.models.MODEL_SIZE_LIMIT", 10_000)
    with pytest.raises(DataError, match="The logistic-converged model of this table is too large.*--drop"):
        save_model(tmp_path / "m", model)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(model_files, "MODEL_SIZE_LIMIT", 40_000)
    with pytest.raises(DataError, match="has more than 40,000 bytes|expands to more than 40,000"):
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


def as_npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def find(part, **wanted):
    """The first part of a schema with these values, such as __class__="Tree"."""
    if isinstance(part, dict):
        if all(part.get(name) == value for name, value in wanted.items()):
            return part
        part = list(part.values())
    for inner in part if isinstance(part, list) else ():
        if found := find(inner, **wanted):
            return found
    return None


def without_ids(pairs):
    """skops takes a part of which it has seen the __id__ from its memory, and not from the file."""
    return {name: value for name, value in pairs if name != "__id__"}


class Forgery:
    """A model file taken apart: schema, about and members can be changed before it is written again."""

    def __init__(self, path):
        self.members = members_of(path)
        self.schema, self.about = (
            json.loads(self.members[name], object_pairs_hook=without_ids)
            for name in ("schema.json", "about.json")
        )

    def attributes(self, name):
        """The saved attributes of the first object of a class."""
        part = find(self.schema, __class__=name)
        return part["content"]["content"]

    def change(self, part, change):
        """Change the array that a part of the schema names."""
        array = np.load(io.BytesIO(self.members[part["file"]]))
        self.members[part["file"]] = as_npy(change(array.copy()))

    def data(self):
        texts = {"schema.json": json.dumps(self.schema), "about.json": json.dumps(self.about)}
        return zipped(self.members | texts)


def replaced(header, new, data):
    """An .npy with another header of the same length."""
    assert header in data
    return data.replace(header, new.ljust(len(header))[: len(header)], 1)


def with_value(place, value, field=None):
    def change(array):
        (array if field is None else array[field])[place] = value
        return array

    return change


def of_network(forge):
    detector = forge.attributes("PReNet")
    weights = detector["weights_"]["content"]
    first = weights[0]["file"]
    plain = forge.members[first]
    yield "kernel transposed", lambda: forge.change(weights[0], np.transpose)
    yield "kernel of three dimensions", lambda: forge.change(weights[0], lambda array: array[None])
    yield "kernel of complex numbers", lambda: forge.change(weights[0], lambda array: array.astype(complex))
    yield "kernel of texts", lambda: forge.change(weights[0], lambda array: array.astype(str))
    yield "kernel of NaN", lambda: forge.change(weights[0], lambda array: array * np.nan)
    yield "fewer weights", lambda: weights.pop()
    yield "a kernel that is a text", lambda: weights.__setitem__(0, find(forge.schema, __loader__="JsonNode"))
    shape = str(np.load(io.BytesIO(plain)).shape).encode()
    for new in (b"(9**9, 9)", b"(-1, -1)", b"(2**62,)", b"(99999,)"):
        yield f"shape {new}", lambda new=new: forge.members.update({first: replaced(shape, new, plain)})
    huge = plain.replace(shape, b"(999999999999,)").replace(b"v\x00", b"w\x00")
    yield "a huge shape", lambda: forge.members.update({first: huge})
    pickled = plain.replace(b"<f4", b"|O ")
    yield "an array of pickles", lambda: forge.members.update({first: pickled})
    yield "an empty array", lambda: forge.members.update({first: b""})
    yield "another path", lambda: weights[0].update(file="../../etc/passwd")
    yield "a missing member", lambda: forge.members.pop(first)
    yield "a member ../x", lambda: forge.members.update({"../x": b"1"})
    yield "an array named 50,000 times", lambda: weights.extend([weights[0]] * 50_000)
    yield "more features", lambda: detector["n_features_in_"].update(content="1000000000000")
    yield "features as a text", lambda: detector["n_features_in_"].update(content='"x"')
    yield "TensorFlow", lambda: detector["variant"].update(content='"NPR"')
    yield "no detector", lambda: forge.attributes("Pipeline")["steps"]["content"].pop()
    last = find(forge.schema, __class__="PReNet")
    for name in ("os.system", "builtins.eval", "sklearn.svm._classes.SVC", "weakly.own_data.models.Model"):
        module, _, klass = name.rpartition(".")
        yield name, lambda module=module, klass=klass: last.update(__module__=module, __class__=klass)
    for loader in ("MethodNode", "FunctionNode", "PartialNode", "CachedNode", "OperatorFuncNode", "NoNode"):
        yield loader, lambda loader=loader: last.update(__loader__=loader)
    yield "an older protocol", lambda: forge.schema.update(protocol=0)
    yield "no schema", lambda: forge.schema.clear()
    yield "a deep nest", lambda: detector["margin"].update(nested(400))
    partners = detector["anomaly_partners_"]
    spmatrix = {
        "__loader__": "SparseMatrixNode",
        "__module__": "scipy.sparse._matrix",
        "__class__": "spmatrix",
    }
    far = {"1.npz": with_far_indices(np.load(io.BytesIO(forge.members[partners["file"]])))}
    sparse_part = spmatrix | {"type": "scipy", "file": "1.npz"}
    yield "a sparse matrix", lambda: (partners.update(sparse_part), forge.members.update(far))
    endless = {"__loader__": "ListNode", "__module__": "builtins", "__class__": "list", "content": []}
    for number in range(12):  # each list is 21 times the one before, which skops would take from its memory
        repeated = [dict(endless, content=[], __id__=number)] * 20
        endless = endless | {"content": [endless | {"__id__": number}, *repeated], "__id__": number + 1}
    yield "few bytes for 21^12 lists", lambda: weights.append(endless)


def with_far_indices(array):
    """An .npz of a sparse matrix whose columns do not exist, with which a product reads foreign memory."""
    matrix, buffer = sparse.csr_matrix(array), io.BytesIO()
    matrix.indices[:] = 2**30
    sparse.save_npz(buffer, matrix)
    return buffer.getvalue()


def nested(depth):
    """The state of a list in a list, and so on."""
    state = {"__loader__": "ListNode", "__module__": "builtins", "__class__": "list", "content": []}
    for _ in range(depth):
        state = state | {"content": [state]}
    return state


def of_encoder(forge):
    one_hot = find(forge.schema, __class__="ColumnTransformer")["content"]["content"]["transformers_"]
    one_hot = find(one_hot, __class__="OneHotEncoder")["content"]["content"]
    mapping = one_hot["_default_to_infrequent_mappings"]["content"][0]
    rare = one_hot["_infrequent_indices"]["content"][0]
    for value in (10**9, -5, 6):
        yield f"level {value}", lambda value=value: forge.change(mapping, with_value(0, value))
        yield f"rare level {value}", lambda value=value: forge.change(rare, with_value(0, value * 7))
    yield "fewer levels", lambda: forge.change(mapping, lambda array: array[:1])
    yield "no levels", lambda: one_hot["categories_"]["content"][0]["content"].clear()
    yield "fewer features", lambda: one_hot["_n_features_outs"]["content"][0].update(content="1")
    for name, value in (
        ("columns", {}),
        ("typical", {}),
        ("quantiles", [2, 1]),
        ("quantiles", "x"),
        ("rows", None),
    ):
        yield f"{name} {value}", lambda name=name, value=value: forge.about.update({name: value})
    yield "a kind", lambda: forge.about["columns"]["age"].update(kind="os")
    yield "a typical value", lambda: forge.about["typical"].update(age="x")
    yield "a method", lambda: forge.about.update(method="os")
    yield "a summary", lambda: forge.about["summary"].update(age=3)
    yield "spellings", lambda: forge.about["notation"].update(missing=[3])


def of_forest(forge):
    tree = find(forge.schema, __class__="Tree")
    state, arguments = tree["content"]["content"], tree["__reduce__"]["args"]["content"]
    for field, value in [("left_child", 10**9), ("right_child", -7), ("left_child", 0), ("feature", 10**6)]:
        yield f"{field} {value}", lambda f=field, v=value: forge.change(state["nodes"], with_value(0, v, f))
    yield "fewer nodes", lambda: state["node_count"].update(content="1")
    yield "fewer values", lambda: forge.change(state["values"], lambda array: array[:1])
    yield "NaN", lambda: forge.change(state["values"], lambda array: array * np.nan)
    yield "several outputs", lambda: arguments[2].update(content="1000000000")
    yield "other classes", lambda: forge.change(arguments[1], with_value(0, 2**60))
    yield "more classes", lambda: forge.attributes("RandomForestClassifier")["n_classes_"].update(content="9")
    detector, pipeline = forge.attributes("RandomForest"), find(forge.schema, __class__="Pipeline")
    yield "a pipeline as forest", lambda: detector.update(model_=json.loads(json.dumps(pipeline)))
    yield "outputs by an array", lambda: arguments[2].update(arguments[1] | {"content": "1"})
    yield "nodes of numbers", lambda: forge.change(state["nodes"], lambda array: array["feature"])


def raw_files(model, folder):
    """{case: bytes} of files that are broken as a whole."""
    data, members = model.read_bytes(), members_of(model)
    twice = io.BytesIO(data)
    with zipfile.ZipFile(twice, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("schema.json", members["schema.json"])
    middle = len(data) // 2
    return {
        "empty": b"",
        "text": b"a,b\n1,2\n",
        "a pickle": pickle.dumps(os.getcwd),
        "cut off": data[:-200],
        "a flipped bit": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "a member twice": twice.getvalue(),
        "another skops file": skops.io.dumps({"method": "prenet"}),
        "a schema of 64 MB": zipped(members | {"schema.json": b" " * 2**25 + members["schema.json"]}),
        "nested schema": zipped(members | {"schema.json": b"[" * 10**6}),
        "nested about": zipped(members | {"about.json": b'{"a":' * 10**6}),
        "a bomb": zipped(members | {"1.npy": bytes(2**27)}),
    }


CHILD = """
import faulthandler, sys
import pandas as pd
from weakly.environment import peak_bytes
from weakly.errors import DataError
from weakly.own_data.model_files import read_about
from weakly.own_data.models import load_model
table = pd.read_pickle(sys.argv[1])
for path in sys.stdin.read().splitlines():
    print(path, end="\\t", flush=True)
    try:
        model = load_model(path)
        model.scored(table)
        model.reasons(table[:5])
        print("loaded")
    except DataError as error:
        print(ascii(str(error)), flush=True)
print("most", peak_bytes() >> 20)
"""


def answers_to(paths, table):
    """What a process says to these files, by name; it may neither crash nor take long."""
    child = [sys.executable, "-W", "error", "-c", CHILD, table]
    files = "\n".join(map(str, paths))
    done = subprocess.run(child, input=files, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2_000:]
    *lines, most = done.stdout.splitlines()
    assert int(most.split()[1]) < 1_500  # MB
    return {Path(line.split("\t")[0]).name: line.split("\t")[1] for line in lines}


@pytest.mark.parametrize("method, forge", [("prenet", of_network), ("random-forest", of_forest)])
def test_a_forged_file_gives_one_sentence(tmp_path, method, forge):
    """Refused when it is loaded, or when its scores are not finite."""
    save_model(tmp_path / "model", model_of_events(method, **QUICK.get(method, {})))
    typed_events(events()).to_pickle(tmp_path / "table")
    cases = raw_files(tmp_path / "model", tmp_path) if method == "prenet" else {}
    for forger in (forge, of_encoder) if method == "prenet" else (forge,):
        for place, (name, _) in enumerate(forger(Forgery(tmp_path / "model"))):
            forgery = Forgery(tmp_path / "model")
            list(forger(forgery))[place][1]()
            cases[name] = forgery.data()
    paths = [tmp_path / f"{number}.model" for number in range(len(cases))]
    for path, data in zip(paths, cases.values(), strict=True):
        path.write_bytes(data)
    said = answers_to([tmp_path / "model", *paths], tmp_path / "table")
    assert said.pop("model") == "loaded"
    answers = dict(zip(cases, said.values(), strict=True))
    assert not [name for name, answer in answers.items() if answer == "loaded"]
    vague = r"(?!.*\.model (is|has|expands|cannot|needs)|.*Rows 1 to 600 cannot be scored)|.*\\n|.{700}"
    assert not [answer for answer in answers.values() if re.match(vague, answer)]


def test_devices_and_endless_files_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(200 * 2**30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for path in ("/dev/zero", tmp_path / "fifo", tmp_path / "sparse", tmp_path, tmp_path / "none"):
        for read in (load_model, read_about):
            with pytest.raises(DataError, match="not a regular file|has more than|cannot be read"):
                read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 5
