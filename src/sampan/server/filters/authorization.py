"""May they? No: 403. Source: apiserver pkg/endpoints/filters/authorization.go (1.36)."""

from sampan.core.errors import unauthorized
from sampan.server.authorization.authorizer import Authorizer, Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.request import Filter, Handler, Request, Response


def with_authorization(authorizer: Authorizer) -> Filter:
    """Let pass what `authorizer` allows."""

    def wrap(handler: Handler) -> Handler:
        allow = Decision.ALLOW

        async def filter_(request: Request) -> Response:
            user = request.user
            if user is None:
                raise unauthorized()
            verdict = await authorizer.authorize(user, request.info)
            if verdict[0] is not allow:
                raise forbidden_error(user, request.info, verdict.reason)
            return await handler(request)

        return filter_

    return wrap
