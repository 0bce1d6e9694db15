"""Data that every detector must order."""

import numpy as np


def two_clusters(seed=0, n_normals=600, n_anomalies=60, n_features=6, n_labeled=20):
    """Normals around 0.3, anomalies around 0.7; the first n_labeled of these are known.

    Returns X (n, n_features), which rows are anomalies (n,), and which are known to be (n,).
    """
    truth = np.repeat([0, 1], [n_normals, n_anomalies])
    centres = np.where(truth, 0.7, 0.3)[:, np.newaxis]
    X = np.random.default_rng(seed).normal(centres, 0.08, (len(truth), n_features)).astype(np.float32)
    return X, truth, truth * (np.arange(len(truth)) < n_normals + n_labeled)
