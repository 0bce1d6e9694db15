"""What the tests share: the project's modules on the path, the real data sets, and one folder of prepared ones."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data sets that PRENET_DATA names."""
    if not os.environ.get("PRENET_DATA"):
        pytest.skip("PRENET_DATA is not set")
    return Path(os.environ["PRENET_DATA"]).resolve()


@pytest.fixture(scope="session")
def prepared_dir(tmp_path_factory):
    """A data folder for the whole session: a set that one test has prepared there is at hand for the others."""
    return tmp_path_factory.mktemp("dataset")


@pytest.fixture
def double_precision():
    """Keras in float64 for one test: RMSprop magnifies rounding, so that only this shows whether two loops are the same."""
    from training import keras  # TensorFlow, which most tests do without

    for precision in ("float64", "float32"):
        keras.config.set_floatx(precision)
        keras.config.set_dtype_policy(precision)
        if precision == "float64":
            yield
