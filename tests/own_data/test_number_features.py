"""Features of numbers: robust against absurd cells, honest about missing ones, the same from a file."""

import numpy as np
import pandas as pd
import pytest
from event_tables import KINDS, events
from sklearn.metrics import roc_auc_score

import detect
from weakly.own_data.column_kinds import column_kind, typed_columns
from weakly.own_data.event_model import EventModel
from weakly.own_data.features import (
    described_encoder,
    new_encoder,
    widths_of,
)
from weakly.own_data.number_features import NumberFeatures
from weakly.own_data.saved_models import load_model, save_model
from weakly.own_data.scoring import reasons_of
from weakly.training.number_scaler import outer_quantiles


def column(*values):
    return np.array(values, float)[:, None]


# ---------------------------------------------------------------------------- scaling


def test_outer_quantiles_leave_the_outermost_value_out():
    assert outer_quantiles(np.arange(201.0), 0.01) == (2, 198)
    assert outer_quantiles(np.array([1e9, 1, 2, 3, -1e9]), 0.001) == (1, 3)
    assert outer_quantiles(np.array([7.0]), 0.01) == (7, 7) and outer_quantiles(np.arange(2.0), 0.01) == (
        0,
        1,
    )


def test_limits_by_hand():
    numbers = np.arange(201.0)  # outer quantiles 2 and 198
    assert NumberFeatures().fit(column(*numbers)).high_ == 200
    assert NumberFeatures(0.01, 3).fit(column(*numbers)).high_ == 200  # inside the fence: as min-max
    numbers[-1] = 1e12
    features = NumberFeatures(0.01, 3, 0.0).fit(column(*numbers))
    assert (features.low_, features.high_) == (0, 198 + 3 * 196)
    np.testing.assert_allclose(features.transform(column(-5, 0, 393, 1e300)).ravel(), [0, 0, 0.5, 1])
    features = NumberFeatures(0.01, 0, 1.0).fit(column(*numbers))
    np.testing.assert_allclose(features.transform(column(2, 198, 296, 1e300)).ravel(), [0, 1, 1.5, 2])


def test_a_column_of_nearly_one_value_keeps_the_others_apart():
    rare = [1.0, 2.0, 3.0, 1e12]
    features = NumberFeatures(0.01, 1, 0.0).fit(column(*[0] * 996, *rare))
    assert np.diff(features.transform(column(0, 1, 2, 3)).ravel()).min() > 0.1
    truth = NumberFeatures(0.01, 1, 0.0).fit(column(*[0] * 999, 1))
    np.testing.assert_array_equal(truth.transform(column(0, 1)).ravel(), [0, 1])


@pytest.mark.parametrize("values", [[5.0], [5.0] * 9, [np.nan] * 9, [-1e308, 0, 1e308], [0, 1e-320]])
def test_odd_columns_have_finite_features(values):
    with np.errstate(over="ignore", invalid="ignore"):
        features = new_encoder({"x": "number"}, 2).fit(pd.DataFrame({"x": values}))
        new = pd.DataFrame({"x": [np.nan, 0, 1e308, -1e308, 5e-324, *values]})
        assert np.isfinite(features.transform(new)).all()


def with_absurd_cell(table, column="amount"):
    """The table with one cell of an unlabelled row a billion times as large."""
    cells = table[column].tolist()
    cells[0] = str(float(cells[0]) * 1e9)
    return table.assign(**{column: cells})


def test_one_absurd_cell_does_not_ruin_a_model():
    table, new = events(400).drop(columns="country"), events(400, seed=1)
    kinds, y = {"amount": "number", "age": "number"}, (table["fraud"] == "1").astype(int)
    for rows in (table, with_absurd_cell(table)):
        _, scores = EventModel.fit("logistic", rows, kinds, y).score(new)
        assert roc_auc_score(new["fraud"] == "1", scores) > 0.98


# ---------------------------------------------------------------------------- missing cells


