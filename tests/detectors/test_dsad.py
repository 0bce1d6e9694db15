"""Deep SAD: loss, centre and pre-training by hand-computed values, and the collapse it must notice."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from toys import two_clusters

import dsad
from dsad import (
    DSAD,
    build_dsad,
    build_residual,
    centre_distance,
    centre_of,
    deep_sad_loss,
    is_collapsed,
    reconstruction_loss,
)
from weakly.training.network import tf

VARIANTS = [
    {},
    {"distance": "plain"},
    {"anomaly_term": "hinge"},
    {"pretrain": True},
    {"code_layer": "linear"},
]
FEW_STEPS = {"epochs": 2, "batches_per_epoch": 5}
VARIANT_NAMES = ["default", "plain", "hinge", "pretrain", "linear"]


# ---------------------------------------------------------------------------- loss and centre


def test_distance_by_hand():
    codes, centre = tf.constant([[1.0, 2.0], [4.0, 6.0], [1.0, 0.0]]), tf.constant([1.0, 2.0])
    np.testing.assert_allclose(centre_distance(codes, centre), [0, 25, 4])
    np.testing.assert_allclose(centre_distance(codes, centre, "plain"), [0, 5, 2], atol=1e-5)


def test_gradient_of_the_plain_distance_is_finite_at_the_centre():
    codes = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        value = centre_distance(codes, tf.constant([1.0, 2.0]), "plain")
    assert np.isfinite(tape.gradient(value, codes).numpy()).all()


@pytest.mark.parametrize(
    "eta, anomaly_term, expected",
    [
        (1.0, "inverse", (3 + 0.5 + 2 + 0.25) / 4),
        (3.0, "inverse", (3 + 0.5 + 3 * 2 + 3 * 0.25) / 4),
        (1.0, "hinge", (3 + 0.5 + 0.5 + 0) / 4),
        (3.0, "hinge", (3 + 0.5 + 3 * 0.5 + 0) / 4),
    ],
)
def test_loss_by_hand(eta, anomaly_term, expected):
    """Unlabelled rows at distances 3 and 0.5 cost just that.

    Anomalies at 0.5 and 4 cost 2 and 1/4, or 0.5 and 0.
    """
    labels, distances = tf.constant([0.0, 0.0, 1.0, 1.0]), tf.constant([3.0, 0.5, 0.5, 4.0])
    assert float(deep_sad_loss(labels, distances, eta, anomaly_term)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("anomaly_term, slope", [("inverse", -4.0), ("hinge", -1.0)])
def test_flipping_one_label_changes_only_that_gradient(anomaly_term, slope):
    """At d = 1/2 an unlabelled row is pulled in with slope 1, an anomaly pushed out with -1/d^2 or -1."""

    def gradient(labels):
        distances = tf.Variable([0.5, 0.5, 0.5])
        with tf.GradientTape() as tape:
            value = deep_sad_loss(tf.constant(labels), distances, 1.0, anomaly_term)
        return tape.gradient(value, distances).numpy()

    np.testing.assert_allclose(gradient([0.0, 1.0, 0.0]), np.array([1, slope, 1]) / 3, rtol=1e-4)
    np.testing.assert_allclose(gradient([0.0, 1.0, 1.0]), np.array([1, slope, slope]) / 3, rtol=1e-4)


def test_shapes_that_would_broadcast_are_refused():
    with pytest.raises(ValueError, match="same shape"):
        deep_sad_loss(tf.zeros((3, 1)), tf.zeros(3))
    with pytest.raises(ValueError, match="same shape"):
        centre_distance(tf.zeros((3, 2)), tf.zeros((3, 1)))
    with pytest.raises(ValueError, match="same shape"):
        centre_distance(tf.zeros((3, 2)), tf.zeros(1))


def test_centre_keeps_away_from_zero():
    codes = [[0.0, 0.5, 0.02, -0.3, -0.1, 0.1], [0.0, 1.5, 0.06, 0.2, -0.9, 0.1]]
    np.testing.assert_allclose(centre_of(codes), [0.1, 1.0, 0.1, -0.1, -0.5, 0.1])


def test_centre_is_the_mean_initial_code_of_the_unlabelled_rows():
    X, _, known = two_clusters()
    detector = DSAD(epochs=2)
    model = detector.initial_network(X, np.flatnonzero(known == 0), np.flatnonzero(known == 1), seed=5)
    (centre,) = detector.loss_constants(
        X, np.flatnonzero(known == 0), np.flatnonzero(known == 1), model, None
    )
    codes = np.maximum(X[known == 0] @ model.get_weights()[0], 0)
    np.testing.assert_allclose(centre, np.maximum(codes.mean(axis=0), 0.1), rtol=1e-5)
    assert (centre > 0.1).any()


# ---------------------------------------------------------------------------- networks and batches


def test_networks_have_no_bias():
    model, residual = build_dsad(7, seed=0), build_residual(7, seed=0)
    assert [weights.shape for weights in model.get_weights()] == [(7, 20)]
    assert [weights.shape for weights in residual.get_weights()] == [(7, 20), (20, 7)]
    x = np.random.default_rng(0).random((3, 7), dtype=np.float32)
    kernel, decoder = residual.get_weights()
    np.testing.assert_allclose(residual(x), x - np.maximum(x @ kernel, 0) @ decoder, atol=1e-5)
    np.testing.assert_allclose(model(x), np.maximum(x @ model.get_weights()[0], 0), atol=1e-5)
    assert not np.asarray(model(np.zeros((1, 7), np.float32))).any()


def test_reconstruction_loss_by_hand():
    assert float(reconstruction_loss(tf.constant([[1.0, 2.0], [0.0, 3.0], [0.0, 0.0]]))) == pytest.approx(
        (5 + 9 + 0) / 3
    )


def test_pretraining_learns_to_reconstruct_the_unlabelled_rows_and_hands_its_encoder_on(monkeypatch):
    trained = []
    original = dsad._Autoencoder._fit
    monkeypatch.setattr(
        dsad._Autoencoder, "_fit", lambda self, *arguments: trained.append(self) or original(self, *arguments)
    )
    X, _, known = two_clusters()
    moved = X.copy()
    moved[known == 1] += 5  # the autoencoder does not see labelled anomalies
    unlabeled, anomalies = np.flatnonzero(known == 0), np.flatnonzero(known == 1)
    models = [
        DSAD(pretrain=True, l2=0.001).initial_network(rows, unlabeled, anomalies, seed=3)
        for rows in (X, moved)
    ]
    first, second = trained
    assert min(first.losses_) < 0.2 * first.losses_[0]
    np.testing.assert_array_equal(models[0].get_weights()[0], first.model_.get_weights()[0])
    np.testing.assert_array_equal(models[0].get_weights()[0], models[1].get_weights()[0])
    assert np.abs(models[0].get_weights()[0] - DSAD().build(6, seed=3).get_weights()[0]).max() > 0.01


# ---------------------------------------------------------------------------- the detector


@pytest.mark.parametrize(
    "settings", [*VARIANTS, {"pretrain": True, "distance": "plain", "anomaly_term": "hinge"}], ids=str
)
def test_orders_two_clusters(settings):
    X, truth, known = two_clusters()
    X_new, truth_new, _ = two_clusters(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a network that works is not called collapsed
        detector = DSAD(**settings).fit(X, known)
    assert roc_auc_score(truth_new, detector.decision_function(X_new)) > 0.97


@pytest.mark.parametrize("distance", ["squared", "plain"])
def test_score_is_the_distance_to_the_centre(uncompiled, distance):
    X, _, known = two_clusters()
    detector = DSAD(**FEW_STEPS, distance=distance).fit(X, known)
    squared = ((np.maximum(X @ detector.model_.get_weights()[0], 0) - detector.centre_) ** 2).sum(axis=1)
    scores = detector.decision_function(X)
    assert scores.dtype == np.float64 and scores.shape == (len(X),)
    np.testing.assert_allclose(scores, squared if distance == "squared" else np.sqrt(squared), rtol=1e-4)


def test_every_option_reaches_the_training(uncompiled):
    X, _, known = two_clusters()
    variants = [*VARIANTS, {"eta": 5.0}]
    weights = [DSAD(**FEW_STEPS, **settings).fit(X, known).model_.get_weights()[0] for settings in variants]
    for i in range(len(variants)):
        for j in range(i):
            assert np.abs(weights[i] - weights[j]).max() > 1e-4, (variants[i], variants[j])


# ---------------------------------------------------------------------------- collapse


def test_collapse_means_equal_codes_up_to_rounding():
    centre = np.full(3, 0.1)
    varied = np.random.default_rng(0).random((5, 3)).astype(np.float32)
    assert is_collapsed(np.zeros((5, 3), np.float32), centre)
    assert is_collapsed(np.full((5, 3), 7, np.float32) + 1e-6 * varied, centre)
    assert is_collapsed(1e-8 * varied, centre)  # far below what d = ||code - c||^2 resolves
    assert not is_collapsed(varied, centre) and not is_collapsed(1e-3 * varied, centre)
    one_row_differs = np.zeros((5, 3), np.float32)
    one_row_differs[4, 0] = 0.01
    assert not is_collapsed(one_row_differs, centre)


@pytest.mark.parametrize(
    "settings, value", [({}, 0.0), ({}, 0.5), ({"distance": "plain"}, 0.5), ({"pretrain": True}, 0.0)]
)
def test_rows_that_are_all_the_same_are_noticed(uncompiled, settings, value):
    X, known = np.full((50, 4), value, np.float32), np.repeat([0, 1], [40, 10])
    with pytest.warns(RuntimeWarning, match="collapsed: all training rows have the same code"):
        detector = DSAD(**FEW_STEPS, **settings).fit(X, known)
    assert np.isfinite(detector.decision_function(X)).all()


def test_an_encoder_of_zero_weights_is_noticed(uncompiled, monkeypatch):
    """A constant encoder on rows that differ: zero weights stay, as the ReLU passes no gradient at 0."""

    def dead(self, X, unlabeled, anomalies, seed):
        model = self.build(X.shape[1], seed)
        model.set_weights([0 * weights for weights in model.get_weights()])
        return model

    monkeypatch.setattr(DSAD, "initial_network", dead)
    X, _, known = two_clusters()
    with pytest.warns(RuntimeWarning, match="scores do not tell rows apart"):
        detector = DSAD(**FEW_STEPS).fit(X, known)
    np.testing.assert_allclose(
        detector.decision_function(X), 20 * 0.1**2
    )  # all at 0, the centre pushed to 0.1
