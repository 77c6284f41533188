"""Requests for tests of single filters."""

from collections.abc import Awaitable, Callable
from typing import Any

from sampan.server.request import Request, RequestInfo, UserInfo, WireRequest


async def no_body(limit: int) -> bytes:
    """Return an empty body."""
    return b""


def make_request(
    method: str = "GET",
    path: str = "/",
    query_string: str = "",
    headers: dict[str, str] | None = None,
    read_body: Callable[[int], Awaitable[bytes]] = no_body,
    query: dict[str, list[str]] | None = None,
    info: RequestInfo | None = None,
    user: UserInfo | None = None,
    **wire: Any,
) -> Request:
    """Return a request; `wire` has further fields of `WireRequest`."""
    sent = WireRequest(method, path, query_string, read_body, query or {}, **wire)
    return Request(sent, {} if headers is None else headers, info or RequestInfo("", ""), user)
