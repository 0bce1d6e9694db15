"""detect.py on tables as users have them: what it learns, scores and refuses."""

import re
import zipfile
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from event_tables import events

import detect
from weakly.errors import DataError
from weakly.loading.row_order import weka_order
from weakly.own_data import tables
from weakly.own_data.labels import ANOMALY, NORMAL, known_labels
from weakly.own_data.models import load_model
from weakly.training.number_scaler import NumberScaler

ROOT = Path(__file__).resolve().parent.parent.parent
QUICK = "--method logistic-converged"


def test_a_table_is_fitted_and_scored(folder, capsys, run):
    assert (
        run(f"fit events.csv --label fraud {QUICK} --set max_iter=999 --drop time --model fraud.model") == 0
    )
    assert load_model("fraud.model").about["settings"]["max_iter"] == 999
    shown = capsys.readouterr().out
    assert "600 rows of events.csv: 30 labelled anomalies, 0 known normal, 570 unlabelled." in shown
    assert "Dropped: id (an id); version (constant)." in shown
    new = events(seed=1).drop(columns=["version", "fraud", "id"])
    new.to_csv("new.csv", index=False, sep=";")
    assert run("score new.csv --model fraud.model --output scores.csv") == 0
    scores = pd.read_csv("scores.csv")
    assert list(scores) == ["row", "score"] and len(scores) == 600
    assert set(scores.nlargest(30, "score")["row"] - 1) == set(range(7, 600, 20))


def test_the_ranked_head_has_the_wanted_columns_flags_and_reasons(folder, model_path, capsys, run):
    options = f"--model {model_path} --contamination 0.01 --explain"
    assert run(f"score events.csv {options} --output all.csv --keep") == 0
    assert run(f"score events.csv {options} --output top.csv --keep country,id --top 40") == 0
    whole, head = pd.read_csv("all.csv", dtype=str, keep_default_na=False), pd.read_csv("top.csv")
    kept = whole[list(events())]
    assert kept.equals(events().astype(str))  # NA, 18 and 80.10 are kept as they were written
    assert list(head)[:5] == ["country", "id", "row", "score", "flag"]
    assert head["score"].is_monotonic_decreasing
    best = whole.assign(score=whole["score"].astype(float)).nlargest(40, "score")
    for name in ("row", "why_1"):
        assert head[name].astype(str).tolist() == best[name].tolist()
    # 1% of 570 unlabelled rows, and all 30 labelled ones
    assert head["flag"].sum() == (whole["flag"] == "1").sum() == 36
    message = capsys.readouterr().out
    threshold = float(re.search(r"score above (\S+), which 1% of the unlabelled training rows", message)[1])
    assert head["score"][head["flag"] == 1].min() > threshold > head["score"][head["flag"] == 0].max()
    assert set(head["why_1"][:30].str.split("=").str[0]) <= {"amount", "country"}


def test_scores_do_not_depend_on_the_chunks(folder, model_path, monkeypatch, run):
    assert run(f"score events.csv --model {model_path} --output one.csv") == 0
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 77)
    assert run(f"score events.csv --model {model_path} --output many.csv") == 0
    assert run(f"score events.csv --model {model_path} --output head.csv --top 200") == 0
    one, many, head = (pd.read_csv(f"{name}.csv") for name in ("one", "many", "head"))
    np.testing.assert_allclose(many, one, rtol=1e-6)
    np.testing.assert_array_equal(head, many.sort_values("score", ascending=False, kind="stable")[:200])


