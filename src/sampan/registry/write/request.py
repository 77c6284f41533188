"""Steps that compute the desired object from a request: the body, the change, conversion, ownership, admission."""

from collections.abc import Awaitable
from functools import partial

from sampan.core.event_loop.offload import compute
from sampan.core.object import Object
from sampan.core.time import timestamp
from sampan.patch.copying import copy_json
from sampan.registry.endpoint import Endpoint
from sampan.registry.write.write import Write


def read(write: Write) -> Awaitable[None]:
    """Read the body. Raises 400, 413, 415."""
    return write.change.read(write)


def decode(write: Write) -> None:
    """Decode the body. Raises 400."""
    write.change.decode(write)


async def change(write: Write) -> None:
    """Compute the desired object from the body. Each verb does this in its own way. Raises `StatusError`."""
    write.desired = await write.change.make(write)


def convert(write: Write) -> None:
    """Convert the desired object from the request's version to the version that the strategy uses."""
    assert write.endpoint is not None
    conversion = write.endpoint.version.conversion
    if conversion is not None:
        write.desired = conversion.to_hub(write.desired)


def default(write: Write) -> None:
    """Set the defaults of the strategy. For built-in types, the step "decode" has already set the schema's defaults."""
    write.store.strategy.default(write.desired)


def own_fields(write: Write) -> Awaitable[None] | None:
    """Record in managedFields what this write, not an apply, changes. Raises 500 if a conversion webhook fails."""
    assert write.endpoint is not None
    if write.store.definition.webhook is None:
        return compute(_track, write)
    return write.endpoint.managing_fields(partial(_track, write))


def _track(write: Write) -> None:
    endpoint = write.endpoint
    assert endpoint is not None
    now = timestamp(write.clock)
    track(endpoint, write.old, write.desired, manager=write.field_manager, now=now, at=write.ctx.subresource)


def track(endpoint: Endpoint, old: Object | None, obj: Object, *, manager: str, now: str, at: str) -> None:
    """Record in `obj` the fields that it changes against `old`, both in the hub version; `at` is the subresource.

    The changes are compared in the endpoint's version.
    """
    fields, api_version = endpoint.field_manager(at), endpoint.api_version
    if endpoint.version.conversion is None:
        fields.update(old, obj, manager=manager, api_version=api_version, subresource=at, now=now)
        return
    versioned = endpoint.from_hub(copy_json(obj))
    live = endpoint.from_hub(copy_json(old)) if old is not None else None
    fields.update(live, versioned, manager=manager, api_version=api_version, subresource=at, now=now)
    entries = versioned["metadata"].get("managedFields")
    if entries is None:
        obj["metadata"].pop("managedFields", None)
    else:
        obj["metadata"]["managedFields"] = entries


def authorize_creation(write: Write) -> Awaitable[None]:
    """Authorize an update to create its absent object. Raises 403."""
    assert write.gate is not None
    return write.gate.authorize_creation(write)


def mutate(write: Write) -> Awaitable[None] | None:
    """Run mutating admission. Raises `StatusError`."""
    assert write.gate is not None
    return write.gate.mutate(write)


def validate(write: Write) -> Awaitable[None] | None:
    """Run validating admission. Raises `StatusError`."""
    assert write.gate is not None
    return write.gate.validate(write)
