"""Data that every detector must order, rows on disk, and training without compiling."""

import contextlib

import numpy as np
import pytest

from prenet import PReNet
from weakly.loading.arrays import save_data


class SmallA2H(PReNet):
    """PReNet whose variant A2H has added layers as small as psi's own."""

    added_units = (20, 20)


def two_clusters(seed=0, n_normals=600, n_anomalies=60, n_features=6, n_labeled=20):
    """Normals around 0.3, anomalies around 0.7; the first n_labeled of these are known.

    Returns X (n, n_features), which rows are anomalies (n,), and which are known to be (n,).
    """
    truth = np.repeat([0, 1], [n_normals, n_anomalies])
    centres = np.where(truth, 0.7, 0.3)[:, np.newaxis]
    X = np.random.default_rng(seed).normal(centres, 0.08, (len(truth), n_features)).astype(np.float32)
    return X, truth, truth * (np.arange(len(truth)) < n_normals + n_labeled)


def save_rows(data_dir, name="x", status="exact", turned=False):
    """Prepare 100 normal rows and 20 anomalies as a data set, in this order of rows or turned round."""
    y, X = np.repeat([0, 1], [100, 20]), np.random.default_rng(0).random((120, 40), dtype=np.float32)
    save_data(data_dir / "prepared" / name, X[::-1] if turned else X, y, status=status)


@contextlib.contextmanager
def not_compiled():
    """The same steps, not compiled: that takes seconds for each new network or shape, a few steps hardly any.

    For tests of what is done with a network that need not have learned much. test_training.py compares both.
    """
    from weakly.training.network import tf  # TensorFlow, which most tests do without

    with pytest.MonkeyPatch.context() as patch:
        # the gradient of the other is for compiled graphs only
        patch.setattr("weakly.training.loop.product", lambda rows, kernel: rows @ kernel)
        tf.config.run_functions_eagerly(True)
        try:
            yield
        finally:
            tf.config.run_functions_eagerly(False)
