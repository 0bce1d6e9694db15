"""The typical row of a table, with which explanations compare a row.

The typical value of a number is the median of the training rows; that of a truth value or category is the
most frequent one. A column that holds its typical value is never a reason. The detectors' `explain` does the
rest.
"""

import numpy as np


def typical_row(X, widths):
    """The typical row (D,) of features X (n, D): medians, and the most frequent level of each category.

    widths: how many features each column has; more than one are the levels of a category.
    """
    typical, start = np.median(X, axis=0).astype(np.float32), 0
    for width in widths:
        if width > 1:
            columns = slice(start, start + width)
            typical[columns] = np.eye(width, dtype=np.float32)[X[:, columns].sum(axis=0).argmax()]
        start += width
    return typical
