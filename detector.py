"""What all detectors share: scikit-learn's conventions and the checks of their input.

    detector = PReNet(random_state=0).fit(X, y)      # y: 1 labelled anomaly, 0 unlabelled
    scores = detector.decision_function(X_new)       # higher = more anomalous

A detector supplies `_fit` and `_score`; one with a network derives from training.KerasDetector instead and supplies
network, loss and batches. The experiments call `fit_rows`, which takes positions instead of a copied training set.
"""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

CHUNK_ROWS, CHUNK_BYTES = 2_048, 2**26  # how much is scored at a time: bounds memory, and what is computed stays in the cache


class Detector(BaseEstimator):
    """Base of every detector: input checks around `_fit` and `_score`."""

    takes_sparse = True  # whether a CSR matrix will do
    slow_on_sparse = False  # whether it then takes minutes, so that it is run on such data only if that is asked for

    def fit(self, X, y):
        """Learn from X (n, D) and y (n,): 1 for a labelled anomaly, 0 for unlabelled."""
        X = self._checked(X)
        y = np.asarray(y).ravel()
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, but y has {len(y)} labels")
        if not np.isin(y, (0, 1)).all():
            raise ValueError("y must hold only 1 (labelled anomaly) and 0 (unlabelled)")
        return self.fit_rows(X, np.flatnonzero(y == 0), np.flatnonzero(y == 1))

    def fit_rows(self, X, unlabeled, anomalies):
        """Learn from the rows of X (float32, finite) at these two lists of positions: U and A of Sec. 3.1.1."""
        if len(unlabeled) == 0 or len(anomalies) == 0:
            raise ValueError(
                f"{type(self).__name__} needs unlabelled rows and labelled anomalies, got {len(unlabeled)} and {len(anomalies)}"
            )
        self._fit(X, np.asarray(unlabeled), np.asarray(anomalies), np.random.default_rng(self.random_state))
        self.n_features_in_ = X.shape[1]
        return self

    def decision_function(self, X):
        """Anomaly scores (n,) of the rows of X, higher = more anomalous."""
        check_is_fitted(self)
        X = self._checked(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} was fitted on {self.n_features_in_}")
        return self._score(X)

    def _checked(self, X):
        return check_array(X, dtype=np.float32, accept_sparse="csr" if self.takes_sparse else False)


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
