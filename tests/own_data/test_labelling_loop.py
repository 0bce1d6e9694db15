"""The labelling loop of detect.py: what `next` proposes, and how its file comes back."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from event_tables import events

import detect
from weakly.own_data.next_command import for_spreadsheet

FIT = "fit events.csv --label fraud --method logistic-converged --model fraud.model --top 1"
NEXT = "next events.csv --label fraud --method logistic-converged --n 8 --output new.csv"
TRUTH = events()["fraud"].to_numpy()


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    """A folder with events.csv, its first five frauds labelled, a model, and new.csv of `next`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("loop"))
        known = np.where(np.arange(len(TRUTH)) < 100, TRUTH, "")
        events().assign(fraud=known).to_csv("events.csv", index=False)
        assert detect.main(FIT.split()) == 0 and detect.main(NEXT.split()) == 0
        return Path.cwd()


@pytest.fixture
def proposed(loop, tmp_path, monkeypatch):
    """new.csv, as `next` wrote it; the working folder has these files."""
    shutil.copytree(loop, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return texts_of("new.csv")


def texts_of(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_rounds_without_copying_a_label(proposed, capsys, run):
    """Frauds are found, no row is proposed twice, and known normals come back as such."""
    seen, checked, table = [], "", texts_of("events.csv")
    for number in range(2):
        options = f"--n 8 --drop age --output {number}.csv {checked}"
        assert run(f"{FIT} {checked}") == 0 and run(f"next events.csv --model fraud.model {options}") == 0
        rows = texts_of(f"{number}.csv")
        first = ["row", "key", "score", "why_1", "why_2", "why_3", "fraud"]
        assert list(rows) == [*first, *table.columns.drop("fraud")]
        places = rows["row"].astype(int) - 1
        assert (rows[table.columns].to_numpy() == table.iloc[places].to_numpy()).all()  # dropped ones too
        rows.assign(fraud=np.where(TRUTH[places] == "1", "1", "0")).to_csv(f"{number}.csv", index=False)
        seen += places.tolist()
        checked += f" --checked {number}.csv"
    n_frauds = (TRUTH[seen] == "1").sum()
    assert len(set(seen)) == 16 and not set(seen) & {7, 27, 47, 67, 87} and n_frauds >= 10
    capsys.readouterr()
    assert run(f"{FIT} {checked}") == 0
    counts = f"{5 + n_frauds} labelled anomalies, {16 - n_frauds} known normal, 579 unlabelled."
    assert counts in capsys.readouterr().out


def test_formulas_are_harmless_in_a_spreadsheet_and_taken_back(proposed, run):
    """And a table may have columns that are called row and score."""
    odd = ["=1+1", "@SUM(A1)", "+x", "-y", "'=z", "-5.2", "+7"]
    table = texts_of("events.csv")
    table["country"] = [odd[row % 7] for row in table.index]
    table.assign(row="x", row_="y", score=table["age"]).to_csv("events.csv", index=False)
    assert run(f"{NEXT} --output odd.csv") == 0
    rows = texts_of("odd.csv")
    assert list(rows)[:3] == ["row__", "key", "score_"] and (rows["country"].str[0] == "'").any()
    assert not rows["country"].str.fullmatch(r"[=@+-].*[^\d.].*").any()
    rows.assign(fraud="1").to_csv("odd.csv", index=False)
    assert run(f"{FIT} --checked odd.csv") == 0
    assert [for_spreadsheet(cell) for cell in odd] == [*(f"'{cell}" for cell in odd[:4]), *odd[4:]]


def test_a_file_that_a_spreadsheet_wrote_anew_is_taken(proposed, capsys, run):
    rows = proposed.assign(fraud="TRUE", member=proposed["member"].str.upper())
    rows["time"] = pd.to_datetime(rows["time"]).dt.strftime("%d/%m/%Y %H:%M")
    rows["amount"] = (rows["amount"] + "0").str.replace(".", ",")
    rows["row"] += ".0"
    rows = pd.concat([rows.drop(columns=["id", "score"])[::-1].assign(note="geprüft"), rows[:0].reindex([0])])
    rows.to_csv("new.csv", index=False, sep=";", encoding="latin-1")  # with an empty row
    assert run(f"{FIT} --checked new.csv --drop time") == 0
    assert "13 labelled anomalies, 0 known normal, 587 unlabelled." in capsys.readouterr().out


@pytest.mark.parametrize(
    "anomaly, other, answer, counts",
    [
        ("DoS", "ok", "DoS", "13 labelled anomalies, 95 known normal"),
        ("DoS", "ok", "1", "13 labelled anomalies, 95 known normal"),
        ("DoS", "ok", "ok", "5 labelled anomalies, 103 known normal"),
        ("2", "1", "1", "5 labelled anomalies, 103 known normal"),  # 1 is the table's other label
        ("0", "1", "0", "13 labelled anomalies, 95 known normal"),
    ],
)
def test_checked_files_may_use_the_labels_of_the_table(proposed, anomaly, other, answer, counts, capsys, run):
    table = texts_of("events.csv")
    labels = np.where(TRUTH == "1", anomaly, other)
    table.assign(fraud=np.where(table.index < 100, labels, "")).to_csv("events.csv", index=False)
    proposed.assign(fraud=answer).to_csv("new.csv", index=False)
    assert (
        run(f"{FIT} --anomaly-value {anomaly} --anomaly-value never --checked new.csv") == 2
    )  # no such label
    assert run(f"{FIT} --anomaly-value {anomaly} --checked new.csv") == 0
    assert counts in capsys.readouterr().out


CHANGES = {  # what fit says of what a person did to the file of `next`
    "is another one or has changed since": lambda rows: rows.assign(row=rows["row"].astype(int) + 1),
    "row '601' of events.csv is another one": lambda rows: rows.assign(row="601"),
    "label 'maybe' instead of 0, 1, false, no, true, yes": lambda rows: rows.assign(fraud="maybe"),
    "does not agree with other labels": lambda rows: pd.concat([rows, rows[:1].assign(fraud="0")]),
    "lacks the column row of a file that `next` wrote": lambda rows: rows.drop(columns="row"),
}


def test_a_checked_file_that_does_not_belong_is_refused_and_never_written_over(proposed, capsys, run):
    Path("fraud.model").write_text("what was there")
    for message, change in CHANGES.items():
        change(proposed.assign(fraud="1")).to_csv("new.csv", index=False)
        before = Path("new.csv").read_bytes()
        capsys.readouterr()
        assert run(f"{FIT} --checked new.csv") == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1
        assert Path("fraud.model").read_text() == "what was there"
    assert run(NEXT) == run(f"{FIT} --model new.csv --checked new.csv") == 2
    assert Path("new.csv").read_bytes() == before
