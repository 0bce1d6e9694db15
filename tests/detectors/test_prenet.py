"""PReNet and its ablated variants: pairs, labels, networks, scores by Eq. 6, and the masks of dropout."""

import numpy as np
import pytest
from toys import SmallA2H, two_clusters

from prenet import PReNet, build_prenet
from weakly.methods import make_detector

X, _, KNOWN = two_clusters()
FEW_STEPS = {"epochs": 2, "batches_per_epoch": 5, "batch_size": 32}


# ---------------------------------------------------------------------------- networks


@pytest.mark.parametrize("name, kernels, n_regularized", [
    ("prenet", [(7, 20), (40, 1)], 1),
    ("iprenet", [(7, 20), (20, 1)], 1),
    ("ldm", [(14, 1)], 0),
    ("a2h", [(7, 1000), (1000, 250), (250, 20), (40, 1)], 3),
    ("a2h-no-dropout", [(7, 1000), (1000, 250), (250, 20), (40, 1)], 3),
    ("npr", [(7, 20), (40, 20), (20, 1)], 1),
])  # fmt: skip
def test_layers_and_l2(name, kernels, n_regularized):
    """Every hidden kernel of psi has its l2 term, NPR's relation layer and the scoring layer never."""
    model = make_detector(name, l2=0.1).build(7, seed=0)
    weights = model.get_weights()
    assert [w.shape for w in weights[::2]] == kernels
    assert [w.shape for w in weights[1::2]] == [shape[1:] for shape in kernels]  # biases
    expected = [0.1 * np.sum(w**2) for w in weights[::2][:n_regularized]]
    penalties = [float(penalty) for penalty in model.collected("losses") if float(penalty)]
    np.testing.assert_allclose(sorted(penalties), sorted(expected), rtol=1e-5)


@pytest.mark.parametrize("variant", [None, "NPR"])
def test_network_by_hand(variant):
    """eta = w . [psi(x_i), psi(x_j)] + c; in NPR eta = w . relu(W [psi(x_i), psi(x_j)] + b) + c."""
    model = build_prenet(7, hidden_units=20, seed=0, variant=variant)
    kernel, limit = model.get_weights()[0], np.sqrt(6 / 27)  # Glorot uniform
    assert np.abs(kernel).max() <= limit and np.abs(kernel).max() > 0.9 * limit
    rng = np.random.default_rng(0)  # so that biases are not 0
    model.set_weights([weights + rng.normal(0, 0.1, weights.shape) for weights in model.get_weights()])
    W_psi, b_psi, *relation, w, c = model.get_weights()
    pair = np.random.default_rng(1).random((2, 1, 7), dtype=np.float32)
    codes = np.hstack([np.maximum(x @ W_psi + b_psi, 0) for x in pair])
    if variant == "NPR":
        codes = np.maximum(codes @ relation[0] + relation[1], 0)
    assert float(model(*pair)[0]) == pytest.approx((codes @ w + c).item(), abs=1e-5)


def test_dropout_is_behind_the_added_layers(uncompiled):
    model = make_detector("a2h").build(7, seed=0)
    psi, rows = model.psi, np.random.default_rng(0).random((50, 7), dtype=np.float32)
    assert [layer.name for layer in psi.layers[1:]] == "added_0 dropout_0 added_1 dropout_1 hidden".split()
    assert [layer.rate for layer in psi.layers[2:5:2]] == [0.5, 0.5] and model.has_dropout
    in_training = [psi(rows, training=True).numpy() for _ in range(2)]
    assert np.abs(in_training[0] - in_training[1]).max() > 0.01  # each time with other masks
    np.testing.assert_array_equal(psi(rows), psi(rows, training=False))
    model = make_detector("a2h-no-dropout").build(7, seed=0)
    assert [layer.name for layer in model.psi.layers[1:]] == ["added_0", "added_1", "hidden"]
    assert not model.has_dropout


# ---------------------------------------------------------------------------- scores


@pytest.mark.parametrize("variant, pair_order, ensemble_size", [
    (None, "released", 30), (None, "paper", 2), ("LDM", "released", 3), ("LDM", "paper", 1),
    ("A2H", "paper", 3), ("NPR", "released", 3), ("NPR", "paper", 1),
])  # fmt: skip
def test_one_pass_scores_equal_the_definition(uncompiled, variant, pair_order, ensemble_size):
    settings = FEW_STEPS | {"pair_order": pair_order, "ensemble_size": ensemble_size}
    # A2H's own layers of 1000 units take seconds
    detector = (SmallA2H if variant == "A2H" else PReNet)(variant=variant, **settings).fit(X, KNOWN)
    scores = detector.decision_function(X)
    assert scores.std() > 1e-3
    np.testing.assert_allclose(scores, detector.score_by_pairs(X), atol=1e-5)
    np.testing.assert_array_equal(scores, detector.decision_function(X))  # no dropout in scoring


def test_definition_follows_equation_6(uncompiled):
    """score_by_pairs against Eq. 6 evaluated with the network itself, for the paper's order and E = 2."""
    detector = PReNet(batches_per_epoch=5, epochs=1, ensemble_size=2, pair_order="paper").fit(X, KNOWN)
    x = X[:1]
    phi = lambda left, right: float(detector.model_(left, right)[0])  # noqa: E731
    by_hand = sum(phi(a[None], x) for a in detector.anomaly_partners_) + sum(
        phi(x, u[None]) for u in detector.unlabeled_partners_
    )
    assert detector.score_by_pairs(x)[0] == pytest.approx(by_hand / 4, abs=1e-5)
    assert all((a == X[KNOWN == 1]).all(axis=1).any() for a in detector.anomaly_partners_)
    assert all((u == X[KNOWN == 0]).all(axis=1).any() for u in detector.unlabeled_partners_)
