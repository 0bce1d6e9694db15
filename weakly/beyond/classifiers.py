"""Plain classifiers as anomaly detectors: labelled anomalies are class 1, unlabelled rows class 0.

Most people would try these first, and the paper does not compare with them. Each runs with the defaults of
its library, untuned. A row's score is what the library ranks by.

    python experiments.py seen --methods logistic,xgboost,catboost,random-forest --datasets thyroid
    XGBoost(random_state=0).fit(X, y).decision_function(X_new)

Logistic      scikit-learn's LogisticRegression (l2, C=1, at most 100 iterations of lbfgs); the log odds
XGBoost       XGBClassifier (100 trees of depth 6); the log odds
CatBoost      CatBoostClassifier (1,000 symmetric trees of depth 6); the log odds
RandomForest  scikit-learn's RandomForestClassifier (100 full trees); the leaves' mean share of class 1

Differences from the libraries' defaults
  1. One thread, because runs are spread over processes here, and the detector's seed.
  2. Nothing is printed, and CatBoost writes no files during training.
  3. There is no warning if lbfgs stops at its 100 iterations before it has converged.
  4. If one row in a thousand is labelled, the mean gradient of logistic regression falls below scikit-learn's
     tolerance of 1e-4 after a few steps, far from the minimum. The method logistic-converged is the same
     model with tol=1e-8 and at most 1,000 iterations.
  5. Since version 2.0, XGBoost estimates where it starts; in the pinned version that is the share of
     anomalies. If it is tiny, so are the second derivatives, and a step of Newton's method can be far too
     long: some fits rank rows worse than by chance. The method xgboost-half starts from 0.5, as before 2.0.
  6. The method xgboost-shallow has XGBOD's settings of XGBoost (trees of depth 3, learning rate 0.1, start
     from 0.5) without XGBOD's added features: it shows what these features are worth.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from weakly.training.detector import Detector, apply_in_chunks
from weakly.training.trees import binary_columns, tree_sums, zeros_as_missing

SCORING_ROWS = 16_384  # at a time: a call of a library costs more than a few rows


class Classifier(Detector):
    """A classifier of A against U, as its library fits it: model_; subclasses supply it and its score."""

    takes_sparse = False

    def train(self, rows: Any, labels: np.ndarray, seed: int) -> Any:
        """The library's fitted model; the library is imported here, because other methods do without it."""
        raise NotImplementedError

    def _fit(self, X, unlabeled, anomalies, rng):
        labels = np.repeat([0, 1], [len(unlabeled), len(anomalies)])
        seed = int(rng.integers(2**31))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_ = self.train(X[np.concatenate([unlabeled, anomalies])], labels, seed)


@dataclass(repr=False, eq=False)
class Logistic(Classifier):
    """Logistic regression, with scikit-learn's defaults or, with a smaller tol, nearer to its minimum."""

    takes_sparse = True

    tol: float = 1e-4
    max_iter: int = 100

    def train(self, rows, labels, seed):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(random_state=seed, **self.learning_parameters()).fit(rows, labels)

    def _score(self, X):
        coefficients = self.model_.coef_[0].astype(np.float64)  # whose products keep more digits
        intercept = float(self.model_.intercept_[0])
        return apply_in_chunks(lambda rows: rows @ coefficients + intercept, X, n_rows=SCORING_ROWS)


@dataclass(repr=False, eq=False)
class XGBoost(Classifier):
    """Gradient boosting; the score is the margin."""

    base_score: float | None = None  # where boosting starts, as a probability; None: the share of anomalies
    max_depth: int | None = None  # of a tree; None: 6
    learning_rate: float | None = None  # None: 0.3

    def train(self, rows, labels, seed):
        from xgboost import XGBClassifier

        self.is_binary_ = binary_columns(rows)
        classifier = XGBClassifier(n_jobs=1, random_state=seed, **self.learning_parameters())
        return classifier.fit(zeros_as_missing(rows, self.is_binary_), labels).get_booster()

    def _score(self, X):
        return tree_sums(self.model_, zeros_as_missing(X, self.is_binary_))[:, 0].astype(np.float64)


class RandomForest(Classifier):
    """A random forest; the score is the mean over its trees of the share of class 1 in the leaf."""

    def train(self, rows, labels, seed):
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(random_state=seed).fit(rows, labels)

    def _score(self, X):
        return apply_in_chunks(lambda rows: self.model_.predict_proba(rows)[:, 1], X, n_rows=SCORING_ROWS)


class CatBoost(Classifier):
    """Gradient boosting with symmetric trees; the score is the log odds."""

    def train(self, rows, labels, seed):
        from catboost import CatBoostClassifier

        quiet = {"verbose": False, "allow_writing_files": False}
        return CatBoostClassifier(thread_count=1, random_seed=seed, **quiet).fit(rows, labels)

    def _score(self, X):
        return self.model_.predict(X, prediction_type="RawFormulaVal", thread_count=1).astype(np.float64)
