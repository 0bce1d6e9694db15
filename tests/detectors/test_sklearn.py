"""The detectors as a library: scikit-learn's checks, pipelines, DataFrames, CSR, predict, pickles, output."""

import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from toys import not_compiled, two_clusters

from iforest_baseline import IForest
from prenet import PReNet
from weakly.methods import make_detector, method_group
from weakly.training import keras_detector
from weakly.training.keras_detector import KerasDetector
from weakly.training.network import tf

SMALL = {"epochs": 2, "batches_per_epoch": 1, "batch_size": 8}
SETTINGS = {  # of those that have others
    "iforest": {"n_trees": 10},
    "xgboost": {},
    "xgbod": {"n_estimators": 3, "svm_rows": 20},
    "feawad": SMALL | {"pretraining_epochs": 2, "encoder": (2,), "scorer": (2,), "optimizer_name": "rmsprop"},
}
# of those of the experiment today, one with trees; the networks among them are Keras models as the others are
DETECTORS = [*method_group("table", "appendix"), "xgboost"]
# method by method, so that its graph is compiled once: only a few are kept
EACH = pytest.mark.parametrize("name", DETECTORS, scope="module")

# Where scikit-learn's checks ask for what a detector that learns from labelled anomalies does not do, and the
# test below that guards what the check is about.
EXCEPTIONS = {
    "check_outliers_train": "fits without y, and expects predict to give 1 for normal rows and -1 for "
    "outliers: here it needs labelled anomalies, except for IForest, a higher score is more anomalous, and "
    "predict gives 0 and 1, as in PyOD (test_predict_*, test_without_y)",
    "check_outliers_fit_predict": "as check_outliers_train (test_fit_predict_and_score)",
    "check_estimators_dtypes": "has labels 1 and 2, which are refused (test_types_of_rows_and_labels)",
    "check_classifier_data_not_an_array": "has labels 1 and 2, as check_estimators_dtypes",
    "check_fit2d_1feature": "has labels 1 and 2, which are refused (test_one_feature_is_enough)",
}
# These pass or not, as network and processor have it.
ROUNDING = {
    "check_methods_subset_invariance": "networks score in float32, where a row alone is rounded otherwise "
    "than one among others "
    "(test_scores_depend_on_the_row_alone)",
    "check_methods_sample_order_invariance": "as check_methods_subset_invariance",
}


def small_detector(name, **settings):
    return make_detector(name, **SETTINGS.get(name, SMALL) | settings)


def exceptions(detector):
    return EXCEPTIONS | ROUNDING if isinstance(detector, KerasDetector) else EXCEPTIONS


@pytest.fixture(autouse=True, scope="module")
def quick():
    """The same steps, not compiled: that takes a second for each new shape of rows. XGBOD with few trees."""
    with pytest.MonkeyPatch.context() as patch, not_compiled():
        patch.setattr("xgbod.FOREST_TREES", (2, 3))
        yield
    keras_detector._compiled_trainer.cache_clear()  # nothing of this for the tests of other files


@pytest.fixture
def frame():
    X, _, known = two_clusters()
    return pd.DataFrame(X, columns=["a", "b", "c", "d", "e", "f"]), known


@parametrize_with_checks([small_detector(name) for name in DETECTORS], expected_failed_checks=exceptions)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------------- not covered by the checks


@EACH
def test_types_of_rows_and_labels(name):
    X, _, known = two_clusters()
    X = np.round(100 * X).astype(np.float32)
    wanted = small_detector(name).fit(X, known).decision_function(X)
    others = (
        (X.astype(int), known.astype(bool)),
        (X.tolist(), known.tolist()),
        (pd.DataFrame(X), pd.Series(known, dtype="Int64")),
    )
    for rows, labels in others:
        np.testing.assert_array_equal(small_detector(name).fit(rows, labels).decision_function(rows), wanted)


@EACH
def test_scores_depend_on_the_row_alone(name):
    X, _, known = two_clusters()
    detector = small_detector(name).fit(X, known)
    together = detector.decision_function(X)
    alone = [detector.decision_function(X[i : i + 1])[0] for i in range(0, len(X), 30)]
    np.testing.assert_allclose(alone, together[::30], rtol=1e-4, atol=1e-5 * np.ptp(together))


