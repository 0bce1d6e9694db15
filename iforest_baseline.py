"""iForest: isolation forest, the unsupervised baseline of Table 2.

Liu, Ting and Zhou, "Isolation-Based Anomaly Detection", TKDD 2012; scikit-learn's implementation.

    python iforest_baseline.py --datasets thyroid --runs 10     # this detector's column of Table 2
    IForest(random_state=0).fit(X).decision_function(X_new)     # y may be given; its anomalies are left out

Differences from the paper
  1. The forest is fitted only on the unlabelled rows U (the paper does not say). Labelled anomalies are not
     used.
"""

import sys
from dataclasses import dataclass

from sklearn.ensemble import IsolationForest

from weakly.training.detector import Detector


@dataclass(repr=False, eq=False)
class IForest(Detector):
    """Isolation forest with the recommended 100 trees on 256 rows each (App. B.2.2)."""

    needs_labels = False

    n_trees: int = 100
    subsample: int = 256

    def _fit(self, X, unlabeled, anomalies, rng):
        forest = IsolationForest(
            n_estimators=self.n_trees,
            max_samples=min(self.subsample, len(unlabeled)),
            random_state=int(rng.integers(2**31)),
        )
        # scikit-learn takes a matrix, not positions, so rows are copied in each run
        self.forest_ = forest.fit(X[unlabeled])

    def _score(self, X):
        return -self.forest_.score_samples(X)


if __name__ == "__main__":
    from experiments import main

    sys.exit(main(["seen", "--methods", "iforest", *sys.argv[1:]]))
