"""Steps of an object that replaces the stored one.

Source: apiserver pkg/registry/rest/update.go, pkg/registry/generic/registry/store.go Update (1.36).
"""

import asyncio
from collections.abc import Awaitable
from typing import Any

from sampan.core import errors, field
from sampan.core.event_loop.offload import compute, offloaded
from sampan.core.field import FieldError, Path, bounded
from sampan.core.gvk import GroupKind
from sampan.core.json.values import same
from sampan.core.object import Object, set_or_drop
from sampan.patch.managed_fields.timestamps import keep_timestamps
from sampan.registry.rest.metadata import is_deleting, match_namespace, metadata_of
from sampan.registry.rest.metadata_faults import kinds_update_faults, update_faults
from sampan.registry.rest.size import stored_bytes
from sampan.registry.rest.store import ResourceStore
from sampan.registry.write.loading import revision_of
from sampan.registry.write.write import Part, StoreAction, Write
from sampan.storage.encoding import decode, splice
from sampan.storage.store import OutcomeUnknown

_VALIDATED = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
)
"""Metadata that has rules and that a client may write; while none of it changes, what was valid stays valid."""


def identify(write: Write) -> None:
    """Check that the namespace is the request's, and that the resourceVersion is the stored one or empty. Raises 400,
    409, 422.
    """
    metadata = metadata_of(write.desired)
    _check_resource_version(write, metadata)
    match_namespace(write.store.definition, write.ctx.namespace, metadata)


def _check_resource_version(write: Write, metadata: dict[str, Any]) -> None:
    definition, row, name = write.store.definition, write.origin.present, write.present["metadata"]["name"]
    given, present = metadata.get("resourceVersion", ""), str(row.mod_revision)
    if given == present:
        return
    revision = revision_of(given)
    if not revision:
        if not definition.strategy.allow_unconditional_update:
            fault = field.invalid(Path("metadata", "resourceVersion"), 0, "must be specified for an update")
            raise errors.invalid(GroupKind(definition.group, definition.resource), name, [fault])
    elif revision != row.mod_revision:
        raise errors.conflict(definition.group_resource, name, errors.OPTIMISTIC_LOCK_MESSAGE)
    metadata["resourceVersion"] = present


def prepare(write: Write) -> None:
    """Restore what this request may not change, then run the strategy's own preparation."""
    store, ctx, obj, old = write.store, write.ctx, write.desired, write.present
    strategy, metadata, old_metadata = store.strategy, obj["metadata"], old["metadata"]
    set_or_drop(metadata, "generation", old_metadata.get("generation"))
    if write.part is Part.STATUS:
        strategy.keep_for_status_update(obj, old)
        strategy.prepare_for_status_update(ctx, obj, old)
    elif write.part is Part.MAIN:
        if store.serves_status and strategy.keeps_status_on_update:
            set_or_drop(obj, "status", old.get("status"))
        strategy.prepare_for_update(ctx, obj, old)
        if strategy.has_generation and strategy.spec_changed(obj, old):
            obj["metadata"]["generation"] = old_metadata.get("generation", 0) + 1
    _keep_system_fields(obj["metadata"], old_metadata)


def _keep_system_fields(metadata: dict[str, Any], old: dict[str, Any]) -> None:
    if not metadata.get("uid"):
        set_or_drop(metadata, "uid", old.get("uid"))
    for name in ("creationTimestamp", "deletionTimestamp"):
        if old.get(name):
            metadata[name] = old[name]
    if "deletionGracePeriodSeconds" in old:
        metadata.setdefault("deletionGracePeriodSeconds", old["deletionGracePeriodSeconds"])
    metadata.pop("selfLink", None)


async def allocate(write: Write) -> None:
    """Allocate what the object needs in addition (cluster IPs, ports). Raises `StatusError`."""
    store = write.store
    write.ctx.reader = store.reader
    if write.part is not Part.STATUS:
        write.release = await store.strategy.begin_update(
            write.ctx, write.desired, write.present, store.reader, store.allocation
        )


def validate(write: Write) -> Awaitable[None] | None:
    """Refuse an invalid object, and collect the warnings for a valid one. Raises 422."""
    return compute(_check, write)


