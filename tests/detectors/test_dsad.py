"""Deep SAD: centre, network, pre-training and score by hand-computed values."""

import numpy as np
from toys import two_clusters

from dsad import DSAD, _Autoencoder, build_residual, centre_of

FEW_STEPS = {"epochs": 2, "batches_per_epoch": 5}


def test_centre_is_the_mean_initial_code_of_the_unlabelled_rows_and_keeps_away_from_zero():
    codes = [[0.0, 0.5, 0.02, -0.3, -0.1, 0.1], [0.0, 1.5, 0.06, 0.2, -0.9, 0.1]]
    np.testing.assert_allclose(centre_of(codes), [0.1, 1.0, 0.1, -0.1, -0.5, 0.1])
    X, _, known = two_clusters()
    rows, detector = (np.flatnonzero(known == 0), np.flatnonzero(known == 1)), DSAD(epochs=2)
    model = detector.initial_network(X, *rows, seed=5)
    (centre,) = detector.loss_constants(X, *rows, model, None)
    codes = np.maximum(X[known == 0] @ model.get_weights()[0], 0)
    np.testing.assert_allclose(centre, np.maximum(codes.mean(axis=0), 0.1), rtol=1e-5)


def test_the_autoencoder_has_no_bias_and_gives_what_it_misses():
    residual = build_residual(7, seed=0)
    assert [weights.shape for weights in residual.get_weights()] == [(7, 20), (20, 7)]
    x = np.random.default_rng(0).random((3, 7), dtype=np.float32)
    kernel, decoder = residual.get_weights()
    np.testing.assert_allclose(residual(x), x - np.maximum(x @ kernel, 0) @ decoder, atol=1e-5)


def test_pre_training_sees_unlabelled_rows_and_hands_all_layers_on(uncompiled):
    """Of the autoencoder 6-12-8-6 the model gets the first two kernels, which have been trained."""
    X, _, known = two_clusters()
    rows = np.flatnonzero(known == 0), np.flatnonzero(known == 1)
    settings = {"hidden_units": (12, 8), "code_layer": "linear", "l2": 0.0, "learning_rate": 0.01}
    settings |= {"epochs": 4, "batches_per_epoch": 20, "batch_size": 64}
    autoencoder = _Autoencoder(3, **settings)
    *trained, decoder = autoencoder.fit_rows(X, *rows).model_.get_weights()
    assert decoder.shape == (8, 6) and min(autoencoder.losses_) < 0.2 * autoencoder.losses_[0]
    X[known == 1] += 5  # it does not see labelled anomalies
    reached = DSAD(pretrain=True, **settings).initial_network(X, *rows, seed=3).get_weights()
    for kernel, wanted, start in zip(
        reached, trained, DSAD(**settings).build(6, 3).get_weights(), strict=True
    ):
        np.testing.assert_array_equal(kernel, wanted)
        assert np.abs(kernel - start).max() > 1e-3


def test_every_option_reaches_the_training_and_the_plain_distance_the_score(uncompiled):
    X, _, known = two_clusters()
    kernels = []
    for settings in ({}, {"distance": "plain"}, {"anomaly_term": "hinge"}, {"pretrain": True}, {"eta": 5.0}):
        detector = DSAD(**FEW_STEPS, **settings).fit(X, known)
        (kernel,) = detector.model_.get_weights()
        assert all(np.abs(kernel - other).max() > 1e-4 for other in kernels), settings
        kernels.append(kernel)
        if "distance" in settings:
            distances = np.linalg.norm(np.maximum(X @ kernel, 0) - detector.centre_, axis=1)
            np.testing.assert_allclose(detector.decision_function(X), distances, rtol=1e-4)
