"""RoSAS: its mixing, balance of losses, network and batches by hand-computed values."""

import numpy as np
import pytest

from weakly.beyond.rosas import build_rosas, build_scorer, scores_of
from weakly.beyond.rosas_layers import BalancedSum, Mixing
from weakly.training.network import keras, seed_generator, tf


def test_mixed_rows_lie_between_their_parents():
    """Their weights have the arcsine distribution, Dirichlet(1/2, 1/2): mean 1/2, variance 1/8."""
    rows = np.random.default_rng(0).random((20_000, 3)).astype(np.float32)
    targets, mixing = np.repeat([-1.0, 1.0], 10_000).astype(np.float32), Mixing(0)
    parts = [[np.asarray(part) for part in mixing(tf.constant(rows), tf.constant(targets))] for _ in range(2)]
    mixed, mixed_targets, order, weights = parts[0]
    assert sorted(order) == list(range(20_000)) and (order != np.arange(20_000)).any()
    own = weights[:, None]
    np.testing.assert_allclose(mixed, own * rows + (1 - own) * rows[order], atol=1e-6)
    np.testing.assert_allclose(mixed_targets, weights * targets + (1 - weights) * targets[order], atol=1e-6)
    assert weights.min() >= 0 and weights.max() <= 1 and weights.mean() == pytest.approx(0.5, abs=0.01)
    assert weights.var() == pytest.approx(0.125, abs=0.003)
    assert not np.array_equal(weights, parts[1][3])  # new ones in every call


def weighted(losses, means):
    """k_1 l_1 + k_2 l_2 with k_i proportional to exp(l_i / (2 m_i)), as the script has it."""
    shares = np.array([np.exp(loss / (2 * mean)) if mean else 0.0 for loss, mean in zip(losses, means)])
    return float(shares / shares.sum() @ np.array(losses))


def test_the_balance_uses_the_means_of_the_epoch_before():
    """Two epochs of two batches: means 1 and 1 first, then those of the first epoch, (1 + 3) / 2 and 0.5."""
    balance = BalancedSum(n_batches=2)
    batches = [[1.0, 0.4], [3.0, 0.6], [2.0, 2.0], [1.0, 0.5]]
    sums = [float(balance(tf.constant(losses))) for losses in batches]
    means = [[1, 1], [1, 1], [2.0, 0.5], [2.0, 0.5]]
    assert sums == pytest.approx(list(map(weighted, batches, means)), rel=1e-5)
    np.testing.assert_allclose(balance.means, [1.5, 1.25])


@pytest.mark.parametrize("n_features, n_hidden", [(6, 67), (21, 74), (300, 214)])
def test_network_is_the_scripts(n_features, n_hidden):
    weights = build_scorer(n_features, 128, seed_generator(0)).get_weights()
    sizes = [(n_features, n_hidden), (n_hidden, 128), (128, 64), (64, 1)]
    assert [one.shape for one in weights] == [*sizes, (1,)]
    for values, (n_inputs, _) in zip(weights, sizes):
        limit = n_inputs**-0.5
        assert 0.9 * limit < np.abs(values).max() <= limit


def test_scores_in_numpy_equal_those_of_keras():
    scorer = build_scorer(6, 128, seed_generator(0))
    # also beyond the linear part of tanh and below 0, where the leak shows
    rows = np.random.default_rng(0).normal(0, 30, (200, 6)).astype(np.float32)
    wanted = scorer(rows)[1].numpy()
    assert wanted.min() < -0.1 and wanted.max() > 0.1
    np.testing.assert_allclose(scores_of(rows, *scorer.get_weights()), wanted, atol=1e-5)
    squares = sum(np.square(one).sum() for one in scorer.get_weights())  # weight decay is on all of them
    assert float(sum(scorer.losses)) == pytest.approx(1e-4 / 2 * squares, rel=1e-5)


def test_the_loss_of_a_batch_by_hand(monkeypatch):
    """With each row mixed with itself (k = 1): the triplets' and the targets' loss, and the codes' norm."""
    unmixed = lambda self, rows, targets: (  # noqa: E731
        rows * 1.0,
        targets * 1.0,
        keras.ops.argsort(keras.ops.cumsum(keras.ops.ones_like(targets))),
        keras.ops.ones_like(targets),
    )
    monkeypatch.setattr(Mixing, "call", unmixed)
    model = build_rosas(6, seed=0)
    anchors, positives, negatives = np.random.default_rng(0).random((3, 8, 6)).astype(np.float32)
    value = float(model(anchors, positives, negatives))
    codes, scores = model.eta.get_layer("scorer")(np.concatenate([anchors, positives, negatives]))
    a, p, n = codes.numpy().reshape(3, 8, 128)
    distances = [np.linalg.norm(a - other + 1e-6, axis=1) for other in (p, n)]
    triplets = np.maximum(distances[0] - distances[1] + 1, 0).mean()
    off = np.abs(scores.numpy() - np.repeat([-1, -1, 1], 8))
    regression = np.where(off < 1, off**2 / 2, off - 0.5).mean()
    expected = weighted([triplets, regression], [1, 1]) + 0.01 * np.linalg.norm(a + p + n)
    assert value == pytest.approx(expected, rel=1e-5)
