"""The wheel: what `pip install .` gives, used in an environment that does not have the clone on its path."""

import importlib.metadata
import site
import subprocess
import sys
import zipfile

import pytest
from packaging.requirements import Requirement

from weakly.methods import METHODS
from weakly.paths import ROOT

PIPELINE = """
import joblib, numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
import prenet, weakly

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(3, 1, (300, 4)), rng.normal(8, 1, (20, 4))])
y = np.repeat([0, 1], [300, 20])
pipeline = make_pipeline(MinMaxScaler(), prenet.PReNet(epochs=2, random_state=0)).fit(X, y)
joblib.dump(pipeline, "pipeline.joblib")
scores = joblib.load("pipeline.joblib").decision_function(X)
np.testing.assert_array_equal(scores, pipeline.decision_function(X))
assert scores[y == 1].mean() > scores[y == 0].mean()
print(prenet.__file__, weakly.__file__, sep="\\n")
"""
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def run(*command, **options):
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True, **options).stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the committed and staged files."""
    folder = tmp_path_factory.mktemp("wheel")
    run("git", "checkout-index", "--all", f"--prefix={folder}/source/", cwd=ROOT)
    run(*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, folder / "source")
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_only_the_detectors_and_the_package_with_ranges_that_include_the_pins(wheel):
    names = {name.partition("/")[0].removesuffix(".py") for name in zipfile.ZipFile(wheel).namelist()}
    ours = {name for name in names if not name.endswith(".dist-info")}
    assert ours == {"weakly", *(m.module for m in METHODS.values() if "." not in m.module)}
    (metadata,) = importlib.metadata.distributions(path=[str(wheel)])
    requirements = [Requirement(line) for line in metadata.requires]
    asked = [one for one in requirements if one.marker is None or one.marker.evaluate()]
    assert len(asked) > 5
    for one in asked:
        assert one.specifier.contains(importlib.metadata.version(one.name)), one


@pytest.mark.slow
def test_a_pipeline_and_the_command_in_an_environment_without_the_clone(wheel, tmp_path):
    """Its other packages are those of the tests."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "environment")
    python, detect = (tmp_path / "environment" / "bin" / name for name in ("python", "weakly-detect"))
    (packages,) = tmp_path.glob("environment/lib/python*/site-packages")
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()))
    run(*PIP, "--python", python, "install", "--no-deps", "--no-index", wheel)
    places = run(python, "-I", "-c", PIPELINE, cwd=tmp_path).split()
    assert len(places) == 2 and all(place.startswith(str(packages)) for place in places)
    table = "\n".join(["value,label", *(f"{number % 17},{int(number > 280)}" for number in range(300))])
    (tmp_path / "events.csv").write_text(table)
    fit = "fit events.csv --label label --method logistic-converged --model events.model".split()
    run(detect, *fit, cwd=tmp_path)
    run(detect, "score", "events.csv", "--model", "events.model", "--output", "scores.csv", cwd=tmp_path)
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 301
    assert "weakly-detect" in run(detect, "--help", cwd=tmp_path)
