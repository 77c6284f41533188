"""Authorization of a PUT or a server-side apply that creates its object.

The authorization filter, which runs before the verbs, has authorized only `update` or `patch`. Source: apiserver
pkg/endpoints/handlers/update.go withAuthorization (1.36).
"""

from dataclasses import replace

from sampan.core import errors
from sampan.registry.endpoint import Endpoint
from sampan.server.authorization.authorizer import Decision
from sampan.server.authorization.forbidden import forbidden_error
from sampan.server.verbs.scope import RequestScope


async def authorize_creation(scope: RequestScope) -> None:
    """Authorize the verb `create` for the request's object. Raises 401, 403."""
    check_not_terminating(scope.endpoint, scope.request.info.name)
    user = scope.request.user
    if user is None:
        raise errors.unauthorized()
    # A cluster-scoped object has no namespace, although the path of a Namespace has its name as the namespace:
    # rights within that namespace do not include the right to create it.
    info = replace(scope.request.info, verb="create", namespace=scope.ctx.namespace)
    verdict = await scope.shared.authorizer.authorize(user, info)
    if verdict.decision is Decision.ALLOW:
        return
    if verdict.error:
        raise errors.internal_error(verdict.error)
    raise forbidden_error(user, info, verdict.reason)


def check_not_terminating(endpoint: Endpoint, name: str) -> None:
    """Refuse to create a custom resource while its CustomResourceDefinition is being deleted. Raises 403."""
    if endpoint.definition.terminating:
        text = "create not allowed while custom resource definition is terminating"
        raise errors.forbidden(endpoint.definition.group_resource, name, text)
