"""Steps of a deletion: at once, after a grace period, or when the last finalizer is removed.

Source: apiserver pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go Delete (1.36).
"""

from collections.abc import Awaitable
from typing import Any

from sampan.core import errors
from sampan.core.event_loop.offload import offloaded
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.core.time import Clock, add_seconds, format_time, parse_time
from sampan.registry.rest.metadata import FOREGROUND_FINALIZER, ORPHAN_FINALIZER
from sampan.registry.rest.store import ResourceStore
from sampan.registry.write.write import DeletionOptions, StoreAction, Write
from sampan.storage.encoding import respliced, splice
from sampan.storage.store import Revision

_GC_FINALIZERS = (ORPHAN_FINALIZER, FOREGROUND_FINALIZER)


def check_preconditions(write: Write) -> None:
    """Check uid and resourceVersion against the deletion's preconditions. Raises 409."""
    check_object(write.store, write.present, write.uid, _deletion(write).resource_version)


def check_object(store: ResourceStore, obj: Object, uid: str | None, resource_version: str | None) -> None:
    """Check an object against preconditions; None permits any. Raises 409."""
    definition, metadata = store.definition, obj["metadata"]
    if store.strategy.marks_before_deletion:
        _check_strictly(store, metadata, uid, resource_version)
        return
    resource = GroupResource(definition.group, definition.kind)
    if uid is not None and uid != metadata.get("uid"):
        raise errors.conflict(
            resource,
            metadata["name"],
            f"the UID in the precondition ({uid}) does not match the UID in record ({metadata.get('uid', '')})."
            " The object might have been deleted and then recreated",
        )
    if resource_version is not None and resource_version != metadata.get("resourceVersion"):
        raise errors.conflict(
            resource,
            metadata["name"],
            f"the ResourceVersion in the precondition ({resource_version}) does not match the ResourceVersion"
            f" in record ({metadata.get('resourceVersion', '')}). The object might have been modified",
        )


def _check_strictly(
    store: ResourceStore, metadata: dict[str, Any], uid: str | None, resource_version: str | None
) -> None:
    """Check like `check_object`, but with the error texts of kinds whose first deletion only marks the object."""
    for shown, desired, found in (
        ("UID", uid, metadata.get("uid", "")),
        ("ResourceVersion", resource_version, metadata.get("resourceVersion", "")),
    ):
        if desired is not None and desired != found:
            text = f"Precondition failed: {shown} in precondition: {desired}, {shown} in object meta: {found}"
            raise errors.conflict(store.definition.group_resource, metadata["name"], text)


def mark_deleted(write: Write) -> None:
    """Decide whether to remove the object now, and mark it if not. Set `desired` to the object for the response."""
    store, clock, deletion = write.store, write.clock, _deletion(write)
    strategy, old = store.strategy, write.present
    if strategy.marks_before_deletion and not old["metadata"].get("deletionTimestamp"):
        write.desired = write.copy_of_old()
        _mark_first(store, write.desired, deletion, clock)
        write.outcome = StoreAction.WRITE
        return
    metadata = {**old["metadata"]}  # Only metadata changes, and each of its values as a whole.
    obj = write.desired = {**old, "metadata": metadata}
    graceful, pending = _mark_graceful(store, obj, deletion, clock)
    if pending:
        write.outcome = StoreAction.KEEP
        return
    changed = _set_gc_finalizers(store, metadata, deletion)
    held = strategy.pending_finalizers(obj)
    if held and not graceful:
        if metadata.get("deletionTimestamp") and not changed:
            write.outcome = StoreAction.KEEP
            return
        _mark_deleting(metadata, clock)
    if held or (graceful and metadata.get("deletionGracePeriodSeconds")):
        write.outcome = StoreAction.WRITE
        return
    write.outcome = StoreAction.REMOVE
    if not graceful:
        write.desired = write.present  # The response shows the object as it is stored.


async def encode(write: Write) -> None:
    """Encode the marked object, unless the response shows the stored bytes."""
    store, obj = write.store, write.desired
    if write.outcome is StoreAction.KEEP or obj is write.old:
        write.value = write.origin.present.value
    else:
        write.value = await offloaded(store.encode, await store.stored_form(obj))


