"""Scores of rows that a model has not seen, from typed columns; only the scores are kept.

X, X_new = encoded_split(table, kinds, train, others)           # positions of rows
scores = held_out_scores("prenet", X, y[train], X_new, seed=0)
"""

import numpy as np

from weakly.loading.files import bounded_memory
from weakly.methods import make_detector
from weakly.own_data.calibration import calibrate, cross_fitted
from weakly.own_data.event_model import EventModel, unfit_reported


def encoded_split(table, kinds, train, others):
    """Features of the training rows and of other rows, both by an encoder of the training rows."""
    with bounded_memory("Encoding the table"), np.errstate(over="ignore", invalid="ignore"):
        model, X = EventModel.encoded("", table.iloc[train], kinds)
        return X, model.encode(table.iloc[others])


def held_out_scores(method, X, y, X_new, seed):
    """Scores (m,) of features X_new (m, D); the detector learns from X (n, D) and y (n,)."""
    with unfit_reported(method):
        detector = make_detector(method, random_state=seed)
        detector.fit_rows(X, np.flatnonzero(y == 0), np.flatnonzero(y == 1))
        return detector.decision_function(X_new)


def cross_fitted_calibration(kind, method, table, kinds, y, seed):
    """The Calibration of a method on all these rows, and the cross-fitted scores (n,) behind it."""

    def fit_and_score(train, others):
        X, X_new = encoded_split(table, kinds, train, others)
        return held_out_scores(method, X, y[train], X_new, seed)

    scores = cross_fitted(fit_and_score, y, seed)
    return calibrate(kind, scores, y), scores
