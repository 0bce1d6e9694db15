"""detect.py on tables as users have them: what it learns and refuses; that a saved model scores the same."""

import dataclasses
import gzip
import importlib.util
import re
import shlex
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from event_tables import KINDS, events

import detect
from weakly.errors import DataError
from weakly.loading.row_order import weka_order
from weakly.methods import method_group
from weakly.own_data import scoring, user_tables
from weakly.own_data.column_kinds import column_kind, typed_columns
from weakly.own_data.evaluation import hide_labels
from weakly.own_data.event_model import SAVED_METHODS, EventModel
from weakly.own_data.features import new_encoder
from weakly.own_data.labels import anomaly_labels
from weakly.own_data.saved_models import load_model, save_model

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder with events.csv."""
    monkeypatch.chdir(tmp_path)
    events().to_csv("events.csv", index=False)
    return tmp_path


def known_frauds(table):
    return (table["fraud"] == "1").astype(int)


def mislabelled(table):
    return (table.index % 23 == 1).astype(int)


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    """A PReNet model of that table."""
    path = tmp_path_factory.mktemp("model") / "fraud.model"
    table = events()
    save_model(path, EventModel.fit("prenet", table[list(KINDS)], KINDS, known_frauds(table)))
    return path


def run(command):
    """The exit code of `python detect.py command`."""
    try:
        return detect.main(shlex.split(command))
    except SystemExit as stop:
        return stop.code


# ---------------------------------------------------------------------------- fit, score, evaluate


def test_a_table_is_fitted_and_scored(folder, capsys):
    assert run("fit events.csv --label fraud --model fraud.model --top 3") == 0
    shown = capsys.readouterr().out
    assert "600 rows of events.csv: 30 labelled anomalies, 0 known normal, 570 unlabelled." in shown
    dropped = "id (an id); time (a date or time); version (constant)"
    assert f"Columns: 2 number, 1 boolean, 1 category. Dropped: {dropped}." in shown
    new = events(seed=1).drop(columns=["version", "fraud", "id"])
    new.to_csv("new.csv", index=False, sep=";")
    assert run("score new.csv --model fraud.model --output scores.csv") == 0
    scores = pd.read_csv("scores.csv")
    assert list(scores) == ["row", "score"] and len(scores) == 600
    assert set(scores.nlargest(30, "score")["row"] - 1) == set(range(7, 600, 20))


def test_the_ranked_head_has_the_wanted_columns_flags_and_reasons(folder, model_path, capsys):
    options = f"--model {model_path} --contamination 0.05 --explain"
    assert run(f"score events.csv {options} --output all.csv --keep") == 0
    assert run(f"score events.csv {options} --output top.csv --keep country,id --top 40") == 0
    whole, head = pd.read_csv("all.csv", dtype=str, keep_default_na=False), pd.read_csv("top.csv")
    assert whole[list(events())].equals(
        events().astype(str)
    )  # NA, 18 and 80.10 are kept as they were written
    assert (
        list(head)[:5] == ["country", "id", "row", "score", "flag"] and head["score"].is_monotonic_decreasing
    )
    best = whole.assign(score=whole["score"].astype(float)).nlargest(40, "score")
    assert (
        head["row"].tolist() == best["row"].astype(int).tolist()
        and head["why_1"].tolist() == best["why_1"].tolist()
    )
    assert head["flag"].sum() == (whole["flag"] == "1").sum() == 30
    message = capsys.readouterr().out
    threshold = float(re.search(r"score above (\S+), which 5% of the 600 training rows exceed", message)[1])
    assert head["score"][head["flag"] == 1].min() > threshold > head["score"][head["flag"] == 0].max()
    assert set(head["why_1"][:30].str.split("=").str[0]) <= {"amount", "country"}


def test_scores_do_not_depend_on_the_chunks(folder, model_path, monkeypatch):
    assert run(f"score events.csv --model {model_path} --output one.csv") == 0
    for module in (scoring, user_tables):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 77)
    assert run(f"score events.csv --model {model_path} --output many.csv") == 0
    assert run(f"score events.csv --model {model_path} --output head.csv --top 200") == 0
    one, many, head = (pd.read_csv(f"{name}.csv") for name in ("one", "many", "head"))
    np.testing.assert_allclose(many, one, rtol=1e-6)
    np.testing.assert_array_equal(head, many.sort_values("score", ascending=False, kind="stable")[:200])


def test_too_many_cells_at_the_start_of_a_chunk_are_refused(folder, model_path, monkeypatch, capsys):
    for module in (scoring, user_tables):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 10)
    lines = Path("events.csv").read_text().splitlines()
    lines[21] += ",too,many"  # the first row of the third chunk
    Path("long.csv").write_text("\n".join(lines))
    assert run(f"score long.csv --model {model_path}") == 2
    assert "more cells" in capsys.readouterr().err


def test_evaluate_reports_and_draws(folder, capsys):
    table = events(1_000).assign(fraud=lambda table: np.where(table["fraud"] == "1", "yes", "no"))
    table.to_csv("known.csv", index=False, sep=";")
    assert (
        run(
            "evaluate known.csv --label fraud --anomaly-value yes --n-labeled 15 --runs 2 --output curves.png"
        )
        == 0
    )
    shown = capsys.readouterr().out
    held_out = "Held out: 200 rows, 10 of them anomalies (base rate 0.0500). "
    assert f"{held_out}For training: 15 labelled anomalies,\n" in shown
    assert "\n785 unlabelled rows, 25 of them" in shown
    mean = re.search(r"^prenet +(\S+) ±\S+ +(\S+) ±", shown, re.MULTILINE)
    assert float(mean[2]) > 0.9 and "precision at 10" in shown
    assert Path("curves.png").read_bytes().startswith(b"\x89PNG")


def test_evaluate_on_a_raw_file_agrees_with_the_experiments(tmp_path, monkeypatch, real_data, capsys):
    """UCI's bank file in the authors' order, against the committed runs on campaign with the same splits.

    The experiments scale plainly from the smallest to the largest value.
    """
    monkeypatch.setattr("weakly.own_data.features.FENCES", {})
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(real_data / "bank-additional.zip") as archive:
        header, *lines = archive.read("bank-additional/bank-additional-full.csv").splitlines(keepends=True)
    Path("bank.csv").write_bytes(header + b"".join(lines[row] for row in weka_order(len(lines))))
    assert run("evaluate bank.csv --label y --anomaly-value yes --hidden-share 0.02 --runs 3") == 0
    auc_pr = float(re.search(r"^prenet +\S+ ±\S+ +(\S+) ±", capsys.readouterr().out, re.MULTILINE)[1])
    runs = pd.read_csv(ROOT / "results" / "reference" / "seen_runs.csv")
    runs = runs[
        (runs["method"] == "prenet")
        & (runs["dataset"] == "campaign")
        & (runs["protocol"] == "independent")
        & (runs["seed"] < 3)
    ]
    assert len(runs) == 3 and auc_pr == pytest.approx(runs["auc_pr"].mean(), abs=0.03)


def test_evaluate_splits_as_the_independent_protocol():
    from weakly.loading.splits import split_independent

    y = (np.arange(5_000) % 10 == 0).astype(int)
    split = split_independent(y, seed=3, n_labeled=60, contamination=0.02)
    unlabeled, anomalies, test, left_out = hide_labels(y, 60, seed=3, hidden_share=0.02)
    for mine, theirs in ((unlabeled, split.unlabeled), (anomalies, split.anomalies), (test, split.test)):
        np.testing.assert_array_equal(mine, theirs)
    assert left_out == 400 - 60 - 73 and y[unlabeled].sum() == 73  # 73 is 2% of 3,600 + 73
    few = (np.arange(5_000) < 80).astype(int)
    unlabeled, anomalies, _, left_out = hide_labels(few, 60, seed=3, hidden_share=0.02)
    assert (few[unlabeled].sum(), len(np.unique(unlabeled)), len(anomalies), left_out) == (
        4,
        len(unlabeled),
        60,
        0,
    )


@pytest.mark.parametrize(
    "name, options",
    [("plain.csv", {"sep": "\t"}), ("packed.csv", {"compression": "gzip"}), ("t.parquet", None)],
)
def test_other_files_give_the_same_scores(folder, model_path, name, options):
    if options is None:
        pytest.importorskip("pyarrow")
        table = (
            events()
            .astype({"id": int, "amount": float})
            .replace({"member": {"": None, "true": True, "false": False}})
        )
        table.assign(age=pd.to_numeric(table["age"])).to_parquet(name)
    else:
        events().to_csv(name, index=False, **options)  # gzip is known by its first bytes, not by its name
    assert run(f"score {name} --model {model_path} --output other.csv") == 0
    assert run(f"score events.csv --model {model_path} --output plain.csv.scores") == 0
    assert Path("other.csv").read_text() == Path("plain.csv.scores").read_text()


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_parquet_without_pyarrow_says_what_to_install(folder, model_path, capsys):
    Path("t.parquet").write_bytes(b"PAR1....PAR1")
    assert run(f"score t.parquet --model {model_path}") == 2
    assert "pip install pyarrow" in capsys.readouterr().err


# ---------------------------------------------------------------------------- columns and labels


@pytest.mark.parametrize(
    "name, cells, kind, why",
    [
        ("amount", [f"{i}.5" for i in range(60)], "number", None),
        (
            "cents",
            [str(i * i * 971) for i in range(60)],
            "number",
            None,
        ),  # all different, but no counter and not named so
        ("customer_id", [str(i * i * 971) for i in range(60)], None, "an id"),
        ("n", [str(i) for i in range(60)], None, "an id"),
        ("code", [f"TX-{i}" for i in range(60)], None, "an id"),
        ("age", ["30", "NA", " 41 ", "?", ""] * 12, "number", None),
        ("five", ["5", "5.0"] * 30, None, "constant"),
        ("five", ["5", "5.0", ""] * 20, "number", None),  # its gaps have a feature
        ("new", ["True", "false", ""] * 20, "boolean", None),
        ("mark", ["true", ""] * 30, "category", None),  # a gap says something here
        ("day", [f"2024-01-{i % 28 + 1:02}" for i in range(60)], None, "a date or time"),
        ("day", [f"{i % 28 + 1}.{i % 12 + 1}.2024 10:00" for i in range(60)], None, "a date or time"),
        ("clock", [f"{i % 24}:15" for i in range(60)], None, "a date or time"),
        ("address", [f"10.0.{i % 9}.1" for i in range(60)], "category", None),
        ("nothing", [""] * 60, None, "constant"),
    ],
)
def test_kinds_of_columns(name, cells, kind, why):
    assert column_kind(name, pd.Series(cells, dtype=object)) == (kind, why)


@pytest.mark.parametrize(
    "cells, anomaly, normal, expected",
    [
        (["1", "0", "", "1.0"], None, None, [1, 0, 0, 1]),
        (["True", "FALSE", " "], None, None, [1, 0, 0]),
        (["Yes", "no", "NO"], None, None, [1, 0, 0]),
        (["yes", "no", "", "later"], ["yes"], None, [1, 0, 0, 0]),
        (["yes", "no", ""], ["yes"], "no", [1, 0, 0]),
        (["2", "1", "2.0"], ["2"], None, [1, 0, 1]),
        (["none", "attack"], ["attack"], "none", [0, 1]),
        (["DoS", "ok", "3.0", ""], ["DoS", "3"], None, [1, 0, 1, 0]),
    ],
)
def test_labels(cells, anomaly, normal, expected):
    assert anomaly_labels(pd.Series(cells), anomaly, normal, False, "t.csv").tolist() == expected


@pytest.mark.parametrize(
    "cells, anomaly, normal, all_known",
    [
        (["1", "maybe"], None, None, False),
        (["yes", "maybe", "no"], ["yes"], "no", False),
        (["1", "NaN"], None, None, False),
        (["yes", "nan"], ["yes"], None, False),
        (["yes", "", "no"], ["yes"], None, True),
        (["1", "", "0"], None, None, True),
    ],
)
def test_unclear_labels_are_refused(cells, anomaly, normal, all_known):
    with pytest.raises(DataError, match="Row 2 of t.csv has the label"):
        anomaly_labels(pd.Series(cells), anomaly, normal, all_known, "t.csv")


def test_missing_unseen_and_rare_values_are_encoded():
    table = pd.DataFrame({
        "x": ["0", "4", "", "1"], "c": ["a", "a", "b", "b"], "d": ["a", "a", "", "rare"],
        "t": ["True", "true", "", "false"],
    })  # fmt: skip
    kinds = {"x": "number", "c": "category", "d": "category", "t": "boolean"}
    encoder = new_encoder(kinds, min_frequency=2).fit(typed_columns(table, kinds))
    new = pd.DataFrame({"x": ["8", ""], "c": ["b", "unseen"], "d": ["a", "unseen"], "t": ["false", "NA"]})
    encoded = encoder.transform(typed_columns(new, kinds))  # x, t, c=a, c=b, d=a, d rare
    np.testing.assert_array_equal(encoded, [[1, 0, 0, 1, 1, 0], [0.25, 1, 0, 0, 0, 1]])  # 8 counts as 4


# ---------------------------------------------------------------------------- bad input


def changed(**columns):
    return events().assign(**columns)


BAD_TABLES = {
    "no labelled anomaly": (changed(fraud=""), "no labelled anomaly"),
    "only anomalies": (changed(fraud="1"), "only anomalies"),
    "label missing": (events().drop(columns="fraud"), "lacks the column fraud of --label"),
    "all constant": (changed(amount="1", age="2", country="DE", member="true"), "no column to learn from"),
    "free text": (changed(note=[f"please call number {i} back" for i in range(600)]),
        "'note' is free text.*--drop note"),
    "nan labels": (changed(fraud=lambda t: np.where(t["fraud"] == "1", "1", "NaN")),
        "Row 1 of .* has the label 'NaN'"),
    "other labels": (changed(fraud=lambda t: np.where(t["fraud"] == "1", "DoS", "ok")),
        "'ok' instead of 0, 1, false, no, true, yes: see --anomaly"),
    "decimal commas": (changed(amount=lambda t: t["amount"].str.replace(".", ",")),
        "'amount' holds numbers like"),
    "numbers and text": (changed(amount=lambda t: t["amount"].where(t.index != 5, "abc")),
        "'amount' holds numbers, but also 'abc'"),
    "infinite": (changed(amount=lambda t: t["amount"].where(t.index != 5, "inf")),
        "Row 6: column 'amount' holds 'inf'"),
    "empty file": (b"", "is empty"),
    "no rows": (b"amount,country,fraud\n", "has no rows"),
    "duplicate columns": (b"amount,amount,fraud\n1,2,1\n", "more than one column 'amount'"),
    "wrong delimiter": (b"amount:country:fraud\n1:DE:1\n", "separated by , ; tab or |"),
    "too many cells": (b"amount,fraud\n1,2,1\n3,4,0\n", "more cells"),
    "too many cells in a row": (b"amount,fraud\n1,0\n3,4,0\n", "more cells"),
    "not UTF-8": ("amount,fraud\nM\xfcll,1\n".encode("latin-1"), "UTF-8"),
    "broken gzip": (gzip.compress(b"amount,fraud\n" + b"1,0\n" * 9)[:30], "is damaged"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_gives_one_sentence_and_code_2(folder, case, capsys):
    table, message = BAD_TABLES[case]
    if isinstance(table, bytes):
        Path("bad.csv").write_bytes(table)
    else:
        table.to_csv("bad.csv", index=False)
    Path("fraud.model").write_text("what was there")
    assert run("fit bad.csv --label fraud --model fraud.model") == 2
    error = capsys.readouterr().err
    assert re.search(message, error) and error.count("\n") == 1 and "Traceback" not in error
    assert Path("fraud.model").read_text() == "what was there"
    assert sorted(path.name for path in folder.iterdir()) == ["bad.csv", "events.csv", "fraud.model"]


@pytest.mark.parametrize(
    "table, options, message",
    [
        (events().drop(columns=["age", "member"]), "", "lacks the columns age, member that"),
        (changed(amount="many"), "", "Row 1: column 'amount' holds 'many'"),
        (
            changed(member=lambda t: t["member"].where(t.index != 9, "maybe")),
            "",
            "Row 10: column 'member' holds 'maybe'",
        ),
        (events()[:0], "", "has no rows"),
        (changed(score="1"), "--keep", "already has a column 'score'"),
        (events(), "--keep nothing", "lacks the column nothing of --keep"),
        (events(), "--contamination 2", "--contamination"),
        (events(), "--output new.csv", "is an input file"),
    ],
)
def test_a_bad_file_to_score_gives_one_sentence_and_leaves_the_old_scores(
    folder, model_path, table, options, message, capsys
):
    table.to_csv("new.csv", index=False)
    before = Path("new.csv").read_bytes()
    Path("scores.csv").write_text("what was there")
    assert run(f"score new.csv --model {model_path} {options}") == 2
    assert message in capsys.readouterr().err
    assert Path("scores.csv").read_text() == "what was there" and Path("new.csv").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "new.csv", "scores.csv"]


def test_methods_that_cannot_be_saved_are_refused(folder, capsys):
    others = [name for name in method_group("table", "appendix", "today") if name not in SAVED_METHODS]
    assert others == ["iforest"]
    for method in (*others, "ldm", "prenet-two-layers"):  # nor are there variants and interpretations
        assert run(f"fit events.csv --label fraud --method {method} --model fraud.model") == 2
        assert "invalid choice" in capsys.readouterr().err


# ---------------------------------------------------------------------------- saved models


@pytest.mark.parametrize("method", ["prenet", "repen", "xgbod", "logistic", "catboost", "random-forest"])
def test_scores_after_loading_are_the_same(tmp_path, method):
    """Some normal rows are labelled too: otherwise trees are stumps, and losses fall to 0.

    A method of each kind; test_without_tensorflow.py has all of them, hardly trained.
    """
    table = events()
    model = EventModel.fit(
        method, table[list(KINDS)], KINDS, known_frauds(table) | mislabelled(table), seed=1
    )
    save_model(tmp_path / "a.model", model)
    loaded = load_model(tmp_path / "a.model")
    new = events(seed=2)
    for before, after in zip(model.score(new), loaded.score(new)):
        np.testing.assert_array_equal(before, after)
    assert (
        loaded.threshold(0.01) == model.threshold(0.01)
        and loaded.kinds == model.kinds
        and loaded.n_rows == 600
    )
    assert not hasattr(loaded.detector, "decision_scores_")  # nothing of the training rows one by one


def forged(source, target, **values):
    """A copy of a model file with other values of some of the model's fields."""
    target.write_bytes(skops.io.dumps(dataclasses.replace(load_model(source), **values)))


