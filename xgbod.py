"""XGBOD: boosted trees on the features and the scores of unsupervised detectors.

Zhao and Hryniewicki, "XGBOD: Improving Supervised Outlier Detection with Unsupervised Representation
Learning", IJCNN 2018.

    python xgbod.py --datasets thyroid --runs 10     # this detector's column of the table in App. C.1
    XGBOD(random_state=0).fit(X, y).decision_function(X_new)

Dense data only: on news20, a radial kernel and z-scores would need all 1.4 million columns dense.

Differences from the paper
  1. We use only the scores of one-class SVMs and isolation forests, as App. C.1 says: no kNN, no LOF. We also
     leave out the original's LoOP and the histograms of PyOD's XGBOD, which App. C.1 does not mention. All
     scores are used, without a selection.
  2. Where the two public versions by XGBOD's first author differ, we follow PyOD's, which became the official
     one. So the SVMs get z-scores and the forests raw features, the kernel's gamma is 1 / D, and there are
     seven forests (the 2018 scripts: raw features for both, and an eighth forest of 250 trees).
  3. The SVMs share one subsample of svm_rows = 2,000 training rows, on every data set: their cost is
     quadratic in the rows.
  4. SVMs and forests are fitted on all training rows, U and A, as in the original; they use no label.
  5. Each forest has its own seed. (PyOD's share one, so that each of its forests contains the smaller ones.)
  6. The score columns are neither standardised nor clipped: trees depend only on the order of a column's
     values.
  7. XGBoost learns A (1) against U (0) with unweighted classes, the original's settings, and histogram splits
     (256 bins), which were not yet the default. The score is the margin, not its logistic: the order is the
     same, but no scores become equal by rounding.
  8. Equal rows are scored once, the kernel of rows near the mean is computed in float32, and XGBoost
     evaluates the forests' trees. The columns agree with scikit-learn's in float64 to 5e-6 of their size. If
     two splits of a boosted tree are about equally good, the other one may then be chosen.
"""

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.metrics.pairwise import rbf_kernel

from weakly.training.detector import Detector, apply_in_chunks
from weakly.training.input_checks import require_at_least
from weakly.training.trees import (
    average_path_lengths,
    binary_columns,
    booster_of_forests,
    tree_sums,
    zeros_as_missing,
)

SVM_NUS = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
FOREST_TREES = (10, 20, 50, 70, 100, 150, 200)
SCORING_ROWS = 2_000_000  # at a time, or CHUNK_BYTES of them; equal rows count once
KERNEL_ROWS = 512  # at a time, so that their kernel with 2,000 rows stays in the cache
FAR = 16  # above this gamma |z|^2, float32 would lose digits of the kernel in a difference of large numbers


def fit_one_class_svms(kernel):
    """One SVM per nu on kernel (m, m): weights (m, 11) and intercepts (11,) of their decision functions."""
    from sklearn.svm import OneClassSVM

    weights, intercepts = np.zeros((len(kernel), len(SVM_NUS))), np.zeros(len(SVM_NUS))
    for column, nu in enumerate(SVM_NUS):
        svm = OneClassSVM(kernel="precomputed", nu=nu).fit(kernel)
        weights[svm.support_, column] = svm.dual_coef_[0]
        intercepts[column] = svm.intercept_[0]
    return weights, intercepts


def mean_and_scale(rows):
    """Means and standard deviations (D,) of rows (n, D), in float64; 1 for a constant column."""
    mean = rows.mean(axis=0, dtype=np.float64)
    squares = apply_in_chunks(lambda part: np.square(part - mean).sum(axis=0, keepdims=True), rows)
    scale = np.sqrt(squares.sum(axis=0) / len(rows))
    return mean, np.where(rows.min(axis=0) == rows.max(axis=0), 1.0, scale)


def distinct_rows(X):
    """Positions (k,) of the first of each group of equal rows, and of every row's group among them (n,)."""
    as_bytes = np.ascontiguousarray(X).view(np.dtype((np.void, X.shape[1] * X.itemsize))).ravel()
    places, _ = pd.factorize(as_bytes.astype(object))
    return np.unique(places, return_index=True)[1], places