@pytest.mark.parametrize(
    "labels",
    [
        ["anomaly", "normal"],
        [1, 2],
        [-1, 1],
        [0, np.nan],
        pd.array([1, pd.NA], "Int64"),
        [[0, 1], [1, 0]],
    ],
)
def test_other_labels_are_refused(labels):
    with pytest.raises(ValueError, match="1 .labelled anomaly. and 0 .unlabelled|1d array"):
        IForest().fit(np.zeros((2, 3)), labels)


@EACH
def test_without_y(name):
    X, truth, known = two_clusters()
    if name == "iforest":
        wanted = IForest(n_trees=10).fit(X, np.zeros(len(X))).decision_function(X)
        np.testing.assert_array_equal(IForest(n_trees=10).fit(X).decision_function(X), wanted)
        return
    for fit in (
        lambda detector: detector.fit(X),
        lambda detector: make_pipeline(MinMaxScaler(), detector).fit(X),
    ):
        with pytest.raises(
            ValueError, match="requires y to be passed.*learns from labelled anomalies .1. and"
        ):
            fit(small_detector(name))


def test_fit_predict_and_score():
    X, truth, known = two_clusters()
    detector = IForest(n_trees=20)
    np.testing.assert_array_equal(
        detector.fit_predict(X, known), IForest(n_trees=20).fit(X, known).predict(X)
    )
    others = X[:, 0] > 0.4
    assert detector.score(X, others) == average_precision_score(others, detector.decision_function(X)) < 1
    assert detector.score(X, others, 1 + others) > detector.score(X, others)
    by_default, named = (
        cross_val_score(detector, X, truth, cv=StratifiedKFold(2), scoring=scoring)
        for scoring in (None, "average_precision")
    )
    np.testing.assert_array_equal(by_default, named)


def test_weights_of_rows_are_refused():
    X, _, known = two_clusters()
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weight'"):
        IForest().fit(X, known, sample_weight=known + 1.0)


@pytest.mark.parametrize(
    "name, settings, message",
    [
        ("prenet", {"margin": "x"}, "margin must be a number, not 'x'"),
        ("prenet", {"epochs": 2.5}, "epochs must be a whole number, not 2.5"),
        ("prenet", {"hidden_units": (20, "x")}, "hidden_units must be a whole number, not "),
        ("iforest", {"n_trees": None}, "n_trees must be a whole number, not None"),
        ("iforest", {"contamination": "auto"}, "contamination must be a share between 0 and 1, not 'auto'"),
    ],
)
def test_parameters_of_other_types_are_refused(name, settings, message):
    X, _, known = two_clusters()
    with pytest.raises(ValueError, match=message):
        make_detector(name, **settings).fit(X, known)


# ---------------------------------------------------------------------------- predict


@EACH
def test_predict_is_1_above_the_offset(name):
    X, _, known = two_clusters()
    detector = small_detector(name).fit(X, known)
    predicted = detector.predict(X)
    np.testing.assert_array_equal(predicted, detector.decision_function(X) > detector.offset_)
    assert set(predicted) <= {0, 1} and predicted.dtype.kind == "i"
    assert predicted[known == 0].mean() <= 0.1  # PyOD's contamination; less where scores are equal


def test_predict_finds_the_anomalies_that_nobody_labelled():
    tf.config.run_functions_eagerly(False)  # a thousand steps are worth compiling
    X, truth, known = two_clusters()  # 40 of the 640 unlabelled rows
    detector = PReNet().fit(X, known)
    tf.config.run_functions_eagerly(True)
    assert detector.predict(X[truth == 1]).all() and detector.predict(X[truth == 0]).mean() < 0.05
    detector.set_offset(X[known == 0], 40 / 640)
    np.testing.assert_array_equal(detector.predict(X), truth)


def test_predict_does_not_go_by_the_offset_of_another_fit():
    X, _, known = two_clusters()
    detector = IForest().fit(X, known).fit_rows(X, np.flatnonzero(known == 0), np.flatnonzero(known == 1))
    with pytest.raises(NotFittedError, match="call set_offset"):
        detector.predict(X)
    assert detector.set_offset(X, 0.5).predict(X).mean() == pytest.approx(0.5, abs=0.01)
    with pytest.raises(ValueError, match="share between 0 and 1, not 5"):
        detector.set_offset(X, 5)


@pytest.mark.parametrize(
    "factor, label, message", [(1e38, 1, "loss became"), (1, 2, "y must hold")], ids=["training", "labels"]
)
def test_a_second_fit_that_fails_leaves_no_detector_behind(factor, label, message):
    X, _, known = two_clusters()
    detector = PReNet(**SMALL).fit(X, known)
    with pytest.raises(ValueError, match=message):
        detector.fit(X[:, :3] * factor, known * label)
    with pytest.raises(NotFittedError):
        detector.decision_function(X)


