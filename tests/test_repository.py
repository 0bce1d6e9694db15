"""The files around the code agree with it and with one another: versions, pins, links, commands."""

import re
from itertools import product

import pytest
import yaml
from drivers import ROOT
from packaging.requirements import Requirement


def read(name):
    return (ROOT / name).read_text()


CITATION = yaml.safe_load(read("CITATION.cff"))
FOLDERS = ("", "docs", "examples", "published")
PAGES = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).glob("*.md")]
PLATFORMS = [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")]


def supported_pythons():
    """The minor versions of Python that setup_env.sh accepts."""
    low, high = re.search(r"\(3, (\d+)\) <= sys.version_info < \(3, (\d+)\)", read("setup_env.sh")).groups()
    return [f"3.{minor}" for minor in range(int(low), int(high))]


def wanted_versions(text, python, platform, machine):
    """The version of every requirement in a list or lock that applies to this Python and machine."""
    place = {"python_version": python, "python_full_version": f"{python}.1"}
    place |= {"sys_platform": platform, "platform_machine": machine}
    found = {}
    for line in re.findall(r"^\w[^\\\n]*", text, re.MULTILINE):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate(place):
            name = requirement.name.lower().replace("_", "-")
            assert name not in found
            found[name] = str(requirement.specifier)
    return found


@pytest.mark.parametrize("python, platform", product(supported_pythons(), PLATFORMS))
def test_locks_have_the_versions_of_the_lists_and_of_each_other(python, platform):
    names = ("requirements.txt", "requirements-dev.txt", "requirements.lock", "requirements-dev.lock")
    short, tests, lock, lock_of_tests = (wanted_versions(read(name), python, *platform) for name in names)
    assert short.items() <= lock.items() <= lock_of_tests.items()
    assert tests.items() <= lock_of_tests.items()
    assert len(lock) > 2 * len(short)


def test_citation_is_of_the_newest_version():
    newest = re.search(r"^## \[([\d.]+)\] - (\S+),", read("CHANGELOG.md"), re.MULTILINE)
    assert newest.groups() == (CITATION["version"], str(CITATION["date-released"]))
    assert CITATION["preferred-citation"]["doi"] == "10.1145/3580305.3599302"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    """Files that a page links to exist, and so do the headings of its anchors."""
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", read(page)):
        name, _, anchor = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), f"{page}: {target}"
        if anchor and path.suffix == ".md":
            headings = re.findall(r"^#+ (.*)", path.read_text(), re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in slugs, f"{page}: {target}"
