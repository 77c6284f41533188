"""Find out who asks; nobody we know: 401. Source: apiserver pkg/endpoints/filters/authentication.go (1.36)."""

from sampan.core.errors import unauthorized
from sampan.server.authentication.authenticator import Authenticator
from sampan.server.request import Filter, Handler, Request, Response


def with_authentication(authenticator: Authenticator) -> Filter:
    """Set `request.user`. What proved it goes no further."""

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            user = authenticator.recall(request) or await authenticator.authenticate(request)
            if user is None:
                raise unauthorized()
            request.user = user
            request.headers.pop("authorization", None)
            return await handler(request)

        return filter_

    return wrap