# ---------------------------------------------------------------------------- pipelines, DataFrames, CSR


@EACH
def test_pipeline(name, frame):
    X, known = frame
    X = X * [1, 10, 100, 1000, 1, 1]
    pipeline = clone(make_pipeline(MinMaxScaler(), small_detector(name))).fit(X, known)
    scaled = MinMaxScaler().fit_transform(X)
    detector = small_detector(name).fit(scaled, known)
    np.testing.assert_array_equal(pipeline.decision_function(X), detector.decision_function(scaled))
    np.testing.assert_array_equal(pipeline.predict(X), detector.predict(scaled))


def test_cross_validation_scores_by_the_decision_function():
    X, truth, _ = two_clusters()
    pipeline = make_pipeline(MinMaxScaler(), IForest()).set_params(iforest__n_trees=20)
    for scoring in ("average_precision", "roc_auc"):
        assert cross_val_score(pipeline, X, truth, scoring=scoring, cv=StratifiedKFold(2)).min() > 0.9


def test_names_of_columns_are_kept_and_compared(frame):
    X, known = frame
    detector = IForest().fit(X, known)
    assert list(detector.feature_names_in_) == list(X) and detector.n_features_in_ == 6
    with pytest.raises(ValueError, match="feature names should match"):
        detector.decision_function(X[["b", "a", "c", "d", "e", "f"]])


def test_columns_that_are_no_numbers_are_named(frame):
    X, known = frame
    X = X.assign(colour="red", day=pd.Timestamp("2020-01-01"))
    with pytest.raises(ValueError, match="columns that are not of a numeric type: colour, day"):
        IForest().fit(X, known)


@pytest.mark.parametrize("name", ["prenet", "devnet", "iforest"])
def test_sparse_formats(name):
    X, _, known = two_clusters()
    X[X < 0.3] = 0
    wanted = small_detector(name).fit(sparse.csr_matrix(X), known)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        detector = small_detector(name).fit(kind(X), known)
        np.testing.assert_array_equal(
            detector.decision_function(kind(X)), wanted.decision_function(sparse.csr_matrix(X))
        )
        np.testing.assert_array_equal(detector.predict(kind(X)), wanted.predict(sparse.csr_matrix(X)))


# ---------------------------------------------------------------------------- pickles, and what is printed

SCRIPT = """
import sys, joblib, numpy as np
from weakly.methods import make_detector
X, y, scores = np.load(sys.argv[1]).values()
np.testing.assert_allclose(joblib.load(sys.argv[2]).decision_function(X), scores, rtol=1e-6)
for name in ("prenet", "iforest", "xgbod"):
    make_detector(name).fit(X, y).predict(X)
"""


def test_another_process_scores_alike_and_prints_nothing(tmp_path):
    X, _, known = two_clusters()
    detector = PReNet(**SMALL).fit(X, known)
    np.savez(tmp_path / "data.npz", X, known, detector.decision_function(X))
    joblib.dump(detector, tmp_path / "detector.joblib")
    command = [sys.executable, "-c", SCRIPT, tmp_path / "data.npz", tmp_path / "detector.joblib"]
    run = subprocess.run(command, cwd=Path(__file__).parent.parent.parent, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_logger_tells_of_a_fit_if_asked(caplog):
    X, _, known = two_clusters()
    PReNet(**SMALL).fit(X, known)
    assert not caplog.messages
    caplog.set_level("INFO", "prenet")
    detector = PReNet(**SMALL).fit(X, known)
    epochs, rows = caplog.messages
    lowest, best = min(detector.losses_), np.argmin(detector.losses_) + 1
    losses = f"mean loss {detector.losses_[0]:.4g} in the first, lowest {lowest:.4g} in epoch {best}"
    assert epochs == f"PReNet: 2 epochs, {losses}"
    assert rows.startswith("PReNet: 640 unlabelled rows, 20 anomalies, ")
    caplog.clear()
    PReNet(**SMALL).fit(sparse.csr_matrix(X), known)
    assert [message.split(":")[0] for message in caplog.messages] == [
        "epoch 1 of 2",
        "epoch 2 of 2",
        "PReNet",
        "PReNet",
    ]
