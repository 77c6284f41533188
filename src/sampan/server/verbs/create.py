"""POST: create an object. Source: apiserver pkg/endpoints/handlers/create.go (1.36)."""

from typing import Any

from sampan.core.metadata import dedup_owner_references
from sampan.core.object import Object
from sampan.core.time import timestamp
from sampan.registry.rest.metadata import match_namespace, metadata_of, wipe_system_fields
from sampan.registry.write.request import track
from sampan.registry.write.runner import run
from sampan.registry.write.write import Change, Kind, Write
from sampan.server.request import Request, Response
from sampan.server.verbs.body import decode_object, read_undecoded
from sampan.server.verbs.options import WriteOptions, write_options
from sampan.server.verbs.respond import object_response
from sampan.server.verbs.scope import Scope
from sampan.server.verbs.write import write_of


class Creation(Change):
    """New object of the body."""

    __slots__ = ("_faults", "_obj", "_options", "_scope")

    def __init__(self, scope: Scope, options: WriteOptions) -> None:
        self._scope, self._options = scope, options
        self._obj: Object = {}
        self._faults: list[str] = []

    async def read(self, write: Write) -> None:
        """Read the body as an object whose kind and version are known."""
        request, strict = self._scope.request, self._options.field_validation != "Ignore"
        self._obj, self._faults = await read_undecoded(request, self._scope.endpoint, duplicates=strict)
        write.desired = self._obj

    def decode(self, write: Write) -> None:
        """Decode the object, and drop fields that only the server sets. Raises 400 if it does not match the path."""
        scope = self._scope
        obj = decode_object(self._obj, scope.endpoint, self._options, self._faults, scope.request)
        metadata = metadata_of(obj)
        wipe_system_fields(metadata)
        match_namespace(scope.endpoint.definition, scope.ctx.namespace, metadata)
        warn_of_duplicate_owners(scope.request, metadata)

    async def make(self, write: Write) -> Object:
        """Return the object."""
        self._scope.request.step("Conversion done")
        return self._obj


async def create(scope: Scope) -> Response:
    """Return 201 with the stored object."""
    options = write_options(scope.request, "CreateOptions")
    write = await run(write_of(scope, Kind.CREATE, Creation(scope, options), options))
    scope.request.step("Write to database call succeeded")
    return await object_response(scope.request, scope.endpoint, write.result, 201)


def warn_of_duplicate_owners(request: Request, metadata: dict[str, Any]) -> None:
    """Remove owner references that occur twice, with one warning."""
    text = dedup_owner_references(metadata)
    if text and text not in request.warnings:
        request.warnings.append(text)


async def tracked(scope: Scope, obj: Object, options: WriteOptions) -> None:
    """Record the client in the managedFields of an object that is returned but not stored. Raises 500 if a conversion
    webhook fails.
    """
    await scope.endpoint.managing_fields(lambda: track_new(scope, obj, options))


def track_new(scope: Scope, obj: Object, options: WriteOptions) -> None:
    """Record the creator like `tracked`, for endpoints without a conversion webhook."""
    now, at = timestamp(scope.clock), scope.request.info.subresource
    track(scope.endpoint, None, obj, manager=options.field_manager, now=now, at=at)
