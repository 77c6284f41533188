"""Impersonation: the Impersonate-* headers, for users with the necessary rights.

Source: apiserver pkg/endpoints/filters/impersonation/constrained_impersonation.go (1.36).
"""

from collections.abc import Awaitable

from sampan.core.clock import monotonic
from sampan.core.errors import unauthorized
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.impersonation.headers import PREFIX, desired_user
from sampan.server.impersonation.impersonator import Impersonator
from sampan.server.impersonation.metrics import ImpersonationMetrics
from sampan.server.request import Filter, Handler, Request, Response
from sampan.server.status import NOSNIFF


def with_impersonation(authorizer: Authorizer, metrics: ImpersonationMetrics | None = None) -> Filter:
    """Return a filter that replaces the requester with the impersonated user, if the requester has the right."""
    impersonator, line_start = Impersonator(authorizer, metrics), f"\n{PREFIX}"

    def wrap(handler: Handler) -> Handler:
        def filter_(request: Request) -> Awaitable[Response]:
            if line_start in "\n".join(("", *request.headers)):  # one search in C instead of one for each header
                return impersonated(request)
            return handler(request)

        async def impersonated(request: Request) -> Response:
            began = monotonic()
            before, request.response_headers = request.response_headers, (*request.response_headers, NOSNIFF)
            try:
                await _impersonate(request, impersonator)
            finally:
                request.latencies["impersonation"] = monotonic() - began
            request.response_headers = before
            return await handler(request)

        return filter_

    return wrap


async def _impersonate(request: Request, impersonator: Impersonator) -> None:
    requester = request.user
    if requester is None:
        raise unauthorized()
    desired = desired_user(request.headers)
    if desired is None:
        return
    found = await impersonator.impersonate(requester, desired, request.info)
    request.impersonator, request.user = requester, found.user
    request.impersonation_constraint = found.constraint
