"""Reasons of a score: counted from typical values, faithful, the same after a model was saved."""

import numpy as np
import pandas as pd
import pytest
from event_tables import KINDS, events

from weakly.own_data.event_model import EventModel
from weakly.own_data.explaining import typical_row
from weakly.own_data.saved_models import load_model, save_model
from weakly.own_data.scoring import reasons_of
from weakly.training.explaining import occluded_parts

PIECEWISE = ("prenet", "devnet", "cross-entropy")


def fitted(method):
    table = events()
    return table, EventModel.fit(method, table[list(KINDS)], KINDS, (table["fraud"] == "1").astype(int))


def test_the_typical_row_has_medians_and_the_most_frequent_level():
    #      a number, a truth value, a category of three levels, of which no one has a majority
    X = np.array([[1, 0, 1, 0, 0], [2, 1, 0, 1, 0], [9, 1, 0, 1, 0], [8, 1, 0, 0, 1]], np.float32)
    assert typical_row(X, [1, 1, 3]).tolist() == [5, 1, 0, 1, 0]


@pytest.mark.parametrize("method", PIECEWISE)
def test_gradients_are_those_of_the_network(method):
    from weakly.training.loop import tf

    table, model = fitted(method)
    X, _ = model.score(table)
    psi, eta, _ = model.detector.model_
    rows = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        code = psi(rows)
        partner = tf.zeros_like(code)
        output = eta(code) if method != "prenet" else (eta([code, partner]) + eta([partner, code])) / 2
    expected = tape.gradient(output, rows).numpy()
    np.testing.assert_allclose(model.detector._gradients(X), expected, atol=1e-5)


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


@pytest.mark.parametrize("method", ["xgboost", "dsad"])
def test_parts_of_other_scores_are_what_occlusion_takes_away(method):
    table, model = fitted(method)
    X, scores = model.score(table.iloc[:40])
    parts, start = model.explain(X), 0
    for place, width in enumerate(model.widths):
        occluded = X.copy()
        occluded[:, start : start + width] = model.typical[start : start + width]
        expected = scores - model.detector.decision_function(occluded)
        np.testing.assert_allclose(parts[:, place], expected, atol=1e-5)
        start += width


def drop_of_named(model, X, parts, n_named=2):
    """By how much the scores fall when the columns with the largest parts are set to typical values."""
    starts = np.cumsum([0, *model.widths])
    occluded = X.copy()
    for row, columns in enumerate(np.argsort(-parts, axis=1)[:, :n_named]):
        for column in columns:
            features = slice(starts[column], starts[column + 1])
            occluded[row, features] = model.typical[features]
    return (model.detector.decision_function(X) - model.detector.decision_function(occluded)).mean()


@pytest.mark.parametrize("method", PIECEWISE)
def test_reasons_are_as_faithful_as_occlusion_and_more_than_parts_counted_from_zero(method):
    table, model = fitted(method)
    X, scores = model.score(table)
    X = X[np.argsort(-scores)[:30]]
    starts = np.cumsum([0, *model.widths[:-1]])
    from_zero = np.add.reduceat(X * model.detector._gradients(X), starts, axis=1)
    occluded = occluded_parts(model.detector.decision_function, X, model.typical, model.widths)
    drops = [drop_of_named(model, X, parts) for parts in (model.explain(X), occluded, from_zero)]
    assert drops[0] >= 0.95 * drops[1] and drops[0] >= drops[2] - 1e-6


def test_a_saved_model_has_the_same_reasons(tmp_path):
    table, model = fitted("prenet")
    save_model(tmp_path / "m", model)
    X, _ = model.score(table)
    np.testing.assert_array_equal(load_model(tmp_path / "m").explain(X), model.explain(X))
