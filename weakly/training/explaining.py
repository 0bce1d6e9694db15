"""What each feature adds to a score, compared with a typical row: the result of `Detector.explain`.

If the score is linear in the features, or piecewise linear, a part is gradient x (x - typical). This is exact
for a linear score, and within one piece of a piecewise linear one, and costs one product. For all other
scores, a part is found by occlusion: the score of the row minus that of the row with this feature at its
typical value.

Features that belong together, such as the levels of a category, can be grouped: `widths` says how many
features each group has, in the order of the columns.
"""

from collections.abc import Callable, Sequence

import numpy as np


def first_features(widths: Sequence[int], n_features: int) -> np.ndarray:
    """The number of the first feature of each group; ValueError unless the groups make up all features."""
    if min(widths, default=0) < 1 or sum(widths) != n_features:
        raise ValueError(f"widths must be at least 1 and add up to the {n_features} features of X")
    return np.cumsum([0, *widths[:-1]])


def occluded_parts(
    score: Callable[[np.ndarray], np.ndarray], X: np.ndarray, typical: np.ndarray, widths: Sequence[int]
) -> np.ndarray:
    """The drop of each row's score when one group at a time is set to its typical values: (n, groups)."""
    scores = score(X)
    parts = np.zeros((len(X), len(widths)))
    for place, (start, width) in enumerate(zip(first_features(widths, X.shape[1]), widths)):
        columns = slice(start, start + width)
        differs = np.flatnonzero((X[:, columns] != typical[columns]).any(axis=1))
        if len(differs):  # the others hold the typical values already
            occluded = X[differs]
            occluded[:, columns] = typical[columns]
            parts[differs, place] = scores[differs] - score(occluded)
    return parts
