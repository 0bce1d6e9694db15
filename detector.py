"""What all detectors share: scikit-learn's conventions and the checks of their input.

    detector = PReNet(random_state=0).fit(X, y)      # y: 1 labelled anomaly, 0 unlabelled
    scores = detector.decision_function(X_new)       # higher = more anomalous
    is_anomaly = detector.predict(X_new)             # 1 where the score is above offset_, else 0, as in PyOD

X is an array, a DataFrame of numbers (names of columns are kept, and compared later) or, where takes_sparse, a CSR matrix.
`fit` chooses offset_ so that it lies below the scores of a tenth of the unlabelled rows; set_offset chooses another one.
A detector can stand in a Pipeline, behind a MinMaxScaler say, in a cross-validation (scoring="average_precision") and in a
pickle. tests/test_sklearn.py names the checks of scikit-learn that detectors do not pass, and why.

Nothing is printed. To follow the fits:    logging.basicConfig(); logging.getLogger("prenet").setLevel("INFO")
This gives a line or two per fit. A fit on dense rows is one call of a compiled graph: only one on CSR rows tells its epochs.
The one message that comes unasked is the warning of `fit` that all its rows have the same score.

A fit whose loss overflows and rows whose scores do are refused with a ValueError: no score is ever NaN or infinite.

A detector supplies `_fit` and `_score`; one with a network derives from training.KerasDetector instead and supplies
network, loss and batches. The experiments call `fit_rows`, which takes positions instead of a copied training set.
"""

import logging
import time

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

CHUNK_ROWS, CHUNK_BYTES = 2_048, 2**26  # how much is scored at a time: bounds memory, and what is computed stays in the cache
EQUAL_SCORES = 1e-6  # scores that differ by less than this part of their size differ by float32 rounding only
CONTAMINATION = 0.1  # share of the unlabelled training rows that lies above the offset_ of `fit`: PyOD's default

logger = logging.getLogger("prenet")


