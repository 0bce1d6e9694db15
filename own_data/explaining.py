"""Which columns raise a score: how much of it goes when a column is set to its typical value.

    parts = parts_of_scores("prenet", detector, X, typical, widths)      # (n, columns)

The typical value of a number is the median of the training rows, that of a truth value or category the most
frequent one. A part is counted from there, so a column that holds its typical value never has one. Where the
score is linear in the features, or linear piece by piece, a part is gradient x (x - typical), exact for a
linear score and within its piece otherwise, at the cost of one product. For all other detectors it is found
by occlusion: the score of the row minus that of the row with this column at its typical value.
"""

import numpy as np

LINEAR_IN_PSI = ("prenet", "devnet", "cross-entropy")  # a score w.psi(x) + c with psi(x) = max(0, K'x + b)


def typical_row(X, widths):
    """The typical row (D,) of features X (n, D): medians, and of each category its most frequent level.

    widths: how many features belong together; more than one are the levels of a category.
    """
    typical, start = np.median(X, axis=0).astype(np.float32), 0
    for width in widths:
        if width > 1:
            columns = slice(start, start + width)
            typical[columns] = np.eye(width, dtype=np.float32)[X[:, columns].sum(axis=0).argmax()]
        start += width
    return typical


def parts_of_scores(method, detector, X, typical, widths):
    """How much each column adds to the score of each row, counted from its typical value: (n, columns)."""
    starts = np.cumsum([0, *widths[:-1]])
    gradients = gradients_of_scores(method, detector, X)
    if gradients is not None:
        return np.add.reduceat((X - typical) * gradients, starts, axis=1)
    return occluded_parts(detector, X, typical, starts, widths)


def occluded_parts(detector, X, typical, starts, widths):
    """The drop of each row's score when one column at a time is set to its typical value: (n, columns)."""
    scores = detector.decision_function(X)
    parts = np.zeros((len(X), len(widths)))
    for place, (start, width) in enumerate(zip(starts, widths)):
        columns = slice(start, start + width)
        differs = np.flatnonzero((X[:, columns] != typical[columns]).any(axis=1))
        if len(differs):  # the others hold the typical value already
            occluded = X[differs]
            occluded[:, columns] = typical[columns]
            parts[differs, place] = scores[differs] - detector.decision_function(occluded)
    return parts


def gradients_of_scores(method, detector, X):
    """The gradients (n, D) of a score that is linear, or linear piece by piece; None of any other."""
    if hasattr(detector, "coefficients_"):
        return np.broadcast_to(detector.coefficients_, X.shape)
    if method not in LINEAR_IN_PSI:
        return None
    psi, eta = (detector.model_.get_layer(name).get_weights() for name in ("psi", "eta"))
    weights = eta[0][:, 0].astype(np.float64)
    if method == "prenet":  # x stands on either side of its partners: (w_left + w_right) / 2
        weights = np.mean(np.split(weights, 2), axis=0)
    kernel, bias = psi
    return ((X @ kernel + bias > 0) * weights) @ kernel.T.astype(np.float64)
