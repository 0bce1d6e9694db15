"""What all detectors share: scikit-learn's conventions and the checks of their input.

    detector = PReNet(random_state=0).fit(X, y)      # y: 1 labelled anomaly, 0 unlabelled
    scores = detector.decision_function(X_new)       # higher = more anomalous
    is_anomaly = detector.predict(X_new)             # 1 where the score is above offset_, else 0, as in PyOD

X is an array, a DataFrame of numbers (column names are kept and compared later) or, if takes_sparse, a CSR
matrix. docs/python_interface.md describes all methods. Nothing is printed. To follow the fits:

    logging.basicConfig(); logging.getLogger("prenet").setLevel("INFO")

A fit on dense rows is one call of a compiled graph, so only a fit on CSR rows reports its epochs. A fit whose
loss overflows is refused with a ValueError, and so are rows whose scores overflow: no score is ever NaN or
infinite.

A detector is a dataclass whose fields are its parameters. It supplies `_fit` and `_score`; one with a network
derives from keras_detector.PsiDetector and supplies network, loss and batches. The experiments call
`fit_rows`, which takes positions instead of a copied training set.
"""

import logging
import time
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.metrics import average_precision_score
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from weakly.training.input_checks import (
    check_contamination,
    checked_labels,
    checked_rows,
    require_numbers,
    warn_if_unscaled,
)

# How much is scored at a time: this limits memory, and intermediate results stay in the cache.
CHUNK_ROWS, CHUNK_BYTES = 2_048, 2**26
# scores that differ by less than this share of their size differ only by float32 rounding
EQUAL_SCORES = 1e-6

Rows = Any  # (n, D): an array, a DataFrame of numbers or a CSR matrix
SomeDetector = TypeVar("SomeDetector", bound="Detector")

logger = logging.getLogger("prenet")


