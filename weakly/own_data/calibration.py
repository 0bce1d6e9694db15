"""From scores to probabilities, and a threshold without guessing how many rows are anomalies.

    scores = cross_fitted(fit_and_score, y, seed)            # of the training rows
    calibration = calibrate("isotonic", scores, y)
    calibration.probabilities_of(new_scores), calibration.threshold

Both are learned from cross-fitted scores: the training rows are split into folds, and each fold is scored by
a model fitted on the others. So no score comes from a model that has seen the label of its row. The map from
a score to a probability never decreases. It is constant below the lowest and above the highest of these
scores.

Unlabelled rows count as normal here. If anomalies hide among them, all probabilities are too low. The
threshold does not depend on that. It assumes instead that the labelled anomalies are a random sample of all
anomalies. It maximises recall^2 / (share of rows above it). This can be estimated without any known normal
row, and it is high where precision and recall are high (Lee and Liu, ICML 2003).
"""

from dataclasses import dataclass

import numpy as np

from weakly.errors import DataError

CALIBRATIONS = ("isotonic", "platt")
FOLDS, FEWEST_ANOMALIES = 5, 5
PLATT_POINTS, MOST_LOG_ODDS = 2_001, 30.0
RECALLS = np.arange(0.1, 0.95, 0.1)  # among which the threshold is chosen


@dataclass
class Calibration:
    """A map from scores to probabilities through some points, and a threshold."""

    kind: str
    scores: np.ndarray  # (m,) rising
    probabilities: np.ndarray  # (m,) never falling, 0 to 1
    threshold: float
    recall: float  # share of the labelled anomalies above the threshold
    flagged: float  # share of all rows above it

    def probabilities_of(self, scores):
        """The probability of an anomaly at each score."""
        return np.interp(scores, self.scores, self.probabilities)


def cross_fitted(fit_and_score, y, seed=0):
    """Scores (n,) of all rows, each by a model that was fitted without it.

    fit_and_score(training rows, rows to score) takes positions and returns the scores of the latter.
    """
    from sklearn.model_selection import StratifiedKFold  # here, because score starts faster without it

    n_anomalies = int(y.sum())
    if min(n_anomalies, len(y) - n_anomalies) < FEWEST_ANOMALIES:
        raise DataError(
            f"Calibration needs at least {FEWEST_ANOMALIES} labelled anomalies and {FEWEST_ANOMALIES} other "
            f"rows, but there are {n_anomalies} and {len(y) - n_anomalies}: leave out --calibrate."
        )
    scores = np.zeros(len(y))
    for train, held_out in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(y, y):
        scores[held_out] = fit_and_score(train, held_out)
    return scores


def calibrate(kind, scores, y):
    """The Calibration of cross-fitted scores (n,) with their labels y (n,)."""
    points = isotonic_points(scores, y) if kind == "isotonic" else platt_points(scores, y)
    return Calibration(kind, *points, *best_threshold(scores, y))


def isotonic_points(scores, y):
    """The rising steps that fit the labels best, by least squares."""
    from sklearn.isotonic import IsotonicRegression

    regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, y)
    return regression.X_thresholds_.astype(np.float64), regression.y_thresholds_.astype(np.float64)


def platt_points(scores, y):
    """Points of the logistic curve that fits the labels best, with Platt's targets just inside 0 and 1."""
    from sklearn.linear_model import LogisticRegression

    n_anomalies = y.sum()
    high, low = (n_anomalies + 1) / (n_anomalies + 2), 1 / (len(y) - n_anomalies + 2)
    targets = np.where(y == 1, high, low)
    middle, spread = scores.mean(), scores.std() or 1.0
    rows = np.tile((scores - middle) / spread, 2)[:, None]
    labels = np.repeat([1, 0], len(y))
    weights = np.concatenate([targets, 1 - targets])
    curve = LogisticRegression(C=1e6).fit(rows, labels, sample_weight=weights)
    slope = curve.coef_[0, 0] / spread
    intercept = curve.intercept_[0] - slope * middle
    if slope * np.ptp(scores) < 1e-9:  # the scores say nothing, or point the wrong way
        return np.array([middle]), np.array([targets.mean()])
    log_odds = np.linspace(-MOST_LOG_ODDS, MOST_LOG_ODDS, PLATT_POINTS)
    return (log_odds - intercept) / slope, 1 / (1 + np.exp(-log_odds))


def best_threshold(scores, y):
    """(threshold, recall, share of all rows above it): the highest recall^2 / share."""
    best = None
    for candidate in np.unique(np.quantile(scores[y == 1], 1 - RECALLS, method="higher")):
        recall, flagged = (scores[y == 1] >= candidate).mean(), (scores >= candidate).mean()
        if best is None or recall**2 / flagged > best[1] ** 2 / best[2]:
            best = float(np.nextafter(candidate, -np.inf)), float(recall), float(flagged)
    return best


def scaled_scores(scores, training_scores):
    """Scores as numbers from 0 to 1 without calibration: between the lowest and highest training score."""
    low, high = training_scores.min(), training_scores.max()
    return np.clip((scores - low) / ((high - low) or 1.0), 0, 1)


def brier_score(y, probabilities):
    """The mean squared difference between probability and label: lower is better."""
    return float(np.mean((probabilities - y) ** 2))
