"""The labelling loop of detect.py: what 0 means, what `next` proposes, and how its file comes back."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from event_tables import events

from weakly.own_data.labels import are_same, for_spreadsheet, from_spreadsheet
from weakly.own_data.next_command import chosen_rows, least_alike

FIT = "fit events.csv --label fraud --method logistic-converged --model fraud.model --top 1"
NEXT = "next events.csv --label fraud --method logistic-converged --n 8 --output new.csv"


@pytest.fixture
def truth(folder):
    """The labels of all rows; events.csv has only the first five frauds labelled."""
    table = events()
    table.assign(fraud=table["fraud"].where(table.index < 100, "")).to_csv("events.csv", index=False)
    return table["fraud"].to_numpy()


@pytest.fixture
def proposed(truth, run):
    """new.csv, as `next` wrote it."""
    assert run(NEXT) == 0
    return texts_of("new.csv")


def texts_of(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.parametrize(
    "zeros, options, counts, meaning",
    [
        (300, "", "285 known normal, 285 unlabelled.", "; if not, add --anomaly-value 1"),
        (300, "--anomaly-value 1", "0 known normal, 570 unlabelled.", None),
        (600, "", "0 known normal, 570 unlabelled.", "; if not, add --normal-value 0"),
        (600, "--normal-value 0", "570 known normal, 0 unlabelled.", None),
    ],
)
def test_fit_says_what_zero_meant_and_how_to_change_it(folder, zeros, options, counts, meaning, capsys, run):
    table = events()
    is_zero = (table["fraud"] == "") & (table.index < zeros)
    table.assign(fraud=table["fraud"].mask(is_zero, "0")).to_csv("events.csv", index=False)
    assert run(f"{FIT} {options}") == 0
    shown = capsys.readouterr().out
    assert f"600 rows of events.csv: 30 labelled anomalies, {counts}" in shown
    assert (meaning in shown) if meaning else ("Labels:" not in shown)


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


def test_three_rounds_without_copying_a_label(truth, capsys, run):
    """Frauds are found, no row is proposed twice, and known normals come back as such."""
    seen, checked, table = [], "", texts_of("events.csv")
    for number in range(3):
        assert run(f"{FIT} {checked}") == 0
        assert (
            run(f"next events.csv --model fraud.model --n 8 {checked} --drop age --output {number}.csv") == 0
        )
        rows = texts_of(f"{number}.csv")
        assert list(rows) == [
            "row",
            "score",
            "why_1",
            "why_2",
            "why_3",
            "fraud",
            *table.columns.drop("fraud"),
        ]
        places = rows["row"].astype(int) - 1
        assert (rows[table.columns].to_numpy() == table.iloc[places].to_numpy()).all()  # dropped columns too
        rows.assign(fraud=np.where(truth[places] == "1", "1", "0")).to_csv(f"{number}.csv", index=False)
        seen += places.tolist()
        checked += f" --checked {number}.csv"
    assert len(set(seen)) == 24 and not set(seen) & {7, 27, 47, 67, 87}
    n_frauds = (truth[seen] == "1").sum()
    assert n_frauds >= 15
    capsys.readouterr()
    assert run(f"{FIT} {checked}") == 0
    counts = f"{5 + n_frauds} labelled anomalies, {24 - n_frauds} known normal, 571 unlabelled."
    assert counts in capsys.readouterr().out


def test_formulas_are_harmless_in_a_spreadsheet_and_taken_back(truth, run):
    """And a table may have columns that are called row and score."""
    odd = ["=1+1", "@SUM(A1)", "+x", "-y", "'=z", "-5.2", "+7"]
    table = texts_of("events.csv")
    table["country"] = [odd[row % 7] for row in table.index]
    table.assign(row="x", score=table["age"]).to_csv("events.csv", index=False)
    assert run(NEXT) == 0
    rows = texts_of("new.csv")
    assert list(rows)[:2] == ["row_", "score_"] and (rows["country"].str[0] == "'").any()
    assert not rows["country"].str.fullmatch(r"[=@+-].*[^\d.].*").any()
    rows.assign(fraud="1").to_csv("new.csv", index=False)
    assert run(f"{FIT} --checked new.csv") == 0
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
        ("--anomaly-value DoS", "ok", "5 labelled anomalies, 8 known normal"),
        ("--anomaly-value DoS --normal-value ok", "1", "13 labelled anomalies, 95 known normal"),
        ("--anomaly-value 2", "1", "5 labelled anomalies, 8 known normal"),  # 1 is the table's other label
    ],
)
def test_checked_files_may_use_the_labels_of_the_table(truth, options, answer, counts, capsys, run):
    table, names = texts_of("events.csv"), ["2", "1"] if "2" in options else ["DoS", "ok"]
    labels = np.where(truth == "1", *names)
    table.assign(fraud=np.where(table.index < 100, labels, "")).to_csv("events.csv", index=False)
    rows = table[200:208].assign(row=range(201, 209), fraud=answer)
    rows.to_csv("new.csv", index=False)
    assert run(f"{FIT} {options} --checked new.csv") == 0
    assert counts in capsys.readouterr().out


CHANGES = {  # what fit says of what a person did to the file of `next`
    "does not match events.csv: row": lambda rows: rows.assign(amount="1234.5"),
    "in column 'id', but the table has": lambda rows: rows.assign(row=rows["row"].astype(int) + 1),
    "names the row '601', but the table has 600 rows": lambda rows: rows.assign(row="601"),
    "names the row '1.5'": lambda rows: rows.assign(row="1.5"),
    "label 'maybe', which is not one of 0, 1, false, no, true, yes": lambda rows: rows.assign(fraud="maybe"),
    "row 8 is an anomaly and normal": lambda rows: texts_of("events.csv")[7:8].assign(row="8", fraud="0"),
    "does not agree with other labels": lambda rows: pd.concat([rows, rows[:1].assign(fraud="0")]),
    "no column in common with events.csv": lambda rows: rows[["row", "fraud"]],
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


def test_commands_that_make_no_sense(folder, capsys, run):
    table = events()
    assert run(f"{FIT} --checked nothing.csv") == 2
    assert "nothing.csv" in capsys.readouterr().err
    table.rename(columns={"amount": "label"}).to_csv("events.csv", index=False)
    assert run(FIT) == 0 and run("next events.csv --label label --model fraud.model") == 2
    assert "Column 'label' cannot be the label" in capsys.readouterr().err
    table.assign(fraud=np.where(table["fraud"] == "1", "1", "0")).to_csv("events.csv", index=False)
    assert run("next events.csv --label fraud --normal-value 0 --method logistic-converged") == 2
    assert "none left to check" in capsys.readouterr().err
