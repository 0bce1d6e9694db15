"""psi is one function wherever it is computed; the parts of a network; the numbers of a batch's rows."""

import numpy as np
import pytest
from scipy import sparse
from toys import SmallA2H

from dsad import DSAD
from prenet import PReNet
from weakly.methods import make_detector
from weakly.training.loop import product
from weakly.training.network import encoder, finish_psi, first_kernel, keras, tf
from weakly.training.sparse_loop import without_empty_columns

NETWORKS = {
    "hidden layer": PReNet(),
    "two layers": PReNet(hidden_units=(12, 8)),
    "dropout": SmallA2H(variant="A2H"),
    "no bias": DSAD(),
    "linear": DSAD(code_layer="linear"),
    "ReLU, then linear": DSAD(hidden_units=(12, 8), code_layer="linear"),
}


@pytest.mark.parametrize("kind", NETWORKS)
def test_psi_is_one_function(kind):
    """As a Keras model, on products of either loop, and in numpy on dense and on CSR rows."""
    rng = np.random.default_rng(0)
    detector = NETWORKS[kind]
    psi = detector.build(9, seed=0).psi
    psi.set_weights([weights + rng.normal(0, 0.3, weights.shape) for weights in psi.get_weights()])
    rows = rng.normal(0, 1, (40, 9)).astype(np.float32)
    rows[:, [2, 5]] = 0
    expected = psi(rows).numpy()
    columns, narrow_rows = without_empty_columns(sparse.csr_matrix(rows))
    is_dsad = isinstance(detector, DSAD)
    encode = detector._psi(psi.get_weights()) if is_dsad else encoder(psi.get_weights())
    others = {
        "dense loop": finish_psi(psi, tf.function(product, jit_compile=True)(rows, first_kernel(psi))),
        "sparse loop": finish_psi(psi, tf.constant(narrow_rows @ first_kernel(psi).numpy()[columns])),
        "numpy": encode(rows),
        "numpy, CSR": encode(sparse.csr_matrix(rows)),
    }
    assert 0.2 < (expected > 0).mean() < 0.9 and (expected < 0).any() == ("linear" in kind)
    for codes in others.values():
        np.testing.assert_allclose(codes, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["prenet", "devnet", "dsad", "fsnet", "repen", "pumad"])
def test_hidden_units_of_several_layers(name):
    """psi has a layer for each number, each with its l2 term and, but for Deep SAD, a bias."""
    model = make_detector(name, hidden_units=(5, 4, 3), l2=0.1).build(7, seed=0)
    psi = model.psi
    assert [layer.name for layer in psi.layers[1:]] == ["hidden_0", "hidden_1", "hidden"]
    assert [layer.kernel.shape for layer in psi.layers[1:]] == [(7, 5), (5, 4), (4, 3)]
    assert all(layer.use_bias == (name != "dsad") for layer in psi.layers[1:])
    assert all(layer.activation is keras.activations.relu for layer in psi.layers[1:])
    squares = sum(np.square(layer.kernel.numpy()).sum() for layer in psi.layers[1:])
    assert float(tf.add_n(model.collected("losses"))) == pytest.approx(0.1 * squares, rel=1e-5)
    behind = {"prenet": [(6, 1)], "devnet": [(3, 1)]}.get(name, [])
    assert [w.shape for w in model.get_weights()[len(psi.weights) :] if w.ndim == 2] == behind
