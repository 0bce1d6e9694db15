"""The names that scikit-learn and PyOD use for what a detector has.

    CalibratedClassifierCV(make_pipeline(MinMaxScaler(), PReNet()))      # scikit-learn: needs classes_
    detector.decision_scores_, detector.labels_, detector.threshold_     # PyOD: of the training rows
    detector.predict_proba(X)                                            # (n, 2)

`fit` keeps decision_scores_, the scores of its rows. The rest is computed from these and offset_.
"""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError


class FamiliarNames:
    """Attributes and methods of a detector by the names of scikit-learn's classifiers and of PyOD."""

    offset_: float
    decision_scores_: np.ndarray  # (n,) of the rows that `fit` was given, in their order

    @property
    def classes_(self) -> np.ndarray:
        """The labels: 0 unlabelled or normal, 1 anomaly."""
        if not getattr(self, "_is_fitted", False):
            raise AttributeError(f"this {type(self).__name__} is not fitted, so it has no classes_")
        return np.array([0, 1])

    @property
    def threshold_(self) -> float:
        """PyOD's name for offset_: rows with a higher score are called anomalies."""
        return self.offset_

    @property
    def labels_(self) -> np.ndarray:
        """What predict says about the training rows (n,), without scoring them again."""
        return (self.decision_scores_ > self.offset_).astype(int)

    def decision_function(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def predict_proba(self, X: Any) -> np.ndarray:
        """How anomalous the rows of X are, from 0 to 1: (n, 2), normal and anomalous.

        These are PyOD's default ("linear") values: where the score lies between the lowest and the highest
        score of the training rows, clipped to 0-1. They are in the order of the scores, but they are not
        probabilities: for those, put the detector into scikit-learn's CalibratedClassifierCV.
        """
        scores = self.decision_function(X)
        if not hasattr(self, "decision_scores_"):
            raise NotFittedError("only fit keeps the scores of the training rows, which predict_proba needs")
        lowest, spread = self.decision_scores_.min(), np.ptp(self.decision_scores_)
        anomalous = ((scores - lowest) / (spread or 1.0)).clip(0, 1)
        return np.column_stack([1 - anomalous, anomalous])
