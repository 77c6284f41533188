"""May they? No: 403. Source: apiserver pkg/endpoints/filters/authorization.go (1.36)."""

from collections.abc import Callable
from time import monotonic

from sampan.core.errors import internal_error, unauthorized
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.authorization.masters import MASTERS
from sampan.server.request import Filter, Handler, Request, Response
from sampan.server.status import NOSNIFF

DECISION = "authorization.k8s.io/decision"
REASON = "authorization.k8s.io/reason"
_ALLOWED = ("allowed",)


Count = Callable[[tuple[str]], None]
"""Takes how an attempt ended."""


def with_authorization(authorizer: Authorizer, count: Count) -> Filter:
    """Let pass the group `system:masters`, and what `authorizer` allows. The audit event says which and why.

    `count` takes: allowed, denied, no-opinion or error.
    """

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            user, annotations = request.user, request.annotations
            if user is None:
                raise unauthorized()
            if MASTERS in user.groups:
                annotations[DECISION], annotations[REASON] = "allow", ""
                count(_ALLOWED)
                return await handler(request)
            began = monotonic()
            verdict = await authorizer.authorize(user, request.info)
            request.latencies["authorization"] = monotonic() - began
            if verdict.decision is not Decision.ALLOW:
                if verdict.error:
                    count(("error",))
                    annotations[REASON] = "internal error"
                    raise internal_error(verdict.error)
                annotations[DECISION], annotations[REASON] = "forbid", verdict.reason
                request.answer_headers = (*request.answer_headers, NOSNIFF)
                count(("denied",) if verdict.decision is Decision.DENY else ("no-opinion",))
                raise forbidden_error(user, request.info, verdict.reason)
            annotations[DECISION], annotations[REASON] = "allow", verdict.reason
            count(_ALLOWED)
            return await handler(request)

        return filter_

    return wrap
