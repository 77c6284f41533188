"""POST: create an object. Source: apiserver pkg/endpoints/handlers/create.go (1.36)."""

from sampan.core.object import Object
from sampan.core.time import timestamp
from sampan.registry.write.changes.creation import Creation
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.request import track
from sampan.registry.write.runner import run
from sampan.registry.write.write import WriteKind
from sampan.server.request import Response
from sampan.server.verbs.options import write_options
from sampan.server.verbs.representations.respond import object_response
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.body import body_of
from sampan.server.verbs.write.write import write_of


async def create(scope: RequestScope) -> Response:
    """Return 201 with the stored object."""
    options = write_options(scope.request, "CreateOptions")
    write = await run(write_of(scope, WriteKind.CREATE, Creation(body_of(scope.request), options), options))
    scope.request.step("Write to database call succeeded")
    return await object_response(scope.request, scope.endpoint, write.result, 201)


async def tracked(scope: RequestScope, obj: Object, options: WriteOptions) -> None:
    """Record the client in the managedFields of an object that is returned but not stored. Raises 500 if a conversion
    webhook fails.
    """
    await scope.endpoint.managing_fields(lambda: track_new(scope, obj, options))


def track_new(scope: RequestScope, obj: Object, options: WriteOptions) -> None:
    """Record the creator like `tracked`, for endpoints without a conversion webhook."""
    now, at = timestamp(scope.clock), scope.request.info.subresource
    track(scope.endpoint, None, obj, manager=options.field_manager, now=now, at=at)
