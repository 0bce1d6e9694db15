"""Download one untrusted file.

Public addresses and their redirects must use https. A download is limited in bytes and in time, a web page is
never accepted as a file, and a file with a known digest must match it. pooch would not be shorter: it follows
every redirect, has no limits, decodes a Content-Encoding and does not know git blob ids, so all of this would
remain.
"""

import ipaddress
import socket
import threading
import time
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from tqdm import tqdm

from weakly.errors import Refused
from weakly.loading.authors_files import file_digest
from weakly.loading.files import SIZE_LIMIT
from weakly.writing import written_whole

BACK_OFF = 0.5  # seconds before the first retry; twice that before the second
# seconds for one file: with read_timeout alone, a server that sends a byte now and then could stall us
TIME_LIMIT = 3_600
MOST_REDIRECTS = 5
NO_NAME = "its name cannot be resolved"
WEB_PAGES = (b"<!doctype html", b"<html")  # how web pages begin


class Downloader:
    """Download files, and remember which hosts and addresses failed."""

    def __init__(self, connect_timeout=4.0, read_timeout=30.0, retries=2, show_progress=True):
        self.connect_timeout = connect_timeout
        self.read_timeout = read_timeout
        self.retries = retries
        self.show_progress = show_progress
        self._problems = {}  # (host, port) -> why it cannot be used, or ""
        self._failed_urls = set()
        self._public_network_down = False

    def problems(self):
        """A sentence for each host that cannot be used."""
        return [problem for problem in self._problems.values() if problem]

    def download(self, url, target, public, expected=MappingProxyType({}), certificates=True):
        """Download url to target, with retries, and return whether that worked."""
        if url in self._failed_urls or not self.reaches(url, public):
            return False
        for attempt in range(self.retries + 1):
            time.sleep(BACK_OFF * attempt)
            try:
                if self._transfer(url, target, public, expected, certificates):
                    return True
                break
            except (requests.Timeout, requests.exceptions.SSLError) as error:
                # No answer at all: other files of this host would fail too, after read_timeout each.
                untrusted = isinstance(error, requests.exceptions.SSLError)
                problem = "has a certificate that is not trusted" if untrusted else "does not answer"
                self._problems[endpoint(url)] = f"{urlsplit(url).hostname} {problem}."
                break
            except requests.RequestException:
                continue
        self._failed_urls.add(url)
        return False

    def _transfer(self, url, target, public, expected, certificates):
        """Try url once: False if it does not exist, an exception if the transfer failed."""
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
            hidden = None if self.show_progress else True  # None: only on a terminal
            bar = {"desc": target.name, "unit": "B", "unit_scale": True, "leave": False, "disable": hidden}
            with written_whole(target) as file, tqdm(total=total, **bar) as progress:
                for chunk in received(response):
                    file.write(chunk)
                    progress.update(len(chunk))
                    if max(file.tell(), total or 0) > SIZE_LIMIT:
                        limit = f"{SIZE_LIMIT / 2**30:.3g} GiB"
                        raise Refused(f"{target.name} from {urlsplit(url).hostname} is larger than {limit}.")
                    if time.monotonic() > deadline:
                        raise requests.Timeout(f"{target.name} takes longer than {TIME_LIMIT} s")
                if total not in (None, file.tell()):
                    raise requests.ConnectionError(f"{file.tell()} of {total} bytes arrived")
                file.flush()
                check_download(Path(file.name), target, urlsplit(url).hostname, expected)
        return True

    def _response(self, url, public, certificates):
        """The response that url leads to, or None; every redirect is checked before it is followed."""
        for _ in range(MOST_REDIRECTS + 1):
            response = requests.get(
                url,
                stream=True,
                timeout=(self.connect_timeout, self.read_timeout),
                allow_redirects=False,
                headers={"Accept-Encoding": "identity"},
                verify=certificates,
            )
            if not response.is_redirect:
                return response
            response.close()
            following = urljoin(url, response.headers["Location"])
            if not may_redirect(url, following, public):
                return None
            url = following
        return None

    def reaches(self, url, public):
        """Return whether url's host takes connections, trying each host once.

        If a public name cannot be resolved, no other public host is tried. This does not apply to source
        URLs and pip's index, which the user configures: they may be mirrors inside a closed network.
        """
        if not is_url(url):
            return False
        host = endpoint(url)
        if host not in self._problems:
            if public and self._public_network_down:
                return False
            problem = connection_problem(host[0], host[1], self.connect_timeout)
            self._public_network_down |= public and problem == NO_NAME
            self._problems[host] = problem and f"{host[0]} cannot be reached: {problem}."
        return not self._problems[host]


def is_url(source):
    """Return whether a source is an http(s) address, not a folder."""
    try:
        parts = urlsplit(str(source))
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an impossible port
        return False


def may_redirect(url, following, public):
    """Return whether one address may redirect to another.

    Never from https to http, and never from a public address into the local network.
    """
    if not is_url(following) or (url.startswith("https://") and not following.startswith("https://")):
        return False
    host = urlsplit(following).hostname
    try:
        return not public or ipaddress.ip_address(host).is_global
    except ValueError:  # a name
        return host != "localhost" and not host.endswith(".localhost")


def check_download(path, target, host, expected):
    """Reject a download (at path, meant for target) if it is a web page or not the expected file.

    expected is {kind of digest: digest}.
    """
    with open(path, "rb") as file:
        start = file.read(256).lstrip().lower()
    if start.startswith(WEB_PAGES) and target.suffix != ".html":
        raise Refused(f"{host} sent a web page instead of {target.name}: does a proxy ask you to sign in?")
    for kind, digest in expected.items():
        found = file_digest(path, kind)
        if found != digest:
            raise Refused(
                f"{target.name} from {host} has {kind} {found} instead of {digest}, so it is not kept; "
                f"if it is correct nevertheless, put it into {target.parent} yourself."
            )


def received(response):
    """Yield the bytes of a response as sent; a Content-Encoding, which may be a bomb, is not decoded."""
    try:
        while chunk := response.raw.read1(2**18, decode_content=False):
            yield chunk
    except urllib3.exceptions.TimeoutError as error:
        raise requests.Timeout(error) from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise requests.ConnectionError(error) from error


def endpoint(url):
    """Return the (host, port) that a request for url connects to, which is the proxy's if there is one."""
    proxy = requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url))
    parts = urlsplit(requests.utils.prepend_scheme_if_needed(proxy, "http") if proxy else url)
    return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def connection_problem(host, port, timeout):
    """Return why host cannot be connected to, or "" if it can; a hanging name lookup counts as failed."""
    progress = [NO_NAME]

    def connect():
        try:
            socket.getaddrinfo(host, port)
            progress.append("it does not answer")
            socket.create_connection((host, port), timeout).close()
            progress.append("")
        except (OSError, UnicodeError):  # UnicodeError: not a host name at all
            pass

    # A lookup has no time limit and cannot be interrupted, but a thread can be abandoned.
    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(timeout + 1)
    return progress[-1]