def _check(write: Write) -> None:
    obj, old = write.desired, write.present
    found = bounded(lambda: _faults(write, obj, old))
    if found:
        raise errors.invalid(write.store.definition.stored_kind, old["metadata"]["name"], found)
    if write.part is Part.MAIN:
        write.warnings.extend(write.store.strategy.warnings_on_update(write.ctx, obj, old))


def _faults(write: Write, obj: Object, old: Object) -> list[FieldError]:
    strategy, ctx = write.store.strategy, write.ctx
    found = _metadata_faults(write, obj["metadata"], old["metadata"])
    if write.faults is not None:
        found.extend(write.faults(obj, old))
    elif write.part is Part.STATUS:
        found.extend(strategy.validate_status_update(ctx, obj, old))
    else:
        found.extend(strategy.validate_update(ctx, obj, old))
    return found


def _metadata_faults(write: Write, metadata: dict[str, Any], old: dict[str, Any]) -> list[FieldError]:
    if [*map(metadata.get, _VALIDATED)] == [*map(old.get, _VALIDATED)]:
        return []
    definition, strategy = write.store.definition, write.store.strategy
    found = update_faults(metadata, old, namespaced=definition.namespaced)
    if write.faults is None:
        found += kinds_update_faults(strategy, metadata, old)
    return found


async def decide(write: Write) -> None:
    """Decide whether to write the object, keep the stored one because it is unchanged, or remove it with its last
    finalizer.
    """
    obj, old = write.desired, write.present
    if _is_last_finalizer_gone(write.store, obj, old):
        write.outcome = StoreAction.REMOVE
    elif await offloaded(is_unchanged, obj, old) and not await _is_stored_otherwise(write):
        write.outcome = StoreAction.KEEP
    else:
        write.outcome = StoreAction.WRITE


def _is_last_finalizer_gone(store: ResourceStore, obj: Object, old: Object) -> bool:
    if not is_deleting(old) or store.strategy.pending_finalizers(obj):
        return False
    return not old["metadata"].get("deletionGracePeriodSeconds")


def is_unchanged(obj: Object, old: Object) -> bool:
    """Return True if `obj` differs from `old` at most in managedFields timestamps. Reset these timestamps."""
    keep_timestamps(old, obj)
    return same(obj, old)


async def _is_stored_otherwise(write: Write) -> bool:
    """Return True if even an unchanged object must be written.

    Its row may have an older form (storage migration), or be encrypted with a retired key.
    """
    store, row = write.store, write.origin.present
    if store.is_stale is not None and await store.is_stale(row.key):
        return True
    if row.mod_revision > store.definition.rewritten_after:
        return False
    raw = await store.store.get(row.key)
    return raw is None or await offloaded(_differs, store, raw.value, await store.stored_form(write.desired))


def _differs(store: ResourceStore, raw: bytes, obj: Object) -> bool:
    return not same(decode(raw), decode(store.encode(obj)))


async def encode(write: Write) -> None:
    """Encode the object. Raises 413 if it is too large to store."""
    if write.outcome is StoreAction.KEEP:
        return
    store, obj = write.store, write.desired
    if store.definition.webhook is not None:
        obj = await store.stored_form(obj)
    if write.outcome is StoreAction.REMOVE or write.dry_run:
        write.value = await offloaded(store.encode, obj)
    else:
        write.value = await offloaded(stored_bytes, store, obj, write.keeps_managed_fields)


async def replace(write: Write) -> None:
    """Write over the stored object, or remove it. Raises `Conflict`."""
    origin, outcome = write.origin, write.outcome
    if outcome is StoreAction.KEEP:
        write.written = True
        write.result = write.stored
        return
    if outcome is StoreAction.REMOVE and not write.dry_run:
        write.store.note_write(await origin.delete(), write.ctx, write.field_manager)
    if outcome is StoreAction.REMOVE or write.dry_run:
        write.result = splice(write.value, origin.present.mod_revision)
        return
    obj = write.desired
    try:
        revision = await origin.update(
            write.value, ttl_s=write.store.strategy.ttl_s(obj), frees="deletionTimestamp" in obj["metadata"]
        )
    except (asyncio.CancelledError, OutcomeUnknown):
        # Either object may be stored, so what both have allocated stays allocated until the next start.
        write.release = None
        raise
    write.store.note_write(revision, write.ctx, write.field_manager)
    write.written = True
    write.result = splice(write.value, revision)
