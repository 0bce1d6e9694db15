"""A saved model scores without TensorFlow, and to the last bit as the detector in memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from event_tables import events, model_of_events, typed_events
from toys import not_compiled

from weakly.methods import METHODS, make_detector
from weakly.own_data import models
from weakly.own_data.models import SAVED_METHODS, load_model, save_model
from weakly.running.processes import ONE_THREAD
from weakly.training import keras_detector

ROOT = Path(__file__).resolve().parent.parent.parent
LITTLE_TRAINING = {"epochs": 1, "batches_per_epoch": 1, "batch_size": 8, "pretraining_epochs": 1}

SCRIPT = """
import json, sys, numpy as np
from event_tables import events, typed_events
from weakly.own_data.models import load_model
modules, table = {}, typed_events(events())
for path in sys.argv[1:]:
    model = load_model(path)
    scores = model.scored(table)
    model.reasons(table[:3], scores[:3])
    np.save(path + ".npy", scores)
    heavy = ("tensorflow", "keras", "matplotlib", "xgboost", "catboost")
    modules[model.about["method"]] = [name for name in heavy if name in sys.modules]
print(json.dumps(modules))
"""


def little_trained(method, **settings):
    """A detector that is fitted in a moment; what it has learned plays no part here."""
    detector = make_detector(method, **settings)
    known = detector.get_params()
    return detector.set_params(**{name: n for name, n in LITTLE_TRAINING.items() if name in known})


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Models of all methods, saved with the usual settings, and their scores: in memory, in a new process."""
    folder, table, in_memory = tmp_path_factory.mktemp("models"), typed_events(events()), {}
    with pytest.MonkeyPatch.context() as patch, not_compiled():
        patch.setattr(models, "make_detector", little_trained)
        patch.setattr("xgbod.FOREST_TREES", (2, 3))
        for method in SAVED_METHODS:
            model = model_of_events(method)
            usual = {name: getattr(make_detector(method), name, None) for name in LITTLE_TRAINING}
            detector = model.pipeline[-1]
            own = detector.get_params()
            detector.set_params(**{name: value for name, value in usual.items() if name in own})
            save_model(folder / method, model)
            in_memory[method] = model.scored(table)
    keras_detector._compiled_trainer.cache_clear()  # nothing of this for the tests of other files
    trees_last = sorted(SAVED_METHODS, key=lambda method: METHODS[method].is_tree)
    paths = [str(folder / method) for method in trees_last]
    # with the variables that this process started with: OPENBLAS_CORETYPE and threads change the last bits;
    # a test of drivers before this one may have set ONE_THREAD for its workers
    started_with = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    environment = started_with | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    modules = json.loads(subprocess.check_output([sys.executable, "-c", SCRIPT, *paths], env=environment))
    return folder, in_memory, modules


@pytest.mark.parametrize("method", SAVED_METHODS)
def test_a_saved_model_scores_without_tensorflow_and_to_the_last_bit(saved, method):
    folder, in_memory, modules = saved
    libraries = {"xgboost", "catboost"} if METHODS[method].is_tree else set()  # in the order of the script
    assert set(modules[method]) <= libraries
    np.testing.assert_array_equal(np.load(folder / f"{method}.npy"), in_memory[method])
    assert np.ptp(in_memory[method]) > 0


def test_a_loaded_network_can_still_be_had_as_a_keras_model(saved):
    folder, _, _ = saved
    model = load_model(folder / "devnet")
    table = typed_events(events())
    X = model.pipeline[:-1].transform(table)
    np.testing.assert_allclose(model.pipeline[-1].model_(X).numpy(), model.scored(table), atol=1e-5)
