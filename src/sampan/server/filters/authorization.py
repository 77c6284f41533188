"""May they? No: 403. Source: apiserver pkg/endpoints/filters/authorization.go (1.36)."""

from sampan.core.errors import unauthorized
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.authorization.masters import MASTERS
from sampan.server.request import Filter, Handler, Request, Response


def with_authorization(authorizer: Authorizer) -> Filter:
    """Let pass the group `system:masters`, and what `authorizer` allows."""

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            user = request.user
            if user is None:
                raise unauthorized()
            if MASTERS not in user.groups:
                verdict = await authorizer.authorize(user, request.info)
                if verdict.decision is not Decision.ALLOW:
                    raise forbidden_error(user, request.info, verdict.reason)
            return await handler(request)

        return filter_

    return wrap
