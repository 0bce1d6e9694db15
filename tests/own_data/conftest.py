"""A table of events and a quick model of it, for the tests that need no network."""

import shlex
from pathlib import Path

import pytest
from event_tables import events, model_of_events

import detect
from weakly.own_data.models import save_model


@pytest.fixture(scope="session")
def model_path(tmp_path_factory):
    """A model of logistic regression, which is fitted in a moment."""
    path = tmp_path_factory.mktemp("model") / "fraud.model"
    save_model(path, model_of_events())
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder with events.csv."""
    monkeypatch.chdir(tmp_path)
    Path("events.csv").write_bytes(events().to_csv(index=False).encode())
    return tmp_path


@pytest.fixture
def run():
    """A function that gives the exit code of `python detect.py command`."""

    def exit_code(command):
        try:
            return detect.main(shlex.split(command) if isinstance(command, str) else list(map(str, command)))
        except SystemExit as stop:
            return stop.code

    return exit_code
