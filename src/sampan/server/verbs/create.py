"""POST: create an object. Source: apiserver pkg/endpoints/handlers/create.go (1.36)."""

from typing import Any

from sampan.core.metadata import dedup_owner_references
from sampan.core.object import Object
from sampan.core.offload import offloaded
from sampan.core.time import timestamp
from sampan.patch.copying import copy_json
from sampan.registry.rest.create import CreateOptions
from sampan.registry.rest.create import create as rest_create
from sampan.registry.rest.metadata import match_namespace, metadata_of, wipe_system_fields
from sampan.server.request import Request, Response
from sampan.server.verbs.admit import admit, validator
from sampan.server.verbs.body import decode_object, read_undecoded
from sampan.server.verbs.options import WriteOptions, write_options
from sampan.server.verbs.respond import object_response
from sampan.server.verbs.scope import Scope


async def create(scope: Scope) -> Response:
    """201 with the stored object."""
    request, endpoint = scope.request, scope.endpoint
    options = write_options(request, "CreateOptions")
    value, faults = await read_undecoded(request, endpoint, duplicates=options.field_validation != "Ignore")
    obj = await offloaded(decode_object, value, endpoint, options, faults, request)
    request.step("Conversion done")
    stored = await create_object(scope, obj, options)
    request.step("Write to database call succeeded")
    return await object_response(request, endpoint, stored, 201)


async def create_object(scope: Scope, obj: Object, options: WriteOptions) -> bytes:
    """Take a decoded object of the endpoint's version the rest of the way; gives the stored bytes."""
    request, endpoint = scope.request, scope.endpoint
    hub = await offloaded(_new_hub, scope, obj)
    await tracked(scope, None, hub, options)
    hub = await admit(scope, "CREATE", hub, None, options.dry_run)
    creation = CreateOptions(
        clock=scope.clock,
        validate=validator(scope, "CREATE", options.dry_run),
        dry_run=options.dry_run,
        warnings=request.warnings,
    )
    return await rest_create(endpoint.store, scope.ctx, hub, creation)


def _new_hub(scope: Scope, obj: Object) -> Object:
    """The object in the hub version, defaulted, without what only the server sets. Raises 400."""
    endpoint, metadata = scope.endpoint, metadata_of(obj)
    wipe_system_fields(metadata)
    match_namespace(endpoint.definition, scope.ctx.namespace, metadata)
    warn_of_duplicate_owners(scope.request, metadata)
    hub = endpoint.to_hub(obj)
    endpoint.store.strategy.default(hub)
    return hub


def warn_of_duplicate_owners(request: Request, metadata: dict[str, Any]) -> None:
    """Take out owner references that occur twice; a warning says so, once."""
    text = dedup_owner_references(metadata)
    if text and text not in request.warnings:
        request.warnings.append(text)


async def tracked(scope: Scope, live: Object | None, hub: Object, options: WriteOptions) -> None:
    """As `track`, also where a webhook converts. Raises 500 where it fails."""
    await scope.endpoint.managing_fields(lambda: track(scope, live, hub, options))


def track(scope: Scope, live: Object | None, hub: Object, options: WriteOptions) -> None:
    """Record in managedFields what this write (not an apply) changes. Works on the endpoint's version."""
    endpoint = scope.endpoint
    subresource = scope.request.info.subresource
    manager = endpoint.field_manager(subresource)
    if endpoint.version.conversion is None:
        manager.update(
            live,
            hub,
            manager=options.field_manager,
            api_version=endpoint.api_version,
            subresource=subresource,
            now=timestamp(scope.clock),
        )
        return
    versioned = endpoint.from_hub(copy_json(hub))
    manager.update(
        endpoint.from_hub(copy_json(live)) if live is not None else None,
        versioned,
        manager=options.field_manager,
        api_version=endpoint.api_version,
        subresource=subresource,
        now=timestamp(scope.clock),
    )
    entries = versioned["metadata"].get("managedFields")
    if entries is None:
        hub["metadata"].pop("managedFields", None)
    else:
        hub["metadata"]["managedFields"] = entries