def of_another_type(source, target):
    """A model with an object that no model has."""
    model = load_model(source)
    model.origin = {"code": weka_order}
    target.write_bytes(skops.io.dumps(model))


def of_another_shape(source, target):
    model = load_model(source)
    model.detector.weights_[0] = model.detector.weights_[0][1:]
    target.write_bytes(skops.io.dumps(model))


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda source, target: target.write_bytes(source.read_bytes()[:-200]), "damaged"),
        (lambda source, target: target.write_text("a,b\n1,2\n"), "damaged"),
        (lambda source, target: target.unlink(missing_ok=True), "cannot be read"),
        (lambda source, target: target.write_bytes(skops.io.dumps({"method": "prenet"})), "something else"),
        (lambda source, target: forged(source, target, method="os"), "something else"),
        (lambda source, target: forged(source, target, quantiles=None), "damaged"),
        (lambda source, target: forged(source, target, typical=np.zeros(3, np.float32)), "damaged"),
        (lambda source, target: forged(source, target, header="yes"), "something else"),
        (of_another_type, "Untrusted types found in the file: ['weakly.loading.row_order.weka_order']"),
        (of_another_shape, "damaged"),
    ],
)
def test_a_damaged_or_foreign_model_gives_one_sentence(folder, model_path, change, message, capsys):
    change(model_path, folder / "other.model")
    assert run("score events.csv --model other.model") == 2
    error = capsys.readouterr().err
    assert message in error and "other.model" in error and error.count("\n") == 1