async def remove(write: Write) -> None:
    """Remove the object, or write the marked object. Raises `Conflict`."""
    origin, value = write.origin, write.value
    if write.outcome is StoreAction.KEEP:
        write.result = write.stored
    elif write.outcome is StoreAction.WRITE:
        revision = (
            origin.present.mod_revision if write.dry_run else await _noted(write, origin.update(value, frees=True))
        )
        write.result = splice(value, revision)
    else:
        revision = origin.present.mod_revision if write.dry_run else await _noted(write, origin.delete())
        write.result = respliced(value, revision)


async def _noted(write: Write, storing: Awaitable[Revision]) -> Revision:
    revision = await storing
    write.store.note_write(revision, write.ctx, write.field_manager)
    return revision


def _deletion(write: Write) -> DeletionOptions:
    assert write.deletion is not None
    return write.deletion


def _mark_first(store: ResourceStore, obj: Object, deletion: DeletionOptions, clock: Clock) -> None:
    """Mark the object at its first deletion: set the deletion timestamp, but no grace period.

    Source: kubernetes pkg/registry/core/namespace/storage, apiextensions customresourcedefinition/etcd.go (1.36).
    """
    metadata, strategy = obj["metadata"], store.strategy
    if strategy.first_delete_propagates:
        _set_gc_finalizers(store, metadata, deletion)
    metadata["deletionTimestamp"] = format_time(clock.now())
    strategy.prepare_for_deletion(obj)


def _mark_graceful(store: ResourceStore, obj: Object, deletion: DeletionOptions, clock: Clock) -> tuple[bool, bool]:
    """Mark the object if its deletion is graceful. Return (graceful, already pending)."""
    strategy, metadata = store.strategy, obj["metadata"]
    requested = deletion.grace_period_s
    if requested is not None and requested < 0:
        requested = 1
    if strategy.grace_period_s(obj, requested) is None and not metadata.get("deletionTimestamp"):
        return False, False
    if metadata.get("deletionTimestamp"):
        return _shorten(metadata, requested, clock)
    period = strategy.grace_period_s(obj, requested)
    assert period is not None
    metadata["deletionTimestamp"] = format_time(add_seconds(clock.now(), period))
    metadata["deletionGracePeriodSeconds"] = period
    _bump_generation(metadata)
    return True, False


def _shorten(metadata: dict[str, Any], requested: int | None, clock: Clock) -> tuple[bool, bool]:
    """Shorten the grace period: a second deletion cannot extend it. Return (graceful, already pending)."""
    current = metadata.get("deletionGracePeriodSeconds") or 0
    if current == 0:
        return False, False
    if requested is None or requested >= current:
        return False, True
    at = add_seconds(parse_time(metadata["deletionTimestamp"]), requested - current)
    now = clock.now()
    if at < now:
        at = now
        requested = 1 if requested else 0
    metadata["deletionTimestamp"] = format_time(at)
    metadata["deletionGracePeriodSeconds"] = requested
    return True, False


def _mark_deleting(metadata: dict[str, Any], clock: Clock) -> None:
    now = clock.now()
    if not metadata.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = format_time(now)
        _bump_generation(metadata)
    elif parse_time(metadata["deletionTimestamp"]) > now:
        metadata["deletionTimestamp"] = format_time(now)
    metadata["deletionGracePeriodSeconds"] = 0


def _bump_generation(metadata: dict[str, Any]) -> None:
    if metadata.get("generation", 0) > 0:
        metadata["generation"] += 1


def _set_gc_finalizers(store: ResourceStore, metadata: dict[str, Any], deletion: DeletionOptions) -> bool:
    """Set the garbage collector's finalizers by the propagation policy. Return whether that changed them."""
    old = metadata.get("finalizers", [])
    policy = _policy(store, old, deletion)
    new = [name for name in old if name not in _GC_FINALIZERS]
    if policy == "Orphan":
        new.append(ORPHAN_FINALIZER)
    elif policy == "Foreground":
        new.append(FOREGROUND_FINALIZER)
    if set(new) == set(old):
        return False
    if new:
        metadata["finalizers"] = new
    else:
        metadata.pop("finalizers", None)
    return True


def _policy(store: ResourceStore, finalizers: list[str], deletion: DeletionOptions) -> str:
    if store.strategy.default_propagation == "Unsupported":
        return "Background"
    if deletion.orphan_dependents is not None:
        return "Orphan" if deletion.orphan_dependents else "Background"
    if deletion.propagation_policy is not None:
        return deletion.propagation_policy
    for name in finalizers:
        if name in _GC_FINALIZERS:
            return "Orphan" if name == ORPHAN_FINALIZER else "Foreground"
    return store.strategy.default_propagation
