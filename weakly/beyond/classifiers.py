"""Plain classifiers as anomaly detectors: labelled anomalies are class 1, unlabelled rows class 0.

Most people would try these first, and the paper does not compare with them. Each runs with the defaults of
its library, untuned. A row's score is what the library ranks by.

    python experiments.py seen --methods logistic,xgboost,catboost,random-forest --datasets thyroid
    XGBoost(random_state=0).fit(X, y).decision_function(X_new)

Logistic      scikit-learn's LogisticRegression (l2, C=1, at most 100 iterations of lbfgs); the log odds
XGBoost       XGBClassifier (100 trees of depth 6); the log odds without their constant
CatBoost      CatBoostClassifier (1,000 symmetric trees of depth 6); the same
RandomForest  scikit-learn's RandomForestClassifier (100 full trees); the sum of the leaves' shares of class 1

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
from weakly.training.trees import (
    SymmetricTrees,
    Trees,
    binary_columns,
    booster_of,
    catboost_of,
    check_symmetric_trees,
    check_trees,
    symmetric_trees_of,
    tree_sums,
    trees_of_booster,
    trees_of_forest,
    without_zeros,
)

SCORING_ROWS = 16_384  # at a time: a call of a library costs more than a few rows


class Classifier(Detector):
    """A classifier of A against U; subclasses supply the library's model, and what to keep of it."""

    balances = False

    def new_classifier(self, seed: int) -> Any:
        """The library's model; the library is imported here, because scoring does not need it."""
        raise NotImplementedError

    def keep(self, classifier: Any, n_features: int) -> None:
        raise NotImplementedError

    def _fit(self, X, unlabeled, anomalies, rng):
        labels = np.repeat([0, 1], [len(unlabeled), len(anomalies)])
        classifier = self.new_classifier(int(rng.integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.train(classifier, X[np.concatenate([unlabeled, anomalies])], labels)
        self.keep(classifier, X.shape[1])

    def train(self, classifier: Any, rows: Any, labels: np.ndarray) -> None:
        classifier.fit(rows, labels)


@dataclass(repr=False, eq=False)
class Logistic(Classifier):
    """Logistic regression, with scikit-learn's defaults or, with a smaller tol, nearer to its minimum."""

    tol: float = 1e-4
    max_iter: int = 100

    def new_classifier(self, seed):
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(tol=self.tol, max_iter=self.max_iter, random_state=seed)

    def keep(self, classifier, n_features):
        self.coefficients_ = classifier.coef_[0].astype(np.float64)
        self.intercept_ = float(classifier.intercept_[0])

    def _gradients(self, X):
        return np.broadcast_to(self.coefficients_, X.shape)

    def _score(self, X):
        return apply_in_chunks(
            lambda rows: rows @ self.coefficients_ + self.intercept_, X, n_rows=SCORING_ROWS
        )


class TreeClassifier(Classifier):
    """A classifier whose score is a sum over trees, which are kept as plain arrays.

    Scores always come from these arrays, so they are the same after a model is saved and loaded.
    """

    takes_sparse = False
    kind: Any = Trees  # of the arrays

    def trees_of(self, classifier: Any) -> Any:
        """The arrays of a fitted classifier."""
        raise NotImplementedError

    def keep(self, classifier, n_features):
        self._set_trees(self.trees_of(classifier), n_features)

    def learned(self):
        return super().learned() | {f"trees_{name}": array for name, array in self._trees._asdict().items()}

    def restore(self, arrays, n_features):
        trees = self.kind(*(arrays[f"trees_{name}"] for name in self.kind._fields))
        self.check(trees, n_features)
        self._set_trees(trees, n_features)
        others = {name: array for name, array in arrays.items() if not name.startswith("trees_")}
        super().restore(others, n_features)

    def check(self, trees, n_features):
        """ValueError unless these are trees."""
        check_trees(trees, n_features)

    def _set_trees(self, trees, n_features):
        self._trees, self.model_ = trees, booster_of(trees, n_features)

    def _score(self, X):
        return tree_sums(self.model_, X)[:, 0].astype(np.float64)


@dataclass(repr=False, eq=False)
class XGBoost(TreeClassifier):
    """Gradient boosting; the score is the margin without its constant."""

    base_score: float | None = None  # where boosting starts, as a probability; None: the share of anomalies
    max_depth: int | None = None  # of a tree; None: 6
    learning_rate: float | None = None  # None: 0.3

    def new_classifier(self, seed):
        from xgboost import XGBClassifier

        return XGBClassifier(
            n_jobs=1,
            random_state=seed,
            base_score=self.base_score,
            max_depth=self.max_depth,
            learning_rate=self.learning_rate,
        )

    def train(self, classifier, rows, labels):
        # the same trees in a fraction of the time
        self._is_binary = binary_columns(rows)
        classifier.fit(without_zeros(rows, self._is_binary), labels)

    def trees_of(self, classifier):
        return trees_of_booster(classifier.get_booster(), self._is_binary)


@dataclass(repr=False, eq=False)
class RandomForest(TreeClassifier):
    """A random forest; the score is the sum over its trees of the share of class 1 in the leaf."""

    def new_classifier(self, seed):
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(random_state=seed)

    def trees_of(self, classifier):
        trees = [estimator.tree_ for estimator in classifier.estimators_]
        return trees_of_forest(trees, [tree.value[:, 0, 1] for tree in trees], np.zeros(len(trees)))


@dataclass(repr=False, eq=False)
class CatBoost(TreeClassifier):
    """Gradient boosting with symmetric trees; the score is the raw value without its constant."""

    kind = SymmetricTrees

    def new_classifier(self, seed):
        from catboost import CatBoostClassifier

        return CatBoostClassifier(thread_count=1, random_seed=seed, verbose=False, allow_writing_files=False)

    def trees_of(self, classifier):
        return symmetric_trees_of(classifier)

    def check(self, trees, n_features):
        check_symmetric_trees(trees, n_features)

    def _set_trees(self, trees, n_features):
        self._trees, self.model_ = trees, catboost_of(trees, n_features)

    def _score(self, X):
        return self.model_.predict(X, prediction_type="RawFormulaVal", thread_count=1).astype(np.float64)
