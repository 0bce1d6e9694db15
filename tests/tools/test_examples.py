"""The ready models: they load, are small, score their examples as recorded, and are those of the command."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest

import detect
from tools import examples
from tools.examples import EXAMPLE_SOURCES
from weakly.judging.tables import write_table
from weakly.loading.fetching import SourceFinder
from weakly.paths import ROOT

EXAMPLES = ROOT / "examples"
MADE_WITH = json.loads((EXAMPLES / "made_with.json").read_text())
OUTDATED = "run `python -m tools.examples`"


@pytest.mark.parametrize("name", EXAMPLE_SOURCES)
def test_model_is_the_one_that_the_command_made_and_scores_its_example_as_recorded(name, tmp_path):
    model, source, scored = EXAMPLES / f"{name}.model", EXAMPLE_SOURCES[name], tmp_path / "scores.csv"
    content = model.read_bytes()
    assert hashlib.sha256(content).hexdigest() == MADE_WITH["models"][name]["model_sha256"], OUTDATED
    assert MADE_WITH["description"] == examples.DESCRIPTION, OUTDATED
    assert len(content) < 1_000_000
    detect.main(["score", str(EXAMPLES / f"{name}.csv"), "--model", str(model), "--output", str(scored)])
    recorded, scores = pd.read_csv(EXAMPLES / f"{name}_scores.csv"), pd.read_csv(scored)
    assert list(scores["row"]) == list(recorded["row"]) == list(range(1, 50))
    np.testing.assert_allclose(scores["score"], recorded["score"], rtol=1e-5, err_msg=OUTDATED)
    is_anomaly = pd.read_csv(EXAMPLES / f"{name}.csv", dtype=str)[source.label] == source.anomaly
    assert is_anomaly.sum() == examples.EXAMPLE["anomalies"]
    assert recorded["score"][is_anomaly].median() > recorded["score"][~is_anomaly].median()


@pytest.mark.parametrize("name", EXAMPLE_SOURCES)
def test_model_has_not_seen_its_example(name, real_data, tmp_path):
    table, _ = examples.source_table(name, SourceFinder(tmp_path, [real_data], offline=True))
    training, example = examples.divided(table, EXAMPLE_SOURCES[name])
    assert not set(training.index) & set(example.index)
    assert (training[EXAMPLE_SOURCES[name].label] == "1").sum() == examples.N_LABELED
    write_table(example, tmp_path / "example.csv")
    assert (tmp_path / "example.csv").read_text() == (EXAMPLES / f"{name}.csv").read_text(), OUTDATED
