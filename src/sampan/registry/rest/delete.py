"""Delete: at once, after a grace period, or when the last finalizer has gone.

Source: apiserver pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go Delete (1.36).
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sampan.core import errors
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.core.offload import note_size, offloaded
from sampan.core.time import Clock, add_seconds, format_time, parse_time
from sampan.registry.rest.guaranteed import Origin, guaranteed
from sampan.registry.rest.metadata import FOREGROUND_FINALIZER, ORPHAN_FINALIZER
from sampan.registry.rest.store import ResourceStore
from sampan.registry.strategy import Context
from sampan.storage.encoding import respliced, splice

_log = logging.getLogger(__name__)
_GC_FINALIZERS = (ORPHAN_FINALIZER, FOREGROUND_FINALIZER)


@dataclass(slots=True)
class DeleteOptions:
    """`metav1.DeleteOptions`, checked. None = not given."""

    clock: Clock
    grace_period_s: int | None = None
    propagation_policy: str | None = None
    orphan_dependents: bool | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: bool = False
    validate: Callable[[Object], Awaitable[None]] | None = None
    """Admission of this object's deletion."""


class Deleted(NamedTuple):
    """What is left: `value` holds the object's bytes (storage version), `gone` says whether it was removed."""

    value: bytes
    obj: Object
    gone: bool


async def delete(store: ResourceStore, ctx: Context, name: str, options: DeleteOptions) -> Deleted:
    """Delete one object. Raises `StatusError`: 404, 409 (preconditions)."""

    async def attempt(origin: Origin) -> Deleted:
        if origin.row is None:
            raise store.not_found(name)
        return await _delete_once(store, origin, options)

    return await guaranteed(store, name, store.key(ctx.namespace, name), attempt)


async def _delete_once(store: ResourceStore, origin: Origin, options: DeleteOptions) -> Deleted:
    note_size(len(origin.present.value))
    stored = await store.present(origin.present.value)
    obj = await offloaded(store.decode, stored)
    check_preconditions(store, obj, options)
    if options.validate is not None:
        await options.validate(obj)
    if store.strategy.marks_before_deletion and not obj["metadata"].get("deletionTimestamp"):
        return await _mark_first(store, origin, obj, options)
    graceful, pending = _mark_graceful(store, obj, options)
    if pending:
        return Deleted(stored, obj, gone=False)
    changed = _set_gc_finalizers(store, obj["metadata"], options)
    held = store.strategy.pending_finalizers(obj)
    if held and not graceful:
        if obj["metadata"].get("deletionTimestamp") and not changed:
            return Deleted(stored, obj, gone=False)
        _mark_deleting(obj["metadata"], options.clock)
    if held or (graceful and obj["metadata"].get("deletionGracePeriodSeconds")):
        return await _write_marked(store, origin, obj, options)
    shown = await offloaded(store.encode, await store.stored_form(obj)) if graceful else origin.present.value
    return await _remove(store, origin, obj, shown, options)


async def _mark_first(store: ResourceStore, origin: Origin, obj: Object, options: DeleteOptions) -> Deleted:
    """Source: kubernetes pkg/registry/core/namespace/storage, apiextensions customresourcedefinition/etcd.go (1.36)."""
    metadata, strategy = obj["metadata"], store.strategy
    if strategy.first_delete_propagates:
        _set_gc_finalizers(store, metadata, options)
    metadata["deletionTimestamp"] = format_time(options.clock.now())
    strategy.prepare_for_deletion(obj)
    return await _write_marked(store, origin, obj, options)


async def _write_marked(store: ResourceStore, origin: Origin, obj: Object, options: DeleteOptions) -> Deleted:
    value = await offloaded(store.encode, await store.stored_form(obj))
    if options.dry_run:
        return Deleted(splice(value, origin.present.mod_revision), obj, gone=False)
    revision = await origin.update(value, frees=True)
    return Deleted(splice(value, revision), obj, gone=False)


async def _remove(store: ResourceStore, origin: Origin, obj: Object, shown: bytes, options: DeleteOptions) -> Deleted:
    if options.dry_run:
        return Deleted(respliced(shown, origin.present.mod_revision), obj, gone=True)
    revision = await origin.delete()
    await after_delete(store, obj, options.clock)
    return Deleted(respliced(shown, revision), obj, gone=True)


