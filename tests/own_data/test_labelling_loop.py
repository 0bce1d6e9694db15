"""The labelling loop of detect.py: what `next` proposes, and how its file comes back."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from event_tables import events

import detect
from weakly.own_data.labels import are_same, for_spreadsheet, from_spreadsheet
from weakly.own_data.next_command import chosen_rows, least_alike

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


def test_the_most_suspicious_rows_come_first_and_then_the_least_alike():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [9.0], [0.3], [7.0]])
    scores = np.array([9.0, 8.0, 7.0, 6.0, 5.0, 4.0, -1.0])
    is_open = np.array([True, True, False, True, True, True, True])
    rows, n_suspicious = chosen_rows(X.__getitem__, scores, is_open, n=4, informative_share=0.5)
    assert n_suspicious == 2 and rows.tolist() == [0, 1, 4, 3]  # 5 is near 0 and 1; of 3 and 6, 3 is first
    assert sorted(chosen_rows(X.__getitem__, scores, is_open, 99, 0.25)[0]) == [0, 1, 3, 4, 5, 6]
    scores = np.arange(1_000.0)[::-1]  # rows far down the list are not proposed for being different
    rows, _ = chosen_rows(scores[:, np.newaxis].__getitem__, scores, np.ones(1_000, bool), 4, 0.25)
    assert rows.tolist() == [0, 1, 2, 39]
    assert sorted(least_alike(np.zeros((3, 2)), np.zeros((1, 2)), 5)) == [0, 1, 2]  # equal ones once each


def test_rounds_without_copying_a_label(proposed, capsys, run):
    """Frauds are found, no row is proposed twice, and known normals come back as such."""
    seen, checked, table = [], "", texts_of("events.csv")
    for number in range(2):
        options = f"--n 8 --drop age --output {number}.csv {checked}"
        assert run(f"{FIT} {checked}") == 0 and run(f"next events.csv --model fraud.model {options}") == 0
        rows = texts_of(f"{number}.csv")
        first = ["row", "score", "why_1", "why_2", "why_3", "fraud"]
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
    table.assign(row="x", score=table["age"]).to_csv("events.csv", index=False)
    assert run(f"{NEXT} --output odd.csv") == 0
    rows = texts_of("odd.csv")
    assert list(rows)[:2] == ["row_", "score_"] and (rows["country"].str[0] == "'").any()
    assert not rows["country"].str.fullmatch(r"[=@+-].*[^\d.].*").any()
    rows.assign(fraud="1").to_csv("odd.csv", index=False)
    assert run(f"{FIT} --checked odd.csv") == 0
    assert [from_spreadsheet(for_spreadsheet(cell)) for cell in odd] == odd
    assert for_spreadsheet("-5.2") == "-5.2" and for_spreadsheet("=1+1") == "'=1+1"


def test_a_file_that_a_spreadsheet_wrote_anew_is_taken(proposed, capsys, run):
    rows = proposed.assign(fraud="TRUE", member=proposed["member"].str.upper())
    rows["time"] = pd.to_datetime(rows["time"]).dt.strftime("%d/%m/%Y %H:%M")
    rows["amount"] = (rows["amount"] + "0").str.replace(".", ",")
    rows.drop(columns=["id", "score"]).to_csv("new.csv", index=False, sep=";")
    assert run(f"{FIT} --checked new.csv") == 0
    assert "13 labelled anomalies, 0 known normal, 587 unlabelled." in capsys.readouterr().out
    given = pd.Series(["1.0", "NA", "05 mar 2024", "X", "1,5", "2", "", "b"], dtype=object)
    right = pd.Series(["1", "", "2024-03-05", "x", "1.5", "3", "0", "a"], dtype=object)
    assert are_same(given, right).tolist() == [True] * 5 + [False] * 3


@pytest.mark.parametrize(
    "options, answer, counts",
    [
        ("--anomaly-value DoS", "DoS", "13 labelled anomalies, 0 known normal"),
        ("--anomaly-value DoS --normal-value ok", "1", "13 labelled anomalies, 95 known normal"),
        ("--anomaly-value 2", "1", "5 labelled anomalies, 8 known normal"),  # 1 is the table's other label
    ],
)
def test_checked_files_may_use_the_labels_of_the_table(proposed, options, answer, counts, capsys, run):
    table, names = texts_of("events.csv"), ["2", "1"] if "2" in options else ["DoS", "ok"]
    labels = np.where(TRUTH == "1", *names)
    table.assign(fraud=np.where(table.index < 100, labels, "")).to_csv("events.csv", index=False)
    proposed.assign(fraud=answer).to_csv("new.csv", index=False)
    assert run(f"{FIT} {options} --checked new.csv") == 0
    assert counts in capsys.readouterr().out


CHANGES = {  # what fit says of what a person did to the file of `next`
    "does not match events.csv: row": lambda rows: rows.assign(amount="1234.5"),
    "in column 'id', but the table has": lambda rows: rows.assign(row=rows["row"].astype(int) + 1),
    "names the row '601', but the table has 600 rows": lambda rows: rows.assign(row="601"),
    "label 'maybe', which is not one of 0, 1, false, no, true, yes": lambda rows: rows.assign(fraud="maybe"),
    "row 8 is an anomaly and normal": lambda rows: texts_of("events.csv")[7:8].assign(row="8", fraud="0"),
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