# scikit-learn compares and prints estimators in its own way
@dataclass(repr=False, eq=False)
class Detector(BaseEstimator):
    """Base of every detector: input checks around `_fit` and `_score`.

    contamination is the share of the unlabelled training rows that predict calls anomalies, with PyOD's
    default; it changes no score.
    """

    random_state: int | None = 0
    contamination: float = field(default=0.1, kw_only=True)

    takes_sparse = True  # whether a CSR matrix is accepted
    slow_on_sparse = False  # whether that takes minutes, so that it runs on such data only on request
    needs_scaling = False  # whether features far from 0-1 harm what it learns
    needs_labels = True  # whether it learns from labelled anomalies

    def fit(self: SomeDetector, X: Rows, y: ArrayLike | None = None) -> SomeDetector:
        """Learn from X (n, D) and y (n,): 1 or True for a labelled anomaly, 0 or False for unlabelled.

        y may be left out only if the detector does not need labels.
        """
        self._is_fitted = False  # until the end: a fit that fails leaves no fitted detector
        check_contamination(self.contamination)
        if y is None and self.needs_labels:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: it learns from "
                "labelled anomalies (1) and unlabelled rows (0)"
            )
        X = checked_rows(self, X, reset=True, ensure_min_samples=2)
        y = np.zeros(X.shape[0]) if y is None else checked_labels(y, X)
        if self.needs_scaling:
            warn_if_unscaled(X, type(self).__name__)
        self.fit_rows(X, np.flatnonzero(y == 0), np.flatnonzero(y == 1))
        self._is_fitted = False  # again, until it is known that it can score
        scores = self._finite_scores(X)
        self._is_fitted = True
        if np.ptp(scores) <= EQUAL_SCORES * np.abs(scores).max():
            message = "%s: all %d training rows have the same score, so it does not tell rows apart"
            logger.warning(message, type(self).__name__, len(scores))
        self.decision_scores_ = scores
        if not sparse.issparse(X):
            self.typical_ = np.array([np.median(column) for column in X.T], np.float32)  # X is not copied
        self.offset_ = np.quantile(scores[y == 0], 1 - self.contamination)
        return self

    def fit_rows(self: SomeDetector, X: Rows, unlabeled: np.ndarray, anomalies: np.ndarray) -> SomeDetector:
        """Learn from the rows of X (float32, finite) at these two lists of positions: U and A of Sec. 3.1.1.

        Sets no offset_.
        """
        require_numbers(self)
        if len(unlabeled) == 0 or (self.needs_labels and len(anomalies) == 0):
            raise ValueError(
                f"{type(self).__name__} needs unlabelled rows and labelled anomalies, "
                f"got {len(unlabeled)} and {len(anomalies)}"
            )
        self._is_fitted = False
        for name in ("offset_", "decision_scores_", "typical_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        start = time.perf_counter()
        rng = np.random.default_rng(self.random_state)
        # if features are too large, the loss or the scores show it
        with np.errstate(over="ignore", invalid="ignore"):
            self._fit(X, np.asarray(unlabeled), np.asarray(anomalies), rng)
        self.n_features_in_ = X.shape[1]
        self._is_fitted = True
        seconds = time.perf_counter() - start
        message = "%s: %d unlabelled rows, %d anomalies, %.1f s"
        logger.info(message, type(self).__name__, len(unlabeled), len(anomalies), seconds)
        return self

    def learning_parameters(self) -> dict[str, Any]:
        """The parameters that decide what is learned, by name: all except random_state and contamination."""
        others = ("random_state", "contamination")
        return {name: value for name, value in self.get_params().items() if name not in others}

    def set_offset(self: SomeDetector, X: Rows, contamination: float) -> SomeDetector:
        """Choose offset_ so that predict calls this share of X anomalies; X should be like future rows."""
        check_contamination(contamination)
        self.offset_ = np.quantile(self.decision_function(X), 1 - contamination)
        return self

    def decision_function(self, X: Rows) -> np.ndarray:
        """Anomaly scores (n,) of the rows of X, higher = more anomalous."""
        check_is_fitted(self)
        return self._finite_scores(checked_rows(self, X, reset=False))

    def predict(self, X: Rows) -> np.ndarray:
        """1 for the rows of X with a score above offset_, 0 for the others, (n,)."""
        check_is_fitted(self, "offset_")  # after fit_rows, set_offset chooses it
        return (self.decision_function(X) > self.offset_).astype(int)

    def fit_predict(self, X: Rows, y: ArrayLike | None = None) -> np.ndarray:
        """Fit, and what predict says about the same rows, (n,), which are not scored again."""
        return self.fit(X, y).labels_

    def score(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The average precision (AUC-PR) of X, cross_val_score's default; y (n,): 1 for anomalies."""
        return average_precision_score(y, self.decision_function(X), sample_weight=sample_weight)

    @property
    def classes_(self) -> np.ndarray:
        """The labels, as scikit-learn's classifiers have them: 0 unlabelled or normal, 1 anomaly."""
        if not getattr(self, "_is_fitted", False):
            raise AttributeError(f"this {type(self).__name__} is not fitted, so it has no classes_")
        return np.array([0, 1])

    @property
    def threshold_(self) -> float:
        """PyOD's name for offset_: rows with a higher score are called anomalies."""
        return self.offset_

    @property
    def labels_(self) -> np.ndarray:
        """PyOD's name for what predict says about the training rows (n,); they are not scored again."""
        return (self.decision_scores_ > self.offset_).astype(int)

    def predict_proba(self, X: Rows) -> np.ndarray:
        """How anomalous the rows of X are, from 0 to 1: (n, 2), normal and anomalous.

        These are PyOD's "linear" values: where the score lies between the lowest and the highest score of the
        training rows, clipped to 0-1. For probabilities, use scikit-learn's CalibratedClassifierCV.
        """
        check_is_fitted(self, "decision_scores_")  # which fit_rows does not keep
        scores = self.decision_function(X)
        lowest, spread = self.decision_scores_.min(), np.ptp(self.decision_scores_)
        anomalous = ((scores - lowest) / (spread or 1.0)).clip(0, 1)
        return np.column_stack([1 - anomalous, anomalous])

    def explain(self, X: Rows) -> np.ndarray:
        """How much the scores of X (n, D) fall with each feature at its median in training: (n, D)."""
        check_is_fitted(self)
        X = checked_rows(self, X, reset=False)
        if sparse.issparse(X):
            raise TypeError("explain takes dense rows only: no feature of a sparse row is left out")
        check_is_fitted(self, "typical_", msg="only fit on dense rows keeps the medians that explain needs")
        scores, parts = self._finite_scores(X), np.zeros(X.shape)
        for place, median in enumerate(self.typical_):
            differs = np.flatnonzero(X[:, place] != median)
            if len(differs):  # the others have the median already
                occluded = X[differs]
                occluded[:, place] = median
                parts[differs, place] = scores[differs] - self._finite_scores(occluded)
        return parts

    def _finite_scores(self, X):
        """Scores (n,) of checked rows, all of them finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._score(X)
        overflowed = np.flatnonzero(~np.isfinite(scores))
        if len(overflowed):
            raise ValueError(
                f"{type(self).__name__} cannot score {len(overflowed)} of {len(scores)} rows, "
                f"the first of them row {overflowed[0]} (counted from 0), whose score overflows: "
                "are the features scaled (to about 0-1)?"
            )
        return scores

    def __sklearn_is_fitted__(self):
        return getattr(self, "_is_fitted", False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # so that scorers such as "average_precision" use its decision_function
        tags.estimator_type = "outlier_detector"
        tags.target_tags.required = self.needs_labels
        # it is not a classifier, but this says that y has only two values
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.input_tags.sparse = self.takes_sparse
        return tags


def apply_in_chunks(function, X: Rows, positions=None, n_rows: int = CHUNK_ROWS) -> np.ndarray:
    """Apply a function, (n, D) to (n, ...), to all rows of X or those at positions, n_rows at a time."""
    total = X.shape[0] if positions is None else len(positions)
    row_bytes = 8 * X.nnz / max(X.shape[0], 1) if sparse.issparse(X) else X.shape[1] * X.itemsize
    size = max(1, min(n_rows, int(CHUNK_BYTES // max(row_bytes, 1))))
    chunks = (slice(i, i + size) for i in range(0, total, size))
    return np.concatenate(
        [np.asarray(function(X[chunk if positions is None else positions[chunk]])) for chunk in chunks]
    )
