"""Steps that compute the desired object from a request: the body, the change, conversion, ownership, admission."""

from sampan.core.object import Object
from sampan.core.time import timestamp
from sampan.patch.copying import copy_json
from sampan.registry.endpoint import Endpoint
from sampan.registry.write.write import Write


async def read(write: Write) -> None:
    """Read the body. Raises 400, 413, 415."""
    await write.change.read(write)


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
    """Set the defaults of a custom resource's schema, then those of the strategy. For built-in types, the step "decode"
    has already set the schema's defaults.
    """
    endpoint, obj = write.endpoint, write.desired
    assert endpoint is not None
    endpoint.dialect.default(endpoint.compiled, obj)
    write.store.strategy.default(obj)


async def own_fields(write: Write) -> None:
    """Record in managedFields what this write, not an apply, changes. Raises 500 if a conversion webhook fails."""
    endpoint = write.endpoint
    assert endpoint is not None
    old, obj = write.old, write.desired
    await endpoint.managing_fields(
        lambda: track(
            endpoint, old, obj, manager=write.field_manager, now=timestamp(write.clock), at=write.ctx.subresource
        )
    )


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


async def authorize_creation(write: Write) -> None:
    """Authorize an update to create its absent object. Raises 403."""
    assert write.gate is not None
    await write.gate.authorize_creation(write)


async def mutate(write: Write) -> None:
    """Run mutating admission. Raises `StatusError`."""
    assert write.gate is not None
    await write.gate.mutate(write)


async def validate(write: Write) -> None:
    """Run validating admission. Raises `StatusError`."""
    assert write.gate is not None
    await write.gate.validate(write)
