"""HTTP requests to containers, for probes and hooks.

Source: kubernetes pkg/probe/http/{http,request}.go (1.36).
"""

import asyncio
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

import httptools

from sampan.core.dial import open_connection
from sampan.core.kubernetes_version import MAJOR, MINOR
from sampan.core.tls_trust import unverified_context
from sampan.node.container_view import Container, HttpGetAction
from sampan.node.probes.outcome import Outcome
from sampan.node.probes.ports import join_host_port, resolve_port

BODY_BYTES_MAX: Final = 10 * 1024
_REDIRECTS_MAX: Final = 10
_VERSION: Final = f"{MAJOR}.{MINOR}"
_HEAD_BYTES_MAX: Final = 65_536


class HttpFailed(Exception):
    """There was no response. The text is that of Go's HTTP client."""


@dataclass(slots=True)
class Answered:
    """Response of a container. The body is cut to the size that is kept."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    head_complete: bool = False
    complete: bool = False

    def on_headers_complete(self) -> None:
        """Callback of the parser."""
        self.head_complete = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Callback of the parser."""
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        """Callback of the parser."""
        self.body += body[: BODY_BYTES_MAX - len(self.body)]

    def on_message_complete(self) -> None:
        """Callback of the parser."""
        self.complete = True


@dataclass(frozen=True, slots=True)
class HttpGet:
    """Request that is ready to be sent."""

    url: str
    headers: tuple[tuple[str, str], ...]


def http_get_of(action: HttpGetAction, container: Container, pod_ip: str, purpose: str = "probe") -> HttpGet:
    """Return the request of a probe or hook. Raises `ValueError` for an unknown port."""
    port = resolve_port(action.port, container)
    path = quote(action.path, safe="/?#%&=+,;:@!$'()*~[]-._")
    if not path.startswith("/"):
        path = f"/{path}"
    url = f"{action.scheme.lower() or 'http'}://{join_host_port(action.host or pod_ip, port)}{path}"
    headers = [(each.name, each.value) for each in action.http_headers]
    named = {name.lower() for name, _ in headers}
    if "user-agent" not in named:
        headers.append(("User-Agent", f"kube-{purpose}/{_VERSION}"))
    if "accept" not in named:
        headers.append(("Accept", "*/*"))
    return HttpGet(url, tuple(pair for pair in headers if pair[0].lower() != "accept" or pair[1]))


async def probe_http(request: HttpGet, timeout_s: float) -> Outcome:
    """Send a request, and judge the response by its status.

    2xx and 3xx succeed; a redirect to another host is a warning.
    """
    try:
        async with asyncio.timeout(timeout_s):
            answer = await send(request)
    except HttpFailed as error:
        return Outcome("failure", str(error))
    except TimeoutError:
        text = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        return Outcome("failure", f'Get "{request.url}": {text}')
    body = answer.body.decode(errors="replace")
    if 200 <= answer.status < 300:
        return Outcome("success", body)
    if 300 <= answer.status < 400:
        return Outcome("warning", f"Probe terminated redirects, Response body: {body}")
    return Outcome("failure", f"HTTP probe failed with statuscode: {answer.status}")


async def send(request: HttpGet) -> Answered:
    """Return the response after redirects on the same host. Raises `HttpFailed`."""
    host = urlsplit(request.url).hostname
    for _ in range(_REDIRECTS_MAX):
        answer = await _exchange(request)
        location = answer.headers.get("location")
        if answer.status not in (301, 302, 303, 307, 308) or not location:
            return answer
        url = urljoin(request.url, location)
        if urlsplit(url).hostname != host:
            return answer
        request = HttpGet(url, request.headers)
    raise HttpFailed(f'Get "{request.url}": stopped after {_REDIRECTS_MAX} redirects')


async def _exchange(request: HttpGet) -> Answered:
    parts = urlsplit(request.url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        tls = unverified_context() if parts.scheme == "https" else None
        reader, writer = await open_connection(host, port, tls=tls)
    except ConnectionRefusedError:
        address = join_host_port(host, port)
        raise HttpFailed(f'Get "{request.url}": dial tcp {address}: connect: connection refused') from None
    except OSError as error:
        raise HttpFailed(f'Get "{request.url}": {error}') from error
    try:
        writer.write(_head(request))
        return await _answer(reader)
    except (OSError, httptools.HttpParserError, EOFError) as error:
        raise HttpFailed(f'Get "{request.url}": {error or "EOF"}') from error
    finally:
        writer.transport.abort()


async def _answer(reader: asyncio.StreamReader) -> Answered:
    answer = Answered()
    parser = httptools.HttpResponseParser(answer)
    total = 0
    while not answer.complete:
        data = await reader.read(16_384)
        if not data:
            if answer.head_complete:
                break  # Without a length, the end of the connection ends the body.
            raise EOFError("EOF")
        parser.feed_data(data)
        total += len(data)
        if len(answer.body) >= BODY_BYTES_MAX or total > _HEAD_BYTES_MAX + BODY_BYTES_MAX:
            break
    answer.status = parser.get_status_code()
    return answer


def _head(request: HttpGet) -> bytes:
    parts = urlsplit(request.url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    headers = dict(request.headers)
    host = next((value for name, value in headers.items() if name.lower() == "host"), parts.netloc)
    lines = [f"GET {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in request.headers if name.lower() != "host"]
    return ("\r\n".join([*lines, "Connection: close"]) + "\r\n\r\n").encode("latin-1", "replace")
