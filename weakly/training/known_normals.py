"""Rows that a person has checked and found normal, and what they weigh.

Samplers draw from a list of positions and classifiers are fitted on its rows, so repeating a position serves
all methods.

| method                      | how it uses a known normal                                            |
|-----------------------------|-----------------------------------------------------------------------|
| PReNet and its variants     | drawn as an unlabelled row of {u,u} and {a,u} pairs, and as a partner |
| DevNet, cross-entropy       | drawn as a row with label 0                                           |
| Deep SAD, FEAWAD            | the same, also for centre and autoencoder                             |
| FSNet, cFSNet, RoSAS        | the same; part of the unlabelled prototype; cFSNet's costs count it   |
| REPEN                       | always an inlier, never an outlier candidate; a reference of scores   |
| PUMAD                       | always a reliable normal, even if it resembles an anomaly             |
| iForest                     | one of the rows that the forest considers dense                       |
| logistic, XGBoost, CatBoost,| KNOWN_COPIES rows of class 0                                          |
| random forest, XGBOD        |                                                                       |

In a method that `balances`, all anomalies together get as many draws as all unlabelled rows. There each
known normal weighs as much as one labelled anomaly: with m anomalies, n known normals get n/m of the
unlabelled draws, but at most KNOWN_SHARE, because the unlabelled rows must still show what is usual. In
the other methods, where a labelled anomaly is one row among thousands, a known normal counts as
KNOWN_COPIES rows, up to the same share: with a single copy it would count like an unlabelled row. The
share was chosen on thyroid, the copies on thyroid and w7a, in trials that are not part of this repository.
"""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import column_or_1d

KNOWN_SHARE, KNOWN_COPIES = 0.25, 10


def known_positions(normal: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Positions of the rows known to be normal, given as a mask (n_rows,) or as positions."""
    if normal is None:
        return np.empty(0, int)
    given = column_or_1d(normal)
    if given.dtype == bool:
        if len(given) != n_rows:
            raise ValueError(f"X has {n_rows} rows, but the mask of known normals has {len(given)}")
        return np.flatnonzero(given)
    if len(given) and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n_rows):
        raise ValueError(f"known normals must be a mask or positions of rows, from 0 to {n_rows - 1}")
    return given.astype(int)


def with_known_normals(unlabeled, anomalies, normal, balances):
    """The unlabelled positions, with those of known normals repeated: more copies mean more weight."""
    others = unlabeled[~np.isin(unlabeled, normal)]
    most = KNOWN_SHARE / (1 - KNOWN_SHARE) * len(others)
    share = min(KNOWN_SHARE, len(normal) / len(anomalies))
    wanted = share / (1 - share) * len(others) if balances else min(KNOWN_COPIES * len(normal), most)
    return np.concatenate([others, np.resize(normal, max(len(normal), round(wanted)))])
