"""What the tests share: our modules on the path, the real data sets, one folder of prepared ones."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from drivers import ROOT, workers_here
from toys import not_compiled

sys.path.insert(0, str(ROOT))
# What ./run_tests.sh --quick leaves out, besides tests that are marked slow: files that start processes or
# servers or fit for long, tests on real data, and all detectors but four.
SLOW_FILES = """test_untrusted test_reference test_sklearn test_interpretations test_numbers
    test_sparse test_training test_report test_page_in_browser test_detect test_streams test_compare
    test_leakage test_info test_report_page
    test_labelling_loop test_significance test_published test_today_figures""".split()
SLOW_DETECTORS = """dsad fsnet cfsnet repen xgbod pumad feawad xgboost xgboost-half catboost random-forest
    cross-entropy rosas""".split()


def pytest_collection_modifyitems(items):
    for item in items:
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if (
            item.path.stem in SLOW_FILES
            or "real_data" in item.fixturenames
            or any(value in SLOW_DETECTORS for value in parameters if isinstance(value, str))
        ):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data sets that PRENET_DATA names."""
    if not os.environ.get("PRENET_DATA"):
        pytest.skip("PRENET_DATA is not set")
    return Path(os.environ["PRENET_DATA"]).resolve()


@pytest.fixture(scope="session")
def prepared_dir(tmp_path_factory):
    """A data folder for the whole session: what one test has prepared there is at hand for the others."""
    return tmp_path_factory.mktemp("dataset")


@pytest.fixture(scope="session")
def demo_dir(prepared_dir):
    """That folder, with the synthetic set prepared."""
    from weakly.loading.fetching import SourceFinder  # which many tests do without
    from weakly.loading.store import prepare_all

    prepare_all(["demo"], SourceFinder(prepared_dir / "raw", offline=True), prepared_dir)
    return prepared_dir


@pytest.fixture
def runs_here():
    with workers_here():
        yield


@pytest.fixture
def clone(tmp_path):
    """A copy of the project's programs, to change, with a Python environment that counts as installed."""
    folder = tmp_path / "clone"
    (folder / ".venv" / "bin").mkdir(parents=True)
    for path in (*ROOT.glob("*.py"), *ROOT.glob("*.sh"), *ROOT.glob("requirements*")):
        shutil.copy(path, folder)
    for path in ROOT.glob("*/__init__.py"):
        shutil.copytree(path.parent, folder / path.parent.name)
    lists = [ROOT / "requirements.txt", ROOT / "requirements.lock"]
    installed = b"".join(path.read_bytes() for path in lists)  # as setup_env.sh notes it
    (folder / ".venv" / "requirements.installed").write_bytes(installed)
    (folder / "published").symlink_to(ROOT / "published")
    return folder


@pytest.fixture
def double_precision():
    """Keras in float64: RMSprop magnifies rounding, so only this shows whether two loops are the same."""
    from weakly.training.network import keras  # TensorFlow, which most tests do without

    for precision in ("float64", "float32"):
        keras.config.set_floatx(precision)
        keras.config.set_dtype_policy(precision)
        if precision == "float64":
            yield


@pytest.fixture
def uncompiled():
    with not_compiled():
        yield


@pytest.fixture(scope="module")
def driver():
    """A headless browser; its driver's path is given, so that selenium does not look for one on the net."""
    webdriver = pytest.importorskip("selenium.webdriver")
    browsers = [path for name in ("chromium", "google-chrome", "chrome") if (path := shutil.which(name))]
    chromedriver = shutil.which("chromedriver")
    if not (browsers and chromedriver):
        pytest.skip("neither Chromium nor Chrome is here with its chromedriver, and no test installs them")
    options = webdriver.ChromeOptions()
    options.binary_location = browsers[0]
    arguments = "--headless=new --disable-gpu --disable-dev-shm-usage --disable-background-networking"
    for argument in [*arguments.split(), "--window-size=1280,900"] + ["--no-sandbox"] * (os.geteuid() == 0):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield browser
    browser.quit()
