"""`RESTClient`: sends requests with paths and parameters; returns a body or raises an `ApiError`."""

import math
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

from sampan.client.errors import response_error
from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.client.written import WRITE_OBSERVER
from sampan.resource import ResourceInfo

JSON: Final = "application/json"
_UNQUOTED: Final = "!$&'()*+,;=:@~-._"
_NOTHING: Final[Mapping[str, str]] = {}
REQUEST_TIMEOUT_S: Final = 30.0
"""Default of `request_timeout_s`."""


class RESTClient:
    """Sends requests to one server through a transport. Many tasks of one event loop can share it."""

    def __init__(self, transport: Transport, *, request_timeout_s: float = REQUEST_TIMEOUT_S) -> None:
        """Create a client on a transport.

        `request_timeout_s` limits the wait for the head of a response, retries included. It then limits the wait for
        each part of the body, so a large list may take longer as long as it makes progress. `math.inf` means no limit.
        For a watch, only the first limit applies. Raises `ValueError` if it is not positive.
        """
        if not request_timeout_s > 0:
            raise ValueError(f"request_timeout_s must be positive, not {request_timeout_s}")
        self.transport = transport
        self.request_timeout_s = request_timeout_s
        self._limit_s = None if math.isinf(request_timeout_s) else request_timeout_s

    def with_timeout(self, request_timeout_s: float) -> "RESTClient":
        """Return a client on the same transport with another limit for its requests."""
        return RESTClient(self.transport, request_timeout_s=request_timeout_s)

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] = _NOTHING,
        body: bytes = b"",
        headers: Mapping[str, str] = _NOTHING,
    ) -> bytes:
        """Send a request and return the body of the response. `accept` and `content-type` are JSON unless `headers` set
        them.

        Raises `ApiError` for every response that is not 2xx, `TransportError`, and `TransportTimeout` if the server
        does not respond within `request_timeout_s`.
        """
        fields = {"accept": JSON, **headers}
        if body and "content-type" not in fields:
            fields["content-type"] = JSON
        limit_s = self._limit_s
        response = await self.transport.send(HttpRequest(method, _target(path, query), fields, body, limit_s, limit_s))
        content = await _read(response, path)
        if method != "GET" and (observer := WRITE_OBSERVER.get()) is not None and "dryRun" not in query:
            observer(method, path, content)
        return content

    async def stream(
        self, path: str, *, query: Mapping[str, str], accept: str = JSON, idle_timeout_s: float | None = None
    ) -> HttpResponse:
        """Send a GET and return the response as a stream, which the caller closes. Raises as `call` does.

        `request_timeout_s` limits the wait for the response's head, `idle_timeout_s` each silence after it.
        """
        response = await self.transport.send(
            HttpRequest(
                "GET",
                _target(path, query),
                {"accept": accept},
                timeout_s=self._limit_s,
                idle_timeout_s=idle_timeout_s,
                stream=True,
            )
        )
        if not _is_success(response.status):
            await _read(response, path)
        return response


def resource_path(info: ResourceInfo, *segments: str, namespace: str = "") -> str:
    """Return the path of a resource or, with segments (name, subresource), of a part of it, quoted for a URL.

    Raises `ValueError` for a segment that would change the path: a name from untrusted input must not reach other
    objects.
    """
    for segment in (namespace, *segments):
        if segment in (".", "..") or "/" in segment or "%" in segment:
            raise ValueError(f"{segment!r} is not a valid path segment")
    parts = [quote(segment, safe=_UNQUOTED) for segment in (namespace, *segments)]
    return "/".join((info.path(parts[0]), *parts[1:]))


def _target(path: str, query: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _is_success(status: int) -> bool:
    return 200 <= status < 300


async def _read(response: HttpResponse, path: str) -> bytes:
    try:
        body = await response.read()
    finally:
        await response.aclose()
    if not _is_success(response.status):
        raise response_error(response.status, body, path=path, retry_after_s=_retry_after_s(response))
    return body


def _retry_after_s(response: HttpResponse) -> int:
    """Return the seconds of `Retry-After`. Kubernetes does not use its other form, a date."""
    text = response.headers.get("retry-after", "")
    return int(text) if text.isdecimal() else 0