def test_evaluate_on_a_raw_file_agrees_with_the_experiments(tmp_path, monkeypatch, real_data, capsys, run):
    """UCI's bank file in the authors' order, against the committed runs on campaign with the same splits.

    The experiments scale plainly from the smallest to the largest value.
    """
    monkeypatch.setattr("weakly.own_data.encoding.NumberScaler", lambda scaling: NumberScaler("min-max"))
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(real_data / "bank-additional.zip") as archive:
        header, *lines = archive.read("bank-additional/bank-additional-full.csv").splitlines(keepends=True)
    Path("bank.csv").write_bytes(header + b"".join(lines[row] for row in weka_order(len(lines))))
    options = "--label y --anomaly-value yes --hidden-share 0.02 --runs 3"
    assert run(f"evaluate bank.csv --method prenet {options}") == 0
    auc_pr = float(re.search(r"^ *(\S+) .* PReNet", capsys.readouterr().out, re.MULTILINE)[1])
    runs = pd.read_csv(ROOT / "results" / "reference" / "seen_runs.csv")
    runs = runs.query(
        "method == 'prenet' and dataset == 'campaign' and protocol == 'independent' and seed < 3"
    )
    assert len(runs) == 3 and auc_pr == pytest.approx(runs["auc_pr"].mean(), abs=0.03)


@pytest.mark.parametrize("label", ["", "--label fraud"])
def test_without_a_label_isolation_forest_starts(folder, run, label, capsys):
    events().assign(fraud="").rename(columns={} if label else {"fraud": "empty"}).to_csv(
        "new.csv", index=False
    )
    assert run(f"fit new.csv {label} --drop time --model m --top 3") == 0
    shown = capsys.readouterr().out
    assert "No row is labelled as an anomaly" in shown and "With labels, fit learns" in shown
    about = load_model("m").about
    assert about["method"] == "iforest" and "No row is labelled" in about["choice"]
    assert run(f"next new.csv {label} --model m --n 4") == 0
    name = "fraud" if label else "label"
    rows = pd.read_csv("to_check.csv", dtype=str, keep_default_na=False).assign(**{name: ["1", "1", "0", ""]})
    rows.to_csv("to_check.csv", index=False)
    capsys.readouterr()
    assert run(f"fit new.csv --label {name} --checked to_check.csv {QUICK} --model m") == 0
    assert "2 labelled anomalies, 1 known normal" in capsys.readouterr().out
    assert run(f"fit new.csv {label} --method prenet --model m") == 2
    assert "learns from labelled anomalies" in capsys.readouterr().err


def test_methods_that_are_not_for_own_data_are_refused_and_help_is_readable(folder, run, capsys):
    for options in ("--set max_iter=7", "--method logistic", "--method xgboost", "--method ldm"):
        assert run(f"fit events.csv --label fraud {options} --model m") == 2
        assert re.search("name the --method too|invalid choice.*random-forest", capsys.readouterr().err)
    assert run("fit --help") == 0
    shown = capsys.readouterr().out
    assert shown.split("options:")[0].count("prenet") == 1 and "{prenet" not in shown


def test_a_missing_library_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setattr(
        "importlib.import_module", Mock(side_effect=ModuleNotFoundError("No module", name="numpy"))
    )
    with pytest.raises(SystemExit, match="numpy is not installed.*.venv/bin/python detect.py info"):
        detect.main(["info", "m"])


def test_rows_with_unreadable_cells_are_scored_without_them(folder, model_path, run, capsys):
    table = events()
    table.loc[[4, 9], "amount"], table.loc[9, "member"] = ["abc", "12 apples"], "maybe"
    table.to_csv("new.csv", index=False)
    assert run(f"score new.csv --model {model_path}") == 0
    assert "Unreadable cells count as missing, in 2 rows (5, 10)" in capsys.readouterr().out
    table.loc[[4, 9], "amount"], table.loc[9, "member"] = "", ""
    table.to_csv("blank.csv", index=False)
    assert run(f"score blank.csv --model {model_path} --output blank_scores.csv") == 0
    assert Path("scores.csv").read_bytes() == Path("blank_scores.csv").read_bytes()


