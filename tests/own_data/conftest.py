"""A table of events and a quick model of it, for the tests that need no network."""

from pathlib import Path

import pytest
from event_tables import KINDS, events

from weakly.own_data.event_model import EventModel
from weakly.own_data.saved_models import save_model


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    """A model of logistic regression, which is fitted in a moment."""
    path, table = tmp_path_factory.mktemp("model") / "fraud.model", events()
    y = (table["fraud"] == "1").astype(int)
    save_model(path, EventModel.fit("logistic", table[list(KINDS)], KINDS, y))
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder with events.csv."""
    monkeypatch.chdir(tmp_path)
    Path("events.csv").write_bytes(events().to_csv(index=False).encode())
    return tmp_path
