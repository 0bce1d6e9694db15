"""The interpretations: each changes what it says and nothing else."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from toys import two_clusters

import experiments
from devnet import DevNet
from fsnet import FSNet
from repen import REPEN
from weakly.beyond import interpretations
from weakly.methods import METHODS, make_detector, method_group
from weakly.training.batches import sample_balanced
from weakly.training.loop import Trainer

INTERPRETATIONS = method_group("interpretation")
OUTSIDE = method_group("outside")  # as another implementation has it, for the cross-check
UNLABELED, ANOMALIES = np.arange(1000, 1900), np.arange(50, 150)  # positions in some data


def batches_of(detector, seed=0, n_batches=200):
    return detector.sample_batches(None, UNLABELED, ANOMALIES, n_batches, np.random.default_rng(seed))


# ---------------------------------------------------------------------------- the table of methods


# dsad-adgym changes all settings at once, in its class
@pytest.mark.parametrize("name", [*INTERPRETATIONS, *(name for name in OUTSIDE if name != "dsad-adgym")])
def test_an_interpretation_has_one_change(name):
    """Settings of its own, or a class of its own; an interpretation of a variant keeps the variant."""
    method, detector = METHODS[name], make_detector(name)
    base, usual = METHODS[method.interpretation_of], make_detector(method.interpretation_of)
    usual_params = usual.get_params()
    changed = {key: value for key, value in detector.get_params().items() if value != usual_params[key]}
    assert base.group in ("table", "appendix", "ablation") and isinstance(detector, type(usual))
    assert not set(changed) & set(dict(base.settings))
    assert dict(method.settings) == dict(base.settings) | changed
    assert changed or method.module == "weakly.beyond.interpretations" and type(detector) is not type(usual)
    assert (
        method.column.startswith(f"{base.column}, ") and len(method.column) < 33
    )  # the width of its columns in compare.py
    assert "_" not in name


def test_interpretations_of_several_settings():
    """All others change one."""
    several = {
        name: set(dict(METHODS[name].settings)) - set(dict(METHODS[METHODS[name].interpretation_of].settings))
        for name in INTERPRETATIONS
    }
    assert {name: changed for name, changed in several.items() if len(changed) > 1} == {
        "dsad-autoencoder-plain": {"pretrain", "distance"},
    }


def test_no_two_interpretations_are_the_same():
    kinds = [(METHODS[name].class_name, METHODS[name].settings) for name in INTERPRETATIONS]
    assert len(set(kinds)) == len(kinds) and len({method.column for method in METHODS.values()}) == len(
        METHODS
    )
    known = {
        METHODS[name].class_name
        for name in [*INTERPRETATIONS, *OUTSIDE]
        if METHODS[name].module == "weakly.beyond.interpretations"
    }
    classes = {
        name
        for name, value in vars(interpretations).items()
        if getattr(value, "__module__", "") == "weakly.beyond.interpretations"
    }
    assert known == {
        name for name in classes if hasattr(getattr(interpretations, name), "fit")
    }  # none is forgotten


# ---------------------------------------------------------------------------- FSNet


@pytest.mark.parametrize(
    "name, score",
    [("fsnet", 9 - 1), ("fsnet-anomalies", -1), ("fsnet-unlabelled", 9), ("fsnet-20-updates", -1)],
)
def test_scores_of_a_code(name, score):
    """Prototypes (0, 0) and (2, 0), code (3, 0): d_u = 9, d_a = 1."""
    detector = make_detector(name)
    detector.unlabeled_prototype_, detector.anomaly_prototype_ = np.zeros(2), np.array([2.0, 0.0])
    assert detector._score_codes(np.array([[3.0, 0.0]])).tolist() == [score]


@pytest.mark.parametrize("n_anomalies, kept", [(20, 5), (3, 3)])
def test_five_rows_are_all_that_is_learned_from(monkeypatch, n_anomalies, kept):
    seen = []
    monkeypatch.setattr(
        FSNet,
        "_fit",
        lambda self, X, unlabeled, anomalies, rng: seen.append((set(unlabeled), set(anomalies))),
    )
    for seed in (0, 0, 1):
        make_detector("fsnet-5-rows", random_state=seed).fit_rows(
            np.zeros((2000, 2), np.float32), UNLABELED, ANOMALIES[:n_anomalies]
        )
    assert [tuple(map(len, parts)) for parts in seen] == [(5, kept)] * 3
    assert seen[0] == seen[1] != seen[2]
    assert seen[0][0] <= set(UNLABELED) and seen[0][1] <= set(ANOMALIES[:n_anomalies])


# ---------------------------------------------------------------------------- REPEN


@pytest.mark.parametrize(
    "name, from_u, known",
    [
        ("repen", 128, 128),
        ("repen-all-known", 0, 256),
        ("repen-none-known", 256, 0),
        ("repen-known-only", 0, 256),
    ],
)
def test_known_negatives(name, from_u, known):
    X = np.random.default_rng(0).random((2000, 3)).astype(np.float32)
    X[UNLABELED[:9]] += 5  # the candidates
    detector = make_detector(name)
    batches = detector.sample_batches(X, UNLABELED, ANOMALIES, 4, np.random.default_rng(0))
    assert isinstance(detector, REPEN) and batches.layout.shape == (3, 256)
    negatives = batches.unlabeled[:, 512:]
    assert negatives.shape == (4, from_u) and set(negatives.ravel()) <= set(UNLABELED[:9])
    assert (
        batches.anomalies.shape == (4, known) and not np.isin(batches.unlabeled[:, :512], UNLABELED[:9]).any()
    )


def test_fallback(monkeypatch):
    """Scores 0, 1, ..., 19, of which none is above 9.5 + 1.7321 * 5.77 = 19.5."""
    monkeypatch.setattr("repen.lesinn", lambda rows, references: rows[:, 0])
    X = np.arange(-50, 150, dtype=np.float32)[:, np.newaxis]
    batches = make_detector("repen").sample_batches(
        X, np.arange(50, 70), np.arange(5), 4, np.random.default_rng(0)
    )
    assert set(batches.unlabeled[:, 512:].ravel()) == {69}


def test_supervised_triplets():
    """Negatives are labelled anomalies, all of U serves as the rest: no rows are looked at, X is None."""
    detector = make_detector("repen-supervised")
    batches = batches_of(detector, n_batches=20)
    assert isinstance(detector, REPEN) and detector.l2 == 0
    assert batches.unlabeled.shape == (20, 512) and batches.anomalies.shape == (20, 256)
    assert set(batches.unlabeled.ravel()) == set(UNLABELED)
    assert set(batches.anomalies.ravel()) == set(range(len(ANOMALIES)))
    anchors, positives = batches.unlabeled[:, :256], batches.unlabeled[:, 256:]
    assert (anchors != positives).all()
    np.testing.assert_array_equal(batches.layout.ravel(), np.arange(768))
    np.testing.assert_array_equal(batches.targets, np.full(256, detector.margin))


# ---------------------------------------------------------------------------- Deep SAD as in ADGym


def test_one_thing_of_adgyms_deep_sad():
    linear, layers = make_detector("dsad-linear-code"), make_detector("dsad-three-layers")
    assert linear.code_layer == "linear"
    kernels = [weights.shape for weights in layers.build(6, seed=0).get_weights()]
    assert kernels == [(6, 100), (100, 20), (20, 10)]


def test_adgyms_passes_over_all_rows():
    """900 + 100 rows make 7 batches of 128 in an epoch; no row is in an epoch twice."""
    batches = batches_of(make_detector("dsad-adgym", epochs=6))
    assert batches.unlabeled.shape == (42, 128)
    for epoch in batches.unlabeled.reshape(6, -1):
        assert len(set(epoch)) == 7 * 128 and set(epoch) <= {*UNLABELED, *ANOMALIES}
    np.testing.assert_array_equal(batches.targets, np.isin(batches.unlabeled, ANOMALIES))
    # over some epochs everyone gets a turn; fewer rows than a batch has are one batch
    assert set(batches.unlabeled.ravel()) == {*UNLABELED, *ANOMALIES}
    few = make_detector("dsad-adgym", epochs=2).sample_batches(
        None, UNLABELED[:20], ANOMALIES[:5], 1, np.random.default_rng(0)
    )
    assert few.unlabeled.shape == (2, 25) and (few.targets.sum(axis=1) == 5).all()


def test_adgyms_network():
    """Linear layers D-100-20-10 without bias, batch normalisation and leaky ReLU between them."""
    detector = make_detector("dsad-adgym")
    model = detector.build(6, seed=0)
    shapes = [weights.shape for weights in model.collected("trainable_variables")]
    assert shapes == [(6, 100), (100, 20), (20, 10)] and len(model.get_weights()) == 3 + 2 * 2
    kernels = [weights.numpy() for weights in model.collected("trainable_variables")]
    squares = sum(float(np.square(kernel).sum()) for kernel in kernels)
    assert float(sum(model.collected("losses"))) == pytest.approx(
        1e-6 / 2 * squares, rel=1e-5
    )  # weight decay 1e-6
    rows = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    values = rows @ kernels[0]
    for kernel in kernels[1:]:
        values = values / np.sqrt(1 + 1e-4)  # nothing seen yet: mean 0, variance 1
        values = np.maximum(values, 0.01 * values) @ kernel
    np.testing.assert_allclose(model(rows), values, atol=1e-5)
    optimizer = detector.optimizer()
    assert type(optimizer).__name__ == "Adam" and float(optimizer.learning_rate) == pytest.approx(1e-4)
    assert detector.keeps_last and not detector.pretrain


def test_adgyms_deep_sad_orders_two_clusters():
    X, _, known = two_clusters()
    X_new, truth_new, _ = two_clusters(seed=1)
    detector = make_detector("dsad-adgym", learning_rate=1e-3, epochs=20).fit(X, known)
    scores = detector.decision_function(X_new)
    assert roc_auc_score(truth_new, scores) > 0.95
    # the normalisation has learned from the batches, and a row's score is its own
    moving = [
        variable
        for variable in detector.model_.collected("non_trainable_variables")
        if "moving" in variable.name
    ]
    assert len(moving) == 4 and all(np.abs(mean.numpy()).max() > 0.01 for mean in moving)
    np.testing.assert_allclose(detector.decision_function(X_new[:3]), scores[:3], rtol=1e-4)
    codes = detector.model_(X_new).numpy().astype(np.float64)
    np.testing.assert_allclose(scores, np.square(codes - detector.centre_).sum(axis=1), rtol=1e-4)


# ---------------------------------------------------------------------------- PReNet and DevNet


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
    rng = np.random.default_rng(0)
    X, anomalies, detector = (
        rng.random((300, 4)).astype(np.float32),
        np.arange(20),
        DevNet(l2=0.0, learning_rate=0.0),
    )
    model = detector.build(4, seed=0)
    trainer = Trainer(detector.build(4, seed=1), detector.loss, detector.optimizer())
    batches = sample_balanced(np.arange(20, 300), 20, 4, 16, rng)
    targets = rng.integers(2, size=(4, 16))
    losses = trainer.fit(X, anomalies, batches._replace(targets=targets), 2, model.get_state(), (0.0, 1.0))[1]
    scores = model(X).numpy()[np.hstack([batches.unlabeled, anomalies[batches.anomalies]])]
    expected = np.where(targets, np.maximum(5 - scores, 0), np.abs(scores)).mean(axis=1)
    np.testing.assert_allclose(losses, expected.reshape(2, 2).mean(axis=1), rtol=1e-5)
    same = batches._replace(targets=np.tile(batches.targets, (4, 1)))
    assert trainer.fit(X, anomalies, same, 2, model.get_state(), (0.0, 1.0))[1] == pytest.approx(
        trainer.fit(X, anomalies, batches, 2, model.get_state(), (0.0, 1.0))[1], rel=1e-6
    )


@pytest.mark.parametrize(
    "name",
    ["fsnet-anomalies", "fsnet-5-rows", "cfsnet-balanced", "devnet-natural", "repen-all-known"]
    + ["repen-none-known", "prenet-two-layers"]
    + ["dsad-natural", "dsad-three-layers", "repen-supervised"],
)
def test_orders_two_clusters(name):
    X, _, known = two_clusters()
    X_new, truth_new, _ = two_clusters(seed=1)
    detector = make_detector(name).fit(X, known)
    assert roc_auc_score(truth_new, detector.decision_function(X_new)) > 0.95


# ---------------------------------------------------------------------------- the experiment


def test_interpretations_are_a_group(capsys):
    assert experiments.method_names("interpretations") == INTERPRETATIONS and experiments.method_names(
        "dsad-hinge,prenet"
    ) == ["dsad-hinge", "prenet"]
    with pytest.raises(SystemExit):
        experiments.main(["--help"])
    out = capsys.readouterr().out
    assert "interpretations" in out and not any(name in out for name in INTERPRETATIONS)
    parser = experiments.make_parser()
    (own,) = experiments.complete_all(parser.parse_args(["interpretations"]))
    assert own.methods == INTERPRETATIONS
    everything = experiments.complete_all(parser.parse_args(["all"]))
    assert "interpretations" not in [args.experiment for args in everything]


def test_from_the_command_line(runs_here, tmp_path, capsys):
    where = ["--offline", "--data-dir", str(tmp_path / "data"), "--results-dir", str(tmp_path), "--jobs", "1"]
    assert (
        experiments.main(
            [
                "interpretations",
                "--demo",
                "--methods",
                "fsnet-anomalies,devnet-natural",
                "--protocol",
                "redrawn",
                *where,
            ]
        )
        == 0
    )
    table = pd.read_csv(tmp_path / "interpretations_redrawn_synthetic.csv")
    assert {"auc_pr_fsnet-anomalies", "auc_pr_devnet-natural"} <= set(table) and "auc_pr_fsnet" not in table
    assert "FSNet, score -d_a" in capsys.readouterr().out
