"""The cards of the data sets: complete, up to date, valid Croissant, and true of the files at hand."""

import json

import pytest

from tools import data_cards
from weakly.loading.cards import CARDS
from weakly.loading.csv_tables import read_text_table
from weakly.loading.registry import DATA_SETS


def test_every_data_set_has_a_card():
    assert list(CARDS) == list(DATA_SETS)
    for card in CARDS.values():
        assert card.licence and card.licence_url.startswith("https://") and card.citation and card.order


def test_committed_cards_are_what_the_command_writes():
    page = data_cards.PAGE.read_text()
    outdated = "is out of date: run `python -m tools.data_cards`"
    assert data_cards.filled_page(page) == page, f"{data_cards.PAGE.name} {outdated}"
    assert data_cards.croissant_text() == data_cards.CROISSANT.read_text(), f"croissant.json {outdated}"


def test_page_without_marks_is_refused(monkeypatch, tmp_path, capsys):
    page, croissant = tmp_path / "data.md", tmp_path / "croissant.json"
    page.write_text("no marks\n")
    monkeypatch.setattr(data_cards, "PAGE", page)
    monkeypatch.setattr(data_cards, "CROISSANT", croissant)
    with pytest.raises(SystemExit) as ended:
        data_cards.main([])
    assert ended.value.code == 2 and "<!-- cards -->" in capsys.readouterr().err
    assert page.read_text() == "no marks\n" and not croissant.exists()


def test_data_set_without_card_is_named(monkeypatch, capsys):
    monkeypatch.setitem(DATA_SETS, "mydata", DATA_SETS["thyroid"])
    with pytest.raises(SystemExit) as ended:
        data_cards.main([])
    assert ended.value.code == 2 and "mydata has no card" in capsys.readouterr().err


def test_data_set_that_was_never_run_has_a_card(monkeypatch):
    monkeypatch.setitem(DATA_SETS, "mydata", DATA_SETS["thyroid"])
    monkeypatch.setitem(CARDS, "mydata", CARDS["thyroid"])
    assert "### mydata" in data_cards.cards_text() and "mydata" in data_cards.croissant_text()


def test_croissant_is_valid_and_can_be_loaded():
    croissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    described = croissant.Dataset(jsonld=json.loads(data_cards.CROISSANT.read_text()))
    issues = described.metadata.ctx.issues
    assert not issues.errors and not issues.warnings
    rows = [
        {key.partition("/")[2]: value for key, value in row.items()} for row in described.records("data_sets")
    ]
    sizes = {row["name"]: (row["rows"], row["features"], row["anomalies"]) for row in rows}
    wanted = {name: (entry.rows, entry.features, entry.anomalies) for name, entry in DATA_SETS.items()}
    assert sizes == wanted
    assert len(list(described.records("files"))) == len(data_cards.AUTHORS_FILES)


def test_columns_of_the_card_are_those_of_the_file(real_data):
    table = read_text_table(real_data / "annthyroid_21feat_normalised.csv")
    assert list(table.columns) == [*CARDS["thyroid"].columns, "class"]
