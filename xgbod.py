"""XGBOD: boosted trees on the features and the scores of unsupervised detectors.

Zhao and Hryniewicki, "XGBOD: Improving Supervised Outlier Detection with Unsupervised Representation
Learning", IJCNN 2018.

    python xgbod.py --datasets thyroid --runs 10     # this detector's column of the table in App. C.1
    XGBOD(random_state=0).fit(X, y).decision_function(X_new)

Dense data only: on news20 a radial kernel and z-scores would need its 1.4 million columns dense.

Differences from the paper
  1. Scores of one-class SVMs and isolation forests only, as App. C.1 says: no kNN, no LOF. The original's
     LoOP and the histograms of PyOD's XGBOD, which App. C.1 does not mention, are left out too, and none of
     the scores is deselected.
  2. Where the two public versions of XGBOD's first author differ, PyOD's holds: it became the official one.
     So the SVMs see z-scores and the forests raw features, the kernel's gamma is 1 / D, and there are seven
     forests (the 2018 scripts: raw features for both, and an eighth forest of 250 trees).
  3. The SVMs share one subsample of svm_rows = 2,000 training rows, on every data set: their cost is
     quadratic in the rows.
  4. SVMs and forests are fitted on all training rows, U and A, as in the original; no label enters there.
  5. Each forest has its own seed. (PyOD's share one, so that each of its forests contains the smaller ones.)
  6. The score columns are neither standardised nor clipped: trees depend on the order of a column's values
     only.
  7. XGBoost learns A (1) against U (0) with unweighted classes, the original's settings, and histogram splits
     (256 bins), which were not yet the default. The score is the margin, not its logistic: the order is the
     same, without rounding to ties.
"""

import sys
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from xgboost import XGBClassifier

from training.detector import Detector, apply_in_chunks

SVM_NUS = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)
FOREST_TREES = (10, 20, 50, 70, 100, 150, 200)
SCORING_ROWS = 16_384  # at a time: a call of each of the 600 trees costs more than a few rows in it


def fit_one_class_svms(kernel):
    """One SVM per nu on kernel (m, m): weights (m, 11) and intercepts (11,) of their decision functions."""
    weights, intercepts = np.zeros((len(kernel), len(SVM_NUS))), np.zeros(len(SVM_NUS))
    for column, nu in enumerate(SVM_NUS):
        svm = OneClassSVM(kernel="precomputed", nu=nu).fit(kernel)
        weights[svm.support_, column] = svm.dual_coef_[0]
        intercepts[column] = svm.intercept_[0]
    return weights, intercepts


@dataclass(repr=False, eq=False)
class XGBOD(Detector):
    """Extreme gradient boosting outlier detection with the original's settings (App. C.1)."""

    svm_rows: int = 2_000
    n_estimators: int = 100
    max_depth: int = 3
    learning_rate: float = 0.1

    takes_sparse = False

    def _fit(self, X, unlabeled, anomalies, rng):
        for name in ("svm_rows", "n_estimators", "max_depth"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        rows = X[np.concatenate([unlabeled, anomalies])]
        labels = np.repeat([0, 1], [len(unlabeled), len(anomalies)])
        self.scaler_ = StandardScaler().fit(rows)
        sample = rng.choice(len(rows), min(self.svm_rows, len(rows)), replace=False)
        self.svm_sample_ = self._standardized(rows[sample])
        self.svm_weights_, self.svm_intercepts_ = fit_one_class_svms(self._kernel(rows[sample]))
        self.forests_ = [
            IsolationForest(n_estimators=n, random_state=int(rng.integers(2**31))).fit(rows)
            for n in FOREST_TREES
        ]
        self.classifier_ = XGBClassifier(
            n_estimators=self.n_estimators,
            max_depth=self.max_depth,
            learning_rate=self.learning_rate,
            base_score=0.5,  # newer versions of XGBoost start from the share of anomalies instead
            tree_method="hist",
            n_jobs=1,
            random_state=int(rng.integers(2**31)),
        ).fit(self.add_scores(rows), labels)

    def add_scores(self, X: np.ndarray) -> np.ndarray:
        """The rows of X with the scores of the SVMs and forests as further columns: (n, D + 18), float32."""
        scores = apply_in_chunks(self._unsupervised_scores, X, n_rows=SCORING_ROWS)
        return np.concatenate([X, scores.astype(np.float32)], axis=1)

    def _unsupervised_scores(self, X):
        # the SVMs share their rows, so that one kernel matrix and one product serve all of them
        svms = -(self._kernel(X) @ self.svm_weights_ + self.svm_intercepts_)
        forests = [-forest.score_samples(X) for forest in self.forests_]
        return np.column_stack([svms, *forests])

    def _kernel(self, X):
        """Radial kernel (n, m) of X and the SVMs' rows, in float64: differences of large numbers enter."""
        return rbf_kernel(self._standardized(X), self.svm_sample_, gamma=1 / X.shape[1])

    def _standardized(self, X):
        return self.scaler_.transform(X.astype(np.float64))

    def _score(self, X):
        return self.classifier_.predict(self.add_scores(X), output_margin=True).astype(np.float64)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "xgbod", *sys.argv[1:]]))
