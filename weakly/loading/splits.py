"""Which rows a run gets: the roles of rows, and the protocols that split them.

    split = split_rows(X, y, "independent", seed=3, n_labeled=60, contamination=0.02)

It contains only what decides this, because every change invalidates all runs (configuration.py).
"""

import mmap
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

RELEASED_SEED = 42  # in the authors' scripts, for the split and both draws
# Protocols of a designed experiment: one factor is redrawn in every run, all else is the authors', and the
# detector has the same seed in all runs. (Under `released` only the seed changes.)
ONE_DRAW = {"redrawn-split": "split", "redrawn-labels": "labels", "redrawn-contamination": "contamination"}
# as released, but the contamination copies training anomalies only, never those of the test set
TRAINING_COPIES = "training-copies"
PAPER_PROTOCOLS = ("released", "redrawn", "independent", *ONE_DRAW, TRAINING_COPIES)
# ADGym's set-up, for the cross-check: rows unscaled, or with a MinMaxScaler fitted on the training rows
OUTSIDE, OUTSIDE_SCALED = OUTSIDE_PROTOCOLS = ("outside", "outside-scaled")
PROTOCOLS = (*PAPER_PROTOCOLS, *OUTSIDE_PROTOCOLS)
OUTSIDE_ROWS, OUTSIDE_TEST_SHARE = 3_000, 0.3
TEST_SHARE = 0.2
# The roles that a row can have in a data set, as values of y. Held-out rows and those of other classes occur
# in Table 3's sets.
NORMAL, ANOMALY, HELD_OUT, ABSENT = 0, 1, 2, -1


@dataclass(frozen=True)
class Split:
    """Positions of the training and test rows of a data set; positions from len(y) on are rows of `extra`."""

    unlabeled: np.ndarray  # U: normal training rows and the contamination
    anomalies: np.ndarray  # A: labelled anomalies
    test: np.ndarray
    extra: Any = None  # synthetic contamination rows (m, D), not in `independent`

    def stack(self, X):
        """The matrix that the positions refer to: X itself, or X with the extra rows below."""
        if self.extra is None or self.extra.shape[0] == 0:
            return X
        if sparse.issparse(X):
            return sparse.vstack([X, self.extra], format="csr")
        shape = (X.shape[0] + self.extra.shape[0], X.shape[1])
        # whole pages: TensorFlow can use aligned memory without copying it
        rows = np.frombuffer(mmap.mmap(-1, 4 * shape[0] * shape[1]), np.float32).reshape(shape)
        return np.concatenate([X, self.extra], out=rows)


class Seeds(NamedTuple):
    """What the authors' procedure draws: the split, which anomalies are labelled, the contamination."""

    split: int = RELEASED_SEED
    labels: int = RELEASED_SEED
    contamination: int = RELEASED_SEED


def split_released(X, y, n_labeled=60, contamination=0.02, extra=None, seeds=Seeds()):  # noqa: B008
    """The split behind the paper's tables, the same in every run: bit for bit that of the authors' scripts.

    With seeds other than theirs it is the `redrawn` protocol. All training anomalies except n_labeled are
    dropped. U is contaminated with synthetic rows made from all anomalies of the data set, including those of
    the test set: `extra`, if they have been drawn already.
    """
    train, test = _train_and_test(y, seeds.split)
    # positions within the training set, as the draw needs them
    anomalies = np.flatnonzero(y[train] == ANOMALY)
    if len(anomalies) > n_labeled:
        rng = np.random.RandomState(seeds.labels)
        dropped = rng.choice(anomalies, len(anomalies) - n_labeled, replace=False)
        anomalies = np.setdiff1d(anomalies, dropped)
    if extra is None:
        extra = released_contamination(X, y, contamination, seeds.contamination)
    unlabeled = np.concatenate([train[y[train] == NORMAL], len(y) + np.arange(extra.shape[0])])
    return Split(unlabeled, train[anomalies], test, extra)


def with_other_test_rows(split, y, seed):
    """Another split of the same sizes with the same labelled anomalies and contamination.

    Another seed of the authors' split would also change the labels: they are drawn from the training rows.
    """
    rng, n_test = np.random.default_rng([seed, 2]), np.bincount(y[split.test], minlength=HELD_OUT + 1)
    normals = rng.permutation(np.flatnonzero(y == NORMAL))
    anomalies = rng.permutation(np.setdiff1d(np.flatnonzero(y == ANOMALY), split.anomalies))
    test = [normals[: n_test[NORMAL]], anomalies[: n_test[ANOMALY]], np.flatnonzero(y == HELD_OUT)]
    contamination = split.unlabeled[split.unlabeled >= len(y)]
    unlabeled = np.concatenate([normals[n_test[NORMAL] :], contamination])
    return Split(unlabeled, split.anomalies, np.concatenate(test), split.extra)


def _train_and_test(y, seed):
    """Stratified 80/20 split of the normal rows and the anomalies.

    If a class is held out, the test anomalies are replaced by every row of it (App. B.1.2).
    """
    members = np.flatnonzero((y == NORMAL) | (y == ANOMALY))
    train, test = train_test_split(members, test_size=TEST_SHARE, random_state=seed, stratify=y[members])
    held_out = np.flatnonzero(y == HELD_OUT)
    return train, np.concatenate([test[y[test] == NORMAL], held_out]) if len(held_out) else test


