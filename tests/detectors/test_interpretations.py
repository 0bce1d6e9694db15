"""The interpretations: each changes what it says and nothing else."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from toys import two_clusters

import experiments
from devnet import DevNet
from fsnet import FSNet
from weakly.methods import METHODS, make_detector, method_group
from weakly.training.batches import sample_balanced
from weakly.training.loop import Trainer

INTERPRETATIONS = method_group("interpretation")
OUTSIDE = method_group("outside")  # as another implementation has it, for the cross-check
UNLABELED, ANOMALIES = np.arange(1000, 1900), np.arange(50, 150)  # positions in some data
ONE_CHANGE = [
    name for name in (*INTERPRETATIONS, *OUTSIDE) if name != "dsad-adgym"
]  # which changes all at once


def batches_of(detector, n_batches=200, X=None):
    return detector.sample_batches(X, UNLABELED, ANOMALIES, n_batches, np.random.default_rng(0))


# ---------------------------------------------------------------------------- the table of methods


@pytest.mark.parametrize("name", ONE_CHANGE)
def test_an_interpretation_has_one_change(name):
    """One setting of its own, or a class of its own; an interpretation of a variant keeps the variant."""
    method, detector = METHODS[name], make_detector(name)
    base, usual = METHODS[method.interpretation_of], make_detector(method.interpretation_of)
    usual_params = usual.get_params()
    changed = {key: value for key, value in detector.get_params().items() if value != usual_params[key]}
    assert isinstance(detector, type(usual)) and not set(changed) & set(dict(base.settings))
    assert dict(method.settings) == dict(base.settings) | changed
    assert changed or method.module == "weakly.beyond.interpretations" and type(detector) is not type(usual)
    assert len(changed) < 2 or name == "dsad-autoencoder-plain"
    assert method.column.startswith(f"{base.column}, ")
    assert len(method.column) < 33  # the width of its columns in compare.py


def test_interpretations_differ_and_are_a_group_of_their_own():
    kinds = [(METHODS[name].class_name, METHODS[name].settings) for name in INTERPRETATIONS]
    assert len(set(kinds)) == len(kinds)
    assert len({method.column for method in METHODS.values()}) == len(METHODS)
    parser = experiments.make_parser()
    (own,) = experiments.complete_all(parser.parse_args(["interpretations"]))
    assert own.methods == INTERPRETATIONS
    everything = experiments.complete_all(parser.parse_args(["all"]))
    assert "interpretations" not in [args.experiment for args in everything]


# ---------------------------------------------------------------------------- FSNet and REPEN


@pytest.mark.parametrize("name, score", [("fsnet", 9 - 1), ("fsnet-anomalies", -1), ("fsnet-unlabelled", 9)])
def test_scores_of_a_code(name, score):
    """Prototypes (0, 0) and (2, 0), code (3, 0): d_u = 9, d_a = 1."""
    detector = make_detector(name)
    detector.unlabeled_prototype_, detector.anomaly_prototype_ = np.zeros(2), np.array([2.0, 0.0])
    assert detector._score_codes(np.array([[3.0, 0.0]])).tolist() == [score]


@pytest.mark.parametrize("n_anomalies, kept", [(20, 5), (3, 3)])
def test_five_rows_are_all_that_is_learned_from(monkeypatch, n_anomalies, kept):
    seen, anomalies = [], ANOMALIES[:n_anomalies]
    monkeypatch.setattr(FSNet, "_fit", lambda self, X, *rows: seen.append([set(part) for part in rows[:2]]))
    for seed in (0, 0, 1):
        detector = make_detector("fsnet-5-rows", random_state=seed)
        detector.fit_rows(np.zeros((2000, 2), np.float32), UNLABELED, anomalies)
    assert [[*map(len, parts)] for parts in seen] == [[5, kept]] * 3 and seen[0] == seen[1] != seen[2]
    assert seen[0][0] <= set(UNLABELED) and seen[0][1] <= set(anomalies)


# ---------------------------------------------------------------------------- Deep SAD as in ADGym


def test_adgyms_network():
    """Linear layers D-100-20-10 without bias, batch normalisation and leaky ReLU between them."""
    detector = make_detector("dsad-adgym")
    model = detector.build(6, seed=0)
    kernels = [weights.numpy() for weights in model.collected("trainable_variables")]
    assert [kernel.shape for kernel in kernels] == [(6, 100), (100, 20), (20, 10)]
    assert len(model.get_weights()) == 3 + 2 * 2
    squares = sum(float(np.square(kernel).sum()) for kernel in kernels)
    decay = 1e-6 / 2 * squares
    assert float(sum(model.collected("losses"))) == pytest.approx(decay, rel=1e-5)
    rows = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    values = rows @ kernels[0]
    for kernel in kernels[1:]:
        values = values / np.sqrt(1 + 1e-4)  # nothing seen yet: mean 0, variance 1
        values = np.maximum(values, 0.01 * values) @ kernel
    np.testing.assert_allclose(model(rows), values, atol=1e-5)
    assert detector.keeps_last and not detector.pretrain


def test_adgyms_deep_sad_orders_two_clusters():
    X, _, known = two_clusters()
    X_new, truth_new, _ = two_clusters(seed=1)
    detector = make_detector("dsad-adgym", learning_rate=1e-3, epochs=20).fit(X, known)
    scores = detector.decision_function(X_new)
    assert roc_auc_score(truth_new, scores) > 0.95
    # the normalisation has learned from the batches, and a row's score is its own
    np.testing.assert_allclose(detector.decision_function(X_new[:3]), scores[:3], rtol=1e-4)
    codes = detector.model_(X_new).numpy().astype(np.float64)
    np.testing.assert_allclose(scores, np.square(codes - detector.centre_).sum(axis=1), rtol=1e-4)


# ---------------------------------------------------------------------------- natural labels


def test_a_batch_has_its_own_targets():
    """Two epochs of two steps without learning.

    An epoch's loss is the mean of its two batches', each with its labels.
    """
    rng, detector = np.random.default_rng(0), DevNet(l2=0.0, learning_rate=0.0)
    X, anomalies = rng.random((300, 4)).astype(np.float32), np.arange(20)
    model = detector.build(4, seed=0)
    trainer = Trainer(detector.build(4, seed=1), detector.loss, detector.optimizer())
    batches = sample_balanced(np.arange(20, 300), 20, 4, 16, rng)
    own = batches._replace(targets=rng.integers(2, size=(4, 16)))
    same = batches._replace(targets=np.tile(batches.targets, (4, 1)))
    losses, of_same, of_shared = (
        trainer.fit(X, anomalies, one, 2, model.get_state(), (0.0, 1.0))[1] for one in (own, same, batches)
    )
    scores = model(X).numpy()[np.hstack([batches.unlabeled, anomalies[batches.anomalies]])]
    expected = np.where(own.targets, np.maximum(5 - scores, 0), np.abs(scores)).mean(axis=1)
    np.testing.assert_allclose(losses, expected.reshape(2, 2).mean(axis=1), rtol=1e-5)
    assert of_same == pytest.approx(of_shared, rel=1e-6)