@dataclass(repr=False, eq=False)
class XGBOD(Detector):
    """Extreme gradient boosting outlier detection with the original's settings (App. C.1)."""

    svm_rows: int = 2_000
    n_estimators: int = 100
    max_depth: int = 3
    learning_rate: float = 0.1

    takes_sparse = False

    def _fit(self, X, unlabeled, anomalies, rng):
        # here, because scoring with a saved model does not need the first
        from sklearn.ensemble import IsolationForest
        from xgboost import XGBClassifier

        require_at_least(self, svm_rows=1, n_estimators=1, max_depth=1)
        rows = X[np.concatenate([unlabeled, anomalies])]
        labels = np.repeat([0, 1], [len(unlabeled), len(anomalies)])
        self.mean_, self.scale_ = mean_and_scale(rows)
        sample = rng.choice(len(rows), min(self.svm_rows, len(rows)), replace=False)
        self.svm_sample_ = self._standardized(rows[sample])
        # A copy: given the same array twice, rbf_kernel rounds the last digit differently, and the
        # solver, which stops at a tolerance of 0.001, then ends at other weights.
        self.svm_weights_, self.svm_intercepts_ = fit_one_class_svms(self._kernel(self.svm_sample_.copy()))
        forests = [
            IsolationForest(n_estimators=n, random_state=int(rng.integers(2**31))).fit(rows)
            for n in FOREST_TREES
        ]
        self.path_lengths_ = booster_of_forests(forests, rows.shape[1])
        self.usual_lengths_ = np.array(FOREST_TREES) * average_path_lengths(forests[0].max_samples_)
        classifier = XGBClassifier(
            n_estimators=self.n_estimators,
            max_depth=self.max_depth,
            learning_rate=self.learning_rate,
            base_score=0.5,  # newer versions of XGBoost start from the share of anomalies instead
            tree_method="hist",
            n_jobs=1,
            random_state=int(rng.integers(2**31)),
        )
        columns = self.add_scores(rows)
        self.is_binary_ = binary_columns(columns)
        classifier.fit(zeros_as_missing(columns, self.is_binary_), labels)
        self.model_ = classifier.get_booster()

    def add_scores(self, X: np.ndarray) -> np.ndarray:
        """The rows of X with the scores of the SVMs and forests as more columns: (n, D + 18), float32."""
        scores = apply_in_chunks(self._unsupervised_scores, X, n_rows=SCORING_ROWS)
        return np.concatenate([X, scores], axis=1)

    def _unsupervised_scores(self, X):
        first, places = distinct_rows(X)
        X = X[first]
        svms = apply_in_chunks(self._svm_scores, X, n_rows=KERNEL_ROWS)
        return np.column_stack([svms, self._forest_scores(X)]).astype(np.float32)[places]

    def _forest_scores(self, X):
        return 2 ** -(tree_sums(self.path_lengths_, X) / self.usual_lengths_)

    def _svm_scores(self, X):
        # the SVMs share their rows, so one kernel matrix and one product serve all of them
        kernel = self._fast_kernel(self._standardized(X))
        # in float64: the intercept is subtracted from a sum of 2,000 terms, which is about as large
        return -(kernel.astype(np.float64) @ self.svm_weights_ + self.svm_intercepts_)

    def _fast_kernel(self, z_scores):
        """_kernel in float32, in a third to a sixth of the time; in float64 for rows far from the mean."""
        gamma = 1 / z_scores.shape[1]
        norms = gamma * np.square(z_scores).sum(axis=1)
        far = norms > FAR
        sample_norms = gamma * np.square(self.svm_sample_).sum(axis=1)
        near = np.where(far[:, np.newaxis], 0, z_scores).astype(np.float32)
        kernel = near @ (2 * gamma * self.svm_sample_).astype(np.float32).T
        kernel -= np.where(far, 0, norms).astype(np.float32)[:, np.newaxis]
        kernel -= sample_norms.astype(np.float32)
        np.exp(kernel, out=kernel)
        if far.any():
            kernel[far] = self._kernel(z_scores[far])
        return kernel

    def _kernel(self, z_scores):
        """Radial kernel (n, m) of these rows and the SVMs' rows, in float64."""
        return rbf_kernel(z_scores, self.svm_sample_, gamma=1 / z_scores.shape[1])

    def _standardized(self, X):
        return (X.astype(np.float64) - self.mean_) / self.scale_

    def _score(self, X):
        columns = zeros_as_missing(self.add_scores(X), self.is_binary_)
        return tree_sums(self.model_, columns)[:, 0].astype(np.float64)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "xgbod", *sys.argv[1:]]))
