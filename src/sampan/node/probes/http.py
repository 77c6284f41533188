"""HTTP requests to containers, for probes and hooks.

Source: kubernetes pkg/probe/http/{http,request}.go (1.36).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from sampan.core.kubernetes_version import MAJOR, MINOR
from sampan.core.tls.trust import unverified_context
from sampan.http.client import HttpClient, HttpClientSettings, HttpRequest, PendingResponse, TransportError, Upstream
from sampan.node.probes.ports import join_host_port, resolve_port
from sampan.node.probes.result import ProbeResult
from sampan.node.views.container import Container, HttpGetAction
from sampan.wire.http1 import request_head

BODY_BYTES_MAX: Final = 10 * 1024
_REDIRECTS_MAX: Final = 10
_VERSION: Final = f"{MAJOR}.{MINOR}"
_SETTINGS: Final = HttpClientSettings(idle_max=0, head_bytes_max=65_536, decompression=False)


class HttpFailed(Exception):
    """There was no response. The message is the same as that of Go's HTTP client."""


@dataclass(frozen=True, slots=True)
class ProbeResponse:
    """Response of a container; its body up to `BODY_BYTES_MAX`."""

    status: int
    headers: Mapping[str, str]
    body: bytes


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


async def probe_http(request: HttpGet, timeout_s: float) -> ProbeResult:
    """Send a request, and judge the response by its status.

    2xx and 3xx succeed; a redirect to another host is a warning.
    """
    try:
        async with asyncio.timeout(timeout_s):
            response = await send(request)
    except HttpFailed as error:
        return ProbeResult("failure", str(error))
    except TimeoutError:
        text = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        return ProbeResult("failure", f'Get "{request.url}": {text}')
    body = response.body.decode(errors="replace")
    if 200 <= response.status < 300:
        return ProbeResult("success", body)
    if 300 <= response.status < 400:
        return ProbeResult("warning", f"Probe terminated redirects, Response body: {body}")
    return ProbeResult("failure", f"HTTP probe failed with statuscode: {response.status}")


async def send(request: HttpGet) -> ProbeResponse:
    """Return the response after redirects on the same host. Raises `HttpFailed`."""
    host = urlsplit(request.url).hostname
    for _ in range(_REDIRECTS_MAX):
        response = await _exchange(request)
        location = response.headers.get("location")
        if response.status not in (301, 302, 303, 307, 308) or not location:
            return response
        url = urljoin(request.url, location)
        if urlsplit(url).hostname != host:
            return response
        request = HttpGet(url, request.headers)
    raise HttpFailed(f'Get "{request.url}": stopped after {_REDIRECTS_MAX} redirects')


async def _exchange(request: HttpGet) -> ProbeResponse:
    parts = urlsplit(request.url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    tls = unverified_context() if parts.scheme == "https" else None
    client = HttpClient(_SETTINGS)
    try:
        endpoint = Upstream(host, port, tls, connect_timeout_s=None)
        response = await client.send(endpoint, HttpRequest("GET", "/"), _head(request))
        return ProbeResponse(response.status, response.headers, await _body(response))
    except TransportError as error:
        text = str(error.__cause__ or error)
        if isinstance(error.__cause__, ConnectionRefusedError) and not error.sent:
            text = f"dial tcp {join_host_port(host, port)}: connect: connection refused"
        raise HttpFailed(f'Get "{request.url}": {text}') from error
    except (OSError, ValueError) as error:
        raise HttpFailed(f'Get "{request.url}": {error}') from error
    finally:
        await client.aclose()


async def _body(response: PendingResponse) -> bytes:
    """Return the part of the body that arrives, at most `BODY_BYTES_MAX`."""
    body = b""
    try:
        while len(body) < BODY_BYTES_MAX and (data := await response.receive()):
            body += data
    except TransportError:
        pass
    return body[:BODY_BYTES_MAX]


def _head(request: HttpGet) -> bytes:
    parts = urlsplit(request.url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    host = next((value for name, value in request.headers if name.lower() == "host"), parts.netloc)
    headers = [pair for pair in request.headers if pair[0].lower() != "host"]
    return request_head("GET", target, [("Host", host), *headers, ("Connection", "close")], encoding="latin-1")
