"""PUT: replace an object or its status. Source: apiserver pkg/endpoints/handlers/update.go (1.36)."""

from typing import Any

from sampan.core.object import Object
from sampan.core.offload import offloaded
from sampan.registry.rest.metadata import match_name, match_namespace, metadata_of
from sampan.registry.rest.update import Part, Updated, UpdateOptions
from sampan.registry.rest.update import update as rest_update
from sampan.server.request import Response
from sampan.server.verbs.admit import admit, validator
from sampan.server.verbs.authorize_create import create_authorization
from sampan.server.verbs.body import decode_object, read_undecoded
from sampan.server.verbs.create import tracked, warn_of_duplicate_owners
from sampan.server.verbs.options import WriteOptions, write_options
from sampan.server.verbs.respond import object_response
from sampan.server.verbs.scope import Scope
from sampan.storage.encoding import decode
from sampan.wire import json as wire_json


async def update(scope: Scope) -> Response:
    """200, or 201 where PUT may create."""
    request, endpoint = scope.request, scope.endpoint
    options = write_options(request, "UpdateOptions")
    value, faults = await read_undecoded(request, endpoint, duplicates=options.field_validation != "Ignore")
    obj = await offloaded(decode_object, value, endpoint, options, faults, request)
    request.step("Conversion done")
    hub = await offloaded(_wanted_hub, scope, obj)
    result = await replace(scope, hub, options, part_of(scope))
    request.step("Write to database call succeeded")
    return await object_response(request, endpoint, result.value, 201 if result.created else 200)


def _wanted_hub(scope: Scope, obj: Object) -> Object:
    """The object in the hub version, defaulted. Raises 400 where it does not fit the path."""
    endpoint, metadata = scope.endpoint, metadata_of(obj)
    match_namespace(endpoint.definition, scope.ctx.namespace, metadata)
    match_name(scope.request.info.name, metadata)
    warn_of_duplicate_owners(scope.request, metadata)
    hub = endpoint.to_hub(obj)
    endpoint.store.strategy.default(hub)
    return hub


def part_of(scope: Scope) -> Part:
    """Which part of the object the request's path speaks of."""
    return Part.STATUS if scope.request.info.subresource == "status" else Part.MAIN


async def replace(scope: Scope, hub: Object, options: WriteOptions, part: Part) -> Updated:
    """Put a hub object in the place of the stored one.

    An attempt changes `hub`; the next one starts again from the bytes kept before.
    """
    pristine = await offloaded(wire_json.encode, hub)
    first = True

    async def transform(old: Object | None, stored: bytes) -> Object:
        nonlocal first
        wanted = hub if first else await offloaded(decode, pristine)
        first = False
        return await finish(scope, wanted, old, options)

    return await rest_update(
        scope.endpoint.store,
        scope.ctx,
        scope.request.info.name,
        transform,
        update_options(scope, options, part, uid=hub["metadata"].get("uid", "")),
    )


async def finish(scope: Scope, hub: Object, old: Object | None, options: WriteOptions) -> Object:
    """managedFields and mutating admission of a wanted object."""
    await tracked(scope, old, hub, options)
    return await admit(scope, "UPDATE" if old is not None else "CREATE", hub, old, options.dry_run)


def update_options(scope: Scope, options: WriteOptions, part: Part, **more: Any) -> UpdateOptions:
    """Return the generic path's options for this request."""
    return UpdateOptions(
        clock=scope.clock,
        part=part,
        dry_run=options.dry_run,
        authorize_create=create_authorization(scope),
        validate=validator(scope, "UPDATE", options.dry_run),
        warnings=scope.request.warnings,
        **more,
    )
