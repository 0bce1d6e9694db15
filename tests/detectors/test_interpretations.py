"""The interpretations: each changes what it says and nothing else."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from toys import two_clusters

from fsnet import FSNet
from weakly.methods import METHODS, make_detector, method_group

INTERPRETATIONS = method_group("interpretation")
OUTSIDE = method_group("outside")  # as another implementation has it, for the cross-check
ONE_CHANGE = [name for name in (*INTERPRETATIONS, *OUTSIDE) if name != "dsad-adgym"]


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


@pytest.mark.parametrize("name, score", [("fsnet", 9 - 1), ("fsnet-anomalies", -1), ("fsnet-unlabelled", 9)])
def test_scores_of_a_code(name, score):
    """Prototypes (0, 0) and (2, 0), code (3, 0): d_u = 9, d_a = 1."""
    detector = make_detector(name)
    detector.unlabeled_prototype_, detector.anomaly_prototype_ = np.zeros(2), np.array([2.0, 0.0])
    assert detector._score_codes(np.array([[3.0, 0.0]])).tolist() == [score]


def test_five_rows_of_a_class_are_all_that_is_learned_from(monkeypatch):
    seen = []
    monkeypatch.setattr(FSNet, "_fit", lambda self, X, *rows: seen.append([set(part) for part in rows[:2]]))
    for seed in (0, 0, 1):
        detector = make_detector("fsnet-5-rows", random_state=seed)
        detector.fit_rows(np.zeros((2000, 2), np.float32), np.arange(1000, 1900), np.arange(50, 53))
    assert [[*map(len, parts)] for parts in seen] == [[5, 3]] * 3 and seen[0] == seen[1] != seen[2]
    assert seen[0][0] <= {*range(1000, 1900)} and seen[0][1] == {50, 51, 52}


# ---------------------------------------------------------------------------- Deep SAD as in ADGym


def test_adgyms_network():
    """Linear layers D-100-20-10 without bias, batch normalisation and leaky ReLU between them."""
    detector = make_detector("dsad-adgym")
    model = detector.build(6, seed=0)
    kernels = [weights.numpy() for weights in model.collected("trainable_variables")]
    assert [kernel.shape for kernel in kernels] == [(6, 100), (100, 20), (20, 10)]
    assert len(model.get_weights()) == 3 + 2 * 2
    decay = 1e-6 / 2 * sum(float(np.square(kernel).sum()) for kernel in kernels)
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
    codes = detector.model_(X_new).numpy().astype(np.float64)
    np.testing.assert_allclose(scores, np.square(codes - detector.centre_).sum(axis=1), rtol=1e-4)
