"""Which rows a person should check next.

    rows = rows_to_check(X, scores, is_open, n=20)      # positions, the most suspicious first

Three quarters are the most suspicious rows: those with the highest scores. They find anomalies, but these may
all be of one kind. The other quarter is there to learn something new: of the 10 n rows with the highest
scores, it has those least like any labelled or chosen row. They are chosen one at a time: each is the row
whose nearest labelled or chosen row is farthest away (Euclidean distance of the features). The share is a
parameter.
"""

import numpy as np

INFORMATIVE_SHARE = 0.25
POOL = 10  # times n: how many of the most suspicious rows the second part is chosen from
MOST_COMPARED = 2_000  # labelled rows, the last ones, that the pool is compared with


def rows_to_check(X, scores, is_open, n, informative_share=INFORMATIVE_SHARE):
    """Positions of up to n rows of X (n_rows, D) to check, and how many of them are the most suspicious.

    is_open (n_rows,): which rows nobody has checked.
    """
    candidates = np.flatnonzero(is_open)
    ranked = candidates[np.argsort(-scores[candidates], kind="stable")]
    n_suspicious = min(len(ranked), n - round(n * informative_share))
    chosen, pool = ranked[:n_suspicious], ranked[n_suspicious : POOL * n]
    compared = np.concatenate([np.flatnonzero(~is_open)[-MOST_COMPARED:], chosen])
    unlike = least_alike(X[pool], X[compared], n - n_suspicious)
    return np.concatenate([chosen, pool[unlike]]), n_suspicious


def least_alike(rows, others, n):
    """Positions of up to n rows (m, D), each the farthest from all others (k, D) and from those before it."""
    rows, chosen = rows.astype(np.float64), []
    nearest = np.full(len(rows), np.inf)
    for other in others:
        nearest = np.minimum(nearest, squared_distances(rows, other))
    for _ in range(min(n, len(rows))):
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, squared_distances(rows, rows[chosen[-1]]))
        nearest[chosen] = -1.0  # never twice, even if only equal rows are left
    return np.array(chosen, int)


def squared_distances(rows, one):
    return np.square(rows - one).sum(axis=1)
