"""Steps of a new object.

Source: apiserver pkg/registry/rest/create.go and pkg/registry/generic/registry/store.go Create (1.36).
"""

import asyncio
from collections.abc import Awaitable
from random import Random, SystemRandom

from sampan.core import errors
from sampan.core.event_loop.offload import compute, offloaded
from sampan.core.field import FieldError, bounded
from sampan.core.numbers.resource_version import parse_resource_version
from sampan.core.object import Object
from sampan.core.validation.names import generate_name
from sampan.registry.rest.metadata import fill_system_fields, match_namespace, metadata_of
from sampan.registry.rest.metadata_faults import object_faults
from sampan.registry.rest.size import stored_bytes
from sampan.registry.rest.store import ResourceStore
from sampan.registry.strategy import Context
from sampan.registry.write.loading import revision_of
from sampan.registry.write.write import Write, WriteKind
from sampan.storage.encoding import splice
from sampan.storage.store import KeyExists, OutcomeUnknown

GENERATE_NAME_TRIES = 8
_RANDOM: Random = SystemRandom()


def identify(write: Write) -> None:
    """Give the object its identity: uid and creation time. Raises 500 if a create sets a resourceVersion, or if an
    update or apply that creates the object has an invalid one.
    """
    metadata = metadata_of(write.desired)
    given = metadata.pop("resourceVersion", "")
    if write.kind in _CREATES:
        if _is_revision(given) and not write.dry_run:
            raise errors.StatusError(
                errors.Reason.UNKNOWN, 500, "resourceVersion should not be set on objects to be created"
            )
    else:
        revision_of(given)
    fill_system_fields(metadata, write.clock)
    write.generates_name = not metadata.get("name") and bool(metadata.get("generateName"))


_CREATES = (WriteKind.CREATE, WriteKind.OWN_CREATE)


def _is_revision(resource_version: str) -> bool:
    """Return True if the storage of Kubernetes refuses a create with it: it ignores what is not a positive number.

    Updates and applies that create do not come to that check. Source: apiserver pkg/storage/etcd3/store.go Create,
    updateState (1.36).
    """
    try:
        return parse_resource_version(resource_version) != 0
    except ValueError:
        return False


def give_name(write: Write) -> None:
    """Generate the name, if the object has none. Raises 400 if the namespace is not the request's."""
    metadata = write.desired["metadata"]
    if write.generates_name:
        metadata["name"] = generate_name(metadata["generateName"], _RANDOM)
    match_namespace(write.store.definition, write.ctx.namespace, metadata)


def prepare(write: Write) -> None:
    """Set the generation, reset the status where /status is served, and run the strategy's own preparation."""
    store, obj = write.store, write.desired
    strategy, metadata = store.strategy, obj["metadata"]
    metadata.pop("generation", None)
    if strategy.has_generation:
        metadata["generation"] = 1
    if store.serves_status and not strategy.keeps_status_on_create:
        status = store.empty_status()
        if status is None:
            obj.pop("status", None)
        else:
            obj["status"] = status
    strategy.prepare_for_create(write.ctx, obj)


async def allocate(write: Write) -> None:
    """Allocate what the object needs (cluster IPs, ports). Raises `StatusError`."""
    store = write.store
    write.ctx.reader = store.reader
    write.release = await store.strategy.begin_create(write.ctx, write.desired, store.reader, store.allocation)


def validate(write: Write) -> Awaitable[None] | None:
    """Refuse an invalid object, and collect the warnings for a valid one. Raises 422."""
    return compute(_check, write)


def _check(write: Write) -> None:
    store, ctx, obj = write.store, write.ctx, write.desired
    found = bounded(lambda: creation_faults(store, ctx, obj))
    if found:
        raise errors.invalid(store.definition.stored_kind, obj["metadata"].get("name", ""), found)
    write.warnings.extend(store.strategy.warnings_on_create(ctx, obj))


def creation_faults(store: ResourceStore, ctx: Context, obj: Object) -> list[FieldError]:
    """Return the faults of a new object: of its metadata, then by the rules of its kind."""
    definition, strategy = store.definition, store.strategy
    found = object_faults(strategy, obj["metadata"], namespaced=definition.namespaced)
    found.extend(strategy.validate(ctx, obj))
    return found


def encode(write: Write) -> Awaitable[None] | None:
    """Encode the object. Raises 413; with dry run `KeyExists`."""
    if write.dry_run or write.store.definition.webhook is not None:
        return _encode_converted(write)
    return compute(_encode, write, write.desired)


def _encode(write: Write, obj: Object) -> None:
    write.value = stored_bytes(write.store, obj, write.keeps_managed_fields)


async def _encode_converted(write: Write) -> None:
    store, obj = write.store, write.desired
    if write.dry_run:
        cache, key = store.cache.newest, _key(write)
        cache.poll()
        if cache.get(key) is not None:
            raise KeyExists(key)
        write.value = await offloaded(_dry_run_bytes, store, await store.stored_form(obj))
    else:
        await offloaded(_encode, write, await store.stored_form(obj))


async def insert(write: Write) -> None:
    """Store the new object. Raises `KeyExists`, or 404 if the CRD was deleted since the request began."""
    if write.dry_run:
        write.created, write.result = True, write.value
        return
    store = write.store
    if store.cache.newest.retired:  # Nothing would ever delete the object, and a new CRD of that name would show it.
        raise store.not_found(write.desired["metadata"]["name"])
    try:
        revision = await store.store.create(_key(write), write.value, ttl_s=store.strategy.ttl_s(write.desired))
    except (asyncio.CancelledError, OutcomeUnknown):
        # The object may be stored, so what it has allocated stays allocated until the next start.
        write.release = None
        raise
    store.note_write(revision, write.ctx, write.field_manager)
    write.created = write.written = write.origin.confirmed = True
    write.result = splice(write.value, revision)


def name_taken(write: Write) -> errors.StatusError:
    """Return the error of a create whose name is taken."""
    store = write.store
    resource = store.definition.group_resource
    name = write.desired["metadata"]["name"]
    if write.generates_name:
        return errors.generate_name_conflict(resource, name)
    cache = store.cache.newest
    cache.poll()
    record = cache.get(store.key(write.ctx.namespace, name))
    deleting = record is not None and b'"deletionTimestamp":"' in record.value
    return errors.already_exists(resource, name, being_deleted=deleting)


def _key(write: Write) -> str:
    metadata = write.desired["metadata"]
    return write.store.key(metadata.get("namespace", ""), metadata["name"])


def _dry_run_bytes(store: ResourceStore, obj: Object) -> bytes:
    obj["metadata"].pop("resourceVersion", None)
    return store.plain(obj)
