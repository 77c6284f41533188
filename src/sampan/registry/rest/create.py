"""Create: from a decoded, defaulted hub object to a stored one.

Source: apiserver pkg/registry/rest/create.go and pkg/registry/generic/registry/store.go Create (1.36).
"""

import asyncio
from dataclasses import dataclass
from random import Random, SystemRandom

from sampan.core import errors, field
from sampan.core.field import FieldError, Path, bounded
from sampan.core.names import generate_name
from sampan.core.object import Object
from sampan.core.offload import offloaded
from sampan.core.time import Clock
from sampan.registry.rest.metadata import fill_system_fields, match_namespace, metadata_of
from sampan.registry.rest.metadata_faults import object_faults
from sampan.registry.rest.size import stored_bytes
from sampan.registry.rest.store import ResourceStore, Validate
from sampan.registry.strategy import Context
from sampan.storage.encoding import splice
from sampan.storage.store import KeyExists, OutcomeUnknown

GENERATE_NAME_TRIES = 8
_METADATA = Path("metadata")
_RANDOM: Random = SystemRandom()


@dataclass(slots=True)
class CreateOptions:
    """How to create. `validate`: validating admission; `warnings` takes the texts of warnings."""

    clock: Clock
    validate: Validate | None = None
    dry_run: bool = False
    warnings: list[str] | None = None
    is_apply: bool = False
    """Whether managedFields must be kept, also when the object does not fit with them."""


async def create(store: ResourceStore, ctx: Context, obj: Object, options: CreateOptions) -> bytes:
    """Store a new object; gives its bytes in the storage version, resourceVersion included.

    Takes `obj` over and changes it. Raises `StatusError`: 409 when the name is taken, 422 when the object is invalid.
    """
    metadata = metadata_of(obj)
    if metadata.get("resourceVersion") and not options.dry_run:
        raise errors.StatusError(
            errors.Reason.UNKNOWN, 500, "resourceVersion should not be set on objects to be created"
        )
    fill_system_fields(metadata, options.clock)
    generated = not metadata.get("name") and bool(metadata.get("generateName"))
    tries = GENERATE_NAME_TRIES if generated else 1
    for attempt in range(tries):
        if generated:
            metadata["name"] = generate_name(metadata["generateName"], _RANDOM)
        try:
            return await _create_named(store, ctx, obj, options)
        except KeyExists:
            if attempt == tries - 1:
                raise _taken(store, ctx, metadata["name"], generated) from None
    raise AssertionError("unreachable")


async def _create_named(store: ResourceStore, ctx: Context, obj: Object, options: CreateOptions) -> bytes:
    definition, strategy = store.definition, store.strategy
    metadata = obj["metadata"]
    match_namespace(definition, ctx.namespace, metadata)
    await offloaded(prepare, store, ctx, obj)
    ctx.reader = store.reader
    release = await strategy.begin_create(ctx, obj, store.reader, store.allocators)
    stored = False
    try:
        await offloaded(_check, store, ctx, obj, options)
        if options.validate is not None:
            await options.validate(obj, None)
        key = store.key(metadata.get("namespace", ""), metadata["name"])
        if options.dry_run:
            store.cache.poll()
            if store.cache.get(key) is not None:
                raise KeyExists(key)
            return await offloaded(_dry_run_bytes, store, await store.stored_form(obj))
        value = await offloaded(stored_bytes, store, await store.stored_form(obj), options.is_apply)
        try:
            revision = await store.store.create(key, value, ttl_s=strategy.ttl_s(obj))
        except (asyncio.CancelledError, OutcomeUnknown):
            # It may be stored all the same: what it took is not given to anybody else before the next start.
            release = None
            raise
        stored = True
        return splice(value, revision)
    finally:
        if release is not None:
            await release(stored)


def prepare(store: ResourceStore, ctx: Context, obj: Object) -> None:
    """Generation and the strategy's own preparation; status goes where /status is served."""
    definition, strategy = store.definition, store.strategy
    metadata = obj["metadata"]
    metadata.pop("generation", None)
    if strategy.has_generation:
        metadata["generation"] = 1
    if any(version.status for version in definition.versions.values()) and not strategy.keeps_status_on_create:
        status = store.empty_status()
        if status is None:
            obj.pop("status", None)
        else:
            obj["status"] = status
    strategy.prepare_for_create(ctx, obj)


def _check(store: ResourceStore, ctx: Context, obj: Object, options: CreateOptions) -> None:
    """Refuse an object that is not valid; add the warnings about one that is. Raises 422."""
    faults = bounded(lambda: creation_faults(store, ctx, obj))
    if faults:
        raise errors.invalid(store.definition.stored_kind, obj["metadata"].get("name", ""), faults)
    if options.warnings is not None:
        options.warnings.extend(store.strategy.warnings_on_create(ctx, obj))


def creation_faults(store: ResourceStore, ctx: Context, obj: Object) -> list[FieldError]:
    """Metadata first, then the type's own rules."""
    definition, strategy = store.definition, store.strategy
    faults = object_faults(strategy, obj["metadata"], namespaced=definition.namespaced)
    faults.extend(strategy.validate(ctx, obj))
    return faults


def _taken(store: ResourceStore, ctx: Context, name: str, generated: bool) -> errors.StatusError:
    resource = store.definition.group_resource
    if generated:
        return errors.generate_name_conflict(resource, name)
    store.cache.poll()
    record = store.cache.get(store.key(ctx.namespace, name))
    deleting = record is not None and b'"deletionTimestamp":"' in record.value
    return errors.already_exists(resource, name, being_deleted=deleting)


def _dry_run_bytes(store: ResourceStore, obj: Object) -> bytes:
    obj["metadata"].pop("resourceVersion", None)
    return store.plain(obj)


def unset_resource_version(name: str) -> FieldError:
    """PUT without a resourceVersion where one is required."""
    return field.invalid(_METADATA.child("resourceVersion"), 0, "must be specified for an update")