@pytest.mark.parametrize(
    "cells, anomaly, y, known",
    [
        ("1 0 _ 1.0 0.0", None, "10010", "01001"),  # beside empty cells, 0 was checked
        ("1 0 0", None, "100", "000"),  # else it means unlabelled
        ("Yes no NO _", None, "1000", "0110"),
        ("yes no _", ["yes"], "100", "010"),
        ("none attack", ["attack"], "01", "00"),  # a missing cell
        ("DoS ok 3.0", ["DoS", "3"], "101", "000"),
        ("1 maybe", None, None, None),
    ],
)
def test_labels(cells, anomaly, y, known):
    cells = pd.Series(cells.split()).replace("_", "")
    if y:
        labels = known_labels(cells, anomaly, "t.csv")
        flags = (labels == ANOMALY, labels == NORMAL)
        assert ["".join(map(str, 1 * one)) for one in flags] == [y, known]
    else:
        with pytest.raises(DataError, match="Row 2 of t.csv has the label 'maybe'"):
            known_labels(cells, anomaly, "t.csv")


def changed(**columns):
    return events().assign(**columns)


NOTES = [f"please call number {i} back" for i in range(600)]
THOUSANDS = [f"{i % 7 + 1},{i:03}" for i in range(600)]
REFUSED = [  # by fit, by score
    ("fit", events().drop(columns="fraud"), "", "lacks the column fraud of --label"),
    ("fit", changed(note=NOTES), "", "'note' is free text.*--drop note"),
    ("fit", changed(fraud=lambda t: t["fraud"].replace("", "ok")), "", "'ok' instead of 0, .*see --anomaly"),
    ("fit", changed(amount=THOUSANDS), "", "'amount' holds numbers such as '.*two things: add --"),
    ("fit", events(), "--set trees=7", "has no parameter trees; it has max_iter, tol"),
    ("score", events().drop(columns=["age", "member"]), "", "lacks the columns age, member that"),
    ("score", changed(amount="many"), "--strict", "Row 1: column 'amount' holds 'many'"),
    ("score", changed(score="1"), "--keep", "already has a column 'score'"),
    ("score", events(), "--output new.csv", "is an input file"),
    ("score", events(), "--output new/s.csv", "the folder new does not exist"),
    ("score", b"amount,age,country,member\n1,2,DE,true\n1,2\n", "", "fewer cells"),
]


@pytest.mark.parametrize("command, table, options, message", REFUSED)
def test_bad_input_gives_one_sentence_and_leaves_what_was_there(
    folder, model_path, command, table, options, message, capsys, run
):
    data = table if isinstance(table, bytes) else table.to_csv(index=False).encode()
    Path("new.csv").write_bytes(data)
    for name in ("scores.csv", "m"):
        Path(name).write_text("what was there")
    usual = f"--label fraud {QUICK} --model m" if command == "fit" else f"--model {model_path}"
    assert run(f"{command} new.csv {usual} {options}") == 2
    error = capsys.readouterr().err
    assert re.search(message, error) and error.count("\n") == 1
    assert Path("scores.csv").read_text() == Path("m").read_text() == "what was there"
    assert Path("new.csv").read_bytes() == data
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "m", "new.csv", "scores.csv"]


def test_the_example_of_the_page(tmp_path, monkeypatch, real_data, capsys, run):
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
        assert (
            run(re.search(rf"python detect\.py ({command} .*)", section)[1].replace("$thyroid", source)) == 0
        )
    shown = capsys.readouterr().out
    for line in shown.splitlines():
        if re.match(r"[\d,]+ rows of events|Columns:|Scored|Held out|unlabelled rows,", line):
            assert line in section
    figures = [re.search(r"^ (0.* )\d+\.\d  PReNet", text, re.M)[1].split() for text in (shown, section)]
    np.testing.assert_allclose(*np.array(figures, float), atol=0.03)
    top = [int(row) for row in re.findall(r"^1,(\d+),\d", section, re.MULTILINE)]
    assert len(top) == 5 and len(set(top) & set(pd.read_csv("top.csv")["row"])) >= 4