class Detector(BaseEstimator):
    """Base of every detector: input checks around `_fit` and `_score`."""

    takes_sparse = True  # whether a CSR matrix will do
    slow_on_sparse = False  # whether it then takes minutes, so that it is run on such data only if that is asked for

    def fit(self, X, y):
        """Learn from X (n, D) and y (n,): 1 or True for a labelled anomaly, 0 or False for unlabelled."""
        self._is_fitted = False  # until the end: a fit that fails leaves no detector behind
        X = self._checked(X, reset=True, ensure_min_samples=2)
        y = self._checked_labels(y, X.shape[0])
        self.fit_rows(X, np.flatnonzero(y == 0), np.flatnonzero(y == 1))
        self._is_fitted = False  # again, until it is known that it can score
        scores = self._finite_scores(X)
        self._is_fitted = True
        if np.ptp(scores) <= EQUAL_SCORES * np.abs(scores).max():
            logger.warning("%s: all %d training rows have the same score, so it does not tell rows apart", type(self).__name__, len(scores))
        return self._set_offset(scores[y == 0], CONTAMINATION)

    def fit_rows(self, X, unlabeled, anomalies):
        """Learn from the rows of X (float32, finite) at these two lists of positions: U and A of Sec. 3.1.1. Sets no offset_."""
        if len(unlabeled) == 0 or len(anomalies) == 0:
            raise ValueError(
                f"{type(self).__name__} needs unlabelled rows and labelled anomalies, got {len(unlabeled)} and {len(anomalies)}"
            )
        self._is_fitted = False
        if hasattr(self, "offset_"):  # of an earlier fit
            del self.offset_
        start = time.perf_counter()
        with np.errstate(over="ignore", invalid="ignore"):  # where features are too large, the loss or the scores show it
            self._fit(X, np.asarray(unlabeled), np.asarray(anomalies), np.random.default_rng(self.random_state))
        self.n_features_in_ = X.shape[1]
        self._is_fitted = True
        seconds = time.perf_counter() - start
        logger.info("%s: %d unlabelled rows, %d anomalies, %.1f s", type(self).__name__, len(unlabeled), len(anomalies), seconds)
        return self

    def set_offset(self, X, contamination):
        """Choose offset_ so that predict calls this share of the rows of X anomalies; X should be like the data to come."""
        if not 0 < contamination < 1:
            raise ValueError(f"contamination must be a share between 0 and 1, not {contamination}")
        return self._set_offset(self.decision_function(X), contamination)

    def decision_function(self, X):
        """Anomaly scores (n,) of the rows of X, higher = more anomalous."""
        check_is_fitted(self)
        return self._finite_scores(self._checked(X, reset=False))

    def predict(self, X):
        """1 for the rows of X with a score above offset_, 0 for the others, (n,)."""
        scores = self.decision_function(X)
        if not hasattr(self, "offset_"):
            raise NotFittedError("fit_rows chooses no offset_: call set_offset before predict")
        return (scores > self.offset_).astype(int)

    def _finite_scores(self, X):
        """Scores (n,) of checked rows, all of them finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._score(X)
        overflowed = np.flatnonzero(~np.isfinite(scores))
        if len(overflowed):
            raise ValueError(
                f"{type(self).__name__} cannot score {len(overflowed)} of {len(scores)} rows, the first of them row {overflowed[0]} "
                "(counted from 0), whose score overflows: are the features scaled (to about 0-1)?"
            )
        return scores

    def _set_offset(self, scores, contamination):
        self.offset_ = np.quantile(scores, 1 - contamination)
        return self

    def _checked(self, X, **how):
        """X as float32, dense or CSR; number and names of its features are kept (reset=True) or compared with those of the fit."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # a number too large for float32 is refused all the same
                return validate_data(self, X, dtype=np.float32, accept_sparse="csr" if self.takes_sparse else False, **how)
        except (TypeError, ValueError) as error:
            text = list(X.select_dtypes(exclude=["number", "bool"])) if hasattr(X, "select_dtypes") else []
            if not text and "NaN" in str(error):
                raise ValueError(str(error).splitlines()[0]) from None  # scikit-learn goes on about its own estimators
            if not text:
                raise
            raise ValueError(f"{error} (columns that are not of a numeric type: {', '.join(map(str, text))})") from None

    def _checked_labels(self, y, n_rows):
        """y as numbers 0 and 1, (n_rows,)."""
        y = column_or_1d(y)
        if len(y) != n_rows:
            raise ValueError(f"X has {n_rows} rows, but y has {len(y)} labels")
        try:
            y = y.astype(float)
        except (TypeError, ValueError):  # names of classes, or missing values of pandas
            y = np.full(n_rows, np.nan)
        if not np.isin(y, (0, 1)).all():
            raise ValueError("y must hold only 1 (labelled anomaly) and 0 (unlabelled)")
        return y

    def __sklearn_is_fitted__(self):
        return getattr(self, "_is_fitted", False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "outlier_detector"  # so that scorers such as "average_precision" take its decision_function
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=False)  # no classifier, but this says that y has two values only
        tags.input_tags.sparse = self.takes_sparse
        return tags


def apply_in_chunks(function, X, positions=None, n_rows=CHUNK_ROWS):
    """function over the rows of X, or over those at positions, at most n_rows at a time; function maps (n, D) to (n, ...)."""
    total = X.shape[0] if positions is None else len(positions)
    row_bytes = 8 * X.nnz / max(X.shape[0], 1) if sparse.issparse(X) else X.shape[1] * X.itemsize
    size = max(1, min(n_rows, int(CHUNK_BYTES // max(row_bytes, 1))))
    chunks = (slice(i, i + size) for i in range(0, total, size))
    return np.concatenate([np.asarray(function(X[chunk if positions is None else positions[chunk]])) for chunk in chunks])


def draw_batches(rows, n_batches, size, rng):
    """Batches (n_batches, size) out of rows, without replacement within a batch unless there are too few rows."""
    return np.stack([rng.choice(rows, size, replace=size > len(rows)) for _ in range(n_batches)])


def draw_different_pairs(n, size, rng):
    """Two positions below n each time, different from each other (equal only if n is 1): two arrays of shape size."""
    first = rng.integers(n, size=size)
    step = rng.integers(1, n, size=size) if n > 1 else 0
    return first, (first + step) % n
