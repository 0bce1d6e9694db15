"""Which weights a fit keeps: those of the best epoch, of the last, or of all."""

import numpy as np
import pytest

from prenet import PReNet
from weakly.training.loop import Trainer

N_EPOCHS, N_STEPS = 8, 5


@pytest.fixture(scope="module")
def kept():
    """{keeps: (weights, losses)} of the same fit; at this learning rate the loss jumps about."""
    detector = PReNet(batch_size=32, learning_rate=0.3)
    rows, anomalies = np.random.default_rng(0).random((400, 8), dtype=np.float32), np.arange(5)
    batches = detector.sample_batches(
        rows, np.arange(5, 400), anomalies, N_EPOCHS * N_STEPS, np.random.default_rng(0)
    )
    start = detector.build(8, seed=1).get_state()
    fits = {}
    for keeps in ("best", "last", "every"):
        trainer = Trainer(detector.build(8, seed=1), detector.loss, detector.optimizer(), keeps)
        fits[keeps] = trainer.fit(rows, anomalies, batches, N_EPOCHS, start)
    return fits


def test_every_epoch_has_the_last_and_the_best(kept):
    """Bit for bit: a detector that chooses its epoch itself could choose as the others do."""
    every, losses = kept["every"]
    best = int(np.argmin(losses))
    assert best < N_EPOCHS - 1
    for stacked, of_best, of_last in zip(every, kept["best"][0], kept["last"][0], strict=True):
        assert stacked.shape == (N_EPOCHS, *of_last.shape)
        np.testing.assert_array_equal(stacked[-1], of_last)
        np.testing.assert_array_equal(stacked[best], of_best)
    assert np.abs(every[0][best] - every[0][-1]).max() > 1e-3  # they are different weights


def test_what_is_kept_does_not_change_the_training(kept):
    assert kept["best"][1] == kept["last"][1] == kept["every"][1]


def test_another_wish_is_refused():
    detector = PReNet()
    with pytest.raises(ValueError, match="keeps must be one of best, last, every, not 'first'"):
        Trainer(detector.build(4, seed=0), detector.loss, detector.optimizer(), "first")
