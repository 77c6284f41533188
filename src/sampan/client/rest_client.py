"""`RESTClient`: a request and its answer in the API's terms: paths and parameters in, a body or an `ApiError` out."""

import math
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

from sampan.client.errors import answer_error
from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.resource import ResourceInfo

JSON: Final = "application/json"
_UNQUOTED: Final = "!$&'()*+,;=:@~-._"
_NOTHING: Final[Mapping[str, str]] = {}
REQUEST_TIMEOUT_S: Final = 30.0
"""Default of `request_timeout_s`."""


class RESTClient:
    """Asks one server through a transport. Safe to use from many tasks of one event loop."""

    def __init__(self, transport: Transport, *, request_timeout_s: float = REQUEST_TIMEOUT_S) -> None:
        """`request_timeout_s`: longest wait for the head of an answer, retries included, and then for each further part
        of the body (a large list may take longer as long as it makes progress); `math.inf` for no limit. A watch only
        has the first of these limits. Raises `ValueError` if it is not positive.
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
        """The body of the answer; `accept` and `content-type` are JSON unless `headers` say otherwise.

        Raises `ApiError` for every answer that is not 2xx, `TransportError`; `TransportTimeout` if the server does not
        answer within `request_timeout_s`.
        """
        said = {"accept": JSON, **headers}
        if body and "content-type" not in said:
            said["content-type"] = JSON
        limit_s = self._limit_s
        response = await self.transport.send(HttpRequest(method, _target(path, query), said, body, limit_s, limit_s))
        return await _read(response)

    async def stream(
        self, path: str, *, query: Mapping[str, str], accept: str = JSON, idle_timeout_s: float | None = None
    ) -> HttpResponse:
        """GET an answer that is read as it comes; the caller closes it. Raises as `call` does.

        `request_timeout_s` bounds the wait for the answer's head, `idle_timeout_s` each silence after it.
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
            await _read(response)
        return response


def resource_path(info: ResourceInfo, *segments: str, namespace: str = "") -> str:
    """The path of a resource, or of what the segments (name, subresource) name in it, quoted for a URL.

    Raises `ValueError` for what cannot be one segment of a path: a name from elsewhere must not reach other objects.
    """
    for segment in (namespace, *segments):
        if segment in (".", "..") or "/" in segment or "%" in segment:
            raise ValueError(f"{segment!r} cannot be a segment of a path")
    parts = [quote(segment, safe=_UNQUOTED) for segment in (namespace, *segments)]
    return "/".join((info.path(parts[0]), *parts[1:]))


def _target(path: str, query: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _is_success(status: int) -> bool:
    return 200 <= status < 300


async def _read(response: HttpResponse) -> bytes:
    try:
        body = await response.read()
    finally:
        await response.aclose()
    if not _is_success(response.status):
        raise answer_error(response.status, body, retry_after_s=_retry_after_s(response))
    return body


def _retry_after_s(response: HttpResponse) -> int:
    """The seconds of `Retry-After`; its other form, a date, is not used by Kubernetes."""
    text = response.headers.get("retry-after", "")
    return int(text) if text.isdecimal() else 0
