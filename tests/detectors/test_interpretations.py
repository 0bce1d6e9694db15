"""The interpretations: each changes what it says and nothing else."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from toys import two_clusters

import experiments
from devnet import DevNet
from fsnet import FSNet
from weakly.beyond import interpretations
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
    assert base.group in ("table", "appendix", "ablation") and isinstance(detector, type(usual))
    assert not set(changed) & set(dict(base.settings))
    assert dict(method.settings) == dict(base.settings) | changed
    assert changed or method.module == "weakly.beyond.interpretations" and type(detector) is not type(usual)
    assert len(changed) < 2 or name == "dsad-autoencoder-plain"
    assert method.column.startswith(f"{base.column}, ")
    assert len(method.column) < 33  # the width of its columns in compare.py
    assert "_" not in name


def test_no_two_interpretations_are_the_same_and_none_is_forgotten():
    kinds = [(METHODS[name].class_name, METHODS[name].settings) for name in INTERPRETATIONS]
    assert len(set(kinds)) == len(kinds)
    assert len({method.column for method in METHODS.values()}) == len(METHODS)
    known = {method.class_name for method in METHODS.values() if method.module == interpretations.__name__}
    own = [part for part in vars(interpretations).values() if hasattr(part, "fit")]
    assert known == {part.__name__ for part in own if part.__module__ == interpretations.__name__}


def test_interpretations_are_a_group():
    assert experiments.method_names("interpretations") == INTERPRETATIONS
    assert experiments.method_names("dsad-hinge,prenet") == ["dsad-hinge", "prenet"]
    parser = experiments.make_parser()
    (own,) = experiments.complete_all(parser.parse_args(["interpretations"]))
    assert own.methods == INTERPRETATIONS
    everything = experiments.complete_all(parser.parse_args(["all"]))
    assert "interpretations" not in [args.experiment for args in everything]


def test_from_the_command_line(runs_here, tmp_path, capsys):
    command = "interpretations --demo --methods fsnet-anomalies,devnet-natural --protocol redrawn --offline"
    where = ["--data-dir", str(tmp_path / "data"), "--results-dir", str(tmp_path), "--jobs", "1"]
    assert experiments.main([*command.split(), *where]) == 0
    table = pd.read_csv(tmp_path / "interpretations_redrawn_synthetic.csv")
    assert {"auc_pr_fsnet-anomalies", "auc_pr_devnet-natural"} <= set(table) and "auc_pr_fsnet" not in table
    assert "FSNet, score -d_a" in capsys.readouterr().out


@pytest.mark.parametrize("name", [
    "fsnet-5-rows", "devnet-natural", "repen-rmsprop", "repen-none-known", "repen-supervised",
    "prenet-two-layers", "dsad-plain", "dsad-hinge", "dsad-autoencoder", "dsad-linear-code", "dsad-natural",
])  # fmt: skip
def test_orders_two_clusters(name):
    X, _, known = two_clusters()
    X_new, truth_new, _ = two_clusters(seed=1)
    detector = make_detector(name).fit(X, known)
    assert roc_auc_score(truth_new, detector.decision_function(X_new)) > 0.95


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


@pytest.mark.parametrize("name, from_u, known", [
    ("repen", 128, 128), ("repen-all-known", 0, 256), ("repen-none-known", 256, 0),
])  # fmt: skip
def test_known_negatives(name, from_u, known):
    X = np.random.default_rng(0).random((2000, 3)).astype(np.float32)
    X[UNLABELED[:9]] += 5  # the candidates
    batches = batches_of(make_detector(name), 4, X)
    negatives = batches.unlabeled[:, 512:]
    assert batches.layout.shape == (3, 256) and batches.anomalies.shape == (4, known)
    assert negatives.shape == (4, from_u) and set(negatives.ravel()) <= set(UNLABELED[:9])
    assert not np.isin(batches.unlabeled[:, :512], UNLABELED[:9]).any()


def test_supervised_triplets():
    """Negatives are labelled anomalies, all of U serves as the rest: no rows are looked at, X is None."""
    detector = make_detector("repen-supervised")
    batches = batches_of(detector, n_batches=20)
    assert detector.l2 == 0 and batches.unlabeled.shape == (20, 512) and batches.anomalies.shape == (20, 256)
    assert set(batches.unlabeled.ravel()) == set(UNLABELED)
    assert set(batches.anomalies.ravel()) == set(range(len(ANOMALIES)))
    assert (batches.unlabeled[:, :256] != batches.unlabeled[:, 256:]).all()
    np.testing.assert_array_equal(batches.layout.ravel(), np.arange(768))
    np.testing.assert_array_equal(batches.targets, np.full(256, detector.margin))


# ---------------------------------------------------------------------------- Deep SAD as in ADGym


def test_adgyms_passes_over_all_rows():
    """900 + 100 rows make 7 batches of 128 in an epoch; no row is in an epoch twice."""
    detector = make_detector("dsad-adgym", epochs=6)
    batches = batches_of(detector)
    assert batches.unlabeled.shape == (42, 128)
    for epoch in batches.unlabeled.reshape(6, -1):
        assert len(set(epoch)) == 7 * 128 and set(epoch) <= {*UNLABELED, *ANOMALIES}
    np.testing.assert_array_equal(batches.targets, np.isin(batches.unlabeled, ANOMALIES))
    # over some epochs everyone gets a turn; fewer rows than a batch has are one batch
    assert set(batches.unlabeled.ravel()) == {*UNLABELED, *ANOMALIES}
    few = detector.sample_batches(None, UNLABELED[:20], ANOMALIES[:5], 1, np.random.default_rng(0))
    assert few.unlabeled.shape == (6, 25) and (few.targets.sum(axis=1) == 5).all()


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
    others = detector.model_.collected("non_trainable_variables")
    moving = [variable.numpy() for variable in others if "moving" in variable.name]
    assert len(moving) == 4 and all(np.abs(values).max() > 0.01 for values in moving)
    np.testing.assert_allclose(detector.decision_function(X_new[:3]), scores[:3], rtol=1e-4)
    codes = detector.model_(X_new).numpy().astype(np.float64)
    np.testing.assert_allclose(scores, np.square(codes - detector.centre_).sum(axis=1), rtol=1e-4)


# ---------------------------------------------------------------------------- natural labels


@pytest.mark.parametrize("name", ["devnet-natural", "dsad-natural"])
def test_natural_labels(name):
    batches = batches_of(make_detector(name))
    np.testing.assert_array_equal(batches.targets, np.isin(batches.unlabeled, ANOMALIES))
    assert batches.targets.mean() == pytest.approx(100 / 1000, abs=0.005)
    assert set(batches.unlabeled.ravel()) == {*UNLABELED, *ANOMALIES}


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
