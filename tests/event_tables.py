"""A table of events as users have them."""

import numpy as np
import pandas as pd

from weakly.own_data.columns import typed_columns
from weakly.own_data.models import fit_model


def events(n_rows=600, seed=0):
    """A table with all kinds of columns; every 20th row is an anomaly: large amounts from XX.

    Some cells are empty.
    """
    rng = np.random.default_rng(seed)
    anomaly = np.arange(n_rows) % 20 == 7
    table = pd.DataFrame({
        "id": np.arange(n_rows) + 1_000,
        "time": pd.date_range("2024-01-01", periods=n_rows, freq="h").astype(str),
        "amount": np.round(rng.normal(100, 10, n_rows) + 80 * anomaly, 2).astype(str),
        "age": rng.integers(18, 80, n_rows).astype(str),
        "country": np.where(anomaly, "XX", rng.choice(["DE", "FR", "NA", "once"], n_rows, p=[0.5, 0.3,
            0.195, 0.005])),
        "member": rng.choice(["true", "false"], n_rows),
        "version": "v1",
        "fraud": np.where(anomaly, "1", ""),
    })  # fmt: skip
    table.loc[rng.random(n_rows) < 0.05, ["age", "member"]] = ""
    table.loc[rng.random(n_rows) < 0.05, "country"] = ""
    return table


def model_of_events(method="logistic-converged", table=None, y=None, **settings):
    """A model of that table, in which the anomalies are labelled."""
    table = events() if table is None else table
    y = (table["fraud"] == "1").astype(int).to_numpy() if y is None else y
    return fit_model(method, typed_events(table), COLUMNS, y, 0, settings)


def typed_events(table):
    """The columns of such a table to learn from, typed."""
    return typed_columns(table[list(COLUMNS)], COLUMNS)


COLUMNS = {
    "amount": {"kind": "number", "decimal": ".", "thousands": ""},
    "age": {"kind": "number", "decimal": ".", "thousands": ""},
    "country": {"kind": "category"},
    "member": {"kind": "truth"},
}
