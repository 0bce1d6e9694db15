"""Training and scoring on CSR rows give what the same rows give as a dense matrix."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from toys import SmallA2H

from devnet import DevNet
from prenet import PReNet
from weakly.training import sparse_loop
from weakly.training.loop import Trainer
from weakly.training.sparse_loop import SparseTrainer

DETECTORS = [
    PReNet(batch_size=64),
    DevNet(batch_size=64),
    *(PReNet(batch_size=64, variant=name) for name in ("iPReNet", "NPR")),
    SmallA2H(batch_size=64, variant="A2H"),
    PReNet(batch_size=64, hidden_units=(12, 8)),
]
NAMES = ["prenet", "devnet", "iPReNet", "NPR", "A2H", "two layers"]


def sparse_rows(n=300, n_features=60, seed=0, dtype=np.float32):
    """Rows (n, D) with about 6 values each.

    The first 10 columns occur in the last 20 rows only, the 5 after them nowhere.
    """
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((n, n_features)) < 0.1, rng.random((n, n_features)), 0).astype(dtype)
    rows[:-20, :10] = 0
    rows[:, 10:15] = 0
    return rows


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(sparse_loop, "BLOCK_WEIGHTS", 140)  # so that the small kernel has several
    monkeypatch.setattr(sparse_loop, "MERGE_EPOCHS", 2)


@pytest.mark.parametrize(
    "detector, n_anomalies",
    [*((detector, 5) for detector in DETECTORS), (DETECTORS[0], 100)],
    ids=[*NAMES, "many anomalies"],
)
def test_weights_and_losses_equal_those_of_dense_training(
    double_precision, small_blocks, detector, n_anomalies
):
    """In double precision, as RMSprop magnifies rounding; columns 0-14 occur in no training row."""
    rows, rng = sparse_rows(dtype=np.float64), np.random.default_rng(1)
    anomalies, unlabeled = np.arange(n_anomalies), np.arange(n_anomalies, 280)
    batches = detector.sample_batches(rows, unlabeled, anomalies, 100, rng)
    model = detector.build(rows.shape[1], seed=5)
    constants = detector.loss_constants(rows, unlabeled, anomalies, model, rng)
    start = model.get_state()
    expected, expected_losses = Trainer(model, detector.loss, detector.optimizer()).fit(
        rows, anomalies, batches, 5, start, constants
    )
    trainer = SparseTrainer(detector.build(1, seed=0), detector.loss, detector.optimizer())
    reached, losses = trainer.fit(sparse.csr_matrix(rows), anomalies, batches, 5, start, constants)
    assert np.abs(expected[0] - start[0]).max() > 0.05  # it did train
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-9)
    for values, wanted in zip(reached, expected, strict=True):
        np.testing.assert_allclose(values, wanted, atol=1e-7, rtol=0)


@pytest.mark.parametrize("detector", DETECTORS, ids=NAMES)
def test_scores_equal_those_of_dense_rows(uncompiled, detector):
    """After few steps, up to float32 rounding; the test rows have columns that no training row has."""
    rows, known = sparse_rows(), np.repeat([1, 0], [10, 270])
    detector = clone(detector).set_params(epochs=2, batches_per_epoch=10)
    dense_scores = detector.fit(rows[:280], known).decision_function(rows)
    of_dense_model = detector.decision_function(sparse.csr_matrix(rows))
    np.testing.assert_allclose(of_dense_model, dense_scores, atol=1e-5, rtol=0)
    detector.fit(sparse.csr_matrix(rows[:280]), known)
    for same in (sparse.csr_matrix(rows), rows):
        np.testing.assert_allclose(detector.decision_function(same), dense_scores, atol=1e-4, rtol=0)
    assert np.ptp(dense_scores) > 0.05  # far more than the tolerances


def test_a_million_columns_never_become_dense():
    """A dense batch of these rows would have 0.7 billion values.

    The training columns keep to the few that occur.
    """
    columns = np.random.default_rng(0).integers(1_000_000, size=1000)
    parts = np.ones(1000, np.float32), columns, np.arange(0, 1001, 5)
    rows = sparse.csr_matrix(parts, (200, 1_000_000))
    detector = PReNet(epochs=1, batches_per_epoch=2, hidden_units=2).fit(rows, np.repeat([1, 0], [10, 190]))
    assert np.isfinite(detector.decision_function(rows)).all()
