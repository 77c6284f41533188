"""PATCH: JSON patch, merge patch, strategic merge patch, server-side apply.

Source: apiserver pkg/endpoints/handlers/patch.go (1.36).
"""

from sampan.patch.media_types import APPLY_PATCH
from sampan.registry.endpoint import Endpoint
from sampan.registry.write.changes.application import Application
from sampan.registry.write.changes.patch import Patch
from sampan.registry.write.runner import run
from sampan.registry.write.write import WriteKind
from sampan.server.request import Request, Response
from sampan.server.verbs.options import write_options
from sampan.server.verbs.representations.respond import object_response
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.write.body import body_of
from sampan.server.verbs.write.write import write_of


async def patch(scope: RequestScope) -> Response:
    """Return 200, or 201 if an apply created the object."""
    request = scope.request
    content_type = patch_type_of(request, scope.endpoint)
    options = write_options(request, "PatchOptions", content_type)
    body = body_of(request, content_type)
    if content_type == APPLY_PATCH:
        write = write_of(scope, WriteKind.APPLY, Application(body, options), options)
    else:
        write = write_of(scope, WriteKind.UPDATE, Patch(body, options), options)
    await run(write)
    request.step("Object stored in database")
    return await object_response(request, scope.endpoint, write.result, 201 if write.created else 200)


def patch_type_of(request: Request, endpoint: Endpoint) -> str:
    """Return the media type of a patch. Raises 415."""
    content_type = request.headers.get("content-type", "").split(";", 1)[0].strip()
    dialect = endpoint.dialect
    if content_type not in dialect.patch_types:
        raise dialect.unsupported_patch(dialect.patch_types)
    return content_type