def released_contamination(X, y, rate, seed=RELEASED_SEED):
    """Synthetic anomalies (m, D) of `released`: copies of one anomaly with 5% of another one's features."""
    n_features = X.shape[1]
    rng = np.random.RandomState(seed)
    pool = X[np.flatnonzero(y == ANOMALY)]
    rows = []
    for _ in range(contamination_count(y, rate)):
        first, second = rng.choice(pool.shape[0], 2, replace=False)
        swapped = np.zeros(n_features, bool)
        swapped[rng.choice(n_features, int(0.05 * n_features), replace=False)] = True
        if sparse.issparse(X):
            rows.append(pool[first].multiply(~swapped) + pool[second].multiply(swapped))
        else:
            rows.append(np.where(swapped, pool[second], pool[first]))
    if sparse.issparse(X):
        return sparse.vstack(rows, format="csr", dtype=np.float32) if rows else X[:0]
    return np.array(rows, np.float32).reshape(-1, n_features)


def training_copies(X, y, rate):
    """released_contamination made from the training anomalies of the authors' split only."""
    _, test = _train_and_test(y, RELEASED_SEED)
    roles = y.copy()
    roles[test[y[test] == ANOMALY]] = ABSENT
    return released_contamination(X, roles, rate)


def split_independent(y, seed, n_labeled=60, contamination=0.02):
    """The split as in the text (Sec. 5.1): new for every seed, U contaminated with training anomalies."""
    rng = np.random.default_rng([seed, 1])  # not the stream of a detector with the same seed
    train, test = _train_and_test(y, int(rng.integers(2**31)))
    normals, anomalies = train[y[train] == NORMAL], rng.permutation(train[y[train] == ANOMALY])
    labeled, rest = anomalies[:n_labeled], anomalies[n_labeled:]
    wanted = contamination_count(y[train], contamination)
    if wanted and len(rest) == 0:
        raise ValueError(
            f"all {len(anomalies)} training anomalies are labelled, "
            "none is left to contaminate the unlabelled data with"
        )
    drawn = rng.choice(rest, wanted, replace=wanted > len(rest)) if wanted else rest[:0]
    return Split(np.concatenate([normals, drawn]), labeled, test)


def split_outside(y, seed, n_labeled):
    """The split of ADGym's committed results, its draws bit for bit; run r has its seed r + 1.

    At most 3,000 rows, 30% of them for the test; training anomalies without a label stay in U.
    """
    rng = np.random.RandomState(seed + 1)
    rows = np.arange(len(y))
    if len(y) > OUTSIDE_ROWS:
        rows = rng.choice(rows, OUTSIDE_ROWS, replace=False)  # type: ignore[assignment]
    # like rng.choice, this continues the stream
    train, test = train_test_split(rows, test_size=OUTSIDE_TEST_SHARE, random_state=rng, stratify=y[rows])
    anomalies = np.flatnonzero(y[train] == ANOMALY)
    if len(anomalies) < n_labeled:
        raise ValueError(f"there are {len(anomalies)} training anomalies, fewer than {n_labeled} labels")
    labeled = rng.choice(anomalies, n_labeled, replace=False)
    return Split(np.delete(train, labeled), train[labeled], test)


def contamination_count(y, rate):
    """How many anomalies make up the share `rate` when added to the normals among y."""
    if not 0 <= rate < 1:
        raise ValueError(f"the contamination rate must be at least 0 and below 1, not {rate}")
    return int(np.count_nonzero(y == NORMAL) * rate / (1 - rate))


def split_rows(X, y, protocol, seed, n_labeled, contamination, kept=None):
    """The Split of one run; kept: contamination of `released` drawn before, at this rate or another."""
    if protocol == "independent":
        return split_independent(y, seed, n_labeled, contamination)
    if protocol in OUTSIDE_PROTOCOLS:
        return split_outside(y, seed, n_labeled)
    if protocol not in PROTOCOLS:
        raise ValueError(f"unknown protocol {protocol!r}; known: {', '.join(PROTOCOLS)}")
    seeds = Seeds()
    if protocol == "redrawn":
        seeds = Seeds(seed, seed, seed)
    elif protocol in ("redrawn-labels", "redrawn-contamination"):
        seeds = seeds._replace(**{ONE_DRAW[protocol]: seed})
    extra, n_rows = None, contamination_count(y, contamination)
    if protocol == TRAINING_COPIES:
        extra = training_copies(X, y, contamination)
    elif seeds.contamination == RELEASED_SEED and kept is not None and len(kept) >= n_rows:
        extra = kept[:n_rows]  # the draws are one stream, so a lower rate has the first rows of a higher one
    split = split_released(X, y, n_labeled, contamination, extra, seeds)
    return with_other_test_rows(split, y, seed) if protocol == "redrawn-split" else split


def view_roles(classes, view):
    """The roles (n,) of the rows in a set with an unseen class, from their class codes (n,)."""
    roles = np.full(len(classes), ABSENT)
    roles[classes == 0] = NORMAL
    roles[np.isin(classes, view.seen)] = ANOMALY
    roles[classes == view.unseen] = HELD_OUT
    return roles
