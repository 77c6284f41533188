"""PUT: replace an object or its status. Source: apiserver pkg/endpoints/handlers/update.go (1.36)."""

from sampan.registry.write.changes.replacement import Replacement
from sampan.registry.write.runner import run
from sampan.registry.write.write import WriteKind
from sampan.server.request import Response
from sampan.server.verbs.options import write_options
from sampan.server.verbs.representations.respond import object_response
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.body import body_of
from sampan.server.verbs.write.write import write_of


async def update(scope: RequestScope) -> Response:
    """Return 200, or 201 if PUT created the object."""
    request = scope.request
    options = write_options(request, "UpdateOptions")
    write = await run(write_of(scope, WriteKind.UPDATE, Replacement(body_of(request), options), options))
    request.step("Write to database call succeeded")
    return await object_response(request, scope.endpoint, write.result, 201 if write.created else 200)
