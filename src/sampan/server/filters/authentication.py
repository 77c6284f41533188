"""Authenticate the request, or raise 401. Source: apiserver pkg/endpoints/filters/authentication.go (1.36)."""

from collections.abc import Awaitable, Callable

from sampan.core.clock import monotonic
from sampan.core.errors import StatusError, unauthorized
from sampan.server.authentication.authenticator import Authenticator
from sampan.server.authentication.request_header import STANDARD_HEADERS, RequestHeaders
from sampan.server.metrics.access import AccessMetrics
from sampan.server.request import Filter, Handler, Request, Response

_PREFIX = "x-remote-"
_ERROR, _FAILURE = ("error",), ("failure",)


def with_authentication(
    authenticator: Authenticator,
    metrics: AccessMetrics,
    headers: RequestHeaders = STANDARD_HEADERS,
    failed: Callable[[Request], Awaitable[None]] | None = None,
) -> Filter:
    """Return a filter that sets `request.user`.

    Later filters see neither credentials nor `headers`, whichever authenticator accepted the request. `failed` is
    called for refused requests.
    """
    identity_headers = (*headers.usernames, *headers.uids, *headers.groups, *headers.extra_prefixes)
    prefixes = (_PREFIX, *{name for name in identity_headers if not name.startswith(_PREFIX)})
    line_starts = tuple(f"\n{prefix}" for prefix in prefixes)

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            began, result = monotonic(), _ERROR
            try:
                user = authenticator.recall(request)
                if user is None:
                    user = await authenticator.authenticate(request)
                    if user is None:
                        result = _FAILURE
                        raise unauthorized()
            except StatusError:
                metrics.authentication.observe(result, monotonic() - began)
                if failed is not None:
                    await failed(request)
                raise
            request.user = user
            request.latencies["authentication"] = seconds = monotonic() - began
            metrics.known(user.name, seconds)
            request.headers.pop("authorization", None)
            names = "\n".join(("", *request.headers))  # one search in C instead of one for each header
            for start in line_starts:
                if start in names:
                    STANDARD_HEADERS.clear(request.headers)
                    headers.clear(request.headers)
                    break
            return await handler(request)

        return filter_

    return wrap