def test_a_model_that_could_not_be_loaded_again_is_not_written(folder, monkeypatch, capsys):
    monkeypatch.setattr("weakly.own_data.saved_models.MODEL_SIZE_LIMIT", 50_000)
    Path("fraud.model").write_text("what was there")
    assert run("fit events.csv --label fraud --method logistic --model fraud.model") == 2
    error = capsys.readouterr().err
    assert "The logistic model of this table is too large" in error and error.count("\n") == 1
    assert Path("fraud.model").read_text() == "what was there"


def test_a_model_that_expands_too_much_is_not_read(folder, model_path, monkeypatch, capsys):
    monkeypatch.setattr("weakly.own_data.saved_models.MODEL_SIZE_LIMIT", 1_000)
    assert run(f"score events.csv --model {model_path}") == 2
    assert "expands to more than" in capsys.readouterr().err


# ---------------------------------------------------------------------------- the example of docs/own_data.md


def test_the_example_of_the_page(tmp_path, monkeypatch, real_data, capsys):
    """Its commands on the thyroid file give what it shows, but for what another CPU changes."""
    section = (ROOT / "docs/own_data.md").read_text().split("## An example")[1].split("\n## ")[0]
    source = "dataset/raw/annthyroid_21feat_normalised.csv"
    monkeypatch.chdir(tmp_path)
    Path("dataset/raw").mkdir(parents=True)
    Path(source).symlink_to(real_data / Path(source).name)
    first, *lines = Path(source).read_text().splitlines()
    marked = [number for number, line in enumerate(lines) if line.endswith(",1")]
    for number in set(range(len(lines))) - set(marked[:60]):
        lines[number] = lines[number][:-1]  # as the awk command does
    Path("events.csv").write_text("\n".join([first, *lines]) + "\n")
    for command in ("fit", "score", "evaluate"):
        assert run(re.search(rf"python detect\.py ({command} .*)", section)[1]) == 0
    shown = capsys.readouterr().out
    for line in shown.splitlines():
        if re.match(r"[\d,]+ rows of|Columns:|Scored|Held out|[\d,]+ unlabelled", line):
            assert line in section
    figures = [re.search(r"^prenet +0 +(0.*)", text, re.MULTILINE)[1].split() for text in (shown, section)]
    np.testing.assert_allclose(*np.array(figures, float), atol=0.03)
    top = [int(row) for row in re.findall(r"^1,(\d+),\d", section, re.MULTILINE)]
    assert len(top) == 5 and len(set(top) & set(pd.read_csv("top.csv")["row"])) >= 4
