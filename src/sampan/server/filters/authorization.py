"""Authorize the request, or raise 403. Source: apiserver pkg/endpoints/filters/authorization.go (1.36)."""

from collections.abc import Awaitable

from sampan.core.clock import monotonic
from sampan.core.errors import unauthorized
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.authorization.masters import MASTERS
from sampan.server.metrics.access import AccessMetrics
from sampan.server.request import Filter, Handler, Request, Response, UserInfo
from sampan.server.status import NOSNIFF, internal_error_page

DECISION = "authorization.k8s.io/decision"
REASON = "authorization.k8s.io/reason"
_ALLOWED = ("allowed",)


def with_authorization(authorizer: Authorizer, metrics: AccessMetrics) -> Filter:
    """Return a filter that allows the group `system:masters`, and everything that `authorizer` allows.

    The audit event contains the decision and its reason.
    """
    observe = metrics.authorization.observe

    def wrap(handler: Handler) -> Handler:
        def filter_(request: Request) -> Awaitable[Response]:
            user = request.user
            if user is None:
                raise unauthorized()
            if MASTERS not in user.groups:
                return authorized(request, user)
            request.annotations[DECISION], request.annotations[REASON] = "allow", ""
            observe(_ALLOWED, 0.0)
            return handler(request)

        async def authorized(request: Request, user: UserInfo) -> Response:
            annotations, began = request.annotations, monotonic()
            verdict = await authorizer.authorize(user, request.info)
            request.latencies["authorization"] = seconds = monotonic() - began
            if verdict.decision is not Decision.ALLOW:
                if verdict.error:
                    observe(("error",), seconds)
                    annotations[REASON] = "internal error"
                    return internal_error_page(request.wire.raw_target, verdict.error)
                annotations[DECISION], annotations[REASON] = "forbid", verdict.reason
                request.response_headers = (*request.response_headers, NOSNIFF)
                observe(("denied",) if verdict.decision is Decision.DENY else ("no-opinion",), seconds)
                raise forbidden_error(user, request.info, verdict.reason)
            annotations[DECISION], annotations[REASON] = "allow", verdict.reason
            observe(_ALLOWED, seconds)
            return await handler(request)

        return filter_

    return wrap