def test_missing_cells_have_a_feature_where_there_are_enough():
    table = pd.DataFrame(
        {"x": [1, np.nan, 3, np.nan, 2], "y": [1, np.nan, 3, 2, 2], "t": [1, 0, 1] + 2 * [np.nan]}
    )
    encoder = new_encoder({"x": "number", "y": "number", "t": "boolean"}, 2).fit(table)
    assert widths_of(encoder) == {"number": [2, 1], "boolean": [2]}
    missing = encoder.transform(pd.DataFrame({"x": [np.nan], "y": [np.nan], "t": [np.nan]}))
    np.testing.assert_array_equal(missing, [[0.5, 1, 0.5, 1, 1]])  # medians and mode, told apart from them
    filled = encoder.transform(pd.DataFrame({"x": [2], "y": [2], "t": [1]}))
    np.testing.assert_array_equal(filled, [[0.5, 0, 0.5, 1, 0]])


def told_by_gaps(n_rows=600, seed=0):
    """Anomalies differ from other rows only in that `income` is missing in most of them."""
    rng = np.random.default_rng(seed)
    anomaly = np.arange(n_rows) % 20 == 7
    income = rng.normal(100, 10, n_rows).round(3).astype(str)
    income[rng.random(n_rows) < np.where(anomaly, 0.9, 0.03)] = ""
    age = rng.integers(18, 80, n_rows).astype(str)
    return pd.DataFrame({"age": age, "income": income, "fraud": np.where(anomaly, "1", "0")})


def test_anomalies_that_only_missing_cells_tell_are_found_and_explained(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = told_by_gaps()
    table.to_csv("events.csv", index=False)
    new = told_by_gaps(seed=1)
    new.to_csv("new.csv", index=False)
    assert detect.main("fit events.csv --label fraud --method logistic --model m".split()) == 0
    shown = capsys.readouterr().out
    assert f"Missing cells: income {(table['income'] == '').sum()} (" in shown and "on 3 features" in shown
    assert detect.main("score new.csv --model m --output s.csv --explain".split()) == 0
    scores = pd.read_csv("s.csv")
    assert roc_auc_score(new["fraud"] == "1", scores["score"]) > 0.9
    assert scores.nlargest(20, "score")["why_1"].str.startswith("income=(missing) (+").all()
    assert not scores["why_1"].str.startswith("income=(missing)").where(new["income"] != "").any()


@pytest.mark.parametrize("method", ["logistic", "iforest"])
def test_where_most_cells_are_missing_that_is_typical_and_no_reason(method):
    table = told_by_gaps()
    table.loc[np.arange(len(table)) % 10 < 6, "income"] = ""
    kinds = {"age": "number", "income": "number"}
    model = EventModel.fit(method, table, kinds, (table["fraud"] == "1").astype(int))
    assert model.widths == [1, 2] and model.typical[2] == 1
    X, scores = model.score(table)
    parts = model.explain(X)
    assert (parts[(table["income"] == "").to_numpy(), 1] == 0).all() and np.abs(parts[:, 1]).max() > 0
    assert reasons_of(model, table.iloc[:3], X[:3], scores[:3]).shape[0] == 3


def test_a_column_of_one_number_needs_more_than_a_gap_or_two():
    assert column_kind("x", pd.Series(["5"] * 90 + [""] * 10)) == ("number", None)
    assert column_kind("x", pd.Series(["5"] * 999 + [""])) == (None, "constant")


# ---------------------------------------------------------------------------- files


def test_a_model_file_has_the_missing_cells_too(tmp_path):
    table = with_absurd_cell(events())
    model = EventModel.fit("logistic", table[list(KINDS)], KINDS, (table["fraud"] == "1").astype(int))
    assert model.widths[:3] == [1, 2, 2]  # amount, age, member
    save_model(tmp_path / "m", model)
    loaded = load_model(tmp_path / "m")
    new = pd.concat([table, table.iloc[:1].assign(amount="-1e300", age="1e300")], ignore_index=True)
    for before, after in zip(model.score(new), loaded.score(new)):
        np.testing.assert_array_equal(before, after)
    assert described_encoder(loaded.encoder) == described_encoder(model.encoder)
    assert typed_columns(new, KINDS)["age"].isna().any()
