"""Reasons of a score: counted from typical values, the same after a model was saved."""

import numpy as np
import pandas as pd
import pytest
from event_tables import KINDS, events

from weakly.own_data.event_model import EventModel
from weakly.own_data.explaining import typical_row
from weakly.own_data.saved_models import load_model, save_model
from weakly.own_data.scoring import reasons_of


def fitted(method):
    table = events()
    return table, EventModel.fit(method, table[list(KINDS)], KINDS, (table["fraud"] == "1").astype(int))


def test_the_typical_row_has_medians_and_the_most_frequent_level():
    #      a number, a truth value, a category of three levels, of which no one has a majority
    X = np.array([[1, 0, 1, 0, 0], [2, 1, 0, 1, 0], [9, 1, 0, 1, 0], [8, 1, 0, 0, 1]], np.float32)
    assert typical_row(X, [1, 1, 3]).tolist() == [5, 1, 0, 1, 0]


@pytest.mark.parametrize("method", ["prenet", "xgboost", "dsad", "logistic"])
def test_a_column_with_its_typical_value_is_no_reason(method):
    table, model = fitted(method)
    typical = table.iloc[[0]].copy()
    numbers = [name for name, kind in KINDS.items() if kind == "number"]
    typical[numbers] = pd.to_numeric(table[numbers].stack(), errors="coerce").unstack().median().to_numpy()
    for name, kind in KINDS.items():
        if kind != "number":
            typical[name] = table[name].mode()[0]
    typical = typical.astype(str)
    X, scores = model.score(typical)
    np.testing.assert_allclose(X[0], model.typical, atol=1e-5)
    assert np.abs(model.explain(X)).max() < 1e-3
    reasons = reasons_of(model, typical, model.typical[None], scores)
    assert (reasons.drop(columns="why_rest") == "").all(axis=None)
    assert reasons["why_rest"].iloc[0] == pytest.approx(scores[0], abs=1e-3)


@pytest.mark.parametrize("method", ["prenet", "xgboost", "dsad", "logistic"])
def test_parts_are_what_occlusion_takes_away(method):
    table, model = fitted(method)
    X, scores = model.score(table.iloc[:40])
    parts, start = model.explain(X), 0
    for place, width in enumerate(model.widths):
        occluded = X.copy()
        occluded[:, start : start + width] = model.typical[start : start + width]
        expected = scores - model.detector.decision_function(occluded)
        np.testing.assert_allclose(parts[:, place], expected, atol=1e-5)
        start += width


def test_a_saved_model_has_the_same_reasons(tmp_path):
    table, model = fitted("prenet")
    save_model(tmp_path / "m", model)
    X, _ = model.score(table)
    np.testing.assert_array_equal(load_model(tmp_path / "m").explain(X), model.explain(X))