async def after_delete(store: ResourceStore, obj: Object, clock: Clock) -> None:
    """What follows the removal of an object: what it had allocated is free, what bears its name for it goes too."""
    strategy = store.strategy
    await strategy.after_delete(obj, store.allocators)
    if store.others is None:
        return
    metadata = obj["metadata"]
    ctx = Context(namespace=metadata.get("namespace", ""), name=metadata["name"])
    for group, resource in strategy.companions:
        try:
            await delete(store.others(group, resource), ctx, ctx.name, DeleteOptions(clock=clock))
        except errors.StatusError as error:
            if error.reason is not errors.Reason.NOT_FOUND:
                _log.error("%s %s/%s stays: %s", resource, ctx.namespace, ctx.name, error.message)


def check_preconditions(store: ResourceStore, obj: Object, options: DeleteOptions) -> None:
    """That the object is the one, and in the state, that the caller has in mind. Raises `StatusError` 409."""
    definition, metadata = store.definition, obj["metadata"]
    if store.strategy.marks_before_deletion:
        _check_strictly(store, metadata, options)
        return
    resource = GroupResource(definition.group, definition.kind)
    if options.uid is not None and options.uid != metadata.get("uid"):
        raise errors.conflict(
            resource,
            metadata["name"],
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata.get('uid', '')})."
            " The object might have been deleted and then recreated",
        )
    version = options.resource_version
    if version is not None and version != metadata.get("resourceVersion"):
        raise errors.conflict(
            resource,
            metadata["name"],
            f"the ResourceVersion in the precondition ({version}) does not match the ResourceVersion"
            f" in record ({metadata.get('resourceVersion', '')}). The object might have been modified",
        )


def _check_strictly(store: ResourceStore, metadata: dict[str, Any], options: DeleteOptions) -> None:
    """The same, in the words of kinds that see to their first deletion themselves."""
    for shown, wanted, found in (
        ("UID", options.uid, metadata.get("uid", "")),
        ("ResourceVersion", options.resource_version, metadata.get("resourceVersion", "")),
    ):
        if wanted is not None and wanted != found:
            text = f"Precondition failed: {shown} in precondition: {wanted}, {shown} in object meta: {found}"
            raise errors.conflict(store.definition.group_resource, metadata["name"], text)


def _mark_graceful(store: ResourceStore, obj: Object, options: DeleteOptions) -> tuple[bool, bool]:
    """Decide about the grace period. Gives (graceful, already pending); marks the object when graceful."""
    strategy, metadata = store.strategy, obj["metadata"]
    requested = options.grace_period_s
    if requested is not None and requested < 0:
        requested = 1
    if strategy.grace_period_s(obj, requested) is None and not metadata.get("deletionTimestamp"):
        return False, False
    if metadata.get("deletionTimestamp"):
        return _shorten(metadata, requested, options.clock)
    period = strategy.grace_period_s(obj, requested)
    assert period is not None
    metadata["deletionTimestamp"] = format_time(add_seconds(options.clock.now(), period))
    metadata["deletionGracePeriodSeconds"] = period
    _bump_generation(metadata)
    return True, False


def _shorten(metadata: dict[str, Any], requested: int | None, clock: Clock) -> tuple[bool, bool]:
    """A second delete may only shorten the grace period."""
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


def _set_gc_finalizers(store: ResourceStore, metadata: dict[str, Any], options: DeleteOptions) -> bool:
    """Add or remove the garbage collector's finalizers as the propagation policy says. Tells whether that changed."""
    old = metadata.get("finalizers", [])
    policy = _policy(store, old, options)
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


def _policy(store: ResourceStore, finalizers: list[str], options: DeleteOptions) -> str:
    if store.strategy.default_propagation == "Unsupported":
        return "Background"
    if options.orphan_dependents is not None:
        return "Orphan" if options.orphan_dependents else "Background"
    if options.propagation_policy is not None:
        return options.propagation_policy
    for name in finalizers:
        if name in _GC_FINALIZERS:
            return "Orphan" if name == ORPHAN_FINALIZER else "Foreground"
    return store.strategy.default_propagation
