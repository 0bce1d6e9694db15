"""psi is one function wherever it is computed; the parts of a network; the numbers of a batch's rows."""

import numpy as np
import pytest
from scipy import sparse

from devnet import DevNet
from dsad import DSAD, build_residual
from feawad import FEAWAD
from prenet import PReNet
from training.loop import Batches, numbered_groups, product
from training.network import encoder, finish_psi, first_kernel, parts_of, tf
from training.sparse_loop import distinct_pairs, without_empty_columns


@pytest.mark.parametrize(
    "detector", [PReNet(), DSAD(), PReNet(variant="A2H")], ids=["hidden layer", "no bias", "three layers"]
)
def test_psi_is_one_function(detector):
    """As a Keras model, on products of either loop, and in numpy on dense and on CSR rows."""
    rng = np.random.default_rng(0)
    psi = detector.build(9, seed=0).get_layer("psi")
    psi.set_weights([weights + rng.normal(0, 0.3, weights.shape) for weights in psi.get_weights()])
    rows = rng.normal(0, 1, (40, 9)).astype(np.float32)
    rows[:, [2, 5]] = 0
    expected = psi(rows).numpy()
    columns, narrow_rows = without_empty_columns(sparse.csr_matrix(rows))
    others = {
        "dense loop": finish_psi(psi, tf.function(product, jit_compile=True)(rows, first_kernel(psi))),
        "sparse loop": finish_psi(psi, tf.constant(narrow_rows @ first_kernel(psi).numpy()[columns])),
        "numpy": encoder(psi)(rows),
        "numpy, CSR": encoder(psi)(sparse.csr_matrix(rows)),
    }
    assert 0.2 < (expected > 0).mean() < 0.9
    for codes in others.values():
        np.testing.assert_allclose(codes, expected, atol=1e-5)


def test_parts_of_a_network():
    """psi is a part if a row's code serves all its places, which needs weights and no dropout."""
    for detector in (PReNet(), PReNet(variant="NPR"), DevNet(), DSAD()):
        model = detector.build(5, seed=0)
        assert parts_of(model) == (model.get_layer("psi"), model.get_layer("eta"))
    identity, dropout = (PReNet(variant=name).build(5, seed=0) for name in ("LDM", "A2H"))
    assert parts_of(identity) == (None, identity.get_layer("eta"))
    assert parts_of(dropout) == (None, dropout)
    for model in (FEAWAD().build(5, seed=0), build_residual(5)):
        assert parts_of(model) == (None, model)


@pytest.mark.parametrize("positions, n_shared", [(np.array([90, 91]), 2), (np.arange(90, 99), 0)])
def test_distinct_rows_stand_where_the_layout_says(positions, n_shared):
    """Two anomalies, of which a batch draws three, are shared by all batches; nine are not."""
    batches = Batches(
        unlabeled=np.array([[10, 11], [12, 10]]),
        anomalies=np.array([[0, 1, 1], [1, 0, 0]]),
        layout=np.array([[0, 1, 2], [2, 3, 4]]),
        targets=np.zeros(3),
    )
    shared, drawn, places = batches.distinct_rows(positions)
    assert len(shared) == n_shared and drawn.shape == (2, 5 - 3 * (n_shared > 0))
    standing = [np.append(rows, shared)[numbers] for rows, numbers in zip(drawn, places)]
    np.testing.assert_array_equal(standing[0], [[10, 11, 90], [90, 91, 91]])
    np.testing.assert_array_equal(standing[1], [[12, 10, 91], [91, 90, 90]])


def test_numbered_groups():
    assert [group.tolist() for group in numbered_groups(2, 0, 3)] == [[0, 1], [], [2, 3, 4]]


def test_distinct_pairs():
    first, second, numbers = distinct_pairs(np.float32([0.5, -1, 0.5, 0.5]), np.float32([2, 3, 1, 2]))
    assert (first.tolist(), second.tolist(), numbers.tolist()) == ([-1, 0.5, 0.5], [3, 1, 2], [2, 0, 1, 2])
    assert first.dtype == np.float32
