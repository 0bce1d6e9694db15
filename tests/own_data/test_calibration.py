"""Probabilities and the automatic threshold: values worked out by hand, and the files that hold them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from event_tables import KINDS, events

import detect
from weakly.own_data.calibration import (
    best_threshold,
    brier_score,
    calibrate,
    cross_fitted,
    platt_points,
    scaled_scores,
)
from weakly.own_data.column_kinds import typed_columns
from weakly.own_data.curves import reliability_points
from weakly.own_data.event_model import EventModel
from weakly.own_data.held_out import cross_fitted_calibration
from weakly.own_data.saved_models import load_model, save_model


def test_isotonic_probabilities_are_the_pooled_shares():
    """Of labels 0 1 0 1 1 by rising score, the middle two are pooled: 0, 1/2, 1/2, 1, 1."""
    calibration = calibrate("isotonic", np.array([1.0, 2, 3, 4, 5]), np.array([0, 1, 0, 1, 1]))
    found = calibration.probabilities_of(np.array([-9.0, 1, 1.5, 2, 3, 3.5, 5, 99]))
    np.testing.assert_allclose(found, [0, 0, 0.25, 0.5, 0.5, 0.75, 1, 1])


def test_platt_with_two_scores_gives_the_smoothed_shares():
    """At 0 one of 4 rows is an anomaly, at 1 three of 4. Platt's targets for 4 and 4 rows: 5/6 and 1/6."""
    scores, y = np.repeat([0.0, 1.0], 4), np.array([1, 0, 0, 0, 1, 1, 1, 0])
    low, high = (5 / 6 + 3 / 6) / 4, (3 * 5 / 6 + 1 / 6) / 4
    np.testing.assert_allclose(np.interp([0, 1], *platt_points(scores, y)), [low, high], atol=1e-4)


@pytest.mark.parametrize("kind", ["isotonic", "platt"])
def test_scores_that_rank_the_wrong_way_round_get_one_probability(kind):
    calibration = calibrate(kind, np.arange(100.0), (np.arange(100) < 20).astype(int))
    found = calibration.probabilities_of(np.array([0.0, 50, 99]))
    assert np.ptp(found) < 1e-6 and 0.15 < found[0] < 0.25


def test_the_threshold_has_the_highest_squared_recall_per_flagged_row():
    """Ten labelled at 0..9 and ninety unlabelled below 5: above 5 there are labelled rows alone.

    At 5: recall 1/2 of 5 rows in 100 is 5; at 6 it is 0.16 / 0.04 = 4; lower, unlabelled rows come in.
    """
    scores = np.concatenate([np.arange(10.0), np.linspace(0, 4.9, 90)])
    threshold, recall, flagged = best_threshold(scores, np.repeat([1, 0], [10, 90]))
    assert 4.9 < threshold < 6 and (recall, flagged) == (0.5, 0.05)


def test_brier_score_and_scaling_by_hand():
    assert brier_score(np.array([1, 0]), np.array([0.8, 0.4])) == pytest.approx((0.04 + 0.16) / 2)
    np.testing.assert_allclose(scaled_scores(np.array([-5.0, 3, 9]), np.array([1.0, 5])), [0, 0.5, 1])


def test_reliability_has_the_share_of_anomalies_in_each_bin():
    probabilities, y = np.repeat([0.05, 0.95], 20), np.repeat([0, 1, 0, 1], [18, 2, 5, 15])
    np.testing.assert_allclose(reliability_points(y, probabilities), [[0.05, 0.95], [0.1, 0.75]])


def test_no_row_is_scored_by_a_model_that_saw_it():
    y = (np.arange(50) % 5 == 0).astype(int)
    seen = []

    def fit_and_score(train, others):
        assert not set(train) & set(others) and y[train].sum() == 8 and len(others) == 10
        seen.extend(others)
        return others

    np.testing.assert_array_equal(cross_fitted(fit_and_score, y), np.arange(50))
    assert sorted(seen) == list(range(50))


def run(command):
    try:
        return detect.main(command.split())
    except SystemExit as stop:
        return stop.code


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """A calibrated model of the table of events."""
    path, table = tmp_path_factory.mktemp("calibrated") / "c.model", events()
    y, columns = (table["fraud"] == "1").astype(int).to_numpy(), typed_columns(table, KINDS)
    model = EventModel.fit_columns("logistic", columns, KINDS, y)
    model.calibration, _ = cross_fitted_calibration("isotonic", "logistic", columns, KINDS, y, seed=0)
    save_model(path, model)
    return path


def test_a_calibrated_model_writes_probabilities_and_flags_by_itself(folder, capsys):
    assert run("fit events.csv --label fraud --method logistic --calibrate platt --model c.model") == 0
    assert "if anomalies hide among them, probabilities are too low" in capsys.readouterr().out
    assert run("score events.csv --model c.model --contamination auto --output s.csv") == 0
    shown = capsys.readouterr().out
    assert "the labelled anomalies are a random sample of all anomalies" in shown
    scores = pd.read_csv("s.csv")
    assert list(scores) == ["row", "score", "flag", "probability"]
    ranked = scores.sort_values("score")["probability"]
    assert ranked.is_monotonic_increasing and ranked.between(0, 1).all()
    is_fraud = pd.read_csv("events.csv")["fraud"] == 1
    of_frauds, of_others = scores["probability"][is_fraud], scores["probability"][~is_fraud]
    assert of_frauds.median() > 0.9 and of_frauds.min() > of_others.max() and of_others.median() < 0.05
    assert (scores["flag"] <= is_fraud).all() and scores["flag"].sum() >= 15


def test_auto_needs_calibration_and_calibration_needs_labels(folder, model_path, capsys):
    assert run(f"score events.csv --model {model_path} --contamination auto") == 2
    assert "fit --calibrate" in capsys.readouterr().err
    table = pd.read_csv("events.csv", dtype=str)
    table.loc[table.index > 60, "fraud"] = ""
    table.to_csv("few.csv", index=False)
    assert run("fit few.csv --label fraud --method logistic --calibrate platt --model f.model") == 2
    assert "needs at least 5 labelled anomalies" in capsys.readouterr().err and not Path("f.model").exists()


def test_a_calibration_is_the_same_after_loading(calibrated, tmp_path):
    loaded = load_model(calibrated)
    assert loaded.calibration.kind == "isotonic" and loaded.calibration.recall > 0.5
    scores = np.linspace(-5, 5, 50)
    save_model(tmp_path / "again.model", loaded)
    again = load_model(tmp_path / "again.model").calibration
    np.testing.assert_array_equal(again.probabilities_of(scores), loaded.calibration.probabilities_of(scores))
